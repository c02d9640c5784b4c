"""Jobs over HTTP: submitted, waited for, cancelled, tried again, deleted, and seen only by who may."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import update

from servers.studio import until
from service.worker_thread import LONG, Bench
from velado.service.jobs import failure_messages, make_task, queue
from velado.service.jobs.kinds import KINDS
from velado.service.jobs.process import outcome
from velado.service.service import Service
from velado.service.store.tables import AuditLine, Job, Member, Project, Release, Source
from velado.service.web.app import create_app

Person = Callable[..., TestClient]
JOBS = "/api/v1/jobs"


@pytest.fixture
def bench(service: Service, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    bench = Bench(service, monkeypatch)
    yield bench
    bench.stop()


def submitted(client: TestClient, kind: str = "labour", **more: Any) -> dict[str, Any]:
    answer = client.post(JOBS, json={"kind": kind, **more})
    assert answer.status_code == 202, answer.text
    assert answer.headers["location"] == f"{JOBS}/{answer.json()['id']}"
    found: dict[str, Any] = answer.json()
    return found


def project_of(service: Service, **roles: str) -> str:
    """A project, and who has which role in it."""
    with service.store.writing() as db:
        project = Project(name="p", document={"velado": 1})
        db.add(project)
        db.flush()
        db.add_all(Member(project_id=project.id, user_id=user, role=role) for user, role in roles.items())
        return project.id


@pytest.mark.both_stores
def test_the_life_of_a_job(bench: Bench, person: Person) -> None:
    ana = person("steward")
    bench.start()
    job = submitted(ana, parameters={"file": "x"})
    assert (job["state"], job["attempt"], job["kind"]) == ("queued", 0, "labour")
    done = ana.get(f"{JOBS}/{job['id']}", params={"wait": 30}).json()
    assert (done["state"], done["attempt"], done["error"]) == ("done", 1, None)
    assert done["step"]["text"] == "searching"
    assert ana.get(f"{JOBS}/{job['id']}", params={"language": "es"}).json()["step"]["text"] == "buscando"
    log = ana.get(f"{JOBS}/{job['id']}/log", params={"language": "pt"}).json()["items"]
    assert [line["event"] for line in log] == ["submitted", "started", "stage", "stage", "done"]
    assert log[0]["text"] == "enviado"
    assert ana.get(f"{JOBS}/{job['id']}/result").json()["asked"] == 1
    assert [one["id"] for one in ana.get(JOBS, params={"state": "done"}).json()["items"]] == [job["id"]]
    folder = bench.service.files.attempt(job["id"], 1)
    assert folder.is_dir()
    assert ana.delete(f"{JOBS}/{job['id']}").status_code == 204
    assert not folder.exists()
    assert ana.get(f"{JOBS}/{job['id']}").status_code == 404
    with bench.service.store.reading() as db:
        actions = [line.action for line in db.query(AuditLine).order_by(AuditLine.number)]
    assert actions == ["job.submit", "result.read", "job.delete"]


@pytest.mark.both_stores
def test_cancel_and_retry(bench: Bench, person: Person) -> None:
    ana = person("steward")
    id = submitted(ana, parameters={"sleep": LONG})["id"]
    assert ana.post(f"{JOBS}/{id}/retry").json()["code"] == "job-not-failed"
    assert ana.post(f"{JOBS}/{id}/cancel").json()["state"] == "cancelled"
    assert ana.post(f"{JOBS}/{id}/cancel").json()["code"] == "job-ended"
    assert ana.post(f"{JOBS}/{id}/retry").json()["state"] == "queued"
    bench.start()
    bench.at(id, "open")
    answer = ana.post(f"{JOBS}/{id}/cancel")
    assert (answer.status_code, answer.json()["cancelling"]) == (202, True)
    assert ana.delete(f"{JOBS}/{id}").json()["code"] in ("job-not-ended", None)
    ended = ana.get(f"{JOBS}/{id}", params={"wait": 30}).json()
    assert (ended["state"], ended["error"]["code"]) == ("cancelled", "cancelled")
    assert ana.get(f"{JOBS}/{id}/result").json()["code"] == "job-not-done"


def test_wrong_bodies(bench: Bench, person: Person) -> None:
    ana = person("steward")

    def refused(**body: Any) -> tuple[int, str, set[str]]:
        answer = ana.post(JOBS, json=body)
        told = answer.json()
        return answer.status_code, told["code"], {p["fields"].get("path") for p in (told, *told["others"])}

    assert refused(kind="labor") == (422, "unknown-kind", {"kind"})
    assert refused(kind="labour", project="x" * 24) == (422, "bad-request", {"project"})
    assert refused(kind="labour-here") == (422, "bad-request", {"project"})
    assert refused(kind="labour", strange=1) == (422, "bad-request", {"strange"})
    wrong = {"sleep": "secret", "deep": {"a": "secret"}, "more": 1}
    paths = {"parameters.sleep", "parameters.deep.a", "parameters.more"}
    assert refused(kind="strict", parameters=wrong) == (422, "bad-request", paths)
    assert "secret" not in ana.post(JOBS, json={"kind": "strict", "parameters": wrong}).text
    assert ana.get(f"{JOBS}/nothing", params={"wait": 31}).status_code == 422
    for path in ("", "/log", "/result"):
        assert ana.get(f"{JOBS}/nothing{path}").status_code == 404


def test_a_learner_may_not_submit_what_needs_a_steward(bench: Bench, person: Person) -> None:
    assert person("auditor").post(JOBS, json={"kind": "labour"}).json()["code"] == "forbidden"
    few = person("steward", scopes=["read"]).post(JOBS, json={"kind": "labour"})
    assert (few.status_code, few.json()["code"]) == (403, "forbidden")


@pytest.mark.both_stores
def test_who_sees_a_job_of_somebody(bench: Bench, person: Person) -> None:
    ana, eva, admin = person("steward"), person("steward"), person("administrator")
    id = submitted(ana, parameters={"sleep": 3})["id"]
    unknown = eva.get(f"{JOBS}/{'0' * 24}")
    for method, path in (("GET", ""), ("GET", "/log"), ("GET", "/result"), ("POST", "/cancel"), ("POST", "/retry"), ("DELETE", "")):
        answer = eva.request(method, f"{JOBS}/{id}{path}")
        assert (answer.status_code, answer.json()) == (404, unknown.json()), path
    assert eva.get(JOBS).json()["items"] == []
    seen = admin.get(f"{JOBS}/{id}").json()
    assert (seen["state"], seen["kind"], seen["parameters"], seen["step"]) == ("queued", "labour", None, None)
    assert [one["parameters"] for one in admin.get(JOBS).json()["items"]] == [None]
    assert admin.get(f"{JOBS}/{id}/result").status_code == 403
    assert admin.delete(f"{JOBS}/{id}").status_code == 403
    assert admin.post(f"{JOBS}/{id}/cancel").json()["state"] == "cancelled"


@pytest.mark.both_stores
def test_who_sees_a_job_of_a_project(bench: Bench, person: Person) -> None:
    people = {role: person("steward") for role in ("owner", "editor", "analyst", "approver", "reader")}
    stranger = person("steward")
    project = project_of(bench.service, **{client.user_id: role for role, client in people.items()})  # type: ignore[attr-defined]
    body = {"kind": "labour-here", "project": project}
    submits = {role: client.post(JOBS, json=body).status_code for role, client in people.items()}
    assert submits == {"owner": 202, "editor": 202, "analyst": 202, "approver": 403, "reader": 403}
    assert stranger.post(JOBS, json=body).status_code == 404
    id = people["owner"].get(JOBS, params={"project": project}).json()["items"][-1]["id"]
    assert {role: client.get(f"{JOBS}/{id}").status_code for role, client in people.items()} == {
        "owner": 200,
        "editor": 200,
        "analyst": 200,
        "approver": 404,
        "reader": 404,
    }
    lists = {role: len(client.get(JOBS).json()["items"]) for role, client in people.items()}
    assert lists == {"owner": 3, "editor": 3, "analyst": 3, "approver": 0, "reader": 0}
    # The owner's: an analyst cancels only jobs of their own.
    assert people["analyst"].post(f"{JOBS}/{id}/cancel").status_code == 403
    assert people["editor"].post(f"{JOBS}/{id}/cancel").status_code == 202


def test_errors_are_told_in_the_language_of_who_asks(bench: Bench, person: Person) -> None:
    owner, analyst = person("steward"), person("steward")
    project = project_of(bench.service, **{owner.user_id: "owner", analyst.user_id: "analyst"})  # type: ignore[attr-defined]
    id = submitted(owner, "labour-here", project=project)["id"]
    from velado.errors import InputError

    kept = failure_messages.describe_error(
        InputError("bad-value", "the file is empty", column="age", values=["Ana"], fields={"value": "Ana"})
    )
    with bench.service.store.writing() as db:
        db.execute(update(Job).where(Job.id == id).values(state="failed", error=kept))
    told = owner.get(f"{JOBS}/{id}", headers={"Accept-Language": "es"}).json()["error"]
    assert (told["code"], told["message"], told["column"]) == ("bad-value", "el archivo está vacío", "age")
    assert told["fields"]["values"] == ["Ana"]
    assert "Ana" not in analyst.get(f"{JOBS}/{id}").text


def test_a_job_with_a_release_stays(bench: Bench, person: Person) -> None:
    owner = person("steward")
    project = project_of(bench.service, **{owner.user_id: "owner"})  # type: ignore[attr-defined]
    id = submitted(owner, "labour-here", project=project)["id"]
    with bench.service.store.writing() as db:
        db.execute(update(Job).where(Job.id == id).values(state="done", result={}))
        db.add(Release(project_id=project, job_id=id, version=1, summary={}, manifest={}, place={}))
    assert owner.delete(f"{JOBS}/{id}").json()["code"] == "job-has-release"


def test_a_job_of_who_left_the_project_gets_nothing(bench: Bench, person: Person) -> None:
    owner = person("steward")
    project = project_of(bench.service, **{owner.user_id: "owner"})  # type: ignore[attr-defined]
    id = submitted(owner, "labour-here", project=project)["id"]
    with bench.service.store.writing() as db:
        db.query(Member).delete()
    bench.start()
    assert (bench.ended(id).error or {})["code"] == "not-found"
    # The state is still the submitter's to see, the rest is not.
    assert owner.get(f"{JOBS}/{id}").json()["parameters"] is None


def test_a_job_about_a_table(bench: Bench, person: Person) -> None:
    """Its owner sees all; an analyst of a project that names it sees no values; to others there is no such table."""
    owner, analyst, reader, stranger = (person("steward") for _ in range(4))
    with bench.service.store.writing() as db:
        source = Source(user_id=owner.user_id, name="t", kind="upload", state="ready")  # type: ignore[attr-defined]
        db.add(source)
        db.flush()
        id = source.id
    roles = {owner.user_id: "owner", analyst.user_id: "analyst", reader.user_id: "reader"}  # type: ignore[attr-defined]
    project = project_of(bench.service, **roles)
    with bench.service.store.writing() as db:
        db.get_one(Project, project).document = {"source": {"source": id}}
    body = {"kind": "labour-table", "source": id}
    assert stranger.post(JOBS, json=body).status_code == 404
    assert reader.post(JOBS, json=body).status_code == 403
    bench.start()
    mine, theirs = submitted(owner, **body)["id"], submitted(analyst, **body)["id"]
    for job in (mine, theirs):
        assert bench.ended(job).state == "done"
    assert analyst.get(f"{JOBS}/{mine}").status_code == 404
    assert owner.get(f"{JOBS}/{mine}/result").json()["asked"] == 1
    # There are no rules for what may be told of this kind: nothing is.
    assert analyst.get(f"{JOBS}/{theirs}/result").json() == {}
    bench.stop()
    late = submitted(analyst, **body)["id"]
    with bench.service.store.writing() as db:
        db.query(Member).delete()
    assert analyst.get(f"{JOBS}/{theirs}/result").status_code == 404
    with bench.service.store.writing() as db:
        named = make_task.build(db, bench.service.files, bench.service.settings, bench.job(late), KINDS["labour-table"]).things
    assert named["sources"] == {}


def test_many_who_wait_hold_nobody_up(bench: Bench, person: Person) -> None:
    """Sixty wait, more than there are threads; others are answered meanwhile, and all hear of the end."""
    ana = person("steward")
    id = submitted(ana, parameters={})["id"]
    headers = dict(ana.headers)

    async def wait() -> list[str]:
        transport = httpx2.ASGITransport(create_app(bench.service))
        async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers) as client:
            waiting = [asyncio.create_task(client.get(f"{JOBS}/{id}?wait=30", timeout=180)) for _ in range(60)]
            await asyncio.sleep(0.5)
            answer = await client.get(f"{JOBS}/{id}")
            assert answer.json()["state"] == "queued"
            assert not [one for one in waiting if one.done()]
            with bench.service.store.writing() as db:
                queue.cancel(db, db.get_one(Job, id))
            return [(await one).json()["state"] for one in waiting]

    assert asyncio.run(wait()) == ["cancelled"] * 60


def test_waiting_for_another_stage(bench: Bench, person: Person) -> None:
    ana = person("steward")
    bench.start()
    id = submitted(ana, parameters={"sleep": LONG})["id"]
    at = ana.get(f"{JOBS}/{id}", params={"wait": 30, "stage": ""}).json()
    assert (at["state"], at["step"]["stage"]) == ("running", "open")
    ana.post(f"{JOBS}/{id}/cancel")
    until(lambda: ana.get(f"{JOBS}/{id}").json()["state"] == "cancelled")


def test_pages(bench: Bench, person: Person) -> None:
    ana = person("steward")
    made = [submitted(ana)["id"] for _ in range(5)]
    first = ana.get(JOBS, params={"limit": 3}).json()
    second = ana.get(JOBS, params={"limit": 3, "after": first["next"]}).json()
    assert [one["id"] for one in first["items"] + second["items"]] == made[::-1]
    assert second["next"] is None


def test_outcome_is_imported_without_the_store() -> None:
    """The process of a job starts quickly: neither the store nor the web is loaded for it."""
    import subprocess
    import sys

    code = "import sys, velado.service.jobs.process; print([m for m in ('sqlalchemy', 'pydantic', 'fastapi', 'numba', 'duckdb') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
    assert callable(outcome)
