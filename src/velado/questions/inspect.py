"""Look at an unknown table: types, missing values, who is singled out, and which roles suggest themselves."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from velado.dates import Formats
from velado.errors import InputError, Note
from velado.hierarchies.build import build
from velado.progress import Progress
from velado.recognition.hierarchies import SuggestedHierarchy, suggest_hierarchy
from velado.recognition.markers import unmistakable_marker
from velado.recognition.roles import LESS_KNOWN, UNDECIDED, less_known, role_of
from velado.recognition.types import reading_of
from velado.recognition.units import Unit, unit_of
from velado.results import IF_SET, Discreet, Result
from velado.sentences import Sentence, joined
from velado.tables import Header, Session, Source, Table, open_table
from velado.tables.header import no_header
from velado.twins import Twins
from velado.values import Text

SHOWN_TWINS = 5
"""At most so many groups of spelling twins are listed for a column."""
CATEGORIES = 1000
"""Columns of more different values hold no categories."""
COMBINED = 12
"""At most so many columns are combined to pairs and triples."""


class Combination(NamedTuple):
    """Columns whose values together single records out, and how many."""

    columns: tuple[str, ...]
    singled_out: int


@dataclass(frozen=True, repr=False)
class TwinsFound(Discreet):
    """Spelling twins of a column: groups, spellings in them, and some of the groups; none of a suspected identifier."""

    groups: int = 0
    spellings: int = 0
    examples: tuple[tuple[Text, ...], ...] = ()


@dataclass(frozen=True, repr=False)
class ColumnInspection(Discreet):
    """What a column looks like. ``singled_out``: records that are alone with their value.

    ``role`` is empty where nothing says that others know the column or that it is private: it should be left out
    unless the owner decides. ``topic`` is what its name says, ``content`` what its values are that identify people.
    ``generalizations`` shows one value at each level of the suggested hierarchy; it is empty for suspected
    identifiers. ``twins`` are spellings of one value.
    """

    NAMES: ClassVar[tuple[str, ...]] = ("name", "type", "role", "topic", "content")
    name: str
    type: str
    format: Formats
    distinct: int
    missing: int
    markers: tuple[str, ...]
    singled_out: int
    role: str
    reason: str
    topic: str | None = None
    content: str | None = None
    hierarchy: Any = None
    generalizations: tuple[str, ...] = ()
    twins: TwinsFound = field(default_factory=TwinsFound)


@dataclass(frozen=True, repr=False)
class Inspection(Result):
    """An inspected table. ``combinations``: the pairs and triples of columns that single out the most records.

    ``unit``: "person" or "household" and the column that names them, where they seem to have several rows.
    ``notes`` say what should be mended before anything else.
    """

    SCHEMA: ClassVar[str] = "velado-inspection-1"
    source: str
    rows: int
    columns: tuple[ColumnInspection, ...]
    combinations: tuple[Combination, ...]
    dialect: dict[str, str] = field(default_factory=dict)
    combined: tuple[str, ...] = ()
    unit: Unit | None = None
    notes: tuple[Note, ...] = field(default=(), metadata=IF_SET)

    def markers(self, source: Source) -> tuple[str, ...]:
        """What stands for missing values, as the source says and as the columns look."""
        return tuple(dict.fromkeys([*(source.missing or ()), *(m for c in self.columns for m in c.markers)]))

    def summary(self) -> dict[str, Any]:
        """The columns by their suggested roles, and who is singled out most."""
        roles: dict[str, list[str]] = {}
        for column in self.columns:
            roles.setdefault(column.role or "undecided", []).append(column.name)
        worst = max((c.singled_out for c in self.combinations), default=None)
        return {
            "rows": self.rows,
            "columns": len(self.columns),
            **({"singled_out_by_few_columns": worst} if worst is not None else {}),
            **{role: tuple(names) for role, names in roles.items()},
        }


def inspect_table(data: Any, progress: Progress | None = None) -> Inspection:
    """Inspect a file or a pandas, Polars or Arrow table."""
    follow = (progress or Progress()).through(open=1, inspect=6, combine=3)
    with open_table(data, session=Session(follow("open"))) as table:
        looking = follow("inspect")
        rows = table.rows()
        if not rows:
            raise InputError("no-rows", "the table has a header but no rows", file=table.name)
        columns, words = [], Counter[str]()
        for name, amount in table.amounts(table.header):
            columns.append(_column(name, amount, rows))
            if len(amount) <= CATEGORIES:
                words.update(v for v in amount if v is not None and v not in columns[-1].markers)
            looking.at(len(columns), len(table.header))
        columns = _best_known([_own_markers(c, words) for c in columns])
        dialect = {}
        if table.dialect is not None:
            d = table.dialect
            dialect = {"delimiter": d.delimiter, "quote": d.quote, "encoding": d.encoding}
        combined = _combined(columns)
        found = _combinations(table, combined, follow("combine"))
        unit = unit_of(columns, rows)
        return Inspection(
            table.name, rows, tuple(columns), found, dialect, tuple(combined), unit, _notes(table.header)
        )  # fmt: skip


def _notes(header: Header) -> tuple[Note, ...]:
    """Whether the first line is the data of a person."""
    if not header.lacking:
        return ()
    problem = no_header(header)
    return (
        Note(
            problem.code,
            Sentence("{problem}: a person would become the header. {hint}", problem=problem.message, hint=problem.hint),
        ),
    )


def _column(name: str, amount: dict[Text, int], rows: int) -> ColumnInspection:
    twins = Twins.among(amount)
    missing = amount.pop(None, 0)
    values = {v: n for v, n in amount.items() if v is not None}
    reading = reading_of(values)
    present = {v: n for v, n in values.items() if v not in reading.missing} or values
    suggested = role_of(name, reading, present if values else {}, rows)
    role = suggested.role
    levels = suggest_hierarchy(name, reading, present) if role == "quasi-identifier" else SuggestedHierarchy()
    hierarchy = levels.spec
    # A note may show values.
    notes = (suggested.reason, levels.reason, reading.note if role != "identifier" else "")
    shown: tuple[str, ...] = ()
    if hierarchy is not None:
        example = min(present, key=lambda v: (-present[v], v))
        built = build(name, hierarchy, present, format=reading.format)
        shown = tuple(str(built.labels[level][built.maps[level][built.code[example]]]) for level in range(built.levels))
    return ColumnInspection(
        name, reading.type, reading.format, len(amount), int(missing), reading.missing, int(sum(1 for n in amount.values() if n == 1)), role, joined("; ", filter(None, notes)),
        suggested.topic, suggested.content, hierarchy, shown,
        TwinsFound(len(twins.groups), twins.spellings, () if role == "identifier" else twins.groups[:SHOWN_TWINS]),
    )  # fmt: skip


def _own_markers(c: ColumnInspection, words: Counter[str]) -> ColumnInspection:
    """Without the markers that are a category elsewhere: what a source calls missing is missing in all its columns."""
    kept = tuple(m for m in c.markers if unmistakable_marker(m) or not words[m])
    if kept == c.markers:
        return c
    why = Sentence("what seems to stand for missing values is a value elsewhere")
    return replace(c, markers=kept, reason=joined("; ", [c.reason, why]))


def _best_known(columns: Sequence[ColumnInspection]) -> list[ColumnInspection]:
    """The columns with few enough quasi-identifiers; those beyond keep their hierarchies, for an owner who decides so."""
    beyond = less_known(columns)
    return [
        replace(c, role=UNDECIDED, reason=Sentence(LESS_KNOWN), generalizations=()) if c.name in beyond else c
        for c in columns
    ]


def _combined(columns: Sequence[ColumnInspection]) -> list[str]:
    """Columns worth combining: those that do not single out nearly everybody on their own."""
    usable = [c for c in columns if c.role == "quasi-identifier" and c.distinct > 1]
    if len(usable) < 2:
        usable = [c for c in columns if c.role in ("quasi-identifier", "sensitive") and c.distinct > 1]
    usable.sort(key=lambda c: -c.distinct)
    chosen = {c.name for c in usable[:COMBINED]}
    return [c.name for c in columns if c.name in chosen]


def _combinations(table: Table, names: Sequence[str], progress: Progress, best: int = 5) -> tuple[Combination, ...]:
    if len(names) < 2:
        return ()
    counts = table.count(names)
    radix = [max(len(d), 1) for d in counts.dictionaries]
    found: list[Combination] = []
    for size in (2, 3):
        ranked = []
        for chosen in itertools.combinations(range(len(names)), size):
            progress.check()
            keys = np.zeros(len(counts.counts), dtype=np.int64)
            for i in chosen:
                keys = keys * radix[i] + counts.codes[i]
            _, inverse = np.unique(keys, return_inverse=True)
            sizes = np.bincount(inverse, weights=counts.counts)
            ranked.append(Combination(tuple(names[i] for i in chosen), int((sizes == 1).sum())))
        ranked.sort(key=lambda c: (-c.singled_out, c.columns))
        found += ranked[:best]
    return tuple(found)
