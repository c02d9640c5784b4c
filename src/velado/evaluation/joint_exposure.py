"""Joint exposure: how far everything that is published singles people out (``measures.md`` §4).

For a set of published columns, people who show the same cells on it are a group. Somebody in a group smaller than k has a
*key*: who knows these cells finds fewer than k people. The adversary holds columns that others know (quasi-identifiers) or could
know; those of which only the person and the keeper of the table know are left out of the headline and shown beside it.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from velado.frequency.table import distinct_rows
from velado.kernels.matching_people import count_alike
from velado.results import IF_SET, Discreet
from velado.tables import NOBODY, Counts
from velado.values import Text

EXACT = 100_000
"""Up to so many different rows everybody is asked for their key; of more a sample is."""
SAMPLED = 5_000
"""So many people are a sample."""
LARGEST = 3
"""Keys of more columns are those of all columns."""
IN_TRIPLES = 12
IN_PAIRS = 24
"""So many columns are put together to triples and pairs: those that single out the most."""
SHOWN = 12
"""So many sets are told."""
CONFIDENCE = 0.95
KEYS = ("1", "2", "3", "more", "never")
"""How many columns the smallest key of a person has."""


@dataclass(frozen=True)
class KeySet:
    """A set of published columns: how many people are ``alone`` with what they show on it, and in groups ``below`` k."""

    columns: tuple[str, ...]
    alone: int
    below: int


@dataclass(frozen=True)
class Narrowing:
    """How far a published ``column`` tells a generalized quasi-identifier.

    ``left``: of the original values behind a label so large a share is left for who knows the column too, on average over people;
    ``one_left``: so many people are left with one value, of ``hidden`` whose label hid several. ``by_chance``: the same on
    average if the cells of the column are dealt out anew among those with the same label: small groups have few values anyway.
    """

    quasi_identifier: str
    column: str
    left: float
    one_left: int
    hidden: int
    by_chance: int = 0


@dataclass(frozen=True, repr=False)
class JointExposure(Discreet):
    """How far all published columns single people out.

    ``columns`` are known to others or could be (the quasi-identifiers first), ``private`` those of which only the person and the
    keeper know. Of the ``people`` (records, unless ``counted`` in people) so many are ``alone`` with all of ``columns``, and in
    groups ``below`` k; ``alone_with_private`` and ``below_with_private``: the same by everything that is published. ``below_known``
    are in such groups by the quasi-identifiers alone, ``judged`` by all columns but those whose exposure is ``accepted``:
    what the models and the owner did not accept, beyond the ``allowance``, stops a run.

    ``keys``: people by the size of their smallest key (1, 2, 3, more, never), among the ``combined`` columns; with ``keys_with_private``
    everything that is published may be in a key. ``sets`` are the most revealing ones. With ``sampled`` people asked instead of everybody, each share is known to ±``error`` (Clopper and Pearson
    1934, 95 %). None: there are too many different rows to ask.
    """

    ALSO: ClassVar[tuple[str, ...]] = ("share", "share_alone", "share_alone_with_private")
    k: int
    people: int
    columns: tuple[str, ...]
    private: tuple[str, ...]
    alone: int
    below: int
    alone_with_private: int
    below_with_private: int
    below_known: int
    judged: int
    allowance: float = 0.0
    accepted: tuple[str, ...] = ()
    counted: bool = False
    keys: dict[str, int] | None = None
    keys_with_private: dict[str, int] | None = None
    sets: tuple[KeySet, ...] = ()
    combined: tuple[str, ...] = ()
    sampled: int | None = None
    error: float = 0.0
    narrowing: tuple[Narrowing, ...] = field(default=(), metadata=IF_SET)

    @property
    def share(self) -> float:
        """The headline: of the people so many are in groups below k by what others know or could know."""
        return self.below / max(self.people, 1)

    @property
    def share_alone(self) -> float:
        """So many are alone by what others know or could know."""
        return self.alone / max(self.people, 1)

    @property
    def share_alone_with_private(self) -> float:
        """So many would be alone if everything that is published were known."""
        return self.alone_with_private / max(self.people, 1)

    @property
    def is_refused(self) -> bool:
        """Whether more people are exposed than the models accept and the owner allows."""
        return self.judged - self.below_known > self.allowance * self.people

    def with_keys(self, found: Keys) -> JointExposure:
        """With the smallest keys of people."""
        return replace(
            self,
            keys=found.keys,
            keys_with_private=found.keys_with_private,
            sets=found.sets,
            combined=found.combined,
            sampled=found.sampled,
            error=found.error,
        )

    def without_keys(self) -> JointExposure:
        """Where nobody has a key."""
        nobody = dict.fromkeys(KEYS[:-1], 0) | {KEYS[-1]: self.people}
        return replace(self, keys=nobody, keys_with_private=nobody)

    def public(self) -> JointExposure:
        """Without what is measured on the original."""
        return replace(self, narrowing=())


@dataclass(frozen=True)
class Keys:
    """What asking people for their smallest keys gave, by what others know or could know and by everything."""

    keys: dict[str, int]
    keys_with_private: dict[str, int]
    sets: tuple[KeySet, ...]
    combined: tuple[str, ...]
    sampled: int | None
    error: float


class Asked:
    """People who are asked for their smallest keys: all of them, or a sample, each against everybody.

    ``first`` are rows of the release, all or a lot by the columns that others could know (all but the ``private`` ones);
    ``people``: whose they are, where people have several. ``combined``: the columns that are put together, the most revealing
    first. `add` counts those who look like them among more rows; `answer` is what came out.
    """

    def __init__(
        self,
        first: Counts,
        private: Sequence[str],
        combined: Sequence[str],
        k: int,
        people: np.ndarray | None = None,
        *,
        sampled: bool = False,
    ) -> None:
        self.names, self.k, self.dictionaries, self.combined = first.names, k, first.dictionaries, tuple(combined)
        self.private = {first.names.index(name) for name in private}
        self.sets = [
            tuple(first.names.index(name) for name in chosen)
            for size, most in ((1, len(self.combined)), (2, IN_PAIRS), (LARGEST, IN_TRIPLES))
            for chosen in itertools.combinations(self.combined[:most], size)
        ]
        self.sampled = sampled
        self.rows = _draw_sample(first, people) if sampled else np.arange(len(first.counts))
        self.weights = first.counts[self.rows]
        self.people = None if people is None else people[self.rows]
        self.codes = np.array([column[self.rows] for column in first.codes], dtype=np.int32)
        self.found = np.zeros((len(self.sets), len(self.rows)), dtype=np.int64)
        known = [i for i in range(len(first.names)) if i not in self.private]
        self.by_known, self.by_all = (
            group_sizes(first, columns, people)[self.rows] for columns in (known, range(len(first.names)))
        )

    def add(self, counts: Counts, people: np.ndarray | None = None) -> None:
        """Count those who look like the people that are asked among these rows; ``people``: whose the rows are."""
        chosen = [
            column if new is old else _places(old, new)[column]
            for column, old, new in zip(self.codes, self.dictionaries, counts.dictionaries, strict=True)
        ]
        order = np.arange(len(counts.counts)) if people is None else np.argsort(people, kind="stable")
        who = (order if people is None else people[order]).astype(np.int64)
        sets = np.full((len(self.sets), LARGEST), -1, dtype=np.int64)
        for q, one in enumerate(self.sets):
            sets[q, : len(one)] = one
        places = 1 << max(2 * len(self.rows), 2).bit_length()
        keys, sizes, last = (np.empty(places, dtype=np.int64) for _ in range(3))
        count_alike(
            np.array([column[order] for column in counts.codes], dtype=np.int32).reshape(len(self.names), -1),
            np.array([max(len(d), 1) for d in counts.dictionaries], dtype=np.int64),
            who,
            counts.counts.astype(np.int64) if people is None else (who != NOBODY).astype(np.int64),
            np.array(chosen, dtype=np.int32),
            sets,
            keys,
            sizes,
            last,
            np.empty(len(self.rows), dtype=np.int64),
            self.found,
        )

    def answer(self, total: int) -> Keys:
        """The smallest keys of ``total`` people, and the sets that are keys of the most."""
        sizes = np.maximum(self.found, 1)
        small = sizes < self.k
        known = np.array([not self.private & set(one) for one in self.sets], dtype=bool)
        by_known, asked = self._by_size(small[known], [s for s, k in zip(self.sets, known, strict=True) if k], self.by_known)
        by_all, _ = self._by_size(small, self.sets, self.by_all)
        scale = total / max(asked, 1) if self.sampled else 1.0
        rows = self.weights if self.people is None and not self.sampled else np.ones_like(self.weights)
        part = total / max(int(rows.sum()), 1)
        sets = [
            KeySet(
                tuple(self.names[c] for c in one),
                round(int(rows[sizes[q] == 1].sum()) * part),
                round(int(rows[small[q]].sum()) * part),
            )
            for q, one in enumerate(self.sets)
        ]
        error = max(margin(n, asked) for n in (*by_known.values(), *by_all.values())) if self.sampled else 0.0
        known_keys, all_keys = ({name: round(n * scale) for name, n in x.items()} for x in (by_known, by_all))
        return Keys(known_keys, all_keys, _revealing(sets), self.combined, asked if self.sampled else None, error)

    def _by_size(self, small: np.ndarray, sets: Sequence[Sequence[int]], together: np.ndarray) -> tuple[dict[str, int], int]:
        """People by the size of their smallest key, and how many there are."""
        never = LARGEST + 2
        smallest = np.where(np.maximum(together, 1) < self.k, LARGEST + 1, never)
        for one, keyed in zip(sets, small, strict=True):
            smallest = np.where(keyed, np.minimum(smallest, len(one)), smallest)
        weights = np.ones_like(self.weights) if self.sampled else self.weights
        if self.people is not None:
            smallest, weights = _of_people(smallest, self.people)
        by_size = np.bincount(smallest, weights=weights, minlength=never + 1).astype(np.int64).tolist()
        return dict(zip(KEYS, by_size[1:], strict=True)), int(weights.sum())


def group_sizes(rows: Counts, columns: Iterable[int], people: np.ndarray | None = None) -> np.ndarray:
    """Per row how many people (numbered from 1) show the same on some columns; of rows that nobody is known to own, none."""
    chosen = list(columns)
    if chosen:
        radices = [max(len(rows.dictionaries[c]), 1) for c in chosen]
        _, group = distinct_rows(np.array([rows.codes[c] for c in chosen], dtype=np.int32), radices)
    else:
        group = np.zeros(len(rows.counts), dtype=np.int64)
    if people is None:
        records: np.ndarray = np.bincount(group, weights=rows.counts).astype(np.int64)[group]
        return records
    known = people != NOBODY
    width = int(people.max(initial=0)) + 1
    pairs = np.unique(group[known] * width + people[known])
    sizes: np.ndarray = np.bincount(pairs // width, minlength=int(group.max(initial=-1)) + 1)[group]
    return sizes


def _revealing(sets: Sequence[KeySet]) -> tuple[KeySet, ...]:
    """The sets that are keys of the most people; a larger one only if it is the key of more than those within it."""
    told: list[KeySet] = []
    for one in sorted(sets, key=lambda s: (len(s.columns), -s.below, -s.alone, s.columns)):
        inner = [t for t in told if set(t.columns) < set(one.columns)]
        if one.below and all(t.below < one.below for t in inner):
            told.append(one)
    by_size = [[s for s in told if len(s.columns) == n][: SHOWN // LARGEST] for n in range(1, LARGEST + 1)]
    return tuple(s for some in by_size for s in some)


def _of_people(smallest: np.ndarray, people: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The smallest key of each person, over all their rows; rows of nobody known are each somebody."""
    nobody = people == NOBODY
    _, who = np.unique(people[~nobody], return_inverse=True)
    best = np.full(int(who.max(initial=-1)) + 1, np.iinfo(smallest.dtype).max)
    np.minimum.at(best, who, smallest[~nobody])
    keys = np.concatenate([best, smallest[nobody]])
    return keys, np.ones(len(keys), dtype=np.int64)


def _places(values: Sequence[Text], among: Sequence[Text]) -> np.ndarray:
    """The places of values among others, -1 for those that are not there."""
    place = {v: i for i, v in enumerate(among)}
    return np.array([place.get(v, -1) for v in values], dtype=np.int32)


def _draw_sample(rows: Counts, people: np.ndarray | None) -> np.ndarray:
    """Rows of people by chance, each row as likely as it has people; the same ones whatever the order of rows and values.

    The smallest of -ln(u)/weight, u a hash of what the row shows (Efraimidis and Spirakis 2006). Of people who have several
    rows the hash is that of all together, and all of them are drawn.
    """
    mixed = np.zeros(len(rows.counts), dtype=np.uint64)
    for dictionary, codes in zip(rows.dictionaries, rows.codes, strict=True):
        hashes = np.array([zlib.crc32((v or "\0").encode()) for v in dictionary], dtype=np.uint64)
        mixed = _mix(mixed ^ hashes[codes])
    if people is None:
        return np.argsort(-np.log(_chance(mixed)) / rows.counts, kind="stable")[:SAMPLED]
    # Who is not known may be anybody: each such row is somebody.
    whose = np.where(people == NOBODY, people.max(initial=0) + 1 + np.arange(len(people)), people)
    order = np.argsort(whose, kind="stable")
    first = np.flatnonzero(np.diff(whose[order], prepend=-1))
    chance = _chance(_mix(np.add.reduceat(mixed[order], first)))
    drawn = whose[order][first][np.argsort(chance, kind="stable")[:SAMPLED]]
    return np.flatnonzero(np.isin(whose, drawn))


def _mix(numbers: np.ndarray) -> np.ndarray:
    mixed = numbers * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(29))


def _chance(hashes: np.ndarray) -> np.ndarray:
    """Hashes as numbers between 0 and 1."""
    return ((hashes >> np.uint64(11)).astype(np.float64) + 0.5) / 2.0**53


def margin(found: int, asked: int) -> float:
    """Half the width of the interval of Clopper and Pearson (1934) for a share.

    >>> round(margin(50, 1000), 3)
    0.014
    """
    from scipy.stats import beta

    tail = (1 - CONFIDENCE) / 2
    low = float(beta.ppf(tail, found, asked - found + 1)) if found else 0.0
    high = float(beta.ppf(1 - tail, found + 1, asked - found)) if found < asked else 1.0
    return (high - low) / 2


def narrowing(
    column: str, cells: np.ndarray, labels: Iterable[tuple[str, np.ndarray, np.ndarray]], counts: np.ndarray
) -> Iterable[Narrowing]:
    """How far a column narrows quasi-identifiers: per one its name, labels and original values, as codes row by row."""
    width = int(cells.max(initial=0)) + 1
    for name, shown, values in labels:
        hidden = _different(shown, values)
        behind = hidden > 1
        people = int(counts[behind].sum())
        if not people:
            continue
        shown, values, hidden, weights = shown[behind].astype(np.int64), values[behind], hidden[behind], counts[behind]
        left = _different(shown * width + cells[behind], values)
        by_chance = round(_alike_by_chance(shown, values, cells[behind], weights))
        share = float((left / hidden * weights).sum() / people)
        yield Narrowing(name, column, share, int(weights[left == 1].sum()), people, by_chance)


def _alike_by_chance(labels: np.ndarray, values: np.ndarray, cells: np.ndarray, weights: np.ndarray) -> float:
    """How many people would share their cell with people of one value only, on average over all ways to deal out cells.

    Among N people with a label, m of a value and c of a cell, m·c/N have both; the other c-1 of the cell have this value with
    probability C(m-1, c-1) / C(N-1, c-1). An average, not one deal: it does not depend on the order of the rows.
    """
    from scipy.special import gammaln

    total = np.bincount(labels, weights=weights)
    (label, m, of_values), (labels_of_cells, c, of_cells) = (_group_sizes(labels, x, weights) for x in (values, cells))
    first, end = (np.searchsorted(labels_of_cells, label, side) for side in ("left", "right"))
    pairs = end - first
    one = np.repeat(np.arange(len(label)), pairs)
    other = np.arange(pairs.sum()) - np.repeat(np.cumsum(pairs) - pairs, pairs) + np.repeat(first, pairs)
    fits = c[other] <= m[one]
    one, other = one[fits], other[fits]
    n, m, c = total[label[one]], m[one], c[other]
    chance = np.exp(gammaln(m) - gammaln(m - c + 1) - gammaln(n) + gammaln(n - c + 1))
    # Rounded, as the order in which numbers are added shows in the last digits.
    return round(float((of_values[one] * of_cells[other] * m * c / n * chance).sum()), 6)


def _group_sizes(labels: np.ndarray, values: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, ...]:
    """By label, the different sizes of groups of one value, and how many groups have that size."""
    keys, group = np.unique(labels * (int(values.max(initial=0)) + 1) + values, return_inverse=True)
    sizes = np.bincount(group, weights=weights).astype(np.int64)
    width = int(sizes.max(initial=0)) + 1
    found, number = np.unique(keys // (int(values.max(initial=0)) + 1) * width + sizes, return_counts=True)
    return found // width, found % width, number


def _different(keys: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Per row how many different values rows with the same key have."""
    _, group = np.unique(keys, return_inverse=True)
    width = int(values.max(initial=0)) + 1
    pairs = np.unique(group.astype(np.int64) * width + values)
    number: np.ndarray = np.bincount(pairs // width, minlength=int(group.max(initial=-1)) + 1)[group]
    return number
