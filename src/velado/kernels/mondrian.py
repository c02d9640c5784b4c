"""Mondrian: cut a frequency table into classes, in place (LeFevre, DeWitt and Ramakrishnan 2006).

Rows are distinct quasi-identifier rows, or single records where equal values may be parted; ``data[i, j]`` is the rank of row i's value among the ordered values of
column j. Rows are moved so that every part is a contiguous range; a part that cannot be cut is a class.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from velado.kernels.compiler import helper, kernel
from velado.kernels.grouping import sort_ascending
from velado.kernels.measures import SIZE, judge_rule

RANGE, STD, VALUES = 0, 1, 2
MEDIAN, FIRST, BALANCED = 0, 1, 2
ORDERED, TREE = 0, 1

_ONE = np.int64(1)
_EVERY = np.int64(np.iinfo(np.int64).max)
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


class Columns(NamedTuple):
    """How columns are measured and cut.

    ``number[number_at[j] + rank]`` is the value of a rank, a whole number from 0 on; ``span`` the largest of a column.
    A column of kind TREE is cut into groups of its levels: ``group[tree_at[j] + level·ranks + rank]``.
    ``exact``: all sums of squares fit 62 bits.
    """

    kind: np.ndarray
    ranks: np.ndarray
    number_at: np.ndarray
    number: np.ndarray
    span: np.ndarray
    weight: np.ndarray
    tree_at: np.ndarray
    group: np.ndarray
    exact: bool


class Histograms(NamedTuple):
    """Sensitive values of every row (before rows were moved), as in a frequency table."""

    start: np.ndarray
    values: np.ndarray
    counts: np.ndarray
    domain: int


class Scratch(NamedTuple):
    """Buffers of one call: histograms (``none`` is always zero), a class as `judge_rule` sees it, the order of a part."""

    dense: np.ndarray
    none: np.ndarray
    values: np.ndarray
    counts: np.ndarray
    sizes: np.ndarray
    start: np.ndarray
    figures: np.ndarray
    satisfied: np.ndarray
    keepable: np.ndarray
    buffer: np.ndarray
    reals: np.ndarray
    order: np.ndarray
    spare: np.ndarray
    whole: np.ndarray
    above: np.ndarray
    below: np.ndarray


@helper
def _product(a, b):
    """128-bit product of two 64-bit numbers: high and low half."""
    a_low, a_high = a & _LOW, a >> _HALF
    b_low, b_high = b & _LOW, b >> _HALF
    low = a_low * b_low
    cross = a_high * b_low + (low >> _HALF)
    other = a_low * b_high + (cross & _LOW)
    high = a_high * b_high + (cross >> _HALF) + (other >> _HALF)
    return high, (other << _HALF) | (low & _LOW)


@helper
def _spread(n, total, squares):
    """n·Σx² − (Σx)², in 128 bits: n² times the variance."""
    high, low = _product(np.uint64(n), np.uint64(squares))
    minus_high, minus_low = _product(np.uint64(total), np.uint64(total))
    borrow = np.uint64(1) if low < minus_low else np.uint64(0)
    return high - minus_high - borrow, low - minus_low


@helper
def _times(high, low, factor):
    """192-bit product of a 128-bit and a 64-bit number."""
    carry, last = _product(low, factor)
    top, middle = _product(high, factor)
    middle += carry
    if middle < carry:
        top += np.uint64(1)
    return top, middle, last


@helper
def _wider(columns, rule, n, a, b, low, high, total, squares):
    """Whether column a of a part is wider than column b.

    RANGE: (max − min)/span. VALUES: (different values − 1)/span. STD: (max − min)/standard deviation, compared as (max − min)²/(n·Σx² − (Σx)²) without
    rounding where the sums fit.
    """
    first, second = high[a] - low[a], high[b] - low[b]
    if first == 0 or second == 0:
        return first > 0 and second == 0
    plain = columns.weight[a] == columns.weight[b]
    if rule != STD:
        if plain:
            return first * columns.span[b] > second * columns.span[a]
        return first / columns.span[a] * columns.weight[a] > second / columns.span[b] * columns.weight[b]
    if plain and columns.exact:
        a_high, a_low = _spread(n, total[a], squares[a])
        b_high, b_low = _spread(n, total[b], squares[b])
        x0, x1, x2 = _times(b_high, b_low, np.uint64(first) * np.uint64(first))
        y0, y1, y2 = _times(a_high, a_low, np.uint64(second) * np.uint64(second))
        if x0 != y0:
            return x0 > y0
        if x1 != y1:
            return x1 > y1
        return x2 > y2
    return _by_deviation(columns, n, a, first, total, squares) > _by_deviation(columns, n, b, second, total, squares)


@helper
def _by_deviation(columns, n, j, width, total, squares):
    mean = total[j] / n
    return width / np.sqrt(max(squares[j] / n - mean * mean, 1e-300)) * columns.weight[j]


@helper
def _count_ranks(data, counts, begin, end, j, lowest, highest, room, ranks, records):
    """The different ranks of a part in a column, ascending, and the records of each; how many there are."""
    width = highest - lowest + 1
    found = 0
    if width <= 8 * (end - begin) + 64:
        for i in range(begin, end):
            room[data[i, j] - lowest] += counts[i]
        for r in range(width):
            if room[r] > 0:
                ranks[found] = lowest + r
                records[found] = room[r]
                room[r] = 0
                found += 1
        return found
    for i in range(begin, end):
        r = data[i, j] - lowest
        if room[r] == 0:
            ranks[found] = r
            found += 1
        room[r] += counts[i]
    sort_ascending(ranks, found)
    for f in range(found):
        r = ranks[f]
        records[f] = room[r]
        room[r] = 0
        ranks[f] = lowest + r
    return found


@helper
def _measure(data, counts, begin, end, columns, rule, lowest, highest, low, high, total, squares, room, ranks, records):
    """Per column the outermost ranks and values and the sums of a part."""
    m = data.shape[1]
    for j in range(m):
        lowest[j] = data[begin, j]
        highest[j] = data[begin, j]
        total[j] = 0
        squares[j] = 0
    for i in range(begin, end):
        for j in range(m):
            rank = data[i, j]
            if rank < lowest[j]:
                lowest[j] = rank
            if rank > highest[j]:
                highest[j] = rank
    if rule == STD:
        for j in range(m):
            at = columns.number_at[j]
            for i in range(begin, end):
                x = columns.number[at + data[i, j]]
                total[j] += x * counts[i]
                squares[j] += x * x * counts[i]
    for j in range(m):
        at = columns.number_at[j]
        low[j] = columns.number[at + lowest[j]]
        high[j] = columns.number[at + highest[j]]
        if rule == VALUES:
            low[j] = 0
            high[j] = _count_ranks(data, counts, begin, end, j, lowest[j], highest[j], room, ranks, records) - 1


@helper
def _move(data, counts, rows, begin, end, j, cut, last):
    """Rows with a rank up to the cut first, of those on the cut only the ones up to number ``last``; where the others begin."""
    m = data.shape[1]
    left, right = begin, end - 1
    while True:
        while left <= right and (data[left, j] < cut or (data[left, j] == cut and rows[left] <= last)):
            left += 1
        while left <= right and (data[right, j] > cut or (data[right, j] == cut and rows[right] > last)):
            right -= 1
        if left >= right:
            return left
        for x in range(m):
            data[left, x], data[right, x] = data[right, x], data[left, x]
        counts[left], counts[right] = counts[right], counts[left]
        rows[left], rows[right] = rows[right], rows[left]


@helper
def _add(histograms, row, times, dense):
    """Add a row's sensitive values to a histogram, or take them out."""
    for e in range(histograms.start[row], histograms.start[row + 1]):
        dense[histograms.values[e]] += times * histograms.counts[e]


@helper
def _satisfies(rules, n, dense, minus, scratch):
    """Whether a class of n records, with the difference of two histograms, satisfies all rules."""
    used = 0
    for v in range(dense.shape[0]):
        count = dense[v] - minus[v]
        if count > 0:
            scratch.values[used] = v
            scratch.counts[used] = count
            used += 1
    scratch.sizes[0] = n
    scratch.start[1] = used
    scratch.satisfied[0] = True
    for r in range(rules.kind.shape[0]):
        if rules.kind[r] != SIZE:
            scratch.keepable[0] = 1
            judge_rule(
                rules,
                r,
                np.int64(1),
                scratch.sizes,
                scratch.start,
                scratch.values,
                scratch.counts,
                scratch.figures,
                scratch.satisfied,
                scratch.keepable,
                np.bool_(False),
                scratch.buffer,
                scratch.reals,
            )
            if not scratch.satisfied[0]:
                return False
    return True


@helper
def _good(rules, histograms, rows, begin, end, n, scratch):
    """Whether the rows of a range satisfy all rules as one class."""
    for i in range(begin, end):
        _add(histograms, rows[i], _ONE, scratch.dense)
    good = _satisfies(rules, n, scratch.dense, scratch.none, scratch)
    for v in range(scratch.dense.shape[0]):
        scratch.dense[v] = 0
    return good


@helper
def _lowest_common(columns, j, low, high):
    """The lowest level at which two ranks of a tree column are in one group."""
    ranks = columns.ranks[j]
    level = 0
    at = columns.tree_at[j]
    while columns.group[at + level * ranks + low] != columns.group[at + level * ranks + high]:
        level += 1
    return level


@helper
def _by_group(columns, j, lowest, highest, found, ranks, records):
    """Ranks of a tree column summed up to the groups below the lowest one that holds them; how many groups."""
    at = columns.tree_at[j] + (_lowest_common(columns, j, lowest, highest) - 1) * columns.ranks[j]
    groups = 0
    size = np.int64(0)
    for f in range(found):
        size += records[f]
        if f + 1 == found or columns.group[at + ranks[f]] != columns.group[at + ranks[f + 1]]:
            ranks[groups] = ranks[f]
            records[groups] = size
            groups += 1
            size = 0
    return groups


@helper
def _cut_in_two(
    data,
    counts,
    rows,
    begin,
    end,
    n,
    j,
    lowest,
    highest,
    columns,
    rules,
    histograms,
    k,
    split,
    judged,
    room,
    ranks,
    records,
    scratch,
):
    """Cut a part at one value; where the second part begins, or −1.

    MEDIAN: values up to the median | above it. FIRST: the first cut in ascending order that leaves both sides
    satisfying (distribution-based split). BALANCED: the satisfying cut that leaves the most equal sides; trees are cut
    between the groups below the lowest one that holds the part.
    """
    found = _count_ranks(data, counts, begin, end, j, lowest, highest, room, ranks, records)
    if columns.kind[j] == TREE:
        found = _by_group(columns, j, lowest, highest, found, ranks, records)
    for f in range(1, found):
        records[f] += records[f - 1]
    first = 0
    if split != FIRST:
        while 2 * records[first] < n:
            first += 1
    before, after = first - 1 if split == BALANCED else -1, first
    while before >= 0 or after < found - 1:
        if before < 0 or (after < found - 1 and 2 * records[after] - n <= n - 2 * records[before]):
            f = after
            after += 1
        else:
            f = before
            before -= 1
        left = records[f]
        # The side that is too small only gets smaller from here on.
        if n - left < k or (left < k and split != FIRST):
            return -1
        if left >= k:
            middle = _move(data, counts, rows, begin, end, j, ranks[f], _EVERY)
            good = True
            for side in range(2 if judged else 0):
                a, b, size = (begin, middle, left) if side == 0 else (middle, end, n - left)
                good = good and _good(rules, histograms, rows, a, b, size, scratch)
            if good:
                return middle
        if split == MEDIAN:
            return -1
    return -1


@helper
def _sort_rows(data, rows, j, order, spare, n):
    """Sort row places by the rank in a column, equal ranks by the row's number (merging); the sorted ones are in ``order``."""
    length = 1
    while length < n:
        for begin in range(0, n, 2 * length):
            middle, end = min(begin + length, n), min(begin + 2 * length, n)
            a, b = begin, middle
            for place in range(begin, end):
                first = b >= end
                if a < middle and b < end:
                    x, y = order[a], order[b]
                    first = data[x, j] < data[y, j] or (data[x, j] == data[y, j] and rows[x] < rows[y])
                if first:
                    spare[place] = order[a]
                    a += 1
                else:
                    spare[place] = order[b]
                    b += 1
        for i in range(n):
            order[i] = spare[i]
        length *= 2


@helper
def _cut_anywhere(data, counts, rows, begin, end, j, rules, histograms, k, split, judged, scratch):
    """Cut a part of single records between any two of them, equal values in the order of their numbers (relaxed).

    MEDIAN: one half | the other. FIRST and BALANCED: the first cut, or the one nearest to the middle, that leaves both
    sides satisfying. Where the second part begins, or −1.
    """
    n = end - begin
    order = scratch.order
    for i in range(n):
        order[i] = begin + i
    _sort_rows(data, rows, j, order, scratch.spare, n)
    half = (n + 1) // 2
    up = k if split == FIRST else half
    down = half - 1 if split == BALANCED else 0
    whole, above, below = scratch.whole, scratch.above, scratch.below
    for v in range(whole.shape[0]):
        whole[v] = 0
        above[v] = 0
        below[v] = 0
    for i in range(n if judged else 0):
        _add(histograms, rows[order[i]], _ONE, whole)
        if i < up:
            _add(histograms, rows[order[i]], _ONE, above)
        if i < down:
            _add(histograms, rows[order[i]], _ONE, below)
    left = 0
    while left == 0:
        upward = n - up >= k and (down < k or 2 * up - n <= n - 2 * down)
        if not upward and down < k:
            return -1
        place, dense = (up, above) if upward else (down, below)
        good = place >= k
        for side in range(2 if judged else 0):
            if good and side == 0:
                good = _satisfies(rules, place, dense, scratch.none, scratch)
            elif good:
                good = _satisfies(rules, n - place, whole, dense, scratch)
        if good:
            left = place
        elif split == MEDIAN:
            return -1
        elif upward:
            if judged:
                _add(histograms, rows[order[up]], _ONE, above)
            up += 1
        else:
            if judged:
                _add(histograms, rows[order[down - 1]], -_ONE, below)
            down -= 1
    last = order[left - 1]
    return _move(data, counts, rows, begin, end, j, np.int64(data[last, j]), rows[last])


@helper
def _cut_tree(
    data, counts, rows, begin, end, j, lowest, highest, columns, rules, histograms, k, judged, room, ranks, records, scratch, edges
):
    """Cut a part into the groups below the lowest one that holds it; ``edges`` are where they begin; how many, or 0."""
    found = _count_ranks(data, counts, begin, end, j, lowest, highest, room, ranks, records)
    parts = _by_group(columns, j, lowest, highest, found, ranks, records)
    for p in range(parts):
        if records[p] < k:
            return 0
        edges[p] = ranks[p]
    first = begin
    for p in range(parts):
        last = end if p + 1 == parts else _move(data, counts, rows, first, end, j, edges[p], _EVERY)
        if judged and not _good(rules, histograms, rows, first, last, records[p], scratch):
            return 0
        edges[p] = first
        first = last
    return parts


@kernel(
    size=lambda data, counts, rows, columns, rules, histograms, k, split, relaxed, rule, begin, end, *_: (
        (end - begin) * data.shape[1]
    )
)
def partition(data, counts, rows, columns, rules, histograms, k, split, relaxed, rule, begin, end, most, marks):
    """Cut the rows begin … end until nothing can be cut; ``marks`` gets True where a class begins.

    ``relaxed``: rows are single records, and equal values of an ordered column may come on both sides of a cut. With ``most`` > 0 the largest part is always cut first, and the parts that are still open are returned as soon
    as there are so many.
    """
    m = data.shape[1]
    # No literal: for True and False, helpers would be compiled twice.
    judged = np.bool_(False)
    for r in range(rules.kind.shape[0]):
        judged = judged or rules.kind[r] != SIZE
    widest = np.int64(1)
    for j in range(m):
        widest = max(widest, columns.ranks[j])
    room = np.zeros(widest, np.int64)
    ranks = np.empty(widest, np.int64)
    records = np.empty(widest, np.int64)
    edges = np.empty(widest + 1, np.int64)
    widest_rule = np.int64(0)
    for r in range(rules.kind.shape[0]):
        widest_rule = max(widest_rule, rules.width[r])
    domain = max(histograms.domain, 1)
    single = end - begin if relaxed else 0
    scratch = Scratch(
        np.zeros(domain, np.int64),
        np.zeros(domain, np.int64),
        np.empty(domain, np.int32),
        np.empty(domain, np.int64),
        np.empty(1, np.int64),
        np.zeros(2, np.int64),
        np.empty(1),
        np.ones(1, np.bool_),
        np.empty(1, np.int64),
        np.empty(widest_rule, np.int64),
        np.empty((3, widest_rule + 1)),
        np.empty(single, np.int64),
        np.empty(single, np.int64),
        np.empty(domain, np.int64),
        np.empty(domain, np.int64),
        np.empty(domain, np.int64),
    )
    lowest, highest = np.empty(m, np.int64), np.empty(m, np.int64)
    low, high = np.empty(m, np.int64), np.empty(m, np.int64)
    total, squares = np.empty(m, np.int64), np.empty(m, np.int64)
    tried = np.empty(m, np.bool_)
    stack = np.empty((1024, 2), np.int64)
    stack[0, 0], stack[0, 1] = begin, end
    height = 1 if end > begin else 0
    while height > 0:
        if most > 0:
            if height >= most:
                break
            largest = 0
            for s in range(height):
                if stack[s, 1] - stack[s, 0] > stack[largest, 1] - stack[largest, 0]:
                    largest = s
            last = height - 1
            stack[largest, 0], stack[last, 0] = stack[last, 0], stack[largest, 0]
            stack[largest, 1], stack[last, 1] = stack[last, 1], stack[largest, 1]
        height -= 1
        a, b = stack[height, 0], stack[height, 1]
        n = np.int64(0)
        for i in range(a, b):
            n += counts[i]
        parts = 0
        if n >= 2 * k and b - a > 1:
            _measure(data, counts, a, b, columns, rule, lowest, highest, low, high, total, squares, room, ranks, records)
            for x in range(m):
                tried[x] = False
            for _ in range(m):
                j = np.int64(-1)
                for x in range(m):
                    if not tried[x] and (j < 0 or _wider(columns, rule, n, x, j, low, high, total, squares)):
                        j = x
                tried[j] = True
                if lowest[j] == highest[j]:
                    continue
                if columns.kind[j] == TREE and split != BALANCED:
                    parts = _cut_tree(
                        data,
                        counts,
                        rows,
                        a,
                        b,
                        j,
                        lowest[j],
                        highest[j],
                        columns,
                        rules,
                        histograms,
                        k,
                        judged,
                        room,
                        ranks,
                        records,
                        scratch,
                        edges,
                    )
                else:
                    if relaxed and columns.kind[j] == ORDERED:
                        middle = _cut_anywhere(data, counts, rows, a, b, j, rules, histograms, k, split, judged, scratch)
                    else:
                        middle = _cut_in_two(
                            data,
                            counts,
                            rows,
                            a,
                            b,
                            n,
                            j,
                            lowest[j],
                            highest[j],
                            columns,
                            rules,
                            histograms,
                            k,
                            split,
                            judged,
                            room,
                            ranks,
                            records,
                            scratch,
                        )
                    if middle >= 0:
                        edges[0], edges[1] = a, middle
                        parts = 2
                if parts > 0:
                    break
        if parts == 0:
            marks[a] = True
            continue
        if height + parts > stack.shape[0]:
            more = np.empty((2 * (height + parts), 2), np.int64)
            for s in range(height):
                more[s, 0], more[s, 1] = stack[s, 0], stack[s, 1]
            stack = more
        edges[parts] = b
        # The smaller of two parts goes on top: the stack stays low.
        swapped = parts == 2 and edges[1] - a < b - edges[1]
        for p in range(parts):
            q = parts - 1 - p if swapped else p
            stack[height, 0], stack[height, 1] = edges[q], edges[q + 1]
            height += 1
    return stack[:height].copy()
