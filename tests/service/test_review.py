"""What a review of the service found, and must not come back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

from velado.errors import InputError, way_to
from velado.service.connections.addresses import check_address, check_reach
from velado.service.errors import Conflict
from velado.service.jobs import queue
from velado.service.service import Service
from velado.service.settings import load
from velado.service.store.tables import Member, Project, Token

API = "/api/v1"


def test_a_long_key_stops_nobody(person: Callable[..., TestClient]) -> None:
    """Looking for passwords in a text takes time that grows with its square: long ones are cut before."""
    answer = person("steward").post(f"{API}/session", json={"aa:" * 1_000_000: 1})
    assert answer.status_code == 422
    assert len(answer.content) < 10_000
    assert len(way_to("columns", "aa:" * 1_000_000)) < 200
    assert len(str(InputError("x", "y", fields={"path": "aa:" * 1_000_000}).fields)) < 3000


def test_a_body_full_of_mistakes_is_answered_briefly(person: Callable[..., TestClient]) -> None:
    answer = person("steward").post(f"{API}/session", json={f"k{i}": 1 for i in range(100_000)})
    assert answer.status_code == 422
    assert len(answer.json()["others"]) < 100


@pytest.mark.parametrize(
    "address",
    [
        "postgresql:///db",
        "postgresql://ana@/db",
        "postgresql:///db?host=/var/run/postgresql",
        "postgresql:///db?host=@abstract",
        "postgresql:///db?host=nohost,/var/run/postgresql",
        "postgresql:///db?host=nohost,",
        "postgresql://%2Fvar%2Frun%2Fpostgresql/db",
        "postgresql://%2Fvar%2Frun%2Fpostgresql/db?host=db.example",
        "postgresql://ana@one,two/db",
        "mariadb:///db?unix_socket=../../run/mysqld/mysqld.sock",
        "mariadb://ana@db.example/db?unix_socket=/run/mysqld/mysqld.sock",
        "postgresql://ana@store.example/velado",
        "postgresql://ana@STORE.example./velado",
        "postgresql://ana@other/velado?host=store.example",
    ],
)
def test_a_connection_does_not_come_as_the_service_itself(address: str, tmp_path: Any) -> None:
    settings = load(None, {}, folder=tmp_path, database="postgresql://velado:geheim@store.example/velado")
    with pytest.raises(InputError) as error:
        check_reach(check_address(address), settings)
    assert error.value.code in ("local-socket", "bad-address")
    assert "geheim" not in str(error.value)


def test_other_databases_are_reached(tmp_path: Any) -> None:
    settings = load(None, {}, folder=tmp_path, database="postgresql://velado@store.example/velado")
    for address in (
        "postgresql://ana@db.example:5433/clinic",
        "mariadb://ana@db.example/clinic",
        "postgresql://a@store.example/clinic",
    ):
        check_reach(check_address(address), settings)


def test_nothing_is_out_before_it_is_approved(service: Service, person: Callable[..., TestClient]) -> None:
    """A release that is written to a database is out at once: where a second person must approve, that is refused."""
    steward = person("steward")
    document = {"output": {"connection": "0" * 24, "table": "people"}}
    person("administrator").patch(f"{API}/settings", json={"approval": True})
    with service.store.writing() as db:
        project = Project(name="people", document=document)
        db.add(project)
        db.flush()
        db.add(Member(project_id=project.id, user_id=steward.user_id, role="owner"))  # type: ignore[attr-defined]
        settings = service.store.live(db)
    assert settings.approval
    with service.store.writing() as db, pytest.raises(Conflict) as error:
        queue.submit(db, settings, "run", steward.user_id, {}, project_id=project.id, document=document)  # type: ignore[attr-defined]
    assert error.value.code == "approval-first"
    for harmless in ({}, {"output": {"format": "csv"}}):
        queue.check_approval(settings, "run", harmless)
    queue.check_approval(service.settings, "run", document)


@pytest.mark.parametrize("role", ["administrator", "auditor", "learner"])
def test_who_sees_no_records_changes_and_runs_no_project_with_them(
    service: Service, person: Callable[..., TestClient], role: str
) -> None:
    """Else they would release the table as it is, and download it."""
    member = person(role)
    with service.store.writing() as db:
        project = Project(name="people", document={"source": {"source": "0" * 24}})
        db.add(project)
        db.flush()
        db.add(Member(project_id=project.id, user_id=member.user_id, role="owner"))  # type: ignore[attr-defined]
    changed = member.put(f"{API}/projects/{project.id}", json={"document": {}}, headers={"If-Match": '"1"'})
    assert changed.status_code == 403
    assert member.post(f"{API}/jobs", json={"kind": "run", "project": project.id}).status_code == 403


@pytest.mark.both_stores
def test_a_reset_password_ends_tokens(service: Service, person: Callable[..., TestClient]) -> None:
    from velado.service.accounts import users
    from velado.service.store.tables import User

    someone = person("steward")
    with service.store.writing() as db:
        users.set_password(db, db.get_one(User, someone.user_id), "correct horse battery staple", own=True)  # type: ignore[attr-defined]
    assert someone.get(f"{API}/session").status_code == 200
    with service.store.writing() as db:
        users.set_password(db, db.get_one(User, someone.user_id), "another horse battery staple")  # type: ignore[attr-defined]
        assert db.query(Token).count() == 0
    assert someone.get(f"{API}/session").status_code == 401
