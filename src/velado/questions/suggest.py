"""A project for an inspected table that runs: tried on the table itself, the better method first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from velado.errors import InputError, NoSolution
from velado.evaluation.exposure import COPY, LEAST, TOO_MANY, association
from velado.hierarchies.build import build
from velado.numbers import parse_all
from velado.progress import Progress
from velado.project import Output, Project
from velado.project.document import ROWS
from velado.questions.inspect import ColumnInspection, Inspection, inspect_table
from velado.recognition.units import Unit
from velado.release import run
from velado.release.published import order_of, sampled
from velado.release.result import Release
from velado.results import UNSAID, Discreet, Result
from velado.sentences import Sentence, joined
from velado.tables import Session, Source, Table, open_table

MOST_ROWS = 2_000_000
"""Of larger tables no release is made on trial."""
MOST_NODES = 1_000_000
"""A larger lattice is not searched on trial."""
BUDGET = 20.0
"""Seconds for which it is."""
SMALLEST = 4
SMALL = 50
"""Among fewer records a k of 5 leaves nothing to see."""
ONE_SIDED = 0.9
"""Share of the records of one value above which classes with another one are hard to find."""
MONDRIAN: Mapping[str, Any] = {"mondrian": {}}
BY_RANGE: Mapping[str, Any] = {"mondrian": {"width": "range"}}
LATTICE: Mapping[str, Any] = {"lattice": {"suppression": 0.05, "objective": "loss"}}
METHODS = (MONDRIAN, BY_RANGE, LATTICE)
MOST_FALLBACK = 6
MOST_TRIES = 6
REFUSED = "identifier-in-disguise"


@dataclass(frozen=True, repr=False)
class SuggestedColumn(Discreet):
    """A column as a project file should describe it, and why; ``kept``: it is published or protected, not left out.

    ``tries``: how often its rounding was not enough.
    """

    NAMES: ClassVar[tuple[str, ...]] = ("name",)
    name: str
    spec: dict[str, Any]
    reason: str
    kept: bool = True
    tries: int = 0


@dataclass(frozen=True, repr=False)
class Trial(Discreet):
    """What a method made of the table: the information lost and the records suppressed, or why it was not tried."""

    NAMES: ClassVar[tuple[str, ...]] = ("method",)
    method: Mapping[str, Any]
    loss: float | None = None
    suppressed: float = 0.0
    problem: str = ""

    @property
    def name(self) -> str:
        """The name of the method, and of what it does not do by default."""
        ((name, options),) = self.method.items()
        width = options.get("width")
        return Sentence("{method} by {width}", method=name, width=width) if width else name


class Without(NamedTuple):
    """A model that was left out, and why."""

    model: dict[str, Any]
    reason: str


@dataclass(frozen=True, repr=False)
class Suggestion(Result):
    """A project for a table: columns, models, methods with what they lose, the best first.

    ``unit`` is ``person`` or ``household`` and a column, where rows belong together; ``without`` are models that were left
    out, and why. ``source`` is the table, with what stands for missing values in it.
    """

    SCHEMA: ClassVar[str] = "velado-suggestion-1"
    columns: tuple[SuggestedColumn, ...]
    models: tuple[dict[str, Any], ...]
    without: tuple[Without, ...] = ()
    unit: Unit | None = None
    trials: tuple[Trial, ...] = ()
    source: Any = field(default=None, metadata=UNSAID)

    @property
    def project(self) -> Project:
        """The project, ready to run; the release stays in memory."""
        if self.source is None:
            raise InputError(
                "no-source", "a suggestion that was read back knows its table no more",
                hint="Suggest again, or hand its columns, models and method to velado.anonymize.",
            )  # fmt: skip
        return Project.from_dict(self.mapping(self.source, self.method))

    @property
    def kept(self) -> dict[str, dict[str, Any]]:
        """The columns that are not left out, as `velado.anonymize` and project files take them."""
        return {c.name: c.spec for c in self.columns if c.kept}

    @property
    def method(self) -> Mapping[str, Any]:
        """The method that loses least."""
        return self.trials[0].method

    def column(self, name: str) -> SuggestedColumn:
        """One of the columns."""
        return next(c for c in self.columns if c.name == name)

    def leaving_out(self, name: str, reason: str) -> Suggestion:
        """The same without a column, and without the models that protect it."""
        columns = tuple(
            replace(c, kept=False, reason=joined("; ", [c.reason, reason])) if c.name == name else c
            for c in self.columns
        )
        return replace(self, columns=columns, models=tuple(m for m in self.models if _protects(m) != name))

    def summary(self) -> dict[str, Any]:
        """The columns by the role that they get, the models, and what the methods lose."""
        roles: dict[str, list[str]] = {}
        for column in self.columns:
            roles.setdefault(str(column.spec.get("role", "")) if column.kept else "left out", []).append(column.name)
        return {
            **{role: tuple(names) for role, names in roles.items()},
            "models": tuple(name for model in self.models for name in model),
            **{f"loss of {trial.name}": trial.loss for trial in self.trials if trial.loss is not None},
        }

    def mapping(self, source: Any, method: Mapping[str, Any]) -> dict[str, Any]:
        """The mapping that a project file holds."""
        unit = {} if self.unit is None else dict([self.unit])
        return {
            "source": source,
            "columns": self.kept,
            "rest": "drop",
            **unit,
            "models": list(self.models),
            "method": method,
        }


def _protects(model: Mapping[str, Any]) -> str | None:
    ((_, parameters),) = model.items()
    column = parameters.get("column")
    return None if column is None else str(column)


def suggest(
    data: Any,
    progress: Progress | None = None,
    *,
    inspection: Inspection | None = None,
    most_rows: int = MOST_ROWS,
) -> Suggestion:
    """Describe a table so that a run of it succeeds, and loses little: what ``velado init`` writes.

    What cannot be published is left out, with the reason: columns that nobody can decide about but their owner, and those
    that a run would refuse. ``inspection``: what `velado.inspect_table` found, if it was asked already. Of tables of more
    than ``most_rows`` no release is made on trial. A suggestion is no decision: read it, and correct the roles.
    """
    source = Source.of(data)
    follow = (progress or Progress()).through(open=2, inspect=1, search=7)
    seen = inspection or inspect_table(source, follow("open"))
    if seen.rows < SMALLEST:
        raise InputError(
            "no-suggestion",
            Sentence("a table of {records} record(s) hides nobody", records=seen.rows),
            file=source.name,
            hint="Publish nothing of it, or describe it yourself in a project file.",
        )
    source = replace(source, missing=seen.markers(source) or source.missing)
    suggestion = replace(_described(seen, source, follow("inspect")), source=source)
    if not any(c.kept and c.spec["role"] == "quasi-identifier" for c in suggestion.columns):
        raise InputError(
            "no-suggestion", "no column could be what others know of a person: there is nothing to generalize",
            file=source.name, hint="Describe the table yourself in a project file.",
        )  # fmt: skip
    if seen.rows > most_rows:
        problem = Sentence("not tried: more than {most:,} rows", most=most_rows)
        return replace(suggestion, trials=tuple(Trial(method, problem=problem) for method in METHODS))
    trying, trials = follow("search"), []
    for i, method in enumerate(METHODS):
        suggestion, trial = _tried(suggestion, seen, source, method, trying.of(i, len(METHODS)))
        trials.append(trial)
    trials.sort(key=lambda t: math.inf if t.loss is None else t.loss)
    return replace(suggestion, trials=tuple(trials))


def _kept_quasi(suggestion: Suggestion, c: ColumnInspection) -> bool:
    column = suggestion.column(c.name)
    return column.kept and column.spec["role"] == "quasi-identifier"


def _described(seen: Inspection, source: Source, progress: Progress) -> Suggestion:
    """The columns as they were inspected, measurements rounded; models for what is sensitive."""
    k = 5 if seen.rows >= SMALL else 2
    fallback = _fallback(seen)
    columns: list[SuggestedColumn] = []
    models: list[dict[str, Any]] = [{"k-anonymity": {"k": k}}]
    without: list[Without] = []
    with open_table(source, session=Session(progress)) as table:
        for c in seen.columns:
            progress.check()
            role = "quasi-identifier" if c.name in fallback else c.role
            column = SuggestedColumn(c.name, _spec(c, role), c.reason, kept=bool(role))
            if role == "sensitive":
                ((_, amount),) = table.amounts([c.name])
                present = {v: n for v, n in amount.items() if v is not None and v not in c.markers}
                column = _rounded(column, c, present, k)
                if column.kept:
                    model = {"distinct-diversity": {"l": 2, "column": c.name}}
                    share = max(present.values(), default=0) / max(seen.rows, 1)
                    if share > ONE_SIDED:
                        reason = Sentence(
                            "one value has {share:.0%} of the records: classes with another one are hard to find",
                            share=share,
                        )
                        without.append(Without(model, reason))
                    else:
                        models.append(model)
            columns.append(column)
        unit = None if seen.unit is None or seen.unit[1] == ROWS else seen.unit[1]
        copies = _copies(table, columns, seen.rows, unit)
    columns = [
        replace(c, kept=False, reason=joined("; ", [c.reason, copies[c.name]])) if c.name in copies else c
        for c in columns
    ]
    return Suggestion(tuple(columns), tuple(models), tuple(without), seen.unit)


def _copies(table: Table, columns: Sequence[SuggestedColumn], rows: int, unit: str | None) -> dict[str, str]:
    """Quasi-identifiers that another one tells, which can be generalized: left out, nothing is lost, and why.

    Of two that tell each other the first stays, unless only the second can be generalized.
    """
    quasi = [c for c in columns if c.kept and c.spec["role"] == "quasi-identifier"]
    quasi.sort(key=lambda c: not _structured(c))
    if not LEAST <= rows <= MOST_ROWS or len(quasi) < 2:
        return {}
    names = [c.name for c in quasi]
    counts = sampled(table, names, unit)
    orders: dict[str, np.ndarray] = {}
    found: dict[str, str] = {}
    for c, dictionary in zip(quasi, counts.dictionaries, strict=True):
        values = [v for v in dictionary if v is not None]
        try:
            hierarchy = build(c.name, c.spec.get("hierarchy"), dict.fromkeys(values, 1), format=c.spec.get("format"))
        except InputError as error:
            found[c.name] = Sentence("left out: {problem}", problem=error.message)
        else:
            orders[c.name] = order_of(hierarchy, dictionary)
    codes = dict(zip(names, counts.codes, strict=True))
    for c in quasi:
        if c.name in found or not _structured(c):
            continue
        for other in names:
            tells = other != c.name and other not in found and (
                association(codes[c.name], codes[other], counts.counts, orders[c.name]) >= COPY
            )  # fmt: skip
            if tells:
                found[other] = Sentence("left out: '{column}' tells it", column=c.name)
    return found


def _structured(column: SuggestedColumn) -> bool:
    """Whether the groups of a column mean something, so that they may stand for a column that it tells."""
    return bool(set(column.spec.get("hierarchy") or ()) - {"frequency"})


def _fallback(seen: Inspection) -> frozenset[str]:
    """Where nothing looks like what others know, columns of few values are taken for it: something must be protected."""
    if any(c.role == "quasi-identifier" for c in seen.columns):
        return frozenset()
    open_columns = [c for c in seen.columns if c.role in ("", "insensitive") and 1 < c.distinct <= 0.2 * seen.rows]
    open_columns = open_columns or [c for c in seen.columns if c.role == "sensitive" and c.distinct > 1]
    return frozenset(c.name for c in sorted(open_columns, key=lambda c: -c.distinct)[:MOST_FALLBACK])


def _spec(c: ColumnInspection, role: str) -> dict[str, Any]:
    """A column as the project file writes it."""
    shown: dict[str, Any] = {"role": role}
    if role in ("quasi-identifier", ""):
        if c.type != "text":
            shown["type"] = c.type
        if c.format:
            shown["format"] = c.format
        if c.hierarchy is not None:
            shown["hierarchy"] = c.hierarchy
    return shown


def _rounded(column: SuggestedColumn, c: ColumnInspection, amount: Mapping[str, int], k: int) -> SuggestedColumn:
    """A measurement rounded until it does not single people out; what cannot be rounded is left out."""
    records = np.array([*amount.values()], dtype=np.int64)
    limit = TOO_MANY / 2 * records.sum()
    if records[records < k].sum() <= limit:
        return column
    if c.type in ("integer", "number"):
        numbers = np.array(parse_all(c.name, list(amount)))
        step = _step(numbers, records, k, limit)
        if step is not None:
            why = Sentence("rounded, because its own values single people out")
            spec = {**column.spec, "operation": {"round": step}}
            return replace(column, spec=spec, reason=joined("; ", [column.reason, why]))
    why = Sentence("left out: its values single people out")
    return replace(column, kept=False, reason=joined("; ", [column.reason, why]))


def _step(numbers: np.ndarray, records: np.ndarray, k: int, limit: float) -> int | float | None:
    """The smallest of 1, 2, 5, 10, 20 … to which rounding leaves few records in groups smaller than k."""
    span = float(numbers.max() - numbers.min())
    if not 0 < span < math.inf:
        return None
    for power in range(math.floor(math.log10(span)) - 6, math.floor(math.log10(span)) + 1):
        for digit in (1, 2, 5):
            step = digit * 10.0**power
            _, group = np.unique(np.rint(numbers / step), return_inverse=True)
            sizes = np.bincount(group, weights=records)
            if len(sizes) > 1 and sizes[sizes < k].sum() <= limit:
                return int(step) if step >= 1 else float(f"{step:.{-power}f}")
    return None


def _tried(
    suggestion: Suggestion, seen: Inspection, source: Source, method: Mapping[str, Any], progress: Progress
) -> tuple[Suggestion, Trial]:
    """Run a method in memory; what stands in the way of a release is left out, and the run begins again."""
    nodes = math.prod(max(2, len(c.generalizations)) for c in seen.columns if _kept_quasi(suggestion, c))
    if "lattice" in method and nodes > MOST_NODES:
        return suggestion, Trial(
            method, problem=Sentence("not tried: about 10^{power} nodes", power=math.floor(math.log10(nodes)))
        )
    tries = MOST_TRIES + len(suggestion.columns) + len(suggestion.models)
    for i in range(tries):
        try:
            release = _run(suggestion, source, method, progress.of(i, tries))
        except NoSolution as error:
            models = suggestion.models
            if len(models) == 1:
                return suggestion, Trial(method, problem=error.message)
            suggestion = replace(
                suggestion,
                models=models[:-1],
                without=(*suggestion.without, Without(models[-1], Sentence("no recoding satisfies it"))),
            )
        except InputError as error:
            suggestion = _mended(suggestion, error)
        else:
            # As the run will tell it.
            e = release.public_evaluation
            return suggestion, Trial(method, e.utility.loss, e.suppressed / max(e.rows, 1))
    raise InputError("no-suggestion", "no project for this table could be found that runs", file=source.name)


def _run(suggestion: Suggestion, source: Source, method: Mapping[str, Any], progress: Progress) -> Release:
    described = dict(method)
    if "lattice" in described:
        described = {"lattice": {**described["lattice"], "budget": BUDGET}}
    project = Project.from_dict(suggestion.mapping(None, described) | {"source": "-"}, Path())
    release = run(replace(project, source=source, output=Output()), progress)
    assert isinstance(release, Release)
    return release


def _mended(suggestion: Suggestion, error: InputError) -> Suggestion:
    """Without the columns that an error names."""
    if error.code == "repeated-identifier":
        return replace(suggestion, unit=Unit("person", ROWS))
    names = list(error.fields.get("columns", ())) or [error.column]
    kept = [c.name for c in suggestion.columns if c.kept]
    if not all(name in kept for name in names):
        raise error
    for name in names:
        if error.code == REFUSED and (coarser := _coarser(suggestion, str(name))) is not None:
            suggestion = coarser
            continue
        why = Sentence("it would single people out") if error.code == REFUSED else error.message
        reason = Sentence("left out: {problem}", problem=why)
        suggestion = suggestion.leaving_out(str(name), reason)
    return suggestion


def _coarser(suggestion: Suggestion, name: str) -> Suggestion | None:
    """The same with a measurement rounded more; None where that would leave nothing of it."""
    column = suggestion.column(name)
    step = (column.spec.get("operation") or {}).get("round")
    if step is None or column.tries >= MOST_TRIES:
        return None
    digit = int(f"{step:e}"[0])
    wider = step * (2.5 if digit == 2 else 2)
    spec = {**column.spec, "operation": {"round": int(wider) if wider >= 1 else float(f"{wider:.1g}")}}
    coarser = replace(column, spec=spec, tries=column.tries + 1)
    return replace(suggestion, columns=tuple(coarser if c.name == name else c for c in suggestion.columns))
