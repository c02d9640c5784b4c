"""An original table and what became of it: what every measure of utility and risk is computed from."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from velado.errors import InputError
from velado.evaluation.matching import fitting
from velado.frequency import Classes, FrequencyTable, in_order
from velado.frequency.table import distinct_rows
from velado.fuzzy.classes import Fuzzified
from velado.hierarchies import Cover
from velado.progress import Progress
from velado.results import Discreet
from velado.sentences import Sentence, join_sentences
from velado.values import Text


@dataclass(frozen=True, repr=False)
class People(Discreet):
    """Different people of each distinct original row, of each class as it is shown, and of the whole release.

    ``person`` is the column that tells them apart.
    """

    NAMES: ClassVar[tuple[str, ...]] = ("person",)
    person: str
    before: np.ndarray
    classes: np.ndarray
    released: int


@dataclass(frozen=True, repr=False)
class Pair(Discreet):
    """The original's frequency table, the released classes, and what their labels stand for.

    ``labels[c, j]`` is the label of class c in column j, a code into ``covers[j].labels``. ``class_of`` gives the
    class of each distinct original row, −1 if it was suppressed; it is None where the release does not tell
    (overlapping labels, equal records in different classes, or part of a class suppressed). ``starred`` of the suppressed records stand in the
    release as rows of ``*``. Suppressed records belong to no class. ``whole`` gives the records of each leaf in the whole
    table where this pair is only a part of it. ``fuzzy`` is the fuzzy side of a release that has one. ``lost`` counts
    suppressed records of which nothing else is known. ``people`` counts people where a person may have several records.
    ``spelled`` are the spellings that the release has in each sensitive column, where it was read.
    """

    original: FrequencyTable
    covers: tuple[Cover, ...]
    labels: np.ndarray
    released: Classes
    class_of: np.ndarray | None
    starred: int = 0
    whole: tuple[np.ndarray, ...] | None = None
    fuzzy: Fuzzified | None = None
    lost: int = 0
    people: People | None = None
    spelled: Mapping[str, Collection[Text]] = field(default_factory=dict)

    def known_numbers(self, j: int) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of a quasi-identifier in the original and the records of each; none if it is not numeric."""
        numbers, records = self.covers[j].numbers, self.original.leaf_records[j]
        if numbers is None:
            return np.zeros(0), np.zeros(0, dtype=np.int64)
        known = ~np.isnan(numbers) & (records > 0)
        # 1.0 and 1 are two values of the column and one number.
        different, number = np.unique(numbers[known], return_inverse=True)
        return different, np.bincount(number.reshape(-1), weights=records[known]).astype(np.int64)

    @classmethod
    def of(
        cls,
        classes: Classes,
        kept: np.ndarray,
        covers: tuple[Cover, ...],
        labels: np.ndarray,
        starred: int = 0,
        fuzzy: Fuzzified | None = None,
    ) -> Pair:
        """The pair of the kept classes of a recoding: nothing has to be matched."""
        released = classes.only(kept)
        divided = classes.frequency.undivided
        if divided is not None:
            return cls(divided, covers, labels[kept], released, None, starred)
        return cls(classes.frequency, covers, labels[kept], released, released.class_of, starred, fuzzy=fuzzy)

    @classmethod
    def at_levels(cls, classes: Classes, levels: Sequence[int], kept: np.ndarray) -> Pair:
        """The pair of a lattice node."""
        return cls.of(classes, kept, *classes.labels_at(levels))

    @classmethod
    def between(
        cls,
        original: FrequencyTable,
        release: FrequencyTable,
        starred: int = 0,
        file: str | None = None,
        progress: Progress | None = None,
    ) -> Pair:
        """The pair of two tables, matched by what the released labels stand for.

        ``release`` holds the released labels as they are, one class per distinct row. An error says where
        the two cannot belong together.
        """
        if release.records + starred > original.records:
            raise InputError(
                "not-corresponding",
                Sentence(
                    "the release has {released:,} records, more than the original ({original:,})",
                    released=release.records + starred,
                    original=original.records,
                ),
                file=file,
                hint="Is the first table the original, and the second its release?",
            )
        covers = tuple(
            Cover.of_labels(h, r.leaves, file, records=(release.leaf_records[j], original.leaf_records[j]))
            for j, (h, r) in enumerate(zip(original.hierarchies, release.hierarchies, strict=True))
        )
        released = Classes.of_rows(release)
        labels = release.codes.astype(np.int64)
        rows, classes = fitting(original.codes, covers, labels, progress)
        available = np.bincount(classes, weights=original.counts[rows], minlength=released.count).astype(np.int64)
        short = np.flatnonzero(available < released.sizes)
        if len(short):
            c = short[np.argmax(released.sizes[short] - available[short])]
            shown = join_sentences(", ", [str(cover.labels[x]) for cover, x in zip(covers, labels[c], strict=True)])
            raise InputError(
                "not-corresponding",
                Sentence(
                    "{classes:,} released class(es) have more records than the original has for them: ({labels}) "
                    "{released:,} released, {available:,} in the original",
                    classes=len(short),
                    labels=shown,
                    released=int(released.sizes[c]),
                    available=int(available[c]),
                ),
                file=file,
                hint="Check that the release was made from this original.",
            )
        disjoint = len(np.unique(rows)) == len(rows)
        if not disjoint:
            _check_overlapping(original.counts, released.sizes, rows, classes, file)
        exact = disjoint and (available == released.sizes).all()
        class_of = None
        if exact:
            class_of = np.full(original.rows, -1, dtype=np.int64)
            class_of[rows] = classes
        return cls(original, covers, labels, released, class_of, starred)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the quasi-identifiers."""
        return self.original.columns

    @property
    def records(self) -> int:
        """Records of the original, N."""
        return self.original.records + self.lost

    @property
    def sizes(self) -> np.ndarray:
        """Records of each released class."""
        return self.released.sizes

    @cached_property
    def shown_as(self) -> np.ndarray:
        """The number of each class as a reader of the release sees it: classes that show the same are one."""
        codes = []
        for j, cover in enumerate(self.covers):
            number = {text: i for i, text in enumerate(dict.fromkeys(cover.labels))}
            codes.append(np.array([number[text] for text in cover.labels], dtype=np.int64)[self.labels[:, j]])
        if not codes:
            return np.zeros(len(self.sizes), dtype=np.int64)
        return in_order(distinct_rows(np.array(codes), [len(c.labels) for c in self.covers])[1])[0]

    @cached_property
    def shown_sizes(self) -> np.ndarray:
        """Records of each class as a reader of the release sees it."""
        return np.bincount(self.shown_as, weights=self.sizes).astype(np.int64)

    @cached_property
    def visible_classes(self) -> Classes:
        """The released classes as a reader of the release sees them."""
        return self.released.merge_classes(self.shown_as, len(self.shown_sizes))

    @property
    def judged_classes(self) -> Classes:
        """The classes as models are judged on them: as they are shown, with their people, where these are counted."""
        return (
            self.visible_classes
            if self.people is None
            else self.visible_classes.with_people(self.people.person, self.people.classes)
        )

    @property
    def risk_sizes(self) -> np.ndarray:
        """Among how many people, or records, an adversary has to guess in each class."""
        return self.shown_sizes if self.people is None else self.people.classes

    @property
    def alike(self) -> np.ndarray:
        """People, or records, with the same quasi-identifier values before."""
        return self.original.counts if self.people is None else self.people.before

    @property
    def singled_out(self) -> int:
        """People, or records, that are alone with their quasi-identifier values before."""
        return self.original.singled_out if self.people is None else int((self.people.before == 1).sum())

    @cached_property
    def released_records(self) -> int:
        """Records released."""
        return int(self.sizes.sum())

    @property
    def suppressed_records(self) -> int:
        """Records that are not released."""
        return self.records - self.released_records

    @property
    def leaf_records(self) -> tuple[np.ndarray, ...]:
        """Per column, the records of each leaf in the whole table."""
        return self.original.leaf_records if self.whole is None else self.whole

    @cached_property
    def label_records(self) -> tuple[np.ndarray, ...]:
        """Per column, the released records of each label."""
        return tuple(
            np.bincount(self.labels[:, j], weights=self.sizes, minlength=len(c.labels)).astype(np.int64)
            for j, c in enumerate(self.covers)
        )

    def shown_records(self, j: int) -> dict[Text, int]:
        """The released records of each label of a column as a reader counts them: equal texts are one label."""
        found: dict[Text, int] = {}
        for label, records in zip(self.covers[j].labels, self.label_records[j].tolist(), strict=True):
            if records:
                found[label] = found.get(label, 0) + records
        return found

    def shown_texts(self) -> list[tuple[Text, ...]]:
        """The labels of each class as a reader of the release sees it."""
        return self.texts(np.unique(self.shown_as, return_index=True)[1])

    def texts(self, classes: Sequence[int] | np.ndarray) -> list[tuple[Text, ...]]:
        """The released labels of some classes."""
        return [tuple(c.labels[x] for c, x in zip(self.covers, self.labels[i], strict=True)) for i in classes]


def _check_overlapping(counts: np.ndarray, sizes: np.ndarray, rows: np.ndarray, classes: np.ndarray, file: str | None) -> None:
    """Classes that share original rows, directly or through others, have no more records together than those rows."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n, m = len(counts), len(sizes)
    links = coo_array((np.ones(len(rows), dtype=bool), (rows, n + classes)), shape=(n + m, n + m))
    _, part = connected_components(links, directed=False)
    there = np.bincount(part[:n], weights=counts, minlength=part.max() + 1)
    released = np.bincount(part[n:], weights=sizes, minlength=part.max() + 1)
    if (released > there).any():
        over = int(np.argmax(released - there))
        raise InputError(
            "not-corresponding",
            Sentence(
                "overlapping classes have {released:,.0f} records together, but the original has {available:,.0f} for them",
                released=float(released[over]),
                available=float(there[over]),
            ),
            file=file,
            hint="Check that the release was made from this original.",
        )
