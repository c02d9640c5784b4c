"""Everything describes itself: texts in three languages, parameters, and a model that is added without touching anything else."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import velado
from case_loop import failures
from conftest import Command
from velado import cli
from velado.choices import KINDS, catalog
from velado.declarations import Declaration, Strength, declaration_of
from velado.evaluation.figures import FIGURES
from velado.frequency import Sensitive
from velado.i18n import LANGUAGES
from velado.methods import METHODS
from velado.models import MODELS, checked_figures, figure_none, figure_title, larger_is_safer, strengths
from velado.models.base import Checked, OnSensitive, Rule
from velado.models.diversity import COLUMN
from velado.parameters import Number, build
from velado.sentences import translations


def entries() -> list[tuple[str, str]]:
    """Kind and name of everything in the catalog."""
    return [(kind, entry["name"]) for kind, found in catalog().items() for entry in found]


def entry_of(kind: str, name: str, language: str = "en") -> dict[str, Any]:
    return next(e for e in catalog(language)[kind] if e["name"] == name)


@pytest.mark.lint
def test_every_entry_says_what_it_is_in_every_language() -> None:
    shown = {language: catalog(language) for language in LANGUAGES}

    def check(kind: str, name: str) -> None:
        thing = KINDS[kind].registry()[name]
        about = declaration_of(thing)
        texts = [about.title, about.meaning, *([about.reached] if kind == "models" else [])]
        texts += [p.help for p in getattr(thing, "parameters", {}).values()]
        texts += [t for f in getattr(thing, "checked", {}).values() for t in (f.title, f.none)]
        assert all(texts)
        assert [text for text in texts if not set(translations().get(text, {})) >= {"es", "pt"}] == []
        for found in shown.values():
            entry = next(e for e in found[kind] if e["name"] == name)
            assert entry["title"]
            assert entry["meaning"]
            for parameter in entry["parameters"].get("properties", {}).values():
                assert parameter.get("description") or kind == "hierarchies"

    assert len(entries()) > 80
    assert failures(check, entries()) == []


@pytest.mark.lint
def test_the_catalog_is_json() -> None:
    for language in LANGUAGES:
        assert json.loads(json.dumps(catalog(language), allow_nan=False)) == catalog(language)
    assert catalog("es") != catalog("en") != catalog("pt")
    assert velado.catalog is catalog


@pytest.mark.lint
def test_examples_of_models_are_models() -> None:
    attacks = {entry["name"] for entry in catalog()["attacks"]}

    def check(name: str) -> None:
        (arguments,) = entry_of("models", name)["example"].values()
        model = build(MODELS[name], arguments, name)
        assert set(model.strength) <= set(model.parameters)
        assert model.strength, "something decides how strong a model is"
        stopped = entry_of("models", name)["stops"]
        assert stopped
        assert set(stopped) <= attacks

    assert failures(check, MODELS) == []


@pytest.mark.lint
def test_other_examples_can_be_built() -> None:
    from velado.appointments.planners.registry import PLANNERS
    from velado.hierarchies import build as build_hierarchy
    from velado.operations import operation_from

    for entry in catalog()["methods"]:
        for name, arguments in entry["example"].items():
            build(METHODS[name], arguments, name)
    for entry in catalog()["operations"]:
        assert operation_from(entry["example"]).name == entry["name"]
    for entry in catalog()["planners"]:
        for name, arguments in (entry["example"] or {}).items():
            build(PLANNERS[name], arguments, name)
    values = {
        "intervals": ["31"],
        "dates": ["2026-03-07"],
        "known": ["Brasil"],
        "frequency": {"a": 3},
        "tree": ["flu"],
        "groups": ["clerk"],
        "rows": ["f"],
        "order": ["low"],
        "path": ["a/b"],
    }
    for entry in catalog()["hierarchies"]:
        if entry["name"] != "file":
            assert build_hierarchy("c", entry["example"], values.get(entry["name"], ["1234"])).height


@pytest.mark.lint
def test_one_parameter_has_one_direction_in_all_models() -> None:
    for model in MODELS.values():
        for name, strength in model.strength.items():
            assert strengths()[name].stronger == strength.stronger, (model.name, name)
            assert strengths()[name].symbol == strength.symbol, (model.name, name)


def test_figures_of_check_have_directions() -> None:
    assert {name: larger_is_safer(name) for name in ("l_distinct", "c", "t_ordered", "alpha")} == {
        "l_distinct": True,
        "c": False,
        "t_ordered": False,
        "alpha": False,
    }
    assert figure_title("c", 3) == "recursive (c,ℓ)-diversity with ℓ = 3: c"
    assert figure_none("c", 3).into("es") == "ninguna (una clase tiene menos de 3 valores)"


def test_measures_are_where_the_catalog_says() -> None:
    table = pa.table({"age": ["31", "38", "52", "57"]})
    release = pa.table({"age": ["30-39", "30-39", "50-59", "50-59"]})
    shown = velado.evaluate(table, release, ["age"]).as_dict()
    optional = {"learning", "journalist", "individual", "uniqueness"}
    for name, figure in FIGURES.items():
        found: Any = shown
        for part in figure.at.split("."):
            if part in optional:
                break
            assert part in found, (name, figure.at)
            found = found[part]


def test_methods_say_which_models_they_take() -> None:
    methods = {e["name"]: e for e in catalog()["methods"]}
    assert "average-risk" in methods["lattice"]["models"]
    assert "average-risk" not in methods["mondrian"]["models"]
    assert "q-anonymity" in methods["fuzzy"]["models"]
    assert methods["mondrian"]["recoding"] == "local"
    assert [n for n, e in methods.items() if e["proves"]] == ["lattice", "samarati", "incognito"]
    assert [n for n, e in methods.items() if e["monotone_only"]] == ["samarati", "incognito"]


# The command.


def said(*arguments: str) -> str:
    result = CliRunner().invoke(cli.app, ["catalog", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_the_command_shows_tables_and_json() -> None:
    assert json.loads(said("--json")) == catalog()
    assert set(json.loads(said("models", "--json"))) == {"models"}
    shown = said("models", "k-map")
    assert "population" in shown
    assert "Every released record could belong" in shown
    everything = said()
    assert [name for _, name in entries() if name not in everything] == []


# A model that nobody knew.


@dataclasses.dataclass(frozen=True)
class Spread(OnSensitive):
    """At least so many different values, under another name and with other parameters: an invented model."""

    spread: int
    column: str
    strict: ClassVar[bool] = False
    name: ClassVar[str] = "spread"
    declaration: ClassVar = Declaration(
        "wide spread", "Every class has many different values.", {"spread": 2, "column": "ill"}, "the least spread"
    )
    strength: ClassVar = {"spread": Strength("ς", 1)}
    checked: ClassVar = {"spread": Checked("wide spread: ς", {"spread": 1})}
    parameters: ClassVar = {"spread": Number("fewest values", low=1, integer=True), "column": COLUMN}
    hereditary: ClassVar[bool] = True

    def rules(self, sensitive: Sensitive | None) -> list[Rule]:
        from velado.kernels.measures import DISTINCT

        return [Rule(DISTINCT, self.spread, sensitive)]


PROJECT = """
source: people.csv
columns:
  age: {role: quasi-identifier, hierarchy: {intervals: [10, 20, 100]}}
  ill: {role: sensitive, exposure: accepted}
models: [{spread: {spread: 2, column: ill}}]
output: release.csv
"""


@pytest.fixture
def invented(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setitem(MODELS, "spread", Spread)
    rows = [("31", "flu"), ("34", "flu"), ("38", "asthma"), ("42", "ulcer"), ("44", "ulcer"), ("52", "flu"), ("57", "gout")]
    (tmp_path / "people.csv").write_text("age,ill\n" + "\n".join(",".join(r) for r in rows) + "\n")
    (tmp_path / "project.yaml").write_text(PROJECT)
    return tmp_path / "project.yaml"


@pytest.mark.unjudged
def test_a_new_model_is_everywhere_once_it_is_registered(invented: Path) -> None:
    entry = entry_of("models", "spread")
    assert (entry["title"], entry["symbol"], entry["strength"]["spread"]["safer"]) == ("wide spread", "ς", "larger")
    assert entry["parameters"]["required"] == ["spread", "column"]
    assert "spread" in entry_of("methods", "lattice")["models"]

    release = velado.run(invented)
    assert release.evaluation.models[0].name == "spread"
    assert release.evaluation.models[0].satisfied

    compared = velado.compare(invented, {"spread": [1, 2, 3]})
    assert [s.parameters["spread"] for s in compared.settings] == [1, 2, 3]
    chosen = velado.balance(invented, {"loss": 1.0}, {"spread": [1, 3, 2]}).chosen
    assert chosen.parameters == {"spread": 3}, "larger is stronger"

    checked = velado.check(invented.parent / "people.csv", ["age"], ["ill"], models=[Spread(2, "ill")])
    assert checked.sensitive["ill"]["spread"] == 1
    assert not checked.models[0].satisfied
    assert "spread" in checked_figures()
    result = CliRunner().invoke(cli.app, ["check", str(invented.parent / "people.csv"), "--qi", "age", "--sensitive", "ill"])
    assert "wide spread: ς" in result.output
    result = CliRunner().invoke(cli.app, ["run", str(invented)])
    assert "wide spread" in result.output


@pytest.mark.thorough
@pytest.mark.unjudged
def test_a_new_model_is_in_the_report(invented: Path) -> None:
    pytest.importorskip("jinja2")
    velado.run(invented)
    made = velado.write_report(invented, formats=("html",))
    page = next(Path(p) for p in made if str(p).endswith(".html")).read_text(encoding="utf-8")
    assert "wide spread" in page
    assert "ς ≥ 2" in page
    assert "Every class has many different values." in page


# The reference.


@pytest.mark.lint
def test_the_catalog_page_is_the_catalog() -> None:
    reference = Path(__file__).parent.parent / "docs" / "reference"
    spec = importlib.util.spec_from_file_location("write_catalog", reference / "write_catalog.py")
    assert spec is not None
    assert spec.loader is not None
    writer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(writer)
    assert (reference / "catalog.md").read_text(encoding="utf-8") == writer.page(), "run docs/reference/write_catalog.py"


@pytest.mark.lint
def test_operations_are_documented() -> None:
    text = (Path(__file__).parent.parent / "docs" / "reference" / "operations.md").read_text(encoding="utf-8")
    lacking = []
    for entry in catalog()["operations"]:
        own = text.partition(f"\n## {entry['name']}\n")[2].partition("\n## ")[0]
        lacking += [(entry["name"], p) for p in entry["parameters"]["properties"] if f"`{p}`" not in own]
        lacking += [] if own else [entry["name"]]
    assert lacking == []


def test_the_kind_may_be_left_out(main: Command) -> None:
    assert main("catalog", "k-map").out == main("catalog", "models", "k-map").out
    assert main("catalog", "k-mop").code == 2
