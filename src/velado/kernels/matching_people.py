"""How many people look like some of them, on many sets of columns."""

from __future__ import annotations

import numpy as np

from velado.kernels.compiler import kernel

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@kernel(size=lambda codes, radices, people, weights, chosen, sets, *_: codes.shape[1] * sets.shape[0])
def count_alike(codes, radices, people, weights, chosen, sets, keys, sizes, last, slots, found):
    """Add to ``found[q, j]`` how many of these people show what the ``chosen`` row j shows on the columns of ``sets[q]``.

    ``codes[c, r]`` is the value of row r in column c, below ``radices[c]``; ``chosen[c, j]`` that of a chosen row, -1 for a
    value that no row here has. A set is a row of columns, -1 where it has fewer. Rows of one person (``people``) stand together,
    and a person counts once per group, with the weight of their first row there. ``keys``, ``sizes``, ``last`` (a power of two
    of places, at least twice as many as chosen rows) and ``slots`` (one per chosen row) are scratch.
    """
    n = codes.shape[1]
    capacity = keys.shape[0]
    shift = np.uint64(64)
    bits = capacity
    while bits > 1:
        bits //= 2
        shift -= np.uint64(1)
    mask = capacity - 1
    for q in range(sets.shape[0]):
        for slot in range(capacity):
            keys[slot] = -1
            sizes[slot] = 0
            last[slot] = -1
        for j in range(chosen.shape[1]):
            key = np.int64(0)
            for i in range(sets.shape[1]):
                column = sets[q, i]
                if column >= 0 and key >= 0:
                    value = np.int64(chosen[column, j])
                    key = key * radices[column] + value if value >= 0 else np.int64(-1)
            slots[j] = -1
            if key < 0:
                continue
            slot = np.int64((np.uint64(key) * _MULTIPLIER) >> shift) & mask
            while keys[slot] != -1 and keys[slot] != key:
                slot = (slot + 1) & mask
            keys[slot] = key
            slots[j] = slot
        for r in range(n):
            key = np.int64(0)
            for i in range(sets.shape[1]):
                column = sets[q, i]
                if column >= 0:
                    key = key * radices[column] + np.int64(codes[column, r])
            slot = np.int64((np.uint64(key) * _MULTIPLIER) >> shift) & mask
            while keys[slot] != -1 and keys[slot] != key:
                slot = (slot + 1) & mask
            if keys[slot] == key and last[slot] != people[r]:
                last[slot] = people[r]
                sizes[slot] += weights[r]
        for j in range(chosen.shape[1]):
            if slots[j] >= 0:
                found[q, j] += sizes[slots[j]]
