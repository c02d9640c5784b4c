"""Prepare a release that satisfies privacy models: count, search, recode."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from velado.errors import InputError, NoSolution, Note
from velado.evaluation import Evaluation, Pair, evaluate, public, public_verdicts
from velado.frequency import FrequencyTable
from velado.methods import Found, Progress, kernels_ready
from velado.models import PrivacyModel, all_verdicts, crisp_models, smallest_class
from velado.operations import Treatment
from velado.project.document import Project
from velado.recoding import Others, Recoding
from velado.release.count import count_table
from velado.release.manifest import Manifests, manifests_of
from velado.release.people import count_people, person_column, shown_people, with_shares
from velado.release.publishing import Prepared
from velado.release.read_back import contents_of_pair
from velado.release.result import Release
from velado.release.treatments import check_operations, told, treatments
from velado.release.verify import Expected, twins_notes, verify
from velado.schema import Column, Schema
from velado.tables import DuckDBTable, Recoded
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
    person: str | None = None

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
        person = person_column(project, table)
        if person is not None and project.method.divides:
            raise _not_dividable("people who have several rows cannot be counted with it")
        frequency = with_shares(table, frequency, person)
        check_size(frequency, project.models)
        return cls(project, table, schema, treated, frequency, person)

    def search(self, progress: Progress) -> Found:
        """What the project's method finds."""
        progress(0.0, "searching" if kernels_ready() else "compiling the search, once per installation (half a minute)")
        found = self.project.method.search(self.frequency, self.project.models, progress)
        if self.person is None:
            return found
        # It is the best under a bound of the number of people: under the number itself a better one may exist.
        return replace(found, search=replace(found.search, proven_optimal=False, gap=None))

    def prepared(self, found: Found) -> Modelled:
        """The release of what was found."""
        done = told(self.treatments)
        treated = {t.column for t in self.treatments}
        passed = [*self.schema.names("sensitive"), *self.schema.names("insensitive")]
        others = (done.starred, done.dropped, tuple(c for c in passed if c not in treated))
        return Modelled(self.project, self.table, self.treatments, found, _recoding(found, others), self.person)


@dataclass(frozen=True)
class Proof:
    """A verified release measured for everybody, and against the whole input; and the spelling twins in it."""

    public: Evaluation
    whole: Evaluation
    twins: dict[str, Twins]


@dataclass(frozen=True)
class Modelled(Prepared):
    """A release whose every class satisfies every model."""

    found: Found
    recoding: Recoding
    person: str | None = None

    def recoded(self) -> Recoded:
        """The recoding, and the operations of columns that it leaves alone."""
        # Rows of * turn every column into text: only where there are such rows.
        suppressed = "star" if self.starred else "drop"
        recoded = self.recoding.recoded(suppressed, self.found.classes.frequency.sensitive)
        return told(self.treatments, replace(recoded, starred=(), dropped=()))

    @property
    def starred(self) -> int:
        """Suppressed records that stay as rows of ``*``."""
        return self.found.suppressed if self.project.output.suppressed == "star" else 0

    def verify(self, written: Any, guarded: bool) -> Proof:
        """Every model holds in what was written; what that cost, for everybody and for the owner."""
        found, models = self.found, self.project.models
        fuzzy = None if found.fuzzy is None else found.fuzzy.classes
        pair = Pair.of(found.classes, found.kept, found.covers, found.labels, self.starred, found.fuzzy)
        pair = count_people(self.table, pair, self.person)
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
            contents=None if fuzzy is None and self.person is None else contents_of_pair(pair),
            people=shown_people(pair),
            person=self.person,
            sizes=Counter(pair.shown_sizes.tolist()),
        )
        verified = verify(written, expected)
        verdicts = all_verdicts(models, verified.verdicts, fuzzy)
        whole = evaluate(pair, models, verdicts)
        if not pair.suppressed:
            return Proof(whole, whole, verified.twins)
        told = public_verdicts(models, verdicts, pair.suppressed)
        return Proof(evaluate(public(pair), models, told), whole, verified.twins)

    def notes(self, proof: Proof) -> tuple[Note, ...]:
        """Also which sensitive columns were judged folded."""
        return (*super().notes(proof), *twins_notes(proof.twins))

    def labels_of(self, column: str) -> dict[Text, Text] | None:
        """Quasi-identifiers become their labels, where these do not depend on the record."""
        for c in self.recoding.columns:
            if c.name == column:
                return None if c.level is None else {v: c.labels[x] for v, x in zip(c.values, c.codes, strict=True)}
        return super().labels_of(column)

    def manifests(self, proof: Proof, digest: str | None) -> Manifests:
        """The manifests."""
        made = self.made(proof.whole.rows, digest)
        return manifests_of(made, self.found.search, self.recoding, proof.public, proof.whole)

    def release(self, proof: Proof, **where: Any) -> Release:
        """The release."""
        return Release(
            self.project.name, self.recoding, proof.whole, proof.public, self.found.search, found=self.found, **where
        )  # fmt: skip

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
        raise _not_dividable(problem)


def _not_dividable(problem: str) -> InputError:
    return InputError(
        "not-dividable", f"the method may part records with equal values ('relaxed: true'), and {problem}",
        hint="Set 'relaxed: false', or leave that out.",
    )  # fmt: skip


def _size(frequency: FrequencyTable) -> tuple[int, str]:
    """How many people there are, or records if every record is a person."""
    people = frequency.people
    if people is None:
        return frequency.records, "records"
    return int(-(-frequency.value_counts[frequency.values == people.first].sum() // people.unit)), "people"


def check_size(frequency: FrequencyTable, models: Sequence[PrivacyModel]) -> None:
    """Say at once what no recoding can reach."""
    needed, (there, what) = smallest_class(models), _size(frequency)
    if needed > there:
        raise NoSolution(
            "table-too-small", f"the models need classes of {needed} {what}, but the table has only {there}",
            hint=f"Require at most {there}, or take a larger table.",
        )  # fmt: skip
    known = {s.column: s.width for s in frequency.sensitive}
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
