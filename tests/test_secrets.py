"""What must not come out: suppressed people in examples and starred rows, seeds, keys, passwords, headers that are data."""

import csv
import hashlib
import json
import os
import re
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
import yaml

import velado
from case_loop import failures
from velado import Column, InputError, KAnonymity, Mondrian, Output, Project
from velado.errors import VerificationError
from velado.methods import Fixed
from velado.operations import operation_from, read_key
from velado.tables import open_table
from velado.tables.duckdb.table import DuckDBTable

KEY = "8c1d6f0b5e2a97c34410fe6db2a8539c7e05d1f46ab9283c0d7fe1a264b85390"
WRITE = DuckDBTable.write


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("VELADO_KEY", KEY)


def write_csv(path, header, rows):
    with open(path, "w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([header, *rows])
    return path


def write_project(path, **content):
    path.write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return path


# --- Examples of labels ---


TOWNS = ["Aachen", "Bonn", "Bonn", "Bonn", "Calw", "Calw", "Calw", "Dorsten"]
"""One person of Aachen and one of Dorsten are suppressed; Aachen is the first of all labels."""


@pytest.mark.parametrize("method", [{"fixed": {"levels": {"town": 0}}}, {"lattice": {"suppression": 0.3}}], ids=str)
def test_an_example_is_a_label_of_released_people(tmp_path, main, method):
    write_csv(tmp_path / "people.csv", ["town", "ill"], [(town, "flu") for town in TOWNS])
    columns = {"town": {"role": "quasi-identifier"}, "ill": "sensitive"}
    write_project(
        tmp_path / "project.yaml",
        source="people.csv",
        columns=columns,
        models=[{"k-anonymity": {"k": 3}}],
        method=method,
        output="out.csv",
    )
    ended = main("run", "project.yaml")
    assert ended.code == 0
    assert re.search(r"^town +0 +1 +Bonn ", ended.out, re.MULTILINE)
    assert not any(town in ended.out + ended.err for town in ("Aachen", "Dorsten"))


def test_examples_of_local_recodings_are_released_too():
    table = pa.table({"age": ["1", "2", "3", "4", None, None], "ill": list("uvwxyz")})
    columns = [Column("age", "quasi-identifier", type="integer"), Column("ill", "sensitive")]
    release = velado.anonymize(table, columns, [KAnonymity(2)], Mondrian())
    released = {str(x) for x in release.table.column("age").to_pylist()}
    assert set(release.found.examples()) <= released


# --- Noise ---


SALARIES = [1000 + 100 * ((i * 7919) % 701) for i in range(200)]
SPREAD = {"scale": 5000, "decimals": 2}


def noise_of(seed, rows):
    """The published definition of the noise: Laplace from SHA-256 of seed, column and row number."""
    digits = [hashlib.sha256(f"{seed}|salary|0|{row}".encode()).hexdigest()[:13] for row in rows]
    u = np.array([int(d, 16) for d in digits]) / 2**52 + 2.0**-53 - 0.5
    return -SPREAD["scale"] * np.sign(u) * np.log(1 - 2 * np.abs(u))


def recovered(published, seed):
    """Salaries that one row number alone explains: without the noise of that row they are whole hundreds."""
    without = np.asarray(published)[:, None] - noise_of(seed, range(1, len(published) + 1))[None, :]
    fits = np.abs(without / 100 - np.round(without / 100)) * 100 < 0.006
    alone = fits.sum(axis=1) == 1
    return {(int(row) + 1, round(without[i, row])) for i, row in enumerate(fits.argmax(axis=1)) if alone[i]}


def with_noise(path=None, order="shuffle", light=True, **more):
    table = pa.table({"salary": [str(s) for s in SALARIES], "zone": ["a", "b"] * 100})
    columns = (Column("salary", "insensitive", operation={"noise": {**SPREAD, **more}}), Column("zone", "quasi-identifier"))
    models = () if light else (KAnonymity(2),)
    kind = "operations" if light else "models"
    return velado.run(Project(table, columns, models, output=Output(path, order=order), protection=kind))


def test_the_attack_works_on_a_seed_that_is_known():
    release = with_noise(seed=0)
    found = recovered([float(x) for x in release.table.column("salary").to_pylist()], 0)
    assert len(found & set(enumerate(SALARIES, start=1))) > 150


@pytest.mark.parametrize("light", [True, False])
def test_no_seed_that_one_would_try_takes_the_noise_off(light):
    published = [float(x) for x in with_noise(light=light).table.column("salary").to_pylist()]
    truth = set(enumerate(SALARIES, start=1))
    most = max(len(recovered(published, seed)) for seed in range(1001))
    assert most < 30, "what fits by chance; the right seed would explain more than 150"
    assert len(recovered(published, 0) & truth) < 3


def test_every_run_has_noise_of_its_own():
    first, second = (sorted(with_noise().table.column("salary").to_pylist()) for _ in range(2))
    assert first != second


def test_a_named_seed_is_told_and_appears_nowhere(tmp_path):
    release = with_noise(tmp_path / "out.csv", seed=730211, light=False)
    (note,) = release.notes
    assert (note.code, note.column) == ("fixed-seed", "salary")
    assert release.as_dict()["notes"] == [note.as_dict()]
    public = json.dumps([release.manifest, release.as_dict()]) + (tmp_path / "out.csv.manifest.json").read_text()
    assert "730211" not in public + repr(operation_from({"noise": {"scale": 1, "seed": 730211}}))
    assert with_noise().notes == ()


@pytest.mark.parametrize("light", [True, False])
def test_a_named_seed_does_not_go_with_rows_in_their_order(light):
    with pytest.raises(InputError) as caught:
        with_noise(order="keep", seed=7, light=light)
    assert (caught.value.code, caught.value.column) == ("fixed-seed", "salary")
    assert "7" not in str(caught.value)
    assert with_noise(order="keep", light=light).table.num_rows == 200
    first, second = (with_noise(order="sorted", seed=7, light=light).table for _ in range(2))
    assert first.equals(second)


def test_a_shift_that_anybody_can_undo_is_told():
    table = pa.table({"day": ["2024-01-01", "2024-01-05"] * 2, "who": ["a", "b"] * 2})

    def shifted(**more):
        spec = {"shift": {"key": "env:VELADO_KEY", **more}}
        return velado.run(Project(table, (Column("day", operation=spec),), rest="insensitive", protection="operations"))

    assert [n.code for n in shifted().notes] == ["one-shift"]
    known = shifted(days=[3, 3], by="who")
    assert [n.code for n in known.notes] == ["one-shift"]
    assert "days" not in known.manifest["columns"]["day"]["operation"]["shift"]
    assert shifted(by="who").notes == ()


# --- Suppressed records as stars ---


EVERY_KIND = pa.table(
    {
        "id": [f"n{i}" for i in range(7)],
        "ticket": [f"t{i}" for i in range(7)],
        "town": ["a"] * 3 + ["b"] * 3 + ["c"],
        "ill": ["flu", "cold", "flu", "cold", "flu", "cold", "rare"],
        "cost": pa.array([1, 2, 3, 4, 5, 6, 777]),
        "pay": pa.array([1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 777.5]),
        "day": [f"2024-01-0{i + 1}" for i in range(6)] + ["1999-09-09"],
        "ward": ["x", "y", "x", "y", "x", "y", "unique"],
        "note": ["free text"] * 6 + ["about the suppressed"],
        "weight": pa.array([50.5, 60.5, 70.5, 80.5, 90.5, 99.5, 123.25]),
    }
)
KINDS = [
    Column("id", "identifier", operation={"pseudonymize": "env:VELADO_KEY"}),
    Column("ticket", "identifier", operation={"encrypt": "env:VELADO_KEY"}),
    Column("town", "quasi-identifier"),
    Column("ill", "sensitive"),
    Column("cost", "sensitive", operation={"round": 2}),
    Column("pay", "insensitive", operation={"noise": 2}),
    Column("day", "insensitive", operation={"shift": {"key": "env:VELADO_KEY", "by": "id"}}),
    Column("ward", "insensitive", operation={"substitute": {"map": {"x": "1", "y": "2", "unique": "3"}}}),
    Column("note", "insensitive"),
    Column("weight", "insensitive", exposure="accepted"),
]


@pytest.mark.matrix(5)
@pytest.mark.parametrize("method", [Fixed({"town": 0}), velado.Lattice(suppression=0.2), Mondrian()], ids=str)
@pytest.mark.parametrize("where", ["memory", "csv", "parquet", "xlsx", "arrow"])
def test_a_starred_row_shows_nothing_else(tmp_path, where, method):
    path = None if where == "memory" else tmp_path / f"out.{where}"
    release = velado.anonymize(EVERY_KIND, KINDS, [KAnonymity(3)], method, output=Output(path, suppressed="asterisks"))
    with open_table(path or release.table) as table:
        counts = table.count(table.header)
        stars = table.count_constant_rows("*")
    assert stars == release.evaluation.suppressed == (0 if method.name == "mondrian" else 1)
    for dictionary, codes in zip(counts.dictionaries, counts.codes, strict=True):
        assert [dictionary[c] for c in codes].count("*") >= stars


def test_types_stay_where_nobody_is_starred():
    table = EVERY_KIND.slice(0, 6)
    release = velado.anonymize(table, KINDS, [KAnonymity(3)], Fixed({"town": 0}), output=Output(suppressed="asterisks"))
    assert release.table.schema.field("cost").type == pa.int64()
    assert release.table.schema.field("weight").type == pa.float64()


@pytest.mark.parametrize("column", EVERY_KIND.column_names)
def test_a_starred_row_that_shows_something_is_noticed(tmp_path, monkeypatch, column):
    """Whatever the column: one cell of the suppressed record that was written is one too many."""

    def tampered(table, recoded, target):
        WRITE(table, recoded, target)
        rows = list(csv.DictReader(target.path.open(encoding="utf-8")))
        last = next(row for row in rows if set(row.values()) == {"*"})
        last[column] = EVERY_KIND.column(column).to_pylist()[-1]
        write_csv(target.path, rows[0], [row.values() for row in rows])

    monkeypatch.setattr(DuckDBTable, "write", tampered)
    with pytest.raises(VerificationError):
        velado.anonymize(
            EVERY_KIND, KINDS, [KAnonymity(3)], Fixed({"town": 0}), output=Output(tmp_path / "o.csv", suppressed="asterisks")
        )
    assert list(tmp_path.iterdir()) == []


# --- Keys ---


def test_a_key_of_zeros_is_refused(tmp_path, monkeypatch):
    weak = "0" * 64
    monkeypatch.setenv("WEAK", weak)
    (tmp_path / "weak.key").write_text(weak)
    (tmp_path / "weak.key").chmod(0o600)
    for place in ("env:WEAK", "file:weak.key"):
        with pytest.raises(InputError) as caught:
            read_key(place, tmp_path)
        assert caught.value.code == "weak-key"
        assert weak not in json.dumps(caught.value.as_dict())


def test_a_random_key_is_never_called_weak(tmp_path):
    for i in range(300):
        read_key(f"file:{velado.operations.create_key(tmp_path / f'{i}.key')}")


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
@pytest.mark.parametrize("mode", [0o604, 0o644, 0o602, 0o620, 0o666, 0o601])
def test_a_key_file_that_others_can_read_or_change_is_refused(tmp_path, main, mode):
    path = velado.operations.create_key(tmp_path / "secret.key")
    path.chmod(mode)
    write_csv(tmp_path / "t.csv", ["name"], [["e00"]])
    ended = main("decrypt", "t.csv", "--column", "name", "--key", "file:secret.key", "-o", "out.csv", "--json")
    assert (ended.code, ended.json["error"]["code"]) == (2, "exposed-key")
    assert "chmod 600" in ended.json["error"]["hint"]
    path.chmod(0o640)
    assert len(read_key(f"file:{path}")) == 32


PASSWORD = "Hunter2_is_my_password"


@pytest.mark.parametrize("place", [f"env:{PASSWORD}", f"file:{PASSWORD}", f"file:keys/{PASSWORD}", f"file:{PASSWORD}\0"])
@pytest.mark.parametrize("json_", [True, False])
def test_what_stands_in_the_place_of_a_key_is_not_repeated(tmp_path, main, place, json_):
    write_csv(tmp_path / "people.csv", ["id", "age"], [["1", "2"]])
    columns = {"id": {"operation": {"encrypt": {"key": place}}}}
    write_project(tmp_path / "p.yaml", protection="operations", source="people.csv", columns=columns, rest="drop", output="out.csv")
    shown = ["--json"] if json_ else []
    endings = [main("run", "p.yaml", *shown)]
    endings += [main("decrypt", "people.csv", "--column", "id", "--key", place, "-o", "o.csv", *shown)]
    for ended in endings:
        assert ended.code == 2
        assert "velado key FILE" in ended.out + ended.err
        assert PASSWORD not in ended.out + ended.err


def test_velado_key_repeats_nothing_that_is_not_there(tmp_path, main):
    for argument in (KEY, f"nowhere/{PASSWORD}"):
        ended = main("key", argument)
        assert ended.code == 2
        assert KEY not in ended.out + ended.err
        assert PASSWORD not in ended.out + ended.err
    assert list(tmp_path.iterdir()) == []


# --- Addresses with passwords ---


ADDRESSES = [
    "postgresql://me:Tr0ub4dor@host/db",
    "mysql+pymysql://me:Tr0ub4dor@host:3306/db",
    "me:Tr0ub4dor@host",
    "postgresql://host/db?user=me&password=Tr0ub4dor",
    "postgresql://me:a@b/Tr0ub4dor@host/db",
    "https://me:Tr0ub4dor@x.org/t.csv",
    "jdbc:mysql://host/db?password=Tr0ub4dor",
    "postgresql://me:Tr0ub4dor@host/db.csv",
]


PLACES = [
    {"source": None},
    {"source": {"path": None}},
    {"source": {"database": None, "table": "t"}},
    {"output": None},
    {"output": {"path": None}},
    {"output": {"path": "o.csv", "recoding": None}},
    {"rest": None},
    {None: 1},
    {"velado": None},
    {"columns": {"id": None}},
    {"columns": {None: "identifier"}},
    {"models": None},
    {"models": [None]},
    {"method": None},
    {"method": {"lattice": None}},
    {"protection": None},
    {"output": {"path": "o.csv", "order": None}},
    {"columns": {"id": {"role": "identifier", "operation": {"encrypt": None}}}},
    {"columns": {None: {"operation": "x"}}},
    {"source": {"path": "people.csv", "encoding": None}},
    {"source": {"path": "people.csv", "format": None}},
    {"columns": {"id": {"role": "quasi-identifier", "hierarchy": {"file": None}}}},
]


def test_a_password_in_a_project_is_not_repeated(tmp_path, main):
    def filled(thing, address):
        if isinstance(thing, dict):
            return {filled(k, address): filled(v, address) for k, v in thing.items()}
        return [filled(x, address) for x in thing] if isinstance(thing, list) else address if thing is None else thing

    def check(project, address):
        described = {"rest": "drop", "output": "out.csv", **usual, **filled(project, address)}
        write_project(tmp_path / "p.yaml", **described)
        ended = main("run", "p.yaml", "--json")
        assert ended.code == 2
        assert ended.json["error"]
        assert "Error: " in ended.err
        assert "Tr0ub4dor" not in ended.out + ended.err

    write_csv(tmp_path / "people.csv", ["id", "age"], [["n1", "2"]] * 3)
    usual = {"source": "people.csv", "columns": {"id": "quasi-identifier"}, "models": [{"k-anonymity": {"k": 2}}]}
    cases = [*((place, ADDRESSES[i % 3]) for i, place in enumerate(PLACES)), *(({"source": None}, a) for a in ADDRESSES)]
    assert failures(check, cases) == []


COMMANDS = [
    "run A",
    "inspect A",
    "check A --qi age",
    "check people.csv --qi A",
    "init A",
    "evaluate A people.csv --qi age",
    "decrypt A --column id --key env:VELADO_KEY -o o.csv",
    "decrypt people.csv --column id --key A -o o.csv",
    "decrypt people.csv --column A --key env:VELADO_KEY -o o.csv",
    "check people.csv --qi age A",
    "check people.csv --encoding A --qi age",
    "appointments k A --qi age",
    "attack A --qi age",
    "A",
    "run p.yaml --source=A",
    "check people.csv --qi age --l A",
    "key nowhere/A",
]


def test_a_password_on_the_command_line_is_not_repeated(tmp_path, main):
    def check(command, address):
        ended = main(*(part.replace("A", address) if "KEY" not in part else part for part in command.split()), "--json")
        assert ended.code == 2
        assert "Tr0ub4dor" not in ended.out + ended.err

    write_csv(tmp_path / "people.csv", ["id", "age"], [["n1", "2"]] * 3)
    assert failures(check, product(COMMANDS, ADDRESSES[:3])) == []


def test_addresses_are_refused_before_anything_is_made_of_them(tmp_path):
    for address in ADDRESSES:
        for make in (lambda a: velado.Source.of(a, tmp_path), lambda a: Output(tmp_path / a), lambda a: Output(a)):
            with pytest.raises(InputError) as caught:
                make(address)
            assert caught.value.code in ("no-such-engine", "password-in-clear", "bad-address")
            assert "Tr0ub4dor" not in json.dumps(caught.value.as_dict()) + repr(caught.value)


def test_a_file_whose_name_looks_like_an_address_can_be_read(tmp_path):
    path = write_csv(tmp_path / "me:you@home.csv", ["age"], [["1"], ["1"]])
    assert velado.check(path, ["age"]).k == 2


# --- A first line that is data ---


PERSON = ["Zacharias Zweig", "34", "z.zweig@example.org", "1990-05-17", "Zwickau", "zoster"]
OTHERS = [
    [
        f"Person {i}",
        str(30 + i % 7),
        f"p{i}@example.org",
        f"1980-01-{i + 1:02}",
        ["Zwickau", "Ulm"][i % 2],
        ["zoster", "flu"][i % 2],
    ]
    for i in range(12)
]


@pytest.fixture(params=["csv", *(pytest.param(kind, marks=pytest.mark.thorough) for kind in ("semicolons", "xlsx"))])
def headerless(request, tmp_path):
    path = tmp_path / ("t.xlsx" if request.param == "xlsx" else "t.csv")
    if request.param == "xlsx":
        import xlsxwriter

        with xlsxwriter.Workbook(str(path)) as book:
            sheet = book.add_worksheet()
            for i, row in enumerate([PERSON, *OTHERS]):
                sheet.write_row(i, 0, row)
    else:
        with open(path, "w", encoding="utf-8", newline="") as stream:
            delimiter = ";" if request.param == "semicolons" else ","
            csv.writer(stream, delimiter=delimiter).writerows([PERSON, *OTHERS])
    return path.name


def named(*cells):
    return [cell for cell in PERSON if any(cell in text for text in cells)]


def test_nothing_of_a_first_line_that_is_data_is_printed(tmp_path, main, headerless):
    velado.operations.create_key(tmp_path / "k.key")
    write_csv(tmp_path / "slots.csv", ["hour", "capacity"], [["9", "30"]])
    write_csv(tmp_path / "good.csv", ["age"], [["34"], ["34"]])
    described = {"name": "identifier", "age": {"role": "quasi-identifier"}, "city": {"role": "quasi-identifier"}}
    usual = {"source": headerless, "output": "out.csv", "models": [{"k-anonymity": {"k": 2}}]}
    write_project(tmp_path / "p.yaml", columns=described, **usual)
    write_project(tmp_path / "rest.yaml", columns=described, rest="drop", **usual)
    light = {"source": headerless, "output": "out.csv", "protection": "operations"}
    shift = {"shift": {"key": "file:k.key", "by": "name"}}
    write_project(tmp_path / "light.yaml", columns={"seen": {"operation": shift}}, rest="drop", **light)
    commands = [
        ("run", "p.yaml"),
        ("run", "rest.yaml"),
        ("run", "light.yaml"),
        ("estimate", "p.yaml"),
        ("check", headerless, "--qi", "age,city"),
        ("check", headerless, "--qi", "Zwickav"),
        ("check", headerless, "--qi", "35"),
        ("evaluate", headerless, headerless, "--qi", "age,city"),
        ("attack", headerless, "--qi", "age,city", "--sensitive", "illness"),
        ("attack", "good.csv", "--qi", "age", "--external", headerless, "--only", "linkage"),
        ("appointments", "k", headerless, "--qi", "age"),
        ("appointments", "assign", headerless, "slots.csv", "--qi", "age", "-o", "a.csv"),
        ("decrypt", headerless, "--column", "name", "--key", "file:k.key", "-o", "d.csv"),
        ("fuzzy", headerless, "--qi", "age"),
        ("hierarchy", "p.yaml", "age"),
    ]
    for command in commands:
        ended = main(*command, *(() if command[0] == "hierarchy" else ("--json",)))
        assert ended.code == 2, command
        assert "first line" in ended.err, command
        assert not named(ended.out, ended.err), command


def test_a_person_does_not_become_the_header_of_a_release(tmp_path, main, headerless):
    """Whoever takes over what init suggests would publish the first person in the first line: nothing is suggested."""
    ended = main("init", headerless, "-o", "p.yaml")
    assert ended.code == 2
    assert "the first line looks like data" in ended.err
    assert "--no-header" in ended.err
    assert not named(ended.out, ended.err)
    assert not (tmp_path / "p.yaml").exists()


def test_inspect_warns_first(main, headerless):
    assert main("inspect", headerless).out.startswith("Note: the first line looks like data")
    assert main("inspect", headerless, "--json").json["notes"][0]["code"] == "no-header"


def test_names_are_shown_by_place_if_some_may_be_data(tmp_path):
    path = write_csv(tmp_path / "t.csv", ["age", "sex", "2020", "note"], [["1", "f", "7", "a"], ["2", "m", "8", "b"]])
    with pytest.raises(InputError) as caught:
        velado.anonymize(path, [Column("age", "quasi-identifier"), Column("sex", "quasi-identifier")], [KAnonymity(2)])
    assert caught.value.message == "no role is given for: columns 3, 4"


def test_good_headers_still_help(tmp_path, main):
    write_csv(tmp_path / "t.csv", ["age", "sex", "illness"], [["1", "f", "flu"], ["2", "m", "flu"]])
    ended = main("check", "t.csv", "--qi", "agee", "--json")
    assert ended.json["error"]["hint"] == "Did you mean 'age'?"
    ended = main("check", "t.csv", "--qi", "age,sax,illness", "--json")
    assert ended.json["error"]["hint"] == "Did you mean 'sex'?"
    assert "notes" not in main("inspect", "t.csv", "--json").json


def test_a_header_that_says_nothing_known_is_not_listed(tmp_path, main):
    """Names alone look like data to nobody; that no described column is there makes them doubtful."""
    write_csv(tmp_path / "t.csv", ["Zacharias Zweig", "Zwickau"], [["Ana Abreu", "Ulm"], ["Bo Berg", "Bonn"]])
    for qi in ("name,city", "age"):
        ended = main("check", "t.csv", "--qi", qi)
        assert ended.code == 2
        assert not named(ended.out, ended.err)
        assert "first line" in ended.err


def test_equal_names_are_told_by_place(tmp_path, main):
    write_csv(tmp_path / "t.csv", ["Zacharias Zweig", "Zwickau", "zwickau"], [["a", "b", "c"]])
    ended = main("check", "t.csv", "--qi", "a", "--json")
    assert ended.json["error"]["code"] == "duplicate-column"
    assert "columns 2, 3" in ended.json["error"]["message"]
    assert not named(ended.out.lower(), ended.err.lower())
    assert "wickau" not in ended.out + ended.err


# --- Values of identifiers ---


def test_columns_without_a_role_are_not_repeated_in_errors(tmp_path, main):
    write_csv(tmp_path / "o.csv", ["name", "age"], [["Zacharias Zweig", "1"], ["Ana Abreu", "1"]])
    write_csv(tmp_path / "r.csv", ["age"], [["1"], ["1"]])
    write_csv(tmp_path / "slots.csv", ["who", "hour"], [["Zacharias Zweig", "9"], ["Ana Abreu", "10"]])
    commands = [
        ("evaluate", "o.csv", "r.csv", "--qi", "age", "--weights", "name"),
        ("appointments", "assign", "r.csv", "slots.csv", "--qi", "age", "--capacity", "who", "-o", "a.csv"),
    ]
    for command in commands:
        ended = main(*command)
        assert ended.code == 2, command
        assert not any(word in ended.out + ended.err for word in ("Zacharias", "Abreu"))


def test_what_the_engine_says_of_cells_is_not_passed_on(tmp_path):
    from velado.tables.duckdb.errors import translate_error

    error = translate_error(RuntimeError("Conversion Error: Could not convert string 'Zacharias Zweig' to INT32"), "t.csv")
    assert str(error) == "t.csv: the engine cannot do this (Conversion Error)"
