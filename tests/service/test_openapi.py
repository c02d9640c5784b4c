"""schemathesis against the running service: requests as described and not as described; no 5xx, no undocumented answer."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, assume, given, settings
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
from velado.client import Client

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
EXAMPLES = 60 if os.environ.get("VELADO_TORTURE") else 8
WAITS = "wait"
LONGEST = 4000
QUICK = ("/checks", "/singled-out", "/hierarchies", "/tables", "/test", "/nodes/{levels}")
"""Addresses that wait for a process: tried less often."""


@dataclass
class Live:
    """A running service in which there is something of every kind."""

    address: str
    token: str
    ids: dict[str, list[str]]


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with studio.running(tmp_path_factory.mktemp("openapi") / "studio", jobs_queued=100_000) as running:
        token = running.user("ana", "administrator", "steward", "auditor")
        with Client(running.address, token) as client:
            yield Live(running.address, token, _things(client, tmp_path_factory.mktemp("files")))


def _things(client: Client, folder: Path) -> dict[str, list[str]]:
    """A source, a project, an exploration, a release, … of everything that has an id."""
    source = client.post("/sources", {"name": "patients", "sample": "hospital", "rows": 200})
    client.follow(source["job"])
    document = {
        "source": {"source": source["id"]}, "rest": "drop",
        "columns": {"sex": "quasi-identifier", "city": "quasi-identifier", "diagnosis": "sensitive"},
        "models": [{"k-anonymity": {"k": 2}}], "method": {"lattice": {"suppression": 0.5}},
    }  # fmt: skip
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


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["described", "wrong"])
def test_every_answer_is_documented_and_none_is_a_fault(live: Live, mode: GenerationMode) -> None:
    schema: Any = schemathesis.openapi.from_url(f"{live.address}/api/v1/openapi.json")
    session = requests.Session()
    session.headers["Authorization"] = f"Bearer {live.token}"
    tried, wrong = 0, []
    for found in schema.get_all_operations():
        operation = found.ok()
        few = operation.path.endswith(QUICK)

        @given(case=operation.as_strategy(generation_mode=mode), data=st.data())
        @settings(
            max_examples=EXAMPLES // 4 if few else EXAMPLES,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            database=None,
        )
        def try_it(case: Any, data: Any) -> None:
            nonlocal tried
            _with_real_ids(case, live, data)
            if isinstance(case.query, dict):
                case.query.pop(WAITS, None)
            # Web servers cut addresses of more than some thousand characters, by a closed connection.
            assume(len(str(case.query)) + len(str(case.path_parameters)) < LONGEST)
            response = case.call(base_url=live.address, session=session, allow_redirects=False, timeout=60)
            case.validate_response(response, checks=CHECKS)
            tried += 1

        try:
            try_it()
        except BaseExceptionGroup as error:
            wrong.append(f"{operation.method.upper()} {operation.path}: {error.exceptions}")
        except Exception as error:
            if "Unsatisfiable" not in type(error).__name__:
                wrong.append(f"{operation.method.upper()} {operation.path}: {error}")
    assert wrong == [], "\n".join(wrong)
    assert tried > 100


def _with_real_ids(case: Any, live: Live, data: Any) -> None:
    """Half of the requests that do not delete are about things that are there."""
    parts = case.operation.path.split("/")
    if case.method == "DELETE" or not isinstance(case.path_parameters, dict) or "id" not in case.path_parameters:
        return
    known = live.ids.get(parts[parts.index("{id}") - 1]) if "{id}" in parts else None
    if known and data.draw(st.booleans()):
        case.path_parameters["id"] = random.Random(data.draw(st.integers(0, 100))).choice(known)
        if "levels" in case.path_parameters:
            case.path_parameters["levels"] = "0,1"
