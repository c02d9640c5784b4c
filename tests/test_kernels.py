"""Every kernel beside a slow, plain twin."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from velado.frequency.classes import table_capacity
from velado.kernels import grouping

quick = settings(max_examples=150, deadline=None)


def numbered(keys: list[int]) -> list[int]:
    """Plain twin of `number_keys`: numbers in order of first appearance."""
    seen: dict[int, int] = {}
    return [seen.setdefault(k, len(seen)) for k in keys]


@quick
@given(st.lists(st.integers(0, 2**61), max_size=80), st.booleans())
def test_number_keys(keys: list[int], small: bool) -> None:
    keys = [k % 50 for k in keys] if small else keys
    n = len(keys)
    capacity = table_capacity(n)
    table_ids = np.full(capacity, -1, dtype=np.int32)
    ids = np.empty(n, dtype=np.int32)
    domain = 50 if small else 2**62
    found = grouping.number_keys(np.array(keys, dtype=np.int64), n, domain, np.empty(capacity, dtype=np.int64), table_ids, ids)
    assert ids.tolist() == numbered(keys)
    assert found == len(set(keys))
    assert (table_ids == -1).all(), "the table is clean for the next call"


@quick
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 60))
def test_group(seed: int, columns: int, rows: int) -> None:
    rng = np.random.default_rng(seed)
    leaves = rng.integers(1, 6, columns)
    first = np.concatenate([[0], np.cumsum(leaves)]).astype(np.int64)
    maps = np.zeros((3, first[-1]), dtype=np.int32)
    radix = np.ones((columns, 3), dtype=np.int64)
    for j in range(columns):
        for level in range(3):
            groups = rng.integers(0, leaves[j], leaves[j])
            maps[level, first[j] : first[j + 1]] = np.unique(groups, return_inverse=True)[1]
            radix[j, level] = maps[level, first[j] : first[j + 1]].max() + 1
    cells = (rng.integers(0, leaves, (rows, columns)) + first[:-1]).astype(np.uint32)
    levels = rng.integers(0, 3, columns)
    chosen = rng.permutation(rows).astype(np.uint32)
    capacity = table_capacity(rows)
    ids = np.empty(rows, dtype=np.int32)
    found = grouping.group(
        cells,
        chosen,
        rows,
        levels,
        maps,
        first,
        radix,
        np.empty(first[-1], dtype=np.int64),
        np.empty(rows, dtype=np.int64),
        np.empty(capacity, dtype=np.int64),
        np.full(capacity, -1, dtype=np.int32),
        ids,
    )
    keys = [tuple(int(maps[levels[j], cells[r, j]]) for j in range(columns)) for r in chosen]
    seen: dict[tuple[int, ...], int] = {}
    assert ids.tolist() == [seen.setdefault(k, len(seen)) for k in keys]
    assert found == len(seen)
    sizes_in = rng.integers(1, 9, rows)
    class_rows, sizes = np.empty(rows, dtype=np.uint32), np.empty(rows, dtype=np.int64)
    grouping.summarize(chosen, sizes_in, rows, ids, found, class_rows, sizes)
    expected: Counter[int] = Counter()
    for c, size in zip(ids.tolist(), sizes_in.tolist(), strict=True):
        expected[c] += size
    assert sizes[:found].tolist() == [expected[c] for c in range(found)]
    assert class_rows[:found].tolist() == [int(chosen[ids.tolist().index(c)]) for c in range(found)]


@quick
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.sampled_from([3, 20, 500]))
def test_histograms(seed: int, rows: int, domain: int) -> None:
    """Sparse merging, dense adding and compressing agree with dictionaries of counts."""
    rng = np.random.default_rng(seed)
    found = int(rng.integers(1, rows + 1))
    ids = np.concatenate([np.arange(found), rng.integers(0, found, rows - found)]).astype(np.int32)
    rng.shuffle(ids)
    entries = [sorted(rng.choice(domain, int(rng.integers(0, min(domain, 60) + 1)), replace=False)) for _ in range(rows)]
    start = np.cumsum([0] + [len(e) for e in entries]).astype(np.int64)
    values = np.array([v for e in entries for v in e], dtype=np.int32)
    counts = rng.integers(1, 5, len(values)).astype(np.int64)
    plain: dict[int, Counter[int]] = defaultdict(Counter)
    for r in range(rows):
        for e in range(start[r], start[r + 1]):
            plain[int(ids[r])][int(values[e])] += int(counts[e])
    out_start = np.zeros(found + 1, dtype=np.int64)
    out_values, out_counts = np.empty(len(values) + 1, dtype=np.int32), np.empty(len(values) + 1, dtype=np.int64)
    totals = np.zeros(domain, dtype=np.int64)
    used = grouping.merge_histograms(
        ids,
        rows,
        found,
        start,
        values,
        counts,
        domain,
        np.empty(found + 1, dtype=np.int64),
        np.empty(rows, dtype=np.int64),
        totals,
        np.empty(domain, dtype=np.int64),
        out_start,
        out_values,
        out_counts,
    )
    assert not totals.any()
    assert used == sum(map(len, plain.values()))
    for c in range(found):
        a, b = out_start[c], out_start[c + 1]
        assert list(zip(out_values[a:b].tolist(), out_counts[a:b].tolist(), strict=True)) == sorted(plain[c].items())
    dense = np.zeros((rows, domain), dtype=np.int32)
    for r in range(rows):
        dense[r, values[start[r] : start[r + 1]]] = counts[start[r] : start[r + 1]]
    added = np.empty((rows, domain), dtype=np.int32)
    grouping.add_rows(ids, rows, found, dense, added)
    assert [{v: n for v, n in enumerate(row.tolist()) if n} for row in added[:found]] == [dict(plain[c]) for c in range(found)]
    sizes = added[:found].sum(axis=1).astype(np.int64)
    room = found * domain + 1
    packed_values, packed_counts = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int64)
    smallest = int(np.median(sizes))
    grouping.compress(added, found, sizes, smallest, out_start, packed_values, packed_counts)
    for c in range(found):
        a, b = out_start[c], out_start[c + 1]
        shown = dict(zip(packed_values[a:b].tolist(), packed_counts[a:b].tolist(), strict=True))
        assert shown == (dict(plain[c]) if sizes[c] >= smallest else {})
