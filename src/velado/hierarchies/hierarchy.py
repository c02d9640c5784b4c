"""The hierarchy of one column: every leaf's group at every level."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, TextIO

import numpy as np

from velado.errors import InputError, unwritable
from velado.hierarchies.labels import leaf_notation, numbers_of
from velado.hierarchies.preview import HierarchyPreview, preview
from velado.hierarchies.scale import Scale
from velado.hierarchies.tree import as_tree, rows_of_tree
from velado.numbers import Notation
from velado.results import Discreet
from velado.sentences import Sentence
from velado.values import ROOT, Text


@dataclass(frozen=True, repr=False)
class Hierarchy(Discreet):
    """Leaves and, per level, the group of each leaf.

    Level 0 is the value itself, each level is a function of the one below it, and the domain size
    counts all leaves, also those that the data do not contain (``measures.md`` §2). ``scale``
    gives the order and distances of the leaves where they have one. ``listed``: the description lists the leaves; otherwise
    they were taken from the data.

    >>> h = Hierarchy.from_rows("sex", [["f", "*"], ["m", "*"]])
    >>> h.height, h.labels[1]
    (1, ('*',))
    """

    NAMES: ClassVar[tuple[str, ...]] = ("column",)
    column: str
    labels: tuple[tuple[Text, ...], ...]
    maps: tuple[np.ndarray, ...]
    scale: Scale | None = None
    listed: bool = True

    @classmethod
    def from_rows(cls, column: str, rows: Iterable[Sequence[Text]], file: str | Path | None = None) -> Hierarchy:
        """Build from rows ``leaf, level 1, …`` and check that the levels are nested."""
        table = [tuple(row) for row in rows]
        if not table:
            raise InputError("empty-hierarchy", "the hierarchy has no rows", column=column, file=file)
        width = len(table[0])
        ragged = [row[0] for row in table if len(row) != width]
        if ragged:
            raise InputError(
                "ragged-hierarchy",
                Sentence(
                    "every row of a hierarchy needs as many levels as the first ({width}); other rows start with", width=width
                ),
                column=column,
                file=file,
                values=ragged,
            )
        unique = list(dict.fromkeys(table))
        leaves: dict[Text, tuple[Text, ...]] = {}
        twice = []
        for row in unique:
            if leaves.setdefault(row[0], row) != row:
                twice.append(row[0])
        if twice:
            raise InputError(
                "ambiguous-leaf",
                "a value appears twice with different generalizations",
                column=column,
                file=file,
                values=twice,
                hint="Keep one row per value.",
            )
        labels, maps = [], []
        for level in range(width):
            numbers: dict[Text, int] = {}
            codes = [numbers.setdefault(row[level], len(numbers)) for row in unique]
            labels.append(tuple(numbers))
            maps.append(np.array(codes, dtype=np.int32))
        hierarchy = cls(column, tuple(labels), tuple(maps))
        hierarchy._check_nested(file)
        return hierarchy

    def _check_nested(self, file: str | Path | None) -> None:
        for level in range(1, self.levels):
            parent = np.full(len(self.labels[level - 1]), -1, dtype=np.int64)
            parent[self.maps[level - 1]] = self.maps[level]
            torn = self.maps[level] != parent[self.maps[level - 1]]
            if torn.any():
                groups = dict.fromkeys(self.labels[level - 1][g] for g in self.maps[level - 1][torn])
                raise InputError(
                    "not-nested",
                    Sentence(
                        "level {level} is not a function of level {below}: "
                        "these values of level {below} have several generalizations",
                        level=level,
                        below=level - 1,
                    ),
                    column=self.column,
                    file=file,
                    values=groups,
                    hint="Give groups with the same name the same parent, or different names.",
                )

    def summary(self) -> dict[str, str | int]:
        """The column, how many values it has, and how many levels."""
        return {"column": self.column, "values": len(self.leaves), "levels": self.levels}

    @property
    def levels(self) -> int:
        """Number of levels, level 0 included."""
        return len(self.labels)

    @property
    def height(self) -> int:
        """The highest level."""
        return self.levels - 1

    @property
    def leaves(self) -> tuple[Text, ...]:
        """The values of level 0."""
        return self.labels[0]

    @cached_property
    def leaf_numbers(self) -> np.ndarray | None:
        """The leaves as numbers, if they are; read once, however many releases are labelled."""
        return numbers_of(self.leaves)

    @cached_property
    def leaf_notation(self) -> Notation | None:
        """How the leaves write their numbers, if they are."""
        return leaf_notation(self.leaves)

    @cached_property
    def code(self) -> dict[Text, int]:
        """Leaf → leaf code."""
        return {leaf: i for i, leaf in enumerate(self.leaves)}

    def group_sizes(self, level: int) -> np.ndarray:
        """Leaves under each group of a level."""
        return np.bincount(self.maps[level], minlength=len(self.labels[level]))

    def parents(self, level: int) -> np.ndarray:
        """Group at ``level`` of each group at ``level − 1``."""
        parent = np.empty(len(self.labels[level - 1]), dtype=np.int32)
        parent[self.maps[level - 1]] = self.maps[level]
        return parent

    def label_of(self, level: int) -> dict[Text, Text]:
        """Leaf → label at a level."""
        return {leaf: self.labels[level][g] for leaf, g in zip(self.leaves, self.maps[level], strict=True)}

    def encode(self, values: Sequence[Text], file: str | Path | None = None) -> np.ndarray:
        """Leaf codes of values; an error names those that the hierarchy does not cover."""
        codes = np.fromiter((self.code.get(v, -1) for v in values), dtype=np.int32, count=len(values))
        if (codes < 0).any():
            unknown = dict.fromkeys(v for v, c in zip(values, codes, strict=True) if c < 0)
            raise InputError(
                "value-not-in-hierarchy",
                Sentence("{count} value(s) of the data are missing at level 0 of the hierarchy", count=len(unknown)),
                column=self.column,
                file=file,
                values=["(missing)" if v is None else v for v in unknown],
                hint="Add them to the hierarchy, or clean the column.",
            )
        return codes

    def with_missing(self) -> Hierarchy:
        """The same hierarchy with a leaf for missing values, in a group of its own below the root."""
        if None in self.code:
            return self
        labels, maps = [], []
        for level in range(self.levels):
            if self.labels[level] == (ROOT,):
                labels.append(self.labels[level])
                maps.append(np.append(self.maps[level], np.int32(0)))
            else:
                labels.append((*self.labels[level], None))
                maps.append(np.append(self.maps[level], np.int32(len(self.labels[level]))))
        scale = self.scale and replace(self.scale, numbers=np.append(self.scale.numbers, np.nan))
        return Hierarchy(self.column, tuple(labels), tuple(maps), scale, self.listed)

    def with_root(self) -> Hierarchy:
        """The same hierarchy, its highest level being one group."""
        if len(self.labels[-1]) == 1:
            return self
        root = np.zeros(len(self.leaves), dtype=np.int32)
        return Hierarchy(self.column, (*self.labels, (ROOT,)), (*self.maps, root), self.scale, self.listed)

    @cached_property
    def listed_leaves(self) -> np.ndarray:
        """Whether each leaf is there whatever the data hold; a leaf for missing values never is."""
        return np.array([self.listed and leaf is not None for leaf in self.leaves], dtype=bool)

    def only(self, held: np.ndarray) -> Hierarchy:
        """The hierarchy of the leaves that are held or listed.

        Where the leaves came from the data, so did the number of levels: those above the first that joins all are left out.
        """
        kept = held | self.listed_leaves
        labels, maps = [], []
        for level in range(self.levels):
            groups, codes = np.unique(self.maps[level][kept], return_inverse=True)
            labels.append(tuple(self.labels[level][g] for g in groups))
            maps.append(codes.astype(np.int32))
            if not self.listed and level > 0 and len(groups) == 1:
                break
        scale = self.scale and replace(self.scale, numbers=self.scale.numbers[kept])
        return Hierarchy(self.column, tuple(labels), tuple(maps), scale, self.listed)

    def rows(self) -> list[list[str]]:
        """The hierarchy as rows ``leaf, level 1, …``; a missing value is an empty text."""
        columns = [[self.labels[level][g] or "" for g in self.maps[level]] for level in range(self.levels)]
        return [list(row) for row in zip(*columns, strict=True)]

    def as_tree(self) -> dict[str, Any] | list[str]:
        """The hierarchy as a nested mapping, from the groups of the highest level down to lists of leaves.

        A missing value is an empty text. `from_tree` reads it back; order and distances of the leaves are not in it.

        >>> Hierarchy.from_rows("ill", [["flu", "lung", "*"], ["angina", "heart", "*"]]).as_tree()
        {'*': {'lung': ['flu'], 'heart': ['angina']}}
        """
        return as_tree(self)

    @classmethod
    def from_tree(cls, column: str, tree: Any) -> Hierarchy:
        """A hierarchy from a nested mapping as `as_tree` gives it: all leaves at the same depth, in lists.

        >>> Hierarchy.from_tree("ill", {"*": {"lung": ["flu"], "heart": ["angina"]}}).rows()
        [['flu', 'lung', '*'], ['angina', 'heart', '*']]
        """
        return cls.from_rows(column, rows_of_tree(column, tree))

    def preview(self, values: Sequence[Text] | Mapping[Text, int] | Mapping[str, int] | None = None) -> HierarchyPreview:
        """Levels, groups and their sizes at a glance, and which of the values given are not covered."""
        return preview(self, values)

    def write(self, out: TextIO, delimiter: str = ";") -> None:
        """Write the rows as delimited text."""
        write_rows(self.rows(), out, delimiter)

    def save(self, path: str | Path, delimiter: str = ";") -> None:
        """Write as a file that `hierarchies.build({'file': …})` reads back."""
        if len(delimiter) != 1:
            raise InputError("bad-delimiter", Sentence("the delimiter must be one character, got {given}", given=repr(delimiter)))
        try:
            with open(path, "w", newline="", encoding="utf-8") as out:
                self.write(out, delimiter)
        except OSError as error:
            raise unwritable(error, path) from None


def write_rows(rows: Sequence[Sequence[str]], out: TextIO, delimiter: str = ";") -> None:
    """Write the rows of a hierarchy as delimited text, as `Hierarchy.rows` gives them."""
    # The writer quotes what contains its line end; a lone carriage return ends lines for readers, too.
    every = any("\r" in cell for row in rows for cell in row)
    if every:
        csv.writer(out, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(rows)
    else:
        csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(rows)
