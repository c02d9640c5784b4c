"""Connections: passwords are told to nobody, questions are asked by jobs, only the owner sees them."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, text

from servers import postgresql
from service.inline_worker import Inline
from service.test_sources import ready
from velado.service.service import Service
from velado.service.store.tables import AuditLine, Connection, Job

People = Callable[..., TestClient]
CONNECTIONS = "/api/v1/connections"
SOURCES = "/api/v1/sources"
PASSWORD = "correct horse 4711"
ADDRESS = "postgresql://ana@db.example:5432/clinic"


@pytest.fixture
def worker(service: Service, monkeypatch: pytest.MonkeyPatch) -> Iterator[Inline]:
    """Jobs are done while requests wait."""
    with Inline(service, monkeypatch) as inline:
        yield inline


@pytest.fixture
def clinic() -> Iterator[str]:
    """A database with a table of patients whose names ask for trouble."""
    with postgresql.connect() as db:
        db.execute('DROP SCHEMA IF EXISTS "we""ird" CASCADE')
        db.execute('CREATE SCHEMA "we""ird"')
        db.execute('CREATE TABLE "we""ird"."pat\'ients" (id int, "na""me" text, age int, city text)')
        db.execute(
            'INSERT INTO "we""ird"."pat\'ients" SELECT i, \'Ana \' || i, 20 + i % 5 * 10, '
            "(ARRAY['Bilbao', 'Madrid'])[1 + i % 2] FROM generate_series(1, 60) i"
        )
        yield postgresql.address()
        db.execute('DROP SCHEMA "we""ird" CASCADE')


def make(client: TestClient, **more: Any) -> dict[str, Any]:
    answer = client.post(CONNECTIONS, json={"name": "clinic", "address": ADDRESS, **more})
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


@pytest.mark.both_stores
def test_kept_sealed(service: Service, person: People, caplog: pytest.LogCaptureFixture) -> None:
    steward = person("steward")
    with caplog.at_level(logging.DEBUG):
        made = make(steward, password=PASSWORD)
        told = [
            json.dumps(made),
            steward.get(CONNECTIONS).text,
            steward.get(f"{CONNECTIONS}/{made['id']}").text,
            steward.put(f"{CONNECTIONS}/{made['id']}", json={"name": "other"}).text,
        ]
    assert made["has_password"]
    assert not [one for one in (*told, caplog.text) if PASSWORD in one]
    with service.store.reading() as db:
        kept = db.get(Connection, made["id"])
        assert kept is not None
        assert kept.secret is not None
        assert PASSWORD not in kept.secret
        assert service.secrets.open(kept.secret, f"connection:{made['id']}") == PASSWORD
        assert PASSWORD not in str([(x.subject, x.detail) for x in db.scalars(select(AuditLine))])


@pytest.mark.both_stores
def test_the_password_changes_and_goes(service: Service, person: People) -> None:
    steward = person("steward")
    id = make(steward, password=PASSWORD)["id"]
    place = f"{CONNECTIONS}/{id}"
    assert steward.put(place, json={"name": "other"}).json()["has_password"]
    assert steward.put(place, json={"password": "another one 99"}).json()["has_password"]
    assert not steward.put(place, json={"password": None}).json()["has_password"]
    steward.put(place, json={"password": PASSWORD})
    moved = steward.put(place, json={"address": "postgresql://ana@evil.example/clinic"}).json()
    assert not moved["has_password"], "the password goes to no other server"


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ana:geheim4711@db/clinic",
        "postgresql://ana@db/clinic?password=geheim4711",
        "mysql://ana:geheim4711@db/clinic",
        "mariadb://ana@db/clinic?passwd=geheim4711",
        "postgresql://ana:gehe@im4711@db/clinic",
        "postgresql://db/clinic;password=geheim4711",
    ],
)
def test_no_password_in_an_address(service: Service, person: People, address: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        answer = person("steward").post(CONNECTIONS, json={"name": "x", "address": address})
    assert (answer.status_code, answer.json()["code"]) == (422, "password-in-clear")
    assert "4711" not in answer.text + caplog.text
    assert answer.json()["fields"]["path"] == "address"


@pytest.mark.parametrize(
    "address",
    [
        "sqlite:///etc/passwd",
        "duckdb:///tmp/x",
        "/etc/passwd",
        "file:///etc/passwd",
        "http://169.254.169.254/",
        "postgresql://ana:${VELADO_STUDIO_KEY}@db/clinic",
        "postgresql://${USER}@db/clinic",
        "postgresql://db/clinic?passfile=/home/velado/.pgpass",
        "postgresql://db/clinic?sslkey=/etc/x",
        "postgresql://db/c?service=x",
        "mysql://db/clinic?read_default_file=/home/velado/.my.cnf",
        "postgresql://db/clinic#people",
        "",
        "postgresql://[::1/x",
    ],
)
def test_addresses_that_are_refused(person: People, address: str) -> None:
    answer = person("steward").post(CONNECTIONS, json={"name": "x", "address": address})
    assert answer.status_code == 422, answer.text
    assert answer.json()["code"] in ("bad-address", "password-in-clear", "no-such-engine")


def test_only_the_owner_sees_it(person: People) -> None:
    owner, other, administrator = person("steward"), person("steward"), person("administrator")
    id = make(owner)["id"]
    for client in (other, administrator):
        assert client.get(f"{CONNECTIONS}/{id}").status_code == 404
        assert client.delete(f"{CONNECTIONS}/{id}").status_code == 404
        assert client.get(CONNECTIONS).json()["items"] == []
    for call in (other.put(f"{CONNECTIONS}/{id}", json={"name": "x"}), other.post(f"{CONNECTIONS}/{id}/test")):
        assert call.status_code == 404
    assert person("learner").post(CONNECTIONS, json={"name": "x", "address": ADDRESS}).status_code == 403
    answer = owner.post(CONNECTIONS, json={"name": "clinic", "address": ADDRESS})
    assert (answer.status_code, answer.json()["code"]) == (409, "name-taken")
    assert make(other)["name"] == "clinic"


def test_tested_and_listed(person: People, worker: Inline, clinic: str) -> None:
    steward = person("steward")
    id = make(steward, address=clinic)["id"]
    assert steward.post(f"{CONNECTIONS}/{id}/test").json() == {"ok": True}
    tables = steward.get(f"{CONNECTIONS}/{id}/tables").json()["tables"]
    (found,) = [table for table in tables if table["schema"] == 'we"ird']
    assert (found["name"], found["kind"]) == ("pat'ients", "table")
    assert [column["name"] for column in found["columns"]] == ["id", 'na"me', "age", "city"]


def test_a_problem_in_the_callers_language(person: People, worker: Inline) -> None:
    steward = person("steward")
    id = make(steward, address="postgresql://ana@127.0.0.1:1/clinic", password=PASSWORD)["id"]
    english = steward.post(f"{CONNECTIONS}/{id}/test").json()
    spanish = steward.post(f"{CONNECTIONS}/{id}/test", params={"language": "es"}).json()
    assert english["code"] == spanish["code"]
    assert english["message"] != spanish["message"]
    assert PASSWORD not in json.dumps([english, spanish])


def test_rows_of_a_database(service: Service, person: People, worker: Inline, clinic: str) -> None:
    steward = person("steward")
    id = make(steward, address=clinic)["id"]
    body = {"name": "patients", "connection": id, "table": '"we""ird"."pat\'ients"'}
    made = steward.post(SOURCES, json=body)
    assert made.status_code == 201, made.text
    source = made.json()["id"]
    found = ready(steward, source)
    assert (found["state"], found["rows"]) == ("ready", 60)
    assert not service.files.copy(source).exists()
    rows = steward.get(f"{SOURCES}/{source}/rows", params={"sort": "id", "descending": True, "limit": 2}).json()
    assert [row[0] for row in rows["rows"]] == ["60", "59"]
    assert rows["total"] == 60
    some = steward.get(f"{SOURCES}/{source}/rows", params={"where": 'na"me=Ana 7'}).json()
    assert [row[1] for row in some["rows"]] == ["Ana 7"]
    with service.store.reading() as db:
        kept = list(db.scalars(select(Job).where(Job.kind == "rows")))
        assert kept == [], "rows stay nowhere"
        everything = str(db.execute(text("SELECT * FROM jobs")).all())
    assert "Ana 7" not in everything


def test_deleting_one_that_is_used(person: People) -> None:
    steward = person("steward")
    id = make(steward)["id"]
    body = {"name": "patients", "connection": id, "query": "SELECT 1"}
    source = steward.post(SOURCES, json=body).json()["id"]
    answer = steward.delete(f"{CONNECTIONS}/{id}")
    assert (answer.status_code, answer.json()["code"]) == (409, "connection-in-use")
    assert answer.json()["fields"]["sources"] == [{"id": source, "name": "patients"}]
    assert steward.delete(f"{CONNECTIONS}/{id}", params={"force": True}).status_code == 204
    assert steward.get(f"{CONNECTIONS}/{id}").status_code == 404
    assert steward.get(f"{SOURCES}/{source}").json()["state"] == "failed"
