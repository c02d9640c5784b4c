"""A hierarchy at a glance: its levels, how large their groups are, and which values of the data it does not cover."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from velado.results import Discreet
from velado.sentences import Sentence, localize_number
from velado.values import Text

if TYPE_CHECKING:
    from velado.hierarchies.hierarchy import Hierarchy

MOST_EXAMPLES = 3
MOST_UNCOVERED = 5


@dataclass(frozen=True, repr=False)
class LevelPreview(Discreet):
    """One level: how many groups, the values under the smallest and the largest, and labels of the largest.

    ``fewest`` and ``most`` are records of the data, in the groups that have any; None where they are not known.
    """

    level: int
    groups: int
    smallest: int
    largest: int
    fewest: int | None
    most: int | None
    examples: tuple[Text, ...]


@dataclass(frozen=True, repr=False)
class HierarchyPreview(Discreet):
    """What a hierarchy does with a column. ``repr`` shows numbers only; ``text`` and notebooks show labels, too.

    ``values`` are its leaves and ``unused`` those that the data do not hold (None without data). ``uncovered`` values of
    the data are no leaves, with ``uncovered_records`` records and a few ``uncovered_examples``: a run would refuse the table.
    """

    column: str
    values: int
    levels: tuple[LevelPreview, ...]
    unused: int | None = None
    uncovered: int = 0
    uncovered_records: int | None = None
    uncovered_examples: tuple[Text, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)

    def summary(self) -> Mapping[str, Any]:
        """The column, the groups of each level, and how many values are not covered."""
        return {"column": self.column, "groups": [x.groups for x in self.levels], "uncovered": self.uncovered}

    def __str__(self) -> str:
        return self.text()

    def text(self, language: str = "en") -> str:
        """The preview in lines of text, in a language."""
        lines = [str(line) for line in self.sentences(language)]
        cells = [self.header(language), *self.cells(language)]
        widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
        table = [
            "  ".join(c.ljust(w) if i == len(row) - 1 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True)))
            for row in cells
        ]
        return "\n".join([*lines[:1], *(line.rstrip() for line in table), *lines[1:]])

    def sentences(self, language: str = "en") -> list[str]:
        """What is said before and after the table of levels."""
        said = [
            Sentence(
                "{column}: {values:,} values, {levels} levels", column=self.column, values=self.values, levels=len(self.levels)
            )
        ]
        if self.unused:
            said.append(Sentence("{unused:,} value(s) of the hierarchy are not in the data.", unused=self.unused))
        if self.uncovered:
            shown = [_label_text(v, language) for v in self.uncovered_examples]
            said.append(
                Sentence(
                    "{values:,} value(s) of the data are not in the hierarchy, for example: {examples}",
                    values=self.uncovered,
                    examples=", ".join(shown),
                )
            )
        return [sentence.into(language) for sentence in said]

    def header(self, language: str = "en") -> list[str]:
        """Names of the cells of a level."""
        counted = [] if self.levels[0].fewest is None else [Sentence("records per group")]
        heads = (Sentence("level"), Sentence("groups"), Sentence("values per group"), *counted, Sentence("for example"))
        return [head.into(language) for head in heads]

    def cells(self, language: str = "en") -> list[list[str]]:
        """The levels as texts."""
        return [
            [
                str(x.level),
                localize_number(f"{x.groups:,}", language),
                _range(x.smallest, x.largest, language),
                *([] if x.fewest is None or x.most is None else [_range(x.fewest, x.most, language)]),
                ", ".join(_label_text(label, language) for label in x.examples) + (" …" if x.groups > len(x.examples) else ""),
            ]
            for x in self.levels
        ]

    def _repr_html_(self) -> str:
        def row(cells: Sequence[str], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{escape(c)}</{tag}>" for c in cells) + "</tr>"

        said = self.sentences()
        body = "".join(row(cells, "td") for cells in self.cells())
        after = "".join(f"<p>{escape(line)}</p>" for line in said[1:])
        return f"<p>{escape(said[0])}</p><table>{row(self.header(), 'th')}{body}</table>{after}"


def preview(
    hierarchy: Hierarchy, values: Sequence[Text] | Mapping[Text, int] | Mapping[str, int] | None = None
) -> HierarchyPreview:
    """A hierarchy at a glance, with the values of the data, alone or with their numbers of records."""
    counted = isinstance(values, Mapping)
    held = dict(values) if isinstance(values, Mapping) else dict.fromkeys(values or (), 1)
    covered = {v: n for v, n in held.items() if v in hierarchy.code}
    lost = {v: n for v, n in held.items() if v not in hierarchy.code}
    records = np.zeros(len(hierarchy.leaves), dtype=np.int64)
    for value, n in covered.items():
        records[hierarchy.code[value]] += n
    return HierarchyPreview(
        column=hierarchy.column,
        values=len(hierarchy.leaves),
        levels=tuple(_level(hierarchy, level, records if counted else None) for level in range(hierarchy.levels)),
        unused=None if values is None else len(hierarchy.leaves) - len(covered),
        uncovered=len(lost),
        uncovered_records=sum(lost.values()) if counted else None,
        uncovered_examples=tuple(list(lost)[:MOST_UNCOVERED]),
    )


def _level(hierarchy: Hierarchy, level: int, records: np.ndarray | None) -> LevelPreview:
    sizes = hierarchy.group_sizes(level)
    labels = hierarchy.labels[level]
    held = None
    if records is not None:
        held = np.bincount(hierarchy.maps[level], weights=records, minlength=len(labels)).astype(np.int64)
    some = None if held is None else held[held > 0]
    # The groups that most records or values fall into tell nothing of rare ones.
    order = np.argsort(-(sizes if held is None else held), kind="stable")[:MOST_EXAMPLES]
    return LevelPreview(
        level=level,
        groups=len(labels),
        smallest=int(sizes.min()),
        largest=int(sizes.max()),
        fewest=None if some is None else int(some.min(initial=0 if not len(some) else some[0])),
        most=None if some is None else int(some.max(initial=0)),
        examples=tuple(labels[g] for g in order.tolist()),
    )


def _range(low: int, high: int, language: str) -> str:
    shown = [localize_number(f"{n:,}", language) for n in ((low,) if low == high else (low, high))]
    return " … ".join(shown)


def _label_text(label: Text, language: str) -> str:
    return Sentence("(missing)").into(language) if label is None else " ".join(label.split())
