"""What everybody may know of a release: nothing that depends on suppressed people, but how many they are.

Figures against the whole input give suppressed people away: a distance to the distribution of all diagnoses, with
the release, is an equation for the diagnoses that are not in it. So what is published is measured as if the
input had held the released people only, and as many others of whom nothing is known.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from velado.errors import InputError
from velado.evaluation.pair import Pair
from velado.frequency import Classes, FrequencyTable, Sensitive
from velado.frequency.table import sparse
from velado.hierarchies import Cover, Hierarchy
from velado.methods.axes import Axis
from velado.methods.representatives import range_cover, reach
from velado.models import PrivacyModel, Verdict
from velado.values import Text


def public(pair: Pair) -> Pair:
    """The pair without its suppressed people.

    Values that only they have are gone from hierarchies that took their leaves from the data, from labels and from the
    sensitive columns, whose distribution is that of the released people.
    """
    if not pair.suppressed_records:
        return pair
    if pair.class_of is None:
        raise InputError(
            "rows-not-matched",
            "it cannot be told which records were suppressed, so nothing can be said without them",
            hint="Run the project again, and do not change its release.",
        )
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
        if pair.fuzzy is None:
            covers.append(_narrow_cover(cover, kept, _leaves_kept(hierarchy, held), shown))
        else:
            texts = [cover.labels[i] for i in shown]
            found, labels[:, j] = _where_shown(kept, codes[-1], texts, labels[:, j], pair.class_of[rows])
            covers.append(found)
    sensitive, number = _sensitive(original, rows, pair.spelled)
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
        fuzzy=None if pair.fuzzy is None else pair.fuzzy.public_view(released_people),
        lost=pair.suppressed_records,
        people=None if pair.people is None else replace(pair.people, before=pair.people.before[rows]),
    )


def public_verdicts(models: Sequence[PrivacyModel], verdicts: Sequence[Verdict], suppressed: int) -> list[Verdict]:
    """Verdicts of which those that depend on the whole input say only the bound that holds, if anybody is suppressed."""
    if not suppressed:
        return list(verdicts)
    return [
        replace(v, achieved=m.bound(), exact=False) if m.relative and v.satisfied else v
        for m, v in zip(models, verdicts, strict=True)
    ]


def _leaves_kept(hierarchy: Hierarchy, held: np.ndarray) -> np.ndarray:
    return np.asarray(held | hierarchy.listed_leaves)


def _narrow_cover(cover: Cover, hierarchy: Hierarchy, kept: np.ndarray, shown: np.ndarray) -> Cover:
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


def _where_shown(
    hierarchy: Hierarchy, codes: np.ndarray, texts: Sequence[Text], labels: np.ndarray, class_of: np.ndarray
) -> tuple[Cover, np.ndarray]:
    """Fuzzy labels, which stand for where those are who show them, in ascending order; and those of the classes."""
    axis = Axis.of(hierarchy)
    low, high = reach(axis, codes, labels[class_of], len(texts))
    order = sorted(range(len(texts)), key=lambda i: (low[i], high[i], str(texts[i])))
    return range_cover(axis, tuple(texts[i] for i in order), low[order], high[order]), np.argsort(order)[labels]


def _sensitive(
    original: FrequencyTable, rows: np.ndarray, spelled: Mapping[str, Collection[Text]]
) -> tuple[tuple[Sensitive, ...], np.ndarray]:
    """The sensitive columns with the values that released people have, and the new number of each value (−1: none).

    Readings that join other columns are left out: they are judged before, and never shown.
    """
    entries = np.repeat(rows, np.diff(original.start)) if len(original.values) else np.zeros(0, dtype=bool)
    held = np.bincount(original.values[entries], weights=original.value_counts[entries], minlength=original.histogram_domain)
    number = np.full(original.histogram_domain, -1, dtype=np.int64)
    found: list[Sensitive] = []
    first = 0
    for s in original.sensitive:
        if s.others:
            continue
        known = s.restrict(spelled[s.column], first)
        old = np.array([s.number[label] for label in known.labels], dtype=np.int64)
        number[s.first + old] = first + np.arange(known.width)
        own = held[s.first + old]
        found.append(replace(known, expected=own / max(own.sum(), 1)))
        first += known.width
    return tuple(found), number


def _entries(
    start: np.ndarray, values: np.ndarray, counts: np.ndarray, number: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Histogram entries of some rows under new numbers."""
    if not len(values):
        return np.zeros(1, dtype=np.int64), values, counts
    row_of = np.repeat(np.cumsum(rows) - 1, np.diff(start))
    chosen = np.repeat(rows, np.diff(start)) & (number[values] >= 0)
    domain = int(number.max()) + 1
    return sparse(int(rows.sum()), domain, [row_of[chosen]], [number[values[chosen]]], [counts[chosen]])


def _classes(released: Classes, original: FrequencyTable, people: FrequencyTable, rows: np.ndarray, number: np.ndarray) -> Classes:
    """The released classes over the released people, or over their own table where they were read from a release."""
    everything = np.ones(released.count, dtype=bool)
    start, values, counts = _entries(released.start, released.values, released.value_counts, number, everything)
    if released.frequency is original:
        place = np.cumsum(rows) - 1
        return Classes(
            people, released.class_of[rows], released.sizes, place[released.rows].astype(np.uint32), start, values, counts
        )
    # Every row of a release is a class.
    own = replace(released.frequency, sensitive=people.sensitive, start=start, values=values, value_counts=counts)
    return replace(released, frequency=own, start=start, values=values, value_counts=counts)
