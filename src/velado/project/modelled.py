"""Prepare a release that satisfies privacy models: count, search, recode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from velado.engines import DuckDBTable, Recoded
from velado.errors import InputError, NoSolution, Note
from velado.evaluation import Evaluation, Pair, evaluate
from velado.frequency import FrequencyTable, Sensitive
from velado.methods import Found, Progress, kernels_ready
from velado.models import PrivacyModel, all_verdicts, crisp_models, smallest_class
from velado.operations import Treatment
from velado.project.counting import count_table
from velado.project.document import Project
from velado.project.manifest import manifest_of
from velado.project.publishing import Prepared
from velado.project.release import Release
from velado.project.released import contents_of_pair
from velado.project.treating import check_operations, told, treatments
from velado.project.verify import Expected, twins_notes, verify
from velado.recoding import Others, Recoding
from velado.schema import Column, Schema
from velado.twins import Twins
from velado.values import Text


@dataclass(frozen=True)
class Counted:
    """A table that was read and counted."""

    project: Project
    table: DuckDBTable
    schema: Schema
    treatments: tuple[Treatment, ...]
    frequency: FrequencyTable

    @classmethod
    def of(
        cls, project: Project, table: DuckDBTable, progress: Progress, columns: Sequence[Column] | None = None
    ) -> Counted:
        """Check the description against the table, and count; ``columns`` take the place of the project's."""
        schema = Schema(columns or project.columns).fitted(table.header, project.rest, table.source.name)
        check_described(project, schema)
        progress(0.0, "counting")
        treated = treatments(table, schema, project.folder)
        frequency = count_table(table, schema, project.models, project.folder)
        check_size(frequency.records, frequency.sensitive, project.models)
        return cls(project, table, schema, treated, frequency)

    def search(self, progress: Progress) -> Found:
        """What the project's method finds."""
        progress(0.0, "searching" if kernels_ready() else "compiling the search, once per installation (half a minute)")
        return self.project.method.search(self.frequency, self.project.models, progress)

    def prepared(self, found: Found) -> Modelled:
        """The release of what was found."""
        done = told(self.treatments)
        treated = {t.column for t in self.treatments}
        passed = [*self.schema.names("sensitive"), *self.schema.names("insensitive")]
        others = (done.starred, done.dropped, tuple(c for c in passed if c not in treated))
        return Modelled(self.project, self.table, self.treatments, found, _recoding(found, others))


@dataclass(frozen=True)
class Proof:
    """A verified release: what it achieves and costs, and the spelling twins in it."""

    evaluation: Evaluation
    twins: dict[str, Twins]


@dataclass(frozen=True)
class Modelled(Prepared):
    """A release whose every class satisfies every model."""

    found: Found
    recoding: Recoding

    def recoded(self) -> Recoded:
        """The recoding, and the operations of columns that it leaves alone."""
        recoded = self.recoding.recoded(self.project.output.suppressed, self.found.classes.frequency.sensitive)
        return told(self.treatments, replace(recoded, starred=(), dropped=()))

    @property
    def starred(self) -> int:
        """Suppressed records that stay as rows of ``*``."""
        return self.found.suppressed if self.project.output.suppressed == "star" else 0

    def verify(self, written: Any, guarded: bool) -> Proof:
        """Every model holds in what was written; what that cost."""
        found, models = self.found, self.project.models
        fuzzy = None if found.fuzzy is None else found.fuzzy.classes
        pair = Pair.of(found.classes, found.kept, found.covers, found.labels, self.starred, found.fuzzy)
        expected = Expected(
            header=[name for name in self.table.header if name not in self.recoding.dropped],
            treatments=self.treatments,
            original=found.classes.frequency,
            models=models if fuzzy is None else crisp_models(models),
            released=found.classes.frequency.records - found.suppressed,
            starred=self.starred,
            guarded=guarded,
            memory=self.table.memory,
            # Memberships are not written: fuzzy models are judged on those of the records whose classes were verified.
            contents=None if fuzzy is None else contents_of_pair(pair),
        )
        verified = verify(written, expected)
        return Proof(evaluate(pair, models, all_verdicts(models, verified.verdicts, fuzzy)), verified.twins)

    def notes(self, proof: Proof) -> tuple[Note, ...]:
        """Also which sensitive columns were judged folded."""
        return (*super().notes(proof), *twins_notes(proof.twins))

    def labels_of(self, column: str) -> dict[Text, Text] | None:
        """Quasi-identifiers become their labels, where these do not depend on the record."""
        for c in self.recoding.columns:
            if c.name == column:
                return None if c.level is None else {v: c.labels[x] for v, x in zip(c.values, c.codes, strict=True)}
        return super().labels_of(column)

    def manifest(self, proof: Proof, digest: str | None) -> dict[str, Any]:
        """The manifest."""
        made = self.project, self.table.fingerprint(), self.treatments, self.found.search, self.recoding
        return manifest_of(*made, proof.evaluation, digest)

    def release(self, proof: Proof, manifest: dict[str, Any], **where: Any) -> Release:
        """The release."""
        search = self.found.search
        return Release(self.project.name, self.recoding, proof.evaluation, search, manifest, self.found, **where)

    def save(self, path: Path) -> None:
        """Save the recoding."""
        self.recoding.save(path)


def _recoding(found: Found, others: Others) -> Recoding:
    if found.levels is None:
        return Recoding.local(found.classes, found.kept, found.covers, found.labels, others)
    return Recoding.at_levels(found.classes, found.levels, found.kept, others)


def check_described(project: Project, schema: Schema) -> None:
    """There is something to protect, and a model that says how."""
    project.check_modelled()
    if not project.models:
        raise InputError(
            "no-models", "no privacy model is given: nothing would be protected", hint="For example k-anonymity."
        )
    if not schema.names("quasi-identifier"):
        raise InputError(
            "no-quasi-identifier", "no column has the role quasi-identifier: there is nothing to protect",
            hint="Give that role to the columns that can be linked with outside knowledge.",
        )  # fmt: skip
    check_operations(project, schema)
    if project.method.divides:
        _check_dividable(project, schema)


def _check_dividable(project: Project, schema: Schema) -> None:
    """Records that are alike are dealt out by their one sensitive value, as it is in the source."""
    sensitive = schema.names("sensitive")
    problem = ""
    if len(sensitive) > 1:
        problem = "it works with one sensitive column at most: counts do not say which values belong to one person"
    elif any(schema[name].operation for name in sensitive):
        problem = "an operation on the sensitive column cannot be combined with it"
    elif project.output.recoding is not None:
        problem = "its recoding parts records that are alike, so it cannot be saved for others"
    if problem:
        raise InputError(
            "not-dividable", f"the method may part records with equal values ('relaxed: true'), and {problem}",
            hint="Set 'relaxed: false', or leave that out.",
        )  # fmt: skip


def check_size(records: int, sensitive: Sequence[Sensitive], models: Sequence[PrivacyModel]) -> None:
    """Say at once what no recoding can reach."""
    needed = smallest_class(models)
    if needed > records:
        raise NoSolution(
            "table-too-small", f"the models need classes of {needed} records, but the table has only {records}",
            hint=f"Require at most {records}, or take a larger table.",
        )  # fmt: skip
    known = {s.column: s.width for s in sensitive}
    for model in models:
        column = model.sensitive_column
        wanted = getattr(model, "l", None)
        if column is None or wanted is None:
            continue
        present = known.get(column, 0)
        if column in known and wanted > present:
            raise NoSolution(
                "too-few-sensitive-values", f"{model.name} wants {wanted:g} different values, but the column has only {present}",
                column=column, hint=f"Require at most {present}.",
            )  # fmt: skip
