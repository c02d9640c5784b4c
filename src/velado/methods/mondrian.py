"""Mondrian: multidimensional local recoding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from velado.declarations import Declaration
from velado.errors import InputError, suggest
from velado.frequency import Classes, FrequencyTable, Sensitive, SingleRecords, in_order
from velado.hierarchies import Hierarchy
from velado.methods.axes import Axis
from velado.methods.base import Found, Method, Search, no_solution
from velado.methods.clock import Clock
from velado.methods.cutter import Cutter
from velado.methods.representatives import REPRESENTATIVES, has_centre, labels_of
from velado.models import CLASS, PrivacyModel, check_basis, judge_classes
from velado.parameters import FLAG, Choice, ChoiceByColumn, Size, Weights
from velado.progress import Progress
from velado.sentences import Sentence


@dataclass(frozen=True)
class Mondrian(Method):
    """Cut the table again and again, at the widest column first, while all parts satisfy the models.

    Greedy multidimensional partitioning (LeFevre, DeWitt and Ramakrishnan 2006). Strict: equal values stay together.
    ``relaxed``: records with equal values of an ordered column may come on both sides of a cut, so that both halves are
    equally large; equal records are then dealt out at random. Trees, and columns with one value in the part, are cut as before.
    Numbers, dates and ordered categories are cut between two values: ``split`` *balanced*: of all cuts that satisfy, the
    one that leaves the most equal sides; *median*: up to the median | above it; *distribution*: the first cut in
    ascending order that leaves enough on both sides (the Anonylitics thesis's distribution-based split). Other
    categories are cut between two groups of their hierarchy, or into all of them by *median* and *distribution*. A column
    that cannot be cut gives way to the next widest. ``width``: *values*, how many of the column's values are in the part,
    *range*, (max − min) relative to the whole table, or *std*, relative to the standard deviation inside the part;
    ``weights`` multiply it; ties go to the first column.

    Dates under a hierarchy are cut between the groups of its first level and show these (``1975-03..1981-11``), never the
    date of a person.

    Where the distinct rows would need more than ``memory``, the engine cuts where the data live, by the same rules, until
    each part fits (the thesis's Rothko-D); the result is the same.

    Works on distinct rows; the result is that of cutting record by record. O(rows · columns · depth of the cuts).
    """

    split: str = "balanced"
    represent: str | Mapping[str, str] = "interval"
    width: str = "values"
    weights: Mapping[str, float] = field(default_factory=dict)
    relaxed: bool = False
    memory: Any = None
    name: ClassVar[str] = "mondrian"
    declaration: ClassVar = Declaration(
        title="Mondrian: multidimensional local recoding",
        meaning="The table is cut again and again while all parts satisfy the models: finer than one level for a whole "
        "column, and nothing is suppressed.",
        example={"split": "median"},
    )
    takes: ClassVar[frozenset[str]] = frozenset({CLASS})
    full_domain: ClassVar[bool] = False
    parameters: ClassVar = {
        "split": Choice("where a column is cut", ("balanced", "median", "distribution"), expert=True),
        "represent": ChoiceByColumn("what stands for the values of a class", tuple(REPRESENTATIVES)),
        "width": Choice("how the width of a column is measured", ("values", "range", "std"), expert=True),
        "weights": Weights("how much more a column's width counts, by column", expert=True),
        "relaxed": Choice("whether records with equal values may come on both sides of a cut", FLAG, expert=True),
        "memory": Size("memory above which the table is solved in parts; half of what is free if not given", expert=True),
    }

    @property
    def representative(self) -> bool:
        """A mode, mean or median does not say for which values it stands."""
        said = [self.represent] if isinstance(self.represent, str) else self.represent.values()
        return any(word != "interval" for word in said)

    @property
    def divides(self) -> bool:
        """Relaxed cuts part equal records."""
        return self.relaxed

    def search(self, frequency: FrequencyTable, models: Sequence[PrivacyModel], progress: Progress | None = None) -> Found:
        """Cut until nothing can be cut."""
        progress = progress or Progress()
        progress.at(0, frequency.rows)
        check_basis(models, self.takes)
        clock = Clock()
        whole = Classes.from_ids(frequency, np.zeros(frequency.rows, dtype=np.int64), 1)
        good, _ = judge_classes(models, frequency.judged_columns, whole)
        if not good.all():
            raise no_solution(frequency, models, 0.0)
        cutter = self.cutter(frequency.hierarchies, frequency.records, models, frequency.judged_columns)
        records = SingleRecords.of(frequency) if self.relaxed else None
        cut = records.table if records else frequency
        class_of = cutter.partition(cut, progress.part(0.0, 0.9))
        classes = Classes.from_ids(cut, class_of, int(class_of.max()) + 1)
        covers, labels = labels_of(classes, cutter.axes, self.representation)
        if records:
            # Parts of one value's records may show the same: then they are one class.
            _, alike = np.unique(labels, axis=0, return_inverse=True)
            class_of, first = in_order(alike.reshape(-1)[class_of])
            classes, labels = records.divide(class_of), labels[classes.class_of[first]]
        search = Search(0, 0, False, None, clock.seconds, Sentence("greedy cuts"))
        progress.at(1.0)
        return Found(classes, np.ones(classes.count, dtype=bool), search, covers, labels)

    def representation(self, column: str) -> str:
        """What stands for the values of a class in a column; an interval where nothing is said."""
        return self.represent if isinstance(self.represent, str) else self.represent.get(column, "interval")

    def has_centre(self, axis: Axis) -> bool:
        """Whether a value of the column's own kind stands for every class."""
        return has_centre(axis, self.representation(axis.hierarchy.column))

    def cutter(
        self, hierarchies: Sequence[Hierarchy], records: int, models: Sequence[PrivacyModel], sensitive: Sequence[Sensitive]
    ) -> Cutter:
        """The rules by which a table with these columns is cut."""
        columns = [h.column for h in hierarchies]
        represented = {} if isinstance(self.represent, str) else self.represent
        for name in (*self.weights, *represented):
            if name not in columns:
                raise InputError(
                    "unknown-column",
                    "a weight is given for a column that is not a quasi-identifier"
                    if name in self.weights
                    else "a representative is given for a column that is not a quasi-identifier",
                    column=name,
                    hint=suggest(name, columns),
                )
        axes = tuple(Axis.cut(h) for h in hierarchies)
        return Cutter(axes, records, tuple(models), tuple(sensitive), self.split, self.width, self.weights, self.relaxed)
