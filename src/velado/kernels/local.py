"""Local recoding: classes that lose as little as possible, on distinct rows.

Cut into blocks by the loss that a cut saves; within a block, join the class that satisfies no model yet with the neighbour
that costs least (agglomerative k-anonymity, Byun et al. 2007; Xu et al. 2006); then move rows to cheaper classes, dissolve
classes, and make new ones of rows that others can spare, while that loses less.

A class is described column by column by two whole numbers. ORDERED: its lowest and highest place. TREE: the place of one of its
values, and the level at which one group holds all of them. SET: the values themselves, as bits. Rows of a class are a chain
(``head``, ``following``); classes have the numbers of rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from velado.kernels.compiler import helper, kernel
from velado.kernels.grouping import sort_ascending
from velado.kernels.measures import SIZE, judge_rule

ORDERED, TREE, SET = 0, 1, 2
WIDEST_SET = 62
"""Values of a column at most that stand as bits of one number."""
LARGEST_CLASS = 512
"""Rows of classes at most that are taken apart."""
LARGEST_NEW = 64
"""Rows of a new class at most."""
_NEVER = 1e300
_LEAST = 1e-12
"""Less is not gained: sums differ in their last digits."""


class Columns(NamedTuple):
    """What cells of a class cost, column by column; costs carry the weights of columns.

    ORDERED: ``up[at + highest] − down[at + lowest]``. SET: ``unit`` for each value but the first. Both: ``whole`` where missing values
    (at place ``missing``) are mixed with others.
    TREE: ``price[tree_at + level·places + place]``, groups likewise in ``group``.
    """

    kind: np.ndarray
    places: np.ndarray
    at: np.ndarray
    up: np.ndarray
    down: np.ndarray
    missing: np.ndarray
    whole: np.ndarray
    tree_at: np.ndarray
    group: np.ndarray
    price: np.ndarray
    unit: np.ndarray


class Members(NamedTuple):
    """Distinct rows: the place of each value, how many records each has, their sensitive values as in a frequency table."""

    data: np.ndarray
    counts: np.ndarray
    start: np.ndarray
    values: np.ndarray
    value_counts: np.ndarray


class Partition(NamedTuple):
    """Classes: cells, records, cost per record, chains of rows; the class of each row."""

    low: np.ndarray
    high: np.ndarray
    size: np.ndarray
    cost: np.ndarray
    head: np.ndarray
    following: np.ndarray
    class_of: np.ndarray


class Room(NamedTuple):
    """Scratch of one call: a histogram, the values that it has, a class as `judge_rule` sees it."""

    dense: np.ndarray
    used: np.ndarray
    counts: np.ndarray
    sizes: np.ndarray
    start: np.ndarray
    figures: np.ndarray
    satisfied: np.ndarray
    keepable: np.ndarray
    buffer: np.ndarray
    reals: np.ndarray


def room_for(domain: int, widest: int) -> Room:
    """Scratch for so many sensitive values, of rules that are so wide."""
    return Room(
        np.zeros(domain, dtype=np.int64),
        np.zeros(domain + 1, dtype=np.int32),
        np.zeros(domain + 1, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.zeros(2, dtype=np.int64),
        np.zeros(1, dtype=np.float64),
        np.zeros(1, dtype=np.bool_),
        np.zeros(1, dtype=np.int64),
        np.zeros(widest + 1, dtype=np.int64),
        np.zeros((3, widest + 1), dtype=np.float64),
    )


@helper
def _bits(mask):
    """How many values a set has."""
    n = 0
    while mask:
        mask &= mask - 1
        n += 1
    return n


@helper
def _first_high(columns, j, place):
    """The second number of the cell of a single value."""
    return place if columns.kind[j] == ORDERED else 0


@helper
def _first_low(columns, j, place):
    """The first number of the cell of a single value."""
    return np.int64(1) << np.int64(place) if columns.kind[j] == SET else np.int64(place)


@helper
def _cell_cost(columns, j, low, high):
    """What the cell of a class costs each of its records."""
    kind = columns.kind[j]
    if kind == ORDERED:
        if high == columns.missing[j] and low != high:
            return columns.whole[j]
        return columns.up[columns.at[j] + high] - columns.down[columns.at[j] + low]
    if kind == TREE:
        return columns.price[columns.tree_at[j] + high * columns.places[j] + low]
    values = _bits(low)
    if values > 1 and columns.missing[j] >= 0 and (low >> columns.missing[j]) & 1:
        return columns.whole[j]
    return columns.unit[j] * (values - 1)


@helper
def _join_low(columns, j, low, other):
    """The first number of the cell that holds two."""
    kind = columns.kind[j]
    if kind == ORDERED:
        return min(low, other)
    if kind == TREE:
        return low
    return low | other


@helper
def _join_high(columns, j, low, high, other_low, other_high):
    """The second number of the cell that holds two."""
    kind = columns.kind[j]
    if kind == TREE:
        level = max(high, other_high)
        at = columns.tree_at[j] + level * columns.places[j]
        while columns.group[at + low] != columns.group[at + other_low]:
            level += 1
            at += columns.places[j]
        return level
    return max(high, other_high)


@helper
def _joined_cost(columns, low, high, other_low, other_high, limit):
    """What the class that holds two costs each record; at least ``limit``, whatever it is, as soon as it is not below."""
    total = 0.0
    for j in range(low.shape[0]):
        x = _join_low(columns, j, low[j], other_low[j])
        y = _join_high(columns, j, low[j], high[j], other_low[j], other_high[j])
        total += _cell_cost(columns, j, x, y)
        if total >= limit:
            return total
    return total


@helper
def _cost_with(columns, low, high, values, limit):
    """The same of a class and one row."""
    total = 0.0
    for j in range(low.shape[0]):
        other = _first_low(columns, j, values[j])
        x = _join_low(columns, j, low[j], other)
        y = _join_high(columns, j, low[j], high[j], other, _first_high(columns, j, values[j]))
        total += _cell_cost(columns, j, x, y)
        if total >= limit:
            return total
    return total


@helper
def _take_in(columns, low, high, values):
    """Let the cells of a class hold a row as well; what it costs each record then."""
    total = 0.0
    for j in range(low.shape[0]):
        other = _first_low(columns, j, values[j])
        y = _join_high(columns, j, low[j], high[j], other, _first_high(columns, j, values[j]))
        low[j] = _join_low(columns, j, low[j], other)
        high[j] = y
        total += _cell_cost(columns, j, low[j], high[j])
    return total


@helper
def _begin_with(columns, low, high, values):
    """Let the cells of a class hold one row."""
    total = 0.0
    for j in range(low.shape[0]):
        low[j] = _first_low(columns, j, values[j])
        high[j] = _first_high(columns, j, values[j])
        total += _cell_cost(columns, j, low[j], high[j])
    return total


@helper
def _gather(members, row, room, used):
    """Add a row's sensitive values to the histogram; how many different ones it has."""
    for e in range(members.start[row], members.start[row + 1]):
        v = members.values[e]
        if room.dense[v] == 0:
            room.used[used] = v
            used += 1
        room.dense[v] += members.value_counts[e]
    return used


@helper
def _judge(rules, n, room, used):
    """Whether a class of n records with the histogram satisfies all rules; the histogram is empty afterwards."""
    sort_ascending(room.used, used)
    for u in range(used):
        room.counts[u] = room.dense[room.used[u]]
        room.dense[room.used[u]] = 0
    room.sizes[0] = n
    room.start[1] = used
    room.satisfied[0] = True
    for r in range(rules.kind.shape[0]):
        if rules.kind[r] != SIZE:
            room.keepable[0] = 1
            judge_rule(
                rules,
                r,
                np.int64(1),
                room.sizes,
                room.start,
                room.used,
                room.counts,
                room.figures,
                room.satisfied,
                room.keepable,
                np.bool_(False),
                room.buffer,
                room.reals,
            )
            if not room.satisfied[0]:
                return False
    return True


@helper
def _is_good(members, parts, c, without, beside, rules, k, judged, room):
    """Whether a class satisfies the models, without one of its rows and with one of others (−1: none)."""
    n = parts.size[c]
    if without >= 0:
        n -= members.counts[without]
    if beside >= 0:
        n += members.counts[beside]
    if n < k:
        return False
    if not judged:
        return True
    used = np.int64(0)
    row = parts.head[c]
    while row >= 0:
        if row != without:
            used = _gather(members, row, room, used)
        row = parts.following[row]
    if beside >= 0:
        used = _gather(members, beside, room, used)
    return _judge(rules, n, room, used)


@helper
def _unlink(parts, c, row):
    """Take a row out of the chain of its class."""
    if parts.head[c] == row:
        parts.head[c] = parts.following[row]
        return
    before = parts.head[c]
    while parts.following[before] != row:
        before = parts.following[before]
    parts.following[before] = parts.following[row]


@helper
def _link(parts, c, row):
    """Put a row into a class."""
    parts.following[row] = parts.head[c]
    parts.head[c] = row
    parts.class_of[row] = c


@helper
def _fit(columns, members, parts, c, without, low, high):
    """The cells that hold a class without one of its rows; what they cost each record."""
    first = True
    total = 0.0
    row = parts.head[c]
    while row >= 0:
        if row != without:
            if first:
                total = _begin_with(columns, low, high, members.data[row])
                first = False
            else:
                total = _take_in(columns, low, high, members.data[row])
        row = parts.following[row]
    return total


@helper
def _best_cut_between(members, columns, order, begin, end, j, records, room):
    """The cut of an ordered column that saves the most: what it saves, and the last place of the first part."""
    low = columns.places[j]
    high = np.int64(-1)
    for i in range(begin, end):
        place = members.data[order[i], j]
        room[place] += members.counts[order[i]]
        low = min(low, place)
        high = max(high, place)
    best = 0.0
    cut = np.int64(-1)
    before = np.int64(0)
    last = low
    whole = records * _cell_cost(columns, j, low, high)
    for place in range(low, high + 1):
        if room[place] == 0:
            continue
        if place > low:
            left = before * _cell_cost(columns, j, low, last)
            saved = whole - left - (records - before) * _cell_cost(columns, j, place, high)
            # A sliver saves much in this column, and leaves nothing to cut in others.
            saved *= min(1.0, 10.0 * min(before, records - before) / records)
            if saved > best:
                best = saved
                cut = last
        before += room[place]
        last = place
    for place in range(low, high + 1):
        room[place] = 0
    return best, cut


@helper
def _best_cut_into_groups(members, columns, order, begin, end, j, records):
    """Cutting a tree into the groups below the one that holds all, or a set into its values: what it saves, and the level."""
    first = members.data[order[begin], j]
    if columns.kind[j] == SET:
        mask = np.int64(0)
        for i in range(begin, end):
            mask |= np.int64(1) << np.int64(members.data[order[i], j])
        return records * _cell_cost(columns, j, mask, 0), np.int64(0)
    level = np.int64(0)
    for i in range(begin + 1, end):
        level = _join_high(columns, j, first, level, members.data[order[i], j], np.int64(0))
    if level == 0:
        return 0.0, np.int64(0)
    at = columns.tree_at[j] + (level - 1) * columns.places[j]
    below = 0.0
    for i in range(begin, end):
        below += members.counts[order[i]] * columns.price[at + members.data[order[i], j]]
    return records * _cell_cost(columns, j, first, level) - below, level - 1


@kernel(size=lambda members, columns, order, *_: 20 * len(order))
def cut_blocks(members, columns, order, most, begins):
    """Cut rows into blocks of at most ``most`` rows: ``order`` are the rows block by block, ``begins`` where each begins.

    Each cut is the one that saves the most loss: an ordered column between two values, another into all its groups.
    """
    n = order.shape[0]
    m = members.data.shape[1]
    widest = np.int64(1)
    for j in range(m):
        widest = max(widest, columns.places[j])
    room = np.zeros(widest, dtype=np.int64)
    spare = np.empty(n, dtype=np.int64)
    stack = np.empty((n + 2, 2), dtype=np.int64)
    stack[0, 0] = 0
    stack[0, 1] = n
    waiting = 1
    while waiting > 0:
        waiting -= 1
        begin = stack[waiting, 0]
        end = stack[waiting, 1]
        begins[begin] = True
        if end - begin <= most:
            continue
        records = np.int64(0)
        for i in range(begin, end):
            records += members.counts[order[i]]
        best = _LEAST
        column = np.int64(-1)
        where = np.int64(0)
        for j in range(m):
            if columns.kind[j] == ORDERED:
                saved, at = _best_cut_between(members, columns, order, begin, end, j, records, room)
            else:
                saved, at = _best_cut_into_groups(members, columns, order, begin, end, j, records)
            if saved > best:
                best = saved
                column = j
                where = at
        if column < 0:
            continue
        for i in range(begin, end):
            room[_part_of(members, columns, order[i], column, where)] += 1
        at = begin
        for part in range(columns.places[column]):
            size = room[part]
            if size > 0:
                stack[waiting, 0] = at
                stack[waiting, 1] = at + size
                waiting += 1
                room[part] = at
                at += size
        for i in range(begin, end):
            part = _part_of(members, columns, order[i], column, where)
            spare[room[part]] = order[i]
            room[part] += 1
        for i in range(begin, end):
            room[_part_of(members, columns, order[i], column, where)] = 0
        for i in range(begin, end):
            order[i] = spare[i]


@helper
def _part_of(members, columns, row, j, where):
    """The part of a row after a cut."""
    place = members.data[row, j]
    if columns.kind[j] == ORDERED:
        return np.int64(0) if place <= where else np.int64(1)
    if columns.kind[j] == SET:
        return np.int64(place)
    return np.int64(columns.group[columns.tree_at[j] + where * columns.places[j] + place])


@helper
def _increase(columns, parts, p, q, limit):
    """How much more all records of two classes cost together than apart; _NEVER if it is not below ``limit``."""
    n = parts.size[p] + parts.size[q]
    apart = parts.size[p] * parts.cost[p] + parts.size[q] * parts.cost[q]
    most = (limit + apart) / n
    cost = _joined_cost(columns, parts.low[p], parts.high[p], parts.low[q], parts.high[q], most)
    return n * cost - apart if cost < most else _NEVER


@helper
def _nearest(columns, parts, active, number, p, near, increase):
    """Find the class that is joined with p at the least cost."""
    best = _NEVER
    found = np.int64(-1)
    for i in range(number):
        q = active[i]
        if q != p:
            more = _increase(columns, parts, p, q, best)
            if more < best:
                best = more
                found = q
    near[p] = found
    increase[p] = best


@kernel(size=lambda members, columns, parts, rows, *_: 4 * len(rows) * len(rows))
def agglomerate(members, columns, parts, rows, rules, k, judged, room, near, increase, good):
    """Join the rows of a block to classes that satisfy the models; one class is left if nothing less does.

    A class that does not satisfy them is joined with its nearest, the one first for which this costs least per record.
    """
    n = rows.shape[0]
    active = rows.copy()
    number = n
    open_classes = 0
    for i in range(n):
        r = rows[i]
        parts.head[r] = r
        parts.following[r] = -1
        parts.class_of[r] = r
        parts.size[r] = members.counts[r]
        parts.cost[r] = _begin_with(columns, parts.low[r], parts.high[r], members.data[r])
    for i in range(n):
        r = rows[i]
        good[r] = _is_good(members, parts, r, -1, -1, rules, k, judged, room)
        if not good[r]:
            open_classes += 1
            _nearest(columns, parts, active, number, r, near, increase)
    while open_classes > 0 and number > 1:
        best = np.inf
        p = np.int64(-1)
        for i in range(number):
            q = active[i]
            if not good[q]:
                price = increase[q] / parts.size[q]
                if price < best:
                    best = price
                    p = q
        q = near[p]
        open_classes -= 1
        if not good[q]:
            open_classes -= 1
        _unite(columns, members, parts, p, q)
        for i in range(number):
            if active[i] == q:
                number -= 1
                active[i] = active[number]
                break
        good[p] = _is_good(members, parts, p, -1, -1, rules, k, judged, room)
        if not good[p]:
            open_classes += 1
            if number > 1:
                _nearest(columns, parts, active, number, p, near, increase)
        for i in range(number):
            r = active[i]
            if r == p or good[r]:
                continue
            if near[r] == p or near[r] == q:
                _nearest(columns, parts, active, number, r, near, increase)
            else:
                more = _increase(columns, parts, r, p, increase[r])
                if more < increase[r]:
                    increase[r] = more
                    near[r] = p


@helper
def _unite(columns, members, parts, p, q):
    """Put all rows of q into p."""
    total = 0.0
    for j in range(parts.low.shape[1]):
        high = _join_high(columns, j, parts.low[p, j], parts.high[p, j], parts.low[q, j], parts.high[q, j])
        parts.low[p, j] = _join_low(columns, j, parts.low[p, j], parts.low[q, j])
        parts.high[p, j] = high
        total += _cell_cost(columns, j, parts.low[p, j], high)
    parts.cost[p] = total
    parts.size[p] += parts.size[q]
    parts.size[q] = 0
    row = parts.head[q]
    last = row
    while row >= 0:
        parts.class_of[row] = p
        last = row
        row = parts.following[row]
    parts.following[last] = parts.head[p]
    parts.head[p] = parts.head[q]
    parts.head[q] = -1


@helper
def _cheapest(columns, members, parts, classes, c, row, limit):
    """The class other than c that takes a row in at the least cost below ``limit``, or −1; what it costs."""
    best = limit
    found = np.int64(-1)
    count = members.counts[row]
    for i in range(classes.shape[0]):
        d = classes[i]
        if d == c or parts.size[d] == 0:
            continue
        n = parts.size[d] + count
        own = parts.size[d] * parts.cost[d]
        most = (best + own) / n
        cost = _cost_with(columns, parts.low[d], parts.high[d], members.data[row], most)
        if cost < most:
            best = n * cost - own
            found = d
    return found, best


@helper
def _put(columns, members, parts, d, row):
    """Put a row into a class."""
    parts.cost[d] = _take_in(columns, parts.low[d], parts.high[d], members.data[row])
    parts.size[d] += members.counts[row]
    _link(parts, d, row)


@helper
def _dissolve(columns, members, parts, classes, c, rules, k, judged, room, rows, targets, low, high, size, cost):
    """Give every row of a class to the cheapest other one, if that loses less; whether it was done.

    ``low`` … ``cost`` remember how the classes were that took a row in: if one does not satisfy the models, all is undone.
    """
    number = 0
    row = parts.head[c]
    while row >= 0:
        if number == LARGEST_NEW:
            return False
        rows[number] = row
        number += 1
        row = parts.following[row]
    own = parts.size[c] * parts.cost[c] - _LEAST
    total = 0.0
    for i in range(number):
        found, more = _cheapest(columns, members, parts, classes, c, rows[i], own - total)
        if found < 0:
            return False
        targets[i] = found
        total += more
    before = parts.size[c]
    spent = 0.0
    done = number
    for i in range(number):
        d = targets[i]
        for j in range(low.shape[1]):
            low[i, j] = parts.low[d, j]
            high[i, j] = parts.high[d, j]
        size[i] = parts.size[d]
        cost[i] = parts.cost[d]
        _put(columns, members, parts, d, rows[i])
        spent += parts.size[d] * parts.cost[d] - size[i] * cost[i]
    # Two rows that went to one class may cost it more than each alone.
    good = spent < own
    if good and judged:
        for i in range(number):
            if not _is_good(members, parts, targets[i], -1, -1, rules, k, judged, room):
                good = False
                break
    if good:
        parts.size[c] = 0
        parts.cost[c] = 0.0
        parts.head[c] = -1
        return True
    for x in range(done):
        i = done - 1 - x
        d = targets[i]
        parts.head[d] = parts.following[rows[i]]
        for j in range(low.shape[1]):
            parts.low[d, j] = low[i, j]
            parts.high[d, j] = high[i, j]
        parts.size[d] = size[i]
        parts.cost[d] = cost[i]
    parts.head[c] = -1
    for x in range(number):
        _link(parts, c, rows[number - 1 - x])
    parts.size[c] = before
    return False


@helper
def _move_one(columns, members, parts, classes, c, rules, k, judged, room, low, high):
    """Move the first row of a class that is cheaper elsewhere; whether there was one."""
    row = parts.head[c]
    if parts.following[row] < 0:
        return False
    while row >= 0:
        n = parts.size[c] - members.counts[row]
        if n >= k:
            cost = _fit(columns, members, parts, c, row, low, high)
            gain = parts.size[c] * parts.cost[c] - n * cost
            if gain > _LEAST:
                found, _ = _cheapest(columns, members, parts, classes, c, row, gain - _LEAST)
                if (
                    found >= 0
                    and (not judged or _is_good(members, parts, c, row, -1, rules, k, judged, room))
                    and (not judged or _is_good(members, parts, found, -1, row, rules, k, judged, room))
                ):
                    _unlink(parts, c, row)
                    for j in range(low.shape[0]):
                        parts.low[c, j] = low[j]
                        parts.high[c, j] = high[j]
                    parts.cost[c] = cost
                    parts.size[c] = n
                    _put(columns, members, parts, found, row)
                    return True
        row = parts.following[row]
    return False


@kernel(size=lambda members, columns, parts, classes, *_: 50 * len(classes) * len(classes))
def improve(members, columns, parts, classes, rules, k, judged, room):
    """Dissolve classes and move rows between the classes of a block, while that loses less; how often something was done."""
    m = members.data.shape[1]
    rows = np.empty(LARGEST_NEW, dtype=np.int64)
    targets = np.empty(LARGEST_NEW, dtype=np.int64)
    lows = np.empty((LARGEST_NEW, m), dtype=np.int64)
    highs = np.empty((LARGEST_NEW, m), dtype=np.int64)
    sizes = np.empty(LARGEST_NEW, dtype=np.int64)
    costs = np.empty(LARGEST_NEW, dtype=np.float64)
    low = np.empty(m, dtype=np.int64)
    high = np.empty(m, dtype=np.int64)
    done = 0
    for i in range(classes.shape[0]):
        c = classes[i]
        number = 0
        row = parts.head[c]
        while row >= 0 and number <= LARGEST_CLASS:
            number += 1
            row = parts.following[row]
        if number == 0 or number > LARGEST_CLASS:
            continue
        if _dissolve(columns, members, parts, classes, c, rules, k, judged, room, rows, targets, lows, highs, sizes, costs):
            done += 1
            continue
        while _move_one(columns, members, parts, classes, c, rules, k, judged, room, low, high):
            done += 1
    return done


@helper
def _grow(columns, members, parts, rows, seed, k, thorough, taken, used, lent, low, high):
    """Rows that could leave their classes for a new one around a row: how many seem worth it, 0 if none do.

    What their classes gain is not counted; ``thorough``: so even what seems to lose is tried.
    """
    first = rows[seed]
    records = members.counts[first]
    gain = records * parts.cost[parts.class_of[first]]
    cost = _begin_with(columns, low, high, members.data[first])
    gain -= records * cost
    taken[0] = seed
    used[seed] = True
    lent[parts.class_of[first]] += records
    number = 1
    best = -_NEVER if thorough else _LEAST
    worth = 0
    while number < LARGEST_NEW:
        most = -_NEVER
        chosen = np.int64(-1)
        for i in range(rows.shape[0]):
            if used[i]:
                continue
            row = rows[i]
            c = parts.class_of[row]
            count = members.counts[row]
            if parts.size[c] - lent[c] - count < k:
                continue
            n = records + count
            limit = (count * parts.cost[c] + records * cost - most) / n
            price = _cost_with(columns, low, high, members.data[row], limit)
            if price < limit:
                most = count * parts.cost[c] + records * cost - n * price
                chosen = i
        if chosen < 0 or (records >= k and most <= 0):
            break
        row = rows[chosen]
        used[chosen] = True
        taken[number] = chosen
        number += 1
        lent[parts.class_of[row]] += members.counts[row]
        cost = _take_in(columns, low, high, members.data[row])
        records += members.counts[row]
        gain += most
        if records >= k and gain > best:
            best = gain
            worth = number
        if records < k and gain < -0.5 * records and not thorough:
            break
    for i in range(number):
        used[taken[i]] = False
        lent[parts.class_of[rows[taken[i]]]] = 0
    return worth


@kernel(size=lambda members, columns, parts, classes, *_: 50 * len(classes) * len(classes))
def make_classes(members, columns, parts, classes, free, lent, thorough, rules, k, judged, room):
    """Make new classes of rows that the classes of a block can spare, where that loses less; ``free``: numbers for them.

    How many were made. ``lent`` is zero for every class, and is so again afterwards.
    """
    m = members.data.shape[1]
    total = 0
    for i in range(classes.shape[0]):
        row = parts.head[classes[i]]
        while row >= 0:
            total += 1
            row = parts.following[row]
    rows = np.empty(total, dtype=np.int64)
    total = 0
    for i in range(classes.shape[0]):
        row = parts.head[classes[i]]
        while row >= 0:
            rows[total] = row
            total += 1
            row = parts.following[row]
    used = np.zeros(total, dtype=np.bool_)
    taken = np.empty(LARGEST_NEW, dtype=np.int64)
    former = np.empty(LARGEST_NEW, dtype=np.int64)
    low = np.empty(m, dtype=np.int64)
    high = np.empty(m, dtype=np.int64)
    made = 0
    for seed in range(total):
        if made == free.shape[0]:
            break
        row = rows[seed]
        c = parts.class_of[row]
        if parts.cost[c] <= _LEAST or parts.size[c] - members.counts[row] < k:
            continue
        number = _grow(columns, members, parts, rows, seed, k, thorough, taken, used, lent, low, high)
        if number == 0:
            continue
        e = free[made]
        parts.size[e] = 0
        parts.head[e] = -1
        saved = 0.0
        for i in range(number):
            row = rows[taken[i]]
            former[i] = parts.class_of[row]
            _unlink(parts, former[i], row)
            parts.size[former[i]] -= members.counts[row]
            parts.size[e] += members.counts[row]
            saved += members.counts[row] * parts.cost[former[i]]
            _link(parts, e, row)
        saved -= parts.size[e] * _fit(columns, members, parts, e, -1, parts.low[e], parts.high[e])
        for i in range(number):
            d = former[i]
            before = parts.cost[d]
            parts.cost[d] = _fit(columns, members, parts, d, -1, parts.low[d], parts.high[d])
            saved += parts.size[d] * (before - parts.cost[d])
        good = saved > _LEAST
        if good and judged:
            good = _is_good(members, parts, e, -1, -1, rules, k, judged, room)
            for i in range(number):
                good = good and _is_good(members, parts, former[i], -1, -1, rules, k, judged, room)
        if good:
            parts.cost[e] = _fit(columns, members, parts, e, -1, parts.low[e], parts.high[e])
            made += 1
            continue
        for i in range(number):
            row = rows[taken[i]]
            _unlink(parts, e, row)
            _link(parts, former[i], row)
            parts.size[former[i]] += members.counts[row]
        for i in range(number):
            d = former[i]
            parts.cost[d] = _fit(columns, members, parts, d, -1, parts.low[d], parts.high[d])
        parts.size[e] = 0
    return made


@kernel(size=lambda members, rows, *_: len(rows))
def rows_satisfy(members, rows, rules, k, judged, room):
    """Whether rows satisfy the models as one class."""
    n = np.int64(0)
    used = np.int64(0)
    for i in range(rows.shape[0]):
        n += members.counts[rows[i]]
        if judged:
            used = _gather(members, rows[i], room, used)
    good = _judge(rules, n, room, used) if judged else True
    return good and n >= k


@kernel(size=lambda columns, parts: parts.low.size)
def column_costs(columns, parts):
    """What all records lose, column by column."""
    m = parts.low.shape[1]
    total = np.zeros(m, dtype=np.float64)
    for c in range(parts.size.shape[0]):
        if parts.size[c] > 0:
            for j in range(m):
                total[j] += parts.size[c] * _cell_cost(columns, j, parts.low[c, j], parts.high[c, j])
    return total


@kernel(size=lambda columns, parts: parts.low.size)
def price_anew(columns, parts):
    """What each class costs, after the columns' costs have changed."""
    for c in range(parts.size.shape[0]):
        if parts.size[c] > 0:
            total = 0.0
            for j in range(parts.low.shape[1]):
                total += _cell_cost(columns, j, parts.low[c, j], parts.high[c, j])
            parts.cost[c] = total


@kernel(size=lambda members, columns, parts, class_of: members.data.size)
def begin_from(members, columns, parts, class_of):
    """Let the classes be those of another partition, each with the number of its first row."""
    for c in range(class_of.shape[0]):
        parts.head[c] = -1
        parts.size[c] = 0
        parts.cost[c] = 0.0
    for x in range(class_of.shape[0]):
        row = class_of.shape[0] - 1 - x
        c = class_of[row]
        if parts.size[c] == 0:
            parts.cost[c] = _begin_with(columns, parts.low[c], parts.high[c], members.data[row])
        else:
            parts.cost[c] = _take_in(columns, parts.low[c], parts.high[c], members.data[row])
        parts.size[c] += members.counts[row]
        _link(parts, c, row)


@kernel(size=lambda members, *_: 4 * members.data.size)
def withdrawals(members, columns, parts, k, gains):
    """What is gained for each row if it is suppressed, a suppressed record losing everything; what is not gained is 0."""
    m = members.data.shape[1]
    low = np.empty(m, dtype=np.int64)
    high = np.empty(m, dtype=np.int64)
    everything = columns.whole.sum()
    for row in range(members.data.shape[0]):
        c = parts.class_of[row]
        n = parts.size[c] - members.counts[row]
        gains[row] = 0.0
        if n >= k and parts.cost[c] > _LEAST:
            cost = _fit(columns, members, parts, c, row, low, high)
            gains[row] = max(0.0, parts.size[c] * parts.cost[c] - n * cost - members.counts[row] * everything)


@kernel(size=lambda members, *_: members.data.shape[1])
def withdraw(members, columns, parts, row, rules, k, judged, room):
    """Take a row out of its class if the others still satisfy the models and lose less for it; whether it was done."""
    m = members.data.shape[1]
    low = np.empty(m, dtype=np.int64)
    high = np.empty(m, dtype=np.int64)
    c = parts.class_of[row]
    if not _is_good(members, parts, c, row, -1, rules, k, judged, room):
        return False
    n = parts.size[c] - members.counts[row]
    cost = _fit(columns, members, parts, c, row, low, high)
    if parts.size[c] * parts.cost[c] - n * cost - members.counts[row] * columns.whole.sum() <= _LEAST:
        return False
    _unlink(parts, c, row)
    parts.size[c] = n
    parts.cost[c] = cost
    for j in range(m):
        parts.low[c, j] = low[j]
        parts.high[c, j] = high[j]
    return True
