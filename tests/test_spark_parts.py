"""What executors do with places, without Spark: parts, counts and decisions compared with plain Python."""

from __future__ import annotations

import pickle
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from velado.tables import Cut
from velado.tables.spark import parts as under_test
from velado.tables.spark.parts import COUNTED, Counting, Level, counting_work, deciding_work, parts_of
from velado.tables.spark.spread import distinct_rows

PLACES, CODES = 6, 3


@st.composite
def cut_tables(draw: st.DrawFn) -> tuple[np.ndarray, list[dict[int, Cut]], list[int]]:
    """Records with two places and one code, and levels of cuts; the parts that no level has cut."""
    rows = draw(st.lists(st.tuples(*[st.integers(0, PLACES - 1)] * 2, st.integers(0, CODES - 1)), max_size=30))
    uncut, number, levels = [0], 1, []
    for _ in range(draw(st.integers(0, 3))):
        chosen = draw(st.lists(st.sampled_from(uncut), unique=True, min_size=1))
        cuts = {}
        for part in chosen:
            edges = sorted(draw(st.sets(st.integers(1, PLACES - 1), max_size=3)))
            bounds = list(zip([0, *edges], [*(e - 1 for e in edges), PLACES - 1], strict=True))
            cuts[part] = Cut(draw(st.integers(0, 1)), tuple((a, b, number + i) for i, (a, b) in enumerate(bounds)))
            uncut.remove(part)
            uncut += range(number, number + len(bounds))
            number += len(bounds)
        levels.append(cuts)
    return np.array(rows, dtype=np.int64).reshape(-1, 3), levels, uncut


def plain_part(row: Any, levels: list[dict[int, Cut]]) -> int:
    part = 0
    for cuts in levels:
        if part in cuts:
            (part,) = (new for low, high, new in cuts[part].pieces if low <= row[cuts[part].column] <= high)
    return part


@given(cut_tables(), st.integers(1, 4))
def test_parts_counts_and_decisions_are_those_of_plain_python(
    made: tuple[np.ndarray, list[dict[int, Cut]], list[int]], partitions: int
) -> None:
    rows, cuts, uncut = made
    levels = [Level.of(c) for c in cuts]
    expected = [plain_part(row, cuts) for row in rows.tolist()]
    assert parts_of(levels, [rows[:, 0], rows[:, 1]]).tolist() == expected
    # Counted in several partitions, of all parts but one; then decided part by part.
    opened = uncut[1:] or uncut
    count = counting_work(levels, opened, [PLACES, PLACES], [CODES])
    decide = deciding_work(pickle.dumps, 2, 1)
    counted = []
    for i in range(partitions):
        names = ["p0", "p1", "s0"]
        batch = pa.record_batch([pa.array(rows[i::partitions, j].astype(np.int32)) for j in range(3)], names=names)
        counted += [pa.Table.from_batches([found]) for found in count([batch.slice(0, 2), batch.slice(2)])]
    table = pa.concat_tables(counted) if counted else pa.table({name: pa.array([], pa.int64()) for name in COUNTED})
    present = sorted({part for part in expected if part in opened})
    assert sorted(set(table.column("part").to_pylist())) == present
    for part in present:
        found = decide(table.filter(pa.array(table.column("part").to_numpy() == part)))
        assert found.column("part").to_pylist() == [part]
        marginals = pickle.loads(found.column("found")[0].as_py())
        for j, m in enumerate(marginals):
            got = dict(zip(zip(m.places.tolist(), m.codes.tolist(), strict=True), m.counts.tolist(), strict=True))
            own = [row for row, p in zip(rows.tolist(), expected, strict=True) if p == part]
            assert got == Counter((row[j], row[2]) for row in own)
            assert not m.attributes.any()


def test_counts_that_wait_are_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(under_test, "KEPT", 3)
    counting, rng = Counting([5], []), np.random.default_rng(1)
    places = [rng.integers(0, 5, 20) for _ in range(4)]
    for some in places:
        counting.add(np.zeros(20, dtype=np.int64), [some], [])
    (batch,) = counting.count_batches()
    found = dict(zip(batch.column("place").to_pylist(), batch.column("n").to_pylist(), strict=True))
    assert found == Counter(np.concatenate(places).tolist())


def test_a_record_between_the_pieces_is_no_part_of_anything() -> None:
    level = Level.of({0: Cut(0, ((0, 1, 1), (3, 4, 2)))})
    with pytest.raises(AssertionError, match="between the pieces"):
        level.move(np.zeros(1, dtype=np.int64), [np.array([2])])


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2**31 - 1), st.integers(0, 2**31 - 1)), max_size=20))
def test_distinct_rows(rows: list[tuple[int, ...]]) -> None:
    """Wide ones, whose numbers do not fit one key, too."""
    places = np.array(rows, dtype=np.int32).reshape(-1, 3)
    found, row_of = distinct_rows(places)
    assert [tuple(x) for x in found.tolist()] == sorted(set(rows))
    assert [tuple(x) for x in found[row_of].tolist()] == rows
