"""Tables larger than memory: the engine cuts where the data live until a part fits (the thesis's Rothko-D).

Every cut is the one that Mondrian makes in memory, chosen from counts of single columns. Parts that fit are solved one by
one and appended; their classes are not kept. The release is verified in lots.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from velado.errors import InputError
from velado.evaluation import Pair
from velado.evaluation.merging import Merged
from velado.frequency import Classes, FrequencyTable, Sensitive
from velado.hierarchies import Hierarchy
from velado.methods import Mondrian, Progress, Search
from velado.methods.base import no_solution, silent
from velado.methods.cutting import Cutter, Marginal
from velado.methods.represent import labels_of
from velado.models.base import OnSensitive
from velado.operations import Treatment
from velado.project.document import Project
from velado.release.count import count_columns
from velado.release.manifest import manifests_of
from velado.release.memory import Estimate
from velado.release.modelled import check_size
from velado.release.publishing import Prepared, digest_of
from velado.release.result import Release
from velado.release.treatments import told
from velado.release.verify import Expected, twins_notes, verify
from velado.schema import Schema
from velado.tables import DuckDBTable, Translation
from velado.tables.duckdb.append import Appender
from velado.tables.duckdb.split import EncodedTable, Part

ENGINE_SHARE = 0.4
"""Share of the memory that the engine may use while parts are solved."""
ENGINE_LEAST = 256_000_000
"""With less the engine cannot sort or join."""


@dataclass(frozen=True)
class Axes:
    """What is known of the whole table: hierarchies, sensitive columns, records of each leaf, and how it is cut."""

    hierarchies: tuple[Hierarchy, ...]
    sensitive: tuple[Sensitive, ...]
    leaf_records: tuple[np.ndarray, ...]
    cutter: Cutter


@dataclass(frozen=True)
class InParts(Prepared):
    """A release that is made part by part."""

    schema: Schema
    estimate: Estimate

    @classmethod
    def of(
        cls,
        project: Project,
        table: DuckDBTable,
        treatments: tuple[Treatment, ...],
        schema: Schema,
        estimate: Estimate,
        person: str | None,
    ) -> InParts:
        """Refuse what cannot be done in parts."""
        if person is not None:
            raise _impossible("counting people who have several rows")
        done = told(treatments)
        if done.replaced or done.noise:
            raise _impossible("operations other than suppress and drop")
        if any(isinstance(m, OnSensitive) and m.strict for m in project.models):
            raise _impossible("models with 'strict: true'")
        if project.method.divides:
            raise _impossible("'relaxed: true'")
        if project.output.order == "keep":
            raise _impossible("'order: keep'")
        if project.output.recoding is not None:
            raise _impossible("saving the recoding")
        return cls(project, table, treatments, schema, estimate)

    def on_disk(self, temporary: Sequence[Path], progress: Progress) -> Any:
        """Cut, solve and append part by part; verify what was written."""
        began = time.perf_counter()
        project, output = self.project, self.project.output
        memory = max(ENGINE_LEAST, round(self.estimate.memory * ENGINE_SHARE))
        self.table.limit(memory)
        progress(0.0, "counting columns")
        axes = self._axes()
        done = told(self.treatments)
        written = self.target(temporary[-1])
        guarded = output.guard and written.kind() == "csv"
        merged = Merged()
        encoded = self._encoded(axes, done.dropped, done.starred, progress)
        try:
            with Appender(temporary[-1], written.delimiter or ",", output.order) as target:
                for part, frequency in self._solvable(encoded, axes, progress):
                    for batch in self._solved(encoded, axes, part, frequency, merged, guarded):
                        target.append(batch)
        finally:
            encoded.close()
        search = Search(0, 0, False, None, time.perf_counter() - began, "greedy cuts, in parts")
        self.table.check_unchanged()
        progress(0.0, "verifying what was written")
        # What is counted is each class with each of its sensitive values.
        counted = sum(times * min(size, self._values(axes)) for size, times in merged.sizes.items())
        expected = Expected(
            header=[name for name in self.table.header if name not in done.dropped],
            treatments=self.treatments,
            original=self._empty(axes),
            models=project.models,
            released=merged.kept,
            guarded=guarded,
            passes=max(1, -(-counted // self._rows())),
            memory=memory,
        )
        verified = verify(written, expected)
        evaluation = merged.evaluation(project.models, verified.verdicts, verified.sizes)
        made = self.made(evaluation.rows, digest_of(temporary[-1]))
        # Nobody is suppressed here: everybody may know what the owner knows.
        manifests = manifests_of(made, search, None, evaluation, evaluation)
        manifests.write(temporary[0], temporary[1])
        return Release(
            project.name, None, evaluation, evaluation, search, manifests.public, None, output.path, self.paths[0],
            notes=(*self.notes(verified), *twins_notes(verified.twins)),
            private_manifest=manifests.private, private_path=self.paths[1],
        )  # fmt: skip

    def _rows(self) -> int:
        """Distinct rows that a part may have."""
        share = (1 - ENGINE_SHARE) * self.estimate.memory
        return max(1000, int(share * self.estimate.distinct / max(self.estimate.needed, 1)))

    @staticmethod
    def _values(axes: Axes) -> int:
        """The most different values that a sensitive column has."""
        return max((s.width for s in axes.sensitive), default=1)

    def _axes(self) -> Axes:
        """Count every column by itself."""
        hierarchies, sensitive, leaf_records = count_columns(self.table, self.schema, self.project.folder)
        records = int(leaf_records[0].sum())
        method = self.project.method
        assert isinstance(method, Mondrian)
        check_size(
            FrequencyTable(hierarchies, np.zeros((1, len(hierarchies)), np.int32), np.array([records]), sensitive),
            self.project.models,
        )
        cutter = method.cutter(hierarchies, records, self.project.models, sensitive)
        return Axes(hierarchies, sensitive, leaf_records, cutter)

    def _encoded(self, axes: Axes, dropped: Sequence[str], starred: Sequence[str], progress: Progress) -> EncodedTable:
        progress(0.0, "encoding")
        places = []
        for axis in axes.cutter.axes:
            place = np.empty(len(axis.order), dtype=np.int64)
            place[axis.order] = np.arange(len(axis.order))
            places.append(Translation(axis.hierarchy.column, axis.hierarchy.leaves, place, ()))
        coded = [Translation(s.column, tuple(s.number), np.array([*s.number.values()]), ()) for s in axes.sensitive]
        return EncodedTable(self.table, places, coded, dropped, starred)

    def _solvable(self, encoded: EncodedTable, axes: Axes, progress: Progress) -> Iterator[tuple[Part, FrequencyTable]]:
        """The parts that fit, in order; larger ones are cut by the engine."""
        cutter, most = axes.cutter, self._rows()
        open_parts = [encoded.whole()]
        users = {open_parts[0].table: 1}
        done = 0
        while open_parts:
            part = open_parts.pop()
            marginals = [_marginal(axes, j, *m) for j, m in enumerate(encoded.marginals(part))]
            records = int(marginals[0].records.sum())
            if not done and part.table_records == records and not cutter.satisfied(marginals):
                raise no_solution(_whole(axes, marginals), self.project.models, 0.0)
            cut = cutter.cut(marginals) if records > most else None
            if cut is None:
                yield part, _counted(encoded, axes, part)
                done += records
                progress(done / encoded.records, "solving parts")
                new = []
            else:
                j, ranges = cut
                ends = np.concatenate([[0], cutter.axes[j].ends])
                new = [_within(part, j, int(ends[a]), int(ends[b + 1]) - 1) for a, b in ranges]
                sizes = [
                    int(marginals[j].records[(marginals[j].ranks >= a) & (marginals[j].ranks <= b)].sum())
                    for a, b in ranges
                ]
                new = [encoded.own_table(p, n) for p, n in zip(new, sizes, strict=True)]
            for p in new:
                users[p.table] = users.get(p.table, 0) + 1
            users[part.table] -= 1
            if not users[part.table]:
                encoded.drop(part.table)
            open_parts += reversed(new)

    def _solved(
        self, encoded: EncodedTable, axes: Axes, part: Part, frequency: FrequencyTable, merged: Merged, guard: bool
    ) -> Iterator[Any]:
        """Cut a part in memory, add it to the evaluation and give its records."""
        cutter, method = axes.cutter, self.project.method
        assert isinstance(method, Mondrian)
        class_of = cutter.partition(frequency, silent)
        classes = Classes.from_ids(frequency, class_of, int(class_of.max()) + 1)
        covers, labels = labels_of(classes, cutter.axes, method.represent)
        pair = Pair.of(classes, np.ones(classes.count, dtype=bool), covers, labels)
        merged.add(replace(pair, whole=axes.leaf_records))
        places = np.empty(frequency.codes.shape, dtype=np.int64)
        for j, axis in enumerate(cutter.axes):
            place = np.empty(len(axis.order), dtype=np.int64)
            place[axis.order] = np.arange(len(axis.order))
            places[:, j] = place[frequency.codes[:, j]]
        texts = [cover.labels for cover in covers]
        yield from encoded.batches(part, places, labels[classes.class_of], texts, self.project.output.order, guard)

    def _empty(self, axes: Axes) -> FrequencyTable:
        """The description of the table without its rows: what verification needs of the original."""
        return FrequencyTable(
            axes.hierarchies, np.zeros((0, len(axes.hierarchies)), np.int32), np.zeros(0, np.int64), axes.sensitive
        )


def _within(part: Part, j: int, low: int, high: int) -> Part:
    lows, highs = list(part.low), list(part.high)
    lows[j], highs[j] = max(lows[j], low), min(highs[j], high)
    return replace(part, low=tuple(lows), high=tuple(highs))


def _marginal(
    axes: Axes, j: int, places: np.ndarray, attributes: np.ndarray, codes: np.ndarray, counts: np.ndarray
) -> Marginal:
    """Counts by place as counts by rank."""
    axis = axes.cutter.axes[j]
    ranks, number = np.unique(axis.rank[axis.order[places]], return_inverse=True)
    domain = sum(s.width for s in axes.sensitive)
    histograms = np.zeros((len(ranks), domain), dtype=np.int64)
    if domain:
        first = np.array([s.first for s in axes.sensitive])
        np.add.at(histograms, (number, first[attributes] + codes), counts)
    own = attributes == 0
    records = np.bincount(number[own], weights=counts[own], minlength=len(ranks)).astype(np.int64)
    return Marginal(ranks, records, histograms)


def _counted(encoded: EncodedTable, axes: Axes, part: Part) -> FrequencyTable:
    """The frequency table of a part."""
    tables, values = [], []
    counted = encoded.count(part)
    for places, codes, _ in counted:
        tables.append(np.array([a.order[places[:, j]] for j, a in enumerate(axes.cutter.axes)], dtype=np.int32))
        values.append(codes)
    return FrequencyTable.of_codes(axes.hierarchies, tables, [c for _, _, c in counted], values, axes.sensitive)


def _whole(axes: Axes, marginals: Sequence[Marginal]) -> FrequencyTable:
    """Everything as one row, to say why nothing can be done."""
    codes = np.zeros((1, len(axes.hierarchies)), dtype=np.int32)
    counts = np.array([marginals[0].records.sum()])
    values = np.arange(marginals[0].histograms.shape[1], dtype=np.int32)
    start = np.array([0, len(values)])
    return FrequencyTable(
        axes.hierarchies, codes, counts, axes.sensitive, start, values, marginals[0].histograms.sum(axis=0)
    )


def _impossible(what: str) -> InputError:
    return InputError(
        "not-in-parts", f"the table is too large for the memory and must be solved in parts; {what} cannot be done so",
        hint="Allow more memory (method: {mondrian: {memory: 8GB}}), or leave that out.",
    )  # fmt: skip
