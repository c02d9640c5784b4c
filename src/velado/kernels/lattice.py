"""Branch and bound over the generalization lattice.

Nodes are numbered in mixed radix, first column most significant, so numbers grow in lexicographic
order. Two facts carry the search:

* *From above.* If a class violates the models, then any finer recoding suppresses part of it
  (`measures.judge`). So ``suppressed[v]``, the records that node v must suppress at least, is
  inherited by every finer node.
* *Bound.* Keeping the N − x records that are cheapest in a column bounds the column's cost for
  any node that suppresses at least x records; the objective is monotone in the columns' costs.

`climb_nodes` repeatedly takes the open node with the lowest bound, climbs from it to coarser open
nodes, and evaluates a node high on that path: what it must suppress raises the bounds of all nodes
below it, and a good value closes the nodes whose bound is beyond it. Nodes are grouped from the smallest finer node that is stored
(roll-up). Where that closes too few nodes, `sweep_nodes` evaluates what is left range by range, coarse
ranges first, each range in lexicographic order, each node from its nearest ancestor on a stack. Every node not evaluated has a bound beyond
the best value found, which proves the optimum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from velado.kernels.compiler import helper, kernel
from velado.kernels.grouping import add_rows, compress, group, merge_histograms, summarize
from velado.kernels.measures import judge_rule

# How the columns' costs, or the classes, make the objective.
GEOMETRIC, SUM, DISCERNIBILITY, AVERAGE = range(4)
# Slots of `Search.integers`.
HEAP, BASES, ROWS_USED, ENTRIES_USED, EVALUATED, WORKER, STOP = range(7)
TIE = 1e-12
CLIMB = 0.95
SHRINK = 0.8


class Tables(NamedTuple):
    """The frequency table and the hierarchies as arrays; see `grouping`. ``sweep``: columns, slowest first."""

    cells: np.ndarray
    maps: np.ndarray
    first: np.ndarray
    radix: np.ndarray
    depth: np.ndarray
    strides: np.ndarray
    sweep: np.ndarray
    histogram_domain: int
    records: int


class Objective(NamedTuple):
    """Costs per leaf and level, and per (column, level) the cheapest-first cumulative costs."""

    kind: int
    cost: np.ndarray
    suppressed_cost: np.ndarray
    scale: np.ndarray
    shift: np.ndarray
    sorted_at: np.ndarray
    sorted_records: np.ndarray
    sorted_costs: np.ndarray
    smallest_class: int
    limit: int


class Search(NamedTuple):
    """What is known of each node, the heap of open nodes, and the stored groupings (bases).

    ``lower`` is a node's bound when it had to suppress ``bound_for`` records; ``key`` is what the
    heap was ordered by, perhaps an older bound. ``tried``: was considered as a halfway base. ``best`` has a place for each thread (``WORKER``); who wants a running kernel to return sets ``STOP``. A base's histograms are dense rows if ``dense`` has columns, else sparse entries, if any.
    """

    lower: np.ndarray
    key: np.ndarray
    bound_for: np.ndarray
    suppressed: np.ndarray
    finer: np.ndarray
    closed: np.ndarray
    tried: np.ndarray
    value: np.ndarray
    base: np.ndarray
    heap: np.ndarray
    base_first: np.ndarray
    base_rows: np.ndarray
    base_entries: np.ndarray
    base_node: np.ndarray
    rows: np.ndarray
    sizes: np.ndarray
    dense: np.ndarray
    start: np.ndarray
    values: np.ndarray
    counts: np.ndarray
    integers: np.ndarray
    best: np.ndarray


class Scratch(NamedTuple):
    """Buffers of one evaluation."""

    keys: np.ndarray
    table_keys: np.ndarray
    table_ids: np.ndarray
    ids: np.ndarray
    starts: np.ndarray
    order: np.ndarray
    totals: np.ndarray
    touched: np.ndarray
    class_start: np.ndarray
    class_values: np.ndarray
    class_counts: np.ndarray
    figures: np.ndarray
    satisfied: np.ndarray
    keepable: np.ndarray
    column_cost: np.ndarray
    price: np.ndarray
    digits: np.ndarray
    box: np.ndarray
    buffer: np.ndarray
    reals: np.ndarray


@helper
def levels_of(strides, depth, node, levels):
    """Write the level vector of a node number."""
    for j in range(levels.shape[0]):
        levels[j] = node // strides[j] % depth[j]


@helper
def _combine(kind, scale, shift, costs):
    total = 1.0 if kind == GEOMETRIC else 0.0
    for j in range(costs.shape[0]):
        loss = max(0.0, scale[j] * costs[j] + shift[j])
        if kind == GEOMETRIC:
            total *= 1.0 + loss
        else:
            total += loss
    if kind == GEOMETRIC:
        return total ** (1.0 / max(costs.shape[0], 1)) - 1.0
    return total


@helper
def _cheapest(sorted_records, sorted_costs, at, stop, records):
    """Cost of the given number of records, cheapest first."""
    low = at
    high = stop - 1
    if records >= sorted_records[high]:
        low = high
    while low < high:
        middle = (low + high) // 2
        if sorted_records[middle] < records:
            low = middle + 1
        else:
            high = middle
    before = max(low - 1, at)
    span = sorted_records[low] - sorted_records[before]
    share = (records - sorted_records[before]) / span if span > 0 else 0.0
    return sorted_costs[before] + share * (sorted_costs[low] - sorted_costs[before])


@helper
def bound_of(strides, depth, records, objective, must_suppress, finer, bound_for, lower, node, costs):
    """Lower bound of the objective at a node; infinite if it must suppress too much."""
    suppressed = must_suppress[node]
    if suppressed > objective.limit or suppressed >= records:
        return np.inf
    kept = records - suppressed
    if objective.kind == DISCERNIBILITY:
        return max(finer[node], float(suppressed) * records + float(kept) * objective.smallest_class)
    if objective.kind == AVERAGE:
        return max(float(objective.smallest_class), (records - objective.limit) / finer[node])
    if bound_for[node] == suppressed:
        return lower[node]
    bound_for[node] = suppressed
    sorted_at = objective.sorted_at
    sorted_records = objective.sorted_records
    sorted_costs = objective.sorted_costs
    suppressed_cost = objective.suppressed_cost
    for j in range(costs.shape[0]):
        level = node // strides[j] % depth[j]
        cost = _cheapest(sorted_records, sorted_costs, sorted_at[j, level], sorted_at[j, level + 1], kept)
        costs[j] = cost + suppressed * suppressed_cost[j]
    return _combine(objective.kind, objective.scale, objective.shift, costs)


@helper
def _threshold(values):
    """Nodes with a bound above this cannot be optimal, not even tied."""
    best = values[0]
    for i in range(1, values.shape[0]):
        best = min(best, values[i])
    return best + TIE * max(1.0, abs(best)) if best < np.inf else np.inf


@helper
def _push(heap, lower, integers, node):
    i = integers[HEAP]
    integers[HEAP] += 1
    while i > 0:
        parent = (i - 1) // 2
        above = heap[parent]
        if lower[above] < lower[node] or (lower[above] == lower[node] and above < node):
            break
        heap[i] = above
        i = parent
    heap[i] = node


@helper
def _pop(heap, lower, integers):
    top = heap[0]
    integers[HEAP] -= 1
    n = integers[HEAP]
    node = heap[n]
    i = 0
    while 2 * i + 1 < n:
        child = 2 * i + 1
        if child + 1 < n:
            left = heap[child]
            right = heap[child + 1]
            if lower[right] < lower[left] or (lower[right] == lower[left] and right < left):
                child += 1
        if lower[node] < lower[heap[child]] or (lower[node] == lower[heap[child]] and node < heap[child]):
            break
        heap[i] = heap[child]
        i = child
    heap[i] = node
    return top


@kernel(size=lambda tables, objective, search, first, last: last - first)
def start_search(tables, objective, search, first, last):
    """First bounds of the nodes first … last−1, nothing evaluated. The nodes are begun in ascending order."""
    costs = np.empty(tables.strides.shape[0])
    if first == 0:
        search.integers[HEAP] = 0
        search.integers[EVALUATED] = 0
        search.best[:] = np.inf
    for node in range(first, last):
        search.suppressed[node] = 0
        search.bound_for[node] = -1
        search.finer[node] = 0.0
        if objective.kind == AVERAGE:
            search.finer[node] = float(search.base_rows[0])
        elif objective.kind == DISCERNIBILITY:
            search.finer[node] = float(tables.records)
        search.base[node] = 0
        search.value[node] = np.nan
        search.closed[node] = False
        search.tried[node] = False
        search.lower[node] = bound_of(
            tables.strides,
            tables.depth,
            tables.records,
            objective,
            search.suppressed,
            search.finer,
            search.bound_for,
            search.lower,
            node,
            costs,
        )
        search.key[node] = search.lower[node]
        _push(search.heap, search.key, search.integers, node)


@helper
def _next_in_box(levels, low, high, strides, node):
    """Step ``levels`` through the box low … high; return the node number, or -1 at the end."""
    j = levels.shape[0] - 1
    while j >= 0:
        if levels[j] < high[j]:
            levels[j] += 1
            return node + strides[j]
        node -= (levels[j] - low[j]) * strides[j]
        levels[j] = low[j]
        j -= 1
    return -1


@helper
def _close_below(strides, must_suppress, levels, node, suppressed, box):
    """Every finer node suppresses at least as many records."""
    if suppressed <= must_suppress[node]:
        return
    current, low = box[0], box[1]
    for j in range(levels.shape[0]):
        current[j] = 0
        low[j] = 0
    at = np.int64(0)
    while at >= 0:
        if must_suppress[at] < suppressed:
            must_suppress[at] = suppressed
        at = _next_in_box(current, low, levels, strides, at)


@helper
def _offer_above(strides, depth, base_of, base_rows, finer, levels, node, base, found, figure, kind, box):
    """Coarser nodes may be grouped from this one, and inherit its class figure."""
    current, high = box[0], box[1]
    for j in range(levels.shape[0]):
        current[j] = levels[j]
        high[j] = depth[j] - 1
    at = node
    while at >= 0:
        if base >= 0 and base_rows[base_of[at]] > found:
            base_of[at] = base
        if kind == DISCERNIBILITY and finer[at] < figure:
            finer[at] = figure
        elif kind == AVERAGE and finer[at] > figure:
            finer[at] = figure
        at = _next_in_box(current, levels, high, strides, at)


@helper
def _room(rows, base_rows, integers):
    """Where the classes of the next grouping go: after the last base, or to the reserve at the end."""
    reserve = rows.shape[0] - base_rows[0]
    used = integers[ROWS_USED]
    return used if used + base_rows[0] <= reserve else reserve


@helper
def _copy(values, into, n):
    for i in range(n):
        into[i] = values[i]


@helper
def _store(search, class_start, class_values, class_counts, node, at, found, entries):
    """Keep the grouping just made as a base; return its number, or -1 if there is no room."""
    used_entries = search.integers[ENTRIES_USED]
    base = search.integers[BASES]
    sparse = search.start.shape[0] > 0
    if base >= search.base_rows.shape[0] or at != search.integers[ROWS_USED]:
        return -1
    if sparse and used_entries + entries > search.values.shape[0]:
        return -1
    search.base_first[base] = at
    search.base_rows[base] = found
    search.base_entries[base] = used_entries
    search.base_node[base] = node
    if sparse:
        _copy(class_start, search.start[at + base :], found + 1)
        _copy(class_values, search.values[used_entries:], entries)
        _copy(class_counts, search.counts[used_entries:], entries)
        search.integers[ENTRIES_USED] += entries
    search.integers[BASES] += 1
    search.integers[ROWS_USED] += found
    return base


@helper
def group_node(tables, objective, search, scratch, levels, base, at):
    """Classes of a node, grouped from a base: rows, sizes and dense histograms at ``at``, entries in the scratch.

    Return the number of classes and of entries.
    """
    first = search.base_first[base]
    n = search.base_rows[base]
    rows = search.rows[first : first + n]
    found = group(
        tables.cells,
        rows,
        n,
        levels,
        tables.maps,
        tables.first,
        tables.radix,
        scratch.digits,
        scratch.keys,
        scratch.table_keys,
        scratch.table_ids,
        scratch.ids,
    )
    sizes = search.sizes[at : at + found]
    summarize(rows, search.sizes[first : first + n], n, scratch.ids, found, search.rows[at : at + found], sizes)
    entries = 0
    if search.dense.shape[1] > 0:
        dense = search.dense[at : at + found]
        add_rows(scratch.ids, n, found, search.dense[first : first + n], dense)
        entries = compress(
            dense, found, sizes, objective.smallest_class, scratch.class_start, scratch.class_values, scratch.class_counts
        )
    elif search.start.shape[0] > 0:
        begin = search.base_entries[base]
        entries = merge_histograms(
            scratch.ids,
            n,
            found,
            search.start[first + base : first + base + n + 1],
            search.values[begin:],
            search.counts[begin:],
            tables.histogram_domain,
            scratch.starts,
            scratch.order,
            scratch.totals,
            scratch.touched,
            scratch.class_start,
            scratch.class_values,
            scratch.class_counts,
        )
    return found, entries


@helper
def _keep(tables, search, scratch, levels, node, base_rows, at, found, entries, figure, kind):
    """Store a grouping that is much smaller than the one it came from, and offer it to the coarser nodes."""
    stored = np.int64(-1)
    if found <= SHRINK * base_rows:
        stored = _store(search, scratch.class_start, scratch.class_values, scratch.class_counts, node, at, found, entries)
    if stored >= 0 or kind > SUM:
        _offer_above(
            tables.strides,
            tables.depth,
            search.base,
            search.base_rows,
            search.finer,
            levels,
            node,
            stored,
            found,
            figure,
            kind,
            scratch.box,
        )


@helper
def _has_descendants(sweep, depth, levels):
    """Whether a later node of the sweep can be grouped from this one."""
    last = sweep[sweep.shape[0] - 1]
    return levels[last] == 0 or levels[last] < depth[last] - 1


@helper
def settle(tables, rules, objective, search, scratch, node, base_rows, at, found, entries, sweeping, levels):
    """Judge and price a node that was grouped; close what that decides. The value of an unusable node is infinite."""
    m = levels.shape[0]
    sizes = search.sizes[at : at + found]
    rows = search.rows[at : at + found]
    satisfied = scratch.satisfied
    keepable = scratch.keepable
    for c in range(found):
        # Smaller classes violate in all their parts.
        satisfied[c] = sizes[c] >= objective.smallest_class
        keepable[c] = sizes[c] if satisfied[c] else 0
    for r in range(rules.kind.shape[0]):
        judge_rule(
            rules,
            r,
            found,
            sizes,
            scratch.class_start,
            scratch.class_values,
            scratch.class_counts,
            scratch.figures,
            satisfied,
            keepable,
            np.bool_(False),
            scratch.buffer,
            scratch.reals,
        )
    kept = np.int64(0)
    classes = 0
    squares = 0.0
    all_squares = 0.0
    must_suppress = np.int64(0)
    for c in range(found):
        size = sizes[c]
        all_squares += float(size) * size
        must_suppress += size - keepable[c]
        if satisfied[c]:
            kept += size
            classes += 1
            squares += float(size) * size
    costs = scratch.column_cost
    for j in range(m):
        costs[j] = 0.0
    if objective.kind <= SUM:
        flat = tables.cells.reshape(tables.cells.shape[0] * m)
        price = scratch.price
        for j in range(m):
            for leaf in range(tables.first[j], tables.first[j + 1]):
                price[leaf] = objective.cost[levels[j], leaf]
        for c in range(found):
            if satisfied[c]:
                cell = np.uint64(rows[c]) * np.uint64(m)
                for j in range(m):
                    costs[j] += sizes[c] * price[flat[cell + np.uint64(j)]]
    suppressed = tables.records - kept
    value = np.inf
    if kept > 0 and suppressed <= objective.limit:
        if objective.kind <= SUM:
            for j in range(m):
                costs[j] += suppressed * objective.suppressed_cost[j]
            value = _combine(objective.kind, objective.scale, objective.shift, costs)
        elif objective.kind == DISCERNIBILITY:
            value = squares + float(suppressed) * tables.records
        else:
            value = kept / classes
    figure = all_squares if objective.kind == DISCERNIBILITY else float(found)
    _close_below(tables.strides, search.suppressed, levels, node, must_suppress, scratch.box)
    if not sweeping:
        _keep(tables, search, scratch, levels, node, base_rows, at, found, entries, figure, objective.kind)
    else:
        if _has_descendants(tables.sweep, tables.depth, levels):
            _store(search, scratch.class_start, scratch.class_values, scratch.class_counts, node, at, found, entries)
        if objective.kind > SUM:
            _offer_above(
                tables.strides,
                tables.depth,
                search.base,
                search.base_rows,
                search.finer,
                levels,
                node,
                np.int64(-1),
                found,
                figure,
                objective.kind,
                scratch.box,
            )
    search.closed[node] = True
    search.value[node] = value
    search.integers[EVALUATED] += 1
    worker = search.integers[WORKER]
    search.best[worker] = min(search.best[worker], value)


@kernel(size=lambda tables, rules, objective, search, *_: search.base_rows[0])
def evaluate_node(tables, rules, objective, search, scratch, node):
    """Evaluate one node, whatever its bound."""
    levels = np.zeros(tables.strides.shape[0], np.int64)
    levels_of(tables.strides, tables.depth, node, levels)
    base = np.int64(search.base[node])
    at = _room(search.rows, search.base_rows, search.integers)
    found, entries = group_node(tables, objective, search, scratch, levels, base, at)
    settle(tables, rules, objective, search, scratch, node, search.base_rows[base], at, found, entries, np.bool_(False), levels)


@helper
def _climb(strides, depth, records, objective, search, node, threshold, costs, path):
    """Path of open nodes from a node upwards, each the parent with the lowest bound; return its length."""
    length = 1
    path[0] = node
    while True:
        best = np.int64(-1)
        best_bound = np.inf
        for j in range(strides.shape[0]):
            if node // strides[j] % depth[j] == depth[j] - 1:
                continue
            parent = node + strides[j]
            if search.closed[parent] or search.lower[parent] > threshold:
                continue
            lower = bound_of(
                strides, depth, records, objective, search.suppressed, search.finer, search.bound_for, search.lower, parent, costs
            )
            search.lower[parent] = lower
            if lower <= threshold and lower < best_bound:
                best_bound = lower
                best = parent
        if best < 0:
            return length
        node = best
        path[length] = node
        length += 1


@helper
def _halfway(strides, depth, base_of, tried, node, levels):
    """The node halfway up to this one, and its levels, where only the frequency table could serve as base; or 0.

    Many nodes above it will be grouped from it instead of from all rows, so it is stored first.
    """
    if base_of[node] > 0:
        return np.int64(0)
    levels_of(strides, depth, node, levels)
    halfway = np.int64(0)
    for j in range(levels.shape[0]):
        levels[j] //= 2
        halfway += levels[j] * strides[j]
    if halfway == 0 or tried[halfway]:
        return np.int64(0)
    tried[halfway] = True
    return halfway


@kernel(size=lambda tables, rules, objective, search, scratch, quota: search.base_rows[0] * quota)
def climb_nodes(tables, rules, objective, search, scratch, quota):
    """Evaluate up to ``quota`` nodes, or one if asked to stop; return True when the optimum is proven."""
    m = tables.strides.shape[0]
    costs = np.empty(m)
    levels = np.zeros(m, np.int64)
    longest = 1
    for j in range(m):
        longest += tables.depth[j]
    path = np.empty(longest, np.int64)
    done = 0
    while search.integers[HEAP] > 0:
        if done > 0 and search.integers[STOP] != 0:
            return False
        threshold = _threshold(search.best)
        node = _pop(search.heap, search.key, search.integers)
        if search.closed[node]:
            continue
        lower = bound_of(
            tables.strides,
            tables.depth,
            tables.records,
            objective,
            search.suppressed,
            search.finer,
            search.bound_for,
            search.lower,
            node,
            costs,
        )
        if lower == np.inf or lower > threshold:
            search.closed[node] = True
            continue
        search.lower[node] = lower
        if lower > search.key[node]:
            search.key[node] = lower
            _push(search.heap, search.key, search.integers, node)
            continue
        if done >= quota:
            _push(search.heap, search.key, search.integers, node)
            return False
        length = _climb(tables.strides, tables.depth, tables.records, objective, search, node, threshold, costs, path)
        chosen = path[min(length - 1, int(length * CLIMB))]
        halfway = _halfway(tables.strides, tables.depth, search.base, search.tried, chosen, levels)
        while True:
            # First the node halfway, if there is one to be stored, then the chosen one.
            base = np.int64(0)
            if halfway == 0:
                levels_of(tables.strides, tables.depth, chosen, levels)
                base = np.int64(search.base[chosen])
            at = _room(search.rows, search.base_rows, search.integers)
            found, entries = group_node(tables, objective, search, scratch, levels, base, at)
            if halfway == 0:
                break
            _keep(tables, search, scratch, levels, halfway, search.base_rows[0], at, found, entries, 0.0, np.int64(SUM))
            halfway = np.int64(0)
        settle(
            tables, rules, objective, search, scratch, chosen, search.base_rows[base], at, found, entries, np.bool_(False), levels
        )
        done += 1
        if chosen != node:
            _push(search.heap, search.key, search.integers, node)
    return True


@helper
def _is_ancestor(sweep, strides, depth, above, node):
    """Whether ``above`` has the levels of ``node`` up to a column, no higher one there, and 0 after it."""
    same = True
    for i in range(sweep.shape[0]):
        j = sweep[i]
        a = above // strides[j] % depth[j]
        b = node // strides[j] % depth[j]
        if same and a != b:
            if a > b:
                return False
            same = False
        elif not same and a != 0:
            return False
    return True


@helper
def _swept(sweep, strides, depth, position):
    """Node at a position of the sweep: lexicographic order of the columns as ``sweep`` lists them."""
    node = np.int64(0)
    for i in range(sweep.shape[0] - 1, -1, -1):
        j = sweep[i]
        node += position % depth[j] * strides[j]
        position //= depth[j]
    return node


@kernel(size=lambda tables, rules, objective, search, scratch, first, last: search.base_rows[0] * (last - first))
def sweep_nodes(tables, rules, objective, search, scratch, first, last):
    """Evaluate the open nodes at the positions ``first`` … ``last`` − 1 of the sweep; False if asked to stop before.

    The room for bases serves as a stack here. Ranges are independent of each other, so threads can
    sweep one each if they have their own stack, scratch and place in ``best``.
    """
    m = tables.strides.shape[0]
    costs = np.empty(m)
    levels = np.zeros(m, np.int64)
    search.integers[BASES] = 1
    search.integers[ROWS_USED] = search.base_rows[0]
    search.integers[ENTRIES_USED] = search.base_entries[1]
    for position in range(first, last):
        if search.integers[STOP] != 0:
            return False
        node = _swept(tables.sweep, tables.strides, tables.depth, position)
        if search.closed[node]:
            continue
        lower = bound_of(
            tables.strides,
            tables.depth,
            tables.records,
            objective,
            search.suppressed,
            search.finer,
            search.bound_for,
            search.lower,
            node,
            costs,
        )
        search.lower[node] = lower
        if lower == np.inf or lower > _threshold(search.best):
            search.closed[node] = True
            continue
        while search.integers[BASES] > 1 and not _is_ancestor(
            tables.sweep, tables.strides, tables.depth, search.base_node[search.integers[BASES] - 1], node
        ):
            search.integers[BASES] -= 1
            search.integers[ROWS_USED] = search.base_first[search.integers[BASES]]
            search.integers[ENTRIES_USED] = search.base_entries[search.integers[BASES]]
        base = search.integers[BASES] - 1
        levels_of(tables.strides, tables.depth, node, levels)
        at = _room(search.rows, search.base_rows, search.integers)
        found, entries = group_node(tables, objective, search, scratch, levels, base, at)
        settle(tables, rules, objective, search, scratch, node, search.base_rows[base], at, found, entries, np.bool_(True), levels)
    return True
