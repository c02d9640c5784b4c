"""Group rows by their recoded quasi-identifiers and merge what belongs together.

Rows are *distinct quasi-identifier rows*. All columns' leaves are numbered through: ``cells[r, j]``
is the leaf of row r in column j, and column j has the leaves ``first[j] … first[j+1] − 1``. A node
(level vector) sends leaves to groups: the group of leaf c of column j at level l is
``maps[l, c]``, one of ``radix[j, l]`` groups. Cells and rows are unsigned, which spares the
compiled code the check for negative indices.
"""

from __future__ import annotations

import numpy as np

from velado.kernels.compiler import helper, kernel

_WIDEST_KEY = np.int64(1) << np.int64(62)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@kernel(size=lambda keys, n, *_: n)
def number_keys(keys, n, domain, table_keys, table_ids, ids):
    """Number equal keys 0, 1, … in order of first appearance; return how many there are.

    ``domain`` is an exclusive upper bound of the keys: small domains are addressed directly,
    others by open addressing. ``table_ids`` must hold -1 everywhere and does so again afterwards.
    """
    capacity = table_ids.shape[0]
    found = 0
    if domain <= capacity:
        for r in range(n):
            slot = keys[r]
            number = table_ids[slot]
            if number < 0:
                number = found
                table_ids[slot] = number
                found += 1
            ids[r] = number
        for r in range(n):
            table_ids[keys[r]] = -1
        return found
    shift = np.uint64(64)
    size = np.int64(1)
    while size < 2 * n and size < capacity:
        size *= 2
    bits = size
    while bits > 1:
        bits //= 2
        shift -= np.uint64(1)
    mask = size - 1
    for r in range(n):
        key = keys[r]
        slot = np.int64((np.uint64(key) * _MULTIPLIER) >> shift) & mask
        while True:
            number = table_ids[slot]
            if number < 0:
                table_ids[slot] = found
                table_keys[slot] = key
                ids[r] = found
                found += 1
                break
            if table_keys[slot] == key:
                ids[r] = number
                break
            slot = (slot + 1) & mask
    for slot in range(size):
        table_ids[slot] = -1
    return found


@kernel(size=lambda cells, rows, n, *_: n)
def group(cells, rows, n, levels, maps, first, radix, digits, keys, table_keys, table_ids, ids):
    """Class number of each of the first n ``rows`` under the node ``levels``; return the number of classes.

    Keys are mixed-radix numbers. Where the product of the radices would leave 62 bits, the keys
    so far are numbered first, so grouping is exact for any number of columns. ``digits`` (one per leaf) is scratch.
    """
    m = levels.shape[0]
    flat = cells.reshape(cells.shape[0] * m)
    domain = np.int64(1)
    found = np.int64(1)
    for r in range(n):
        ids[r] = 0
    j = 0
    while j < m:
        for leaf in range(first[m]):
            digits[leaf] = 0
        while j < m and domain <= _WIDEST_KEY // radix[j, levels[j]]:
            for leaf in range(first[j], first[j + 1]):
                digits[leaf] = domain * maps[levels[j], leaf]
            domain *= radix[j, levels[j]]
            j += 1
        for r in range(n):
            at = np.uint64(rows[r]) * np.uint64(m)
            key = np.int64(ids[r])
            for i in range(m):
                key += digits[flat[at + np.uint64(i)]]
            keys[r] = key
        found = number_keys(keys, n, domain, table_keys, table_ids, ids)
        domain = np.int64(found)
    return found


@kernel(size=lambda rows, sizes, n, *_: n)
def summarize(rows, sizes, n, ids, found, class_rows, class_sizes):
    """Size and first member (as representative) of each class."""
    for c in range(found):
        class_sizes[c] = 0
    for r in range(n):
        c = ids[r]
        if class_sizes[c] == 0:
            class_rows[c] = rows[r]
        class_sizes[c] += sizes[r]


@helper
def sort_ascending(values, n):
    """Sort the first n values in place (Shell's method: short to compile, fast on the short lists here)."""
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            x = values[i]
            k = i
            while k >= gap and values[k - gap] > x:
                values[k] = values[k - gap]
                k -= gap
            values[k] = x
        gap //= 3


@kernel(size=lambda ids, n, found, start, values, *_: n + len(values))
def merge_histograms(
    ids, n, found, start, values, counts, domain, starts, order, dense, touched, out_start, out_values, out_counts
):
    """Add up sparse histograms (row → value, count) class by class, values ascending.

    ``dense`` (one zero per possible value) is scratch and zero again afterwards. Needs room for
    as many entries as the input has.
    """
    for c in range(found + 1):
        starts[c] = 0
    for r in range(n):
        starts[ids[r] + 1] += 1
    for c in range(found):
        starts[c + 1] += starts[c]
    for r in range(n):
        c = ids[r]
        order[starts[c]] = r
        starts[c] += 1
    used = 0
    first = 0
    out_start[0] = 0
    for c in range(found):
        last = starts[c]
        if last - first == 1:
            r = order[first]
            for e in range(start[r], start[r + 1]):
                out_values[used] = values[e]
                out_counts[used] = counts[e]
                used += 1
        else:
            t = 0
            for i in range(first, last):
                r = order[i]
                for e in range(start[r], start[r + 1]):
                    v = values[e]
                    if dense[v] == 0:
                        touched[t] = v
                        t += 1
                    dense[v] += counts[e]
            if t * 8 > domain:
                for v in range(domain):
                    if dense[v] > 0:
                        out_values[used] = v
                        out_counts[used] = dense[v]
                        dense[v] = 0
                        used += 1
            else:
                sort_ascending(touched, t)
                for i in range(t):
                    v = touched[i]
                    out_values[used] = v
                    out_counts[used] = dense[v]
                    dense[v] = 0
                    used += 1
        first = last
        out_start[c + 1] = used
    return used


@kernel(size=lambda ids, n, found, table, out: n * table.shape[1])
def add_rows(ids, n, found, table, out):
    """Add up dense histogram rows class by class."""
    for c in range(found):
        for v in range(table.shape[1]):
            out[c, v] = 0
    for r in range(n):
        c = ids[r]
        for v in range(table.shape[1]):
            out[c, v] += table[r, v]


@kernel(size=lambda table, *_: table.size)
def compress(table, found, sizes, smallest, start, values, counts):
    """Sparse entries of dense histogram rows; none for classes below a size. Return how many."""
    used = 0
    start[0] = 0
    for c in range(found):
        if sizes[c] >= smallest:
            for v in range(table.shape[1]):
                count = table[c, v]
                values[used] = v
                counts[used] = count
                used += 1 if count > 0 else 0
        start[c + 1] = used
    return used
