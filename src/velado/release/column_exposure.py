"""Published columns that are not quasi-identifiers are looked at, too: identifiers in disguise are refused."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from velado.errors import Note
from velado.evaluation import Pair
from velado.evaluation.exposure import COPY, LEAST, NEVER, Exposure, association, rank_correlation
from velado.evaluation.joint_exposure import JointExposure, Narrowing, narrowing
from velado.frequency.table import distinct_rows
from velado.hierarchies import Hierarchy
from velado.models import PrivacyModel, smallest_class
from velado.numbers import numbers_of
from velado.operations import Treatment
from velado.recognition.contents.content import content_of, sure_content_of
from velado.recognition.names import IDENTIFYING, topic_of
from velado.recognition.public_knowledge import knowledge_of
from velado.release.count_joint_exposure import expose_rows
from velado.release.people import different, number_of
from velado.release.plan import Planned
from velado.release.refusal import refuse, rounding_that_is_enough
from velado.schema import Column, Schema
from velado.sentences import Sentence
from velado.tables import NOBODY, Counts, Groups, Table
from velado.tables.formats.formulas import remove_guard
from velado.values import ROOT

if TYPE_CHECKING:
    from velado.release.verify import Verified

SAMPLE = 200_000
"""Distinct rows from which copies are found; of larger tables a part is taken."""
LOOKED_AT = 10_000
"""About so many different values of a column are looked at."""
ALONG = 0.99
"""From this rank correlation on numbers are nearly a copy of others."""
TELLING = 0.01
"""A column tells a quasi-identifier again if it leaves one value of so many people, beyond twice what chance does."""
MOST_TOLD = 12
MANY = 0.2
"""A column of which so many records have a rare value is told by itself, and not compared."""
FEW_VALUES = 10
"""Fewer different values are categories."""
ROLES = ("sensitive", "insensitive", "")


def passing(schema: Schema, light: bool = False) -> list[Column]:
    """The columns whose values are published, more or less as they are; in a ``light`` release nothing is recoded."""
    roles = (*ROLES, "quasi-identifier") if light else ROLES
    return [
        c for c in schema.values() if c.role in roles and (c.operation is None or not (c.operation.hides or c.operation.per_record))
    ]


def group_size(models: Sequence[PrivacyModel]) -> int:
    """Groups of fewer records are small: the k of the models, or 2, so that a record is not alone."""
    return max(2, smallest_class(models))


def expose(
    table: Table,
    quasi: Sequence[str],
    columns: Sequence[Column],
    below: int,
    known: Groups,
    starred: bool = False,
    lots: int = 1,
    allowance: float = 0.0,
) -> tuple[Exposure, ...]:
    """How far each of the columns of a written release singles records out; rows of ``*`` do not count.

    ``known`` are the groups that the quasi-identifiers alone make.
    """
    combinations = [[c.name] for c in columns] + [[*quasi, c.name] for c in columns]
    groups = table.groups(combinations, [below] * len(combinations), ROOT if starred else None, lots)
    more = {"few_known": known.few, "allowance": allowance}
    return tuple(
        Exposure.of(c.name, c.role, below, alone, together, **look(table, c), **more)
        for c, alone, together in zip(columns, groups, groups[len(columns) :], strict=False)
    )


def look(table: Table, column: Column) -> dict[str, Any]:
    """What the values of a column look like and who may know them, as `Exposure` has it."""
    lots = max(1, table.distinct([column.name]) // LOOKED_AT)
    counts = table.count([column.name], (0, lots), [column.name])
    values = [None if v is None else remove_guard(v) for v in counts.dictionaries[0]]
    amount = {values[i]: int(n) for i, n in zip(counts.codes[0], counts.counts, strict=True)}
    return look_among(column, {v: n for v, n in amount.items() if v not in (None, ROOT)}, table.rows())


def look_among(column: Column, present: Mapping[str, int], rows: int) -> dict[str, Any]:
    """The same of values with their records, of a table of so many rows; what names people is not asked where the owner knows it."""
    return {
        "content": None if column.exposure else content_among(column.name, present, rows),
        "known": column.known or knowledge_of(column.name, column.role, present),
        "accepted": bool(column.exposure),
    }


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
    the quasi-identifiers; identifiers in disguise are refused, and what singles people out together.
    """
    if hierarchies is None:
        assert planned.found is not None
        hierarchies = planned.found.classes.frequency.hierarchies
    exposures, joint, table = verified.exposures, verified.joint, planned.table
    if planned.person is not None and verified.pair is not None:
        exposures, joint = of_people(exposures, table, verified.pair, planned.person, planned.treatments)
    compared = sampled_released(exposures, table, hierarchies, verified.pair, planned.person)
    exposures = with_copies(exposures, compared, hierarchies)

    def enough(e: Exposure) -> int | float | None:
        return _rounding(e, table, hierarchies, verified.pair, planned.person)

    refuse(exposures, joint, table.name, enough)
    if joint is not None and verified.pair is not None:
        joint = replace(joint, narrowing=find_narrowing(exposures, compared, verified.pair, planned.treatments))
    return replace(verified, exposures=exposures, joint=joint)


def _rounding(
    e: Exposure, table: Table, hierarchies: Sequence[Hierarchy], pair: Pair | None, person: str | None
) -> int | float | None:
    """To what a column of numbers can be rounded so that people hide; None where it has none, or nobody knows."""
    if pair is None or pair.class_of is None or person is not None:
        return None
    columns = [*(h.column for h in hierarchies), e.column]
    if table.distinct(columns) > SAMPLE:
        return None
    counts = sample_counts(table, columns, person, pair)
    known = numbers_of(counts.dictionaries[-1])
    if known is None:
        return None
    numbers = np.array([math.nan if n is None else n for n in known])[counts.codes[-1]]
    there = ~np.isnan(numbers)
    classes = pair.shown_as[_classes(counts, pair)]
    allowed = e.allowance * e.records + e.few_known
    return rounding_that_is_enough(numbers[there], classes[there], counts.counts[there], e.k, allowed)


def of_people(
    exposures: Sequence[Exposure], table: Table, pair: Pair, person: str, treatments: Sequence[Treatment]
) -> tuple[tuple[Exposure, ...], JointExposure]:
    """The same counted in people, where these have several rows."""
    rows, people = _released_cells(table, pair, person, [e.column for e in exposures], treatments)
    places, k = range(len(pair.columns)), group_size(()) if not exposures else exposures[0].k
    known = people_groups(_group(rows, places), people, k)
    found = []
    for e in exposures:
        place = rows.names.index(e.column)
        there = np.array([v is not None for v in rows.dictionaries[place]], dtype=bool)[rows.codes[place]]
        alone, joint = (people_groups(_group(rows, columns)[there], people[there], e.k) for columns in ([place], [*places, place]))
        found.append(e.with_groups(alone, joint, people=True, few_known=known.few))
    allowance = exposures[0].allowance if exposures else 0.0
    return tuple(found), expose_rows(rows, people, pair.columns, found, k, allowance)


def _group(rows: Counts, columns: Sequence[int]) -> np.ndarray:
    """The number of the group of each row, of those that show the same on some columns."""
    radices = [max(len(rows.dictionaries[c]), 1) for c in columns]
    return distinct_rows(np.array([rows.codes[c] for c in columns], dtype=np.int32), radices)[1]


def _released_cells(
    table: Table, pair: Pair, person: str, columns: Sequence[str], treatments: Sequence[Treatment]
) -> tuple[Counts, np.ndarray]:
    """What the released rows show, and whose they are: the person is not in the release itself."""
    treated = {t.column: t for t in treatments}
    counts, people = table.members([*pair.columns, *columns], person)
    class_of = _classes(counts, pair)
    kept = class_of >= 0
    texts: list[Sequence[str | None]] = [cover.labels for cover in pair.covers]
    codes = [column[class_of[kept]] for column in pair.labels.T]
    for name, values, column in list(zip(counts.names, counts.dictionaries, counts.codes, strict=True))[len(texts) :]:
        became = treated[name].becomes(values) if name in treated else None
        texts.append(values if became is None else became)
        codes.append(column[kept])
    dictionaries, again = [], []
    for shown, column in zip(texts, codes, strict=True):
        number = {v: i for i, v in enumerate(dict.fromkeys(shown))}
        dictionaries.append(tuple(number))
        again.append(np.array([number[v] for v in shown], dtype=np.int32)[column])
    return Counts(counts.names, tuple(dictionaries), tuple(again), counts.counts[kept]), people[kept]


def people_groups(groups: np.ndarray, people: np.ndarray, below: int) -> Groups:
    """People, those who are alone in one of their groups, and those with few others in one."""
    _, group = np.unique(groups, return_inverse=True)
    number = int(group.max(initial=-1)) + 1
    sizes = different(group, people, number)[group]
    alone, few = (number_of(people[chosen]) for chosen in (sizes == 1, sizes < below))
    return Groups(number_of(people), alone, few, number)


def sampled_released(
    exposures: Sequence[Exposure], table: Table, hierarchies: Sequence[Hierarchy], pair: Pair | None, person: str | None = None
) -> Counts | None:
    """Original records of released people, with their quasi-identifiers and the published columns; None if it is not known who
    was released (which the ``pair`` tells; without one everybody is), or nothing is to be compared.

    A column that others could know and of which so many values are rare that it tells by itself is not compared.
    """
    compared = [e.column for e in exposures if e.known == NEVER or e.few <= MANY * e.records]
    if not compared or (pair is not None and pair.suppressed_records and pair.class_of is None):
        return None
    counts = sample_counts(table, [*(h.column for h in hierarchies), *compared], person, pair)
    return None if counts.counts.sum() < LEAST else counts


def with_copies(exposures: Sequence[Exposure], counts: Counts | None, hierarchies: Sequence[Hierarchy]) -> tuple[Exposure, ...]:
    """The exposures with the quasi-identifiers that each column nearly copies: one tells the other, record by record."""
    if counts is None:
        return tuple(exposures)
    codes = dict(zip(counts.names, counts.codes, strict=True))
    found: dict[str, list[str]] = {name: [] for name in counts.names[len(hierarchies) :]}
    for h in hierarchies:
        order = order_of(h, counts.dictionaries[counts.names.index(h.column)])
        for name, copies in found.items():
            tells = association(codes[name], codes[h.column], counts.counts)
            tells = max(tells, association(codes[h.column], codes[name], counts.counts, order))
            if tells >= COPY or _goes_along(h, counts, name) >= ALONG:
                copies.append(h.column)
    return tuple(replace(e, copies=tuple(found.get(e.column, ()))) for e in exposures)


def _goes_along(h: Hierarchy, counts: Counts, name: str) -> float:
    """How far the numbers of a column go up, or down, with those of a quasi-identifier, where both have numbers."""
    places = [counts.names.index(c) for c in (h.column, name)]
    numbers = None if h.scale is None else numbers_of(counts.dictionaries[places[1]])
    if numbers is None:
        return 0.0
    one = order_of(h, counts.dictionaries[places[0]])[counts.codes[places[0]]]
    other = np.array([math.nan if n is None else n for n in numbers])[counts.codes[places[1]]]
    there = np.isfinite(one) & np.isfinite(other)
    return rank_correlation(one[there], other[there])


def find_narrowing(
    exposures: Sequence[Exposure], counts: Counts | None, pair: Pair, treatments: Sequence[Treatment]
) -> tuple[Narrowing, ...]:
    """Which published columns tell generalized quasi-identifiers again, the worst first; the owner's figures."""
    if counts is None or pair.class_of is None:
        return ()
    treated = {t.column: t for t in treatments}
    shown = pair.labels[_classes(counts, pair)].T
    labels = [(name, shown[j], counts.codes[counts.names.index(name)].astype(np.int64)) for j, name in enumerate(pair.columns)]
    found: list[Narrowing] = []
    for e in exposures:
        if e.column not in counts.names:
            continue
        place = counts.names.index(e.column)
        values = counts.dictionaries[place]
        became = treated[e.column].becomes(values) if e.column in treated else None
        texts = np.unique([v or "" for v in (values if became is None else became)], return_inverse=True)[1]
        found += narrowing(e.column, texts[counts.codes[place]], labels, counts.counts)
    telling = [n for n in found if n.one_left - 2 * n.by_chance > TELLING * n.hidden]
    return tuple(sorted(telling, key=lambda n: (-n.one_left, n.left, n.column, n.quasi_identifier))[:MOST_TOLD])


def sample_counts(table: Table, columns: Sequence[str], person: str | None = None, pair: Pair | None = None) -> Counts:
    """Enough of the table to see which columns go together; of people who have several rows, one row each."""
    if person is not None:
        counts, people = table.members(columns, person)
    else:
        lots = max(1, -(-table.distinct(columns) // SAMPLE))
        counts, people = table.count(columns, (0, lots), columns), None
    chosen = np.arange(len(counts.counts))
    if pair is not None and pair.suppressed_records:
        chosen = chosen[_classes(counts, pair) >= 0]
    records = counts.counts[chosen]
    if people is not None:
        _, first = np.unique(people[chosen], return_index=True)
        first = np.union1d(first, np.flatnonzero(people[chosen] == NOBODY))
        chosen, records = chosen[first], np.ones(len(first), dtype=np.int64)
    return replace(counts, codes=tuple(c[chosen] for c in counts.codes), counts=records)


def _classes(counts: Counts, pair: Pair) -> np.ndarray:
    """The class of each combination that was counted in the original, −1 if it is suppressed."""
    original = pair.original
    rows = np.array([counts.encode_column(h.column, h.encode) for h in original.hierarchies], dtype=np.int32)
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
