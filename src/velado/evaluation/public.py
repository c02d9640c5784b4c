"""What everybody may know of a release: nothing that depends on suppressed people, but how many they are.

Figures against the whole input give suppressed people away: a distance to the distribution of all diagnoses, with
the release, is an equation for the diagnoses that are not in it. So what is published is measured as if the
input had held the released people only, and as many others of whom nothing is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from velado.errors import InputError
from velado.evaluation.pair import Pair
from velado.frequency import Classes, FrequencyTable, Sensitive
from velado.fuzzy.classes import FuzzyClasses
from velado.hierarchies import Cover, Hierarchy
from velado.models import PrivacyModel, Verdict


def public(pair: Pair) -> Pair:
    """The pair without its suppressed people.

    Values that only they have are gone from hierarchies that took their leaves from the data, from labels and from the
    sensitive columns, whose distribution is that of the released people.
    """
    if not pair.suppressed:
        return pair
    if pair.class_of is None:
        raise InputError(
            "rows-not-matched", "it cannot be told which records were suppressed, so nothing can be said without them",
            hint="Run the project again, and do not change its release.",
        )  # fmt: skip
    original = pair.original
    rows = pair.class_of >= 0
    codes, hierarchies, covers = [], [], []
    labels = np.empty_like(pair.labels)
    for j, (hierarchy, cover) in enumerate(zip(original.hierarchies, pair.covers, strict=True)):
        held = np.bincount(original.codes[rows, j], minlength=len(hierarchy.leaves)) > 0
        kept = hierarchy.only(held)
        place = np.cumsum(_leaves_kept(hierarchy, held)) - 1
        shown, labels[:, j] = np.unique(pair.labels[:, j], return_inverse=True)
        hierarchies.append(kept)
        codes.append(place[original.codes[rows, j]].astype(np.int32))
        covers.append(_narrowed(cover, kept, _leaves_kept(hierarchy, held), shown))
    sensitive, number = _sensitive(original, rows)
    start, values, counts = _entries(original.start, original.values, original.value_counts, number, rows)
    released_people = FrequencyTable(
        tuple(hierarchies), np.column_stack(codes), original.counts[rows], sensitive, start, values, counts
    )
    released = _classes(pair.released, original, released_people, rows, number)
    return replace(
        pair,
        original=released_people,
        covers=tuple(covers),
        labels=labels,
        released=released,
        class_of=pair.class_of[rows],
        fuzzy=None if pair.fuzzy is None else replace(pair.fuzzy, classes=_fuzzy(pair.fuzzy.classes)),
        lost=pair.suppressed,
        people=None if pair.people is None else replace(pair.people, before=pair.people.before[rows]),
    )


def _fuzzy(classes: FuzzyClasses) -> FuzzyClasses:
    """Fuzzy classes, which hold released people only, beside these people's distribution."""
    histograms, expected = {}, {}
    for name, histogram in classes.histograms.items():
        held = np.asarray(histogram.sum(axis=0), dtype=float).ravel()
        histograms[name] = histogram[:, np.flatnonzero(held)]
        expected[name] = held[held > 0] / max(held.sum(), 1)
    return replace(classes, histograms=histograms, expected=expected)


def public_verdicts(models: Sequence[PrivacyModel], verdicts: Sequence[Verdict], suppressed: int) -> list[Verdict]:
    """Verdicts of which those that compare with the whole input say only the bound that holds, if anybody is suppressed."""
    if not suppressed:
        return list(verdicts)
    return [
        replace(v, achieved=m.bound(), exact=False) if m.relative and v.satisfied else v
        for m, v in zip(models, verdicts, strict=True)
    ]


def _leaves_kept(hierarchy: Hierarchy, held: np.ndarray) -> np.ndarray:
    return np.asarray(held | hierarchy.listed_leaves)


def _narrowed(cover: Cover, hierarchy: Hierarchy, kept: np.ndarray, shown: np.ndarray) -> Cover:
    """The labels that are shown, over the leaves that are left."""
    place = np.cumsum(kept) - 1
    members = [place[under[kept[under]]] for under in (cover.under(int(i)) for i in shown)]
    ends = np.cumsum([0, *map(len, members)])
    return Cover(
        hierarchy,
        tuple(cover.labels[i] for i in shown),
        np.concatenate(members),
        ends[:-1],
        ends[1:],
        np.minimum(cover.levels[shown], hierarchy.height),
    )


def _sensitive(original: FrequencyTable, rows: np.ndarray) -> tuple[tuple[Sensitive, ...], np.ndarray]:
    """The sensitive columns with the values that released people have, and the new number of each value (−1: none).

    Readings that join other columns are left out: they are judged before, and never shown.
    """
    entries = np.repeat(rows, np.diff(original.start)) if len(original.values) else np.zeros(0, dtype=bool)
    held = np.bincount(
        original.values[entries], weights=original.value_counts[entries], minlength=original.histogram_domain
    )
    number = np.full(original.histogram_domain, -1, dtype=np.int64)
    found: list[Sensitive] = []
    first = 0
    for s in original.sensitive:
        if s.others:
            continue
        own = held[s.first : s.first + s.width]
        present = np.flatnonzero(own)
        number[s.first + present] = first + np.arange(len(present))
        found.append(s.only(present, first, own[present] / max(own.sum(), 1)))
        first += len(present)
    return tuple(found), number


def _entries(
    start: np.ndarray, values: np.ndarray, counts: np.ndarray, number: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Histogram entries of some rows under new numbers."""
    if not len(values):
        return np.zeros(1, dtype=np.int64), values, counts
    row_of = np.repeat(np.arange(len(rows)), np.diff(start))
    chosen = rows[row_of] & (number[values] >= 0)
    per_row = np.bincount(row_of[chosen], minlength=len(rows))[rows]
    new = np.concatenate([[0], np.cumsum(per_row)]).astype(np.int64)
    return new, number[values[chosen]].astype(np.int32), counts[chosen]


def _classes(
    released: Classes, original: FrequencyTable, people: FrequencyTable, rows: np.ndarray, number: np.ndarray
) -> Classes:
    """The released classes over the released people, or over their own table where they were read from a release."""
    everything = np.ones(released.count, dtype=bool)
    start, values, counts = _entries(released.start, released.values, released.value_counts, number, everything)
    if released.frequency is original:
        place = np.cumsum(rows) - 1
        return Classes(
            people,
            released.class_of[rows],
            released.sizes,
            place[released.rows].astype(np.uint32),
            start,
            values,
            counts,
        )
    # Every row of a release is a class.
    own = replace(released.frequency, sensitive=people.sensitive, start=start, values=values, value_counts=counts)
    return replace(released, frequency=own, start=start, values=values, value_counts=counts)
