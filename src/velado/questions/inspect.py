"""Look at an unknown table: types, missing values, who is singled out, and which roles suggest themselves."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from velado.dates import Formats
from velado.errors import InputError, Note
from velado.hierarchies.build import build
from velado.progress import Progress
from velado.recognition.hierarchies import SuggestedHierarchy, suggest_hierarchy
from velado.recognition.missing_markers import missing_marker, not_known_marker
from velado.recognition.names import PRIVATE
from velado.recognition.public_knowledge import NEVER, POSSIBLY, knowledge_of
from velado.recognition.roles import LESS_KNOWN, UNDECIDED, impossible, less_known, role_of
from velado.recognition.survey_answers import ANSWER, MOST, OUTCOME, Short, answers_among, is_outcome
from velado.recognition.types import reading_of
from velado.recognition.units import Unit, unit_of
from velado.results import IF_SET, Discreet, Result
from velado.sentences import Sentence, join_sentences
from velado.spelling_variants import SpellingVariants
from velado.tables import Header, Session, Source, Table, open_table
from velado.tables.formats.names import NUMBERED
from velado.tables.header import no_header
from velado.values import Text

SHOWN_VARIANTS = 5
"""At most so many groups of spelling variants are listed for a column."""
CATEGORIES = 1000
"""Columns of more different values hold no categories."""
COMBINED = 12
"""At most so many columns are combined to pairs and triples."""


class Combination(NamedTuple):
    """Columns whose values together single records out, and how many."""

    columns: tuple[str, ...]
    singled_out: int


@dataclass(frozen=True, repr=False)
class VariantsFound(Discreet):
    """Spelling variants of a column: groups, spellings in them, and some of the groups; none of a suspected identifier."""

    groups: int = 0
    spellings: int = 0
    examples: tuple[tuple[Text, ...], ...] = ()


@dataclass(frozen=True, repr=False)
class ColumnInspection(Discreet):
    """What a column looks like. ``singled_out``: records that are alone with their value.

    ``role`` is empty where nothing says that others know the column or that it is private: it should be left out
    unless the owner decides. ``topic`` is what its name says, ``content`` what its values are that identify people.
    ``known``: whether others could know it (possibly, never), where it is neither an identifier nor a quasi-identifier.
    ``generalizations`` shows one value at each level of the suggested hierarchy; it is empty for suspected
    identifiers. ``variants`` are spellings of one value.
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
    variants: VariantsFound = field(default_factory=VariantsFound)
    known: str = field(default="", metadata=IF_SET)


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
        columns, words, marked = [], Counter[str](), dict[str, dict[str, int]]()
        short: list[Short] = []
        for name, amount in table.amounts([n for n in table.header if not table.field(n).unread]):
            columns.append(_column(name, amount, rows))
            marked[name] = {m: amount[m] for m in columns[-1].markers}
            if len(amount) <= CATEGORIES:
                words.update(v for v in amount if v is not None and v not in columns[-1].markers)
            present = {v: n for v, n in amount.items() if v is not None and v not in columns[-1].markers}
            if len(present) <= MOST:
                short.append(Short(name, present))
            looking.at(len(columns), len(table.header))
        columns = _best_known(_mark_answers([_own_markers(c, words) for c in columns], short))
        columns += [_unread(name, table.field(name).unread) for name in table.header if table.field(name).unread]
        columns.sort(key=lambda c: table.header.index(c.name))
        dialect = {}
        if table.dialect is not None:
            d = table.dialect
            dialect = {"delimiter": d.delimiter, "quote": d.quote, "encoding": d.encoding}
        combined = _columns_to_combine(columns)
        found = _combinations(table, combined, follow("combine"))
        unit = unit_of([_without_markers(c, marked.get(c.name, {})) for c in columns], rows)
        return Inspection(table.name, rows, tuple(columns), found, dialect, tuple(combined), unit, _notes(table.header))


def inspect_source(source: Source, progress: Progress | None = None) -> tuple[Source, Inspection]:
    """Inspect a table as `inspect_table` does, and the source by which it can be read: names of columns that are lacking or
    not unique are numbered, which a note tells."""
    try:
        return source, inspect_table(source, progress)
    except InputError as error:
        if error.code not in ("unnamed-column", "duplicate-column"):
            raise
        numbered = replace(source, names="numbered")
        with open_table(numbered) as table:
            # What repeats or lacks may also be the data of a person, who must not become the header.
            if table.header.doubtful:
                raise
        seen = inspect_table(numbered, progress)
        told = Sentence(
            "{problem}: here such columns are numbered. Other commands: {numbered}", problem=error.message, numbered=NUMBERED
        )
        return numbered, replace(seen, notes=(Note(error.code, told), *seen.notes))


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
    variants = SpellingVariants.among(amount)
    missing = amount.pop(None, 0)
    values = {v: n for v, n in amount.items() if v is not None}
    reading = reading_of(values)
    present = {v: n for v, n in values.items() if v not in reading.missing} or values
    if odd := impossible(name, reading, present):
        why = Sentence("{count:,} number(s) that cannot be count as missing", count=len(odd))
        reading = replace(reading, missing=(*reading.missing, *odd), note=join_sentences("; ", filter(None, (reading.note, why))))
        present = {v: n for v, n in present.items() if v not in odd}
    suggested = role_of(name, reading, present if values else {}, rows)
    role = suggested.role
    # Among identifiers a dash names nobody, as among numbers it is none.
    markers = tuple(filter(missing_marker, values)) if role == "identifier" else reading.missing
    known = knowledge_of(name, role, present) if role in ("sensitive", UNDECIDED) else ""
    recoded = role == "quasi-identifier" or known == POSSIBLY
    levels = suggest_hierarchy(name, reading, present) if recoded else SuggestedHierarchy()
    hierarchy = levels.spec
    # A note may show values.
    notes = (suggested.reason, levels.reason, reading.note if role != "identifier" else "")
    shown: tuple[str, ...] = ()
    if hierarchy is not None:
        example = min(present, key=lambda v: (-present[v], v))
        built = build(name, hierarchy, present, format=reading.format)
        shown = tuple(str(built.labels[level][built.maps[level][built.code[example]]]) for level in range(built.levels))
    return ColumnInspection(
        name,
        reading.type,
        reading.format,
        len(amount),
        int(missing),
        markers,
        int(sum(1 for n in amount.values() if n == 1)),
        role,
        join_sentences("; ", filter(None, notes)),
        suggested.topic,
        suggested.content,
        hierarchy,
        shown,
        VariantsFound(len(variants.groups), variants.spellings, () if role == "identifier" else variants.groups[:SHOWN_VARIANTS]),
        known,
    )


def _unread(name: str, kind: str) -> ColumnInspection:
    """A column into which nobody can look."""
    why = Sentence("cells of the type {kind} cannot be anonymized", kind=kind)
    return ColumnInspection(name, kind, None, 0, 0, (), 0, UNDECIDED, why)


def _own_markers(c: ColumnInspection, words: Counter[str]) -> ColumnInspection:
    """Without the markers that are a category elsewhere: what a source calls missing is missing in all its columns."""
    kept = tuple(m for m in c.markers if not_known_marker(m) or not words[m])
    if kept == c.markers:
        return c
    why = Sentence("what seems to stand for missing values is a value elsewhere")
    return replace(c, markers=kept, reason=join_sentences("; ", [c.reason, why]))


def _without_markers(c: ColumnInspection, records: Mapping[str, int]) -> ColumnInspection:
    """The column as it is once what stands for missing values is missing; in so many ``records`` each marker stands."""
    missing = c.missing + sum(records[m] for m in c.markers)
    return replace(c, distinct=c.distinct - len(c.markers), missing=missing)


def _mark_answers(columns: Sequence[ColumnInspection], short: Sequence[Short]) -> list[ColumnInspection]:
    """The columns with answers of surveys, and outcomes that nobody else sees, told from what others could know."""
    answers, values = answers_among(short), {c.name: c.present for c in short}
    found = []
    for c in columns:
        why = None
        if c.role in (UNDECIDED, "quasi-identifier") and c.topic not in PRIVATE:
            why = ANSWER if c.name in answers else OUTCOME if is_outcome(c.name, values.get(c.name, ())) else None
        if why is not None and c.name in values:
            c = replace(c, role="sensitive", reason=why, known=NEVER, hierarchy=None, generalizations=())
        found.append(c)
    return found


def _best_known(columns: Sequence[ColumnInspection]) -> list[ColumnInspection]:
    """The columns with few enough quasi-identifiers; those beyond keep their hierarchies, for an owner who decides so."""
    beyond = less_known(columns)
    return [replace(c, role=UNDECIDED, reason=Sentence(LESS_KNOWN), known=POSSIBLY) if c.name in beyond else c for c in columns]


def _columns_to_combine(columns: Sequence[ColumnInspection]) -> list[str]:
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
