"""What is taken away does not come back: tables of others, rights, results of a user who is deleted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import delete, select

import stored_projects as at_hand
from velado.service.errors import Forbidden
from velado.service.jobs import make_task
from velado.service.jobs.kinds import KINDS
from velado.service.projects import versions
from velado.service.service import Service
from velado.service.store.tables import Group, GroupMember, Job, Member, Project, Source, Version

Person = Callable[..., TestClient]
API = "/api/v1"


class Shared:
    """An owner with a table, an editor, and the project that they share."""

    def __init__(self, service: Service, person: Person) -> None:
        self.service = service
        self.owner, self.editor = person("steward"), person("steward")
        self.ids = at_hand.rows_of(self.owner), at_hand.rows_of(self.editor)
        self.source = at_hand.source(service, self.ids[0])
        self.document = {"source": {"source": self.source}}
        self.project = at_hand.project(service, {self.ids[0]: "owner", self.ids[1]: "editor"}, self.document)

    def role(self, role: str | None) -> None:
        """Give the editor another role, or none."""
        with self.service.store.writing() as db:
            of = (Member.user_id == self.ids[1], Member.project_id == self.project)
            member = db.scalars(select(Member).where(*of)).one()
            if role is None:
                db.delete(member)
            else:
                member.role = role

    def names(self, document: dict[str, Any]) -> None:
        with self.service.store.writing() as db:
            db.get_one(Project, self.project).document = document

    def sources_of(self, job: str) -> set[str]:
        """What a worker would give to a job."""
        with self.service.store.writing() as db:
            found = db.get_one(Job, job)
            task = make_task.build(db, self.service.files, self.service.settings, found, KINDS[found.kind])
        return set(task.things["sources"])


@pytest.fixture
def shared(service: Service, person: Person) -> Shared:
    return Shared(service, person)


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


# Through old jobs


def test_a_job_that_is_tried_again_brings_no_table_back(shared: Shared) -> None:
    jobs = [
        at_hand.job(shared.service, "run", shared.project, shared.ids[1], state="failed", document=shared.document)
        for _ in range(2)
    ]
    assert shared.editor.post(f"{API}/jobs/{jobs[0]}/retry").status_code == 202
    shared.names({"velado": 1})
    assert code(shared.editor.post(f"{API}/jobs/{jobs[1]}/retry")) == (422, "unknown-reference")
    assert shared.owner.post(f"{API}/jobs/{jobs[1]}/retry").status_code == 202


def test_a_node_of_an_old_exploration_brings_no_table_back(shared: Shared) -> None:
    id = at_hand.exploration(shared.service, shared.project, shared.ids[0], document=shared.document)
    shared.names({"velado": 1})
    assert code(shared.editor.get(f"{API}/explorations/{id}/nodes/1,0")) == (422, "unknown-reference")
    with shared.service.store.reading() as db:
        assert db.scalars(select(Job.id).where(Job.kind == "node")).all() == []


def test_who_may_not_run_any_more_has_nothing_run(shared: Shared) -> None:
    more = {"state": "queued", "document": shared.document}
    run = at_hand.job(shared.service, "run", shared.project, shared.ids[1], **more)
    explore = at_hand.job(shared.service, "explore", shared.project, shared.ids[1], **more)
    assert shared.sources_of(run) == {shared.source}
    shared.role("analyst")
    with pytest.raises(Forbidden):
        shared.sources_of(run)
    assert shared.sources_of(explore) == {shared.source}
    shared.role("reader")
    with pytest.raises(Forbidden):
        shared.sources_of(explore)


# Through projects of one's own


def test_a_table_of_somebody_is_named_by_nobody_else(shared: Shared) -> None:
    made = {"name": "mine", "document": shared.document}
    assert code(shared.editor.post(f"{API}/projects", json=made)) == (422, "unknown-reference")
    copy = shared.editor.post(f"{API}/projects", json={"copy_of": shared.project})
    assert (copy.status_code, "source" in copy.json()["document"]) == (201, False)
    assert shared.owner.post(f"{API}/projects", json=made).status_code == 201
    address, sent = (f"{API}/projects/{copy.json()['id']}", {"json": {"document": shared.document}, "headers": {"If-Match": "*"}})
    assert code(shared.editor.put(address, **sent)) == (422, "unknown-reference")
    at_hand.add(shared.service, Member(project_id=copy.json()["id"], user_id=shared.ids[0], role="reader"))
    assert code(shared.editor.put(address, **sent)) == (422, "unknown-reference")
    # What a shared project names already stays, whoever changes it.
    kept = {"json": {"document": {**shared.document, "columns": {}}}, "headers": {"If-Match": "*"}}
    assert shared.editor.put(f"{API}/projects/{shared.project}", **kept).status_code == 200


@pytest.mark.parametrize("by_group", [False, True])
def test_who_is_taken_out_has_the_table_no_more(shared: Shared, by_group: bool) -> None:
    own = at_hand.project(shared.service, {shared.ids[1]: "owner"}, shared.document)
    member = Member(project_id=own, user_id=shared.ids[0], role="reader")
    if by_group:
        group = at_hand.add(shared.service, Group(name="owners"))
        at_hand.add(shared.service, GroupMember(group_id=group.id, user_id=shared.ids[0]))
        member = Member(project_id=own, group_id=group.id, role="reader")
    at_hand.add(shared.service, member)
    job = at_hand.job(shared.service, "explore", own, shared.ids[1], state="queued", document=shared.document)
    address = f"{API}/sources/{shared.source}"
    shared.role(None)
    assert shared.editor.get(address).json()["actions"] == ["profile.read", "records.read"]
    assert shared.sources_of(job) == {shared.source}
    with shared.service.store.writing() as db:
        db.delete(db.get_one(Member, member.id))
    for what in ("", "/profile", "/rows"):
        assert code(shared.editor.get(address + what)) == (404, "not-found")
    assert shared.sources_of(job) == set()


def test_a_sample_is_everybodys(shared: Shared) -> None:
    sample = at_hand.source(shared.service, shared.ids[0], "sample")
    shared.names({"source": {"source": sample}})
    copy = shared.editor.post(f"{API}/projects", json={"copy_of": shared.project}).json()
    assert copy["document"]["source"] == {"source": sample}
    shared.role(None)
    assert shared.editor.get(f"{API}/sources/{sample}").status_code == 200


# Samples only, and old versions


def test_a_project_that_named_a_table_once_is_not_of_samples_only(service: Service, person: Person) -> None:
    owner, learner = person("steward"), person("learner")
    mine, theirs = at_hand.rows_of(owner), at_hand.rows_of(learner)
    sample, table = ({"source": {"source": at_hand.source(service, mine, kind)}} for kind in ("sample", "upload"))
    project = owner.post(f"{API}/projects", json={"name": "lesson", "document": sample}).json()["id"]
    at_hand.add(service, Member(project_id=project, user_id=theirs, role="editor"))
    address = f"{API}/projects/{project}"

    def put(document: Any) -> bool:
        """Whether the learner reads records then."""
        sent = owner.put(address, json={"document": document}, headers={"If-Match": "*"})
        assert sent.status_code == 200, sent.text
        return "records.read" in learner.get(address).json()["actions"]

    assert put({**sample, "columns": {}}) is True
    assert put(table) is False
    assert put(sample) is False
    # It is remembered by the project itself, not by its versions.
    with service.store.writing() as db:
        db.execute(delete(Version).where(Version.project_id == project))
    assert put({**sample, "columns": {}}) is False


def test_only_so_many_versions_are_kept(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "MOST_VERSIONS", 3)
    owner = person("steward")
    address = f"{API}/projects/{owner.post(f'{API}/projects', json={'name': 'p'}).json()['id']}"
    for k in range(2, 7):
        sent = {"document": {"models": [{"k-anonymity": {"k": k}}]}}
        assert owner.put(address, json=sent, headers={"If-Match": "*"}).status_code == 200
    listed = [v["number"] for v in owner.get(f"{address}/versions").json()["items"]]
    assert listed == [6, 5, 4]
    assert owner.post(f"{address}/undo").json()["document"]["models"] == [{"k-anonymity": {"k": 5}}]
    assert owner.post(f"{address}/undo").status_code == 409
    assert code(owner.post(f"{address}/undo")) == (409, "nothing-to-undo")
    assert len(owner.get(f"{address}/versions").json()["items"]) == 3


# With a user


@pytest.mark.parametrize("kind", ["explore", "attack", "compare", "balance"])
def test_results_in_projects_of_others_go_with_a_user(shared: Shared, person: Person, kind: str) -> None:
    with shared.service.store.writing() as db:
        db.scalars(select(Member).where(Member.user_id == shared.ids[1])).one().role = "owner"
    telling = at_hand.job(shared.service, kind, shared.project, shared.ids[1], {}, document=shared.document)
    other = at_hand.job(shared.service, kind, shared.project, shared.ids[1], {})
    copy = shared.service.files.copy(shared.source)
    copy.write_bytes(b"x")
    assert person("administrator").delete(f"{API}/users/{shared.ids[0]}").status_code == 204
    with shared.service.store.reading() as db:
        assert (db.get(Job, telling), db.get(Source, shared.source)) == (None, None)
        assert db.get(Job, other) is not None
    assert not shared.service.files.attempt(telling, 1).exists()
    assert shared.service.files.attempt(other, 1).exists()
    assert not copy.exists()
