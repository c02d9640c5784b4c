"""``velado fuzzy``: what it shows, writes and refuses."""

import csv
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import yaml

import velado
from conftest import Command
from velado import KAnonymity, fuzzify
from velado.methods import Fuzzy
from velado.models import QAnonymity


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(2)
    rows = zip(rng.integers(18, 90, 250), rng.integers(0, 60, 250), rng.choice(list("uvwx"), 250), ["Ana"] * 250, strict=True)
    path = tmp_path / "people.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([("age", "hours", "ill", "name"), *rows])
    return path


BASE = ("fuzzy", "people.csv", "--qi", "age,hours", "--sensitive", "ill")


def test_it_shows_what_the_api_measures(table: Path, main: Command) -> None:
    before = set(table.parent.iterdir())
    ended = main(*BASE, "--json")
    expected = fuzzify(table, ["age", "hours"], ["ill"], method=Fuzzy(sets=3))
    assert ended.code == 0
    assert ended.json["fuzzy"]["q"] == expected.evaluation.fuzzy.q
    assert ended.json["crisp"]["k"] == expected.evaluation.after.k
    assert (ended.json["models"], ended.json["output"], ended.json["charts"]) == ([], None, [])
    shown = main(*BASE)
    assert shown.code == 0
    for word in ("Sets of age", "Sets of hours", "low", "middle", "high", "largest Q", "Oviedo thesis", "possibility"):
        assert word in shown.out
    assert set(table.parent.iterdir()) == before


@pytest.mark.parametrize(
    ("options", "method", "models"),
    [
        (("--k", "5"), Fuzzy(), [KAnonymity(5)]),
        (
            ("--q", "3", "--possibility", "0.3", "--aggregation", "median", "--joint"),
            Fuzzy(joint=True),
            [QAnonymity(3, 0.3, "median")],
        ),
        (
            ("--k", "3", "--sets", "2", "--partition", "k-means", "--language", "es", "--seed", "4"),
            Fuzzy("k-means", sets=2, language="es", seed=4),
            [KAnonymity(3)],
        ),
        (
            ("--k", "2", "--breakpoints", "age=30,50,70", "--breakpoints", "hours=20,40", "--names", "age=young,grown,old"),
            Fuzzy(breakpoints={"age": [30, 50, 70], "hours": [20, 40]}, names={"age": ["young", "grown", "old"]}),
            [KAnonymity(2)],
        ),
        (
            (
                "--k",
                "2",
                "--breakpoints",
                "age=30,50",
                "--shape",
                "trapezoidal",
                "--sets",
                "2",
                "--degrees",
                "1",
                "--suppression",
                "0.9",
            ),
            Fuzzy(breakpoints={"age": [30, 50]}, shape="trapezoidal", sets=2, degrees=1, suppression=0.9),
            [KAnonymity(2)],
        ),
        (
            (
                "--k",
                "2",
                "--partition",
                "global-recode",
                "--intervals",
                "equidistant",
                "--outliers",
                "fences",
                "--suppression",
                "0.1",
            ),
            Fuzzy("global-recode", intervals="equidistant", outliers="fences", suppression=0.1),
            [KAnonymity(2)],
        ),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, tuple) else "",
)
def test_it_releases_what_anonymize_does(options, method, models, table: Path, main: Command) -> None:
    """Only the columns that were named are in the release."""
    ended = main(*BASE, *options, "--output", "out.csv", "--json")
    assert ended.code == 0
    columns = [velado.Column(c, "quasi-identifier") for c in ("age", "hours")] + [velado.Column("ill", "sensitive")]
    expected = velado.anonymize(table, columns, models, method, rest="drop")
    with open(table.parent / "out.csv", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header == ["age", "hours", "ill"]
    assert Counter(map(tuple, rows)) == Counter(zip(*(expected.table[c].to_pylist() for c in header), strict=True))
    assert ended.json["manifest"] == "out.csv.manifest.json"
    assert [m["satisfied"] for m in ended.json["models"]] == [True]
    assert ("breaks" in ended.json) == (method.partition == "global-recode")
    assert "out.csv" in main(*BASE, *options, "-o", "out.csv").out


@pytest.mark.thorough
def test_charts(table: Path, main: Command) -> None:
    assert main(*BASE, "--joint", "--chart", "sets.svg", "--json").json["charts"] == ["sets.svg"]
    ended = main(*BASE, "--chart", "charts", "--sets", "2", "--json")
    assert sorted(Path(f).name for f in ended.json["charts"]) == sorted(f.name for f in (table.parent / "charts").iterdir())
    assert "charts/partitions.png" in ended.json["charts"]


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--sets", "many"), "bad-parameter", ["'auto' or a whole number", "'many'"]),
        (("--sets", "²"), "bad-parameter", ["'²'"]),
        (("--sets", "1"), "bad-parameter", ["from 2 to 1,000"]),
        (("--partition", "kmeans"), "bad-parameter", ["Did you mean 'k-means'"]),
        (("--breakpoints", "age"), "bad-option", ["COLUMN=VALUE"]),
        (("--breakpoints", "age=young,old"), "bad-option", ["numbers", "young"]),
        (("--breakpoints", "age=30,50", "--breakpoints", "age=40,60"), "bad-option", ["'age'", "twice"]),
        (("--breakpoints", "age=50,30"), "bad-breakpoints", ["'age'", "ascending"]),
        (("--breakpoints", "agee=30,50"), "unknown-column", ["'agee'", "Did you mean 'age'"]),
        (("--names", "age=young,old"), "bad-names", ["3 sets and 2 names"]),
        (("--degrees", "0"), "bad-parameter", ["degrees"]),
        (("--k", "1"), "bad-parameter", ["k-anonymity"]),
        (("--q", "3", "--aggregation", "sum"), "bad-parameter", ["mean"]),
        (("--language", "fr"), "unknown-language", ["en, es, pt"]),
        (("--output", "out.csv"), "no-models", ["no privacy model"]),
        (("--k", "3", "--output", "people.csv"), "output-is-input", ["people.csv"]),
        (("--chart", "sets.gif"), "unknown-format", [".png"]),
        (("--k", "3", "--sets", "2", "--output", "out.csv", "--chart", "sets.gif"), "unknown-format", [".png"]),
        (("--k", "3", "--sets", "2", "--output", "out.csv", "--chart", "no/sets.svg"), "unwritable-output", ["no/sets.svg"]),
        (("--joint", "--partition", "global-recode"), "not-joint", ["one column each"]),
    ],
    ids=" ".join,
)
def test_it_refuses(options: tuple[str, ...], code: str, words: list[str], table: Path, main: Command) -> None:
    before = {p: p.read_bytes() for p in table.parent.iterdir()}
    ended = main(*BASE, *options, "--json")
    assert (ended.code, ended.json["error"]["code"]) == (2, code)
    for word in words:
        assert word in ended.err
    assert {p: p.read_bytes() for p in table.parent.iterdir()} == before


def test_columns_that_are_no_numbers(table: Path, main: Command) -> None:
    ended = main("fuzzy", "people.csv", "--qi", "age,ill", "--json")
    assert (ended.code, ended.json["error"]["code"], ended.json["error"]["column"]) == (2, "not-numeric", "ill")
    with open(table, "a", encoding="utf-8") as file:
        file.write(",3,u,Ana\n")
    ended = main(*BASE, "--json")
    assert (ended.code, ended.json["error"]["code"], ended.json["error"]["column"]) == (2, "not-finite", "age")


def test_sets_drawn_where_nobody_is_are_told(table: Path, main: Command) -> None:
    shown = main(*BASE, "--breakpoints", "age=30,50,1000,2000")
    assert shown.code == 0
    assert "age: nobody belongs to very high; are the breakpoints right?" in shown.out
    assert "hours: nobody" not in shown.out


def test_no_solution(table: Path, main: Command) -> None:
    ended = main(*BASE, "--k", "200", "--output", "out.csv", "--json")
    assert (ended.code, ended.json["error"]["code"]) == (1, "no-solution")
    assert not (table.parent / "out.csv").exists()


def test_what_went_wrong_in_learning_is_said(table: Path, main: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    (table.parent / "line.csv").write_text("a,b\n" + "".join(f"{i},{2 * i}\n" for i in range(50)))
    shown = main("fuzzy", "line.csv", "--qi", "a,b", "--joint", "--partition", "gustafson-kessel", "--sets", "2").out
    assert "a and b: singular covariance, regularized, in the sets low / low, high / high" in shown
    monkeypatch.setattr(Fuzzy, "_method", lambda self, sets: velado.fuzzy.CMeans(sets, iterations=1))
    told = "not converged after 1 iterations"
    assert f"age: {told}" in main(*BASE).out
    columns = {"age": "quasi-identifier", "ill": "sensitive"}
    project = {
        "source": "people.csv",
        "columns": columns,
        "rest": "drop",
        "models": [{"k-anonymity": {"k": 2}}],
        "method": "fuzzy",
        "output": "out.csv",
    }
    (table.parent / "project.yaml").write_text(yaml.safe_dump(project))
    shown = main("run", "project.yaml").out
    assert f"age: {told}" in shown
    assert "fuzzy classes; the largest Q" in shown
