"""The method fuzzy: what is released is what the definitions say, in every format, verified, and refused where it must be."""

import csv
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import velado
from velado import Column, DistinctDiversity, InputError, KAnonymity, NoSolution, Output, Project, anonymize, fuzzify
from velado.errors import VerificationError
from velado.fuzzy import CMeans, set_labels
from velado.methods import Fuzzy
from velado.methods.fuzzy import MOST_SETS
from velado.methods.fuzzy_labels import labels_of
from velado.models import FuzzyCloseness, FuzzyDiversity, QAnonymity
from velado.tables import open_table
from velado.tables.duckdb.table import DuckDBTable

pytestmark = pytest.mark.judged

QI = ("a", "b")
COLUMNS = [Column("a", "quasi-identifier"), Column("b", "quasi-identifier"), Column("s", "sensitive", exposure="accepted")]


def people(rows: int = 200, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    a = np.where(rng.random(rows) < 0.5, rng.normal(30, 5, rows), rng.normal(60, 8, rows)).round()
    b = (rng.gamma(2, 10, rows) + a / 3).round()
    s = rng.choice(list("uvwxyz"), rows)
    return pa.table({"a": [str(int(x)) for x in a], "b": [str(int(x)) for x in b], "s": s.tolist()})


def degrees_of(point: list[float], centres: list[list[float]], spans: list[float], crisp: bool) -> list[float]:
    """Memberships from the definition: 1/Σ(d_i/d_j)² for c-means, all or nothing for k-means."""
    squares = [sum(((x - v) / span) ** 2 for x, v, span in zip(point, centre, spans, strict=True)) for centre in centres]
    if crisp or min(squares) == 0:
        return [float(i == squares.index(min(squares))) for i in range(len(squares))]
    return [1 / sum(one / other for other in squares) for one in squares]


def label_of(degrees: list[float], names: list[str], decimals: int | None) -> str:
    """The name of the strongest set, or all names with their degrees."""
    strongest = degrees.index(max(degrees))
    if decimals is None:
        return names[strongest]
    shown = [(round(d, decimals), -i) for i, d in enumerate(degrees)]
    kept = sorted((x for x in shown if x[0] > 0), reverse=True) or [(0.0, -strongest)]
    return "; ".join(f"{names[-i]} {d:.{decimals}f}" for d, i in kept)


def doubtful(degrees: list[float], decimals: int | None) -> bool:
    """Whether rounding decides what is shown."""
    first, second = sorted(degrees, reverse=True)[:2]
    if first - second < 1e-6:
        return True
    return decimals is not None and any(abs(d * 10**decimals % 1 - 0.5) < 1e-4 for d in degrees)


@settings(max_examples=25, deadline=None)
@given(
    rows=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9), st.sampled_from("xyz")), min_size=8, max_size=40),
    partition=st.sampled_from(["c-means", "k-means"]),
    joint=st.booleans(),
    sets=st.integers(2, 4),
    decimals=st.sampled_from([None, 1, 2]),
    k=st.integers(2, 4),
)
def test_the_release_is_what_the_definitions_say(rows, partition, joint, sets, decimals, k) -> None:
    points = [[float(a), float(b)] for a, b, _ in rows]
    assume(all(len({p[j] for p in points}) >= sets for j in (0, 1)))
    table = pa.table({"a": [str(a) for a, _, _ in rows], "b": [str(b) for _, b, _ in rows], "s": [s for *_, s in rows]})
    method = Fuzzy(partition, joint=joint, sets=sets, degrees=decimals, suppression=1.0, restarts=2)
    codings = fuzzify(table, QI, method=method).found.fuzzy.codings
    shown: list[list[str]] = []
    for point in points:
        labels = {}
        for coding in codings:
            places = [QI.index(c) for c in coding.columns]
            spans = [max(p[j] for p in points) - min(p[j] for p in points) for j in places]
            degrees = degrees_of([point[j] for j in places], coding.centres.tolist(), spans, partition == "k-means")
            assume(not doubtful(degrees, decimals))
            for i, column in enumerate(coding.columns):
                order = sorted(range(sets), key=lambda c, i=i, coding=coding: coding.centres[c][i])
                names = [set_labels(sets)[order.index(c)] for c in range(sets)]
                labels[column] = label_of(degrees, names, decimals)
        shown.append([labels[c] for c in QI])
    sizes = Counter(map(tuple, shown))
    expected = Counter((*x, s) for x, (*_, s) in zip(shown, rows, strict=True) if sizes[tuple(x)] >= k)
    if not expected:
        with pytest.raises(NoSolution):
            anonymize(table, COLUMNS, [KAnonymity(k)], method)
        return
    release = anonymize(table, COLUMNS, [KAnonymity(k)], method)
    assert Counter(zip(*(release.table[c].to_pylist() for c in "abs"), strict=True)) == expected
    assert release.evaluation.suppressed == len(rows) - expected.total()
    assert release.evaluation.class_size["min"] == min(n for n in sizes.values() if n >= k)


@pytest.mark.parametrize(
    ("shape", "points", "labels"),
    [
        ("triangular", [20, 40, 60], {20: "low", 29: "low", 30: "low", 31: "middle", 50: "middle", 51: "high", 90: "high"}),
        ("trapezoidal", [20, 30, 50, 60], {20: "low", 25: "low", 26: "middle", 54: "middle", 55: "middle", 56: "high"}),
    ],
)
def test_sets_drawn_by_hand(shape: str, points: list[float], labels: dict[int, str]) -> None:
    """Of two equal degrees the lower set is shown."""
    ages = [age for age in labels for _ in range(2)]
    table = pa.table({"age": [str(x) for x in ages]})
    method = Fuzzy(breakpoints={"age": points}, shape=shape)
    output = Output(order="keep")
    release = anonymize(table, [Column("age", "quasi-identifier")], [KAnonymity(2)], method, output=output)
    assert release.table["age"].to_pylist() == [labels[age] for age in ages]
    named = replace(method, names={"age": ["young", "grown", "old"]}, degrees=2)
    release = anonymize(table, [Column("age", "quasi-identifier")], [KAnonymity(2)], named, output=output)
    shown = dict(zip(ages, release.table["age"].to_pylist(), strict=True))
    assert shown[20] == "young 1.00"
    assert shown[31 if shape == "triangular" else 26] == (
        "grown 0.55; young 0.45" if shape == "triangular" else "grown 0.60; young 0.40"
    )


def test_labels_without_room_for_their_degrees() -> None:
    """The strongest set is named also where all degrees round to nothing; who belongs to no set is no one's."""
    memberships = np.array([[0.04] * 24 + [0.04], [0.0] * 25, [1.0] + [0.0] * 24])
    memberships[0, 7] += 0.001
    names = [f"n{i}" for i in range(25)]
    texts, codes = labels_of(memberships, names, 1)
    assert [texts[c] for c in codes] == ["n7 0.0", "*", "n0 1.0"]
    texts, codes = labels_of(memberships, names)
    assert [texts[c] for c in codes] == ["n7", "*", "n0"]


K3, Q4, L3 = [KAnonymity(3)], [QAnonymity(4), KAnonymity(2)], [FuzzyDiversity(3, "s")]
T = [FuzzyCloseness(0.5, "s"), DistinctDiversity(2, "s")]


@pytest.mark.parametrize(
    ("partition", "joint", "models"),
    [
        *(("c-means", joint, models) for joint in (False, True) for models in (K3, Q4, L3, T)),
        *(("k-means", True, models) for models in (K3, L3)),
        *(("global-recode", False, models) for models in (Q4, T)),
        ("gustafson-kessel", True, L3),
    ],
    ids=lambda x: "+".join(m.name for m in x) if isinstance(x, list) else str(x),
)
def test_auto_is_the_most_sets_with_which_all_models_hold(partition: str, joint: bool, models: list[Any]) -> None:
    table = people(100)
    held = []
    for sets in range(2, MOST_SETS + 1):
        try:
            tried = fuzzify(table, QI, ["s"], models=models, method=Fuzzy(partition, joint=joint, sets=sets, restarts=1))
        except NoSolution:
            continue
        assert all(v.satisfied for v in tried.evaluation.models)
        held.append(sets)
    method = Fuzzy(partition, joint=joint, restarts=1)
    if not held:
        with pytest.raises(NoSolution):
            anonymize(table, COLUMNS, models, method)
        return
    release = anonymize(table, COLUMNS, models, method)
    assert release.search.value == max(held)
    assert [v.name for v in release.evaluation.models] == [m.name for m in models]


def test_auto_with_names_tries_as_many_sets() -> None:
    release = anonymize(people(), COLUMNS, [KAnonymity(2)], Fuzzy(names={"a": ["p", "q", "r"]}))
    assert release.search.value == 3
    assert set(release.table["a"].to_pylist()) <= {"p", "q", "r"}
    with pytest.raises(NoSolution, match="with 3 sets"):
        anonymize(people(), COLUMNS, [KAnonymity(150)], Fuzzy(names={"a": ["p", "q", "r"]}))


def test_auto_leaves_out_numbers_of_sets_that_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Crossed sets multiply; a number of sets that was asked for is refused instead."""
    rows = fuzzify(people(), QI).found.classes.frequency.rows
    for name in ("velado.methods.fuzzy.MOST_CELLS", "velado.fuzzy.memberships.MOST_CELLS"):
        monkeypatch.setattr(name, rows * 5 * 5)
    release = anonymize(people(), COLUMNS, [KAnonymity(2)], Fuzzy(suppression=1.0))
    assert release.search.value == 5
    with pytest.raises(InputError) as caught:
        anonymize(people(), COLUMNS, [KAnonymity(2)], Fuzzy(sets=6, suppression=1.0))
    assert caught.value.code == "too-many-classes"
    drawn = Fuzzy(suppression=1.0, breakpoints={"a": [20, 30, 50, 60]}, shape="trapezoidal")
    assert anonymize(people(), COLUMNS, [KAnonymity(2)], drawn).search.value == 8


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "xlsx", "arrow"])
@pytest.mark.parametrize("degrees", [None, 1])
def test_every_format_holds_the_same_labels(suffix: str, degrees: int | None, tmp_path: Path) -> None:
    method = Fuzzy(sets=3, degrees=degrees, suppression=0.9, names={"a": ["=low", "m;i,d", 'hi"gh']})
    expected = anonymize(people(), COLUMNS, [KAnonymity(2)], method)
    release = anonymize(people(), COLUMNS, [KAnonymity(2)], method, output=tmp_path / f"out.{suffix}")
    assert release.evaluation.models == expected.evaluation.models
    with open_table(tmp_path / f"out.{suffix}") as table:
        counts = table.count([*QI, "s"])
    texts = [[d[c] for c in codes] for d, codes in zip(counts.dictionaries, counts.codes, strict=True)]
    found = Counter()
    for row, n in zip(zip(*texts, strict=True), counts.counts.tolist(), strict=True):
        found[tuple(x.removeprefix("'") for x in row)] += n
    assert found == Counter(zip(*(expected.table[c].to_pylist() for c in (*QI, "s")), strict=True))


@pytest.mark.parametrize("suppressed", ["drop", "asterisks"])
def test_outliers_are_suppressed(suppressed: str, tmp_path: Path) -> None:
    table = pa.table({"a": [str(x) for x in [*range(10, 40), 900, 901, 902]] * 2, "s": ["x", "y", "z"] * 22})
    columns = [Column("a", "quasi-identifier"), Column("s", "sensitive")]
    method = Fuzzy("global-recode", sets=3, outliers="fences", suppression=0.2)
    output = Output(tmp_path / "out.csv", suppressed=suppressed)
    release = anonymize(table, columns, [KAnonymity(5)], method, output=output)
    with open(tmp_path / "out.csv", encoding="utf-8") as file:
        shown = Counter(row["a"] for row in csv.DictReader(file))
    assert shown == Counter({"low": 20, "middle": 20, "high": 20, **({"*": 6} if suppressed == "asterisks" else {})})
    assert release.evaluation.suppressed == 6
    again = velado.evaluate(table, tmp_path / "out.csv", project=Project(table, tuple(columns), (KAnonymity(5),), method, output))
    assert (again.suppressed, again.starred) == (6, release.evaluation.starred)
    with pytest.raises(NoSolution, match=r"6 record\(s\) would be suppressed"):
        anonymize(table, columns, [KAnonymity(5)], replace(method, suppression=0.05))


def rewritten(change: Any) -> Any:
    """A writer that changes the rows of the file afterwards."""
    write = DuckDBTable.write

    def changed(self: DuckDBTable, recoded: Any, target: Any) -> Any:
        result = write(self, recoded, target)
        with open(target.path, newline="", encoding="utf-8") as file:
            header, *rows = csv.reader(file)
        with open(target.path, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([header, *change(rows)])
        return result

    return changed


TAMPERED = {
    "a label moved": lambda rows: [["high" if rows[0][0] != "high" else "low", *rows[0][1:]], *rows[1:]],
    "two labels swapped": lambda rows: [[{"low": "high", "high": "low"}.get(r[0], r[0]), *r[1:]] for r in rows],
    "sensitive values moved": lambda rows: [[*rows[i][:2], rows[i - 1][2]] for i in range(len(rows))],
    "a row lost": lambda rows: rows[1:],
}


@pytest.mark.parametrize("case", TAMPERED)
def test_a_release_that_is_not_what_was_judged_is_not_published(case: str, tmp_path: Path, monkeypatch) -> None:
    """Fuzzy models are judged on memberships, which are not written: what was written must be those very classes."""
    monkeypatch.setattr(DuckDBTable, "write", rewritten(TAMPERED[case]))
    with pytest.raises(VerificationError):
        anonymize(people(), COLUMNS, [QAnonymity(3, 0.2)], Fuzzy(sets=3), output=tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


def test_the_tampering_is_the_reason(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(DuckDBTable, "write", rewritten(lambda rows: rows))
    anonymize(people(), COLUMNS, [QAnonymity(3, 0.2)], Fuzzy(sets=3), output=tmp_path / "out.csv")
    assert (tmp_path / "out.csv").exists()


def test_a_project_file_gives_the_same_release(tmp_path: Path) -> None:
    method = Fuzzy(breakpoints={"a": [30, 60]}, sets=2, names={"b": ["few", "many"]}, suppression=0.5)
    models = (QAnonymity(5, 0.2, "median"), KAnonymity(3), FuzzyDiversity(2, "s"), FuzzyCloseness(0.9, "s", "ordered"))
    with open(tmp_path / "people.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([people().column_names, *zip(*people().to_pydict().values(), strict=True)])
    columns = (*COLUMNS[:-1], Column("s", "sensitive", hierarchy={"order": sorted(set(people()["s"].to_pylist()))}))
    project = Project(tmp_path / "people.csv", columns, models, method, Output(tmp_path / "out.csv"), folder=tmp_path)
    project.save(tmp_path / "project.yaml")
    loaded = Project.load(tmp_path / "project.yaml")
    assert (loaded.method, loaded.models, loaded.digest()) == (method, models, project.digest())
    first, second = velado.run(project), velado.run(tmp_path / "project.yaml")
    assert first.evaluation == second.evaluation
    assert first.manifest["evaluation"]["fuzzy"]["q"] == first.evaluation.fuzzy.q
    measured = velado.evaluate(None, None, project=tmp_path / "project.yaml")
    assert measured.fuzzy == first.evaluation.fuzzy
    assert measured.models == first.evaluation.models
    applied = first.recoding.apply(pa.table({"a": ["30", "9999"], "b": [people()["b"][0].as_py()] * 2, "s": ["u", "v"]}))
    assert applied.suppressed >= 1


def test_evaluation_refuses_another_release(tmp_path: Path) -> None:
    method = Fuzzy(sets=3, suppression=0.2)
    project = Project(people(), tuple(COLUMNS), (KAnonymity(3),), method, Output(tmp_path / "out.csv"))
    velado.run(project)
    with pytest.raises(InputError) as caught:
        velado.evaluate(people(seed=1), tmp_path / "out.csv", project=project)
    assert caught.value.code == "not-corresponding"


def test_dates_are_partitioned_and_told_as_dates() -> None:
    days = [f"{year}-0{month}-15" for year in (1950, 1951, 1990, 1991) for month in (1, 4, 7) for _ in range(5)]
    table = pa.table({"born": days})
    release = anonymize(table, [Column("born", "quasi-identifier", type="date")], [KAnonymity(5)], Fuzzy(sets=2))
    assert Counter(release.table["born"].to_pylist()) == {"low": 30, "high": 30}
    centres = [s.centre["born"] for s in release.evaluation.fuzzy.partitions[0].sets]
    assert [c[:4] for c in centres] == ["1950", "1990"]
    with pytest.raises(InputError, match="dates"):
        anonymize(
            table, [Column("born", "quasi-identifier", type="date")], [KAnonymity(5)], Fuzzy(breakpoints={"born": [1960, 1980]})
        )


def test_the_centre_of_a_small_set_is_not_told() -> None:
    """It could be a person's own value; nor are the limits of intervals."""
    table = pa.table({"a": [str(x) for x in [*range(20, 60), 977]]})
    release = anonymize(table, [Column("a", "quasi-identifier")], [QAnonymity(2)], Fuzzy("k-means", sets=2))
    assert [s.centre is None for s in release.evaluation.fuzzy.partitions[0].sets] == [False, True]
    assert "977" not in str(release.manifest)
    cut = Fuzzy("global-recode", sets=2, intervals="equidistant")
    release = anonymize(table, [Column("a", "quasi-identifier")], [QAnonymity(2)], cut)
    assert not any(number in str(release.manifest["evaluation"]["fuzzy"]) for number in ("977", "498.5"))


# Bad input


def fails(table: dict[str, list[Any]], method: Fuzzy, columns: Any = None) -> InputError:
    with pytest.raises(InputError) as caught:
        anonymize(pa.table(table), columns or [Column(c, "quasi-identifier") for c in table], [KAnonymity(2)], method)
    return caught.value


NUMBERS = [str(x) for x in range(10)]


@pytest.mark.parametrize(
    ("table", "method", "code", "column"),
    [
        ({"a": ["7"] * 10, "b": NUMBERS}, Fuzzy(), "constant-column", "a"),
        ({"a": ["7"] * 10}, Fuzzy("global-recode", sets=3), "constant-column", "a"),
        ({"a": ["7"] * 10, "b": NUMBERS}, Fuzzy(joint=True), "constant-column", "a"),
        ({"a": ["1", "2"] * 5}, Fuzzy(sets=3), "too-few-points", "a"),
        ({"a": ["1", "2"] * 5, "b": ["1", "2"] * 5}, Fuzzy(joint=True, sets=3), "too-few-points", None),
        ({"a": [*NUMBERS, None]}, Fuzzy(), "not-finite", "a"),
        ({"a": [*NUMBERS, "NaN"]}, Fuzzy(), "not-numeric", "a"),
        ({"a": [*NUMBERS, "many"]}, Fuzzy(), "not-numeric", "a"),
        ({"a": NUMBERS}, Fuzzy(breakpoints={"a": [5, 2]}), "bad-breakpoints", "a"),
        ({"a": NUMBERS}, Fuzzy(breakpoints={"a": [2, 2]}), "bad-breakpoints", "a"),
        ({"a": NUMBERS}, Fuzzy(breakpoints={"a": [2]}), "bad-breakpoints", "a"),
        ({"a": NUMBERS}, Fuzzy(breakpoints={"a": [2, math.nan]}), "bad-breakpoints", "a"),
        ({"a": NUMBERS}, Fuzzy(breakpoints={"a": [2, 3, 4]}, shape="trapezoidal"), "bad-breakpoints", "a"),
        ({"a": NUMBERS}, Fuzzy(breakpoints={"age": [2, 3]}), "unknown-column", "age"),
        ({"a": NUMBERS}, Fuzzy(names={"b": ["x", "y"]}), "unknown-column", "b"),
        ({"a": NUMBERS}, Fuzzy(sets=3, names={"a": ["x", "y"]}), "bad-names", "a"),
        ({"a": NUMBERS}, Fuzzy(sets=2, names={"a": ["x", "x"]}), "bad-names", "a"),
        ({"a": NUMBERS}, Fuzzy(sets=2, names={"a": ["x", " "]}), "bad-names", "a"),
        ({"a": NUMBERS}, Fuzzy(sets=2, names={"a": ["x", "*"]}), "bad-names", "a"),
        ({"a": NUMBERS, "b": NUMBERS}, Fuzzy(joint=True, breakpoints={"a": [2, 3]}), "not-joint", None),
        ({"a": NUMBERS, "b": NUMBERS}, Fuzzy("global-recode", joint=True), "not-joint", None),
        ({"a": NUMBERS}, Fuzzy("global-recode", sets=2, intervals="logEqui"), "not-positive", "a"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_bad_input(table: dict, method: Fuzzy, code: str, column: str | None) -> None:
    error = fails(table, method)
    assert (error.code, error.column) == (code, column)


def test_ordered_categories_are_no_numbers() -> None:
    column = Column("a", "quasi-identifier", hierarchy={"order": ["s", "m", "l"]})
    assert fails({"a": ["s", "m", "l"] * 3}, Fuzzy(), columns=[column]).code == "not-numeric"


def test_a_singular_covariance_is_regularized_and_reported() -> None:
    table = pa.table({"a": [str(x) for x in range(40)], "b": [str(2 * x) for x in range(40)]})
    found = fuzzify(table, QI, method=Fuzzy("gustafson-kessel", joint=True, sets=2))
    assert found.evaluation.fuzzy.partitions[0].regularized == (0, 1)


def test_that_the_sets_did_not_come_to_rest_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Fuzzy, "_method", lambda self, sets: CMeans(sets, iterations=1))
    assert fuzzify(people(), ["a"]).evaluation.fuzzy.partitions[0].converged is False
    monkeypatch.undo()
    assert fuzzify(people(), ["a"]).evaluation.fuzzy.partitions[0].converged is True
