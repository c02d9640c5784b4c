"""How far all published columns together single people out, counted in what was written; `refusal` judges it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from velado.evaluation.exposure import NEVER, Exposure
from velado.evaluation.joint_exposure import EXACT, SAMPLED, Asked, JointExposure, group_sizes
from velado.release.people import number_of
from velado.release.read_back import showing, without
from velado.tables import NOBODY, Counts, Groups, Table
from velado.values import ROOT

CELLS = 6_000_000
"""So many cells of different rows are looked at in one go."""
MOST = 20_000_000
"""Of tables with more different rows nobody is asked for a smallest key."""


@dataclass(frozen=True)
class Scopes:
    """The published columns by who may know them. ``judged`` are those that others could know and whose owner did not accept it."""

    quasi: tuple[str, ...]
    possibly: tuple[str, ...]
    private: tuple[str, ...]
    judged: tuple[str, ...]

    @classmethod
    def of(cls, quasi: Sequence[str], exposures: Sequence[Exposure]) -> Scopes:
        """From what was found of each column."""
        possibly = [e for e in exposures if e.known != NEVER]
        return cls(
            tuple(quasi),
            tuple(e.column for e in possibly),
            tuple(e.column for e in exposures if e.known == NEVER),
            tuple(e.column for e in possibly if not e.accepted),
        )

    @property
    def combinations(self) -> list[list[str]]:
        """What others know or could know, what of it is judged, and everything; a column that passes through stands last."""
        return [[*self.quasi, *some] for some in (self.possibly, self.judged, (*self.possibly, *self.private))]

    def exposure(self, found: Sequence[Groups], known: Groups, k: int, allowance: float, counted: bool) -> JointExposure:
        """From the groups of the three combinations, and those of the quasi-identifiers alone."""
        could, judged, everything = found
        return JointExposure(
            k=k,
            people=known.records,
            columns=(*self.quasi, *self.possibly),
            private=self.private,
            alone=could.alone,
            below=could.few,
            alone_with_private=everything.alone,
            below_with_private=everything.few,
            below_known=known.few,
            judged=judged.few,
            allowance=allowance,
            accepted=tuple(c for c in self.possibly if c not in self.judged),
            counted=counted,
        )


def expose_jointly(
    table: Table,
    quasi: Sequence[str],
    exposures: Sequence[Exposure],
    known: Groups,
    k: int,
    allowance: float = 0.0,
    starred: bool = False,
    lots: int = 1,
) -> JointExposure:
    """How far the columns of a written release single records out together; ``known`` are the groups of the quasi-identifiers.

    The figures of all columns are counted by statements, whatever the size of the table. Rows of ``*`` do not count.
    """
    besides = ROOT if starred else None
    labels = table.groups([[c] for c in quasi], [k] * len(quasi), besides, lots, True)
    shown = tuple(c for c, found in zip(quasi, labels, strict=True) if found.number > 1)
    scopes = Scopes.of(shown, exposures)
    # What nothing is added to has the groups that are known.
    asked = [c for c in scopes.combinations if len(c) > len(shown)]
    unique = [list(c) for c in dict.fromkeys(map(tuple, asked))]
    groups = table.groups(unique, [k] * len(unique), besides, lots, True)
    found = {tuple(c): g for c, g in zip(unique, groups, strict=True)}
    joint = scopes.exposure([found.get(tuple(c), known) for c in scopes.combinations], known, k, allowance, False)
    few = {e.column: e.few for e in exposures} | {c: g.few for c, g in zip(quasi, labels, strict=True)}
    return _with_keys(table, joint, few, starred)


def _with_keys(table: Table, joint: JointExposure, few: dict[str, int], starred: bool) -> JointExposure:
    """With the smallest keys of people, where somebody has one."""
    columns = [*joint.columns, *joint.private]
    if not columns or not joint.below_with_private:
        return joint.without_keys()
    different = table.distinct(columns)
    if different > MOST:
        return joint
    revealing = sorted(columns, key=lambda c: (-few.get(c, 0), columns.index(c)))
    lots = max(1, math.ceil(different * len(columns) / CELLS))
    by = list(joint.columns) or columns

    def rows(lot: tuple[int, int]) -> Counts:
        counts = table.count(columns, lot, by)
        return _without_stars(counts) if starred else counts

    whole = rows((0, 1)) if lots == 1 else None
    sampled = whole is None or len(whole.counts) > EXACT
    first = whole if whole is not None else rows((0, max(1, different // (4 * SAMPLED))))
    asked = Asked(first, joint.private, revealing, joint.k, sampled=sampled)
    for i in range(lots):
        asked.add(whole if whole is not None else rows((i, lots)))
    return joint.with_keys(asked.answer(joint.people))


def _without_stars(counts: Counts) -> Counts:
    """Without the rows that show ``*`` in every column."""
    return without(counts, np.where(showing(counts, counts.names, (ROOT,)), 0, counts.counts))


def expose_rows(
    rows: Counts, people: np.ndarray | None, quasi: Sequence[str], exposures: Sequence[Exposure], k: int, allowance: float = 0.0
) -> JointExposure:
    """The same of rows that were counted, and whose they are where people have several."""
    if people is not None:
        # People are large unsigned numbers, which do not go together with those of groups.
        known_people = people != NOBODY
        numbers = np.unique(people[known_people], return_inverse=True)[1] + 1
        people = np.zeros(len(people), dtype=np.int64)
        people[known_people] = numbers
    scopes = Scopes.of([c for c in quasi if len(set(rows.dictionaries[rows.names.index(c)])) > 1], exposures)
    every = [scopes.quasi, *scopes.combinations]
    known, *found = (_groups(rows, [rows.names.index(c) for c in columns], people, k) for columns in every)
    joint = scopes.exposure(found, known, k, allowance, people is not None)
    columns = [*joint.columns, *joint.private]
    if not columns:
        return joint.without_keys()
    revealing = sorted(columns, key=lambda c: -_groups(rows, [rows.names.index(c)], people, k).few)
    places = [rows.names.index(c) for c in columns]
    shown = replace(
        rows,
        names=tuple(columns),
        dictionaries=tuple(rows.dictionaries[i] for i in places),
        codes=tuple(rows.codes[i] for i in places),
    )
    asked = Asked(shown, joint.private, revealing, k, people, sampled=len(rows.counts) > EXACT)
    asked.add(shown, people)
    return joint.with_keys(asked.answer(joint.people))


def _groups(rows: Counts, columns: Sequence[int], people: np.ndarray | None, k: int) -> Groups:
    """Records that are alike on some columns; or people, each by the smallest group of their rows."""
    sizes = np.maximum(group_sizes(rows, columns, people), 1)
    if people is None:
        total, alone, few = (int(rows.counts[chosen].sum()) for chosen in (sizes > 0, sizes == 1, sizes < k))
        return Groups(total, alone, few, 0)
    total, alone, few = (number_of(people[chosen]) for chosen in (sizes > 0, sizes == 1, sizes < k))
    return Groups(total, alone, few, 0)
