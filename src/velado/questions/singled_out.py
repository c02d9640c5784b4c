"""Who is alone before anything is recoded: with their quasi-identifiers, and with a column that is to be published."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from velado.errors import InputError, VeladoError
from velado.evaluation.exposure import Exposure
from velado.frequency.table import distinct_rows
from velado.progress import Progress
from velado.project.arguments import names_of
from velado.project.people import checked_person
from velado.project.rules import given_of
from velado.questions.inspect import COMBINED, Combination
from velado.release.column_exposure import look, look_among, passing, people_groups
from velado.schema import Column, Schema
from velado.tables import Counts, Groups, Session, Table, open_table, unknown_column
from velado.values import ROOT

AT_ONCE = 2_000_000
"""Tables with more different rows are counted in parts, and only as a whole."""
LOOKED_AT = 20_000_000
"""So many rows are looked at for the sets of columns that single out the most; else none are named."""
BEST = 5


@dataclass(frozen=True)
class SingledOut:
    """How many of the ``records`` (``people``, where these have several rows) nobody else is like.

    ``columns`` are the quasi-identifiers; ``few`` are in groups of fewer than ``k``; ``without``: how many are left if one of the
    columns is taken away; ``combinations``: the pairs and triples of them that single out the most. ``published``: the other
    columns, as far as they can be judged before there is a release.
    """

    columns: tuple[str, ...]
    k: int
    records: int
    singled_out: int
    few: int
    people: bool = False
    without: dict[str, int] = field(default_factory=dict)
    combinations: tuple[Combination, ...] = ()
    published: tuple[Exposure, ...] = ()


def singled_out(
    data: Any,
    quasi_identifiers: str | Sequence[str],
    published: Sequence[Column] = (),
    *,
    k: int = 2,
    person: str | None = None,
    progress: Progress | None = None,
) -> SingledOut:
    """How many records of a table are alone with their quasi-identifiers, and with published columns.

    >>> import pyarrow as pa
    >>> people = pa.table({"age": ["30", "30", "41"], "sex": ["f", "m", "m"], "ill": ["flu", "flu", "flu"]})
    >>> found = singled_out(people, ["age", "sex"])
    >>> found.singled_out, found.without
    (3, {'age': 1, 'sex': 1})
    """
    follow = (progress or Progress()).through(open=1, count=3)
    with open_table(data, session=Session(follow("open"))) as table:
        follow("count")
        who = person_of(table, person)
        found = alone(table, names_of(quasi_identifiers), k, who)
        return replace(found, published=exposures(table, published, k, who))


def person_of(table: Table, column: str | None) -> str | None:
    """The column whose values are the people; None if every row is one, or the column does not say it."""
    with suppress(InputError):
        return None if column is None else checked_person(table, column)
    return None


def alone(table: Table, columns: Sequence[str], k: int, person: str | None = None) -> SingledOut:
    """How many are alone with their quasi-identifiers."""
    for name in columns:
        if name not in table.header:
            raise unknown_column(name, table.header, list(columns), table.name)
    if not columns:
        records = table.rows()
        return SingledOut((), k, records, int(records == 1), records if records < k else 0, person is not None)
    if person is None and table.distinct(columns) > AT_ONCE:
        return _in_lots(table, columns, k)
    counts, people = (table.count(columns), None) if person is None else table.members(columns, person)
    of = _Grouping(counts, people, k)
    every = range(len(columns))
    whole = of.groups(every)
    without = {name: of.groups([j for j in every if j != i]).alone for i, name in enumerate(columns)}
    return SingledOut(
        tuple(columns),
        k,
        whole.records,
        whole.alone,
        whole.few,
        person is not None,
        without if len(columns) > 1 else {},
        tuple(_combinations(of, columns)),
    )


def _in_lots(table: Table, columns: Sequence[str], k: int) -> SingledOut:
    lots = -(-table.distinct(columns) // AT_ONCE)
    records = single = few = 0
    for i in range(lots):
        sizes = table.count(columns, (i, lots), columns).counts
        records, single, few = (records + int(sizes.sum()), single + int((sizes == 1).sum()), few + int(sizes[sizes < k].sum()))
    return SingledOut(tuple(columns), k, records, single, few)


class _Grouping:
    """Rows that were counted, put together by some of their columns."""

    def __init__(self, counts: Counts, people: np.ndarray | None, k: int) -> None:
        self.counts, self.people, self.k = counts, people, k
        self.codes = np.array(counts.codes, dtype=np.int32)
        self.radices = [max(len(d), 1) for d in counts.dictionaries]

    def groups(self, chosen: Sequence[int]) -> Groups:
        """The groups that are alike in these columns."""
        chosen = list(chosen)
        if chosen:
            _, group = distinct_rows(self.codes[chosen], [self.radices[j] for j in chosen])
        else:
            group = np.zeros(len(self.counts.counts), dtype=np.int64)
        if self.people is not None:
            return people_groups(group, self.people, self.k)
        sizes = np.bincount(group, weights=self.counts.counts).astype(np.int64)
        return Groups.of(sizes, self.k)


def _combinations(of: _Grouping, columns: Sequence[str]) -> Iterator[Combination]:
    """The worst pairs, then the worst triples, of the columns with the most values."""
    chosen = sorted(sorted(range(len(columns)), key=lambda j: -of.radices[j])[:COMBINED])
    for size in (2, 3):
        sets = list(itertools.combinations(chosen, size)) if size < len(columns) else []
        if len(sets) * len(of.counts.counts) > LOOKED_AT:
            return
        ranked = [Combination(tuple(columns[j] for j in one), of.groups(one).alone) for one in sets]
        yield from sorted(ranked, key=lambda c: (-c.singled_out, c.columns))[:BEST]


def exposures(
    table: Table, columns: Sequence[Column], k: int, person: str | None = None, folder: Path | None = None
) -> tuple[Exposure, ...]:
    """How far published columns single out by themselves, as their operations would show them.

    A column whose operation cannot be carried out is left out: what is wrong with it is told elsewhere.
    """
    shown = [c for c in passing(Schema(columns)) if c.name in table.header]
    usual = [c for c in shown if c.operation is None and person is None]
    sizes = table.groups([[c.name] for c in usual], [k] * len(usual)) if usual else []
    known = {c.name: (groups, look(table, c)) for c, groups in zip(usual, sizes, strict=True)}
    found = []
    for column in shown:
        with suppress(VeladoError):
            groups, seen = known.get(column.name) or _as_shown(table, column, shown, k, person, folder or Path())
            no_groups = Groups(groups.records, 0, 0, 0)
            found.append(Exposure.of(column.name, column.role, k, groups, no_groups, **seen, people=person is not None))
    return tuple(found)


def _as_shown(
    table: Table, column: Column, columns: Sequence[Column], k: int, person: str | None, folder: Path
) -> tuple[Groups, dict[str, Any]]:
    """The groups of a column of people with several rows, or of one with an operation, and what its values look like."""
    counts, people = (table.count([column.name]), None) if person is None else table.members([column.name], person)
    values = counts.dictionaries[0]
    treated = None if column.operation is None else column.operation.treat(table, given_of(column, columns, folder))
    became = None if treated is None else treated.becomes(values)
    labels = list(values) if became is None else became
    texts, place = np.unique([label or "" for label in labels], return_inverse=True)
    present = np.array([label is not None for label in labels], dtype=bool)[counts.codes[0]]
    codes, amounts = place[counts.codes[0]][present], counts.counts[present]
    sizes = np.bincount(codes, weights=amounts, minlength=len(texts)).astype(np.int64)
    amount = {str(text): int(n) for text, n in zip(texts, sizes, strict=True) if n and text != ROOT}
    seen = look_among(column, amount, table.rows())
    if people is not None:
        return people_groups(codes, people[present], k), seen
    return Groups.of(sizes[sizes > 0], k), seen
