"""What of the original a report may show: nothing that belongs to a small group.

Values are those of the release. A number of the original is shown only if enough records have exactly it. Pairs are
those that everybody may know (`velado.evaluation.public`): what is counted of the original is counted on released people.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import ClassVar

import numpy as np

from velado.evaluation import Evaluation, Pair, mode_with_suppressed
from velado.evaluation.aggregates import Aggregates
from velado.frequency import Sensitive
from velado.hierarchies import Cover
from velado.hierarchies.scale import Scale
from velado.models import Verdict, model_from, smallest_class
from velado.results import Discreet
from velado.values import ROOT, Text

SMALL = 10
"""Groups of fewer records are small, unless the release guarantees classes of another size."""
FEW = 3
"""People below which a bar does not stand alone."""
MOST_LABELS = 16


@dataclass(frozen=True)
class Limits:
    """``value``: records that must have a value of the original for it to be shown; ``label``: the same for a label of
    the release in a chart; ``listed``: size of the smallest class whose labels are listed.
    """

    value: int
    label: int
    listed: int

    @classmethod
    def of(cls, evaluation: Evaluation) -> Limits:
        """What a release guarantees decides; without a guarantee, classes below `SMALL` are not listed."""
        smallest = evaluation.smallest_class
        promised = guaranteed_size(evaluation.models)
        return cls(max(SMALL, smallest), SMALL, promised if promised > 1 else SMALL)


def guaranteed_size(verdicts: Sequence[Verdict]) -> int:
    """The class size that the satisfied models promise."""
    return smallest_class([model_from(v.name, v.required) for v in verdicts if v.satisfied])


@dataclass(frozen=True, repr=False)
class Share(Discreet):
    """Records under a label before and after; ``kind`` is ``label``, ``other`` or ``not-released``."""

    label: Text
    before: int
    after: int
    kind: str = "label"


def distribution(pair: Pair, j: int, limits: Limits, most: int = MOST_LABELS) -> list[Share]:
    """A quasi-identifier before and after, both counted over the same bars.

    The bars are the labels that the release shows, each with the original values under it. Where labels overlap, or stand
    for other values than they show, that cannot be counted: then numbers, dates and ordered values are counted in ranges, a
    label at its middle (`histogram`), and others at the lowest level of the hierarchy that holds every label.
    """
    cover, after = pair.covers[j], pair.shown_records(j)
    if _plain(pair, j):
        before = _records_under(cover, pair.original.leaf_records[j], after)
        return _join_rare_labels(pair, _in_order(cover, after), before, after, limits, most)
    if cover.hierarchy.scale is not None:
        return histogram(pair, j, limits, most)
    before, after = _at_common_level(pair, j)
    return _join_rare_labels(pair, _in_order(cover, after), before, after, limits, most)


def sensitive_distribution(pair: Pair, column: Sensitive, limits: Limits, most: int = MOST_LABELS) -> list[Share]:
    """A sensitive column before and after, over the values that enough released records have."""
    released = pair.released.frequency.sensitive_column(column.column, column.others)
    first, last = released.first, released.first + released.width * released.segments
    inside = (pair.released.values >= first) & (pair.released.values < last)
    codes = (pair.released.values[inside] - first) % released.width
    counts = np.bincount(codes, weights=pair.released.value_counts[inside], minlength=released.width)
    held = np.rint(column.expected * pair.original.records).astype(np.int64)
    after = {x: int(n) for x, n in zip(column.labels, counts.tolist(), strict=True) if n}
    before = {x: n for x, n in zip(column.labels, held.tolist(), strict=True) if x in after}
    order = sorted(after, key=lambda x: -after[x])
    return _join_rare_labels(pair, order, before, after, replace(limits, label=limits.value), most)


def _plain(pair: Pair, j: int) -> bool:
    """Whether every value of the original is under one label of the release, and no label is one value for several."""
    cover, records = pair.covers[j], pair.label_records[j]
    used = np.flatnonzero(records)
    if len({cover.labels[i] for i in used}) < len(used) or sum(cover.sizes[used]) > len(cover.hierarchy.leaves):
        return False
    leaves = np.concatenate([cover.under(int(i)) for i in used])
    if len(np.unique(leaves)) < len(leaves):
        return False
    return bool(np.isnan(cover.points[used]).all())


def _records_under(cover: Cover, records: np.ndarray, after: Mapping[Text, int]) -> dict[Text, int]:
    """Original records under each label; labels do not overlap."""
    under = cover.sums(records)
    return {x: int(under[i]) for i, x in enumerate(cover.labels) if x in after}


def _at_common_level(pair: Pair, j: int) -> tuple[dict[Text, int], dict[Text, int]]:
    """Records before and after by the groups of the lowest level that holds every label but ``*``."""
    cover = pair.covers[j]
    h = cover.hierarchy
    used = [int(i) for i in np.flatnonzero(pair.label_records[j])]
    named = [i for i in used if cover.labels[i] != ROOT]
    whole = [x for x in range(h.levels) if all(len(set(h.maps[x][cover.under(i)].tolist())) == 1 for i in named)]
    level = whole[0] if whole else h.height
    before, after = Counter[Text](), Counter[Text]()
    for leaf, n in enumerate(pair.original.leaf_records[j].tolist()):
        before[h.labels[level][h.maps[level][leaf]]] += n
    for i in used:
        group = h.labels[level][h.maps[level][cover.under(i)[0]]] if i in named and whole else ROOT
        after[group] += int(pair.label_records[j][i])
    return {x: n for x, n in before.items() if n}, {x: after[x] for x in {**after, **before} if after[x] or before[x]}


def _in_order(cover: Cover, after: Mapping[Text, int]) -> list[Text]:
    """Numbers by size, dates and codes as text, other labels by how frequent they are."""
    if cover.bounds is not None:
        low = {x: math.inf if np.isnan(b) else float(b) for x, b in zip(cover.labels, cover.bounds[:, 0], strict=True)}
        return sorted(after, key=lambda x: low[x])
    if all(x is None or x == ROOT or x[:1].isdigit() for x in after):
        return sorted(after, key=lambda x: x or "~")
    return sorted(after, key=lambda x: -after[x])


def _join_rare_labels(
    pair: Pair, order: Sequence[Text], before: Mapping[Text, int], after: Mapping[Text, int], limits: Limits, most: int
) -> list[Share]:
    """The bars of the most frequent labels; the others, and what is not released, in bars of their own."""
    frequent = sorted((x for x in order if after[x] >= limits.label), key=lambda x: -after[x])
    kept = set(frequent[: most if len(frequent) <= most else most - 1])
    others = [x for x in order if x not in kept]
    # One or two people in the bar of the others are as telling as in a bar of their own: the next label goes with them.
    least = min(limits.label, FEW)
    while others and kept and any(0 < sum(side.get(x, 0) for x in others) < least for side in (before, after)):
        others.append(next(x for x in reversed(frequent) if x in kept))
        kept.remove(others[-1])
    shares = [Share(x, before.get(x, 0), after[x]) for x in order if x in kept]
    if others:
        counted = (sum(before.get(x, 0) for x in others), sum(after[x] for x in others))
        shares.append(Share(None, *counted, "other"))
    if pair.suppressed_records:
        shares.append(Share(None, pair.suppressed_records, pair.suppressed_records, "not-released"))
    return shares


def histogram(pair: Pair, j: int, limits: Limits, most: int = MOST_LABELS) -> list[Share]:
    """Numbers, dates or ordered values before and after in ranges; a released interval counts where its middle is.

    Ranges are at least as wide as what stands for the middle record, and have enough original records each. Labels
    that say nothing (``*``, missing) have bars of their own.
    """
    places = Placed.of(pair, j)
    unsaid = {x: n for x, n in pair.shown_records(j).items() if x in (None, ROOT)}
    missing = int(places.missing)
    shares = []
    for low, high in places.ranges(limits.label, most - 3):
        before = int(places.records[(places.numbers >= low) & (places.numbers < high)].sum())
        after = int(places.released[(places.middles >= low) & (places.middles < high)].sum())
        shares.append(Share(places.text(low, high), before, after))
    for label, n in unsaid.items():
        shares.append(Share(label, missing if label is None else 0, n))
    if missing and None not in unsaid:
        shares.append(Share(None, missing, 0))
    if pair.suppressed_records:
        shares.append(Share(None, pair.suppressed_records, pair.suppressed_records, "not-released"))
    return shares


@dataclass(frozen=True, repr=False)
class Placed(Discreet):
    """Where the records of a column lie on its scale: original ones by value, released ones by the middle of their label."""

    scale: Scale
    leaves: tuple[Text, ...]
    numbers: np.ndarray
    records: np.ndarray
    missing: int
    middles: np.ndarray
    released: np.ndarray
    width: float

    @classmethod
    def of(cls, pair: Pair, j: int) -> Placed:
        """Both sides of a column that has a scale."""
        cover, counts = pair.covers[j], pair.original.leaf_records[j]
        scale = cover.hierarchy.scale
        assert scale is not None
        known = ~np.isnan(scale.numbers)
        limits, wide = [], []
        used = [int(i) for i in np.flatnonzero(pair.label_records[j]) if cover.labels[i] not in (None, ROOT)]
        for i in used:
            under = scale.numbers[cover.under(i)]
            low, high = float(np.nanmin(under)), float(np.nanmax(under))
            wide.append(high - low)
            if cover.bounds is not None:
                low, high = cover.bounds[i]
            middle = (low + high) / 2 if np.isnan(cover.points[i]) else cover.points[i]
            limits.append(middle)
        released = pair.label_records[j][used]
        order = np.argsort(wide, kind="stable")
        ends = np.cumsum(released[order])
        typical = float(np.array(wide)[order][np.searchsorted(ends, ends[-1] / 2)]) if used else 0.0
        return cls(
            scale,
            cover.hierarchy.leaves,
            scale.numbers[known],
            counts[known],
            int(counts[~known].sum()),
            np.array(limits, dtype=float),
            released,
            typical,
        )

    def ranges(self, enough: int, most: int) -> list[tuple[float, float]]:
        """Neighbouring ranges with enough original records each; the outermost have no limit, so that none is told."""
        if not len(self.middles):
            return [(-math.inf, math.inf)] if self.records.sum() else []
        edges = _edges(float(self.middles.min()), float(self.middles.max()), most, self.width, self.scale)
        found: list[tuple[float, float]] = []
        begin = -math.inf
        for edge in [*edges, math.inf]:
            inside = self.records[(self.numbers >= begin) & (self.numbers < edge)].sum()
            if inside >= enough:
                found.append((begin, edge))
                begin = edge
        if begin < math.inf:
            found[-1:] = [(found[-1][0], math.inf)] if found else [(-math.inf, math.inf)]
        return found

    def text(self, low: float, high: float) -> str:
        """A range in the words of the column."""
        if self.scale.kind == "order":
            places = [i for i in np.argsort(self.scale.numbers) if low <= self.scale.numbers[i] < high]
            names = [str(self.leaves[i]) for i in places]
            return names[0] if len(names) == 1 else f"{names[0]} … {names[-1]}"
        if math.isinf(low) and math.isinf(high):
            return "(−∞, ∞)"
        if math.isinf(low):
            return f"<{self._text(high)}"
        if math.isinf(high):
            return f">={self._text(low)}"
        return f"{self._text(low)} ≤ … < {self._text(high)}"

    def _text(self, number: float) -> str:
        return str(date.fromordinal(int(number)).year) if self.scale.kind == "date" else f"{number:.12g}"


def _edges(low: float, high: float, most: int, width: float, scale: Scale) -> list[float]:
    """Round limits between two numbers, at most so many ranges, none narrower than the width; of dates, years."""
    if scale.kind == "date":
        years = [date.fromordinal(int(x)).year for x in (low, high)]
        step = round(_round_up(max((years[1] - years[0]) / most, width / 365, 1.0)))
        first, last = (years[0] // step + 1) * step, years[1] // step * step
        return [float(date(year, 1, 1).toordinal()) for year in range(first, last + 1, step) if year >= 1]
    least = max((high - low) / most, width, 1.0 if scale.whole else 1e-9)
    wide = math.ceil(least) if scale.kind == "order" else _round_up(least)
    return [wide * i for i in range(math.floor(low / wide) + 1, math.floor(high / wide) + 1)]


def _round_up(least: float) -> float:
    """The smallest of 1, 2, 5, 10, 20, … (and their tenths) that is not less."""
    power = 10.0 ** math.floor(math.log10(least) + 1e-12)
    return next(power * x for x in (1, 2, 5, 10) if power * x >= least - 1e-12)


@dataclass(frozen=True, repr=False)
class Shown(Discreet):
    """A number as it may be shown: itself, or a label of the release, or not at all. No number: there is none."""

    number: float | None = None
    label: Text = None
    kind: str = "number"
    records: int | None = None


HIDDEN = Shown(kind="hidden")


@dataclass(frozen=True, repr=False)
class Answer(Discreet):
    """What a numeric column answers before and after; ``name``: min, max, mean, mean-lower, mode, mode-suppressed."""

    NAMES: ClassVar[tuple[str, ...]] = ("name",)
    name: str
    before: Shown
    after: Shown


def answers(pair: Pair, j: int, found: Aggregates, limits: Limits | None) -> list[Answer]:
    """The answers of a numeric column as they may be shown; without limits, as they are.

    Numbers of the original appear only where enough records have them, else the label above them. ``mode-suppressed`` counts
    every suppressed record as ``*``, and is there where records are suppressed.
    """
    b, a = found.before, found.after
    low_open, high_open = (False, False) if limits is None else open_ends(pair, j)
    few = limits is not None and b.records < limits.value

    def original(number: float, records: int | None = None) -> Shown:
        shown = Shown(number=number) if limits is None else original_number(pair, j, number, limits)
        return replace(shown, records=records) if shown.kind == "number" and not few else shown

    def released_number(number: float | None, hidden: bool) -> Shown:
        return HIDDEN if hidden else Shown(number=number)

    mean = HIDDEN if few else Shown(number=b.mean)
    mode = original(b.mode, b.mode_count)
    told = [
        Answer("min", original(b.min), released_number(a.min, low_open)),
        Answer("max", original(b.max), released_number(a.max, high_open)),
        Answer("mean", mean, released_number(a.mean_midpoint, low_open or high_open)),
        Answer("mean-lower", mean, released_number(a.mean_lower, low_open)),
        Answer("mode", mode, Shown(label=a.mode, kind="label", records=a.mode_count)),
    ]
    if pair.suppressed_records:
        label, records = mode_with_suppressed(pair, j)
        told.append(Answer("mode-suppressed", mode, Shown(label=label, kind="label", records=records)))
    return told


def original_number(pair: Pair, j: int, number: float, limits: Limits) -> Shown:
    """How a value of a numeric quasi-identifier may be shown."""
    cover = pair.covers[j]
    assert cover.numbers is not None
    same = np.flatnonzero(cover.numbers == number)
    if pair.original.leaf_records[j][same].sum() >= limits.value:
        return Shown(number=number)
    released = pair.label_records[j]
    for i in np.argsort(cover.sizes, kind="stable"):
        if released[i] >= limits.listed and np.isin(same, cover.under(i)).all() and cover.labels[i] not in (None, ROOT):
            return Shown(label=cover.labels[i], kind="label")
    return HIDDEN


def open_ends(pair: Pair, j: int) -> tuple[bool, bool]:
    """Whether a released interval has no lower or no upper limit: answers then rest on the original's own limits."""
    released = pair.label_records[j]
    limits = [x for i, x in enumerate(pair.covers[j].intervals) if released[i] > 0 and x is not None]
    return any(math.isinf(x.low) for x in limits), any(math.isinf(x.high) for x in limits)
