"""Planted identifiers, looked for in everything that leaves a running service: answers, logs, the audit log, errors.

Also a file that unpacks to too much, sent to a real worker: it costs one job, and says so.
"""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from sqlalchemy import select

from servers import studio
from servers.studio import WAIT
from velado.client import Client, ServiceError
from velado.service.service import Service
from velado.service.settings import load
from velado.service.store.tables import AuditLine, Job, JobLine, Source

pytestmark = pytest.mark.faults
NAME, PASSPORT, RARE = "Zzplanted", "XP99", "Zzrareillness"
"""The begin of every name and number of a person, and a diagnosis that one person has."""


def table() -> str:
    text = io.StringIO()
    lines = csv.writer(text)
    lines.writerow(["name", "passport", "age", "sex", "town", "diagnosis"])
    for i in range(120):
        ill = RARE if i == 7 else ("flu", "asthma", "angina")[i % 3]
        lines.writerow([f"{NAME} {i:04}", f"{PASSPORT}{i:06}", 20 + i % 40, "mf"[i % 2], ("Lima", "Quito")[i % 5 > 2], ill])
    return text.getvalue()


DOCUMENT: dict[str, Any] = {
    "columns": {
        "name": {"role": "identifier"},
        "passport": {"role": "identifier"},
        "town": {"role": "quasi-identifier"},
        "age": {"role": "quasi-identifier", "type": "integer", "hierarchy": {"intervals": [10, 20, 40]}},
        "sex": {"role": "quasi-identifier"},
        "diagnosis": {"role": "sensitive"},
    },
    "models": [{"k-anonymity": {"k": 4}}],
    "method": {"lattice": {"suppression": 0.2}},
}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[studio.Studio]:
    folder = tmp_path_factory.mktemp("planted") / "studio"
    with studio.running(folder, copying=True, expanded_bytes=5_000_000) as found:
        yield found


@pytest.fixture(scope="module")
def owner(running: studio.Studio) -> Iterator[Client]:
    with Client(running.address, running.user("owner", "steward")) as found:
        yield found


@pytest.fixture(scope="module")
def things(owner: Client, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A project with everything that can be asked about it, jobs that failed included."""
    path = tmp_path_factory.mktemp("table") / "people.csv"
    path.write_text(table())
    source = owner.post("/sources", {"name": "people", "upload": owner.upload(path)})
    owner.follow(source["job"])
    project = owner.post("/projects", {"name": "people", "document": {**DOCUMENT, "source": {"source": source["id"]}}})["id"]
    release = owner.follow(owner.submit("run", project=project)["id"])["release"]
    done = {
        kind: owner.follow(owner.submit(kind, given, project=project)["id"])["id"]
        for kind, given in (("explore", {}), ("compare", {"grid": {"k": [2, 4]}}), ("estimate", {}))
    }
    for kind, given in (("evaluate", {}), ("attack", {}), ("report", {"formats": ["html", "xlsx"], "languages": ["en", "pt"]})):
        done[kind] = owner.follow(owner.submit(kind, given, release=release)["id"])["id"]
    # Things go wrong about names and numbers of people, too.
    for kind in ("integer", "date"):
        wrong = {**DOCUMENT["columns"], "name": {"role": "quasi-identifier", "type": kind}}
        _change(owner, project, {**DOCUMENT, "source": {"source": source["id"]}, "columns": wrong})
        failed = owner.submit("run", project=project)["id"]
        with pytest.raises(ServiceError):
            owner.follow(failed)
        owner.get(f"/projects/{project}/checks")
    _change(owner, project, {**DOCUMENT, "source": {"source": source["id"]}})
    done["failed"] = failed
    return {"source": source["id"], "project": project, "release": release, **done}


def _change(owner: Client, project: str, document: dict[str, Any]) -> None:
    owner.put(f"/projects/{project}", {"document": document}, version=owner.get(f"/projects/{project}")["version"])


JOBS = ("explore", "compare", "evaluate", "attack", "report", "estimate", "failed")
THINGS = ("project", "source", "release", *JOBS)
OF = {
    "projects": ["project"],
    "sources": ["source"],
    "releases": ["release"],
    "jobs": JOBS,
    "explorations": ["explore"],
    "comparisons": ["compare"],
}
"""Whose ids an address is about."""


def _told(service: str, token: str, things: dict[str, str], paths: list[str], everything: bool) -> Iterator[tuple[str, str]]:
    """Every answer to every GET, as text; ``everything``: also for ids of things that an address is not about."""
    with httpx2.Client(base_url=service, headers={"Authorization": f"Bearer {token}"}, timeout=WAIT) as http:
        for path in paths:
            for id in THINGS if everything else OF.get(path.split("/")[3], THINGS[:1]):
                filled = path.replace("{id}", things[id])
                for old, new in (("{column}", "diagnosis"), ("{levels}", "1,0,0"), ("{number}", "1"), ("{kind}", "models")):
                    filled = filled.replace(old, new)
                if "{" in filled:
                    continue
                answer = http.get(filled)
                yield f"{filled} {answer.status_code}", answer.text
                if "{id}" not in path:
                    break
        for name in ("report.en.html", "report.pt.html"):
            yield name, http.get(f"/api/v1/releases/{things['release']}/reports/{name}").text


@pytest.mark.parametrize("role", ["analyst", "approver", "reader", "auditor", "administrator", "stranger"])
def test_who_may_not_read_records_finds_no_identifier_anywhere(
    running: studio.Studio, owner: Client, things: dict[str, str], role: str
) -> None:
    instance = role if role in ("auditor", "administrator") else "steward"
    token = running.user(role, instance)
    if role in ("analyst", "approver", "reader"):
        owner.put(f"/projects/{things['project']}/members", {"user": role, "role": role})
    described = httpx2.get(f"{running.address}/api/v1/openapi.json", timeout=WAIT).json()["paths"]
    paths = [path for path, item in described.items() if "get" in item and "oidc" not in path]
    found = 0
    for where, text in _told(running.address, token, things, paths, role == "analyst"):
        found += " 200" in where
        assert NAME not in text, where
        assert PASSPORT not in text, where
        if role not in ("approver", "reader") or "/data" not in where:
            # What the release publishes is for its readers.
            assert RARE not in text or "/releases/" in where or "report" in where, where
    assert found > (5 if role == "stranger" else 10)


def test_logs_audit_and_errors_hold_no_value(running: studio.Studio, owner: Client, things: dict[str, str]) -> None:
    with httpx2.Client(base_url=running.address, timeout=WAIT) as anybody:
        anybody.post("/api/v1/session", json={"name": f"{NAME} 0001", "password": f"{PASSPORT}000001"})
        anybody.get(f"/api/v1/sources/{NAME}")
    for path in (f"/sources/{things['source']}/rows?where=name={NAME} 0001", f"/sources/{things['source']}/rows?limit=500"):
        assert NAME in str(owner.get(path)["rows"])
    service = Service.open(load(environment=running.environment))
    with service.store.reading() as db:
        lines = [str([x.actor, x.action, x.subject, x.detail]) for x in db.scalars(select(AuditLine))]
        # Errors name values of columns that are said to be no identifiers: to who may read records (see the test above).
        kept = [str([{**(x.error or {}), "values": []}, x.step, x.parameters]) for x in db.scalars(select(Job))] + [
            str(x.detail) for x in db.scalars(select(JobLine))
        ]
        profiles = [str([x.profile, x.suggestion]) for x in db.scalars(select(Source))]
    service.close()
    assert len(lines) > 10
    for text in [*lines, *kept, *profiles, running.log.read_text()]:
        assert NAME not in text
        assert PASSPORT not in text
    names = [str(path) for path in running.folder.rglob("*")]
    assert not [name for name in names if "people" in name and "inputs" in name]


def test_a_file_that_unpacks_to_too_much_costs_one_job(running: studio.Studio, owner: Client, tmp_path: Path) -> None:
    path = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("[Content_Types].xml", "<Types/>")
        packed.writestr("xl/worksheets/sheet1.xml", b"0" * 200_000_000)
    source = owner.post("/sources", {"name": "bomb", "upload": owner.upload(path)})
    with pytest.raises(ServiceError) as error:
        owner.follow(source["job"])
    assert error.value.code == "expands-too-much"
    assert owner.get(f"/sources/{source['id']}")["state"] == "failed"
    assert owner.get("/health")["status"] == "ok"
