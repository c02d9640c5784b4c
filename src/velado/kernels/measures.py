"""What a privacy model measures in one equivalence class.

A class arrives as its size and a slice of sparse histogram entries (value, count), values
ascending. A *rule* is a privacy model in numbers; `velado.models` builds the `Rules` arrays.
Each rule yields one figure per class and compares it with its threshold, so that judging a
class, searching and reporting the level achieved share one definition (``measures.md`` §1).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from velado.kernels.compiler import helper, kernel, shared_helper
from velado.kernels.grouping import sort_ascending

# What a rule measures.
SIZE, MASS, DISTINCT, ENTROPY, RECURSIVE, EQUAL, ORDERED, HIERARCHICAL, DISCLOSURE, LIKENESS, ENHANCED, SHARE = range(12)
TOLERANCE = 1e-12
NEWTON = 2


class Rules(NamedTuple):
    """All rules of a run, one array element each.

    ``first``/``width``/``segments``: the histogram values ``first … first + segments·width − 1``;
    more than one segment means that each is judged on its own (strict reading for several
    sensitive columns). ``expected`` holds the whole table's distribution, ``caps`` the largest
    share that a value may have in a satisfying class (or ``cap_at`` = -1), ``slack`` how much of
    a class may exceed it. ``tree`` holds, level by level, the parent of each group, ``tree_sizes``
    the number of groups per level. ``order`` is ℓ, or 1 where δ demands every value. ``scale`` is what
    one record weighs in the counts that MASS adds up; where it is not 1, the counts are no records.
    """

    kind: np.ndarray
    threshold: np.ndarray
    first: np.ndarray
    width: np.ndarray
    segments: np.ndarray
    order: np.ndarray
    scale: np.ndarray
    union_closed: np.ndarray
    expected_at: np.ndarray
    expected: np.ndarray
    cap_at: np.ndarray
    caps: np.ndarray
    slack: np.ndarray
    tree_at: np.ndarray
    sizes_at: np.ndarray
    height: np.ndarray
    tree_sizes: np.ndarray
    tree: np.ndarray


@helper
def at_least(kind):
    """Whether larger figures of this kind mean more privacy."""
    return kind <= ENTROPY


@helper
def complies(kind, figure, threshold):
    """Whether a class with this figure satisfies a rule."""
    if kind <= DISTINCT:
        return figure >= threshold
    if kind == ENTROPY:
        return figure >= threshold - TOLERANCE
    if kind == RECURSIVE or kind == DISCLOSURE:
        return figure < threshold
    return figure <= threshold + TOLERANCE


@helper
def _log(x):
    """The C library's logarithm, of which numpy's own differs in the last bit."""
    return math.log(x) if x > 0 else -np.inf


@helper
def _entropy(counts, a, b, n):
    total = 0.0
    for e in range(a, b):
        p = counts[e] / n
        total -= p * _log(p)
    return total


@helper
def _ascending(counts, a, b, buffer):
    """The frequencies a … b in ascending order in the buffer."""
    for e in range(a, b):
        buffer[e - a] = counts[e]
    sort_ascending(buffer, b - a)


@helper
def _recursive(counts, a, b, order, buffer):
    if b - a < order:
        return np.inf
    _ascending(counts, a, b, buffer)
    tail = 0.0
    for i in range(b - a - order + 1):
        tail += buffer[i]
    return buffer[b - a - 1] / tail


@helper
def _equal_distance(values, counts, a, b, n, first, expected):
    total = 0.0
    for e in range(a, b):
        over = counts[e] / n - expected[values[e] - first]
        if over > 0:
            total += over
    return total


@helper
def _ordered_distance(values, counts, a, b, n, first, expected):
    width = expected.shape[0]
    if width < 2:
        return 0.0
    total = 0.0
    surplus = 0.0
    e = a
    for v in range(width - 1):
        if e < b and values[e] - first == v:
            surplus += counts[e] / n
            e += 1
        surplus -= expected[v]
        total += abs(surplus)
    return total / (width - 1)


@helper
def _hierarchical_distance(values, counts, a, b, n, first, expected, height, sizes, tree, extra, over, under):
    for v in range(expected.shape[0]):
        extra[v] = -expected[v]
    for e in range(a, b):
        extra[values[e] - first] += counts[e] / n
    total = 0.0
    parents = 0
    for level in range(1, height + 1):
        groups = sizes[level]
        for g in range(groups):
            over[g] = 0.0
            under[g] = 0.0
        for child in range(sizes[level - 1]):
            parent = tree[parents + child]
            if extra[child] > 0:
                over[parent] += extra[child]
            else:
                under[parent] -= extra[child]
        parents += sizes[level - 1]
        for g in range(groups):
            total += level / height * min(over[g], under[g])
            extra[g] = over[g] - under[g]
    return total


@helper
def _disclosure(values, counts, a, b, n, first, expected, scale, every):
    worst = 0.0
    for e in range(a, b):
        worst = max(worst, abs(_log(counts[e] / n / expected[values[e] - first])) * scale)
    if every:
        present = 0
        for v in range(expected.shape[0]):
            if expected[v] > 0:
                present += 1
        if present > b - a:
            return np.inf
    return worst


@helper
def _likeness(values, counts, a, b, n, first, expected, enhanced):
    worst = 0.0
    for e in range(a, b):
        q = expected[values[e] - first]
        gain = (counts[e] / n - q) / q
        if enhanced and gain > -_log(q) + TOLERANCE:
            return np.inf
        worst = max(worst, gain)
    return worst


@helper
def _largest_share(counts, a, b, n):
    largest = 0
    for e in range(a, b):
        largest = max(largest, counts[e])
    return largest / n


@helper
def _keepable_recursive(a, b, order, threshold, buffer):
    """Cap the most frequent values at the largest M with M < c·Σ_{i≥ℓ} min(r_i, M); the buffer is sorted already."""
    if b - a < order:
        return 0
    top = buffer[b - a - 1]
    for _ in range(64):
        total = np.int64(0)
        for i in range(b - a - order + 1):
            total += min(buffer[i], top)
        highest = np.ceil(threshold * total * (1 + TOLERANCE)) - 1
        if highest >= top:
            break
        top = max(np.int64(highest), np.int64(0))
    kept = np.int64(0)
    for i in range(b - a):
        kept += min(buffer[i], top)
    return kept


@helper
def _crossing(fixed, slope, kept):
    """A step of Newton's method: the m below ``kept`` at which fixed = slope·m, or ``kept`` if there is none."""
    if slope <= 0:
        return kept
    at = np.floor(fixed / slope + 1e-6)
    return kept if at >= kept else np.int64(at)


@helper
def _keepable_capped(values, counts, a, b, first, caps, slack, kept):
    """The largest m with Σ min(count, cap·m) ≥ (1 − slack)·m, by Newton's method.

    The difference is concave in m, so every step from above stays above.
    """
    for _ in range(NEWTON):
        fixed = 0.0
        slope = 1 - slack
        for e in range(a, b):
            cap = caps[values[e] - first]
            if counts[e] < cap * kept:
                fixed += counts[e]
            else:
                slope -= cap
        bound = _crossing(fixed, slope, kept)
        if bound == kept:
            break
        kept = bound
    return kept


@helper
def _keepable_in_tree(values, counts, a, b, first, expected, t, height, sizes, tree, mass, share, coarse, kept):
    """The bound of `_keepable_capped` for the groups of each level: mass that leaves one travels level/height or more."""
    for v in range(sizes[0]):
        mass[v] = 0.0
        share[v] = expected[v]
    for e in range(a, b):
        mass[values[e] - first] += counts[e]
    parents = 0
    for level in range(1, height):
        groups = sizes[level]
        for g in range(groups):
            coarse[g] = 0.0
        for child in range(sizes[level - 1]):
            coarse[tree[parents + child]] += mass[child]
        for g in range(groups):
            mass[g] = coarse[g]
            coarse[g] = 0.0
        for child in range(sizes[level - 1]):
            coarse[tree[parents + child]] += share[child]
        for g in range(groups):
            share[g] = coarse[g]
        parents += sizes[level - 1]
        slack = (t + 1e-9) * height / (level + 1)
        if slack >= 1:
            continue
        for _ in range(NEWTON):
            fixed = 0.0
            slope = 1 - slack
            for g in range(groups):
                if mass[g] < share[g] * kept:
                    fixed += mass[g]
                else:
                    slope -= share[g]
            bound = _crossing(fixed, slope, kept)
            if bound == kept:
                break
            kept = bound
    return kept


@helper
def _judge_mass(rules, r, classes, start, values, counts, figures, satisfied, keepable):
    """MASS in `judge_rule`: the smallest sum of counts among the segments of a class, in units of ``scale``.

    A segment below the threshold is so in every part of it, so nothing of it can be kept. What the others hold is
    only known in records if a record weighs 1. A class without any count has no mass.
    """
    threshold = rules.threshold[r]
    first = rules.first[r]
    width = rules.width[r]
    segments = rules.segments[r]
    last = first + width * segments
    scale = rules.scale[r]
    for c in range(classes):
        if keepable[c] == 0:
            continue
        e = start[c]
        stop = start[c + 1]
        while e < stop and values[e] < first:
            e += 1
        figure = np.inf if e < stop and values[e] < last else 0.0
        kept = np.int64(0)
        while e < stop and values[e] < last:
            above = first + ((values[e] - first) // width + 1) * width
            n = np.int64(0)
            while e < stop and values[e] < above:
                n += counts[e]
                e += 1
            one = n / scale
            figure = min(figure, one)
            if complies(np.int64(MASS), one, threshold):
                kept += n
        figures[c] = figure
        if complies(np.int64(MASS), figure, threshold):
            continue
        satisfied[c] = False
        if segments == 1:
            keepable[c] = 0
        elif scale == 1 and kept < keepable[c]:
            keepable[c] = kept


@shared_helper
def judge_rule(rules, r, classes, sizes, start, values, counts, figures, satisfied, keepable, exact, buffer, reals):
    """Figure of rule r for each class; clear ``satisfied`` and lower ``keepable`` where it is violated.

    ``keepable`` bounds the records of a violating class that any finer recoding can keep. Satisfying
    classes inside it unite to a satisfying class (where the rule is closed under union), so no more
    can be kept than the largest sub-multiset that satisfies the rule. Every bound is approached
    from above, so stopping early is safe. Without ``exact`` the figure may be a
    bound of the distance that already decides. Classes with nothing left to keep are passed over.
    ``buffer`` and the three rows of ``reals`` are scratch, as wide as the widest rule and one more.
    """
    kind = rules.kind[r]
    threshold = rules.threshold[r]
    if kind == SIZE:
        for c in range(classes):
            figures[c] = sizes[c]
            if sizes[c] < threshold:
                satisfied[c] = False
                keepable[c] = 0
        return
    if kind == MASS:
        _judge_mass(rules, r, classes, start, values, counts, figures, satisfied, keepable)
        return
    first = rules.first[r]
    width = rules.width[r]
    last = first + width * rules.segments[r]
    order = rules.order[r]
    scale = rules.scale[r]
    slack = rules.slack[r]
    height = rules.height[r]
    expected = rules.expected[rules.expected_at[r] : rules.expected_at[r] + width]
    caps = rules.caps[max(rules.cap_at[r], 0) :]
    capped = rules.cap_at[r] >= 0 and slack < 1
    tree = rules.tree[rules.tree_at[r] :]
    tree_sizes = rules.tree_sizes[rules.sizes_at[r] :]
    union_closed = rules.union_closed[r]
    higher_is_better = at_least(kind)
    nearest = 1.0 / height if kind == HIERARCHICAL else 1.0 / max(width - 1, 1)
    extra, over, under = reals[0], reals[1], reals[2]
    for c in range(classes):
        if keepable[c] == 0:
            continue
        e = start[c]
        stop = start[c + 1]
        while e < stop and values[e] < first:
            e += 1
        figure = np.inf if higher_is_better else -np.inf
        kept = np.int64(0)
        while e < stop and values[e] < last:
            a = e
            low = first + (values[e] - first) // width * width
            n = np.int64(0)
            while e < stop and values[e] < low + width:
                n += counts[e]
                e += 1
            if kind == DISTINCT:
                one = float(e - a)
            elif kind == ENTROPY:
                one = _entropy(counts, a, e, n)
            elif kind == RECURSIVE:
                one = _recursive(counts, a, e, order, buffer)
            elif kind == EQUAL:
                one = _equal_distance(values, counts, a, e, n, low, expected)
            elif kind == ORDERED or kind == HIERARCHICAL:
                # All ground distances lie between `nearest` and 1, so the equal distance often decides.
                one = _equal_distance(values, counts, a, e, n, low, expected)
                if exact or one > threshold:
                    if not exact and one * nearest > threshold + 1e-9:
                        one *= nearest
                    elif kind == ORDERED:
                        one = _ordered_distance(values, counts, a, e, n, low, expected)
                    else:
                        one = _hierarchical_distance(
                            values, counts, a, e, n, low, expected, height, tree_sizes, tree, extra, over, under
                        )
            elif kind == DISCLOSURE:
                one = _disclosure(values, counts, a, e, n, low, expected, scale, order == 1)
            elif kind == LIKENESS or kind == ENHANCED:
                one = _likeness(values, counts, a, e, n, low, expected, kind == ENHANCED)
            else:
                one = _largest_share(counts, a, e, n)
            figure = min(figure, one) if higher_is_better else max(figure, one)
            if complies(kind, one, threshold):
                kept += n
                continue
            satisfied[c] = False
            most = n
            if kind == DISTINCT or (kind == ENTROPY and e - a < order):
                most = np.int64(0)
            elif kind == RECURSIVE:
                most = _keepable_recursive(a, e, order, threshold, buffer)
            elif capped:
                most = _keepable_capped(values, counts, a, e, low, caps, slack, n)
            if kind == HIERARCHICAL:
                most = _keepable_in_tree(
                    values, counts, a, e, low, expected, threshold, height, tree_sizes, tree, extra, over, under, most
                )
            kept += min(most, n - 1) if union_closed else most
        figures[c] = figure
        if kept < keepable[c]:
            keepable[c] = kept


@kernel(size=lambda rules, sizes, start, values, counts: (len(sizes) + len(values)) * len(rules.kind))
def judge(rules, sizes, start, values, counts):
    """Figure of every rule (rows) for every class (columns), and whether it satisfies the rule."""
    classes = sizes.shape[0]
    figures = np.empty((rules.kind.shape[0], classes))
    passes = np.ones((rules.kind.shape[0], classes), np.bool_)
    widest = np.int64(0)
    for r in range(rules.kind.shape[0]):
        widest = max(widest, rules.width[r])
    buffer = np.empty(widest, np.int64)
    reals = np.empty((3, widest + 1))
    keepable = np.empty(classes, np.int64)
    for r in range(rules.kind.shape[0]):
        for c in range(classes):
            keepable[c] = 1
        judge_rule(rules, r, classes, sizes, start, values, counts, figures[r], passes[r], keepable, np.bool_(True), buffer, reals)
    return figures, passes
