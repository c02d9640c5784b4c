"""MariaDB: the same releases as on DuckDB, cell for cell; nothing published that is not verified; nothing left behind."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import velado
from conftest import PROJECT
from engines.engines import AS_IT_IS, counted, rows_of, translation
from engines.mariadb import put
from servers.mariadb import Server, server
from servers.studio import until
from velado import InputError
from velado.tables import ColumnType, Field, Plan, Selection, Session, Sink, Source, open_stage, open_table
from velado.tables.address import Address

pytestmark = [pytest.mark.mariadb, pytest.mark.unjudged]

OURS = ("velado_side", "velado_old", "velado_")


@pytest.fixture
def maria() -> Iterator[Server]:
    """The server; no table of ours may be left."""
    found = server()
    yield found
    assert not {t for t in found.tables() if t.startswith(OURS)}


@pytest.fixture
def people(maria: Server, patients: pa.Table) -> str:
    """The patients as a table."""
    name = put(patients, "memory", Path()).table
    assert name is not None
    return name


def project(maria: Server, table: str, out: str = "released", user: str = "root", **changes: Any) -> dict[str, Any]:
    columns = {**PROJECT["columns"], **changes.pop("columns", {})}
    made = {
        **PROJECT,
        "columns": {k: v for k, v in columns.items() if v is not None},
        **changes,
        "source": {"database": maria.address(user), "table": table},
        "output": {"database": maria.address(user), "table": out, "if_exists": "replace", **changes.get("output", {})},
    }
    return made


def rows(maria: Server, table: str) -> list[tuple[str | None, ...]]:
    """The rows by the driver alone, as texts."""
    return [tuple(None if c is None else str(c) for c in row) for row in maria.ask(f'SELECT * FROM clinic."{table}"')]


def texts(table: pa.Table) -> list[tuple[str | None, ...]]:
    return [tuple(None if c is None else str(c) for c in row) for row in zip(*table.to_pydict().values(), strict=True)]


# --- What is written


def test_comment_manifest_types_and_order(maria: Server, people: str, patients: pa.Table) -> None:
    velado.run(project(maria, people, "shuffled", columns={"city": {"role": "insensitive", "exposure": "accepted"}}))
    (comment,) = maria.ask("SELECT TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_NAME = 'shuffled'")[0]
    assert "velado" in comment.lower()
    (manifest,) = maria.ask("SELECT manifest FROM clinic.shuffled_manifest")[0]
    assert json.loads(manifest)
    kinds = dict(maria.ask("SELECT COLUMN_NAME, COLUMN_TYPE FROM information_schema.COLUMNS WHERE TABLE_NAME = 'shuffled'"))
    was = dict(maria.ask(f"SELECT COLUMN_NAME, COLUMN_TYPE FROM information_schema.COLUMNS WHERE TABLE_NAME = '{people}'"))
    assert kinds["city"] == was["city"]
    assert kinds["cost"] == was["cost"]
    released = [row[-1] for row in rows(maria, "shuffled")]
    original = [row[-1] for row in rows(maria, people)]
    same = [c for c in original if c in set(released)]
    assert Counter(released) <= Counter(original)
    assert released != same[: len(released)]
    places = [original.index(c) for c in released]
    ups = sum(a < b for a, b in itertools.pairwise(places))
    assert 0.35 < ups / len(places) < 0.65, "the order says nothing of the source's"
    maria.ask("DROP TABLE clinic.shuffled, clinic.shuffled_manifest")


def test_two_releases_are_shuffled_differently(maria: Server) -> None:
    source = put(pa.table({"n": pa.array(range(200))}), "memory", Path())
    orders = []
    for name in ("once", "twice"):
        write(source, name, maria)
        orders.append(rows(maria, name))
        maria.ask(f"DROP TABLE clinic.{name}")
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1])


def write(source: Source, name: str, maria: Server, **options: Any) -> None:
    sink = Sink(database=Address.parse(maria.address()), table=name, **options)
    session = Session(sinks=(sink,))
    with open_table(source, session=session) as table, open_stage([sink], session) as stage:
        table.write(AS_IT_IS, stage.slots[0])
        table.check_unchanged()
        with stage.read_back(stage.slots[0]) as back:
            assert back.rows() == table.rows()
        stage.publish()


def fill(rows: pa.Table, name: str, maria: Server) -> None:
    """Rows from elsewhere."""
    sink = Sink(database=Address.parse(maria.address()), table=name)
    with open_stage([sink]) as stage:
        slot = stage.slots[0]
        fields = tuple(Field(n, ColumnType.TEXT) for n in rows.column_names)
        slot.receive(fields, pa.RecordBatchReader.from_batches(rows.schema, rows.to_batches()), velado.Progress())
        slot.complete()
        stage.publish()


def test_rows_from_elsewhere(maria: Server, patients: pa.Table) -> None:
    fill(patients, "fromfile", maria)
    with open_table(Source(database=Address.parse(maria.address()), table="fromfile")) as table:
        assert Counter(rows_of(table.fetch(AS_IT_IS))) == Counter(rows_of(patients))
    maria.ask("DROP TABLE clinic.fromfile")


# --- Values


TRAPS = ["a", "A", "a ", "ä", "Ä", "a", "", None, "ß", "ss", "\\", "it's", '"', "%", "_", "😀", "a\tb", " a"]


@pytest.mark.parametrize("charset", ["utf8mb4", "latin1", "utf8mb3"])
def test_texts_are_told_apart_by_their_bytes(charset: str, maria: Server) -> None:
    cells = [t for t in TRAPS if charset == "utf8mb4" or t != "😀"]
    maria.ask(f"CREATE TABLE clinic.traps (t varchar(20) CHARACTER SET {charset}, u text CHARACTER SET {charset})")
    with maria.connect() as connection, connection.cursor() as cursor:
        cursor.executemany("INSERT INTO clinic.traps VALUES (%s, %s)", [(c, c) for c in cells])
    with open_table(Source(database=Address.parse(maria.address()), table="traps")) as table:
        expected = Counter((c or None,) for c in cells)
        assert counted(table.count(["t"])) == counted(table.count(["u"])) == expected
        known = {c: f"label {i}" for i, c in enumerate(dict.fromkeys(c or None for c in cells))}
        found = table.fetch(Plan((translation("t", known),), Selection()))
        assert Counter(rows_of(found, ["t", "u"])) == Counter((known[c or None], c or None) for c in cells)
    maria.ask("DROP TABLE clinic.traps")


def test_types_of_columns(maria: Server) -> None:
    """Each works as what it is, works as text, or is refused by name."""
    kinds = {
        "tinyint(1)": ("1", "integer", "1"),
        "int(5) zerofill": ("42", "integer", "42"),
        "year": ("2020", "integer", "2020"),
        "bit(3)": ("5", "integer", "5"),
        "bigint unsigned": ("18446744073709551615", "integer", "18446744073709551615"),
        "enum('x','y')": ("'y'", "text", "y"),
        "set('x','y')": ("'x,y'", "text", "x,y"),
        "time": ("'06:30'", "text", "06:30:00"),
        "uuid": ("'123e4567-e89b-12d3-a456-426614174000'", "text", "123e4567-e89b-12d3-a456-426614174000"),
        "inet6": ("'::1'", "text", "::1"),
        "json": ("'{}'", "text", "{}"),
        "float": ("0.1", "float", "0.1"),
        "double": ("1e16", "float", "1e+16"),
        "decimal(9,2)": ("1.5", "decimal", "1.50"),
        "decimal(50,2)": ("1.5", "text", "1.50"),
        "datetime(3)": ("'2020-01-02 03:04:05.120'", "timestamp", "2020-01-02 03:04:05.12"),
        "date": ("'0987-06-05'", "date", "0987-06-05"),
        "timestamp": ("'2020-01-02 03:04:05'", "timestamp", "2020-01-02 03:04:05"),
        "char(3)": ("'x'", "text", "x"),
    }
    for kind, (value, type_, text) in kinds.items():
        maria.ask(f"CREATE TABLE clinic.typed (x {kind})")
        maria.ask(
            f"INSERT INTO clinic.typed VALUES ({value}), (NULL)"
            if kind != "timestamp"
            else f"INSERT INTO clinic.typed VALUES ({value})"
        )
        with open_table(Source(database=Address.parse(maria.address()), table="typed")) as table:
            assert table.field("x").type.value == type_, kind
            assert text in table.count(["x"]).dictionaries[0], kind
        maria.ask("DROP TABLE clinic.typed")
    for kind in ("binary(3)", "varbinary(3)", "blob", "geometry", "point"):
        maria.ask(f"CREATE TABLE clinic.typed (x {kind})")
        with (
            open_table(Source(database=Address.parse(maria.address()), table="typed")) as table,
            pytest.raises(InputError) as caught,
        ):
            table.count(["x"])
        maria.ask("DROP TABLE clinic.typed")
        assert caught.value.code == "unsupported-type"
        assert kind.partition("(")[0] in str(caught.value)


# --- Rights and errors


def code_of(work: Any) -> str:
    with pytest.raises(InputError) as caught:
        work()
    return caught.value.code


def test_least_rights(maria: Server, people: str) -> None:
    maria.ask("CREATE OR REPLACE USER reader")
    maria.ask("CREATE DATABASE IF NOT EXISTS released CHARACTER SET utf8mb4")
    assert code_of(lambda: velado.run(project(maria, people, "released.people", "reader"))) in ("no-right", "unknown-table")
    maria.ask(f"GRANT SELECT ON clinic.{people} TO reader")
    assert code_of(lambda: velado.run(project(maria, people, "released.people", "reader"))) == "no-right"
    maria.ask("GRANT CREATE TEMPORARY TABLES, CREATE, SELECT, INSERT, ALTER, DROP ON released.* TO reader")
    velado.run(project(maria, people, "released.people", "reader"))
    velado.run(project(maria, people, "released.people", "reader"))
    assert maria.tables("released") == {"people", "people_manifest"}
    assert code_of(lambda: velado.run(project(maria, people, "clinic.elsewhere", "reader"))) == "no-right"
    maria.ask("DROP DATABASE released")
    maria.ask("DROP USER reader")


def test_bad_input(maria: Server, people: str, monkeypatch: pytest.MonkeyPatch) -> None:
    maria.ask("CREATE OR REPLACE USER secret IDENTIFIED BY 'right'")
    monkeypatch.setenv("MARIA_PASSWORD", "wrong")
    where = maria.address().partition("?")[2]

    def opened(address: str, **place: Any) -> str:
        return code_of(lambda: open_table({"database": address, **(place or {"table": people})}))

    assert opened(f"mariadb://secret:${{MARIA_PASSWORD}}@localhost/clinic?{where}") == "login-refused"
    assert opened(f"mariadb://root@localhost/nowhere?{where}") == "unknown-database"
    assert opened(maria.address(), table="nobody") == "unknown-table"
    assert opened(maria.address(), query="SELECT FROM") == "bad-query"
    assert opened(maria.address(), query=f"SELECT no_such FROM {people}") == "bad-query"
    assert opened("mariadb://root@localhost/clinic?unix_socket=/nowhere/s.sock") == "no-server"
    assert opened("mariadb://root@127.0.0.1:1/clinic") == "no-server"
    assert opened(f"{maria.address()}&ssl_ca=/nowhere.pem") in ("no-tls", "no-server")
    assert opened(f"{maria.address()}&sslmode=require") == "unknown-option"
    maria.ask("DROP USER secret")


def test_fail_or_replace(maria: Server, people: str) -> None:
    maria.ask("CREATE TABLE clinic.kept (a int)")
    assert code_of(lambda: velado.run(project(maria, people, "kept", output={"if_exists": "fail"}))) == "output-exists"
    assert rows(maria, "kept") == []
    velado.run(project(maria, people, "kept"))
    assert len(rows(maria, "kept")) > 300
    maria.ask("CREATE VIEW clinic.seen AS SELECT * FROM clinic.kept")
    assert code_of(lambda: velado.run(project(maria, people, "seen"))) == "output-exists"
    maria.ask("DROP VIEW clinic.seen")
    maria.ask("DROP TABLE clinic.kept, clinic.kept_manifest")


def test_two_runs_into_one_target(maria: Server, people: str) -> None:
    source = Source(database=Address.parse(maria.address()), table=people)
    sink = Sink(database=Address.parse(maria.address()), table="contested")
    with open_table(source) as a, open_table(source) as b, open_stage([sink]) as one, open_stage([sink]) as two:
        a.write(AS_IT_IS, one.slots[0])
        b.write(AS_IT_IS, two.slots[0])
        one.publish()
        assert code_of(two.publish) == "output-exists"
    assert len(rows(maria, "contested")) == 400
    maria.ask("DROP TABLE clinic.contested")


# --- The source changes meanwhile


@pytest.mark.parametrize("kind", ["InnoDB", "MyISAM", "view", "query"])
@pytest.mark.parametrize(
    "change",
    [
        "INSERT INTO clinic.moving VALUES ('z')",
        "UPDATE clinic.moving SET a = 'y' LIMIT 1",
        "DELETE FROM clinic.moving LIMIT 1",
        "UPDATE clinic.moving SET a = NULL WHERE a = '' LIMIT 1",
    ],
)
def test_a_changed_source_is_noticed(kind: str, change: str, maria: Server) -> None:
    engine = "MyISAM" if kind == "MyISAM" else "InnoDB"
    maria.ask(f"CREATE TABLE clinic.moving (a varchar(9)) ENGINE = {engine}")
    maria.ask("INSERT INTO clinic.moving VALUES ('a'), ('b'), (''), (NULL)")
    maria.ask("CREATE VIEW clinic.moving_view AS SELECT * FROM clinic.moving")
    address = Address.parse(maria.address())
    place = {"query": "SELECT * FROM moving"} if kind == "query" else {"table": "moving_view" if kind == "view" else "moving"}
    sink = Sink(database=address, table="still")
    session = Session(sinks=(sink,))

    def work() -> None:
        with (
            open_table(Source(database=address, **place), session=session) as table,  # type: ignore[arg-type]
            open_stage([sink], session) as stage,
        ):
            table.count(["a"])
            maria.ask(change)
            table.write(AS_IT_IS, stage.slots[0])
            table.check_unchanged()
            stage.publish()

    assert code_of(work) == "source-changed"
    assert "still" not in maria.tables()
    maria.ask("DROP VIEW clinic.moving_view")
    maria.ask("DROP TABLE clinic.moving")


def test_what_is_read_is_one_snapshot(maria: Server) -> None:
    source = put(pa.table({"a": ["x", "y"]}), "memory", Path())
    with open_table(source) as table:
        maria.ask(f"INSERT INTO clinic.{source.table} VALUES ('z')")
        assert table.rows() == 2
        table.check_unchanged()


def test_a_locked_table(maria: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    from velado.tables.mariadb import connection

    monkeypatch.setattr(connection, "SETTINGS", {**connection.SETTINGS, "innodb_lock_wait_timeout": "1", "lock_wait_timeout": "1"})
    source = put(pa.table({"a": ["x", "y"]}), "memory", Path())
    with maria.connect() as other, other.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute(f"UPDATE clinic.{source.table} SET a = 'w'")
        assert code_of(lambda: write(source, "locked", maria)) == "table-locked"
        cursor.execute("ROLLBACK")
    assert "locked" not in maria.tables()


# --- Killed

RUN = """
import sys, time, threading, os
import velado
from velado.tables.mariadb.stage import MariaDBStage
from velado.tables.mariadb.table import MariaDBTable
from velado.tables.mariadb.connection import MariaDBConnection
import json
moment, project = sys.argv[1], json.loads(sys.argv[2])
def stop(*a, **k):
    print("here", flush=True); time.sleep(60)
def before(cls, name):
    setattr(cls, name, stop)
def after(cls, name):
    real = getattr(cls, name)
    setattr(cls, name, lambda *a, **k: (real(*a, **k), stop()))
{"counting": lambda: before(MariaDBTable, "count"), "writing": lambda: after(MariaDBStage, "_create"),
 "written": lambda: after(MariaDBStage, "fill"), "verifying": lambda: before(MariaDBStage, "open_side"),
 "renaming": lambda: before(MariaDBStage, "_is_replaced")}[moment]()
velado.run(project)
"""


@pytest.mark.parametrize("moment", ["counting", "writing", "written", "verifying", "renaming"])
def test_a_killed_run_is_swept_by_the_next(moment: str, maria: Server, people: str) -> None:
    maria.ask("CREATE OR REPLACE TABLE clinic.old_release (a int)")
    made = project(maria, people, "old_release")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", RUN, moment, json.dumps(made)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        left = {t for t in maria.tables() if t.startswith(OURS)}
        assert bool(left) == (moment != "counting")
        process.send_signal(signal.SIGKILL)
    assert rows(maria, "old_release") == []
    until(lambda: maria.ask("SELECT count(*) FROM information_schema.PROCESSLIST WHERE COMMAND <> 'Daemon'") == [(1,)])
    velado.run(made)
    assert len(rows(maria, "old_release")) > 300
    assert not {t for t in maria.tables() if t.startswith(OURS)}
    maria.ask("DROP TABLE clinic.old_release, clinic.old_release_manifest")


def test_a_run_that_is_alive_is_not_swept(maria: Server, people: str) -> None:
    source = Source(database=Address.parse(maria.address()), table=people)
    sinks = [Sink(database=Address.parse(maria.address()), table=name) for name in ("first", "second")]
    with open_table(source) as table, open_stage(sinks[:1]) as stage:
        table.write(AS_IT_IS, stage.slots[0])
        write(source, "second", maria)
        stage.publish()
    assert {"first", "second"} <= maria.tables()
    maria.ask("DROP TABLE clinic.first, clinic.second")


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["count", "write", "open_side", "_is_replaced"])
def test_a_server_that_is_killed(moment: str, patients: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    own = Server()
    own.ask("CREATE DATABASE clinic CHARACTER SET utf8mb4")
    fill(patients, "people", own)
    made = project(own, "people")
    from velado.tables.mariadb.stage import MariaDBStage
    from velado.tables.mariadb.table import MariaDBTable

    holder = MariaDBTable if moment in ("count", "write") else MariaDBStage
    real = getattr(holder, moment)

    def killed(*a: Any, **k: Any) -> Any:
        own.kill()
        return real(*a, **k)

    monkeypatch.setattr(holder, moment, killed)
    with pytest.raises(velado.VeladoError) as caught:
        velado.run(made)
    assert caught.value.code in ("connection-lost", "no-server", "verification-failed", "not-verified")
    monkeypatch.setattr(holder, moment, real)
    own.start()
    assert "released" not in own.tables()
    velado.run(made)
    assert own.tables() == {"people", "released", "released_manifest"}
    own.kill()


def test_a_cancelled_run_leaves_nothing(maria: Server, people: str) -> None:
    progress = velado.Progress()
    before = maria.tables()
    threading.Timer(0.2, progress.cancel).start()
    try:
        velado.run(project(maria, people, "cancelled"), progress)
        maria.ask("DROP TABLE clinic.cancelled, clinic.cancelled_manifest")
    except velado.Cancelled:
        pass
    assert maria.tables() == before
