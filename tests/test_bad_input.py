"""Bad input, unreachable demands, full disks and interruptions: a clear message, the right exit code, nothing left."""

import hashlib
import json
import math
import os
import pty
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import velado
from case_loop import failures
from conftest import VELADO, Command, Ended
from velado.errors import MOST_VALUES
from velado.methods import METHODS, method_from
from velado.models import MODELS, model_from
from velado.parameters import FLAG, Choice, ColumnName, FileName, Levels, Limit, Lists, Number, Size, Weights, Word
from velado.samples import hospital

QI = "quasi-identifier"
RUN = ("run", "project.yaml", "--json")
Fails = Callable[..., dict[str, Any]]


def contents(folder: Path) -> dict[str, str]:
    """Every file and folder below a folder, hidden ones too, with a digest of what is in it."""
    return {
        str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() if p.is_file() else "folder"
        for p in sorted(folder.rglob("*"))
    }


@pytest.fixture(scope="session")
def secrets(patients: pa.Table) -> list[str]:
    """What must never be shown: all names and national ids."""
    return [value for column in ("name", "national_id") for value in patients[column].to_pylist()]


@pytest.fixture
def fails(tmp_path: Path, main: Command, secrets: list[str]) -> Fails:
    """Run a command that must fail; return the error as it is in the JSON.

    The message holds the given words, the files are what they were before, nobody is named.
    """

    def run(code: str | None, *words: str, exits: int = 2, args: tuple[str, ...] = RUN, by: Command = main) -> dict:
        before = contents(tmp_path)
        ended = by(*args)
        assert ended.code == exits, ended
        assert "Traceback" not in ended.err + ended.out
        assert ended.err.startswith("Error: ")
        for word in words:
            assert word in ended.err
        assert contents(tmp_path) == before
        assert not [s for s in secrets if s in ended.err + ended.out]
        if "--json" not in args:
            assert ended.out == ""
            return {}
        assert list(ended.json) == ["error"]
        error = ended.json["error"]
        assert code is None or error["code"] == code
        assert error["message"].split("\n")[0] in ended.err
        return error

    return run


# Tables


def replaced(number: int, change: Callable[[str], str]) -> Callable[[list[str]], str]:
    """A change of one line of a table; 0 is the header."""
    return lambda lines: "\n".join([*lines[:number], change(lines[number]), *lines[number + 1 :]]) + "\n"


BAD_TABLES: dict[str, tuple[Callable[[list[str]], str | bytes], str | None, list[str]]] = {
    "empty file": (lambda lines: "", "empty-file", ["the file is empty"]),
    "blank lines only": (lambda lines: "\n\n\n", "empty-file", ["no content"]),
    "header only": (lambda lines: lines[0] + "\n", "no-rows", ["header but no rows"]),
    "header without line end": (lambda lines: lines[0], "no-rows", ["header but no rows"]),
    "duplicate column": (replaced(0, lambda h: h.replace("city", "sex")), "duplicate-column", ["columns 4, 6", "unique"]),
    "columns that differ by case": (replaced(0, lambda h: h.replace("city", "SEX")), "duplicate-column", ["columns 4, 6"]),
    "unnamed column": (replaced(0, lambda h: h.replace("city", "")), "unnamed-column", ["column 6"]),
    "too few fields": (replaced(200, lambda r: r.rpartition(",")[0]), "ragged-row", ["line 201", "8 fields", "has 9"]),
    "too many fields": (replaced(200, lambda r: r + ",7"), "ragged-row", ["line 201", "10 fields", "has 9"]),
    "too few in the first row": (replaced(1, lambda r: "x"), "ragged-row", ["line 2 "]),
    "too many in the last row": (replaced(400, lambda r: r + ",7"), "ragged-row", ["line 401"]),
    "quote never closed": (replaced(10, lambda r: '"' + r), "ragged-row", ["line 11", "quote"]),
    "bytes of no encoding": (lambda lines: lines[0].encode() + b"\n1,\x81\n2,\x93\n" * 9, None, []),
    "one row": (lambda lines: "\n".join(lines[:2]), "table-too-small", ["only 1"]),
}


@pytest.mark.parametrize("case", BAD_TABLES)
def test_bad_table(case: str, write_project, fails: Fails, tmp_path: Path, patients_csv: str) -> None:
    change, code, words = BAD_TABLES[case]
    write_project()
    data = change(patients_csv.splitlines())
    (tmp_path / "patients.csv").write_bytes(data if isinstance(data, bytes) else data.encode())
    named = [] if code == "table-too-small" else ["patients.csv"]
    fails(code, *words, *named, exits=1 if code == "table-too-small" else 2)


@pytest.mark.parametrize(
    "args",
    [
        RUN,
        ("check", "patients.csv", "--qi", "sex", "--json"),
        ("inspect", "patients.csv", "--json"),
        ("init", "patients.csv"),
        ("hierarchy", "project.yaml", "sex"),
    ],
)
def test_missing_table(args: tuple[str, ...], write_project, fails: Fails, tmp_path: Path) -> None:
    write_project()
    (tmp_path / "patients.csv").unlink()
    fails("missing-file", "patients.csv", "not found", args=args)


@pytest.mark.parametrize("suffix", ["parquet", "xlsx", "arrow"])
def test_file_that_is_not_what_its_name_says(suffix: str, write_project, fails: Fails, tmp_path: Path) -> None:
    write_project(source={"path": f"table.{suffix}"})
    (tmp_path / f"table.{suffix}").write_text("this is a text")
    fails("unreadable-file", f"table.{suffix}")


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ({"encoding": "utf-8"}, "wrong-encoding", ["not utf-8", "encoding: latin-1"]),
        ({"encoding": "utf-99"}, "wrong-encoding", ["'utf-99'"]),
        ({"encoding": "base64"}, "wrong-encoding", ["base64"]),
        ({"delimiter": ";;"}, "bad-delimiter", ["';;'"]),
        ({"quote": "''"}, None, ["quote"]),
        ({"format": "sas"}, "unknown-format", ["'sas'", "parquet"]),
        ({"delimeter": ";"}, "unknown-option", ["Did you mean 'delimiter'"]),
    ],
    ids=str,
)
def test_bad_reading_option(
    options: dict, code: str, words: list[str], write_project, fails: Fails, tmp_path: Path, patients_csv: str
) -> None:
    write_project(source={"path": "patients.csv", **options})
    (tmp_path / "patients.csv").write_bytes(patients_csv.encode("latin-1"))
    fails(code, *words)


def test_wrong_byte_far_behind_the_start(write_project, fails: Fails, tmp_path: Path, patients_csv: str) -> None:
    """The encoding is guessed from the beginning of a file; a wrong byte may come a million later."""
    write_project()
    header, *rows = patients_csv.encode("ascii", "replace").splitlines(keepends=True)
    data = header + b"".join(rows) * 60 + rows[0].replace(b"male", b"mal\xe9")
    assert len(data) > 1 << 20
    (tmp_path / "patients.csv").write_bytes(data)
    fails("wrong-encoding", "patients.csv", "not utf-8")


@pytest.mark.parametrize(
    ("table", "code"),
    [
        (pa.table([["a"], ["b"]], names=["sex", "sex"]), "duplicate-column"),
        (pa.table({"sex": pa.array([], pa.string())}), "no-rows"),
        ([["sex"], ["male"]], "unknown-table"),
        (None, "unknown-table"),
    ],
    ids=["duplicate column", "no rows", "list", "None"],
)
def test_bad_table_in_memory(table: Any, code: str) -> None:
    with pytest.raises(velado.InputError) as caught:
        velado.anonymize(table, [velado.Column("sex", QI)], [velado.KAnonymity(2)])
    assert caught.value.code == code


# Project files


BAD_PROJECTS = {
    "invalid": ("columns: {sex: [1\nname: }\n", "bad-yaml", ["line 2"]),
    "tab": ("name: x\ncolumns:\n\tsex: 1\n", "bad-yaml", ["line 3"]),
    "duplicate key": ("name: a\nname: b\n", "bad-yaml", ["line 2", "'name' is written twice"]),
    "duplicate column": ("columns:\n  sex: {role: sensitive}\n  sex: {role: sensitive}\n", "bad-yaml", ["line 3", "'sex'"]),
    "list as key": ("name: x\n? [a, b]\n: 1\n", None, []),
    "empty": ("", "bad-project", ["mapping"]),
    "list": ("- a\n", "bad-project", ["mapping"]),
    "not YAML at all": ("\0\1\2", "bad-yaml", []),
    "not UTF-8": (b"name: caf\xe9\n", "unreadable-file", []),
}


@pytest.mark.parametrize("case", BAD_PROJECTS)
def test_bad_project_text(case: str, fails: Fails, tmp_path: Path) -> None:
    text, code, words = BAD_PROJECTS[case]
    (tmp_path / "project.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    fails(code, "project.yaml", *words)


@pytest.mark.parametrize(
    ("changes", "code", "words"),
    [
        ({"modles": []}, "unknown-key", ["'modles'", "Did you mean 'models'"]),
        ({"output": {"pth": "x.csv"}}, "unknown-key", ["'pth'", "Did you mean 'path'"]),
        ({"columns": {"city": {"role": "sensitive", "herarchy": {}}}}, "unknown-key", ["'city'", "Did you mean 'hierarchy'"]),
        ({"columns": {"city": {"role": "quasi"}}}, "bad-role", ["'city'", "'quasi'", "quasi-identifier"]),
        ({"columns": {"city": {"role": "sensitive", "type": "int"}}}, "bad-type", ["'city'", "'int'", "integer"]),
        ({"models": [{"k-anonimity": {"k": 5}}]}, "unknown-model", ["'k-anonimity'", "Did you mean 'k-anonymity'"]),
        ({"method": {"latice": {}}}, "unknown-method", ["'latice'", "Did you mean 'lattice'"]),
        ({"method": {"lattice": {"objective": "los"}}}, None, ["'los'", "Did you mean 'loss'"]),
        ({"method": {"lattice": {"supression": 0}}}, "unknown-parameter", ["'supression'", "Did you mean 'suppression'"]),
        ({"models": [{"k-anonymity": 5}]}, "bad-project", ["k-anonymity", "mapping"]),
        ({"models": "k-anonymity"}, "bad-project", ["models", "list"]),
        ({"models": []}, "missing-key", ["'models'"]),
        ({"source": None}, "missing-key", ["'source'"]),
        ({"velado": 2}, "bad-version", ["2"]),
        ({"output": {"path": "out.csv", "order": "random"}}, "bad-output", ["order", "shuffle", "'random'"]),
        ({"rest": "keep"}, "bad-rest", ["'rest'", "'keep'"]),
    ],
    ids=str,
)
def test_bad_project_content(changes: dict, code: str, words: list[str], write_project, fails: Fails) -> None:
    write_project(**changes)
    fails(code, "project.yaml", *words)


def test_missing_project_file(fails: Fails) -> None:
    fails("missing-file", "project.yaml", "not found", "velado init")


def test_project_that_is_a_folder(fails: Fails, tmp_path: Path) -> None:
    (tmp_path / "project.yaml").mkdir()
    fails("not-a-file", "project.yaml")


# Columns and roles


def test_unknown_column(write_project, fails: Fails) -> None:
    write_project(columns={"citi": {"role": "insensitive"}})
    error = fails("unknown-column", "patients.csv", "'citi'", "Did you mean 'city'")
    assert error["column"] == "citi"


@pytest.mark.parametrize("columns", [{"city": None, "cost": None}, {"city": {}}], ids=["not listed", "listed"])
def test_column_without_role(columns: dict, write_project, fails: Fails) -> None:
    write_project(columns=columns)
    fails("column-without-role", "city", "role", "quasi-identifier")


@pytest.mark.parametrize("rest", ["drop", "insensitive"])
def test_rest_gives_the_other_columns_a_role(rest: str, write_project, tmp_path: Path) -> None:
    velado.run(write_project(columns={"marital_status": None}, rest=rest, allowance=1.0))
    header = (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
    assert ("marital_status" in header) == (rest == "insensitive")


def test_no_quasi_identifier(write_project, fails: Fails) -> None:
    write_project(columns={c: {"role": "insensitive"} for c in ("birth_date", "sex", "postal_code")})
    fails("no-quasi-identifier", "quasi-identifier")


def test_model_of_a_column_that_is_not_sensitive(write_project, fails: Fails) -> None:
    write_project(models=[{"distinct-diversity": {"l": 2, "column": "city"}}])
    fails("not-sensitive", "distinct-diversity", "'city'")


def test_missing_values_where_they_are_rejected(write_project, fails: Fails) -> None:
    write_project(columns={"marital_status": {"role": QI, "missing": "reject"}})
    fails("missing-values", "'marital_status'", "own-category")


# Hierarchies


BAD_HIERARCHIES: list[tuple[list[str], Any, str, list[str]]] = [
    (["7", "8"], {"intervals": [5, 7]}, "not-nested", ["level 2", "'7'", "multiples"]),
    (["7", "8"], {"intervals": [10, 5]}, "not-nested", ["level 2"]),
    (["7", "8"], {"intervals": {"cuts": [[0, 10, 20], [0, 15]]}}, "not-nested", ["level 2", "'15'"]),
    (["7", "8"], {"intervals": {"cuts": [[0, 10, 20], 15]}}, "bad-hierarchy", ["cuts"]),
    (["7", "8"], {"intervals": [-5]}, "bad-hierarchy", ["positive"]),
    (["7", "8"], {"intervals": ["five"]}, "bad-hierarchy", ["'five'"]),
    (["7", "8"], {"intervals": [math.nan]}, "bad-hierarchy", ["nan"]),
    (["7", "x"], {"intervals": [5]}, "not-a-number", ["1 value", "'x'"]),
    (["a", "b"], {"groups": {"g": ["a"], "h": ["a", "b"]}}, "not-nested", ["level 1", "'a'"]),
    (["a", "b"], {"groups": [{"g": ["a"], "h": ["b"]}, {"i": ["g"]}]}, "not-nested", ["level 2", "'h'"]),
    (["a", "b"], {"groups": {"g": None}}, "bad-hierarchy", ["groups"]),
    (["a", "b"], {"tree": {"x": {"g": ["a"]}, "y": {"g": ["b"]}}}, "not-nested", ["level 2", "'g'"]),
    (["a", "b"], {"tree": "x"}, "bad-hierarchy", ["tree"]),
    (["a", "b"], {"mask": "up"}, "bad-hierarchy", ["'up'", "right"]),
    (["2020-01-31", "2020-02-29"], {"dates": ["year", "month"]}, "not-nested", ["level 2", "'2020'"]),
    (["2020-01-31"], {"dates": ["yeer"]}, "bad-hierarchy", ["'yeer'", "Did you mean 'year'"]),
    (["2020-01-31"], {"dates": [["year"]]}, "bad-hierarchy", ["year"]),
    (["31/01/2020"], {"dates": ["year"]}, "not-a-date", ["'31/01/2020'", "format"]),
    (["a", "b"], {"interval": [5]}, "bad-hierarchy", ["Did you mean 'intervals'"]),
    (["a", "b"], {"mask": "right", "path": "/"}, "bad-hierarchy", ["exactly one"]),
    (["a", "b"], "mask", "bad-hierarchy", ["mapping"]),
]


def test_bad_hierarchy() -> None:
    def check(values: list[str], hierarchy: Any, code: str, words: list[str]) -> None:
        with pytest.raises(velado.InputError) as caught:
            velado.build_hierarchy("age", hierarchy, values)
        assert caught.value.code == code
        assert [word for word in ("'age'", *words) if word not in str(caught.value)] == []

    assert failures(check, BAD_HIERARCHIES) == []


BAD_HIERARCHY_FILES = {
    "not nested": ("a;g;x;*\nb;g;y;*\n", {}, "not-nested", ["level 2", "'g'"]),
    "value twice": ("a;g;*\na;h;*\n", {}, "ambiguous-leaf", ["'a'"]),
    "ragged": ("a;g;*\nb;*\n", {}, "ragged-hierarchy", ["'b'"]),
    "empty": ("", {}, "empty-hierarchy", []),
    "encoding": ("a;*\n", {"encoding": "utf-99"}, "wrong-encoding", ["'utf-99'"]),
    "delimiter": ("a;*\n", {"delimiter": ";;"}, None, ["';;'"]),
    "missing": (None, {}, "missing-file", ["not found"]),
}


@pytest.mark.parametrize("case", BAD_HIERARCHY_FILES)
def test_bad_hierarchy_file(case: str, write_project, fails: Fails, tmp_path: Path) -> None:
    text, options, code, words = BAD_HIERARCHY_FILES[case]
    write_project(columns={"sex": {"role": QI, "hierarchy": {"file": "sex.csv", **options}}})
    if text is not None:
        (tmp_path / "sex.csv").write_text(text)
    fails(code, "sex.csv", "column 'sex'", *words)


def test_values_missing_in_a_hierarchy_are_counted_and_five_are_named(
    write_project, fails: Fails, tmp_path: Path, patients: pa.Table
) -> None:
    codes = sorted(set(patients["postal_code"].to_pylist()))
    (tmp_path / "zip.csv").write_text(f"{codes[0]};*\n")
    write_project(columns={"postal_code": {"role": QI, "hierarchy": {"file": "zip.csv"}}})
    error = fails("value-not-in-hierarchy", "column 'postal_code'", f"{len(codes) - 1} value")
    assert error["values"] == codes[1 : 1 + MOST_VALUES]
    assert codes[1 + MOST_VALUES] not in json.dumps(error)


def test_values_missing_in_a_hierarchy_file_name_the_file(write_project, fails: Fails, tmp_path: Path) -> None:
    (tmp_path / "sex.csv").write_text("male;*\n")
    write_project(columns={"sex": {"role": QI, "hierarchy": {"file": "sex.csv"}}})
    fails("value-not-in-hierarchy", "column 'sex'", "'female'", "sex.csv")


def test_hierarchy_of_a_sensitive_column_lacks_a_value(write_project, fails: Fails) -> None:
    write_project(columns={"diagnosis": {"role": "sensitive", "hierarchy": {"tree": {"lung": ["Asthma"]}}}})
    fails("value-not-in-hierarchy", "column 'diagnosis'")


# Demands that no recoding meets


@pytest.mark.parametrize(
    ("model", "code", "words"),
    [
        ({"k-anonymity": {"k": 401}}, "table-too-small", ["401", "only 400", "at most 400"]),
        ({"alpha-k": {"alpha": 1.0, "k": 401, "column": "diagnosis"}}, "table-too-small", ["401", "at most 400"]),
        ({"distinct-diversity": {"l": 30, "column": "diagnosis"}}, "too-few-sensitive-values", ["30", "'diagnosis'", "at most 23"]),
        ({"entropy-diversity": {"l": 30.5, "column": "diagnosis"}}, "too-few-sensitive-values", ["30.5", "'diagnosis'"]),
        ({"recursive-diversity": {"c": 2, "l": 30, "column": "diagnosis"}}, "too-few-sensitive-values", ["30", "'diagnosis'"]),
        ({"alpha-k": {"alpha": 0.01, "k": 2, "column": "diagnosis"}}, "no-solution", ["alpha=0.01", "reaches", "0.085"]),
        ({"entropy-diversity": {"l": 22.9, "column": "diagnosis"}}, "no-solution", ["entropy-diversity", "reaches"]),
    ],
    ids=str,
)
def test_demand_that_cannot_be_met(model: dict, code: str, words: list[str], write_project, fails: Fails) -> None:
    write_project(models=[model])
    fails(code, *words, exits=1)


# Parameters of every model and method


def good_value(parameter: Any) -> Any:
    """Some value that a parameter allows."""
    if isinstance(parameter, Number):
        return parameter.high if math.isfinite(parameter.high) else int(max(parameter.low, 0)) + 2
    if isinstance(parameter, Lists):
        return {"sex": [1, 2.5] if parameter.numbers else ["low", "high"]}
    some: dict[type, Any] = {
        ColumnName: "diagnosis",
        Levels: {"sex": 1},
        Weights: {"sex": 2},
        Size: "1GB",
        Limit: 1,
        FileName: "people.csv",
    }
    return parameter.options[0] if isinstance(parameter, Choice) else some[type(parameter)]


def bad_values(parameter: Any) -> list[Any]:
    """Values that a parameter must refuse, whatever it means."""
    if isinstance(parameter, Number):
        bad = ["five", "", True, False, math.nan, math.inf, -math.inf, -1, -0.5, [5], {}]
        bad += [] if parameter.word is None else [parameter.word.upper(), [parameter.word]]
        bad += [] if parameter.optional else [None]
        bad += [0] if parameter.low > 0 or parameter.low_open else []
        bad += [2.5] if parameter.integer else []
        bad += [parameter.high + 1] if math.isfinite(parameter.high) else []
        return bad
    if isinstance(parameter, Choice):
        return ["no-such-word", None, -1, 0.5, []] + ([0, 1, "yes", "true"] if parameter.options == FLAG else [True])
    if isinstance(parameter, (ColumnName, Word)):
        return ["", None, 5, True, ["diagnosis"]]
    if isinstance(parameter, Limit):
        return ["much", "", "-3 records", "3", None, True, math.nan, -0.5, 1.5, 2, [5], {}]
    if isinstance(parameter, Size):
        return ["much", "-1GB", 0, 1.5, "1 XB", True, []]
    if isinstance(parameter, Lists):
        other = ["low"] if parameter.numbers else [1]
        return [None, 3, "sex", ["sex"], {"sex": 1}, {"sex": "low"}, {"sex": []}, {"sex": other}, {"sex": [True]}, {"sex": None}]
    if isinstance(parameter, Weights):
        return [None, 3, "sex", ["sex"], {"sex": -1}, {"sex": 0}, {"sex": True}, {"sex": None}, {"sex": math.inf}]
    return [None, 3, "sex", ["sex"], {"sex": -1}, {"sex": 1.5}, {"sex": True}, {"sex": None}]


KINDS = {**MODELS, **METHODS}
MAKE = {**dict.fromkeys(MODELS, model_from), **dict.fromkeys(METHODS, method_from)}


def nonsense() -> Iterator[tuple[str, dict[str, Any], str, Any]]:
    """Every parameter of every model and method with every bad value: the name, good values of all, and a bad one of one."""
    for name, kind in KINDS.items():
        good = {p: good_value(declared) for p, declared in kind.parameters.items()}
        for parameter, declared in kind.parameters.items():
            yield from ((name, good, parameter, bad) for bad in bad_values(declared))


def test_every_parameter_refuses_nonsense() -> None:
    def check(name: str, good: dict[str, Any], parameter: str, bad: Any) -> None:
        MAKE[name](name, good)
        with pytest.raises(velado.InputError) as caught:
            MAKE[name](name, {**good, parameter: bad})
        assert caught.value.code == "bad-parameter"
        assert caught.value.exit_code == 2
        assert f"'{parameter}' parameter of {name} must " in str(caught.value)
        assert repr(bad) in str(caught.value)

    assert len(list(nonsense())) > 500
    assert failures(check, nonsense()) == []


def test_the_word_of_a_number_is_allowed() -> None:
    with_word = [(n, p, d.word) for n, k in KINDS.items() for p, d in k.parameters.items() if getattr(d, "word", None)]
    assert with_word == [("fuzzy", "sets", "auto")]
    for name, parameter, word in with_word:
        assert getattr(MAKE[name](name, {parameter: word}), parameter) == word


def required(name: str) -> set[str]:
    """The parameters without a default."""
    return {f.name for f in fields(KINDS[name]) if f.default is MISSING and f.default_factory is MISSING}


def test_missing_parameters_are_named_and_no_others() -> None:
    def check(name: str) -> None:
        with pytest.raises(velado.InputError) as caught:
            MAKE[name](name, {})
        text = str(caught.value)
        assert name in text
        assert {p for p in KINDS[name].parameters if f"'{p}'" in text} == required(name)
        assert "__init__" not in text

    assert failures(check, [name for name in KINDS if required(name)]) == []


@pytest.mark.parametrize(
    "k", ["-1", "0", "1", "five", "true", ".nan", ".inf", "2.5", "[5]", "null", "1" + "0" * 400], ids=lambda k: k[:5]
)
def test_bad_k_in_a_project_file(k: str, write_project, fails: Fails) -> None:
    path = write_project()
    path.write_text(path.read_text().replace("k: 5", f"k: {k}"))
    fails("bad-parameter", "project.yaml", "'k' parameter of k-anonymity", "whole number of 2 or more")


@pytest.mark.parametrize("levels", [{"sex": 0}, {"sex": 0, "birth_date": 9, "postal_code": 0}, {"cost": 0}])
def test_levels_that_do_not_fit(levels: dict, write_project, fails: Fails) -> None:
    write_project(method={"fixed": {"levels": levels}})
    fails("bad-levels", "level")


# Output


@pytest.mark.parametrize(
    ("output", "code", "words"),
    [
        ({"path": "nowhere/out.csv"}, "unwritable-output", ["nowhere", "does not exist"]),
        ({"path": "folder"}, "unwritable-output", ["folder", "directory"]),
        ({"path": "."}, "unwritable-output", ["directory"]),
        ({"path": "patients.csv"}, "output-is-input", ["patients.csv", "another"]),
        ({"path": "folder/../patients.csv"}, "output-is-input", ["patients.csv"]),
        ({"path": "link.csv"}, "output-is-input", ["link.csv"]),
        ({"path": "project.yaml"}, None, ["project.yaml"]),
        ({"path": "sex.csv"}, None, ["sex.csv"]),
        ({"path": "out.csv", "recoding": "patients.csv"}, None, ["patients.csv"]),
        ({"path": "out.csv", "recoding": "project.yaml"}, None, ["project.yaml"]),
        ({"path": "out.csv", "recoding": "out.csv"}, None, ["out.csv"]),
        ({"path": "out.csv", "recoding": "out.csv.manifest.json"}, None, ["out.csv.manifest.json"]),
        ({"path": "out.csv", "delimiter": '"'}, "bad-output", ["delimiter"]),
        (None, None, ["output"]),
    ],
    ids=str,
)
def test_output_that_cannot_be(output: dict, code: str, words: list[str], write_project, fails: Fails, tmp_path: Path):
    """No file that the run reads may be replaced, no two outputs may be one, and a run must write something."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "sex.csv").write_text("female;*\nmale;*\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "patients.csv")
    write_project(columns={"sex": {"role": QI, "hierarchy": {"file": "sex.csv"}}}, output=output)
    fails(code, *words)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folder_without_permission(write_project, fails: Fails, tmp_path: Path) -> None:
    write_project(output={"path": "closed/out.csv"})
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    fails("unwritable-output", "closed", "permission")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder that takes no files")
@pytest.mark.parametrize("suffix", ["csv", "parquet", "xlsx", "arrow"])
def test_folder_that_takes_no_files(suffix: str, write_project, fails: Fails) -> None:
    write_project(output={"path": f"/proc/velado-test.{suffix}"})
    fails("unwritable-output", "/proc")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("hierarchy", "project.yaml", "sex", "--output", "nowhere/sex.csv"), ["nowhere/sex.csv"]),
        (("hierarchy", "project.yaml", "sex", "--output", "sex.csv", "--delimiter", ";;"), ["delimiter"]),
        (("hierarchy", "project.yaml", "sexx"), ["'sexx'", "Did you mean 'sex'"]),
        (("init", "patients.csv", "--output", "nowhere/project.yaml"), ["nowhere/project.yaml"]),
        (("demo", "--folder", "patients.csv"), ["patients.csv"]),
        (("check", "patients.csv", "--qi", "sexx"), ["'sexx'", "Did you mean 'sex'"]),
        (("check", "patients.csv", "--qi", ","), ["quasi-identifier"]),
        (("check", "patients.csv", "--qi", "sex", "--sensitive", "sex"), ["'sex'"]),
        (("check", "patients.csv", "--qi", "sex", "--tree", "diagnosis"), ["COLUMN=FILE"]),
        (("check", "patients.csv", "--qi", "sex", "--l", "0"), ["l must be", "got 0"]),
        (("check", "patients.csv", "--qi", "sex", "--quote", "''"), ["quote"]),
        (("study", "ub"), ["'ub'", "Did you mean 'ubb'"]),
        (("study", "ubb", "--data", "nowhere"), ["nowhere", "--data"]),
    ],
    ids=" ".join,
)
def test_other_commands_refuse_as_clearly(args: tuple[str, ...], words: list[str], write_project, fails: Fails) -> None:
    write_project()
    fails(None, *words, args=args)


# The real process: exit code and streams as a shell sees them


def test_process_refuses_bad_input(write_project, fails: Fails, shell: Command) -> None:
    write_project(models=[{"k-anonimity": {"k": 5}}])
    fails("unknown-model", "Did you mean 'k-anonymity'", by=shell)
    fails(None, "Did you mean 'k-anonymity'", args=("run", "project.yaml"), by=shell)


@pytest.mark.thorough
def test_process_reports_that_there_is_no_solution(write_project, fails: Fails, shell: Command) -> None:
    write_project(models=[{"k-anonymity": {"k": 401}}])
    fails("table-too-small", "at most 400", exits=1, by=shell)


@pytest.mark.thorough
def test_process_refuses_ragged_rows(write_project, fails: Fails, shell: Command, tmp_path: Path) -> None:
    write_project()
    with open(tmp_path / "patients.csv", "a") as table:
        table.write("Zoe Secret,90000000A,2000-01-01\n")
    error = fails("ragged-row", "line 402", by=shell)
    assert "Secret" not in json.dumps(error)


# Full disks

ROOM = 4096
"""Bytes that a file may have: less than any release of 400 rows."""


@pytest.fixture
def main_without_room(main: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command while no file may grow beyond the limit."""

    def limited(*args: str) -> Ended:
        old = resource.getrlimit(resource.RLIMIT_FSIZE)
        monkeypatch.setattr(sys, "dont_write_bytecode", True)  # it would be cut off, and stay
        resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, old[1]))
        try:
            return main(*args)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, old)

    return limited


@pytest.mark.faults
@pytest.mark.parametrize("suffix", [pytest.param("csv", marks=pytest.mark.quick), "parquet", "xlsx", "arrow"])
def test_full_disk(suffix: str, write_project, fails: Fails, main: Command, main_without_room: Command) -> None:
    """An earlier release stays as it was, and the file that could not be written is named."""
    write_project(output={"path": f"out.{suffix}"})
    assert main(*RUN).code == 0
    fails("disk-full", "the disk is full", f"out.{suffix}", by=main_without_room)


@pytest.mark.faults
def test_full_disk_in_a_process(
    write_project, fails: Fails, main: Command, shell: Command, tmp_path: Path, environment: dict[str, str]
) -> None:
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    write_project()
    assert main(*RUN).code == 0, "compiled kernels are cached before files are limited"
    for name in ("out.csv", "out.csv.manifest.json", "out.csv.private.json"):
        (tmp_path / name).unlink()

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, ROOM))

    fails("disk-full", "the disk is full", by=lambda *args: shell(*args, preexec_fn=limit))


# Interruptions


@pytest.fixture(scope="module")
def many_patients(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table that takes some seconds."""
    import pyarrow.csv

    path = tmp_path_factory.mktemp("many") / "patients.csv"
    pyarrow.csv.write_csv(hospital(300_000), path)
    return path


def signalled(folder: Path, environment: dict[str, str], stage: str, number: int) -> Ended:
    """Run the project on a terminal and send a signal as soon as the progress shows a stage."""
    terminal, side = pty.openpty()
    process = subprocess.Popen([VELADO, *RUN], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=side, encoding="utf-8")
    os.close(side)
    shown, sent, latest = "", False, time.monotonic() + 100
    try:
        while time.monotonic() < latest:
            if not select.select([terminal], [], [], 0.5)[0]:
                continue
            try:
                shown += os.read(terminal, 65536).decode(errors="replace")
            except OSError:  # the other side is closed: the process has ended
                break
            if stage in shown and not sent:
                process.send_signal(number)
                sent = True
        out, _ = process.communicate(timeout=10)
    finally:
        process.kill()
        process.wait()
        os.close(terminal)
    assert sent, f"never came to {stage}: {shown}"
    return Ended(process.returncode, out, shown)


ENDS = {signal.SIGINT: (130, "Interrupted"), signal.SIGTERM: (143, "Terminated")}


@pytest.mark.faults
@pytest.mark.parametrize(
    ("number", "stage"),
    [
        pytest.param(signal.SIGINT, "searching", marks=pytest.mark.quick),
        *((signal.SIGINT, stage) for stage in ("counting", "writing")),
        *((signal.SIGTERM, stage) for stage in ("counting", "searching", "writing")),
    ],
    ids=str,
)
def test_interruption(number: int, stage: str, write_project, many_patients: Path, environment: dict, tmp_path: Path) -> None:
    code, word = ENDS[number]
    write_project(source={"path": str(many_patients)})
    (tmp_path / "tmp").mkdir()
    before = contents(tmp_path)
    ended = signalled(tmp_path, {**environment, "TMPDIR": str(tmp_path / "tmp")}, stage, number)
    assert "Traceback" not in ended.err
    assert ended.code == code
    assert f"{word}; nothing was published" in ended.err
    assert ended.out == ""
    assert contents(tmp_path) == before


@pytest.mark.faults
def test_killed_outright(write_project, many_patients: Path, environment: dict, shell: Command, tmp_path: Path) -> None:
    """A killed process cannot clean up, but publishes nothing; the next run removes what it left."""
    write_project(source={"path": str(many_patients)})
    before = set(contents(tmp_path))
    process = subprocess.Popen([VELADO, *RUN], cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL)
    latest = time.monotonic() + 100
    while not list(tmp_path.glob(".velado-*/new/out.csv")) and process.poll() is None and time.monotonic() < latest:
        time.sleep(0.005)
    process.kill()
    process.wait()
    left = set(contents(tmp_path)) - before
    assert process.returncode == -signal.SIGKILL, "it ended before it could be killed"
    assert left, "it was killed before it had written anything"
    assert not {"out.csv", "out.csv.manifest.json", "out.csv.private.json"} & left
    write_project()
    assert shell(*RUN).code == 0
    assert set(contents(tmp_path)) - before == {"out.csv", "out.csv.manifest.json", "out.csv.private.json"}


# Hostile projects


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"name": ["a"]}, "'name'"),
        ({"source": 5}, "'source'"),
        ({"source": ["patients.csv"]}, "'source'"),
        ({"source": "a\0b.csv"}, "source"),
        ({"source": "n" * 300 + ".csv"}, "source"),
        ({"source": {"path": ["patients.csv"]}}, "'path'"),
        ({"source": {"path": "patients.csv", "missing": {"a": 1}}}, "'missing'"),
        ({"source": {"path": "patients.csv", "missing": [["?"]]}}, "'missing'"),
        ({"output": {"path": {}}}, "'path'"),
        ({"output": {"path": "a\0b.csv"}}, "'path'"),
        ({"output": {"path": "n" * 300 + ".csv"}}, "'path'"),
        ({"output": {"path": "out.csv", "recoding": []}}, "'recoding'"),
        ({"columns": {"sex": {"role": "quasi-identifier", 5: 1}}}, "'5'"),
        ({"columns": {"sex": {"role": "quasi-identifier", None: 1}}}, "'None'"),
        ({"columns": {"sex": {"role": "quasi-identifier", "format": ["%Y", 7]}}}, "'format'"),
        ({"columns": {"birth_date": {"role": "quasi-identifier", "format": "%Y%Y"}}}, "'format'"),
        ({"columns": {"birth_date": {"role": "quasi-identifier", "format": "%Q"}}}, "'format'"),
        ({"columns": {"sex": {"role": "quasi-identifier", "hierarchy": {"file": ["x"]}}}}, "sex"),
        ({"columns": {"sex": {"role": "quasi-identifier", "hierarchy": {"file": "/dev/zero"}}}}, "/dev/zero"),
        ({"columns": {"cost": {"role": "quasi-identifier", "hierarchy": {"intervals": [10**400]}}}}, "width"),
        ({"method": {"mondrian": {"memory": "9" * 400}}}, "'memory'"),
        ({"method": {None: None}}, "None"),
    ],
)
def test_what_cannot_be_is_named(changes: dict, word: str, write_project, fails: Fails) -> None:
    write_project(**changes)
    fails(None, word)


HOSTILE_YAML = {
    "aliases of aliases": (
        "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
        + "".join(f"{b}: &{b} [{', '.join([f'*{a}'] * 10)}]\n" for a, b in zip("abcdefg", "bcdefgh", strict=True)),
        "expands",
    ),
    "aliases of a long text": (f"a: &a {'x' * 100_000}\nb: [{', '.join(['*a'] * 300)}]", "characters"),
    "itself": ("columns: &c {x: *c}", "contains itself"),
    "deep lists": ("[" * 100_000, "nested"),
    "deep mappings": ("{a: " * 3000 + "}" * 3000, "nested"),
    "deep blocks": ("- " * 20_000, "nested"),
    "a long number": ("a: " + "9" * 10_000, "characters"),
    "a number in base 60": ("a: 1" + ":59" * 200_000, "characters"),
    "no such day": ("a: 2020-99-99", "timestamp"),
    "no truth": ("a: !!bool maybe", "bool"),
    "a key that is a list": ("? [a, b]\n: c", "single word"),
    "a program": ("!!python/object/apply:os.system [ls]", "python"),
}


@pytest.mark.parametrize("case", HOSTILE_YAML)
def test_hostile_yaml(case: str, fails: Fails, tmp_path: Path) -> None:
    text, word = HOSTILE_YAML[case]
    (tmp_path / "project.yaml").write_text(text)
    fails("bad-yaml", "project.yaml", word)


def test_a_project_has_a_size(fails: Fails, tmp_path: Path) -> None:
    (tmp_path / "project.yaml").write_text("#" * 10_000_001)
    fails("too-large", "project.yaml")


def test_aliases_that_are_no_bomb_are_fine(write_project, main: Command) -> None:
    path = write_project()
    path.write_text(
        path.read_text()
        .replace("city:\n    role: insensitive", "city: &c\n    role: insensitive")
        .replace("cost:\n    role: insensitive\n    exposure: accepted", "cost: *c")
    )
    assert main("run", "project.yaml").code == 0
