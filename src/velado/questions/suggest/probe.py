"""What a description would lose: a search without writing anything, on a table that stays open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from velado.errors import NoSolution
from velado.evaluation import Pair
from velado.evaluation.utility import Utility, utility
from velado.methods import Mondrian
from velado.progress import Progress
from velado.project import Project
from velado.project.people import ROWS
from velado.questions.suggest.result import SuggestedColumn, Suggestion
from velado.release.count import check_size, count_table
from velado.release.people import with_shares
from velado.schema import Schema
from velado.tables import Table

MOST_CELLS = 20_000_000
"""Rows times tries: of large tables little is tried."""


@dataclass
class Probe:
    """Searches with Mondrian, quickly; as many as the size of the table allows."""

    table: Table
    suggestion: Suggestion
    progress: Progress
    left: int

    @classmethod
    def of(cls, table: Table, suggestion: Suggestion, rows: int, progress: Progress) -> Probe:
        """A probe that may try as often as the rows allow."""
        return cls(table, suggestion, progress, MOST_CELLS // max(rows, 1))

    def utility(self, columns: Sequence[SuggestedColumn], models: Sequence[Mapping[str, Any]]) -> Utility | None:
        """What these columns lose under these models; None if there is no recoding, or nothing may be tried any more."""
        if self.left <= 0:
            return None
        self.left -= 1
        self.progress.check()
        try:
            pairs = self.pairs(columns, models)
        except NoSolution:
            return None
        return min((utility(pair)[0] for pair in pairs), key=lambda found: found.loss)

    def pairs(self, columns: Sequence[SuggestedColumn], models: Sequence[Mapping[str, Any]]) -> list[Pair]:
        """The original beside what would be released, by each way of cutting: the better one will be chosen."""
        described = {c.name: c.spec for c in columns}
        project = Project.from_dict(
            {"source": "-", "columns": described, "rest": "drop", "models": list(models), "method": "mondrian"}, Path()
        )
        schema = Schema(project.columns).fit_header(self.table.header, "drop", self.table.name)
        frequency = count_table(self.table, schema, project.models)
        unit = None if self.suggestion.unit is None else self.suggestion.unit.column
        if unit not in (None, ROWS) and self.table.repeats(unit):
            frequency = with_shares(self.table, frequency, unit)
        check_size(frequency, project.models)
        ways = (Mondrian(width=width) for width in ("values", "range"))
        found = [way.search(frequency, project.models, self.progress.part(0, 0)) for way in ways]
        return [Pair.of(f.classes, f.kept, f.covers, f.labels, fuzzy=f.fuzzy) for f in found]


def mean_loss(found: Utility, names: Sequence[str]) -> float:
    """The mean loss of some columns."""
    return float(np.mean([found.columns[name] for name in names])) if names else 0.0
