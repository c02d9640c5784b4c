"""Projects: how they begin, change, are undone, shared and deleted."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from velado.errors import InputError
from velado.service.access.caller import Caller
from velado.service.access.permissions import SCOPES
from velado.service.accounts import tokens
from velado.service.errors import Invalid
from velado.service.projects import versions
from velado.service.projects.exchange import from_text
from velado.service.service import Service
from velado.service.store.tables import (
    AuditLine,
    ChangedSetting,
    Connection,
    Group,
    GroupMember,
    Job,
    Member,
    Project,
    Release,
    Secret,
    Source,
    Upload,
    User,
    Version,
    now,
)

Person = Callable[..., TestClient]
API = "/api/v1"
COLUMNS = {"age": {"role": "quasi-identifier"}, "illness": {"role": "sensitive"}}


def made(client: TestClient, **body: Any) -> dict[str, Any]:
    answer = client.post(f"{API}/projects", json={"name": "trial", **body})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    assert answer.headers["location"] == f"{API}/projects/{found['id']}"
    assert answer.headers["etag"] == '"1"'
    return found


def add(service: Service, *rows: Any) -> Any:
    with service.store.writing() as db:
        db.add_all(rows)
        db.flush()
    return rows[0] if len(rows) == 1 else rows


def source_of(service: Service, user: TestClient, kind: str = "upload", **more: Any) -> Source:
    found: Source = add(service, Source(user_id=user.user_id, name="patients.csv", kind=kind, state="ready", **more))  # type: ignore[attr-defined]
    return found


def upload_of(service: Service, user: TestClient) -> Upload:
    found: Upload = add(service, Upload(user_id=user.user_id, name="levels.csv", bytes=1, state="complete"))  # type: ignore[attr-defined]
    return found


def put(client: TestClient, project: dict[str, Any], document: Any, **headers: str) -> Any:
    sent = {"If-Match": f'"{project["version"]}"', **headers}
    return client.put(f"{API}/projects/{project['id']}", json={"document": document}, headers=sent)


def refused(answer: Any, status: int, code: str, path: str | None = None) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    found: dict[str, Any] = answer.json()
    assert found["code"] == code, found
    if path is not None:
        assert path in [one.get("fields", {}).get("path") for one in (found, *found["others"])], found
    return found


@pytest.mark.both_stores
def test_searched_by_name(person: Person) -> None:
    steward = person("steward")
    for name in ("Ward 3", "ward 12", "100 % of all", "a_b"):
        made(steward, name=name)

    def found(search: str) -> set[str]:
        items = steward.get(f"{API}/projects", params={"search": search}).json()["items"]
        return {one["name"] for one in items}

    assert found("WARD") == {"Ward 3", "ward 12"}
    assert found("%") == {"100 % of all"}
    assert found("_") == {"a_b"}
    assert len(found(" ")) == 4


# How a project begins


def test_an_empty_project_is_listed_and_read_by_its_owner(person: Person) -> None:
    me = person("steward")
    project = made(me)
    assert project["document"] == {"velado": 1}
    assert project["roles"] == ["owner"]
    assert "project.edit" in project["actions"]
    listed = me.get(f"{API}/projects").json()
    assert [(p["id"], p["name"], p["version"], p["roles"], p["last"]) for p in listed["items"]] == [
        (project["id"], "trial", 1, ["owner"], None)
    ]
    read = me.get(f"{API}/projects/{project['id']}")
    assert read.headers["etag"] == '"1"'
    again = me.get(f"{API}/projects/{project['id']}", headers={"If-None-Match": '"1"'})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.both_stores
def test_a_list_goes_on_where_it_ended(person: Person) -> None:
    me = person("steward")
    ids = [made(me, name=f"p{i}")["id"] for i in range(5)]
    found, after = [], None
    for _ in range(3):
        page = me.get(f"{API}/projects", params={"limit": 2, **({"after": after} if after else {})}).json()
        found += [p["id"] for p in page["items"]]
        after = page["next"]
    assert found == ids[::-1]
    assert after is None
    refused(me.get(f"{API}/projects", params={"after": "x"}), 422, "bad-request", "after")


@pytest.mark.both_stores
def test_the_list_tells_how_the_last_run_ended(service: Service, person: Person) -> None:
    me = person("steward")
    project = made(me)
    about = {"project_id": project["id"], "user_id": me.user_id, "kind": "run"}  # type: ignore[attr-defined]
    add(service, Job(**about, state="failed", error={"code": "no-solution"}, finished=now()))
    last = me.get(f"{API}/projects").json()["items"][0]["last"]
    assert (last["state"], last["code"], last["release"]) == ("failed", "no-solution", None)
    job = add(service, Job(**about, state="done", finished=now()))
    release = Release(project_id=project["id"], job_id=job.id, version=1, summary={}, manifest={}, place={})
    add(service, release)
    last = me.get(f"{API}/projects").json()["items"][0]["last"]
    assert (last["job"], last["release"], last["release_state"]) == (job.id, release.id, "made")
    for summary, exposed in (
        ({"exposure": {"below": 0}}, False),
        ({"exposure": {"below": 2}}, True),
        ({"tables": {"a": {"exposure": {"below": 0}}, "b": {"exposure": {"below": 1}}}}, True),
    ):
        job = add(service, Job(**about, state="done", finished=now()))
        add(service, Release(project_id=project["id"], job_id=job.id, version=1, summary=summary, manifest={}, place={}))
        assert me.get(f"{API}/projects").json()["items"][0]["last"]["exposed"] is exposed


@pytest.mark.parametrize("text", ["{a: [}", "a: &x [*x]", "\x00", "- 1", "a: 1\na: 2", "!!python/object:os.system {}"])
def test_a_yaml_that_is_wrong_is_refused(person: Person, text: str) -> None:
    answer = person("steward").post(f"{API}/projects", json={"yaml": text})
    assert answer.status_code == 422
    assert answer.json()["code"] in ("bad-yaml", "bad-document")
    assert "/tmp" not in answer.text


def test_a_yaml_that_expands_is_refused(person: Person) -> None:
    lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x,x]"] + [f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    refused(person("steward").post(f"{API}/projects", json={"yaml": "\n".join(lines)}), 422, "bad-yaml")


@pytest.mark.parametrize(
    "text", ["x: &a {long}\nz: [*a, *a]", "x: &a {{k: 1}}\nz: {{<<: *a}}", "x: &a y\nz: *a"], ids=["scalar", "merged", "small"]
)
def test_a_document_has_no_aliases(person: Person, text: str) -> None:
    """A scalar of 1 MB and 300 aliases would be stored as 300 MB."""
    sent = text.format(long="y" * 1000)
    refused(person("learner").post(f"{API}/projects", json={"yaml": sent}), 422, "bad-yaml")
    with pytest.raises(InputError, match="write it out"):
        from_text(sent)


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("columns", {"columns": {f"c{n}": "identifier" for n in range(10_001)}}),
        ("attributes", {"attributes": {f"c{n}": {} for n in range(10_001)}}),
        ("columns of tables", {"tables": {t: {"columns": {f"c{n}": None for n in range(5001)}} for t in "ab"}}),
        ("tables", {"tables": {f"t{n}": {} for n in range(101)}}),
        ("parts", {"x": [0] * 200_000}),
        ("characters", {f"{n}": "x" * 1_000_000 for n in range(9)}),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_a_document_is_no_larger_than_can_be_worked_with(service: Service, name: str, document: dict[str, Any]) -> None:
    with service.store.writing() as db, pytest.raises(Invalid) as error:
        versions.create(db, Caller("x", "x", ("learner",)), "large", document)
    assert error.value.code == "bad-document"


@pytest.mark.both_stores
def test_versions_count_as_storage_of_who_made_them(service: Service, person: Person) -> None:
    learner, steward = person("learner"), person("steward")
    with service.store.writing() as db:
        db.add_all([ChangedSetting(name="learner_bytes", value=10_000), ChangedSetting(name="user_bytes", value=1_000_000)])
    for who in (learner, steward):
        project = who.post(f"{API}/projects", json={"document": {"velado": 1}}).json()["id"]
        answers = [
            who.put(
                f"{API}/projects/{project}",
                json={"document": {"velado": 1, "name": f"{n}" + "x" * 3000}},
                headers={"If-Match": f'"{n}"'},
            )
            for n in range(1, 5)
        ]
        wanted = [200, 200, 200, 413 if who is learner else 200]
        assert [one.status_code for one in answers] == wanted
        assert answers[-1].json().get("code") == ("no-room-left" if who is learner else None)
    taken = person("administrator").get(f"{API}/storage").json()["users"]
    assert {one["user"]: one["documents"] > 9000 for one in taken} == {learner.user_id: True, steward.user_id: True}  # type: ignore[attr-defined]
    assert learner.delete(f"{API}/projects/{project}").status_code == 404
    mine = learner.get(f"{API}/projects").json()["items"][0]["id"]
    assert learner.delete(f"{API}/projects/{mine}").status_code == 204
    assert learner.post(f"{API}/projects", json={}).status_code == 201


def test_projects_and_jobs_leave_room_on_the_disk(service: Service, person: Person) -> None:
    steward = person("steward")
    project = steward.post(f"{API}/projects", json={}).json()["id"]
    with service.store.writing() as db:
        db.add(ChangedSetting(name="free_bytes", value=10**15))
    answers = [
        steward.post(f"{API}/projects", json={}),
        steward.put(f"{API}/projects/{project}", json={"document": {"name": "x"}}, headers={"If-Match": '"1"'}),
        steward.post(f"{API}/jobs", json={"kind": "estimate", "project": project}),
    ]
    assert [(one.status_code, one.json()["code"]) for one in answers] == [(503, "disk-nearly-full")] * 3
    assert [one["version"] for one in steward.get(f"{API}/projects").json()["items"]] == [1]


YAML = """
velado: 1
name: hospital
source: {path: /etc/passwd}
columns:
  age: {role: quasi-identifier, hierarchy: {file: ../levels.csv}}
  id: {role: identifier, operation: {pseudonymize: "env:WARD_KEY"}}
  born: {role: insensitive, hierarchy: {dates: [year]}}
models: [{k-anonymity: {k: 5}}]
output: {database: "postgresql://me@db/x", table: out}
"""


def test_a_project_file_loses_its_paths_and_tells_of_each(person: Person) -> None:
    project = made(person("steward"), yaml=YAML)
    document = project["document"]
    assert "source" not in document
    assert "output" not in document
    assert document["columns"]["age"]["hierarchy"] == {}
    assert document["columns"]["id"]["operation"]["pseudonymize"].startswith("secret:")
    assert document["models"] == [{"k-anonymity": {"k": 5}}]
    assert {note["path"] for note in project["notes"]} == {"source", "output", "columns.age.hierarchy.file"}
    assert "passwd" not in json.dumps(project)
    assert "postgresql" not in json.dumps(project)


def test_notes_are_in_the_language_asked_for(person: Person) -> None:
    answer = person("steward").post(f"{API}/projects?language=es", json={"yaml": YAML})
    assert "Elija" in answer.json()["notes"][0]["message"]


def test_a_source_takes_the_place_of_the_table_of_a_file(service: Service, person: Person) -> None:
    me = person("steward")
    source = source_of(service, me)
    project = made(me, yaml=YAML, source=source.id)
    assert project["document"]["source"] == {"source": source.id}
    others = source_of(service, person("steward"))
    answer = me.post(f"{API}/projects", json={"yaml": YAML, "source": others.id})
    refused(answer, 422, "unknown-reference", "source")


ANONYLITICS = {
    "project_name": "clinic",
    "user": "x",
    "anonymization_type": "completa",
    "principles": [{"principle_name": "k-anonymity", "principle_value": 2}],
    "tables": [
        {
            "table_name": "people",
            "columns": [
                {"column_name": "age", "attribute_type": "cuasi-identificador", "data_type": "numerico"},
                {"column_name": "ill", "attribute_type": "sensible", "data_type": "categorico"},
            ],
        }
    ],
}


def test_an_anonylitics_project_is_taken_over_with_remarks(person: Person) -> None:
    project = made(person("steward"), name=None, anonylitics=json.dumps(ANONYLITICS))
    assert project["name"] == "clinic"
    assert "source" not in project["document"]
    assert set(project["document"]["columns"]) == {"age", "ill"}
    assert {"source"} <= {note["path"] for note in project["notes"] if note["kind"] == "to-do"}
    assert any(note["kind"] == "left-out" for note in project["notes"])
    wrong = person("steward").post(f"{API}/projects", json={"anonylitics": "{"})
    assert refused(wrong, 422, "bad-json")["code"] == "bad-json"
    assert "/tmp" not in wrong.text


def test_a_project_begins_from_one_thing(person: Person) -> None:
    answer = person("steward").post(f"{API}/projects", json={"document": {}, "yaml": "a: 1"})
    refused(answer, 422, "bad-request", "yaml")


def test_a_source_that_was_inspected_suggests_a_document(service: Service, person: Person) -> None:
    me = person("steward")
    bare, known = source_of(service, me), source_of(service, me, suggestion={"columns": COLUMNS})
    refused(me.post(f"{API}/projects", json={"source": bare.id}), 409, "source-not-ready")
    project = made(me, name=None, source=known.id)
    assert project["document"]["columns"] == COLUMNS
    assert project["document"]["source"] == {"source": known.id}
    assert project["name"] == "patients.csv"


@pytest.mark.parametrize(
    "document",
    [
        {"source": {"path": "/etc/passwd"}},
        {"source": "patients.csv"},
        {"source": {"source": "../x"}},
        {"source": {"source": "0" * 24, "path": "x"}},
        {"output": {"path": "/tmp/x.csv"}},
        {"output": {"database": "sqlite:///x"}},
        {"columns": {"a": {"role": "quasi-identifier", "hierarchy": {"file": "/etc/passwd"}}}},
        {"columns": {"a": {"operation": {"encrypt": {"key": "env:HOME"}}}}},
        {"columns": {"a": {"operation": {"encrypt": {"key": "file:/etc/shadow"}}}}},
        {"models": [{"k-map": {"k": 2, "population": "s3://bucket/x"}}]},
        {"tables": {"a": {"source": "${HOME}"}}},
    ],
)
def test_a_document_names_nothing_outside(person: Person, document: Any) -> None:
    me = person("steward")
    refused(me.post(f"{API}/projects", json={"document": document}), 422, "bad-reference")
    project = made(me)
    refused(put(me, project, document), 422, "bad-reference")
    assert me.get(f"{API}/projects/{project['id']}").json()["version"] == 1


@pytest.mark.both_stores
@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('{"a": NaN}', "a"),
        ('{"a": [1e999]}', "a[0]"),
        ('{"a": {"b c": "x\\u0000"}}', "a['b c']"),
        ('{"a": "\\ud800"}', "a"),
        ("[" * 100 + "]" * 100, None),
    ],
)
def test_a_document_is_json_that_every_store_takes(person: Person, text: str, path: str | None) -> None:
    me = person("steward")
    body = f'{{"name": "x", "document": {{"x": {text}}}}}'
    answer = me.post(f"{API}/projects", content=body, headers={"Content-Type": "application/json"})
    refused(answer, 422, "bad-document", path and f"x.{path}")


# What a document may name


def test_a_document_names_only_what_its_writer_may_use(service: Service, person: Person) -> None:
    me, other = person("steward"), person("steward")
    mine, theirs = source_of(service, me), source_of(service, other)
    upload, foreign = upload_of(service, me), upload_of(service, other)
    connection = add(service, Connection(user_id=me.user_id, name="db", address="postgresql://db/x"))  # type: ignore[attr-defined]
    elsewhere = add(service, Connection(user_id=other.user_id, name="db", address="postgresql://db/x"))  # type: ignore[attr-defined]

    def document(source: str, upload: str, connection: str) -> dict[str, Any]:
        column = {"role": "quasi-identifier", "hierarchy": {"file": f"upload:{upload}"}}
        return {"source": {"source": source}, "columns": {"age": column}, "output": {"connection": connection, "table": "t"}}

    project = made(me, document=document(mine.id, upload.id, connection.id))
    wrong = put(me, project, document(theirs.id, foreign.id, elsewhere.id))
    found = refused(wrong, 422, "unknown-reference")
    paths = [one["fields"]["path"] for one in (found, *found["others"])]
    assert sorted(paths) == ["columns.age.hierarchy.file", "output", "source"]
    missing = put(me, project, document("0" * 24, "0" * 24, "0" * 24))
    assert missing.status_code == 422
    # Nobody learns whether there is a thing that is not theirs.
    said = [(one["code"], one["hint"], one["fields"]["path"]) for one in (found, *found["others"])]
    none = missing.json()
    assert [(one["code"], one["hint"], one["fields"]["path"]) for one in (none, *none["others"])] == said


def test_an_editor_keeps_what_is_named_but_writes_to_no_other_table(service: Service, person: Person) -> None:
    me, editor = person("steward", name="own"), person("steward", name="edi")
    source, upload = source_of(service, me), upload_of(service, me)
    connection = add(service, Connection(user_id=me.user_id, name="db", address="postgresql://db/x"))  # type: ignore[attr-defined]
    column = {"role": "quasi-identifier", "hierarchy": {"file": f"upload:{upload.id}"}}
    output = {"connection": connection.id, "table": "t"}
    document = {"source": {"source": source.id}, "columns": {"age": column}, "output": output}
    project = made(me, document=document)
    me.put(f"{API}/projects/{project['id']}/members", json={"user": "edi", "role": "editor"})
    changed = put(editor, project, {**document, "models": [{"k-anonymity": {"k": 3}}]})
    assert changed.status_code == 200, changed.text
    elsewhere = {**document, "output": {**output, "table": "payroll"}}
    refused(put(editor, changed.json(), elsewhere), 422, "unknown-reference", "output")
    assert put(me, changed.json(), elsewhere).status_code == 200


def test_a_copy_gives_a_reader_no_records(service: Service, person: Person) -> None:
    me, reader, editor = person("steward"), person("steward", name="rea"), person("steward", name="edi")
    source = source_of(service, me)
    connection = add(service, Connection(user_id=me.user_id, name="db", address="postgresql://db/x"))  # type: ignore[attr-defined]
    output = {"connection": connection.id, "table": "t"}
    project = made(me, document={"source": {"source": source.id}, "columns": COLUMNS, "output": output})
    for name, role in (("rea", "reader"), ("edi", "editor")):
        me.put(f"{API}/projects/{project['id']}/members", json={"user": name, "role": role})
    copy = made(reader, copy_of=project["id"])
    assert copy["document"] == {"columns": COLUMNS}
    assert {note["path"] for note in copy["notes"]} == {"source", "output"}
    copy = made(editor, copy_of=project["id"])
    # Nor an editor, who would have them for ever.
    assert copy["document"] == {"columns": COLUMNS}
    assert made(me, copy_of=project["id"])["document"]["source"] == {"source": source.id}
    assert copy["id"] != project["id"]
    assert copy["roles"] == ["owner"]
    gone = person("steward").post(f"{API}/projects", json={"copy_of": project["id"]})
    assert refused(gone, 404, "not-found") == person("steward").post(f"{API}/projects", json={"copy_of": "0"}).json()


def test_a_learner_works_on_samples_only(service: Service, person: Person) -> None:
    learner = person("learner")
    sample, table = source_of(service, learner, "sample"), source_of(service, learner)
    project = made(learner, document={"source": {"source": sample.id}})
    refused(put(learner, project, {"source": {"source": table.id}}), 422, "unknown-reference", "source")


def test_a_project_whose_table_is_gone_can_still_be_changed(service: Service, person: Person) -> None:
    me = person("steward")
    source = source_of(service, me)
    document = {"source": {"source": source.id}}
    project = made(me, document=document)
    with service.store.writing() as db:
        db.get_one(Source, source.id).state = "deleted"
    assert put(me, project, {**document, "columns": COLUMNS}).status_code == 200
    refused(me.post(f"{API}/projects", json={"document": document}), 422, "unknown-reference", "source")


# Versions


@pytest.mark.both_stores
def test_a_change_says_what_it_changes(person: Person) -> None:
    me = person("steward")
    project = made(me)
    address = f"{API}/projects/{project['id']}"
    refused(me.put(address, json={"document": {}}), 428, "no-if-match")
    changed = put(me, project, {"columns": COLUMNS})
    assert (changed.status_code, changed.json()["version"], changed.headers["etag"]) == (200, 2, '"2"')
    refused(put(me, project, {"columns": {}}), 412, "changed")
    assert me.get(address).json()["document"] == {"columns": COLUMNS}
    same = put(me, changed.json(), {"columns": COLUMNS})
    assert same.json()["version"] == 2


@pytest.mark.both_stores
def test_versions_tell_who_changed_what(service: Service, person: Person) -> None:
    me = person("steward", name="maria")
    project = made(me)
    put(me, project, {"columns": COLUMNS})
    address = f"{API}/projects/{project['id']}/versions"
    listed = me.get(address).json()["items"]
    assert [(v["number"], v["user"], v["undoes"]) for v in listed] == [(2, "maria", None), (1, "maria", None)]
    page = me.get(address, params={"limit": 1}).json()
    assert (page["items"][0]["number"], page["next"]) == (2, "2")
    assert me.get(address, params={"limit": 1, "after": "2"}).json()["items"][0]["number"] == 1
    assert me.get(f"{address}/1").json()["document"] == {"velado": 1}
    assert me.get(f"{address}/3").status_code == 404
    assert me.get(f"{address}/{2**70}").status_code == 422
    with service.store.reading() as db:
        assert [line.action for line in db.scalars(select(AuditLine).order_by(AuditLine.number))] == [
            "project.create",
            "project.change",
        ]


@pytest.mark.both_stores
def test_undo_goes_back_step_by_step(person: Person) -> None:
    me = person("steward")
    project = made(me)
    address = f"{API}/projects/{project['id']}"
    for k in (2, 3):
        project = put(me, project, {"models": [{"k-anonymity": {"k": k}}]}).json()
    first = me.post(f"{address}/undo")
    assert first.json()["document"] == {"models": [{"k-anonymity": {"k": 2}}]}
    assert (first.json()["version"], first.headers["etag"]) == (4, '"4"')
    assert me.post(f"{address}/undo").json()["document"] == {"velado": 1}
    refused(me.post(f"{address}/undo"), 409, "nothing-to-undo")
    again = put(me, {**project, "version": 5}, {"columns": COLUMNS}).json()
    assert again["version"] == 6
    assert me.post(f"{address}/undo").json()["document"] == {"velado": 1}
    refused(me.post(f"{address}/undo"), 409, "nothing-to-undo")
    undone = [v["undoes"] for v in me.get(f"{address}/versions").json()["items"]]
    assert undone == [6, None, 2, 3, None, None, None]


# Members


@pytest.mark.both_stores
def test_an_owner_shares_and_the_last_one_stays(service: Service, person: Person) -> None:
    me, other = person("steward", name="own"), person("steward", name="other")
    project = made(me)
    address = f"{API}/projects/{project['id']}"
    assert other.get(address).status_code == 404
    members = me.put(f"{address}/members", json={"user": "other", "role": "reader"}).json()["items"]
    assert [(m["name"], m["role"]) for m in members] == [("other", "reader"), ("own", "owner")]
    assert other.get(address).json()["roles"] == ["reader"]
    refused(other.put(f"{address}/members", json={"user": "other", "role": "owner"}), 403, "forbidden")
    refused(me.put(f"{address}/members", json={"user": "own", "role": "reader"}), 409, "last-owner")
    mine = next(m["id"] for m in members if m["name"] == "own")
    refused(me.delete(f"{address}/members/{mine}"), 409, "last-owner")
    theirs = next(m["id"] for m in members if m["name"] == "other")
    refused(other.delete(f"{address}/members/{mine}"), 403, "forbidden")
    assert other.delete(f"{address}/members/{theirs}").status_code == 204
    assert other.get(address).status_code == 404
    refused(me.put(f"{address}/members", json={"user": "nobody", "role": "reader"}), 422, "unknown-user", "user")
    refused(me.put(f"{address}/members", json={"group": "none", "role": "reader"}), 422, "unknown-group", "group")
    refused(me.put(f"{address}/members", json={"role": "reader"}), 422, "bad-request", "user")
    refused(me.put(f"{address}/members", json={"user": "own", "role": "king"}), 422, "bad-request", "role")


@pytest.mark.both_stores
def test_a_group_has_a_role_and_owns_only_with_somebody_in_it(service: Service, person: Person) -> None:
    me, other = person("steward", name="own"), person("steward", name="other")
    group = add(service, Group(name="ward"))
    project = made(me)
    address = f"{API}/projects/{project['id']}"
    me.put(f"{address}/members", json={"group": "ward", "role": "owner"})
    refused(me.put(f"{address}/members", json={"user": "own", "role": "reader"}), 409, "last-owner")
    add(service, GroupMember(group_id=group.id, user_id=other.user_id))  # type: ignore[attr-defined]
    assert other.get(address).json()["roles"] == ["owner"]
    assert me.put(f"{address}/members", json={"user": "own", "role": "reader"}).status_code == 200
    assert [p["id"] for p in other.get(f"{API}/projects").json()["items"]] == [project["id"]]


def test_an_administrator_who_edits_sees_no_records(service: Service, person: Person) -> None:
    me = person("steward")
    person("administrator", name="root")
    project = made(me)
    me.put(f"{API}/projects/{project['id']}/members", json={"user": "root", "role": "editor"})
    with service.store.writing() as db:
        user = db.scalars(select(User).where(User.name == "root")).one()
        _, text = tokens.make(db, user, "t", tuple(SCOPES), 1)
    read = me.get(f"{API}/projects/{project['id']}", headers={"Authorization": f"Bearer {text}"}).json()
    assert "project.read" in read["actions"]
    assert not {"records.read", "release.private", "project.edit", "jobs.release"} & set(read["actions"])


# Secrets, file, deletion


@pytest.mark.both_stores
def test_a_secret_is_sealed_and_never_told(service: Service, person: Person) -> None:
    me = person("steward")
    project = made(me)
    address = f"{API}/projects/{project['id']}/secrets"
    key = "Ab" * 32
    answer = me.put(f"{address}/ward-key", json={"key": key})
    assert answer.status_code == 201
    assert me.put(f"{address}/made", json={}).status_code == 201
    listed = me.get(address)
    assert [s["name"] for s in listed.json()["items"]] == ["made", "ward-key"]
    for text in (answer.text, listed.text):
        assert key.lower() not in text.lower()
    with service.store.reading() as db:
        secret = db.get(Secret, (project["id"], "ward-key"))
        assert secret is not None
        assert service.secrets.open(secret.sealed, f"project:{project['id']}:ward-key") == key.lower()
        made_up = db.get(Secret, (project["id"], "made"))
        assert made_up is not None
        assert len(service.secrets.open(made_up.sealed, f"project:{project['id']}:made")) == 64
        assert key.lower() not in json.dumps([line.detail for line in db.scalars(select(AuditLine))]).lower()
    assert me.put(f"{address}/ward-key", json={}).status_code == 200
    wrong = me.put(f"{address}/ward-key", json={"key": "hunter2"})
    assert "hunter2" not in refused(wrong, 422, "bad-key", "key")["message"]
    refused(me.put(f"{address}/9..x", json={}), 422, "bad-name", "name")
    assert me.delete(f"{address}/ward-key").status_code == 204
    assert me.delete(f"{address}/ward-key").status_code == 404


def test_a_project_is_a_file_for_people(service: Service, person: Person) -> None:
    me, reader = person("steward"), person("steward", name="rea")
    source = source_of(service, me)
    document = {"source": {"source": source.id}, "columns": COLUMNS, "models": [{"k-anonymity": {"k": 2}}]}
    project = made(me, name='Año "1"\\;', document=document)
    address = f"{API}/projects/{project['id']}"
    me.put(f"{address}/members", json={"user": "rea", "role": "reader"})
    file = me.get(f"{address}/file")
    assert "path: patients.csv" in file.text
    assert source.id not in file.text
    assert file.headers["content-disposition"].startswith('attachment; filename="')
    assert "filename*=UTF-8''" in file.headers["content-disposition"]
    assert file.headers["cache-control"] == "no-store"
    as_json = me.get(f"{address}/file", params={"format": "json"})
    assert as_json.headers["content-type"] == "application/json"
    assert as_json.json()["models"] == document["models"]
    assert "patients" not in reader.get(f"{address}/file").text
    assert me.get(f"{address}/file", params={"format": "xml"}).status_code == 422


@pytest.mark.both_stores
def test_a_project_goes_with_all_that_is_its(service: Service, person: Person) -> None:
    me = person("steward")
    project, other = made(me), made(me)
    jobs = add(service, *(Job(kind="run", project_id=p["id"], user_id=me.user_id, attempt=1) for p in (project, other)))  # type: ignore[attr-defined]
    for job in jobs:
        folder = service.files.attempt(job.id, 1)
        folder.mkdir()
        (folder / "release.csv").write_text("x")
    add(service, Release(project_id=project["id"], job_id=jobs[0].id, version=1, summary={}, manifest={}, place={}))
    assert me.delete(f"{API}/projects/{project['id']}").status_code == 204
    assert me.get(f"{API}/projects/{project['id']}").status_code == 404
    with service.store.reading() as db:
        for kind in (Job, Release, Version, Member):
            rows = db.scalars(select(kind).where(kind.project_id == project["id"])).all()
            assert rows == [], kind
        assert db.get(Project, other["id"]) is not None
        line = db.scalars(select(AuditLine).order_by(AuditLine.number.desc())).first()
        assert line is not None
        assert (line.action, line.subject) == ("project.delete", project["id"])
    assert [path for job, _, path in service.files.attempts()] == [service.files.attempt(jobs[1].id, 1)]
