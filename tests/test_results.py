"""Results: written, read and described from their fields alone, and shown without a value of the data."""

from __future__ import annotations

import importlib
import json
import math
import pkgutil
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

import velado
from conftest import Command
from velado import Column, Output, Project
from velado.appointments import anonymity_groups, save_table
from velado.appointments.tables.groups import AnonymityOfTables, Groups
from velado.attacks import Attack, Attacks
from velado.errors import InputError
from velado.evaluation import Balance, Check, Comparison, Evaluation
from velado.questions.inspect import Inspection
from velado.questions.suggest import Suggestion, suggest
from velado.release.result import LightRelease, Release, Releases
from velado.results import IF_SET, UNSAID, Discreet, OrInfinite, OrUnknown, Result, decode
from velado.tables import Source

# The machinery


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Pair(NamedTuple):
    columns: tuple[str, ...]
    count: int


@dataclass(frozen=True)
class Circle:
    radius: float


@dataclass(frozen=True)
class Box:
    sides: tuple[int, int]
    label: str | None = field(default=None, metadata=IF_SET)


@dataclass(frozen=True, repr=False)
class Everything(Result):
    """One field of every kind that results have."""

    SCHEMA: ClassVar[str] = "velado-everything-1"
    ALSO: ClassVar[tuple[str, ...]] = ("area",)
    whole: int
    share: float
    steps: OrInfinite
    belief: OrUnknown
    text: str
    maybe: str | None
    flag: bool
    place: Path | None
    many: tuple[int, ...]
    by_size: dict[int, float]
    shapes: tuple[Circle | Box, ...]
    named: dict[str, Box]
    pairs: list[Pair]
    word: Literal["fold", "distinct"]
    colour: Colour
    anything: Any
    numbers: np.ndarray
    people: dict[str, int] | None = field(default=None, metadata=IF_SET)
    hidden: Any = field(default=None, metadata=UNSAID)

    @property
    def area(self) -> int:
        """Derived."""
        return self.whole**2


numbers = st.floats(allow_nan=False, allow_infinity=False)
boxes = st.builds(Box, st.tuples(st.integers(), st.integers()), st.none() | st.text())
scalars = st.none() | st.booleans() | st.integers() | numbers | st.text()
everything = st.builds(
    Everything,
    whole=st.integers(),
    share=numbers,
    steps=numbers | st.just(math.inf),
    belief=numbers | st.just(math.nan),
    text=st.text(),
    maybe=st.none() | st.text(),
    flag=st.booleans(),
    place=st.none() | st.sampled_from([Path("a.csv"), Path("b/c.csv")]),
    many=st.lists(st.integers()).map(tuple),
    by_size=st.dictionaries(st.integers(), numbers),
    shapes=st.lists(st.builds(Circle, numbers) | boxes).map(tuple),
    named=st.dictionaries(st.text(), boxes),
    pairs=st.lists(st.builds(Pair, st.lists(st.text()).map(tuple), st.integers())),
    word=st.sampled_from(["fold", "distinct"]),
    colour=st.sampled_from(Colour),
    anything=st.recursive(scalars, lambda x: st.lists(x) | st.dictionaries(st.text(), x), max_leaves=4),
    numbers=st.lists(st.integers(-(2**50), 2**50)).map(np.array),
    people=st.none() | st.dictionaries(st.text(), st.integers()),
    hidden=scalars,
)


@given(everything)
def test_what_is_written_is_read_back(x: Everything) -> None:
    said = x.as_dict()
    text = json.dumps(said, allow_nan=False)
    back = Everything.from_dict(json.loads(text))
    assert back.as_dict() == json.loads(text) == said
    Draft202012Validator(Everything.schema()).validate(json.loads(text))
    assert back.hidden is None
    for f in fields(Everything):
        ours, theirs = getattr(x, f.name), getattr(back, f.name)
        if f.name == "numbers":
            assert np.array_equal(ours, theirs)
        elif f.name != "hidden" and ours == ours:  # NaN is no equal of itself
            assert type(ours) is type(theirs)
            assert ours == theirs
    assert math.isnan(x.belief) == math.isnan(back.belief)
    assert "people" not in said or x.people is not None


def places_of(data: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON value."""
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [at, *(place for key, value in inner for place in places_of(value, (*at, key)))]


@given(everything, st.data())
def test_the_reader_refuses_what_the_schema_refuses(x: Everything, data: st.DataObject) -> None:
    said = json.loads(json.dumps(x.as_dict()))
    place = data.draw(st.sampled_from([p for p in places_of(said) if p]))
    wrong = data.draw(st.sampled_from(["?", 7, 1.5, True, [], {}, ["?"], None]) | st.just("gone"))
    part = said
    for key in place[:-1]:
        part = part[key]
    if wrong == "gone":
        del part[place[-1]]
    else:
        part[place[-1]] = wrong
    # No schema can say that the lists of an array are equally long.
    if any(isinstance(number, list) for number in said.get("numbers") or () if isinstance(said["numbers"], list)):
        with suppress(InputError):
            Everything.from_dict(said)
    elif Draft202012Validator(Everything.schema()).is_valid(said):
        Everything.from_dict(said)
    elif wrong is not None and place[0] not in ("area", "numbers") and "schema" in said:
        with pytest.raises(InputError) as caught:
            Everything.from_dict(said)
        assert caught.value.code in ("not-a-result", "other-schema")


def test_an_array_of_lists_and_numbers_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        decode(np.ndarray, [[], 0])
    assert caught.value.code == "not-a-result"


@pytest.mark.parametrize(
    ("data", "code", "says"),
    [
        ({"schema": "velado-evaluation-2"}, "other-schema", "velado-check-1"),
        ({"schema": "velado-check-1"}, "not-a-result", "lacks rows"),
        ([1], "not-a-result", "velado-check-1"),
    ],
)
def test_what_is_no_result_is_refused_with_the_place(data: Any, code: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        Check.from_dict(data)
    assert caught.value.code == code
    assert says in caught.value.text("en")
    assert "JSON" in caught.value.text("es")
    assert caught.value.text("es") != caught.value.text("en")


@pytest.mark.thorough
def test_the_path_of_what_is_wrong_is_told(results: dict[str, Any]) -> None:
    said = results["evaluation"].as_dict()
    said["utility"]["loss"] = "much"
    with pytest.raises(InputError, match=r"utility\.loss should be a number"):
        Evaluation.from_dict(said)
    said = results["comparison"].as_dict()
    said["settings"][1]["evaluation"]["rows"] = 2.5
    with pytest.raises(InputError, match=r"settings\[1\]\.evaluation\.rows should be a whole number"):
        Comparison.from_dict(said)


def test_a_balance_needs_its_choice(results: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="chosen should be a setting of the comparison"):
        Balance.from_dict({**results["balance"].as_dict(), "chosen": {"k": 99}})


def test_keys_of_later_versions_are_passed_over(results: dict[str, Any]) -> None:
    said = results["check"].as_dict()
    assert Check.from_dict({**said, "later": 1}).as_dict() == said


# Real results, of a table whose values nobody can mistake

ZEBRA = re.compile(r"ZEBRA|zebra|7310\d\d|1873-|5550\d\d\d")
"""Texts, numbers, dates and a secret that stand in the tables of this file, and nowhere else."""
ROWS = 120
CITIES = [f"ZEBRA-CITY-{c}" for c in "abcdef"]
REGIONS = {"ZEBRA-NORTH": CITIES[:3], "ZEBRA-SOUTH": CITIES[3:]}
ILLNESSES = [f"ZEBRA-ILL-{c}" for c in "pqrst"]
TREE = {"tree": {"ZEBRA-BODY": [*ILLNESSES[:3], "zebra-ill-P"], "ZEBRA-MIND": ILLNESSES[3:]}}
SUBSTITUTES = {city: f"place {i}" for i, city in enumerate(CITIES)}


def zebras() -> pa.Table:
    return pa.table(
        {
            "name": [f"ZEBRA-NAME-{i}" for i in range(ROWS)],
            "city": [CITIES[i * 7 % 6] for i in range(ROWS)],
            "income": [str(731000 + (i * i) % 37) for i in range(ROWS)],
            "born": [f"1873-{1 + i % 12:02d}-{1 + i % 5:02d}" for i in range(ROWS)],
            "ill": [ILLNESSES[(i * 3 + i // 7) % 5] if i % 11 else "zebra-ill-P" for i in range(ROWS)],
        }
    )


K4 = (velado.KAnonymity(4),)


def columns() -> tuple[Column, ...]:
    return (
        Column("name", "identifier"),
        Column("city", "quasi-identifier", hierarchy={"groups": REGIONS}),
        Column("income", "quasi-identifier", hierarchy={"intervals": [10, 50]}),
        Column("born", "quasi-identifier", type="date", hierarchy={"dates": ["month", "year"]}),
        Column("ill", "sensitive", hierarchy=TREE),
    )


def project(folder: Path, method: Any, models: Any = K4, **more: Any) -> Project:
    output = more.pop("output", Output(folder / f"{method.name}.csv", order="keep"))
    return Project(zebras(), columns(), models, method, output, folder=folder, name="animals", **more)


METHODS = {
    "lattice": velado.Lattice(suppression=0.1, minimal=True),
    "mondrian": velado.Mondrian(),
    "datafly": velado.methods.Datafly(suppression=0.2),
    "samarati": velado.methods.Samarati(suppression=0.2),
    "incognito": velado.methods.Incognito(suppression=0.2),
    "fixed": velado.methods.Fixed({"city": 1, "income": 2, "born": 2}, suppression=0.2),
}


@cache
def made() -> dict[str, Any]:
    """A result of every kind, and what they were made of."""
    import tempfile

    folder = Path(tempfile.mkdtemp())
    found: dict[str, Any] = {name: velado.run(project(folder, method)) for name, method in METHODS.items()}
    diverse = (velado.KAnonymity(4), velado.TCloseness(0.6, "ill"), velado.models.RecursiveDiversity(3, 2, "ill"))
    fixed = velado.methods.Fixed({"city": 0, "income": 1, "born": 2}, suppression=0.5)
    strict = project(folder, fixed, diverse, output=Output(suppressed="asterisks"))
    found["models"] = velado.run(strict)
    numeric = (Column("income", "quasi-identifier"), Column("ill", "sensitive"))
    method = velado.methods.Fuzzy(sets=3)
    found["fuzzy"] = velado.run(Project(zebras(), numeric, (velado.models.QAnonymity(4),), method, rest="drop"))
    found["fuzzification"] = velado.fuzzify(zebras(), ["income"], ["ill"], method=method)
    recode = velado.methods.Fuzzy(partition="global-recode", sets=3)
    found["recode"] = velado.fuzzify(zebras(), ["income"], ["ill"], method=recode)
    velado.operations.create_key(folder / "secret")
    key = f"file:{folder / 'secret'}"
    treated = (
        Column("name", "identifier", operation={"encrypt": {"key": key}}),
        Column("city", "insensitive", operation={"substitute": {"map": SUBSTITUTES}}, exposure="accepted"),
        Column("income", "insensitive", operation={"noise": {"scale": 3, "seed": 5550123}}, exposure="accepted"),
        Column("born", "insensitive", operation="suppress"),
        Column("ill", "sensitive"),
    )
    light = Project(zebras(), treated, output=Output(folder / "light.csv"), protection="operations")
    found["light"] = velado.run(light)
    tame = pa.table({"keeper": [f"ZEBRA-KEEPER-{i % 9}" for i in range(ROWS)]})
    masked = (Column("keeper", "identifier", operation="suppress"),)
    kept = Project(tame, masked, output=Output(folder / "tame.csv"), protection="operations")
    both = {"wild": project(folder, velado.Mondrian(), output=Output(folder / "wild.csv")), "tame": kept}
    found["several"] = velado.run(Project(None, (), name="both", folder=folder, tables=both))
    found["decrypted"] = velado.decrypt(folder / "light.csv", ["name"], key)
    wild = project(folder, velado.Mondrian(), output=Output())
    found["arrived"] = velado.apply(
        velado.run(wild).recoding, zebras(), release=folder / "mondrian.csv", project=wild, unseen="suppress"
    )
    found["evaluation"] = velado.evaluate(
        zebras(), folder / "mondrian.csv", project=project(folder, velado.Mondrian()), target="ill", fraction=0.2, queries=20
    )
    found["check"] = velado.check(zebras(), ["city", "born"], ["ill"], trees={"ill": TREE})
    found["classes"] = velado.check(zebras(), ["city", "born"], ["ill"], classes=True)
    found["inspection"] = velado.inspect_table(zebras())
    found["suggestion"] = suggest(zebras())
    save_table(zebras(), f"sqlite:///{folder / 'wild.sqlite'}#animals")
    found["tables"] = velado.questions.list_tables(folder / "wild.sqlite")
    grid = project(folder, velado.Lattice(suppression=0.05), output=Output())
    found["comparison"] = velado.compare(grid, {"k": [2, 100, 121]})
    found["exploration"] = velado.explore(grid)
    found["balance"] = velado.balance(grid, {"loss": 0.9}, {"k": [2, 3, 121]})
    found["attacks"] = velado.attack(
        folder / "mondrian.csv",
        original=zebras(),
        other=folder / "lattice.csv",
        external=zebras(),
        project=project(folder, velado.Mondrian()),
    )
    found["attack"] = found["attacks"][0]
    found["estimate"] = velado.estimate(grid)
    slots = pa.table({"hour": ["ZEBRA-9", "ZEBRA-10"], "capacity": [70, 50]})
    found["planning"] = velado.appointments.assign_appointments(zebras(), slots, ["city"])
    found["planners"] = velado.appointments.compare_planners(zebras(), slots, ["city"], ["random", "best-fit"], k=20)
    groups = anonymity_groups(zebras(), ["city", "born"])
    found["anonymity"] = AnonymityOfTables((groups.sizes(),))
    found["groups"] = groups
    found["projects"] = (grid, light, Source.of(zebras()), Source.of(folder / "ZEBRA" / "light.csv"))
    return found


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    return made()


KINDS: dict[str, type[Result]] = {
    **dict.fromkeys([*METHODS, "models", "fuzzy"], Release),
    "light": LightRelease,
    "several": Releases,
    "arrived": velado.release.Arrived,
    "evaluation": Evaluation,
    "check": Check,
    "classes": Check,
    "exploration": velado.questions.Exploration,
    "inspection": Inspection,
    "tables": velado.questions.DatabaseTables,
    "suggestion": Suggestion,
    "comparison": Comparison,
    "balance": Balance,
    "attacks": Attacks,
    "attack": Attack,
    "estimate": velado.questions.Estimate,
    "planning": velado.appointments.Planning,
    "planners": velado.appointments.Planning,
    "fuzzification": velado.questions.Fuzzification,
    "recode": velado.questions.Fuzzification,
    "decrypted": velado.questions.Decrypted,
    "anonymity": AnonymityOfTables,
}


@pytest.mark.parametrize("name", KINDS)
def test_real_results_are_read_back(name: str, results: dict[str, Any]) -> None:
    result, kind = results[name], KINDS[name]
    assert type(result) is kind
    said = result.as_dict()
    assert said["schema"] == kind.SCHEMA
    text = json.dumps(said, allow_nan=False)
    Draft202012Validator.check_schema(kind.schema())
    Draft202012Validator(kind.schema()).validate(json.loads(text))
    back = kind.from_dict(json.loads(text))
    assert type(back) is kind
    assert back.as_dict() == json.loads(text)
    assert back.summary() == result.summary()
    assert repr(back) == repr(result)


@pytest.mark.parametrize("name", ["evaluation", "check", "inspection", "comparison", "attack", "estimate", "attacks"])
def test_what_has_all_its_fields_in_the_json_is_equal(name: str, results: dict[str, Any]) -> None:
    result = results[name]
    assert type(result).from_dict(json.loads(json.dumps(result.as_dict()))) == result


def test_what_everybody_may_know_of_a_release(results: dict[str, Any]) -> None:
    """The owner's figures are no part of the JSON: without them it is the same."""
    release = results["models"]
    assert release.public_evaluation.suppressed > 0
    assert release.evaluation.models != release.public_evaluation.models
    nothing = replace(
        release, evaluation=None, private_manifest={}, private_path=None, recoding=None, found=None, table=None, manifest={}
    )
    assert nothing.as_dict() == release.as_dict()
    assert release.as_dict()["search"]["evaluated"] is None
    back = Release.from_dict(release.as_dict())
    assert back.evaluation == back.public_evaluation == release.public_evaluation
    assert back.levels == release.levels == release.recoding.levels
    assert (back.recoding, back.found, back.table, back.manifest, back.private_manifest) == (None, None, None, {}, {})
    assert Release.from_dict(results["lattice"].as_dict()).minimal == results["lattice"].found.minimal


def test_memberships_are_not_in_the_json(results: dict[str, Any]) -> None:
    back = velado.questions.Fuzzification.from_dict(results["recode"].as_dict())
    assert back.breaks == results["recode"].breaks
    with pytest.raises(InputError) as caught:
        _ = back.found
    assert caught.value.code == "not-in-json"


def test_schemas_have_names_and_versions_of_their_own() -> None:
    names = [kind.SCHEMA for kind in set(KINDS.values())]
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"velado-[a-z-]+-[1-9]\d*", name) for name in names)


# Nothing is told at a prompt


def reachable(value: Any, seen: dict[int, Any]) -> None:
    """All objects that a value is made of."""
    if id(value) in seen or isinstance(value, (str, bytes, int, float, type(None), np.ndarray, type)):
        return
    seen[id(value)] = value
    if isinstance(value, dict):
        inner: Any = [*value.keys(), *value.values()]
    elif isinstance(value, (list, tuple, set, frozenset)):
        inner = value
    else:
        inner = [*getattr(value, "__dict__", {}).values()]
    for part in inner:
        reachable(part, seen)


def test_nothing_that_is_reached_from_a_result_shows_a_value(results: dict[str, Any]) -> None:
    seen: dict[int, Any] = {}
    for result in results.values():
        reachable(result, seen)
    ours = [x for x in seen.values() if type(x).__module__.startswith("velado.") and not isinstance(x, Groups)]
    kinds = {type(x).__name__ for x in ours}
    expected = "Release Evaluation Recoding Found Classes FrequencyTable Hierarchy Sensitive Cover SpellingVariants Scale Column "
    expected += "Source Project Exposed Problem Assignment Substitute SetMeasures Fuzzified IntervalAnswers Planned"
    assert set(expected.split()) <= kinds
    shows, long = set(), set()
    for x in [*ours, results["groups"], results["groups"].counts]:
        texts = [repr(x), str(x)]
        if max(map(len, texts)) >= 300:
            long.add(type(x))
        if isinstance(x, Result):
            texts.append(x._repr_html_())
            assert len(texts[-1]) < 10_000
        if any(ZEBRA.search(text) for text in texts):
            shows.add(type(x))
    assert not shows
    assert not long


def test_a_password_is_not_shown() -> None:
    columns = (Column("age", "quasi-identifier"),)
    with pytest.raises(InputError) as caught:
        Project("postgresql://me:ZEBRA@host/db", columns)
    assert caught.value.code == "password-in-clear"
    shown = [str(caught.value), repr(caught.value), repr(Project("postgresql://me:${ZEBRA}@host/db#people", columns))]
    shown.append(repr(replace(Source(), names="unique")))
    assert not any(ZEBRA.search(text) for text in shown)


VALUES = re.compile(r"ndarray|\bAny\b|\bText\b|\bpa\.|csr_array|Hashable|datetime")
"""Types of fields that hold values of the data, or may."""
PARAMETERS = ("Method", "PrivacyModel", "Planner", "Operation", "Attacker", "Clusterer")
"""What is made of the user's own settings shows them."""
ROOMS = {
    "kernels",
    "studies",
    "cli",
    "report",
    "i18n",
    "parameters",
    "parameter_form",
    "progress",
    "importers",
    "publication",
    "duckdb",
    "sql",
    "harness",
    "samples",
}


def test_every_dataclass_with_values_is_discreet() -> None:
    """A dataclass whose fields are more than numbers and words hides them, so that a new one is not forgotten."""
    open_ones = {}
    for module in pkgutil.walk_packages(velado.__path__, "velado."):
        if set(module.name.split(".")) & ROOMS:
            continue
        for kind in vars(importlib.import_module(module.name)).values():
            if not (isinstance(kind, type) and is_dataclass(kind) and kind.__module__ == module.name):
                continue
            if issubclass(kind, Discreet):
                assert kind.__repr__ is Discreet.__repr__, kind
            elif kind.__dataclass_params__.repr and not {c.__name__ for c in kind.__mro__} & set(PARAMETERS):
                types = [str(f.type) for f in fields(kind) if f.repr]
                if any(VALUES.search(t) for t in types):
                    open_ones[kind.__name__] = types
    parameters = {"Verdict", "Prevention", "BalanceDocument", "Variant"}
    declarations = {"Declaration", "Checked", "Kind", "Trial"}
    assert set(open_ones) == parameters | declarations, open_ones


def test_what_is_short_is_shown_and_what_is_long_is_cut() -> None:
    @dataclass(frozen=True, repr=False)
    class Some(Discreet):
        NAMES = ("columns", "method")
        columns: tuple[str, ...]
        method: str
        values: tuple[str, ...]
        share: float
        table: Any

    assert repr(Some(("a", "b"), "m", ("ZEBRA",), 1 / 3, np.zeros((3, 2)))) == (
        "<Some columns: a b, method: m, values: 1, share: 0.3333, table: 3×2>"
    )
    assert len(repr(Some(tuple(f"column {i}" for i in range(500)), "m" * 900, (), 1.0, None))) < 300


def test_html_is_a_table_of_the_summary_and_escaped(results: dict[str, Any]) -> None:
    html = results["lattice"]._repr_html_()
    assert html.startswith("<table")
    assert html.count("<tr>") == len(results["lattice"].summary())
    assert ">120<" in html
    column = "<script>alert(1)</script>"
    assert column not in replace(results["lattice"], project=column)._repr_html_()
    # Colours of the page, light or dark: none of its own.
    assert not re.search(r"(?<!border-)(color|background)\s*:", html)
    assert "#" not in html


# The command line


def test_the_json_of_every_command_fits_its_schema(main: Command, write_project: Callable[..., Path]) -> None:
    """One short run of each command; a command with --json that is not here is missed below."""
    write_project()
    tmp = write_project().parent
    (tmp / "slots.csv").write_text("hour,capacity\n9,200\n10,200\n")
    light = {"protection": "operations", "models": None, "method": None, "output": {"path": "light.csv"}}
    main("key", "secret")
    encrypted = {"national_id": {"role": "identifier", "operation": {"encrypt": {"key": "file:secret"}}}}
    passed = {c: {"role": "insensitive", "exposure": "accepted"} for c in ("birth_date", "postal_code", "sex")}
    write_project(columns={**encrypted, **passed, "name": {"role": "identifier", "operation": "drop"}}, **light)
    (tmp / "project.yaml").rename(tmp / "light.yaml")
    write_project(output={"path": "out.csv", "recoding": "recoding.json"})
    save_table(zebras(), f"sqlite:///{tmp / 'patients.sqlite'}#patients")
    commands: list[tuple[type[Result], str]] = [
        (Release, "run project.yaml"),
        (LightRelease, "run light.yaml"),
        (Release, "demo --folder demo"),
        (velado.release.Arrived, "apply recoding.json patients.csv --release out.csv --output new.csv"),
        (velado.questions.Decrypted, "decrypt light.csv --column national_id --key file:secret --output back.csv"),
        (Check, "check patients.csv --qi sex,city --sensitive diagnosis"),
        (Check, "check patients.csv --qi sex,city --sensitive diagnosis --classes"),
        (velado.questions.Exploration, "explore project.yaml"),
        (Inspection, "inspect patients.csv"),
        (velado.questions.DatabaseTables, "tables patients.sqlite"),
        (velado.questions.Estimate, "estimate project.yaml"),
        (Evaluation, "evaluate --project project.yaml"),
        (Comparison, "compare project.yaml --k 2,5"),
        (Balance, "balance project.yaml --k 2,5 --loss 0.9"),
        (Attacks, "attack --project project.yaml"),
        (velado.questions.Fuzzification, "fuzzy patients.csv --qi cost --sensitive diagnosis"),
        (velado.appointments.Planning, "appointments assign patients.csv slots.csv --qi sex --output given.csv"),
        (velado.appointments.Planning, "appointments compare patients.csv slots.csv --qi sex --methods random,best-fit"),
        (AnonymityOfTables, "appointments k patients.csv --qi sex,city"),
    ]
    for kind, line in commands:
        ended = main(*line.split(), "--json")
        assert ended.code == 0, (line, ended.err, ended.out)
        Draft202012Validator(kind.schema()).validate(ended.json)
        known = ended.json.keys() - {"files", "charts", "output", "manifest"}
        assert known <= kind.from_dict(ended.json).as_dict().keys(), line
