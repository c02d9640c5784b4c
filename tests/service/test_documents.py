"""Documents: what they name, what they must not name, and that nothing leads out of the folder of a job."""

from __future__ import annotations

import io
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from servers import postgresql
from tasks_in_process import AtHand
from velado.errors import InputError
from velado.models import MODELS
from velado.operations import OPERATIONS
from velado.parameters import Word
from velado.progress import Progress
from velado.project.references import walk
from velado.service.connections.addresses import check_address
from velado.service.errors import Invalid
from velado.service.jobs.job_room import enter_room
from velado.service.jobs.task import Work
from velado.service.projects.document_checks import check_document, references
from velado.service.projects.exchange import from_file, plain_name, to_file
from velado.service.sources.archive_limits import check_expansion

A, B, C, D = (letter * 24 for letter in "abcd")
KEY = "0f" * 32
FULL: dict[str, Any] = {
    "source": {"source": A, "missing": ["?"]},
    "columns": {
        "age": {"role": "quasi-identifier", "hierarchy": {"file": f"upload:{B}"}},
        "name": {"role": "identifier", "operation": {"encrypt": "secret:names"}},
        "ward": {"role": "insensitive", "operation": {"pseudonymize": {"key": "secret:wards"}}},
        "day": {"role": "insensitive", "operation": {"shift": {"days": [-5, 5], "key": "secret:days"}}},
        "city": {"role": "insensitive", "operation": {"substitute": {"file": f"upload:{C}"}}},
        "sex": "quasi-identifier",
    },
    "models": [{"k-anonymity": {"k": 2}}, {"k-map": {"k": 2, "population": f"upload:{D}"}}],
    "output": {"connection": D, "table": "public.people"},
}
EVIL = (
    "/etc/passwd",
    "../../secret.csv",
    "people.csv",
    "file:/etc/passwd",
    "file:key",
    "env:HOME",
    "${HOME}",
    "~/.pgpass",
    "s3://bucket/x.csv",
    "http://127.0.0.1/x.csv",
    "postgresql://u@h/db#t",
    "sqlite:////etc/x.db",
    "upload:../x",
    f"upload:{A}/../x",
    f"upload: {A}",
    "upload:",
    f"UPLOAD:{A}",
    "secret:",
    "secret:a/b",
    KEY,
    "",
    7,
    ["x"],
    {"a": "b"},
    "upload:\0",
    f"upload:{A}\n",
)


@pytest.fixture
def hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AtHand:
    """A service without a store."""
    return AtHand(tmp_path / "studio", monkeypatch)


def paths_of(document: Any) -> list[str]:
    """The paths of all that is wrong."""
    with pytest.raises(Invalid) as raised:
        check_document(document)
    return [error.path for error in (raised.value, *raised.value.others)]


# Which places there are


def test_every_declared_place_of_a_file_or_key_is_walked() -> None:
    named = {
        (name, parameter, declared.refers)
        for name, kind in {**OPERATIONS, **MODELS}.items()
        for parameter, declared in kind.parameters.items()
        if declared.refers
    }
    keys = {("encrypt", "key", "key"), ("pseudonymize", "key", "key"), ("shift", "key", "key")}
    assert named == {*keys, ("substitute", "file", "file"), ("k-map", "population", "file")}
    # A text that is said to be a file must be declared as one.
    assert not [
        (name, parameter)
        for name, kind in {**OPERATIONS, **MODELS}.items()
        for parameter, declared in kind.parameters.items()
        if type(declared) is Word and "file" in str(declared.help) and declared.characters is None
    ]
    for name, parameter, what in named:
        visited = []

        def visit(told: str, value: object, visited: list[tuple[str, object]] = visited) -> object:
            visited.append((told, value))
            return "other"

        short = name in OPERATIONS and OPERATIONS[name].main == parameter
        for given in ({parameter: "place"}, *(("place",) if short else ())):
            spec = {name: given}
            document = {"columns": {"a": {"operation": spec}}} if name in OPERATIONS else {"models": [spec]}
            found = walk(document, visit)
            assert visited.pop() == (what, "place"), name
            assert "place" not in str(found)


def test_references_are_found_in_all_places() -> None:
    several = {
        "tables": {"one": FULL, "two": {"source": {"source": B}}},
        "attributes": {"x": {"hierarchy": {"file": f"upload:{A}"}}},
    }
    for document in (FULL, several):
        found = references(document)
        assert found["secrets"] == {"names", "wards", "days"}
        assert found["uploads"] >= {B, C, D}
        assert found["connections"] == {D}
        check_document(document)
    assert references(several)["sources"] == {A, B}
    assert A in references(several)["uploads"]
    assert references({"source": "x", "columns": 7, "models": "k", "output": []}) == {
        "sources": set(),
        "uploads": set(),
        "connections": set(),
        "secrets": set(),
    }


@pytest.mark.parametrize("evil", EVIL)
def test_nothing_but_ids_is_accepted(evil: Any) -> None:
    column = {"role": "quasi-identifier", "hierarchy": {"file": evil}}
    operations = {"e": {"encrypt": evil}, "p": {"pseudonymize": {"key": evil}}, "s": {"shift": {"key": evil}}}
    document = {
        "source": evil,
        "columns": {
            "age": column,
            **{name: {"operation": spec} for name, spec in operations.items()},
            "c": {"operation": {"substitute": {"file": evil}}},
        },
        "attributes": {"x": column},
        "models": [{"k-map": {"k": 2, "population": evil}}],
        "output": {"connection": evil, "table": "t"},
        "tables": {"one": {"source": {"source": evil}, "models": {"k-map": {"population": evil}}, "output": {"path": evil}}},
    }
    found = paths_of(document)
    expected = {
        "source",
        "columns.age.hierarchy.file",
        "columns.p.operation.pseudonymize.key",
        "columns.s.operation.shift.key",
        "columns.c.operation.substitute.file",
        "attributes.x.hierarchy.file",
        "models[0].k-map.population",
        "output.connection",
        "tables.one.source",
        "tables.one.models.k-map.population",
        "tables.one.output.path",
    }
    assert expected <= set(found)
    assert ("columns.e.operation.encrypt" in found) or isinstance(evil, dict)


@pytest.mark.parametrize(
    ("part", "path"),
    [
        ({"source": {"source": A, "path": "/etc/passwd"}}, "source.path"),
        ({"source": {"source": A, "database": "postgresql://x"}}, "source.database"),
        ({"source": {"source": A, "query": "SELECT 1"}}, "source.query"),
        ({"output": {"path": "x.csv"}}, "output.path"),
        ({"output": {"format": "../x"}}, "output.format"),
        ({"output": {"recoding": "x"}}, "output.recoding"),
        ({"output": {"connection": A, "table": "t", "manifest": "x"}}, "output.manifest"),
        ({"output": {"connection": A}}, "output.table"),
        ({"output": {"connection": A, "table": "t", "database": "x"}}, "output.database"),
        ({"output": "release.csv"}, "output"),
        ({"tables": {"one": 7}}, "tables.one"),
    ],
)
def test_other_ways_out_are_refused(part: dict[str, Any], path: str) -> None:
    assert paths_of(part) == [path]


def test_a_document_is_a_mapping_of_bearable_depth() -> None:
    deep: Any = {}
    for _ in range(2000):
        deep = {"columns": deep}
    for bad in (None, [], "x", 7, deep):
        with pytest.raises(Invalid) as raised:
            check_document(bad)
        assert raised.value.code == "bad-document"


def test_no_key_is_repeated() -> None:
    with pytest.raises(Invalid) as raised:
        check_document({"columns": {"a": {"operation": {"encrypt": KEY}}}})
    assert KEY not in json.dumps(raised.value.as_dict())


# Fail closed


def evil_projects(folder: Path) -> dict[str, dict[str, Any]]:
    """Translated documents that somebody has smuggled something into."""
    good = {
        "source": {"path": "inputs/people.csv"},
        "columns": {"sex": "quasi-identifier"},
        "rest": "drop",
        "models": [{"k-anonymity": {"k": 2}}],
        "output": {"path": "release.csv"},
    }

    def with_column(**spec: Any) -> dict[str, Any]:
        return {**good, "columns": {"sex": {"role": "quasi-identifier", **spec}}}

    return {
        "good": good,
        "absolute source": {**good, "source": "/etc/passwd"},
        "relative source": {**good, "source": {"path": "../../uploads/x"}},
        "same file by another way": {**good, "source": {"path": "inputs/../inputs/people.csv"}},
        "url": {**good, "source": "s3://bucket/x.csv"},
        "server": {**good, "source": {"database": "postgresql://u@h/db", "table": "t"}},
        "database file": {**good, "source": {"database": "sqlite:////tmp/x.db", "table": "t"}},
        "hierarchy": with_column(hierarchy={"file": "/etc/passwd"}),
        "substitutes": with_column(operation={"substitute": {"file": str(folder / "x")}}),
        "key file": with_column(operation={"encrypt": "file:/etc/passwd"}),
        "variable": with_column(operation={"encrypt": "env:HOME"}),
        "population": {**good, "models": [{"k-map": {"k": 2, "population": "/etc/passwd"}}]},
        "output outside": {**good, "output": {"path": str(folder.parent / "x.csv")}},
        "output below": {**good, "output": {"path": "inputs/x.csv"}},
        "output elsewhere": {**good, "output": {"path": "s3://bucket/x.csv"}},
        "output on a server": {**good, "output": {"database": "postgresql://u@h/db", "table": "t"}},
        "recoding": {**good, "output": {"path": "release.csv", "recoding": "/tmp/x.json"}},
        "no output": {key: value for key, value in good.items() if key != "output"},
    }


@pytest.mark.parametrize("name", sorted(evil_projects(Path("/x/y"))))
def test_what_is_loaded_is_held_against_what_is_allowed(hand: AtHand, name: str) -> None:
    source = hand.source(b"sex,age\nf,1\nm,2\n")
    task = hand.task("run")
    with enter_room(Work(task, Progress())) as room:
        room.source(source)
        data = evil_projects(task.folder)[name]
        if name == "good":
            assert room.load_project(data).output.path == task.folder / "release.csv"
            return
        with pytest.raises(InputError) as raised:
            room.load_project(data)
    assert raised.value.code == "bad-reference"


@pytest.mark.parametrize("options", [{"path": "/etc/passwd"}, {"database": "x"}, {"query": "SELECT 1"}, {"url": "x"}])
def test_options_of_a_source_do_not_say_where_it_is(hand: AtHand, options: dict[str, Any]) -> None:
    source = hand.source(b"sex\nf\n", **options)
    with enter_room(Work(hand.task("run"), Progress())) as room, pytest.raises(InputError) as raised:
        room.source(source)
    assert raised.value.code == "bad-reference"


def test_views_of_an_uploaded_database_read_no_other_file(hand: AtHand, tmp_path: Path) -> None:
    import duckdb

    other = tmp_path / "other.csv"
    other.write_text("secret\n4711\n")
    with duckdb.connect(str(tmp_path / "x.duckdb")) as connection:
        connection.execute(f"CREATE VIEW v AS SELECT * FROM read_csv('{other}')")
        connection.execute("CREATE TABLE t AS SELECT 'f' AS sex")
    source = hand.source((tmp_path / "x.duckdb").read_bytes(), "x.duckdb")
    hand.sources[source]["place"] = {"table": "t"}
    assert hand.do("rows", source=source)[1]["rows"] == [["f"]]
    hand.sources[source]["place"] = {"table": "v"}
    with pytest.raises(InputError) as raised:
        hand.do("rows", source=source)
    assert "4711" not in str(raised.value)


def test_a_job_knows_only_its_things(hand: AtHand) -> None:
    document = hand.hospital(60)
    for missing in ({"sources": {}}, {"uploads": {}, "sources": {}}):
        with pytest.raises(InputError) as raised:
            hand.do("run", document, things=missing)
        assert raised.value.code == "unknown-reference"
    with pytest.raises(InputError) as raised:
        hand.do("run", {**document, "output": {"connection": A, "table": "t"}})
    assert raised.value.code == "unknown-reference"


# Names


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("people.csv", "people.csv"),
        ("../../etc/passwd", "passwd"),
        ("..\\..\\a.csv", "a.csv"),
        ("", "file"),
        (".", "file"),
        ("..", "file"),
        ("a\0b\n.csv", "a_b_.csv"),
        ("x" * 500 + ".parquet", "x" * 92 + ".parquet"),
        (".csv", "file.csv"),
        ("Año 2024 (1).csv", "Año 2024 (1).csv"),
        ("s3://b/x.csv", "x.csv"),
        ("user:pw@host.csv", "user_pw_host.csv"),
    ],
)
def test_names_of_users_become_plain_names(given: str, shown: str) -> None:
    assert plain_name(given) == shown


def test_messages_name_the_users_file_and_nothing_of_the_server(hand: AtHand) -> None:
    source = hand.source(b"sex,age\nf,1,2\nm\n", "../../my people.csv")
    document = {**hand.hospital(60), "source": {"source": source}}
    with pytest.raises(InputError) as raised:
        hand.do("run", document)
    said = json.dumps(raised.value.as_dict("es")) + str(raised.value)
    assert "my people.csv" in said
    assert str(hand.settings.folder) not in said
    hand.files.upload(Path(hand.sources[source]["path"]).name).unlink()
    with pytest.raises(InputError) as raised:
        hand.do("run", document)
    assert raised.value.code == "source-gone"
    for gone in ({"kind": "upload", "name": "x"}, {"kind": "connection", "name": "x", "place": {"table": "t"}}):
        hand.sources[source] = gone
        with pytest.raises(InputError) as raised:
            hand.do("rows", source=source)
        assert raised.value.code == "source-gone"


# Keys and passwords


def test_keys_and_passwords_stay_in_the_process(hand: AtHand) -> None:
    hand.secret("names", KEY)
    document = hand.hospital()
    document["columns"] = {**document["columns"], "name": {"role": "insensitive", "operation": {"encrypt": "secret:names"}}}
    before = dict(os.environ)
    task, result = hand.do("run", document)
    assert dict(os.environ) == before
    written = b"".join(path.read_bytes() for path in task.folder.rglob("*") if path.is_file())
    assert KEY.encode() not in written
    assert KEY not in json.dumps(result)
    rows = pa.parquet.read_table(task.folder / "rows.parquet")
    assert all(token.startswith("e") for token in rows["name"].to_pylist())
    hand.secret("names", "password")
    with pytest.raises(InputError) as raised:
        hand.do("run", document)
    assert raised.value.code == "bad-key"
    hand.sealed["names"] = hand.secrets.seal(KEY, "project:other:names")
    with pytest.raises(InputError) as raised:
        hand.do("run", document)
    assert raised.value.code == "wrong-key"


def test_a_password_reaches_the_driver_only(hand: AtHand, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}
    connect = __import__("psycopg").connect

    def watched(**options: Any) -> Any:
        seen.update(options)
        return connect(**options)

    monkeypatch.setattr("psycopg.connect", watched)
    connection = hand.connection(postgresql.address(), "pass word")
    before = dict(os.environ)
    _, result = hand.do("test", parameters={"connection": connection})
    assert result == {"works": True, "engine": "postgresql"}
    assert seen["password"] == "pass word"
    assert seen["passfile"] == "/dev/null"
    assert dict(os.environ) == before


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://u@h/db?passfile=/x",
        "postgresql://u@h/db?sslkey=/x",
        "postgresql://u@h/db?sslcert=/x",
        "postgresql://u@h/db?sslrootcert=/x",
        "postgresql://u@h/db?service=x",
        "postgresql://u@h/db?options=-c%20x",
        "postgresql://u:${HOME}@h/db",
        "postgresql://u:pw@h/db",
        "postgresql://u@h/db?password=x",
        "postgresql://u@h/db#t",
        "mariadb://u@h/db?read_default_file=/x",
        "mysql://u@h/db?ssl_ca=/x",
        "sqlite:////etc/x.db",
        "duckdb:///x.duckdb",
        "s3://x/y",
        "/etc/passwd",
        "http://h/x",
        "",
        7,
        "postgresql://u@h/db\n",
        "x" * 5000,
    ],
)
def test_addresses_name_no_file_of_the_machine(address: Any) -> None:
    with pytest.raises(Invalid) as raised:
        check_address(address)
    assert raised.value.path == "address"
    assert "pw" not in str(raised.value)


def test_addresses_of_servers_are_taken() -> None:
    for text in (
        "postgresql://u@h:5433/db?sslmode=require",
        "postgres://u@/db?host=/run/pg",
        "mariadb://u@h/db",
        "mysql://u@h/db?unix_socket=/x",
    ):
        assert check_address(text).engine in ("postgresql", "mariadb")


# As files for people


def test_a_document_becomes_a_file_and_comes_back() -> None:
    names = {
        "sources": {A: {"name": "people.csv", "options": {"delimiter": ";"}}},
        "uploads": {B: "ages.csv", C: "cities.csv", D: "population.csv"},
        "connections": {D: "postgresql://ana@db/clinic?sslmode=require"},
    }
    data = to_file(FULL, names)
    assert data["source"] == {"path": "people.csv", "delimiter": ";", "missing": ["?"]}
    assert data["columns"]["age"]["hierarchy"] == {"file": "ages.csv"}
    assert data["columns"]["name"]["operation"] == {"encrypt": "env:NAMES"}
    assert data["models"][1] == {"k-map": {"k": 2, "population": "population.csv"}}
    assert data["output"] == {"database": "postgresql://ana:${PASSWORD}@db/clinic?sslmode=require", "table": "public.people"}
    assert not any(id in json.dumps(data) for id in (A, B, C, D))
    mapping = {
        "sources": {"people.csv": A},
        "uploads": {name: id for id, name in names["uploads"].items()},
        "connections": {data["output"]["database"]: D},
    }
    back = from_file(data, mapping)
    assert references(back)["sources"] == {A}
    assert references(back)["uploads"] == {B, C, D}
    assert back["output"] == FULL["output"]
    assert back["columns"]["name"] == {"role": "identifier", "operation": {"encrypt": "secret:NAMES"}}


def test_files_of_others_are_taken_over_as_far_as_they_are_mapped() -> None:
    data = {"source": "people.csv", "output": {"path": "out/release.parquet", "order": "sorted"}}
    assert from_file(data, {"source": A}) == {"source": {"source": A}, "output": {"format": "parquet", "order": "sorted"}}
    for bad, mapping in (
        (data, {}),
        ({**data, "columns": {"a": {"hierarchy": {"file": "/etc/passwd"}}}}, {"source": A}),
        ({**data, "output": {"database": "postgresql://h/db", "table": "t"}}, {"source": A}),
        ({**data, "columns": {"a": {"operation": {"encrypt": KEY}}}}, {"source": A}),
        ({**data, "columns": {"a": {"operation": {"encrypt": f"env:{KEY}"}}}}, {"source": A}),
        (7, {}),
    ):
        with pytest.raises(Invalid) as raised:
            from_file(bad, mapping)
        assert KEY not in str(raised.value)


def test_a_file_for_people_can_be_loaded(hand: AtHand) -> None:
    from velado import Project

    document = hand.hospital(60)
    data = to_file(document, {"sources": {document["source"]["source"]: {"name": "people.csv"}}})
    assert Project.from_dict(data).output.path == Path("release.csv")


# Packed files


def test_packed_files_are_looked_at_before_they_are_unpacked(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("xl/workbook.xml", "x")
        packed.writestr("xl/worksheets/sheet1.xml", b"0" * 60_000_000)
    nested = tmp_path / "nested.xlsx"
    with zipfile.ZipFile(nested, "w") as packed:
        packed.writestr("xl/inner.zip", "x")
    many = tmp_path / "many.xlsx"
    with zipfile.ZipFile(many, "w") as packed:
        for number in range(10_001):
            packed.writestr(f"xl/{number}.xml", "")
    table = tmp_path / "zeros.parquet"
    pyarrow.parquet.write_table(pa.table({"a": ["0" * 1000] * 50_000}), table, use_dictionary=False, compression="zstd")
    one_value = tmp_path / "one.parquet"
    pyarrow.parquet.write_table(pa.table({"a": pa.array(["x"] * 2_000_000).dictionary_encode()}), one_value)
    arrow = tmp_path / "zeros.arrow"
    pyarrow.feather.write_feather(pa.table({"a": ["0" * 1000] * 50_000}), arrow, compression="zstd")
    for path in (bomb, nested, many, table, one_value, arrow):
        with pytest.raises(InputError) as raised:
            check_expansion(path, most=1_000_000)
        assert raised.value.code == "expands-too-much", path
        assert raised.value.fields["limit"] == 1_000_000
    for path in (table, arrow, one_value):
        check_expansion(path)
    for broken in ("x.xlsx", "x.parquet", "x.arrow"):
        (tmp_path / broken).write_bytes(b"PK\x03\x04 nothing")
        check_expansion(tmp_path / broken)


def test_a_bomb_is_refused_in_a_job(hand: AtHand) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("xl/workbook.xml", "x")
        book.writestr("xl/worksheets/sheet1.xml", b"0" * 3_000_000)
    source = hand.source(packed.getvalue(), "people.xlsx")
    with pytest.raises(InputError) as raised:
        hand.do("inspect", source=source, limits={"expanded_bytes": 1_000_000})
    assert raised.value.code == "expands-too-much"
