"""A GET writes nothing: every resource and every page, asked twice by an owner, leaves all tables of the store as they are.

Excepted are sessions and tokens, which say now and then that they are in use; signing in through a link or a provider;
resources that ask a worker, whose question stands in the queue until it is answered; and what is handed out, which is written
down in the audit log: `audit.DISCLOSURES`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from service.inline_worker import Inline
from studio.page_addresses import QUERIES
from velado.service.admin.audit import DISCLOSURES
from velado.service.service import Service
from velado.service.store.tables import Base
from velado.service.web import app
from velado.service.web.app import description
from velado.studio.app import PAGES, create_app

API = "/api/v1"
SIGNING_IN = {f"{API}/session/oidc", f"{API}/session/oidc/callback"}
ASKS_A_WORKER = {
    "/connections/{id}/tables": "tables",
    "/projects/{id}/checks": "checks",
    "/projects/{id}/singled-out": "singled-out",
    "/projects/{id}/hierarchies": "hierarchy",
    "/projects/{id}/hierarchies/{column}": "hierarchy",
    "/projects/{id}/hierarchies/{column}/file": "hierarchy",
    "/explorations/{id}/nodes/{levels}": "node",
}
"""Resources that a quick job answers, and its kind; `docs/explanation/service.md` lists them."""
DISCLOSED = {
    f"{API}/sources/{{id}}/rows": "records.read",
    f"{API}/projects/{{id}}/hierarchies/{{column}}/file": "hierarchy.read",
    f"{API}/jobs/{{id}}/result": "result.read",
    f"{API}/comparisons/{{id}}/table": "result.read",
    f"{API}/releases/{{id}}/rows": "release.rows",
    f"{API}/releases/{{id}}/data": "release.download",
    f"{API}/releases/{{id}}/reports/{{name}}": "report.read",
    f"{API}/plans/{{id}}/appointments": "plan.download",
    "/tables/{id}": "records.read",
    "/projects/{id}/data": "records.read",
    "/projects/{id}/result/original": "records.read",
    "/projects/{id}/result/rows": "records.read release.rows",
    "/projects/{id}/hierarchy?file=csv": "hierarchy.read",
}
"""What hands out data, and the lines that say so."""
LOG = ("audit", "audit_head")
UNSEEN = {("sessions", "seen"), ("tokens", "used")}
RESOURCES = [path for path, item in description()["paths"].items() if "get" in item and path not in SIGNING_IN]


def _pages(router: Any) -> Iterator[str]:
    for route in router.routes:
        if not hasattr(route, "methods"):
            yield from _pages(getattr(route, "router", None) or route.original_router)
        elif "GET" in route.methods and route.path != "/{rest:path}":
            yield route.path


SHOWN = sorted({path for name in PAGES for path in _pages(import_module(f"velado.studio.pages.{name}").router)})


class Owner:
    """Somebody with a project, a release, and one thing of every kind."""

    def __init__(self, service: Service, client: TestClient, worker: Inline) -> None:
        self.service, self.client, self.worker = service, client, worker
        source = self.make("/sources", name="Hospital", sample="hospital", rows=300)["id"]
        project = self.make("/projects", name="Hospital", source=source)
        document = {**project["document"], "method": {"lattice": {"suppression": 0.1}}}
        answer = client.put(f"{API}/projects/{project['id']}", json={"document": document}, headers={"If-Match": '"1"'})
        assert answer.status_code == 200, answer.text
        about = {"project": project["id"]}
        run = self.job("run", **about)
        release = client.get(f"{API}/jobs/{run}").json()["release"]
        report = self.make(f"/releases/{release}/reports", formats=["html"], languages=["en"])
        self.ids = {
            "source": source,
            "project": project["id"],
            "job": run,
            "release": release,
            "exploration": self.job("explore", **about),
            "comparison": self.job("compare", **about, parameters={"grid": {"k": [2, 3]}}),
            "plan": self.job(
                "appointments",
                source=source,
                parameters={"quasi_identifiers": ["sex"], "slots": {"slots": 30, "people": 300, "seed": 1}},
            ),
            "connection": self.make("/connections", name="Nowhere", address="postgresql://ana@localhost:1/nothing")["id"],
            "upload": self.make("/uploads", name="a.csv", bytes=10)["id"],
            "group": self.make("/groups", name="g")["id"],
            "user": str(client.user_id),  # type: ignore[attr-defined]
            "column": "birth_date",
            "number": "1",
            "kind": "models",
            "key": "k-anonymity",
            "token": "unknown",
        }
        self.ids["name"] = client.get(f"{API}/jobs/{report['job']}/result").json()["files"][0]["name"]
        nodes = client.get(f"{API}/explorations/{self.ids['exploration']}").json()
        self.ids["levels"] = ",".join(map(str, nodes["optimal"]))

    def make(self, path: str, **body: Any) -> dict[str, Any]:
        answer = self.client.post(f"{API}{path}", json=body)
        assert answer.status_code in (201, 202), answer.text
        self.worker.work()
        made: dict[str, Any] = answer.json()
        return made

    def job(self, kind: str, **body: Any) -> str:
        id = str(self.make("/jobs", kind=kind, **body)["id"])
        assert self.client.get(f"{API}/jobs/{id}").json()["state"] == "done", self.client.get(f"{API}/jobs/{id}").text
        return id

    def address(self, path: str) -> str:
        """An address with ids for names."""
        thing = path.removeprefix(API).split("/")[1].removesuffix("s")
        own = {"table": "source"}.get(thing, thing)
        whole = f"{path}?{QUERIES[path]}" if path in QUERIES else path
        whole += f"?end={self.ids['levels']}" if whole.endswith("/path") else ""
        return whole.replace("{id}", self.ids.get(own, "")).replace(":path}", "}").format(**self.ids)

    def rows(self) -> dict[tuple[str, str], Any]:
        """All rows of all tables."""
        found = {}
        with self.service.store.reading() as db:
            for table in Base.metadata.sorted_tables:
                for row in db.execute(select(table)).mappings():
                    key = "/".join(str(row[column.name]) for column in table.primary_key)
                    found[table.name, key] = {k: v for k, v in row.items() if (table.name, k) not in UNSEEN}
        return found

    def changes(self, address: str) -> tuple[int, dict[tuple[str, str], Any]]:
        """Ask twice; the status, and the rows that are others than before: what differs in them."""
        before = self.rows()
        status = [self.client.get(address, follow_redirects=False).status_code for _ in range(2)]
        assert status[0] == status[1], address
        after = self.rows()
        return status[0], {
            key: {
                name: value
                for name, value in after.get(key, {"gone": True}).items()
                if before.get(key, {}).get(name, after) != value
            }
            for key in before.keys() | after.keys()
            if before.get(key) != after.get(key)
        }


@pytest.fixture(scope="module")
def owner(lasting: tuple[Service, Callable[..., TestClient]]) -> Iterator[Owner]:
    service, person = lasting
    with pytest.MonkeyPatch.context() as monkeypatch:
        worker = Inline(service, monkeypatch)
        known = person("steward", "administrator", "auditor", name="ana")
        # Its pages are for these tests only.
        monkeypatch.setattr(app, "_application", app._application.unshared)  # type: ignore[attr-defined]
        client = TestClient(create_app(service), headers=known.headers, base_url="http://127.0.0.1")
        client.user_id = known.user_id  # type: ignore[attr-defined]
        found = Owner(service, client, worker)
        with worker:
            yield found


def _check(path: str, changed: dict[tuple[str, str], Any], asked: str | None = None) -> None:
    """Nothing is changed but the lines of what is handed out, and questions to a worker."""
    lines = {row["action"] for (table, _), row in changed.items() if table == "audit"}
    # What was handed out a moment ago, by another of these addresses, is not written down again.
    assert lines <= set(DISCLOSED.get(path, "").split()) <= set(DISCLOSURES), path
    questions = {key for (table, key), row in changed.items() if table == "jobs" and row["quick"] and row["kind"] == asked}
    for (table, key), row in changed.items():
        about_question = key in questions or row.get("job_id") in questions
        # What a worker reads, and whose rows are handed out, is in use.
        used = set(row) == {"used"} and (bool(questions) or "records.read" in lines)
        assert table in LOG or about_question or used, (path, table, row)


@pytest.mark.parametrize("path", RESOURCES)
def test_a_resource_only_reads(path: str, owner: Owner) -> None:
    status, changed = owner.changes(owner.address(path))
    assert status == (422 if path == f"{API}/connections/{{id}}/tables" else 200), path
    _check(path, changed, ASKS_A_WORKER.get(path.removeprefix(API)))


@pytest.mark.parametrize("path", [*SHOWN, "/projects/{id}/hierarchy?file=csv"])
def test_a_page_only_reads(path: str, owner: Owner) -> None:
    address = owner.address(path) + (f"&column={owner.ids['column']}" if "?file" in path else "")
    status, changed = owner.changes(address)
    assert status in (200, 303), path
    _check(path, changed)


@pytest.mark.parametrize(
    ("page", "address", "kind"), [("run", "run/estimate", "estimate"), ("privacy", "privacy/original", "check")]
)
def test_what_needs_a_job_is_submitted_by_a_post_and_once(page: str, address: str, kind: str, owner: Owner) -> None:
    own, client = f"/projects/{owner.ids['project']}", owner.client
    assert f'data-load="{own}/{address}"' in client.get(f"{own}/{page}").text
    for _ in range(2):
        assert client.post(f"{own}/{address}", follow_redirects=False).headers["location"] == f"{own}/{page}"
    made = client.get(f"{API}/jobs", params={"kind": kind}).json()["items"]
    assert len(made) == 1
    assert client.get(f"{API}/jobs/{made[0]['id']}", params={"wait": 30}).json()["state"] == "done"
    assert f'data-load="{own}/{address}"' not in client.get(f"{own}/{page}").text


def test_a_page_that_a_worker_must_answer_asks_by_a_button(owner: Owner) -> None:
    """And without a script, too: the button sends what a script sends by itself."""
    made = owner.make("/projects", name="Another", copy_of=owner.ids["project"])["id"]
    address = f"/projects/{made}/columns/meter"
    assert f'<velado-go class="actions"><form method="post" action="{address}">' in owner.client.get(address).text
    assert "are unique on your quasi-identifiers" in owner.client.post(address).text
    assert "are unique on your quasi-identifiers" in owner.client.get(address).text
