"""What nobody uses any more goes, with every copy; how much room things take; the commands for it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, update
from typer.testing import CliRunner

from service.inline_worker import Inline
from service.test_sources import API, make, people, ready, upload
from velado.service.admin import retention
from velado.service.service import Service
from velado.service.store.tables import AuditLine, ChangedSetting, Job, Session, SignIn, Source, Token, Upload, User, new_id, now

People = Callable[..., TestClient]
OLD = timedelta(days=31)


def age(service: Service, *things: type, by: timedelta = OLD) -> None:
    """As if nobody had used things for long."""
    with service.store.writing() as db:
        for kind in things:
            db.execute(update(kind).values(used=now() - by))


@pytest.fixture
def table(service: Service, person: People, monkeypatch: pytest.MonkeyPatch) -> tuple[TestClient, str, str]:
    """Somebody, an inspected source and its upload."""
    steward = person("steward")
    file = upload(steward, people())
    id = make(steward, upload=file)["id"]
    Inline(service, monkeypatch).work()
    found = ready(steward, id)
    assert found["state"] == "ready", found["problem"]
    return steward, id, file


@pytest.mark.both_stores
def test_unused_tables_go_with_every_copy(service: Service, table: tuple[TestClient, str, str]) -> None:
    steward, id, file = table
    assert retention.clean(service).as_dict() == dict.fromkeys(retention.Cleaned().as_dict(), 0)
    age(service, Source, Upload)
    found = retention.clean(service)
    assert (found.sources, found.uploads) == (1, 0)
    assert found.bytes > 0
    left = [path for path in service.files.folder.rglob("*") if path.is_file() and b"Zeferina" in path.read_bytes()]
    assert left == []
    assert steward.get(f"{API}/sources/{id}").json()["state"] == "deleted"
    for what in ("profile", "suggestion", "rows"):
        answer = steward.get(f"{API}/sources/{id}/{what}")
        assert (answer.status_code, answer.json()["code"]) == (409, "source-gone")
    assert steward.get(f"{API}/uploads/{file}").status_code == 404
    with service.store.reading() as db:
        assert list(db.scalars(select(Job))) == []
        assert {"source.expire", "storage.clean"} <= set(db.scalars(select(AuditLine.action)))
    assert steward.delete(f"{API}/sources/{id}").status_code == 204


def test_what_is_used_stays(service: Service, table: tuple[TestClient, str, str]) -> None:
    _, id, file = table
    age(service, Source)
    assert retention.clean(service).sources == 0, "the upload was used for something else"
    age(service, Source, Upload, by=timedelta(days=29))
    assert retention.clean(service).sources == 0
    age(service, Source, Upload)
    with service.store.writing() as db:
        db.add(ChangedSetting(name="retention_days", value=0))
    assert retention.clean(service).sources == 0
    assert service.files.copy(id).exists()
    assert service.files.upload(file).exists()


def test_unfinished_and_unused_uploads(service: Service, person: People) -> None:
    steward = person("steward")
    begun = steward.post(f"{API}/uploads", json={"name": "a.csv", "bytes": 10}).json()["id"]
    steward.patch(f"{API}/uploads/{begun}", content=b"abc", headers={"Upload-Offset": "0"})
    done = upload(steward, people())
    age(service, Upload, by=timedelta(days=8))
    assert retention.clean(service).uploads == 1
    assert not service.files.upload(begun).exists()
    assert service.files.upload(done).exists()
    age(service, Upload)
    assert retention.clean(service).uploads == 1
    assert not service.files.upload(done).exists()


def test_orphans(service: Service, table: tuple[TestClient, str, str]) -> None:
    _, id, file = table
    lost = [service.files.upload(new_id()), service.files.copy(new_id())]
    lost.append(service.files.copy(id).with_name(f"{id}.parquet.1.part"))
    for path in lost:
        path.write_bytes(b"Zeferina")
    assert retention.clean(service).orphans == 0, "their owner may just be written down"
    for path in lost:
        os.utime(path, (time.time() - 7200, time.time() - 7200))
    assert retention.clean(service).orphans == 3
    assert not [path for path in lost if path.exists()]
    assert service.files.copy(id).exists()
    assert service.files.upload(file).exists()


@pytest.mark.both_stores
def test_ended_sessions_and_tokens(service: Service) -> None:
    past, soon = now() - timedelta(days=2), now() + timedelta(days=2)
    with service.store.writing() as db:
        user = User(name="ana", roles=["steward"])
        db.add(user)
        db.flush()
        for name, moment in (("old", past), ("new", now())):
            db.add(Session(hash=name, user_id=user.id, created=moment, seen=moment))
        for name, moment in (("old", past), ("new", soon)):
            db.add(Token(user_id=user.id, name=name, hash=name, scopes=[], expires=moment))
            db.add(SignIn(kind="link", key=name, expires=moment))
    found = retention.clean(service)
    assert (found.sessions, found.tokens, found.sign_ins) == (1, 1, 1)
    with service.store.reading() as db:
        assert list(db.scalars(select(Session.hash))) == ["new"]
        assert list(db.scalars(select(Token.hash))) == ["new"]
        assert list(db.scalars(select(SignIn.key))) == ["new"]


@pytest.mark.both_stores
def test_storage_for_administrators(service: Service, person: People) -> None:
    steward, administrator = person("steward", name="Ana"), person("administrator")
    upload(steward, people())
    assert steward.get(f"{API}/storage").status_code == 403
    assert steward.post(f"{API}/storage/clean").status_code == 403
    found = administrator.get(f"{API}/storage").json()
    (used,) = found["users"]
    assert (used["name"], used["uploads"], used["bytes"]) == ("Ana", len(people()), len(people()))
    assert "people" not in json.dumps(found)
    assert found["free"] > 0
    assert administrator.post(f"{API}/storage/clean").json()["sources"] == 0
    with service.store.reading() as db:
        line = db.scalars(select(AuditLine).where(AuditLine.action == "storage.clean")).one()
    assert line.actor == administrator.user_id  # type: ignore[attr-defined]


def test_deleting_a_user_deletes_the_files(service: Service, table: tuple[TestClient, str, str], person: People) -> None:
    steward, id, file = table
    administrator = person("administrator")
    answer = administrator.delete(f"{API}/users/{steward.user_id}")  # type: ignore[attr-defined]
    assert answer.status_code == 204, answer.text
    assert not service.files.upload(file).exists()
    assert not service.files.copy(id).exists()


def test_commands(service: Service, table: tuple[TestClient, str, str], tmp_path: Path) -> None:
    from velado.cli.studio_storage import app

    folder = str(service.settings.folder)
    shown = CliRunner().invoke(app, ["show", "--folder", folder, "--json"])
    assert shown.exit_code == 0, shown.output
    (user,) = json.loads(shown.stdout)["users"]
    assert user["uploads"] == len(people())
    assert user["copies"] > 0
    assert "uploads" in CliRunner().invoke(app, ["show", "--folder", folder]).stdout
    age(service, Source, Upload)
    cleaned = CliRunner().invoke(app, ["clean", "--folder", folder, "--json"])
    assert json.loads(cleaned.stdout)["sources"] == 1
    assert "Deleted: 0" in CliRunner().invoke(app, ["clean", "--folder", folder]).stdout
