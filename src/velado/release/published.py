"""Published columns that are not quasi-identifiers are looked at, too: identifiers in disguise are refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from velado.errors import InputError, Note
from velado.evaluation import Pair
from velado.evaluation.exposure import COPY, LEAST, Exposure, association, refused
from velado.frequency.table import distinct_rows
from velado.hierarchies import Hierarchy
from velado.models import PrivacyModel, smallest_class
from velado.operations import Treatment
from velado.recognition.contents.content import content_of, sure_content_of
from velado.recognition.names import IDENTIFYING, topic_of
from velado.release.people import different
from velado.release.plan import Planned
from velado.schema import Column, Schema
from velado.sentences import Sentence, joined
from velado.tables import Counts, Groups, Table
from velado.tables.formats.formulas import unguarded
from velado.values import ROOT

if TYPE_CHECKING:
    from velado.release.verify import Verified

SAMPLE = 200_000
"""Distinct rows from which copies are found; of larger tables a part is taken."""
RARE = 5
LOOKED_AT = 10_000
"""About so many different values of a column are looked at."""
FEW_VALUES = 10
"""Fewer different values are categories."""
ROLES = ("sensitive", "insensitive", "")


def passing(schema: Schema, light: bool = False) -> list[Column]:
    """The columns whose values are published, more or less as they are; in a ``light`` release nothing is recoded."""
    roles = (*ROLES, "quasi-identifier") if light else ROLES
    return [
        c
        for c in schema.values()
        if c.role in roles and (c.operation is None or not (c.operation.hides or c.operation.per_record))
    ]


def group_size(models: Sequence[PrivacyModel]) -> int:
    """Groups of fewer records are small: the k of the models, or 2, so that a record is not alone."""
    return max(2, smallest_class(models))


def value_size(k: int) -> int:
    """Values of fewer records are rare: values of many people do not become rare because k is large."""
    return min(k, RARE)


def expose(
    table: Table, quasi: Sequence[str], columns: Sequence[Column], below: int, starred: bool = False, lots: int = 1
) -> tuple[Exposure, ...]:
    """How far the columns of a written release single records out; rows of ``*`` do not count."""
    combinations = [[c.name] for c in columns] + [[*quasi, c.name] for c in columns]
    sizes = [value_size(below)] * len(columns) + [below] * len(columns)
    groups = table.groups(combinations, sizes, ROOT if starred else None, lots)
    return tuple(
        Exposure.of(c.name, c.role, below, alone, together, content=content_in(table, c), knowingly=bool(c.published))
        for c, alone, together in zip(columns, groups, groups[len(columns) :], strict=False)
    )


def content_in(table: Table, column: Column) -> str | None:
    """What the values of a column are, or what its name says, if that names people; not asked where the owner knows it."""
    if column.published:
        return None
    lots = max(1, table.distinct([column.name]) // LOOKED_AT)
    counts = table.count([column.name], (0, lots), [column.name])
    values = [None if v is None else unguarded(v) for v in counts.dictionaries[0]]
    amount = {values[i]: int(n) for i, n in zip(counts.codes[0], counts.counts, strict=True)}
    return content_among(column.name, {v: n for v, n in amount.items() if v not in (None, ROOT)}, table.rows())


def content_among(name: str, present: Mapping[str, int], rows: int) -> str | None:
    """The same of values with their records, of a table of so many rows."""
    if len(present) < FEW_VALUES or rows < LEAST:
        found = sure_content_of(name, present)
        return None if found is None else found.kind
    found = content_of(name, present)
    if found is None and topic_of(name) in IDENTIFYING:
        return Sentence("an id, by its name")
    return None if found is None else found.kind


def check_published(planned: Planned, verified: Verified, hierarchies: Sequence[Hierarchy] | None = None) -> Verified:
    """What was verified, with the published columns counted in people where these have several rows, and compared with
    the quasi-identifiers; identifiers in disguise are refused.
    """
    if hierarchies is None:
        assert planned.found is not None
        hierarchies = planned.found.classes.frequency.hierarchies
    exposures, table = verified.exposures, planned.table
    if planned.person is not None and verified.pair is not None:
        exposures = of_people(exposures, table, verified.pair, planned.person, planned.treatments)
    exposures = with_copies(exposures, table, hierarchies, verified.pair, planned.person)
    refuse(exposures, table.name)
    return replace(verified, exposures=exposures)


def of_people(
    exposures: Sequence[Exposure], table: Table, pair: Pair, person: str, treatments: Sequence[Treatment]
) -> tuple[Exposure, ...]:
    """The same counted in people, where these have several rows."""
    treated = {t.column: t for t in treatments}
    found = []
    for e in exposures:
        counts, people = table.members([*pair.columns, e.column], person)
        values = counts.dictionaries[-1]
        became = treated[e.column].becomes(values) if e.column in treated else None
        labels = list(values) if became is None else became
        codes = np.unique([label or "" for label in labels], return_inverse=True)[1][counts.codes[-1]]
        present = np.array([label is not None for label in labels], dtype=bool)[counts.codes[-1]]
        class_of = _classes(counts, pair)
        kept = present & (class_of >= 0)
        shown = pair.shown_as[class_of[kept]].astype(np.int64)
        alone = people_groups(codes[kept], people[kept], value_size(e.k))
        joint = people_groups(shown * (int(codes.max(initial=0)) + 1) + codes[kept], people[kept], e.k)
        found.append(
            Exposure.of(e.column, e.role, e.k, alone, joint, content=e.content, knowingly=e.knowingly, people=True)
        )
    return tuple(found)


def people_groups(groups: np.ndarray, people: np.ndarray, below: int) -> Groups:
    """People, those who are alone in one of their groups, and those with few others in one."""
    _, group = np.unique(groups, return_inverse=True)
    number = int(group.max(initial=-1)) + 1
    sizes = different(group, people, number)[group]
    alone, few = (len(np.unique(people[chosen])) for chosen in (sizes == 1, sizes < below))
    return Groups(len(np.unique(people)), alone, few, number)


def with_copies(
    exposures: Sequence[Exposure],
    table: Table,
    hierarchies: Sequence[Hierarchy],
    pair: Pair | None,
    person: str | None = None,
) -> tuple[Exposure, ...]:
    """The exposures with the quasi-identifiers that each column nearly copies: one tells the other, record by record.

    Only released records are compared, which the ``pair`` tells; without one everybody is released. A column with so many
    values that it is refused anyway is not compared.
    """
    compared = [e.column for e in exposures if "alone" not in e.dangers]
    if not compared or (pair is not None and pair.suppressed and pair.class_of is None):
        return tuple(exposures)
    columns = [*(h.column for h in hierarchies), *compared]
    counts = sampled(table, columns, person, pair)
    if counts.counts.sum() < LEAST:
        return tuple(exposures)
    codes = dict(zip(columns, counts.codes, strict=True))
    found: dict[str, list[str]] = {name: [] for name in compared}
    for h in hierarchies:
        order = order_of(h, counts.dictionaries[columns.index(h.column)])
        for name in compared:
            tells = association(codes[name], codes[h.column], counts.counts)
            if max(tells, association(codes[h.column], codes[name], counts.counts, order)) >= COPY:
                found[name].append(h.column)
    return tuple(replace(e, copies=tuple(found.get(e.column, ()))) for e in exposures)


def sampled(table: Table, columns: Sequence[str], person: str | None = None, pair: Pair | None = None) -> Counts:
    """Enough of the table to see which columns go together; of people who have several rows, one row each."""
    if person is not None:
        counts, people = table.members(columns, person)
    else:
        lots = max(1, -(-table.distinct(columns) // SAMPLE))
        counts, people = table.count(columns, (0, lots), columns), None
    chosen = np.arange(len(counts.counts))
    if pair is not None and pair.suppressed:
        chosen = chosen[_classes(counts, pair) >= 0]
    records = counts.counts[chosen]
    if people is not None:
        _, first = np.unique(people[chosen], return_index=True)
        chosen, records = chosen[first], np.ones(len(first), dtype=np.int64)
    return replace(counts, codes=tuple(c[chosen] for c in counts.codes), counts=records)


def _classes(counts: Counts, pair: Pair) -> np.ndarray:
    """The class of each combination that was counted in the original, −1 if it is suppressed."""
    original = pair.original
    rows = np.array([counts.encoded(h.column, h.encode) for h in original.hierarchies], dtype=np.int32)
    together = np.concatenate([original.codes.T.astype(np.int32), rows], axis=1)
    _, row_of = distinct_rows(together, [len(h.leaves) for h in original.hierarchies])
    assert pair.class_of is not None
    return np.asarray(pair.class_of[row_of[original.rows :]])


def order_of(hierarchy: Hierarchy, values: Sequence[str | None]) -> np.ndarray:
    """The place of each value: numbers and dates by size, others as texts."""
    if hierarchy.scale is not None:
        place = dict(zip(hierarchy.leaves, hierarchy.scale.numbers.tolist(), strict=False))
        return np.array([place.get(v, np.inf) for v in values])
    rank = {v: i for i, v in enumerate(sorted(values, key=lambda v: (v is None, v or "")))}
    return np.array([rank[v] for v in values])


def refuse(exposures: Sequence[Exposure], file: str) -> None:
    """Refuse identifiers in disguise, all of them at once."""
    found = refused(exposures)
    if not found:
        return
    first = Sentence("it would be published, and singles people out: {reason}", reason=reason(found[0]))
    others = [Sentence("column '{column}': {reason}", column=e.column, reason=reason(e)) for e in found[1:]]
    raise InputError(
        "identifier-in-disguise", joined(Sentence("\n"), [first, *others]),
        file=file, column=found[0].column, fields={"columns": {e.column: list(e.dangers) for e in found}},
        hint="Give each such column the role identifier or quasi-identifier, or an operation (round, mask, suppress …), "
        "or write 'published: knowingly' in it. Nothing was written.",
    )  # fmt: skip


def _all(e: Exposure) -> Sentence:
    if e.people:
        return Sentence("{people:,} people", people=e.records)
    return Sentence("{records:,} records", records=e.records)


def _listed(columns: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in columns)


def reason(e: Exposure) -> Sentence:
    """Why a column is an identifier in disguise, in figures and names of columns."""
    return joined(Sentence(", and "), [REASONS[danger](e) for danger in e.dangers])


REASONS: dict[str, Callable[[Exposure], Sentence]] = {
    "content": lambda e: Sentence("it looks like {content}", content=Sentence(e.content or "")),
    "alone": lambda e: Sentence(
        "{few:,} of {all} have a value that fewer than {size} share ({alone:,} are alone with theirs)",
        few=e.few,
        all=_all(e),
        size=value_size(e.k),
        alone=e.singled_out,
    ),
    "together": lambda e: Sentence(
        "with the released quasi-identifiers it singles out {alone:,} of {all}",
        alone=e.singled_out_together,
        all=_all(e),
    ),
    "copy": lambda e: Sentence(
        "it is nearly a copy of {columns}, and as a quasi-identifier it leaves {few:,} of {all} in groups smaller than {k}",
        columns=_listed(e.copies),
        few=e.few_together,
        all=_all(e),
        k=e.k,
    ),
}


def published_notes(exposures: Sequence[Exposure]) -> tuple[Note, ...]:
    """What a user should know of the columns that are published."""
    notes = [
        Note(
            "singles-out",
            Sentence(
                "published knowingly, although {reason}" if e.knowingly else "published as it is, although {reason}",
                reason=reason(e),
            ),
            e.column,
        )
        for e in exposures
        if e.dangers
    ]
    notes += [
        Note(
            "near-copy",
            Sentence("nearly a copy of {columns}: whoever knows one knows the other", columns=_listed(e.copies)),
            e.column,
        )
        for e in exposures
        if e.copies and "copy" not in e.dangers
    ]
    return tuple(notes)


def model_notes(schema: Schema, models: Sequence[PrivacyModel]) -> tuple[Note, ...]:
    """The sensitive columns that no model protects."""
    protected = {m.sensitive_column for m in models}
    return tuple(
        Note(
            "unprotected",
            Sentence(
                "sensitive, and no model protects it: a class may show one value only; "
                "for example distinct-diversity {{l: 2, column: {column}}}",
                column=name,
            ),
            name,
        )
        for name in schema.names("sensitive")
        if name not in protected
    )
