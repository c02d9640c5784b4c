"""The attack on the order of rows: tables in the same order are joined row by row."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np

from velado.attacks.base import MOST_EXPOSED, Attack, Attacker, Exposed, Prevention, knowing
from velado.attacks.label_matching import narrower
from velado.attacks.records import Records
from velado.declarations import declare
from velado.evaluation.matching import fitting
from velado.hierarchies import Cover, Hierarchy
from velado.progress import Progress
from velado.values import Text

LIFT = 0.5
RARE = 0.01
MOST_POSITIONS = 10_000
MOST_IN_ORDER = 20_000
PERMUTATIONS = 999
PERMUTATIONS_IN_ORDER = 99
OFTEN = 10
"""Permutations between two reports."""
SHUFFLE = Prevention(measure="shuffle", parameters={"output": {"order": "shuffle"}})


@declare(
    title="order of rows",
    meaning="The rows of the release are laid beside those of the original, in order.",
    parameters=knowing("seed"),
)
def order(
    release: Records, original: Records, covers: Sequence[Cover], attacker: Attacker, progress: Progress | None = None
) -> Attack:
    """Do the rows of the release stand in the order of the original?

    Released row i can be original row i … i + d, where d is the number of rows left out; greedily, each row takes the
    first one after its predecessor's that fits (labels above the values, sensitive values equal). Without rows left
    out this compares row i with row i. ``chance`` is the mean share of rows that fit so when the release is shuffled
    (fixed seed). The attack succeeds if no more than 1 % of the shuffles do as well, and if at least half of what
    chance leaves fits: (in_order − chance)/(1 − chance) ≥ 0.5. ``covers`` say what the released labels stand for.
    """
    progress = progress or Progress()
    test = _Positions(release, original, covers, progress)
    succeeded, figures = _permutation_test(test, attacker, progress)
    return Attack("order", succeeded, figures, (), (SHUFFLE,) if succeeded else (), against="original")


def order_of_releases(
    release: Records,
    other: Records,
    covers: Sequence[Cover],
    trees: Sequence[Hierarchy | None],
    attacker: Attacker,
    progress: Progress | None = None,
) -> Attack:
    """Do two releases have the same order? Then joining them row by row gives finer classes.

    The order is judged as in `order`. The combined class of a row are its labels in both releases; a cell is exact if
    the two labels leave one value (UBB, table 10). The attack succeeds if a combined class is smaller than the k of both
    releases. Releases with different numbers of rows are not joined.
    """
    if len(release.codes) != len(other.codes):
        rows: dict[str, int | float] = {"rows": len(release.codes), "other_rows": len(other.codes)}
        return Attack("order", False, rows, against="other")
    progress = progress or Progress()
    test = _Positions(release, other, covers, progress)
    same, figures = _permutation_test(test, attacker, progress)
    if not same:
        return Attack("order", False, figures, against="other")
    combined, exposed = _join_rows(release, other, trees)
    return Attack("order", bool(exposed), figures | combined, exposed, (SHUFFLE,) if exposed else (), against="other")


class _Positions:
    """How many released rows fit the rows of another table in order."""

    def __init__(self, release: Records, other: Records, covers: Sequence[Cover], progress: Progress) -> None:
        classes, self.group = release.groups
        rows, self.row = other.groups
        self.value, self.other_value = release.values, other.values
        self.names = max(len(release.names), 1)
        self.left_out = len(other.codes) - len(release.codes)
        pair_rows, pair_classes = fitting(rows, covers, classes, progress)
        self.classes = max(len(classes), 1)
        self.pairs = np.sort(pair_rows * self.classes + pair_classes)
        self.shown = self.group >= 0
        if self.left_out:
            self._index(pair_rows, pair_classes, len(rows))

    def _index(self, pair_rows: np.ndarray, pair_classes: np.ndarray, rows: int) -> None:
        """Positions of the other table's rows that fit each (class, sensitive value)."""
        start = np.searchsorted(pair_rows, np.arange(rows + 1))
        at = np.flatnonzero(self.row >= 0)
        many = np.diff(start)[self.row[at]]
        position = np.repeat(at, many)
        offset = np.arange(len(position)) - np.repeat(np.cumsum(many) - many, many)
        keys = pair_classes[start[self.row[position]] + offset] * self.names + self.other_value[position]
        order = np.lexsort((position, keys))
        known, first = np.unique(keys[order], return_index=True)
        lists = np.split(position[order], first[1:])
        self.where = {int(k): x.tolist() for k, x in zip(known, lists, strict=True)}

    def share(self, permutation: np.ndarray, most: int | None = None) -> float:
        """Share of released rows that fit, the release taken in another order, perhaps not all of it."""
        chosen = permutation[:most]
        return self._in_order(chosen) if self.left_out else self._in_place(chosen, np.arange(len(chosen)))

    def _in_place(self, chosen: np.ndarray, places: np.ndarray) -> float:
        shown = self.shown[chosen]
        chosen, places = chosen[shown], places[shown]
        keys = self.row[places] * self.classes + self.group[chosen]
        at = np.minimum(np.searchsorted(self.pairs, keys), max(len(self.pairs) - 1, 0))
        fit = (self.pairs[at] == keys) if len(self.pairs) else np.zeros(len(keys), dtype=bool)
        fit &= self.value[chosen] == self.other_value[places]
        # A row that the other table hides can be anybody's.
        fit |= self.row[places] < 0
        return float(fit.mean()) if len(fit) else 0.0

    def _in_order(self, chosen: np.ndarray) -> float:
        keys = np.where(self.shown[chosen], self.group[chosen] * self.names + self.value[chosen], -1).tolist()
        free = fit = shown = 0
        for i, key in enumerate(keys):
            if key < 0:
                continue
            shown += 1
            places = self.where.get(key, [])
            found = bisect_left(places, max(free, i))
            if found < len(places) and places[found] <= i + self.left_out:
                fit += 1
                free = places[found] + 1
        return fit / shown if shown else 0.0


def _permutation_test(test: _Positions, attacker: Attacker, progress: Progress) -> tuple[bool, dict[str, int | float]]:
    rows = len(test.group)
    kept = np.arange(rows)
    rng = np.random.default_rng(int(attacker.seed))
    most, times = (MOST_IN_ORDER, PERMUTATIONS_IN_ORDER) if test.left_out else (MOST_POSITIONS, PERMUTATIONS)
    observed = test.share(kept)
    part = test.share(kept, most)
    shares = []
    for done in range(times):
        progress.check()
        if done % OFTEN == 0:
            progress.at(done, times)
        shares.append(test.share(rng.permutation(rows), most))
    progress.at(1.0)
    shuffled = np.array(shares)
    chance = float(shuffled.mean())
    as_good = float((1 + (shuffled >= part - 1e-12).sum()) / (1 + times))
    lift = (part - chance) / (1 - chance) if chance < 1 else 0.0
    figures: dict[str, int | float] = {
        "rows": rows,
        "left_out": test.left_out,
        "in_order": observed,
        "chance": chance,
        "shuffles_as_good": as_good,
    }
    return as_good <= RARE and lift >= LIFT, figures


def _join_rows(a: Records, b: Records, trees: Sequence[Hierarchy | None]) -> tuple[dict[str, int | float], tuple[Exposed, ...]]:
    """Figures and the smallest classes of the row-by-row join."""
    (rows_a, group_a), (rows_b, group_b) = a.groups, b.groups
    seen = (group_a >= 0) & (group_b >= 0)
    pairs, number = np.unique(np.stack([group_a[seen], group_b[seen]]), axis=1, return_inverse=True)
    number = number.ravel()
    sizes = np.bincount(number, minlength=pairs.shape[1])
    exact = np.ones(pairs.shape[1], dtype=bool)
    cells = 0
    shown: list[list[Text]] = []
    for j, tree in enumerate(trees):
        codes = np.stack([rows_a[pairs[0], j], rows_b[pairs[1], j]])
        distinct, which = np.unique(codes, axis=1, return_inverse=True)
        texts, single = narrower([(a.labels[j][x], b.labels[j][y]) for x, y in distinct.T], tree)
        which = which.ravel()
        exact &= single[which]
        cells += int(sizes[single[which]].sum())
        shown.append([texts[i] for i in which])
    k, other_k = int(a.sizes.min()), int(b.sizes.min())
    smallest = [i for i in np.argsort(sizes, kind="stable") if sizes[i] < min(k, other_k)][:MOST_EXPOSED]
    exposed = tuple(
        Exposed({c: texts[i] for c, texts in zip(a.columns, shown, strict=True)}, int(sizes[i]), float(1 / sizes[i]))
        for i in smallest
    )
    return {
        "k": k,
        "other_k": other_k,
        "combined_classes": len(sizes),
        "smallest_combined": int(sizes.min()),
        "singled_out": int((sizes == 1).sum()),
        "exact_cells": cells,
        "exact_records": int(sizes[exact].sum()),
    }, exposed
