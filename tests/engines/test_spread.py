"""Parts that are cut and solved where the table lives, all of a level together; compared with plain Python."""

from __future__ import annotations

import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from engines.engines import ENGINES_UNDER_TEST, EngineUnderTest, needs, per_engine, per_spreading_engine, rows_of
from engines.test_split import CODED, PLACES, PLAN, patients
from velado import Cancelled, Progress
from velado.tables import Capability, Cut, PartCount, Session, Slot, Solved

__all__ = ["patients"]


def numbered(table: pa.Table) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The places and the codes of every row."""
    rows = rows_of(table, [t.column for t in (*PLACES, *CODED)])
    codes = [dict(zip(t.keys, t.codes.tolist(), strict=True)) for t in (*PLACES, *CODED)]
    found = [tuple(code[cell] for code, cell in zip(codes, row, strict=True)) for row in rows]
    return [(row[: len(PLACES)], row[len(PLACES) :]) for row in found]


@per_engine
def test_who_cannot_spread_says_so(engine: EngineUnderTest, patients: pa.Table, tmp_path: Path) -> None:
    if Capability.SPREAD in engine.capabilities:
        return
    kind = engine.sources[0]
    with engine.open(patients, kind, tmp_path) as table:
        table.engine = engine.engine
        assert not needs(
            engine, Capability.SPREAD, lambda: table.spread(PLACES, CODED, PLAN, Slot(engine.sink("memory", tmp_path)))
        )


def test_some_engine_spreads() -> None:
    assert any(Capability.SPREAD in e.capabilities for e in ENGINES_UNDER_TEST)


@per_spreading_engine
def test_marginals_of_all_parts_are_those_of_plain_python(engine: EngineUnderTest, patients: pa.Table, tmp_path: Path) -> None:
    rows = numbered(patients)
    with (
        engine.open(patients, "table", tmp_path) as table,
        table.spread(PLACES, CODED, PLAN, Slot(engine.sink("memory", tmp_path))) as spread,
    ):
        assert spread.records == len(rows)
        assert spread.memory > 0
        # The whole; then cut on the first column, and one half again on the second: three parts.
        middle = int(np.median([p[0] for p, _ in rows]))
        last = [int(t.codes.max()) for t in PLACES]
        part_of = dict.fromkeys(range(len(rows)), 0)
        for cuts in (
            None,
            {0: Cut(0, ((0, middle, 1), (middle + 1, last[0], 2)))},
            {2: Cut(1, tuple((i, i, 3 + i) for i in range(last[1] + 1)))},
        ):
            if cuts is not None:
                spread.cut(cuts)
                for i, (places, _) in enumerate(rows):
                    for low, high, new in cuts[part_of[i]].pieces if part_of[i] in cuts else ():
                        if low <= places[cuts[part_of[i]].column] <= high:
                            part_of[i] = new
                            break
            parts = sorted(set(part_of.values()))
            for part, found_of_part in spread.decide(parts, pickle.dumps).items():
                for j, marginal in enumerate(pickle.loads(found_of_part)):
                    found: Counter[Any] = Counter()
                    for place, attribute, code, n in zip(
                        marginal.places, marginal.attributes, marginal.codes, marginal.counts, strict=True
                    ):
                        found[int(place), int(attribute), int(code)] += int(n)
                    expected = Counter(
                        (places[j], s, code)
                        for i, (places, codes) in enumerate(rows)
                        if part_of[i] == part
                        for s, code in enumerate(codes)
                    )
                    assert found == expected


def labelling() -> tuple[Any, Any]:
    """What labels a place, and a part. They are sent to other processes, which do not have this file."""
    typed = [t.typed for t in PLACES]

    def label(j: int, place: int) -> str:
        """The first column keeps its type."""
        return str(100 - place) if typed[j] else f"={j}:{place}"

    def labelled(counted: list[PartCount]) -> Solved:
        """Every distinct row gets labels that tell its places, and the part a summary of its size."""
        rows = np.unique(np.concatenate([c.places for c in counted]), axis=0)[::-1]
        labels = tuple(tuple(label(j, i) for i in range(int(rows[:, j].max()) + 1)) for j in range(rows.shape[1]))
        return Solved(rows.astype(np.int64), rows.astype(np.int32), labels, str(int(counted[0].counts.sum())).encode())

    return label, labelled


@per_spreading_engine
@pytest.mark.parametrize("kind", ["table", "memory"])
def test_solved_parts_are_written_with_their_labels(engine: EngineUnderTest, kind: str, patients: pa.Table, tmp_path: Path) -> None:
    session, sink = Session(), engine.sink(kind, tmp_path)
    rows, (label, labelled) = numbered(patients), labelling()
    with engine.open(patients, "table", tmp_path, session) as table, engine.stage([sink], session) as stage:
        (slot,) = stage.slots
        with table.spread(PLACES, CODED, PLAN, slot) as spread:
            spread.cut({0: Cut(1, tuple((i, i, 1 + i) for i in range(int(PLACES[1].codes.max()) + 1)))})
            summaries = spread.solve(labelled)
        stage.publish()
    sizes = Counter(places[1] for places, _ in rows)
    assert sorted(map(int, summaries)) == sorted(sizes.values())
    found = slot.table if kind == "memory" else engine.published(sink.table or "")
    where = {t.column: j for j, t in enumerate(PLACES)}
    layout = [name for name in patients.column_names if name not in PLAN.dropped]
    assert found.column_names == layout
    cells = rows_of(patients)
    expected = [
        tuple(
            label(where[name], places[where[name]])
            if name in where
            else "*"
            if name in PLAN.starred
            else row[patients.column_names.index(name)]
            for name in layout
        )
        for row, (places, _) in zip(cells, rows, strict=True)
    ]
    assert Counter(rows_of(found)) == Counter(expected)


@per_spreading_engine
def test_a_spread_is_cancelled(engine: EngineUnderTest, patients: pa.Table, tmp_path: Path) -> None:
    progress = Progress()
    with (
        engine.open(patients, "table", tmp_path, Session(progress)) as table,
        table.spread(PLACES, CODED, PLAN, Slot(engine.sink("memory", tmp_path))) as spread,
    ):
        progress.cancel()
        with pytest.raises(Cancelled):
            spread.decide([0], pickle.dumps)
