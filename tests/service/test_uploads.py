"""Uploads: pieces, resuming, limits, and what attackers send."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from fastapi.testclient import TestClient
from sqlalchemy import select

from servers.studio import WAIT, until
from velado.service.service import Service
from velado.service.settings import load
from velado.service.sources import uploads_api as uploads
from velado.service.sources.upload_stream import BLOCK, Receiver
from velado.service.store.tables import AuditLine, ChangedSetting, Upload
from velado.service.web.app import create_app

People = Callable[..., TestClient]
UPLOADS = "/api/v1/uploads"
DATA = b"name,age\n" + b"Ana,31\n" * 1000


def begin(client: TestClient, size: int = len(DATA), **more: Any) -> str:
    answer = client.post(UPLOADS, json={"name": "people.csv", "bytes": size, **more})
    assert answer.status_code == 201, answer.text
    assert answer.headers["location"] == f"{UPLOADS}/{answer.json()['id']}"
    return str(answer.json()["id"])


def send(client: TestClient, id: str, data: Any, offset: int) -> Any:
    return client.patch(f"{UPLOADS}/{id}", content=data, headers={"Upload-Offset": str(offset)})


@pytest.mark.both_stores
def test_a_file_arrives_in_pieces(service: Service, person: People) -> None:
    steward = person("steward")
    id = begin(steward, sha256=hashlib.sha256(DATA).hexdigest())
    first = send(steward, id, DATA[:1000], 0)
    assert (first.status_code, first.json()["offset"], first.json()["state"]) == (200, 1000, "receiving")
    assert steward.head(f"{UPLOADS}/{id}").headers["upload-offset"] == "1000"
    last = send(steward, id, DATA[1000:], 1000)
    assert last.json()["state"] == "complete"
    assert last.json()["sha256"] == hashlib.sha256(DATA).hexdigest()
    assert service.files.upload(id).read_bytes() == DATA
    assert service.files.upload(id).stat().st_mode & 0o777 == 0o600
    again = send(steward, id, b"x", len(DATA))
    assert (again.status_code, again.json()["code"]) == (409, "upload-complete")


@pytest.mark.both_stores
def test_the_digest_is_computed_when_another_process_had_the_first_piece(service: Service, person: People) -> None:
    from velado.service.sources import upload_stream

    steward = person("steward")
    id = begin(steward)
    send(steward, id, DATA[:1000], 0)
    upload_stream.forget(service.files.upload(id))
    assert send(steward, id, DATA[1000:], 1000).json()["sha256"] == hashlib.sha256(DATA).hexdigest()


def test_a_wrong_offset_is_told_the_right_one(person: People) -> None:
    steward = person("steward")
    id = begin(steward)
    send(steward, id, DATA[:1000], 0)
    for offset in (0, 999, 1001, len(DATA)):
        answer = send(steward, id, b"abc", offset)
        assert (answer.status_code, answer.json()["code"]) == (409, "wrong-offset")
        assert answer.json()["fields"]["offset"] == 1000
        assert answer.headers["upload-offset"] == "1000"


@pytest.mark.both_stores
def test_another_digest_throws_away_what_arrived(service: Service, person: People) -> None:
    steward = person("steward")
    id = begin(steward, sha256="0" * 64)
    answer = send(steward, id, DATA, 0)
    assert (answer.status_code, answer.json()["code"]) == (422, "wrong-digest")
    assert service.files.upload(id).stat().st_size == 0
    assert steward.get(f"{UPLOADS}/{id}").json()["offset"] == 0


def test_more_than_announced_is_refused(service: Service, person: People) -> None:
    steward = person("steward")
    id = begin(steward, 100)
    known = send(steward, id, b"x" * 101, 0)
    assert (known.status_code, known.json()["code"]) == (413, "more-than-announced")
    unknown = send(steward, id, iter([b"x" * 60, b"x" * 60]), 0)
    assert (unknown.status_code, unknown.json()["code"]) == (413, "more-than-announced")
    assert service.files.upload(id).stat().st_size <= 100


def test_limits_of_file_user_and_disk(service: Service, person: People) -> None:
    steward = person("steward")
    for name, code, status in (("upload_bytes", "upload-too-large", 413), ("user_bytes", "no-room-left", 413)):
        with service.store.writing() as db:
            db.add(ChangedSetting(name=name, value=1000))
        answer = steward.post(UPLOADS, json={"name": "a.csv", "bytes": 1001})
        assert (answer.status_code, answer.json()["code"]) == (status, code)
        assert steward.post(UPLOADS, json={"name": "a.csv", "bytes": 900}).status_code == 201
        with service.store.writing() as db:
            db.delete(db.get(ChangedSetting, name))
            for upload in db.scalars(select(Upload)):
                db.delete(upload)
    with service.store.writing() as db:
        db.add(ChangedSetting(name="free_bytes", value=10**15))
    answer = steward.post(UPLOADS, json={"name": "a.csv", "bytes": 1})
    assert (answer.status_code, answer.json()["code"]) == (503, "disk-nearly-full")


@pytest.mark.both_stores
def test_what_a_user_has_counts(service: Service, person: People) -> None:
    steward = person("steward")
    with service.store.writing() as db:
        db.add(ChangedSetting(name="user_bytes", value=1000))
    begin(steward, 600)
    answer = steward.post(UPLOADS, json={"name": "a.csv", "bytes": 600})
    assert (answer.status_code, answer.json()["code"]) == (413, "no-room-left")
    assert begin(person("steward"), 600)


@pytest.mark.parametrize("name", ["people.exe", "people", "people.csv.zip", "csv", "people.csv/", ".."])
def test_unknown_suffixes(person: People, name: str) -> None:
    answer = person("steward").post(UPLOADS, json={"name": name, "bytes": 10})
    assert (answer.status_code, answer.json()["code"]) == (422, "unknown-format")
    assert ".parquet" in answer.json()["fields"]["known"]


@pytest.mark.parametrize(
    "name",
    ["../../etc/cron.d/evil.csv", "..\\..\\evil.csv", "/etc/passwd.csv", "a'; DROP TABLE uploads; --.csv", "..%2f..%2fevil.csv"],
)
def test_names_never_become_paths(service: Service, person: People, name: str) -> None:
    steward = person("steward")
    before = {path for path in service.files.folder.parent.rglob("*") if path.is_file()}
    answer = steward.post(UPLOADS, json={"name": name, "bytes": 3})
    assert answer.status_code == 201
    assert "/" not in answer.json()["name"]
    id = answer.json()["id"]
    assert send(steward, id, b"a\n1", 0).status_code == 200
    added = {path for path in service.files.folder.parent.rglob("*") if path.is_file()} - before
    assert service.files.upload(id) in added
    assert not [path for path in added if "evil" in path.name or "passwd" in path.name]
    with service.store.reading() as db:
        assert db.get(Upload, id) is not None


@pytest.mark.parametrize("name", ["a\nb.csv", "a\0.csv", "", " ", "x" * 201 + ".csv"])
def test_names_that_are_no_names(person: People, name: str) -> None:
    assert person("steward").post(UPLOADS, json={"name": name, "bytes": 3}).status_code == 422


@pytest.mark.parametrize("id", ["..%2f..%2fstudio.key", "../studio.key", "0" * 24, "x", "%00", "a" * 500])
def test_ids_that_are_none(person: People, id: str) -> None:
    steward = person("steward")
    assert steward.get(f"{UPLOADS}/{id}").status_code == 404
    assert send(steward, id, b"x", 0).status_code == 404
    assert steward.delete(f"{UPLOADS}/{id}").status_code == 404


def test_others_do_not_see_it(service: Service, person: People) -> None:
    id, other = begin(person("steward")), person("steward", "administrator")
    nothing = other.get(f"{UPLOADS}/{'0' * 24}")
    assert other.get(f"{UPLOADS}/{id}").json() == nothing.json()
    assert send(other, id, DATA, 0).status_code == 404
    assert other.delete(f"{UPLOADS}/{id}").status_code == 404
    assert other.get(UPLOADS).json()["items"] == []
    assert not service.files.upload(id).exists()


@pytest.mark.parametrize("role", ["learner", "administrator", "auditor"])
def test_only_stewards_send_files(person: People, role: str) -> None:
    answer = person(role).post(UPLOADS, json={"name": "a.csv", "bytes": 10})
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


def test_a_token_that_only_reads_sends_nothing(person: People) -> None:
    assert person("steward", scopes=["read"]).post(UPLOADS, json={"name": "a.csv", "bytes": 1}).status_code == 403


@pytest.mark.both_stores
def test_deleted_at_once(service: Service, person: People) -> None:
    steward = person("steward")
    id = begin(steward)
    send(steward, id, DATA[:10], 0)
    assert steward.delete(f"{UPLOADS}/{id}").status_code == 204
    assert not service.files.upload(id).exists()
    assert steward.get(f"{UPLOADS}/{id}").status_code == 404


def test_nothing_is_deleted_while_it_is_sent(service: Service, person: People) -> None:
    """Else what is still written would take room that nobody counts."""
    steward = person("steward")
    id = begin(steward)
    send(steward, id, DATA[:10], 0)
    writer = Receiver(service.files.upload(id), 10)
    answer = steward.delete(f"{UPLOADS}/{id}")
    assert (answer.status_code, answer.json()["code"]) == (409, "upload-busy")
    assert steward.get(f"{UPLOADS}/{id}").json()["offset"] == 10
    writer.close()
    assert steward.delete(f"{UPLOADS}/{id}").status_code == 204
    assert not service.files.upload(id).exists()


def test_nothing_is_sent_to_what_was_deleted(service: Service, person: People, monkeypatch: pytest.MonkeyPatch) -> None:
    """An upload that is deleted after it was looked up, and before its file is locked."""
    steward = person("steward")
    id = begin(steward)

    def late(path: Path, offset: int) -> Receiver:
        assert steward.delete(f"{UPLOADS}/{id}").status_code == 204
        return Receiver(path, offset)

    monkeypatch.setattr("velado.service.sources.uploads.Receiver", late)
    assert send(steward, id, DATA, 0).status_code == 404
    assert not service.files.upload(id).exists()


def test_a_disk_that_fills_up_stops_the_sender(service: Service, person: People, monkeypatch: pytest.MonkeyPatch) -> None:
    """What arrived is kept."""
    steward = person("steward")
    id = begin(steward, 3 * BLOCK)
    looks = iter([10**15])
    monkeypatch.setattr(uploads, "LOOKED", 1)
    monkeypatch.setattr(service.files, "free", lambda: next(looks, 0))
    answer = send(steward, id, b"x" * BLOCK, 0)
    assert (answer.status_code, answer.json()["code"]) == (503, "disk-nearly-full")
    assert steward.get(f"{UPLOADS}/{id}").json()["offset"] == BLOCK
    assert free(service, id)


def test_it_is_looked_for_room_after_some_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "BLOCK", 10)

    class Sender:
        async def stream(self) -> AsyncIterator[bytes]:
            for _ in range(3 * uploads.LOOKED):
                yield b"x" * 10

    receiver, looks = Receiver(tmp_path / "upload", 0), iter([True])
    room = lambda: next(looks, False)  # noqa: E731
    problem = asyncio.run(uploads._receive(Sender(), receiver, 1000, room))  # type: ignore[arg-type]
    receiver.close()
    assert (problem and problem.code, receiver.offset) == ("disk-nearly-full", 2 * uploads.LOOKED * 10)


@pytest.mark.both_stores
def test_lists_go_on_where_they_ended(person: People) -> None:
    steward = person("steward")
    ids = [begin(steward) for _ in range(5)]
    seen, after = [], None
    while True:
        answer = steward.get(UPLOADS, params={"limit": 2, **({"after": after} if after else {})}).json()
        seen += [item["id"] for item in answer["items"]]
        after = answer["next"]
        if after is None:
            break
    assert seen == ids[::-1]
    assert steward.get(UPLOADS, params={"after": "x'--"}).json()["code"] == "bad-request"


@pytest.mark.both_stores
def test_audited_without_names(service: Service, person: People) -> None:
    steward = person("steward")
    answer = steward.post(UPLOADS, json={"name": "Ana Pérez 12345678Z.csv", "bytes": 3})
    send(steward, answer.json()["id"], b"a\n1", 0)
    steward.delete(f"{UPLOADS}/{answer.json()['id']}")
    with service.store.reading() as db:
        lines = list(db.scalars(select(AuditLine).order_by(AuditLine.number)))
    assert [line.action for line in lines] == ["upload.create", "upload.complete", "upload.delete"]
    assert "12345678Z" not in str([(line.subject, line.detail) for line in lines])


# Over a real connection


@pytest.fixture
def served(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Service, int]]:
    """A service on SQLite behind a real server; the parameter is how many seconds senders may be silent."""
    idle = getattr(request, "param", 600)
    service = Service.open(load(environment={}, folder=tmp_path / "served", upload_idle_seconds=idle), make=True)
    server = uvicorn.Server(uvicorn.Config(create_app(service), log_config=None, lifespan="off"))
    listening = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    yield service, listening.getsockname()[1]
    server.should_exit = True
    thread.join()
    listening.close()
    service.close()


@pytest.fixture
def sender(served: tuple[Service, int], monkeypatch: pytest.MonkeyPatch) -> tuple[str, TestClient]:
    """Somebody of that service, and the token."""
    from velado.service.access.permissions import SCOPES
    from velado.service.accounts import tokens
    from velado.service.store.tables import User

    service, _ = served
    with service.store.writing() as db:
        user = User(name="ana", roles=["steward"])
        db.add(user)
        db.flush()
        _, text = tokens.make(db, user, "test", tuple(SCOPES), 1)
    client = TestClient(create_app(service), headers={"Authorization": f"Bearer {text}"}, base_url="http://127.0.0.1")
    return text, client


def raw(port: int, token: str, id: str, offset: int, announced: int, data: bytes) -> socket.socket:
    """Begin a piece, and send only some of it."""
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(
        f"PATCH {UPLOADS}/{id} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
        f"Upload-Offset: {offset}\r\nContent-Length: {announced}\r\n\r\n".encode()
        + data
    )
    return connection


def free(service: Service, id: str) -> bool:
    """Whether nobody writes the upload."""
    path = service.files.upload(id)
    with contextlib.suppress(Exception):
        Receiver(path, path.stat().st_size).close()
        return True
    return False


def test_resuming_after_a_cut_connection(served: tuple[Service, int], sender: tuple[str, TestClient]) -> None:
    (service, port), (token, client) = served, sender
    data = DATA * 1000
    id = begin(client, len(data))
    connection = raw(port, token, id, 0, len(data), data[: BLOCK + 12345])
    until(lambda: client.get(f"{UPLOADS}/{id}").json()["offset"] >= BLOCK)
    connection.close()
    until(lambda: free(service, id))
    offset = client.get(f"{UPLOADS}/{id}").json()["offset"]
    assert BLOCK <= offset <= BLOCK + 12345
    assert send(client, id, data[offset:], offset).json()["sha256"] == hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("served", [1], indirect=True)
def test_a_silent_sender_is_cut(
    served: tuple[Service, int], sender: tuple[str, TestClient], caplog: pytest.LogCaptureFixture
) -> None:
    (service, port), (token, client) = served, sender
    id = begin(client)
    with caplog.at_level(logging.DEBUG):
        connection = raw(port, token, id, 0, len(DATA), DATA[:100])
        connection.settimeout(WAIT)
        answer = connection.recv(65536)
    assert answer.startswith(b"HTTP/1.1 408")
    connection.close()
    assert client.get(f"{UPLOADS}/{id}").json()["offset"] == 100
    until(lambda: free(service, id))
    assert "Ana,31" not in caplog.text
    assert send(client, id, DATA[100:], 100).json()["state"] == "complete"


def test_two_writers_at_once(served: tuple[Service, int], sender: tuple[str, TestClient]) -> None:
    (service, port), (token, client) = served, sender
    id = begin(client)
    first = raw(port, token, id, 0, len(DATA), DATA[:100])
    until(lambda: service.files.upload(id).exists() and not free(service, id))
    second = send(client, id, b"x" * 50, 0)
    assert (second.status_code, second.json()["code"]) == (409, "upload-busy")
    first.sendall(DATA[100:])
    first.settimeout(WAIT)
    assert first.recv(65536).startswith(b"HTTP/1.1 200")
    first.close()
    assert service.files.upload(id).read_bytes() == DATA
