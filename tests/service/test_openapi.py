"""schemathesis against the running service: requests as described and not as described; no 5xx, no undocumented answer."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from servers import studio
from servers.studio import WAIT
from service.test_permissions import things
from velado.client import Client
from velado.service.service import Service
from velado.service.store.tables import User

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
EXAMPLES = 60 if os.environ.get("VELADO_TORTURE") else 8
LONGEST = 4000
WAITING = (
    "/checks",
    "/singled-out",
    "/hierarchies",
    "/{column}",
    "/{column}/file",
    "/preview",
    "/sources/{id}/rows",
    "/tables",
    "/test",
    "/nodes/{levels}",
)
"""Addresses that wait for a process: tried less often."""


@dataclass
class Live:
    """A service in which there is something of every kind: its description, and how it is asked."""

    schema: Any
    ask: Callable[[Any], Any]
    ids: dict[str, list[str]]


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """Web and worker as a team runs them."""
    folder = tmp_path_factory.mktemp("openapi") / "studio"
    with studio.running(folder, copying=True, jobs_queued=100_000) as running:
        token = running.user("ana", "administrator", "steward", "auditor")
        with Client(running.address, token) as client:
            ids = _things(client, tmp_path_factory.mktemp("files"))
        session = requests.Session()
        session.headers["Authorization"] = f"Bearer {token}"
        usual = {"base_url": running.address, "session": session, "allow_redirects": False, "timeout": WAIT}
        schema = schemathesis.openapi.from_url(f"{running.address}/api/v1/openapi.json")
        yield Live(schema, lambda case: case.call(**usual), ids)


@pytest.fixture(scope="module")
def here(lasting: tuple[Service, Callable[..., TestClient]]) -> Live:
    """The application in this process, without a worker."""
    service, person = lasting
    client = person("administrator", "steward", "auditor")
    with service.store.reading() as db:
        found = things(service, db.get_one(User, client.user_id))  # type: ignore[attr-defined]
    headers = {"Authorization": client.headers["Authorization"], "Host": "127.0.0.1"}
    schema = schemathesis.openapi.from_asgi("/api/v1/openapi.json", client.app, headers=headers)
    return Live(schema, lambda case: case.call(headers=headers, timeout=WAIT), {name: [id] for name, id in found.items()})


def _things(client: Client, folder: Path) -> dict[str, list[str]]:
    """A source, a project, an exploration, a release, … of everything that has an id."""
    source = client.post("/sources", {"name": "patients", "sample": "hospital", "rows": 200})
    client.follow(source["job"])
    document = {
        "source": {"source": source["id"]},
        "rest": "drop",
        "columns": {"sex": "quasi-identifier", "city": "quasi-identifier", "diagnosis": "sensitive"},
        "models": [{"k-anonymity": {"k": 2}}],
        "method": {"lattice": {"suppression": 0.5}},
    }
    project = client.post("/projects", {"name": "patients", "document": document})
    run = client.follow(client.submit("run", project=project["id"])["id"])
    explored = client.follow(client.submit("explore", project=project["id"])["id"])
    compared = client.follow(client.submit("compare", {"grid": {"k": [2, 3]}}, project=project["id"])["id"])
    (folder / "some.csv").write_text("a;b\n1;2\n")
    return {
        "uploads": [client.upload(folder / "some.csv")],
        "sources": [source["id"]],
        "projects": [project["id"]],
        "jobs": [run["id"], explored["id"]],
        "explorations": [explored["id"]],
        "comparisons": [compared["id"]],
        "releases": [run["release"]],
        "users": [client.get("/session")["id"]],
    }


def test_an_answer_of_every_address_is_documented(here: Live) -> None:
    """One answer about what is there, where no worker has to be waited for."""
    tried = _try_all(here, GenerationMode.POSITIVE, 1, 0)
    assert tried > 80


@pytest.mark.thorough
@pytest.mark.slow
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["described", "wrong"])
def test_every_answer_is_documented_and_none_is_a_fault(live: Live, mode: GenerationMode) -> None:
    assert _try_all(live, mode, EXAMPLES, EXAMPLES // 4) > 100


def _try_all(live: Live, mode: GenerationMode, often: int, waiting: int) -> int:
    """Ask every address so often, those that wait for a process less often; how many requests that were."""
    tried, wrong = 0, []
    for found in live.schema.get_all_operations():
        operation = found.ok()
        examples = waiting if operation.path.endswith(WAITING) else often

        @given(case=operation.as_strategy(generation_mode=mode), data=st.data())
        @settings(
            max_examples=examples or 1,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            database=None,
            # A request that is answered wrongly says enough as it is.
            phases=[Phase.generate],
        )
        def try_it(case: Any, data: Any) -> None:
            nonlocal tried
            _with_real_ids(case, live, data if often > 1 else None)
            if isinstance(case.query, dict):
                case.query.pop("wait", None)
            # Web servers cut addresses of more than some thousand characters, by a closed connection.
            assume(len(str(case.query)) + len(str(case.path_parameters)) < LONGEST)
            case.validate_response(live.ask(case), checks=CHECKS)
            tried += 1

        if not examples:
            continue
        try:
            try_it()
        except BaseExceptionGroup as error:
            wrong.append(f"{operation.method.upper()} {operation.path}: {error.exceptions}")
        except Exception as error:
            if "Unsatisfiable" not in type(error).__name__:
                wrong.append(f"{operation.method.upper()} {operation.path}: {error}")
    assert wrong == [], "\n".join(wrong)
    return tried


def _with_real_ids(case: Any, live: Live, data: Any) -> None:
    """Requests that do not delete are about things that are there: all of them, or half of them where ``data`` are drawn."""
    parts = case.operation.path.split("/")
    if case.method == "DELETE" or not isinstance(case.path_parameters, dict) or "id" not in case.path_parameters:
        return
    known = live.ids.get(parts[parts.index("{id}") - 1]) if "{id}" in parts else None
    if known and (data is None or data.draw(st.booleans())):
        case.path_parameters["id"] = random.Random(data.draw(st.integers(0, 100)) if data else 0).choice(known)
        if "levels" in case.path_parameters:
            case.path_parameters["levels"] = "0,1"
