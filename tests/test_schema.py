"""The JSON Schema of project files accepts what can be loaded and refuses what is broken, with the place of the fault.

Every project file of docs, tests and samples is validated; every bad-input case whose fault stands in the file itself is
refused at the place that `Project.check` names, too. What only the data, the disk or arithmetic can show is listed.
"""

from __future__ import annotations

import ast
import json
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator as Validator
from jsonschema import ValidationError

import test_bad_input
from case_loop import failures
from conftest import PROJECT, Command
from harness import cases
from harness.projects import random_case
from test_docs import PAGES, blocks, page_id
from velado import InputError, Project
from velado.errors import way_to
from velado.hierarchies.build import BUILDERS
from velado.models import MODELS
from velado.project.document import KEYS, TABLE_KEYS
from velado.project.schema import PARTS, project_schema
from velado.project.yaml_file import read_yaml
from velado.samples.demo import write_demo


@cache
def validator() -> Validator:
    return Validator(project_schema())


def places(error: ValidationError) -> Iterator[str]:
    """Where an error points to: for a key that must not be there, at the key; else at the innermost fault."""
    path = list(error.absolute_path)
    if error.validator == "additionalProperties" and error.schema.get("additionalProperties") is False:
        known = error.schema.get("properties", {})
        yield from (way_to(*path, str(key)) for key in error.instance if key not in known)
    elif error.context:
        deepest = max(len(e.absolute_path) for e in error.context)
        inner = [e for e in error.context if len(e.absolute_path) == deepest]
        yield from (place for e in inner for place in places(e))
        yield way_to(*path)
    else:
        yield way_to(*path)


def refused(project: Any) -> set[str]:
    return {place for error in validator().iter_errors(project) for place in places(error)}


def as_read(project: Any, folder: Path) -> Any:
    """A project as the loader sees it: names and values of columns are texts."""
    path = folder / "project.yaml"
    path.write_text(yaml.dump(project, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return read_yaml(path)


# What is good


def literals() -> Iterator[tuple[str, Any]]:
    """Every project that is written down in a test."""
    for file in sorted(Path(__file__).parent.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if '"columns"' in text and '"source"' in text else ():
            if isinstance(node, ast.Dict) and {"columns", "source"} <= {getattr(k, "value", None) for k in node.keys}:
                try:
                    yield f"{file.name}:{node.lineno}", ast.literal_eval(node)
                except ValueError:
                    continue


@pytest.mark.lint
def test_project_files_of_the_docs_are_valid(tmp_path: Path) -> None:
    def check(page: str, number: int, text: str) -> None:
        path = tmp_path / "project.yaml"
        path.write_text(text, encoding="utf-8")
        assert refused(read_yaml(path)) == set()

    found = [(page_id(page), n, b.body) for page in PAGES for n, b in enumerate(blocks(page)) if b.language == "yaml"]
    assert len(found) > 20
    assert failures(check, found) == []


@pytest.mark.lint
def test_project_files_of_the_tests_are_valid(tmp_path: Path) -> None:
    drawn = [random_case(seed).project for seed in range(20)]
    good = [PROJECT, *cases.PROJECTS, cases.SEVERAL, *drawn]
    for number, project in enumerate(good):
        assert refused(as_read(project, tmp_path)) == set(), number
    written = list(literals())
    assert len(written) > 10
    for where, project in written:
        try:
            Project.from_dict(project, tmp_path)
        except InputError:
            continue
        assert refused(as_read(project, tmp_path)) == set(), where


def test_files_that_velado_writes_are_valid(tmp_path: Path, main: Command) -> None:
    project = write_demo(tmp_path, rows=300)
    assert refused(read_yaml(project)) == set()
    loaded = Project.load(project)
    loaded.save(tmp_path / "saved.yaml")
    assert refused(read_yaml(tmp_path / "saved.yaml")) == set()
    (tmp_path / "small.csv").write_text("age,ill\n" + "31,flu\n45,cold\n" * 20)
    assert main("init", "small.csv").code == 0
    assert refused(read_yaml(tmp_path / "small.yaml")) == set()


def test_what_can_be_loaded_is_valid(tmp_path: Path) -> None:
    """Projects with random changes: the loader and the schema know the same keys, forms and ranges."""
    loaded = 0
    for seed in range(250):
        project = cases.mutated(random.Random(f"schema {seed}"))
        try:
            read = as_read(project, tmp_path)
            Project.from_dict(read, tmp_path)
        except (InputError, yaml.YAMLError):
            continue
        assert refused(read) == set(), (seed, project)
        loaded += 1
    assert loaded > 20


# What is broken


def parameters(test: Any) -> list[tuple[Any, ...]]:
    (mark,) = [m for m in test.pytestmark if m.name == "parametrize"]
    return list(mark.args[1])


def changed(columns: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """The project of the bad-input tests with changes, as their ``write_project`` makes them."""
    project = {**PROJECT, "columns": {**PROJECT["columns"], **(columns or {})}, **changes}
    return {key: value for key, value in project.items() if value is not None}


def of_parameters() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every parameter of every model and method with every bad value."""
    for name, good, parameter, bad in test_bad_input.nonsense():
        spec = {name: {**good, parameter: bad}}
        project = changed(**({"models": [spec]} if name in MODELS else {"method": spec}))
        yield f"{name} {parameter} {bad!r}", project


QI = "quasi-identifier"
BAD_FILES = test_bad_input.BAD_PROJECTS
BROKEN: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "content": [(str(c), changed(**c)) for c, *_ in parameters(test_bad_input.test_bad_project_content)],
    "source": [
        (str(options), changed(source={"path": "patients.csv", **options}))
        for options, *_ in parameters(test_bad_input.test_bad_reading_option)
    ],
    "output": [(str(o), changed(output=o)) for o, *_ in parameters(test_bad_input.test_output_that_cannot_be)],
    "hierarchy": [
        (str(spec), changed(columns={"sex": {"role": QI, "hierarchy": spec}})) for _, spec, *_ in test_bad_input.BAD_HIERARCHIES
    ],
    "k": [
        (k[:5], changed(models=[{"k-anonymity": {"k": yaml.safe_load(k)}}]))
        for k in parameters(test_bad_input.test_bad_k_in_a_project_file)
    ],
    "named": [(str(c), changed(**c)) for c, *_ in parameters(test_bad_input.test_what_cannot_be_is_named)],
    "role": [("no role", changed(columns={"city": {}}))],
}
DISK = "paths are compared with each other, on the disk"
NOT_IN_THE_FILE = {
    "{'encoding': 'utf-8'}": "the file is Latin-1: only its bytes show that",
    "{'encoding': 'utf-99'}": "which encodings there are, Python knows",
    "{'encoding': 'base64'}": "which encodings there are, Python knows",
    "{'path': 'nowhere/out.csv'}": "whether a folder exists, the disk knows",
    "{'path': 'patients.csv'}": DISK,
    "{'path': 'folder/../patients.csv'}": DISK,
    "{'path': 'link.csv'}": DISK,
    "{'path': 'sex.csv'}": DISK,
    "{'path': 'out.csv', 'recoding': 'patients.csv'}": DISK,
    "{'path': 'out.csv', 'recoding': 'project.yaml'}": DISK,
    "{'path': 'out.csv', 'recoding': 'out.csv'}": DISK,
    "{'path': 'out.csv', 'recoding': 'out.csv.manifest.json'}": DISK,
    "None": "a project may be run in Python without an output",
    "{'intervals': [5]}": "the description is good: a value of the data is no number",
    "{'dates': ['year']}": "the description is good: a value of the data is no date of this format",
    "{'intervals': [5, 7]}": "no JSON Schema can say that numbers are multiples of one another",
    "{'intervals': [10, 5]}": "no JSON Schema can say that numbers are multiples of one another",
    "{'intervals': {'cuts': [[0, 10, 20], [0, 15]]}}": "no JSON Schema can say that a list is part of another",
    "{'groups': {'g': ['a'], 'h': ['a', 'b']}}": "no JSON Schema can compare the members of two lists",
    "{'groups': [{'g': ['a'], 'h': ['b']}, {'i': ['g']}]}": "no JSON Schema can compare the members of two lists",
    "{'tree': {'x': {'g': ['a']}, 'y': {'g': ['b']}}}": "no JSON Schema can compare names across a tree",
    str({"source": "n" * 300 + ".csv"}): "how long a name may be, the disk knows",
    str({"output": {"path": "n" * 300 + ".csv"}}): "how long a name may be, the disk knows",
    str({"columns": {"birth_date": {"role": QI, "format": "%Y%Y"}}}): "which formats of dates there are, Python knows",
    str({"columns": {"birth_date": {"role": QI, "format": "%Q"}}}): "which formats of dates there are, Python knows",
    str({"columns": {"sex": {"role": QI, "hierarchy": {"file": "/dev/zero"}}}}): "what a file is, the disk knows",
    "{'dates': ['year', 'month']}": "no JSON Schema knows which calendar unit is part of which",
}
"""Cases of the bad-input tests that the schema cannot refuse, and why."""


def is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("group", [*BROKEN, "parameters"])
def test_broken_projects_are_refused_at_the_place_of_the_fault(group: str, tmp_path: Path) -> None:
    def check(case: str, given: dict[str, Any]) -> None:
        # Parameters are the same in YAML and in Python.
        project = given if group == "parameters" else as_read(given, tmp_path)
        found = refused(project)
        if case in NOT_IN_THE_FILE:
            assert found == set(), "the schema sees it after all: take it from the list"
            return
        problems = problems_of(project, tmp_path)
        assert problems, "the loader takes it"
        assert found or not is_json(project)
        for problem in problems if found else []:
            # The schema may point to a single value where the loader names the parameter.
            below = (problem.path + ".", problem.path + "[")
            assert any(p == problem.path or p.startswith(below) for p in found), (problem.path, found)

    assert failures(check, of_parameters() if group == "parameters" else BROKEN[group]) == []


@pytest.mark.lint
def test_what_the_schema_cannot_see_is_a_case() -> None:
    listed = {case for group in BROKEN.values() for case, _ in group}
    assert set(NOT_IN_THE_FILE) <= listed


def problems_of(project: Any, folder: Path) -> list[Any]:
    try:
        Project.from_dict(project, folder)
    except InputError as error:
        return [error, *error.others]
    return []


# All problems at once


FAULTS: dict[str, Any] = {
    "modles": [],
    "source": {"path": "patients.csv", "delimeter": ";", "skip": -1},
    "columns": {
        "birth_date": {"role": QI, "type": "day", "hierarchy": {"dates": ["year", "yeer"]}},
        "post code": {"role": QI, "hierarchy": {"intervals": [5, 7]}},
        "sex": "quasi",
        "cost": {"role": "insensitive", "operation": {"round": -1}, "missing": "reject"},
        "name": {"role": "identifier", "operation": {"mask": {"kep": 1}}},
    },
    "models": [{"alpha-k": {"alpha": 3, "k": 1}}, {"k-anonimity": {"k": 5}}],
    "method": {"lattice": {"objective": "los", "budgt": 1}},
    "output": {"path": "out.foo", "order": "random"},
    "person": "id",
    "household": "rows",
}
FOUND = {
    "modles": "unknown-key",
    "household": "bad-project",
    "source.delimeter": "unknown-option",
    "source.skip": "bad-option",
    "columns.birth_date.type": "bad-type",
    "columns.birth_date.hierarchy.dates[1]": "bad-hierarchy",
    "columns['post code'].hierarchy.intervals[1]": "not-nested",
    "columns.sex.role": "bad-role",
    "columns.cost.operation.round": "bad-parameter",
    "columns.name.operation.mask.kep": "unknown-parameter",
    "models[0].alpha-k": "missing-parameter",
    "models[0].alpha-k.alpha": "bad-parameter",
    "models[0].alpha-k.k": "bad-parameter",
    "models[1].k-anonimity": "unknown-model",
    "method.lattice.objective": "bad-parameter",
    "method.lattice.budgt": "unknown-parameter",
    "output.path": "unknown-format",
    "output.order": "bad-output",
}


def test_all_faults_of_a_document_are_told_each_at_its_place(tmp_path: Path) -> None:
    found = Project.check(FAULTS)
    assert {e.path: e.code for e in found} == FOUND
    assert {e.column for e in found if e.path.startswith("columns")} == {"birth_date", "post code", "sex", "cost", "name"}
    with pytest.raises(InputError) as caught:
        Project.from_dict(FAULTS, tmp_path)
    assert (caught.value.path, caught.value.code) == (found[0].path, found[0].code)
    assert caught.value.fields["path"] == "modles"
    several = {"tables": {"one": FAULTS | {"source": "a.csv"}, "two": 5}, "models": [{"k-anonymity": {"k": 0}}]}
    paths = {e.path for e in Project.check(several)}
    assert {"tables.one.columns.sex.role", "tables.one.modles", "tables.two"} <= paths


def test_faults_that_only_the_table_shows(write_project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_KEY", raising=False)
    path = write_project(
        columns={
            "citi": {"role": "insensitive"},
            "city": None,
            "name": {"role": "identifier", "operation": {"pseudonymize": {"key": "env:NO_KEY"}}},
            "birth_date": {"role": QI, "type": "date", "format": "%d/%m/%Y"},
            "postal_code": {"role": QI, "hierarchy": {"groups": {"north": ["01001"]}}},
            "marital_status": {"role": QI, "missing": "reject"},
            "sex": {"role": QI, "operation": {"mask": {"keep": 1}}},
        },
        models=[{"k-anonymity": {"k": 5}}, {"distinct-diversity": {"l": 2, "column": "cost"}}],
        output={"path": "patients.csv"},
    )
    before = sorted(p.name for p in path.parent.iterdir())
    found = {e.path: e.code for e in Project.check(path)}
    assert found == {
        "output.path": "output-is-input",
        "columns.name.operation": "no-key",
        "columns.citi": "unknown-column",
        "columns": "column-without-role",
        "columns.birth_date.type": "not-a-date",
        "columns.postal_code.hierarchy": "value-not-in-hierarchy",
        "columns.marital_status.missing": "missing-values",
        "models[1].distinct-diversity.column": "not-sensitive",
        "columns.sex.operation": "bad-operation",
    }
    assert sorted(p.name for p in path.parent.iterdir()) == before
    assert Project.load(path).check()[0].code == "output-is-input"


def test_a_good_project_has_no_problems(write_project, main: Command) -> None:
    assert Project.check(write_project()) == []
    ended = main("validate", "project.yaml")
    assert (ended.code, ended.out) == (0, "project.yaml: no problems found\n")


def test_a_file_that_cannot_be_read_is_one_problem(tmp_path: Path) -> None:
    def check(case: str) -> None:
        text, code, _ = BAD_FILES[case]
        path = tmp_path / "project.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        (problem,) = Project.check(path)
        assert code in (None, problem.code)

    assert failures(check, BAD_FILES) == []


def test_validate_tells_all_problems_in_a_language(write_project, main: Command) -> None:
    write_project(modles=[], models=[{"k-anonymity": {"k": 1}}])
    ended = main("validate", "project.yaml", "--json", "--language", "es")
    assert ended.code == 2
    problems = ended.json["problems"]
    assert [(p["path"], p["code"]) for p in problems] == [("modles", "unknown-key"), ("models[0].k-anonymity.k", "bad-parameter")]
    assert "debe ser un número entero de 2 o más" in problems[1]["message"]
    ended = main("validate", "project.yaml")
    assert ended.code == 2
    assert ended.out.splitlines()[0] == "modles"
    assert "2 problem(s)" in ended.out
    assert main("validate", "nothing.yaml").code == 2


# The schema itself


@pytest.mark.parametrize(
    "language", [pytest.param("en", marks=pytest.mark.lint), *(pytest.param(c, marks=pytest.mark.thorough) for c in ("es", "pt"))]
)
def test_the_schema_is_a_schema(language: str, main: Command) -> None:
    found = project_schema(language)
    Validator.check_schema(found)
    assert found["$id"] == "velado-project-1"
    assert "://" not in found["$id"]
    parts = [one for part, (_, kinds) in PARTS.items() for one in (part, *(f"{part}.{name}" for name in kinds))]
    assert failures(lambda part: Validator.check_schema(project_schema(language, part)), parts) == []
    assert main("schema", "--language", language).json == found
    assert main("schema", "--part", "models.k-anonymity", "--language", language).json["required"] == ["k"]


def test_parts_that_do_not_exist(main: Command) -> None:
    assert "Did you mean 'models'" in main("schema", "--part", "modles").err
    assert "Did you mean 'k-anonymity'" in main("schema", "--part", "models.k-anonimity").err


@pytest.mark.lint
def test_the_schema_has_every_key_and_every_builder() -> None:
    found = project_schema()
    assert set(found["properties"]) == set(KEYS)
    assert set(found["$defs"]["hierarchy"]["properties"]) >= {*BUILDERS, "file"}
    assert set(found["properties"]["tables"]["additionalProperties"]["properties"]) == set(TABLE_KEYS)
