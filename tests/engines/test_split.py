"""Tables larger than memory: parts add up to the whole, and written part by part they are the table written at once."""

from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from engines.engines import (
    ENGINES_UNDER_TEST,
    EngineUnderTest,
    needs,
    per_engine,
    per_file_engine,
    per_splitting_engine,
    rows_of,
    translation,
)
from engines.test_plan import written
from velado import InputError
from velado.tables import Capability, Part, Plan, Selection, Slot, Split, Table, Translation

AGES = [str(a) for a in range(20, 30)]
SEXES: list[str | None] = ["f", "m", None]
ILLS = ["flu", "cold", "hiv"]
BORN = [date(1990 + i, 1, 1) for i in range(5)]


@pytest.fixture(scope="module")
def patients() -> pa.Table:
    n = 500
    rng = np.random.default_rng(1)
    return pa.table(
        {
            "age": pa.array(rng.integers(20, 30, n), pa.int8()),
            "sex": pa.array([SEXES[i] for i in rng.integers(0, 3, n)], pa.string()),
            "ill": pa.array([ILLS[i] for i in rng.integers(0, 3, n)]),
            "born": pa.array([BORN[i] for i in rng.integers(0, 5, n)]),
            "name": pa.array([f"name {i}" for i in range(n)]),
            "note": pa.array([["=1", "é", None][i % 3] for i in range(n)]),
        }
    )


def places(column: str, values: list[Any], typed: bool = False) -> Translation:
    return Translation(column, tuple(values), np.arange(len(values)), tuple(values), typed=typed)


PLACES = (places("age", AGES, typed=True), places("sex", SEXES))
CODED = (places("ill", ILLS), places("born", [str(b) for b in BORN]))
PLAN = Plan((), Selection(), starred=("name",), dropped=("born",))


def split_of(
    engine: EngineUnderTest, table: Table, folder: Path, kind: str = "parquet", coded: Any = CODED, order: str = "sorted"
) -> tuple[Split, Slot]:
    sink = engine.sink(kind, folder, order=order, guard=False)
    slot = Slot(sink, sink.path)
    return table.split(PLACES, coded, PLAN, slot), slot


def halves(part: Part) -> list[Part]:
    """Under 25, the women and men of the others, and those whose sex is missing: cut by both columns."""
    (a, b), (c, d) = part.low, part.high
    return [
        Part((a, b), (4, d), part.within, part.within_records),
        Part((5, b), (c, 1), part.within, part.within_records),
        Part((5, 2), (c, d), part.within, part.within_records),
    ]


def place_rows(table: pa.Table, part: Part | None = None) -> list[tuple[int, int, int, int]]:
    """The rows as places and codes, by plain Python, those of a part only."""
    found = []
    for age, sex, ill, born, *_ in rows_of(table):
        row = (AGES.index(age or ""), SEXES.index(sex), ILLS.index(ill or ""), [str(b) for b in BORN].index(born or ""))
        if part is None or all(a <= x <= b for a, x, b in zip(part.low, row, part.high, strict=False)):
            found.append(row)
    return found


def parts_of(split: Split) -> list[Part]:
    whole = split.whole()
    return [whole, *halves(whole), Part((3, 1), (3, 1), whole.within, whole.within_records)]


@per_engine
def test_a_split_counts_what_plain_python_counts(engine: EngineUnderTest, patients: pa.Table, tmp_path: Path) -> None:
    with engine.open(patients, "memory", tmp_path) as table:
        if not needs(engine, Capability.SPLIT, lambda: split_of(engine, table, tmp_path)):
            return
        with split_of(engine, table, tmp_path)[0] as split:
            assert split.records == patients.num_rows
            for part in parts_of(split):
                rows = place_rows(patients, part)
                for s, found in enumerate(split.count(part)):
                    counts = Counter((a, b, row[s]) for a, b, *row in rows)
                    assert as_counter((*found.places.T, found.codes), found.counts) == counts
                for p, marginal in enumerate(split.marginals(part)):
                    counts = Counter((row[p], s, row[2 + s]) for row in rows for s in range(2))
                    assert as_counter((marginal.places, marginal.attributes, marginal.codes), marginal.counts) == counts


def as_counter(columns: Any, counts: np.ndarray) -> Counter[tuple[int, ...]]:
    found: Counter[tuple[int, ...]] = Counter()
    for *row, n in zip(*(c.tolist() for c in columns), counts.tolist(), strict=True):
        assert tuple(row) not in found
        found[tuple(row)] = n
    return found


@per_splitting_engine
def test_sums_of_parts_are_those_of_the_whole(engine: EngineUnderTest, patients: pa.Table, tmp_path: Path) -> None:
    with engine.open(patients, "memory", tmp_path) as table, split_of(engine, table, tmp_path, coded=())[0] as split:
        whole = split.whole()
        (counted,) = split.count(whole)
        assert counted.counts.sum() == split.records
        assert (counted.codes == 0).all()
        for marginal in split.marginals(whole):
            assert marginal.counts.sum() == split.records
        parts = [split.count(part)[0] for part in halves(whole)]
        assert sum(int(p.counts.sum()) for p in parts) == split.records
        together = sum((as_counter(p.places.T, p.counts) for p in parts), Counter())
        assert together == as_counter(counted.places.T, counted.counts)


@per_splitting_engine
def test_a_part_of_its_own_counts_the_same(engine: EngineUnderTest, patients: pa.Table, tmp_path: Path) -> None:
    with engine.open(patients, "memory", tmp_path) as table, split_of(engine, table, tmp_path)[0] as split:
        whole = split.whole()
        assert split.own(whole, split.records) == whole, "nothing is gained by a copy of everything"
        small = Part((3, 1), (3, 2), whole.within, whole.within_records)
        records = len(place_rows(patients, small))
        own = split.own(small, records)
        assert own.within != whole.within
        assert own.within_records == records
        for a, b in zip(split.count(own), split.count(small), strict=True):
            assert as_counter((*a.places.T, a.codes), a.counts) == as_counter((*b.places.T, b.codes), b.counts)
        split.drop(own)
        assert split.count(small)[0].counts.sum() == records


LABELS = {"age": lambda place: "22" if place < 5 else "27", "sex": lambda place: None if place == 2 else "person"}


def write_parts(split: Split, parts: list[Part]) -> None:
    """Every part with its labels: two ages, and people; the labels of each part are numbered anew."""
    for part in parts:
        (rows, *_) = (count.places for count in split.count(part))
        rows = np.unique(rows, axis=0)
        texts = [[LABELS["age"](a) for a in rows[:, 0]], [LABELS["sex"](b) for b in rows[:, 1]]]
        labels = [list(dict.fromkeys(t)) for t in texts]
        shown = np.column_stack([[own.index(t) for t in column] for own, column in zip(labels, texts, strict=True)])
        split.write(part, rows, shown, labels)
    split.finish()


@pytest.mark.parametrize(
    ("engine", "kind", "order"),
    [
        (e, kind, order)
        for e in ENGINES_UNDER_TEST
        if e.files
        for kind, order in [("csv", "sorted"), ("parquet", "sorted"), ("csv", "shuffle"), ("arrow", "shuffle")]
    ],
    ids=lambda x: getattr(x, "name", x),
)
def test_parts_written_are_the_whole_written(
    engine: EngineUnderTest, kind: str, order: str, patients: pa.Table, tmp_path: Path
) -> None:
    if Capability.SPLIT not in engine.capabilities:
        return
    (tmp_path / "whole").mkdir()
    plan = Plan(
        (
            translation("age", {a: LABELS["age"](i) for i, a in enumerate(AGES)}, typed=True),
            translation("sex", {s: LABELS["sex"](i) for i, s in enumerate(SEXES)}),
        ),
        Selection(),
        starred=PLAN.starred,
        dropped=PLAN.dropped,
    )
    with engine.open(patients, "memory", tmp_path) as table:
        split, slot = split_of(engine, table, tmp_path, kind, order=order)
        with split:
            write_parts(split, halves(split.whole()))
        sink = engine.sink(kind, tmp_path / "whole", order=order, guard=False)
        at_once = Slot(sink, sink.path)
        table.write(plan, at_once)
    assert slot.path is not None
    assert at_once.path is not None
    found, expected = written(slot.path), written(at_once.path)
    assert slot.fields == at_once.fields
    assert Counter(found) == Counter(expected)
    if order == "sorted":
        assert found == expected
    assert len(found) == patients.num_rows


@per_file_engine
def test_what_the_parts_leave_out_is_left_out(engine: EngineUnderTest, patients: pa.Table, tmp_path: Path) -> None:
    """Distinct rows that are not listed are suppressed."""
    with engine.open(patients, "memory", tmp_path) as table:
        split, slot = split_of(engine, table, tmp_path)
        with split:
            rows = np.array([[3, 1], [4, 0]])
            split.write(split.whole(), rows, np.array([[0, 0], [1, 0]]), [["23", "24"], ["x"]])
            split.finish()
        assert slot.path is not None
        wanted = Counter(row[:2] for row in place_rows(patients) if row[:2] in ((3, 1), (4, 0)))
    found = Counter(age for age, *_ in written(slot.path))
    assert found == {"23": wanted[3, 1], "24": wanted[4, 0]}


@per_file_engine
@pytest.mark.parametrize("kind", ["xlsx"])
def test_a_format_that_takes_no_parts_says_so(engine: EngineUnderTest, kind: str, patients: pa.Table, tmp_path: Path) -> None:
    with engine.open(patients, "memory", tmp_path) as table, pytest.raises(InputError) as caught:
        split_of(engine, table, tmp_path, kind)
    assert caught.value.code == "not-in-parts"


@per_splitting_engine
def test_a_split_that_is_left_lets_go_of_its_copy(engine: EngineUnderTest, patients: pa.Table, tmp_path: Path) -> None:
    from velado.tables import Session

    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with engine.open(patients, "memory", tmp_path, Session(scratch=scratch)) as table:
        before = {p for p in scratch.rglob("*") if p.suffix == ".duckdb"}
        with pytest.raises(ZeroDivisionError), split_of(engine, table, tmp_path)[0]:
            raise ZeroDivisionError
        assert {p for p in scratch.rglob("*") if p.suffix == ".duckdb"} == before == set()
        with split_of(engine, table, tmp_path)[0] as again:
            assert again.records == patients.num_rows
    assert list(scratch.iterdir()) == []
