"""Files elsewhere: S3 (a moto server), HTTP (a server of the standard library), and fsspec's memory."""

from __future__ import annotations

import builtins
import functools
import http.server
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.parquet
import pytest

from velado import anonymize
from velado.errors import Cancelled, VeladoError
from velado.progress import Progress
from velado.project import output_of
from velado.tables import Session, open_table
from velado.tables.formats import remote

AGE = {"role": "quasi-identifier", "hierarchy": {"intervals": [10, 50]}}
COLUMNS = {"age": AGE, "ill": "sensitive"}
K2 = {"k-anonymity": {"k": 2}}
TEXT = "age,ill\n" + "".join(f"{20 + i % 40},{'flu' if i % 3 else 'cold'}\n" for i in range(200))
SECRET = "s3cr3t"


@pytest.fixture
def memory() -> Iterator[Any]:
    system = fsspec.filesystem("memory")
    system.store.clear()
    system.pseudo_dirs[:] = [""]
    yield system
    system.store.clear()


@pytest.fixture(scope="module")
def moto() -> Iterator[str]:
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    yield f"http://127.0.0.1:{port}"
    server.stop()


@pytest.fixture
def bucket(moto: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A bucket of its own, with rights in the environment."""
    import boto3

    monkeypatch.setenv("AWS_ENDPOINT_URL", moto)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    client = boto3.client("s3")
    client.create_bucket(Bucket="clinic")
    yield client
    for found in client.list_objects_v2(Bucket="clinic").get("Contents", []):
        client.delete_object(Bucket="clinic", Key=found["Key"])
    client.delete_bucket(Bucket="clinic")


def keys(client: Any) -> list[str]:
    return sorted(found["Key"] for found in client.list_objects_v2(Bucket="clinic").get("Contents", []))


class Handler(http.server.SimpleHTTPRequestHandler):
    """Files of a folder; some only for those who may."""

    def do_GET(self) -> None:
        if "forbidden" in self.path:
            self.send_error(403)
        else:
            super().do_GET()

    do_HEAD = do_GET

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@pytest.fixture
def web(tmp_path: Path) -> Iterator[str]:
    folder = tmp_path / "web"
    folder.mkdir()
    (folder / "people.csv").write_text(TEXT)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def problem(call: Callable[[], Any]) -> VeladoError:
    with pytest.raises(VeladoError) as caught:
        call()
    return caught.value


def expected() -> list[Any]:
    return sorted(map(str, released_rows(TEXT)))


def released_rows(text: str) -> list[Any]:
    lines = [line.split(",") for line in text.split()[1:]]
    rows = pa.table({"age": [line[0] for line in lines], "ill": [line[1] for line in lines]})
    return [tuple(row.values()) for row in anonymize(rows, COLUMNS, K2).table.to_pylist()]


def rows_of(text: str) -> list[Any]:
    return sorted(str(tuple(line.split(","))) for line in text.split()[1:])


# Sources


def test_text_and_parquet_are_read_from_memory_http_and_s3(memory: Any, web: str, bucket: Any, tmp_path: Path) -> None:
    memory.pipe("/in/people.csv", TEXT.encode())
    bucket.put_object(Bucket="clinic", Key="in/people.csv", Body=TEXT.encode())
    table = pa.table({"age": [1, 2, 3], "ill": ["a", None, "b"]})
    pyarrow.parquet.write_table(table, tmp_path / "web" / "people.parquet")
    bucket.upload_file(str(tmp_path / "web" / "people.parquet"), "clinic", "people.parquet")
    digests = set()
    for url in ("memory://in/people.csv", f"{web}/people.csv", "s3://clinic/in/people.csv"):
        with open_table(url) as found:
            assert found.rows() == 200
            assert found.name == url
            assert list(found.header) == ["age", "ill"]
            digests.add(found.fingerprint())
    assert len(digests) == 1
    for url in (f"{web}/people.parquet", "s3://clinic/people.parquet"):
        with open_table({"path": url}) as found:
            assert found.rows() == 3
            assert found.fingerprint() not in digests


def test_options_of_text_tables_count_elsewhere_too(memory: Any) -> None:
    memory.pipe("/people.tsv", "Größe\till\n1\tä\n".encode("latin-1"))
    with open_table({"path": "memory://people.tsv", "encoding": "latin-1"}) as table:
        assert list(table.header) == ["Größe", "ill"]
        assert table.page(0, 1).to_pylist() == [{"Größe": "1", "ill": "ä"}]


def test_messages_name_the_address_and_no_secret(memory: Any, web: str) -> None:
    memory.pipe("/broken.csv", b"a,b\n1,2\n1,2,3\n")
    memory.pipe("/broken.parquet", b"nonsense")
    memory.pipe("/empty.csv", b"")
    for name, code in (("broken.csv", "ragged-row"), ("broken.parquet", "unreadable-file"), ("empty.csv", "empty-file")):
        error = problem(lambda name=name: open_table(f"memory://{name}"))  # type: ignore[misc]
        assert (error.code, error.file) == (code, f"memory://{name}")
        assert ".velado" not in str(error.as_dict() if hasattr(error, "as_dict") else error)
    error = problem(lambda: open_table(f"{web}/nowhere.csv?token={SECRET}"))
    assert error.code == "missing-file"
    assert SECRET not in repr(error) + str(error)
    assert error.file == f"{web}/nowhere.csv"


def test_what_is_wrong_with_an_address_is_told(memory: Any, web: str, bucket: Any, moto: str) -> None:
    cases = {
        "memory://nothing.csv": "missing-file",
        f"{web}/forbidden.csv": "unreadable-file",
        "http://127.0.0.1:1/x.csv": "no-server",
        "s3://clinic/nothing.csv": "missing-file",
        "s3://nobucket/nothing.csv": "missing-file",
        "nosuch://x/y.csv": "no-such-engine",
        "memory://x.xlsx": "unknown-format",
        f"http://ana:{SECRET}@127.0.0.1/x.csv": "password-in-clear",
    }
    for url, code in cases.items():
        error = problem(lambda url=url: open_table(url))  # type: ignore[misc]
        assert error.code == code, (url, error)
        assert SECRET not in str(error)


def test_no_rights_at_s3(bucket: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import botocore.exceptions
    import s3fs

    def refused(*_: Any, **__: Any) -> Any:
        raise botocore.exceptions.ClientError({"Error": {"Code": "AccessDenied", "Message": f"key {SECRET}"}}, "GetObject")

    bucket.put_object(Bucket="clinic", Key="people.csv", Body=TEXT.encode())
    monkeypatch.setattr(s3fs.S3FileSystem, "info", refused)
    monkeypatch.setattr(s3fs.S3FileSystem, "pipe_file", refused)
    error = problem(lambda: open_table("s3://clinic/people.csv"))
    assert (error.code, error.file) == ("unreadable-file", "s3://clinic/people.csv")
    assert SECRET not in str(error)
    error = problem(lambda: run(TEXT, "s3://clinic/out.csv"))
    assert error.code == "unwritable-output"
    assert SECRET not in str(error)


def test_a_file_that_changes_while_it_is_read_is_refused(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.pipe("/people.csv", TEXT.encode())
    monkeypatch.setattr(remote, "PIECE", 100)
    read = remote.Remote.read

    def changing(self: Any, progress: Any) -> Iterator[bytes]:
        for i, piece in enumerate(read(self, progress)):
            if i == 3:
                memory.pipe("/people.csv", TEXT.encode() + b"1,flu\n")
            yield piece

    monkeypatch.setattr(remote.Remote, "read", changing)
    assert problem(lambda: open_table("memory://people.csv")).code == "source-changed"


def test_a_copy_is_a_snapshot(memory: Any) -> None:
    memory.pipe("/people.csv", TEXT.encode())
    with open_table("memory://people.csv") as table:
        memory.pipe("/people.csv", b"age,ill\n1,flu\n")
        table.check_unchanged()
        assert table.rows() == 200


def test_copying_can_be_cancelled(memory: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    memory.pipe("/people.csv", TEXT.encode())
    monkeypatch.setattr(remote, "PIECE", 100)
    progress = Progress()
    read = remote.Remote.read

    def slow(self: Any, given: Any) -> Iterator[bytes]:
        for i, piece in enumerate(read(self, given)):
            if i == 2:
                progress.cancel()
            yield piece

    monkeypatch.setattr(remote.Remote, "read", slow)
    with pytest.raises(Cancelled):
        open_table("memory://people.csv", session=Session(progress, scratch=tmp_path))
    assert not list(tmp_path.iterdir())


def test_without_the_extra_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = builtins.__import__

    def without(name: str, *args: Any, **options: Any) -> Any:
        if name.partition(".")[0] in ("fsspec", "s3fs"):
            raise ImportError(name)
        return plain(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    error = problem(lambda: open_table("s3://clinic/people.csv"))
    assert error.code == "missing-extra"
    assert "velado[remote]" in error.hint


def test_local_files_do_not_import_the_extra(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a\n1\n")
    code = "import sys, velado.tables as t; t.open_table('x.csv').close(); assert not {'fsspec', 's3fs'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)


# Sinks


def run(text: str, url: str, **more: Any) -> Any:
    lines = [line.split(",") for line in text.split()[1:]]
    rows = pa.table({"age": [line[0] for line in lines], "ill": [line[1] for line in lines]})
    return anonymize(rows, COLUMNS, K2, output={"path": url, **more})


def test_a_release_in_memory_and_in_s3(memory: Any, bucket: Any, tmp_path: Path) -> None:
    mine = tmp_path / "mine.json"
    release = run(TEXT, "memory://out/people.csv", manifest=str(mine))
    assert rows_of(memory.cat("/out/people.csv").decode()) == expected()
    assert sorted(memory.find("/")) == ["/out/people.csv", "/out/people.csv.manifest.json"]
    assert release.output == "memory://out/people.csv"
    assert release.manifest_path == "memory://out/people.csv.manifest.json"
    assert json.loads(memory.cat("/out/people.csv.manifest.json"))["models"] == [{"k-anonymity": {"k": 2}}]
    assert json.loads(mine.read_text())["velado-private-manifest"] == 1
    assert mine.stat().st_mode & 0o777 == 0o600

    release = run(TEXT, "s3://clinic/out/people.parquet")
    assert keys(bucket) == ["out/people.parquet", "out/people.parquet.manifest.json"]
    assert release.private_path is None
    assert release.private_manifest
    bucket.download_file("clinic", "out/people.parquet", str(tmp_path / "back.parquet"))
    back = pyarrow.parquet.read_table(tmp_path / "back.parquet").to_pylist()
    assert sorted(str(tuple(row.values())) for row in back) == expected()
    assert release.manifest["output"]["sha256"] == remote.digest_of(tmp_path / "back.parquet")


def test_what_was_there_is_replaced_together(bucket: Any) -> None:
    for key in ("out.csv", "out.csv.manifest.json"):
        bucket.put_object(Bucket="clinic", Key=key, Body=b"old")
    run(TEXT, "s3://clinic/out.csv")
    assert keys(bucket) == ["out.csv", "out.csv.manifest.json"]
    assert bucket.get_object(Bucket="clinic", Key="out.csv")["Body"].read() != b"old"


def test_from_elsewhere_to_elsewhere(memory: Any, web: str) -> None:
    anonymize(f"{web}/people.csv", COLUMNS, K2, output="memory://people.tsv")
    assert memory.cat("/people.tsv").decode().startswith("age\till\n")
    assert rows_of(memory.cat("/people.tsv").decode().replace("\t", ",")) == expected()


def test_the_source_is_not_replaced(memory: Any) -> None:
    memory.pipe("/people.csv", TEXT.encode())
    error = problem(lambda: anonymize("memory://people.csv", COLUMNS, K2, output="memory://people.csv"))
    assert error.code == "output-is-input"
    assert memory.cat("/people.csv") == TEXT.encode()


def test_nothing_is_written_to_web_pages(web: str) -> None:
    error = problem(lambda: run(TEXT, f"{web}/out.csv?sig={SECRET}"))
    assert error.code == "unwritable-output"
    assert SECRET not in str(error)


def test_only_tables_of_text_and_parquet_go_elsewhere() -> None:
    assert problem(lambda: output_of("s3://clinic/out.xlsx")).code == "bad-output"


def test_no_such_bucket_and_no_server(bucket: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert problem(lambda: run(TEXT, "s3://nobucket/out.csv")).code == "unwritable-output"
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    assert problem(lambda: run(TEXT, "s3://clinic/out.csv")).code == "no-server"


@pytest.mark.parametrize("failing", [1, 2])
def test_a_rename_that_fails_puts_everything_back(
    memory: Any, monkeypatch: pytest.MonkeyPatch, failing: int, tmp_path: Path
) -> None:
    old = {"/out.csv": b"old", "/out.csv.manifest.json": b"older"}
    memory.pipe(old)
    move, calls = remote.Remote.move, []

    def fails(self: Any, target: Any) -> None:
        calls.append(target)
        if len(calls) == failing:
            raise OSError("gone")
        move(self, target)

    monkeypatch.setattr(remote.Remote, "move", fails)
    mine = tmp_path / "mine.json"
    assert problem(lambda: run(TEXT, "memory://out.csv", manifest=str(mine))).code == "no-server"
    assert {name: memory.cat(name) for name in memory.find("/")} == old
    assert not mine.exists()


def test_what_arrives_changed_is_not_published(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    read = remote.Remote.read

    def lossy(self: Any, progress: Any) -> Iterator[bytes]:
        for piece in read(self, progress):
            yield piece[:-1]

    monkeypatch.setattr(remote.Remote, "read", lossy)
    assert problem(lambda: run(TEXT, "memory://out.csv")).code == "unwritable-output"
    assert memory.find("/") == []


def test_a_failed_verification_sends_nothing(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from velado.tables.duckdb.table import DuckDBTable

    write = DuckDBTable.write

    def lossy(self: Any, plan: Any, into: Any) -> None:
        write(self, plan, into)
        lines = into.path.read_text().splitlines()
        into.path.write_text("\n".join(lines[:-1]) + "\n")

    monkeypatch.setattr(DuckDBTable, "write", lossy)
    assert problem(lambda: run(TEXT, "memory://out.csv")).code == "verification-failed"
    assert memory.find("/") == []


@pytest.mark.faults
def test_a_killed_run_leaves_the_old_release(bucket: Any, tmp_path: Path) -> None:
    bucket.put_object(Bucket="clinic", Key="out.csv", Body=b"old")
    (tmp_path / "in.csv").write_text(TEXT)
    code = """
import os, signal, velado
from velado.tables.duckdb import remote_stage
remote_stage._rename = lambda sent: os.kill(os.getpid(), signal.SIGKILL)
velado.anonymize("in.csv", {"age": {"role": "quasi-identifier", "hierarchy": {"intervals": [10, 50]}}, "ill": "sensitive"},
                 {"k-anonymity": {"k": 2}}, output="s3://clinic/out.csv")
"""
    killed = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=dict(os.environ))
    assert killed.returncode == -signal.SIGKILL
    assert bucket.get_object(Bucket="clinic", Key="out.csv")["Body"].read() == b"old"
    assert [key for key in keys(bucket) if not key.startswith(".velado-")] == ["out.csv"]
