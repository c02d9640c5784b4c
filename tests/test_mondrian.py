"""Mondrian against a plain implementation that cuts record by record."""

import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
import velado
from harness.judge_hook import times
from random_tables import model_strategy, random_hierarchy, tree_in_order, velado_model
from velado import (
    Column,
    Hierarchy,
    InputError,
    KAnonymity,
    Mondrian,
    NoSolution,
    Output,
    Progress,
    Project,
    TCloseness,
    anonymize,
    estimate,
    run,
)
from velado.errors import VerificationError
from velado.evaluation import Pair, Wanted, evaluate
from velado.frequency import FrequencyTable
from velado.progress import Step
from velado.release import count_table
from velado.schema import Schema
from velado.tables import open_table

pytestmark = pytest.mark.judged

DATA = Path(os.environ.get("VELADO_DATA", Path(__file__).parent.parent.parent / "shared" / "data"))
ADULT = DATA / "adult-uci" / "adult.csv"
needs_data = pytest.mark.skipif(not ADULT.exists(), reason="the Adult data are not there (VELADO_DATA)")
NUMERIC = ("age", "capital-gain", "capital-loss", "hours-per-week")


# The plain implementation


class Plain:
    """Records as dictionaries; a column is numeric, or has a tree (rows ``leaf, level 1, …, root``)."""

    def __init__(self, rows: list[dict], qi: list[str], trees: dict[str, list[list[str]]], sensitive_trees: dict) -> None:
        self.rows, self.qi, self.trees, self.sensitive_trees = rows, qi, trees, sensitive_trees
        self.place = {}
        for c, tree in trees.items():
            ordered = sorted(tree, key=lambda row: [self._first(tree, level, row) for level in range(len(row) - 1, -1, -1)])
            self.place[c] = {row[0]: i for i, row in enumerate(ordered)}

    @staticmethod
    def _first(tree: list[list[str]], level: int, row: list[str]) -> int:
        """Groups in order of their first leaf."""
        return next(i for i, other in enumerate(tree) if other[level] == row[level])

    def number(self, record: dict, c: str) -> int:
        return self.place[c][record[c]] if c in self.trees else int(record[c])

    def width(self, part: list[dict], c: str, rule: str, weight: float) -> Any:
        numbers = [self.number(r, c) for r in part]
        reach = max(numbers) - min(numbers)
        if not reach:
            return Fraction(0)
        if rule == "range":
            everybody = [self.number(r, c) for r in self.rows]
            if c in self.trees:
                everybody = list(self.place[c].values())
            return Fraction(reach, max(everybody) - min(everybody)) * Fraction(weight)
        n = len(numbers)
        if rule == "values":
            known = len(self.place[c]) if c in self.trees else len({self.number(r, c) for r in self.rows})
            return Fraction(len(set(numbers)) - 1, known - 1) * Fraction(weight)
        return Fraction(reach * reach, n * sum(x * x for x in numbers) - sum(numbers) ** 2) * Fraction(weight) ** 2

    def satisfied(self, part: list[dict], models: list[dict]) -> bool:
        return all(oracle.satisfies(m, part, self.rows, self.sensitive_trees) for m in models)

    def cuts(self, part: list[dict], c: str, split: str) -> list[list[list[dict]]]:
        """The cuts of a column that may be tried, in order."""
        if len({self.number(r, c) for r in part}) == 1:
            return []
        if c in self.trees:
            paths = {row[0]: row for row in self.trees[c]}
            level = next(x for x in range(len(self.trees[c][0])) if len({paths[r[c]][x] for r in part}) == 1)
            if split == "balanced":
                ordered = sorted(part, key=lambda r: self.place[c][r[c]])
                ends = [i for i in range(1, len(part)) if paths[ordered[i - 1][c]][level - 1] != paths[ordered[i][c]][level - 1]]
                return [[ordered[:i], ordered[i:]] for i in sorted(ends, key=lambda i: (abs(2 * i - len(part)), 2 * i < len(part)))]
            groups: dict[str, list[dict]] = {}
            for r in part:
                groups.setdefault(paths[r[c]][level - 1], []).append(r)
            return [list(groups.values())]
        numbers = sorted(self.number(r, c) for r in part)
        at = [numbers[(len(numbers) - 1) // 2]] if split == "median" else sorted(set(numbers))
        both = [[[r for r in part if self.number(r, c) <= x], [r for r in part if self.number(r, c) > x]] for x in at]
        if split == "balanced":
            both.sort(key=lambda cut: (abs(len(cut[0]) - len(cut[1])), len(cut[0]) < len(cut[1])))
        return [cut for cut in both if cut[1]]

    def relaxed_cuts(self, part: list[dict], c: str, split: str) -> list[list[list[dict]]]:
        """Ordered columns are cut between any two records; ``self.rows`` gives the order of equal ones."""
        if c in self.trees or len({self.number(r, c) for r in part}) == 1:
            return self.cuts(part, c, split)
        n, number = len(part), {id(r): i for i, r in enumerate(self.rows)}
        ordered = sorted(part, key=lambda r: (self.number(r, c), number[id(r)]))
        places = [(n + 1) // 2] if split == "median" else list(range(1, n))
        if split == "balanced":
            places.sort(key=lambda i: (abs(2 * i - n), 2 * i < n))
        return [[ordered[:i], ordered[i:]] for i in places]

    def leaves(
        self, models: list[dict], split: str, rule: str, weights: dict[str, float], relaxed: bool = False
    ) -> list[list[dict]]:
        done, todo = [], [self.rows]
        cuts = self.relaxed_cuts if relaxed else self.cuts
        while todo:
            part = todo.pop()
            by_width = sorted(self.qi, key=lambda c: (-self.width(part, c, rule, weights.get(c, 1)), self.qi.index(c)))
            for c in by_width:
                good = next((x for x in cuts(part, c, split) if all(self.satisfied(p, models) for p in x)), None)
                if good is not None:
                    todo += good
                    break
            else:
                done.append(part)
        return done


@st.composite
def mixed_tables(draw: st.DrawFn) -> Plain:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(2, 40))
    qi = [f"q{j}" for j in range(draw(st.integers(1, 3)))]
    trees = {c: random_hierarchy(rng, c, int(rng.integers(1, 7)), int(rng.integers(1, 4)), True) for c in qi if rng.random() < 0.4}
    sensitive = {"s0": random_hierarchy(rng, "s0", int(rng.integers(1, 5)), 2, True)}
    highest = int(rng.integers(1, 30))

    def cell(c: str) -> str:
        if c in trees:
            return trees[c][int(rng.integers(len(trees[c])))][0]
        return str(int(highest * rng.random() ** 2))

    rows = [{**{c: cell(c) for c in qi}, "s0": sensitive["s0"][int(rng.integers(len(sensitive["s0"])))][0]} for _ in range(n)]
    return Plain(rows, qi, trees, sensitive)


def frequency_of(plain: Plain, models: Any = ()) -> FrequencyTable:
    columns = [
        Column(c, "quasi-identifier", hierarchy=Hierarchy.from_rows(c, plain.trees[c]))
        if c in plain.trees
        else Column(c, "quasi-identifier", type="integer")
        for c in plain.qi
    ]
    tree = tree_in_order("s0", plain.sensitive_trees["s0"])
    columns.append(Column("s0", "sensitive", hierarchy=tree, exposure="accepted"))
    with open_table(pa.table({c: [r[c] for r in plain.rows] for c in [*plain.qi, "s0"]})) as table:
        return count_table(table, Schema(columns), models)


def as_sets(plain: Plain, leaves: list[list[dict]]) -> list[tuple]:
    return sorted(tuple(sorted(tuple(r[c] for c in plain.qi) for r in leaf)) for leaf in leaves)


@settings(max_examples=times(40, 500), deadline=None)
@given(
    plain=mixed_tables(),
    models=st.lists(model_strategy(), min_size=1, max_size=2),
    split=st.sampled_from(["median", "distribution", "balanced"]),
    width=st.sampled_from(["range", "std", "values"]),
    heavy=st.booleans(),
)
def test_equals_cutting_record_by_record(plain: Plain, models: list[dict], split: str, width: str, heavy: bool) -> None:
    weights = {plain.qi[-1]: 2} if heavy else {}
    ours = [velado_model(m) for m in models]
    frequency = frequency_of(plain, ours)
    method = Mondrian(split=split, width=width, weights=weights)
    if not plain.satisfied(plain.rows, models):
        with pytest.raises(NoSolution):
            method.search(frequency, ours)
        return
    found = method.search(frequency, ours)
    leaves = plain.leaves(models, split, width, weights)
    texts = [tuple(h.leaves[x] for h, x in zip(frequency.hierarchies, row, strict=True)) for row in frequency.codes]
    obtained: dict[int, list[tuple]] = {}
    for text, c, count in zip(texts, found.classes.class_of, frequency.counts, strict=True):
        obtained.setdefault(int(c), []).extend([text] * int(count))
    assert sorted(tuple(sorted(x)) for x in obtained.values()) == as_sets(plain, leaves)
    assert found.kept.all()
    for leaf in leaves:
        assert plain.satisfied(leaf, models)
        for c in plain.qi:
            assert not any(all(plain.satisfied(p, models) for p in cut) for cut in plain.cuts(leaf, c, split))


def shown_by(plain: Plain, leaf: list[dict]) -> tuple:
    """What the labels of a class say: a range of numbers, a group of a tree."""
    return tuple(
        oracle_ancestor(plain.trees[c], [r[c] for r in leaf])
        if c in plain.trees
        else (min(int(r[c]) for r in leaf), max(int(r[c]) for r in leaf))
        for c in plain.qi
    )


@settings(max_examples=times(40, 500), deadline=None)
@given(
    plain=mixed_tables(),
    models=st.lists(model_strategy(), min_size=1, max_size=2),
    split=st.sampled_from(["median", "distribution", "balanced"]),
    width=st.sampled_from(["range", "std", "values"]),
)
def test_relaxed_equals_cutting_record_by_record(plain: Plain, models: list[dict], split: str, width: str) -> None:
    if not plain.satisfied(plain.rows, models):
        return
    ours = [velado_model(m) for m in models]
    frequency = frequency_of(plain, ours)
    places = [{v: i for i, v in enumerate(h.leaves)} for h in frequency.hierarchies]
    (ill,) = frequency.sensitive
    plain.rows.sort(key=lambda r: ([p[r[c]] for c, p in zip(plain.qi, places, strict=True)], ill.labels.index(r["s0"])))
    expected: dict[tuple, list[tuple]] = {}
    leaves = plain.leaves(models, split, width, {}, relaxed=True)
    for leaf in leaves:
        expected.setdefault(shown_by(plain, leaf), []).extend(tuple(r[c] for c in [*plain.qi, "s0"]) for r in leaf)
    found = Mondrian(split=split, width=width, relaxed=True).search(frequency, ours)
    divided = found.classes.frequency
    obtained: dict[int, list[tuple]] = {}
    for row, c in enumerate(found.classes.class_of):
        text = tuple(h.leaves[x] for h, x in zip(divided.hierarchies, divided.codes[row], strict=True))
        entries = slice(divided.start[row], divided.start[row + 1])
        for value, count in zip(divided.values[entries], divided.value_counts[entries], strict=True):
            obtained.setdefault(int(c), []).extend([(*text, ill.labels[value])] * int(count))
    assert sorted(map(sorted, obtained.values())) == sorted(map(sorted, expected.values()))
    assert divided.undivided is frequency
    assert divided.counts.sum() == len(plain.rows)
    assert [len(v) for _, v in sorted(obtained.items())] == found.classes.sizes.tolist()
    for leaf in leaves:
        for c in plain.qi:
            assert not any(all(plain.satisfied(p, models) for p in cut) for cut in plain.relaxed_cuts(leaf, c, split))


@settings(max_examples=times(30, 500), deadline=None)
@given(plain=mixed_tables(), represent=st.sampled_from(["interval", "mode", "mean", "median"]))
def test_labels_say_what_the_class_holds(plain: Plain, represent: str) -> None:
    frequency = frequency_of(plain)
    found = Mondrian(represent=represent).search(frequency, [KAnonymity(2)]) if len(plain.rows) > 1 else None
    if found is None:
        return
    for c in range(found.classes.count):
        rows = np.flatnonzero(found.classes.class_of == c)
        for j, name in enumerate(plain.qi):
            cover = found.covers[j]
            label = cover.labels[found.labels[c, j]]
            under = {cover.hierarchy.leaves[x] for x in cover.under(found.labels[c, j])}
            values = [cover.hierarchy.leaves[x] for x in np.repeat(frequency.codes[rows, j], frequency.counts[rows])]
            assert set(values) <= under
            if name in plain.trees:
                assert label == oracle_ancestor(plain.trees[name], values)
                continue
            numbers = sorted(map(int, values))
            assert under == {v for v in frequency.hierarchies[j].leaves if numbers[0] <= int(v) <= numbers[-1]}
            assert label == expected_label(numbers, represent)


def oracle_ancestor(tree: list[list[str]], values: list[str]) -> str:
    paths = {row[0]: row for row in tree}
    return next(paths[values[0]][x] for x in range(len(tree[0])) if len({paths[v][x] for v in values}) == 1)


def expected_label(numbers: list[int], represent: str) -> str:
    if numbers[0] == numbers[-1]:
        return str(numbers[0])
    if represent == "interval":
        return f"{numbers[0]}-{numbers[-1]}"
    n = len(numbers)
    median = (numbers[(n - 1) // 2] + numbers[n // 2]) / 2
    if represent == "mean":
        return str(int(Fraction(sum(numbers), n)))
    if represent == "mode":
        most = Counter(numbers).most_common(2)
        if len(most) == 1 or most[0][1] > most[1][1]:
            return str(most[0][0])
    return str(int(median))


# Published figures


@needs_data
@pytest.mark.parametrize(
    ("split", "leaves", "numerators"), [("distribution", 3546, [67, 79, 12, 54]), ("median", 2051, [555, 72, 41, 3718])]
)
def test_tables_6_and_9_of_the_thesis(split: str, leaves: int, numerators: list[int]) -> None:
    columns = [Column(c, "quasi-identifier", type="integer") for c in NUMERIC]
    method = Mondrian(split=split, width="std", represent="mode")
    release = anonymize(str(ADULT), columns, [KAnonymity(2)], method, rest="drop")
    assert release.evaluation.risk.singled_out_before == 3811
    assert release.evaluation.risk.singled_out_after == 0
    assert release.found.classes.count == leaves
    found = release.found
    evaluation = evaluate(Pair.of(found.classes, found.kept, found.covers, found.labels), wanted=Wanted(("ks",)))
    assert evaluation.ks is not None
    assert [round(evaluation.ks[c].statistic * 32561) for c in NUMERIC] == numerators
    assert all(evaluation.ks[c].kept for c in NUMERIC) is (split == "distribution")


# End to end


PEOPLE = pa.table(
    {
        "born": [f"{1950 + i % 40}-0{1 + i % 9}-1{i % 10}" for i in range(200)],
        "income": [f"{(i * 37) % 90 / 2:g}" for i in range(200)],
        "size": [("S", "M", "L", "XL")[i * i % 4] for i in range(200)],
        "zip": [f"0{8000 + i * 7 % 90}" for i in range(200)],
        "ill": [("flu", "asthma", "gout")[i % 3] for i in range(200)],
    }
)
COLUMNS = [
    Column("born", "quasi-identifier", type="date"),
    Column("income", "quasi-identifier", type="number"),
    Column("size", "quasi-identifier", hierarchy={"order": ["S", "M", "L", "XL"]}),
    Column("zip", "quasi-identifier", hierarchy={"mask": "right"}),
    Column("ill", "sensitive", exposure="accepted"),
]


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".xlsx"])
@pytest.mark.parametrize("represent", ["interval", "mode"])
def test_a_release_of_dates_decimals_orders_and_codes(tmp_path: Path, suffix: str, represent: str) -> None:
    path = tmp_path / f"release{suffix}"
    release = anonymize(PEOPLE, COLUMNS, [KAnonymity(3)], Mondrian(represent=represent), output=path)
    assert release.evaluation.released == 200
    assert release.evaluation.class_size["min"] >= 3
    assert release.levels == {}
    with open_table(path) as written:
        assert written.rows() == 200
        shown = written.count(["born", "income", "size", "zip"])
    for j, name in enumerate(shown.names):
        expected = {str(x) for x in release.found.covers[j].labels}
        assert {plain_number(x) for x in shown.dictionaries[j]} <= {plain_number(x) for x in expected}, name


def plain_number(text: str | None) -> str:
    try:
        return f"{float(str(text)):g}"
    except ValueError:
        return str(text)


def test_intervals_are_read_back_by_the_evaluation(tmp_path: Path) -> None:
    from velado import evaluate as evaluate_tables

    release = anonymize(PEOPLE, COLUMNS, [KAnonymity(3)], Mondrian(), output=tmp_path / "release.csv")
    again = evaluate_tables(
        PEOPLE,
        tmp_path / "release.csv",
        ["born", "income", "size", "zip"],
        ["ill"],
        measures=[],
        hierarchies={"born": {"dates": ["year"]}, "zip": {"mask": "right"}, "size": {"order": ["S", "M", "L", "XL"]}},
    )
    assert again.utility.loss == pytest.approx(release.evaluation.utility.loss)
    # Two tables alone do not say which k was asked for.
    assert again.risk == replace(release.evaluation.risk, smaller_than_k_before=None, smaller_than_k_after=None)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "xlsx"])
@pytest.mark.parametrize("represent", ["interval", "mean"])
def test_a_relaxed_release(tmp_path: Path, suffix: str, represent: str) -> None:
    """What is written is what was found: as many records of each class with each sensitive value."""
    columns = [c for c in COLUMNS if c.name in ("income", "size", "ill")]
    people = PEOPLE.select(["income", "size", "ill"])
    people = pa.concat_tables([people, people.slice(0, 150), people.slice(0, 90)])
    method = Mondrian(relaxed=True, represent=represent)
    release = anonymize(people, columns, [KAnonymity(4)], method, output=tmp_path / f"release.{suffix}")
    classes = release.found.classes
    assert classes.frequency.rows > classes.frequency.undivided.rows
    (ill,) = classes.frequency.sensitive
    expected: Counter[tuple] = Counter()
    for c in range(classes.count):
        label = tuple(str(cover.labels[x]) for cover, x in zip(release.found.covers, release.found.labels[c], strict=True))
        for e in range(classes.start[c], classes.start[c + 1]):
            expected[*label, ill.labels[classes.values[e]]] += int(classes.value_counts[e])
    with open_table(tmp_path / f"release.{suffix}") as table:
        counted = table.count(["income", "size", "ill"])
    written: Counter[tuple] = Counter()
    for *codes, n in zip(*counted.codes, counted.counts, strict=True):
        written[tuple(str(d[x]) for d, x in zip(counted.dictionaries, codes, strict=True))] += int(n)
    assert sum(written.values()) == 440
    assert written == expected
    strict = anonymize(people, columns, [KAnonymity(4)], Mondrian(represent=represent))
    assert release.evaluation.risk.singled_out_before == strict.evaluation.risk.singled_out_before
    with pytest.raises(InputError, match="fits no other records"):
        release.recoding.apply(people)


def test_a_relaxed_release_without_a_sensitive_column(tmp_path: Path) -> None:
    people = pa.table({"age": ["30"] * 5 + ["31"] * 2 + ["40"] * 3, "name": list("abcdefghij")})
    columns = [Column("age", "quasi-identifier", type="integer"), Column("name", "insensitive", exposure="accepted")]
    release = anonymize(people, columns, [KAnonymity(2)], Mondrian(split="distribution", relaxed=True))
    assert Counter(release.table.column("age").to_pylist()) == {"30": 4, "30-31": 2, "31-40": 2, "40": 2}
    assert sorted(release.table.column("name").to_pylist()) == list("abcdefghij")


@pytest.mark.parametrize(
    ("columns", "output", "what"),
    [
        ([Column("size", "sensitive"), Column("ill", "sensitive")], Output(path=Path("r.csv")), "one sensitive column"),
        (
            [
                Column("size", "insensitive"),
                Column("ill", "sensitive", operation={"substitute": {"default": "x", "map": {"flu": "y"}}}),
            ],
            Output(path=Path("r.csv")),
            "operation on the sensitive",
        ),
        (
            [Column("size", "insensitive"), Column("ill", "sensitive")],
            Output(path=Path("r.csv"), recoding=Path("r.json")),
            "cannot be saved",
        ),
    ],
)
def test_what_relaxed_cannot_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: list[Column], output: Output, what: str
) -> None:
    monkeypatch.chdir(tmp_path)
    everything = [Column("income", "quasi-identifier", type="number"), *columns]
    with pytest.raises(InputError, match=what) as caught:
        anonymize(PEOPLE, everything, [KAnonymity(3)], Mondrian(relaxed=True), output=output, rest="drop")
    assert caught.value.code == "not-dividable"
    assert list(tmp_path.iterdir()) == []


def test_the_recoding_is_saved_and_applied(tmp_path: Path) -> None:
    from velado.recoding import Recoding

    release = anonymize(PEOPLE, COLUMNS, [KAnonymity(3)], Mondrian())
    release.recoding.save(tmp_path / "recoding.json")
    loaded = Recoding.load(tmp_path / "recoding.json")
    assert loaded.digest == release.recoding.digest
    applied = loaded.apply(PEOPLE)
    assert applied.kept == 200
    assert sorted(map(str, applied.table.to_pylist())) == sorted(map(str, release.table.to_pylist()))
    other = PEOPLE.set_column(0, "born", pa.array(["1900-01-01"] * 200))
    assert loaded.apply(other).suppressed == 200


def test_missing_numbers_are_a_category(tmp_path: Path) -> None:
    ages = pa.table({"age": [None, None, None, "3", "4", "5", "50", "51", None, "52"]})
    release = anonymize(ages, [Column("age", "quasi-identifier", type="integer")], [KAnonymity(2)], Mondrian())
    shown = Counter(release.table.column("age").to_pylist())
    assert sum(shown.values()) == 10
    assert all(n >= 2 for n in shown.values())
    assert shown[None] + shown["*"] >= 4


@pytest.mark.parametrize("output", [{"order": "keep"}, {"suppressed": "asterisks"}, {"format": "xlsx"}])
def test_classes_of_stars_are_no_suppressed_records(tmp_path: Path, output: dict[str, str]) -> None:
    """A class may show * in every quasi-identifier while nobody is suppressed: the run knows, stars do not tell."""
    regions, sizes = "aaaaaaaaaabcdebcde", "xxxxxyyyyywzzzwxyz"
    path = tmp_path / f"release.{output.get('format', 'csv')}"
    people = pa.table({"region": [*regions], "size": [*sizes], "ill": ["flu", "gout"] * 9})
    pyarrow.csv.write_csv(people, tmp_path / "people.csv")
    project = {
        "name": "stars",
        "source": "people.csv",
        "models": [{"k-anonymity": {"k": 4}}],
        "method": {"mondrian": {}},
        "columns": {"region": "quasi-identifier", "size": "quasi-identifier", "ill": "sensitive"},
        "output": {"path": path.name, **{k: v for k, v in output.items() if k != "format"}},
    }
    (tmp_path / "project.yaml").write_text(yaml.safe_dump(project), encoding="utf-8")
    release = velado.run(tmp_path / "project.yaml")
    labels = set(release.pair.shown_texts())
    assert ("*", "*") in labels
    assert len(labels) > 1
    assert release.evaluation.suppressed == 0
    evaluation = velado.evaluate(None, None, project=tmp_path / "project.yaml")
    assert evaluation.suppressed == 0
    assert evaluation.utility == release.evaluation.utility
    assert evaluation.risk == release.evaluation.risk
    assert velado.write_report(tmp_path / "project.yaml", formats=["xlsx"])
    assert velado.attack(project=tmp_path / "project.yaml", only=["homogeneity"])


def test_learning_from_overlapping_labels(tmp_path: Path) -> None:
    """What the labels do not tell, the method of the project tells; where lots were drawn, nobody can, and it is said at once."""
    regions, sizes = "aaaaaaaaaabcdebcde" * 4, "xxxxxyyyyywzzzwxyz" * 4
    people = pa.table({"region": [*regions], "size": [*sizes], "pay": ["low", "high"] * 36})
    columns = {"region": "quasi-identifier", "size": "quasi-identifier", "pay": "sensitive"}
    project = {"name": "learn", "source": people, "columns": columns, "models": [{"k-anonymity": {"k": 8}}]}

    def learn(method: dict[str, Any], own: bool) -> Any:
        described = Project.of({**project, "method": {"mondrian": method}, "output": str(tmp_path / "release.csv")})
        velado.run(described)
        asked = {"project": described} if own else {"quasi_identifiers": ["region", "size"]}
        release = None if own else tmp_path / "release.csv"
        return velado.evaluate(people, release, target="pay", measures=[], **asked).learning

    pytest.importorskip("sklearn")
    assert learn({}, own=True).records == 72
    for method, own in (({}, False), ({"relaxed": True}, True)):
        with pytest.raises(InputError) as error:
            learn(method, own)
        assert error.value.code == "rows-not-matched"


def test_models_are_conditions_of_every_cut() -> None:
    models = [KAnonymity(3), TCloseness(0.2, "ill")]
    release = anonymize(PEOPLE, COLUMNS, models, Mondrian(split="distribution"))
    assert all(v.satisfied for v in release.evaluation.models)
    loose = anonymize(PEOPLE, COLUMNS, models[:1], Mondrian(split="distribution"))
    assert release.evaluation.classes < loose.evaluation.classes


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"split": "thirds"}, "bad-parameter"),
        ({"represent": "max"}, "bad-parameter"),
        ({"width": "area"}, "bad-parameter"),
        ({"weights": {"age": 0}}, "bad-parameter"),
        ({"weights": {"age": -1}}, "bad-parameter"),
        ({"weights": [1]}, "bad-parameter"),
        ({"weights": {"nobody": 2}}, "unknown-column"),
    ],
)
def test_bad_parameters(changes: dict, code: str) -> None:
    with pytest.raises(InputError) as caught:
        anonymize(PEOPLE, COLUMNS, [KAnonymity(2)], Mondrian(**changes))
    assert caught.value.code == code


@pytest.mark.parametrize("bad", ["abc", "inf", "NaN", "1e999"])
def test_a_number_that_is_none(bad: str) -> None:
    table = pa.table({"age": ["1", "2", bad, "4"]})
    with pytest.raises(InputError) as caught:
        anonymize(table, [Column("age", "quasi-identifier", type="integer")], [KAnonymity(2)], Mondrian())
    assert caught.value.code == "not-a-number"
    assert caught.value.column == "age"
    assert bad in caught.value.values


def test_constant_columns_and_too_large_k() -> None:
    table = pa.table({"age": ["7"] * 5})
    column = Column("age", "quasi-identifier", type="integer")
    release = anonymize(table, [column], [KAnonymity(2)], Mondrian())
    assert release.table.column("age").to_pylist() == ["7"] * 5
    with pytest.raises(NoSolution) as caught:
        anonymize(table, [column], [KAnonymity(6)], Mondrian())
    assert caught.value.code == "table-too-small"


def test_large_and_uneven_numbers() -> None:
    """Numbers without a common step, and larger than 32 bits, are still cut in order."""
    numbers = [1e15, 1e15 + 3, 0.1, 1 / 3, 2**40, -5.5, 7.25, 1e-9]
    table = pa.table({"x": [repr(x) for x in numbers]})
    release = anonymize(table, [Column("x", "quasi-identifier", type="number")], [KAnonymity(2)], Mondrian())
    assert release.evaluation.classes == 4
    assert release.evaluation.class_size["max"] == 2


# In parts


@settings(max_examples=20, deadline=None)
@given(
    plain=mixed_tables(),
    models=st.lists(model_strategy(), min_size=1, max_size=2),
    split=st.sampled_from(["median", "distribution", "balanced"]),
    width=st.sampled_from(["range", "std", "values"]),
)
def test_parts_give_the_same_release(plain: Plain, models: list[dict], split: str, width: str) -> None:
    """The engine's cuts are those of the kernel: same rows, same evaluation, same verdicts."""
    ours = [velado_model(m) for m in models]
    columns = [
        Column(c, "quasi-identifier", hierarchy=Hierarchy.from_rows(c, plain.trees[c]))
        if c in plain.trees
        else Column(c, "quasi-identifier", type="integer")
        for c in plain.qi
    ]
    tree = tree_in_order("s0", plain.sensitive_trees["s0"])
    columns.append(Column("s0", "sensitive", hierarchy=tree, exposure="accepted"))
    table = pa.table({c: [r[c] for r in plain.rows] for c in [*plain.qi, "s0"]})
    method = Mondrian(split=split, width=width, memory="8GB")
    with tempfile.TemporaryDirectory() as folder:
        try:
            whole = anonymize(table, columns, ours, method, output=Path(folder) / "whole.csv")
        except (NoSolution, VerificationError) as error:
            with in_parts(3), pytest.raises(type(error)):
                anonymize(table, columns, ours, method, output=Path(folder) / "parts.csv")
            assert [p.name for p in Path(folder).iterdir()] == []
            return
        with in_parts(3):
            parts = anonymize(table, columns, ours, method, output=Path(folder) / "parts.csv")
        assert parts.found is None
        assert rows_of(Path(folder) / "parts.csv") == rows_of(Path(folder) / "whole.csv")
        same_evaluation(parts.evaluation, whole.evaluation)
        assert len(list(Path(folder).iterdir())) == 6


@contextmanager
def in_parts(rows: int) -> Iterator[None]:
    """Every part may have so few distinct rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("velado.release.parts._most_rows", lambda expected: rows)
        patch.setattr("velado.release.memory.bytes_of", lambda value: 1)
        yield


def rows_of(path: Path) -> list[str]:
    return sorted(path.read_text(encoding="utf-8").splitlines())


def same_evaluation(a: Any, b: Any) -> None:
    assert (a.rows, a.released, a.classes, a.class_size, a.risk) == (b.rows, b.released, b.classes, b.class_size, b.risk)
    for name in ("loss", "loss_mean", "discernibility", "generalized_loss", "entropy", "c_avg"):
        assert getattr(a.utility, name) == pytest.approx(getattr(b.utility, name), abs=1e-9), name
    for column, measured in a.columns.items():
        other = b.columns[column]
        assert (measured.values_before, measured.values_after) == (other.values_before, other.values_after)
        assert measured.precision == (None if other.precision is None else pytest.approx(other.precision))
    for x, y in zip(a.models, b.models, strict=True):
        assert (x.name, x.satisfied) == (y.name, y.satisfied)
        assert x.achieved == pytest.approx(y.achieved)


@pytest.mark.parametrize("order", ["shuffle", "sorted"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_parts_quote_as_the_whole_does(tmp_path: Path, delimiter: str, order: str) -> None:
    """The bytes of every record, and of the header, are the same; quotes stand only where they are needed."""
    ugly = ["plain", "a,b", "a;b", "a\tb", "a|b", 'say "no"', "two\nlines", "two\r\nlines", " blank ", "", None, "'", "=1+1"]
    n = 12 * len(ugly)
    table = pa.table(
        {
            "age": [20 + i % 9 for i in range(n)],
            'a, b; "c"': [ugly[i % len(ugly)] for i in range(n)],
            "cost": [i / 8 for i in range(n)],
            "born": [date(1990, 1, 1 + i % 20) for i in range(n)],
            "well": [None if i % 5 == 0 else i % 2 == 0 for i in range(n)],
            "end": ["END"] * n,
        }
    )
    columns = [Column("age", "quasi-identifier", type="integer")]
    columns += [Column(c, "insensitive", exposure="accepted") for c in table.column_names[1:]]
    found = []
    for rows in (None, 3):
        output = Output(path=tmp_path / f"{rows}.csv", delimiter=delimiter, order=order)
        with nullcontext() if rows is None else in_parts(rows):
            anonymize(table, columns, [KAnonymity(3)], Mondrian(), output=output)
        header, *records = (tmp_path / f"{rows}.csv").read_bytes().split(b"END\n")
        names, first = header.split(b"end\n")
        found.append((names, Counter([first, *records])))
    assert found[0] == found[1]
    assert any(b"plain" in record and b'"' not in record for record in found[1][1])


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow"])
def test_parts_in_every_format(tmp_path: Path, suffix: str) -> None:
    with in_parts(20):
        release = anonymize(PEOPLE, COLUMNS, [KAnonymity(3)], Mondrian(), output=tmp_path / f"release{suffix}")
    whole = anonymize(PEOPLE, COLUMNS, [KAnonymity(3)], Mondrian(), output=tmp_path / "whole.csv")
    same_evaluation(release.evaluation, whole.evaluation)
    with open_table(tmp_path / f"release{suffix}") as written:
        assert written.rows() == 200
        assert written.header == PEOPLE.column_names
    assert release.private_manifest["digests"]["recoding"] is None


@pytest.mark.thorough
def test_sorted_parts_are_reproducible(tmp_path: Path) -> None:
    digests = set()
    for i in range(2):
        path = tmp_path / f"{i}.csv"
        with in_parts(20):
            anonymize(PEOPLE, COLUMNS, [KAnonymity(3)], Mondrian(), output=Output(path=path, order="sorted"))
        digests.add(path.read_bytes())
    assert len(digests) == 1
    lines = digests.pop().decode().splitlines()[1:]
    assert len(lines) == 200
    assert {p.suffix for p in tmp_path.iterdir()} == {".csv", ".json"}


@pytest.mark.parametrize(
    "changes",
    [
        {"output": Output(path=Path("release.csv"), order="keep")},
        {"output": Output(path=Path("release.xlsx"))},
        {"output": Output(path=Path("release.csv"), recoding=Path("recoding.json"))},
        {"models": [TCloseness(0.5, "ill", strict=True)]},
        {"method": Mondrian(relaxed=True)},
    ],
)
def test_what_cannot_be_done_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict) -> None:
    monkeypatch.chdir(tmp_path)
    given = {"models": [KAnonymity(3)], "output": Output(path=Path("release.csv")), "method": Mondrian(), **changes}
    with in_parts(20), pytest.raises(InputError) as caught:
        anonymize(PEOPLE, COLUMNS, given["models"], given["method"], output=given["output"])
    assert caught.value.code == "not-in-parts"
    assert list(tmp_path.iterdir()) == []


def test_a_failure_in_the_middle_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(step: Step) -> None:
        if step.stage == "solve" and (step.done or 0) > 60:
            raise KeyboardInterrupt

    project = Project(PEOPLE, tuple(COLUMNS), (KAnonymity(3),), Mondrian(), Output(path=tmp_path / "release.csv"))
    with in_parts(20), pytest.raises(KeyboardInterrupt):
        run(project, Progress(stop))
    assert list(tmp_path.iterdir()) == []


def test_the_estimate(tmp_path: Path) -> None:
    pyarrow.csv.write_csv(PEOPLE, tmp_path / "people.csv")
    project = Project(
        tmp_path / "people.csv", tuple(COLUMNS), (KAnonymity(4),), Mondrian(memory="1kB"), Output(path=tmp_path / "x.csv")
    )
    result = estimate(project)
    assert result.rows == 200
    assert 150 <= result.distinct <= 200
    assert result.how == "in parts"
    assert result.memory == 1000
    assert result.thesis_levels == pytest.approx(np.log2(200 / 4) + 1)
    assert result.thesis_size == round((tmp_path / "people.csv").stat().st_size * result.thesis_levels)
    assert estimate(replace(project, method=Mondrian())).how == "in memory"


@pytest.mark.parametrize("memory", ["much", "-1GB", 0, 1.5, "1 XB", True])
def test_bad_memory(memory: Any) -> None:
    with pytest.raises(InputError) as caught:
        Mondrian(memory=memory)
    assert caught.value.code == "bad-parameter"
