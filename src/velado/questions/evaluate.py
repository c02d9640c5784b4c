"""Evaluate any pair of tables: an original and a release of it, whoever made it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from velado.errors import InputError, NoSolution, short_repr, suggest
from velado.evaluation import MEASURES, MORE, Evaluation, Outcome, Pair, Wanted, check_numeric, judge
from velado.evaluation import evaluate as evaluate_pair
from velado.evaluation.exposure import Exposure
from velado.evaluation.joint_exposure import JointExposure
from velado.evaluation.learning import known_classes
from velado.frequency import FrequencyTable, Sensitive
from velado.frequency.sensitive_order import sort_values
from velado.methods import Method
from velado.models import PrivacyModel
from velado.numbers import parse_all
from velado.parameters import Number
from velado.progress import Progress
from velado.project import AnyProject, Project
from velado.project.arguments import names_of
from velado.project.people import ROWS, checked_person
from velado.release.column_exposure import expose, find_narrowing, group_size, of_people, passing, sampled_released, with_copies
from velado.release.count import count_table
from velado.release.count_joint_exposure import expose_jointly
from velado.release.manifest import starred_rows
from velado.release.people import count_people, with_shares
from velado.release.plan import in_own_types
from velado.release.read_back import (
    contents_of,
    contents_of_pair,
    count_release,
    readable,
    release_frequency,
    showing,
    spellings,
    without,
    without_starred,
)
from velado.release.treatments import treatments
from velado.results import Discreet
from velado.schema import Column, Schema
from velado.sentences import Sentence
from velado.tables import Counts, Groups, Session, Source, Table, open_table, unknown_column
from velado.values import ROOT, Text


def evaluate(
    original: Any,
    release: Any,
    quasi_identifiers: str | Sequence[str] = (),
    sensitive: str | Sequence[str] = (),
    *,
    hierarchies: Mapping[str, Any] | None = None,
    project: AnyProject | None = None,
    measures: Collection[str] | None = None,
    target: str | None = None,
    population: Any = None,
    weights: str | None = None,
    fraction: float | None = None,
    person: str | None = None,
    l: int = 2,  # noqa: E741
    queries: int = 1000,
    seed: int = 0,
    variants: str = "fold",
    progress: Progress | None = None,
) -> Evaluation:
    """All measures of utility and risk of a release, before and after.

    ``hierarchies`` says, per column, how the release was generalized (as in a project file); without one, labels are
    read as what they say: intervals, masks, parts, sets, ``*``. A ``project`` gives roles, hierarchies and
    models instead; its own source and output are used where a table is None. Rows of the release that show ``*`` in
    every quasi-identifier count as suppressed, unless all do, or the manifest of the project's own release knows better. ``measures`` are names of `MEASURES` (all of them if
    None) and ``subsets``, which tells how far sets of quasi-identifiers single records out; ``target`` asks for learning utility, ``population`` for the journalist's risk, ``weights`` (a column)
    or ``fraction`` (of the population) for individual risk and population uniqueness. ``variants``: fold or distinct,
    whether spellings of one sensitive value count as one. ``person`` names the column whose equal values are one person's
    rows: k and risk then count people; a project says that itself.

    >>> import pyarrow as pa
    >>> original = pa.table({"age": ["31", "38", "52", "57"]})
    >>> release = pa.table({"age": ["30-39", "30-39", "50-59", "50-59"]})
    >>> evaluation = evaluate(original, release, ["age"])
    >>> evaluation.risk.highest, evaluation.aggregates["age"].after.mean_lower
    (0.5, 40.0)
    """
    quasi_identifiers, sensitive = names_of(quasi_identifiers), names_of(sensitive)
    project = None if project is None else Project.of(project)
    schema, folder, models = schema_and_models(quasi_identifiers, sensitive, hierarchies, project, variants)
    if project is not None:
        original = project.source if original is None else original
        own = release is None
        release = project.release_source() if own else release
    if original is None or release is None:
        raise InputError("no-table", "two tables are needed: the original and its release")
    _check_numbers(queries=queries, seed=seed, fraction=fraction)
    for name in measures or ():
        if name not in (*MEASURES, *MORE):
            raise InputError(
                "unknown-measure", Sentence("there is no measure '{name}'", name=name), hint=suggest(name, (*MEASURES, *MORE))
            )
    follow = (progress or Progress()).through(open=1, count=4, measure=8)
    session = Session(follow("open"))
    with open_table(original, folder, session) as table:
        counting = follow("count")
        method, unit = (project.method, project.unit) if project is not None else (None, person)
        if project is not None and own:
            release = project.release_source(table)
        known = None if unit in (None, ROWS) else checked_person(table, unit)
        starred = starred_rows(project) if project is not None and own else None
        counted = replace(session, progress=counting)
        exact = target is not None or weights is not None
        pair = read_pair(table, release, schema, models, folder, method, known, counted, starred, exact)
        if target is not None:
            known_classes(pair)
        wanted = Wanted(tuple(MEASURES if measures is None else measures), l, queries, seed)
        if measures is not None and {"ks", "aggregates"} & set(measures):
            check_numeric(pair.covers)
        if target is not None:
            wanted = replace(wanted, outcome=_outcome(table, pair, target))
        if population is not None:
            wanted = replace(wanted, population=_population(population, schema, folder, session))
        wanted = replace(wanted, fraction=fraction)
        if weights is not None:
            wanted = replace(wanted, people=_people(table, pair, weights))
        roles = schema if project is None else Schema(project.columns)
        rest = "insensitive" if project is None else project.rest
        fitted = roles.fit_header(table.header, rest, table.name)
        exposures, joint = read_exposures(table, release, fitted, models, pair, known, folder, session)
    evaluation = evaluate_pair(pair, models, judge(pair, models), wanted, follow("measure"))
    return replace(evaluation, published=exposures, exposure=joint)


def read_exposures(
    table: Table,
    release: Any,
    schema: Schema,
    models: Sequence[PrivacyModel],
    pair: Pair,
    person: str | None,
    folder: Path,
    session: Session,
) -> tuple[tuple[Exposure, ...], JointExposure]:
    """How far the columns of a release single people out, one by one and together, as a run measures it."""
    k = group_size(models) if models else max(2, int(min(pair.shown_sizes, default=2)))
    with open_table(replace(Source.of(release, folder), fields=table.columns), session=session) as written:
        columns = [c for c in passing(schema) if c.name in written.header]
        known, starred = Groups.of(pair.shown_sizes, k), bool(pair.starred)
        found = expose(written, pair.columns, columns, k, known, starred)
        joint = expose_jointly(written, pair.columns, found, known, k, starred=starred)
    if person is not None:
        found, joint = of_people(found, table, pair, person, treatments(table, Schema(columns), folder))
    hierarchies = pair.original.hierarchies
    counts = sampled_released(found, table, hierarchies, pair, person)
    told = find_narrowing(found, counts, pair, treatments(table, Schema(columns), folder))
    return with_copies(found, counts, hierarchies), replace(joint, narrowing=told)


def _check_numbers(queries: Any, seed: Any, fraction: Any) -> None:
    """The numbers are in their ranges."""
    for name, value, parameter in (
        ("queries", queries, Number("", low=1, high=10_000_000, integer=True)),
        ("seed", seed, Number("", low=0, high=2**32 - 1, integer=True)),
        ("fraction", fraction, Number("", low=0, high=1, low_open=True, optional=True)),
    ):
        problem = parameter.problem(value)
        if problem:
            message = Sentence("{parameter} {problem}, got {value}", parameter=name, problem=problem, value=short_repr(value))
            raise InputError("bad-parameter", message)


def schema_and_models(
    quasi: Sequence[str],
    sensitive: Sequence[str],
    hierarchies: Mapping[str, Any] | None,
    project: Project | None,
    variants: str = "fold",
) -> tuple[Schema, Path, tuple[PrivacyModel, ...]]:
    """Roles, hierarchies, the folder of their files, and models."""
    if project is not None:
        project.check_modelled()
        if quasi or sensitive or hierarchies or variants != "fold":
            raise InputError("two-descriptions", "the project already says roles, hierarchies and variants; give one or the other")
        columns = [c for c in project.columns if c.role in ("quasi-identifier", "sensitive")]
        return Schema(columns), project.folder, project.models
    if not quasi:
        raise InputError("no-quasi-identifier", "name at least one quasi-identifier", hint="--qi age,sex")
    both = [c for c in quasi if c in sensitive]
    if both:
        raise InputError("two-roles", "a column cannot be quasi-identifier and sensitive", column=both[0])
    given = dict(hierarchies or {})
    for name in given:
        if name not in (*quasi, *sensitive):
            raise InputError(
                "unknown-column",
                "a hierarchy is given for a column without a role",
                column=name,
                hint=suggest(name, [*quasi, *sensitive]),
            )
    columns = [Column(c, "quasi-identifier", hierarchy=given.get(c)) for c in quasi]
    columns += [Column(c, "sensitive", hierarchy=given.get(c), variants=variants) for c in sensitive]
    return Schema(columns), Path(), ()


@dataclass(frozen=True, repr=False)
class Both(Discreet):
    """An original and its release, both counted; ``starred`` rows of ``*`` are left out of the release, ``file``.

    ``spelled`` are the values of its sensitive columns.
    """

    original: FrequencyTable
    release: FrequencyTable
    starred: int
    file: str
    spelled: Mapping[str, set[Text]]


def read_both(
    table: Table,
    release: Any,
    schema: Schema,
    models: Sequence[PrivacyModel] = (),
    folder: Path | None = None,
    session: Session | None = None,
    starred: int | None = None,
) -> Both:
    """Count the original and the release, which has so many ``starred`` rows, or as many as look like it if None."""
    session = session or Session()
    known = Schema(schema.values()).fit_header(table.header, "insensitive", table.name)
    frequency = count_table(table, known, models, folder)
    # Formats that do not tell dates from times, or whole numbers from others, are read as the original is.
    with open_table(replace(Source.of(release, folder), fields=table.columns), session=session) as written:
        check_header(written, [*frequency.columns, *(s.column for s in frequency.sensitive)])
        counted = [readable(c, frequency.sensitive) for c in count_release(written, frequency)]
        name = written.name
    complete = [h.column for j, h in enumerate(frequency.hierarchies) if not _has_missing(frequency, j)]
    if starred is None:
        counted, starred = without_suppressed(counted, frequency.columns, name, complete)
    else:
        left = [without_starred(c, starred) if starred else c for c in counted]
        counted = [c for c in left if c is not None]
        if len(counted) < len(left):
            raise InputError(
                "not-corresponding",
                "the release does not hold its suppressed records as rows of *",
                file=name,
                hint="Run the project again.",
            )
    try:
        released = release_frequency(frequency, counted)
    except InputError as error:
        if error.code != "unseen-value":
            raise
        raise InputError(
            "not-corresponding",
            "the release has sensitive values that the original does not have",
            file=name,
            column=error.column,
            hint="Check that the release was made from this original.",
        ) from None
    return Both(frequency, released, starred, name, spellings(frequency, counted))


def read_pair(
    table: Table,
    release: Any,
    schema: Schema,
    models: Sequence[PrivacyModel] = (),
    folder: Path | None = None,
    method: Method | None = None,
    person: str | None = None,
    session: Session | None = None,
    starred: int | None = None,
    exact: bool = False,
) -> Pair:
    """Count the original and the release and match them; ``exact``: the class of every record must be known."""
    session = session or Session()
    both = read_both(table, release, schema, models, folder, session, starred)
    return match_tables(table, both, models, method, person, session.progress, exact)


def match_tables(
    table: Table,
    both: Both,
    models: Sequence[PrivacyModel],
    method: Method | None,
    person: str | None,
    progress: Progress,
    exact: bool = False,
) -> Pair:
    """The pair of two tables that were counted.

    Released values that may stand for others do not say for which, and labels that overlap not whose they are, which
    counting people needs, and whatever else asks for ``exact`` classes: then the ``method`` that made them is asked again, and what it gives must be what was released.
    """
    frequency, released, starred, name = both.original, both.release, both.starred, both.file
    pair = None
    if method is None or not method.representative:
        pair = Pair.between(frequency, released, starred, name, progress)
    exact = exact or person is not None
    if method is not None and (pair is None or (exact and pair.class_of is None)):
        frequency = with_shares(table, frequency, person)
        pair = _made_again(table, frequency, released, models, method, starred, name, progress)
    assert pair is not None
    return replace(count_people(table, pair, person), spelled=both.spelled)


def _made_again(
    table: Table,
    frequency: FrequencyTable,
    released: FrequencyTable,
    models: Sequence[PrivacyModel],
    method: Method,
    starred: int,
    file: str,
    progress: Progress,
) -> Pair:
    """The pair of a release that its method makes again, the same class for class."""
    try:
        found = method.search(frequency, models, progress)
    except NoSolution:
        found = None
    if found is not None:
        found, _ = in_own_types(found, [table.field(cover.column) for cover in found.covers])
        pair = Pair.of(found.classes, found.kept, found.covers, found.labels, starred, found.fuzzy)
        if contents_of_pair(pair) == contents_of(released):
            return pair
    raise InputError(
        "not-corresponding",
        "the release is not what the project's method makes of this original",
        file=file,
        hint="Run the project again.",
    )


def _has_missing(frequency: FrequencyTable, j: int) -> bool:
    place = frequency.hierarchies[j].code.get(None)
    return place is not None and bool(frequency.leaf_records[j][place])


NO_COLUMN = Sentence("the release has no such column")


def check_header(table: Table, columns: Sequence[str], message: str = NO_COLUMN) -> None:
    """A table has all these columns; the message says so of a column that it lacks."""
    for name in columns:
        if name not in table.header:
            raise unknown_column(name, table.header, columns, table.name, message)


def without_suppressed(
    counted: Sequence[Counts], quasi: Sequence[str], file: str, blank: Sequence[str] = ()
) -> tuple[list[Counts], int]:
    """Take out the rows whose every quasi-identifier is ``*``, unless these are all there is.

    In ``blank`` columns a missing value says no more than ``*``: the original has none there.
    """
    total = int(counted[0].counts.sum())
    if not total:
        raise InputError("empty-release", "the release has no records: there is nothing to evaluate", file=file)
    hidden = [np.logical_and.reduce([showing(c, [q], (ROOT, None) if q in blank else (ROOT,)) for q in quasi]) for c in counted]
    starred = int(counted[0].counts[hidden[0]].sum())
    sensitive = [name for c in counted for name in c.names[len(quasi) :]]
    everything = bool(sensitive) and all(
        showing(c, c.names[len(quasi) :], (ROOT,))[h].all() for c, h in zip(counted, hidden, strict=True)
    )
    if starred == total and everything:
        raise InputError("empty-release", "every record of the release is suppressed", file=file)
    if starred in (0, total):
        return list(counted), 0
    return [without(c, np.where(h, 0, c.counts)) for c, h in zip(counted, hidden, strict=True)], starred


def _outcome(table: Table, pair: Pair, target: str) -> Outcome:
    """The column to predict, as it occurs with each distinct original row."""
    original = pair.original
    check_header(table, [target], Sentence("the table has no such column"))
    if target in original.columns:
        j = original.columns.index(target)
        if (pair.covers[j].levels != 0).any():
            raise InputError(
                "target-recoded",
                "the column to predict was generalized in the release",
                column=target,
                hint="Choose a column that was released as it is.",
            )
        codes = original.codes[:, j].astype(np.int64)
        return Outcome(target, original.hierarchies[j].leaves, np.arange(original.rows), codes, original.counts)
    counts = table.count([*original.columns, target])
    labels = tuple(sort_values(counts.dictionaries[-1]))
    together = FrequencyTable.build(original.hierarchies, [counts], [Sensitive(target, labels)])
    rows = np.repeat(np.arange(together.rows), np.diff(together.start))
    return Outcome(target, labels, rows, together.values.astype(np.int64), together.value_counts)


def _population(population: Any, schema: Schema, folder: Path, session: Session) -> FrequencyTable:
    quasi = Schema(c for c in schema.values() if c.role == "quasi-identifier")
    with open_table(population, folder, session) as table:
        return count_table(table, quasi.fit_header(table.header, "insensitive", table.name), folder=folder)


def _people(table: Table, pair: Pair, weights: str) -> np.ndarray:
    """How many people of the population each distinct original row stands for."""
    original = pair.original
    check_header(table, [weights], Sentence("the table has no such column"))
    counts = table.count([*original.columns, weights])
    values = counts.dictionaries[-1]
    if None in values:
        raise InputError("missing-values", "a record has no weight", column=weights)
    try:
        numbers = np.array(parse_all(weights, [v for v in values if v is not None]))
    except InputError as error:
        # The column has no role: it may be about who people are.
        raise InputError(error.code, error.message, column=weights, hint=error.hint) from None
    if (numbers <= 0).any():
        raise InputError("bad-weight", "weights must be positive", column=weights, values=numbers[numbers <= 0])
    together = FrequencyTable.build(original.hierarchies, [counts], [Sensitive(weights, values)])
    rows = np.repeat(np.arange(together.rows), np.diff(together.start))
    return np.bincount(rows, weights=together.value_counts * numbers[together.values], minlength=together.rows)
