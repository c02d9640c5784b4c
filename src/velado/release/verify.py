"""Sixth step: verification of a release from what was written.

The output is read back and counted anew; nothing of the search is trusted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from velado.errors import InputError, Note, VeladoError, VerificationError
from velado.evaluation import Pair
from velado.evaluation.exposure import Exposure
from velado.evaluation.joint_exposure import JointExposure
from velado.frequency import Classes, FrequencyTable
from velado.models import PrivacyModel, Verdict, all_verdicts, crisp_models
from velado.models.base import Judging
from velado.operations import Treatment
from velado.progress import Progress
from velado.release.column_exposure import expose, group_size, passing
from velado.release.count_joint_exposure import expose_jointly
from velado.release.people import count_people, shown_people
from velado.release.plan import Planned
from velado.release.read_back import (
    Contents,
    contents_of,
    contents_of_pair,
    count_release,
    count_together,
    readable,
    release_frequency,
    spellings,
    without_starred,
)
from velado.results import Discreet
from velado.schema import Column
from velado.sentences import Sentence
from velado.spelling_variants import SpellingVariants
from velado.tables import Counts, Groups, Slot, Stage, Table
from velado.values import ROOT, Text

PLACES = ("connection-lost", "disk-full", "table-locked", "timed-out")
"""What goes wrong with the place of a release, and not with the release."""


@dataclass(frozen=True, repr=False)
class Expected(Discreet):
    """What a release must hold: its columns, how many records, how many suppressed ones as rows of ``*``.

    ``original`` gives the distribution of the whole input; ``guarded``: texts that look like formulas carry an
    apostrophe. Classes are counted in several ``passes`` where they do not all fit in memory. ``contents`` are those of the classes, where more than the models depends on
    them; ``beside`` counts what is published already and is judged together with the release, ``complete`` says whether no
    record of the input is lacking, where the numbers do not; ``sizes`` says how many classes of each size there must be, where that is known; ``people`` how many different ones of
    the column ``person`` each class has by its labels, where people have several rows; ``passing`` are the columns that are published without being
    recoded; of a release that was made ``in_parts`` nobody knows yet how many different labels its columns have;
    ``allowance``: the share of people that may be exposed by all that is published.
    """

    header: Sequence[str]
    treatments: Sequence[Treatment]
    original: FrequencyTable
    models: Sequence[PrivacyModel]
    released: int
    starred: int = 0
    guarded: bool = False
    passes: int = 1
    contents: Contents | None = None
    sizes: Counter[int] | None = None
    people: Mapping[tuple[Text, ...], int] | None = None
    person: str | None = None
    passing: Sequence[Column] = ()
    beside: Sequence[Counts] = ()
    complete: bool | None = None
    in_parts: bool = False
    allowance: float = 0.0


@dataclass(frozen=True, repr=False)
class Verified(Discreet):
    """What reading a release back gave: the verdicts, how many classes of each size there are, the spelling variants by column,
    and all that is ``spelled`` in the sensitive ones.

    ``pair`` is the original and what became of it, in the classes that were found; ``exposures`` says how far other
    published columns single records out, ``joint`` how far all do together; ``labels`` counts the different ones of each quasi-identifier, where that was asked.
    """

    verdicts: list[Verdict] = field(default_factory=list)
    sizes: Counter[int] = field(default_factory=Counter)
    variants: dict[str, SpellingVariants] = field(default_factory=dict)
    spelled: Mapping[str, set[Text]] = field(default_factory=dict)
    pair: Pair | None = None
    exposures: tuple[Exposure, ...] = ()
    joint: JointExposure | None = None
    labels: Mapping[str, int] = field(default_factory=dict)


def verify(planned: Planned, stage: Stage, slot: Slot, progress: Progress) -> Verified:
    """Read a release back and check it against every model and operation, or raise `VerificationError`."""
    if planned.found is None:
        return verify_operations(planned, stage, slot)
    found, models, guarded = planned.found, planned.project.models, slot.sink.is_guarded
    fuzzy = None if found.fuzzy is None else found.fuzzy.classes
    pair = Pair.of(found.classes, found.kept, found.covers, found.labels, planned.starred_records, found.fuzzy)
    pair = count_people(planned.table, pair, planned.person)
    expected = Expected(
        header=planned.header,
        treatments=planned.treatments,
        original=found.classes.frequency,
        models=models if fuzzy is None else crisp_models(models),
        released=planned.rows - planned.suppressed_records,
        starred=planned.starred_records,
        guarded=guarded,
        # Memberships are not written: fuzzy models are judged on those of the records whose classes were verified.
        contents=None if fuzzy is None and pair.people is None else contents_of_pair(pair),
        people=shown_people(pair),
        person=planned.person,
        sizes=Counter(pair.shown_sizes.tolist()),
        passing=passing(planned.fitted.schema),
        allowance=planned.project.allowance,
    )
    verified = verify_written(stage, slot, expected, planned.table.memory, progress)
    pair = replace(pair, spelled=verified.spelled)
    return replace(verified, verdicts=all_verdicts(models, verified.verdicts, fuzzy), pair=pair)


def verify_written(stage: Stage, slot: Slot, expected: Expected, memory: int, progress: Progress) -> Verified:
    """Judge what was written, with no more memory than so many bytes."""
    try:
        with stage.read_back(slot, memory) as table:
            return _judge_release(table, expected, progress)
    except InputError as error:
        raise unreadable(error) from None


def unreadable(error: InputError) -> VeladoError:
    """The error of a release that cannot be read back, unless the place where it is explains that."""
    if error.code in PLACES:
        return error
    return verification_error(Sentence("it cannot be read back ({code})", code=error.code))


def _judge_release(table: Table, expected: Expected, progress: Progress) -> Verified:
    if list(table.header) != list(expected.header):
        raise verification_error(Sentence("its columns are not the expected ones"))
    if expected.starred and table.count_constant_rows(ROOT) < expected.starred:
        raise no_stars()
    complete = expected.complete
    if complete is None:
        complete = expected.released == expected.original.records
    for treatment in expected.treatments:
        _check_treated(table, treatment, complete, expected.guarded, expected.starred)
    judging: Judging | None = None
    sizes: Counter[int] = Counter()
    spelled: dict[str, set[Text]] = {s.column: set() for s in expected.original.sensitive}
    for number in range(expected.passes):
        progress.at(number, expected.passes)
        counted = count_release(table, expected.original, (number, expected.passes))
        if expected.guarded:
            counted = [readable(c) for c in counted]
        if expected.starred:
            left = [without_starred(c, expected.starred) for c in counted]
            counted = [c for c in left if c is not None]
            if len(counted) < len(left):
                raise no_stars()
        if expected.beside:
            counted = [count_together([b, c]) for b, c in zip(expected.beside, counted, strict=True)]
        for column, values in spellings(expected.original, counted).items():
            spelled[column] |= values
        frequency = release_frequency(expected.original, counted)
        sizes.update(frequency.counts.tolist())
        if expected.people is not None and expected.person is not None:
            frequency = frequency.with_people(expected.person, _people(frequency, expected.people))
        judging = judging or Judging(expected.models, frequency.judged_columns)
        judging.add(Classes.of_rows(frequency))
        if expected.contents is not None and contents_of(frequency) != expected.contents:
            raise verification_error(Sentence("its classes are not the expected ones"))
    total = sum(size * times for size, times in sizes.items())
    if total != expected.released:
        raise verification_error(
            Sentence("it holds {records} records instead of {expected}", records=total, expected=expected.released)
        )
    if expected.sizes is not None and sizes != expected.sizes:
        raise verification_error(Sentence("its classes do not have the expected sizes"))
    assert judging is not None
    verdicts = judging.verdicts()
    broken = [v.name for v in verdicts if not v.satisfied]
    if broken:
        raise verification_error(Sentence("it does not satisfy {models}", models=broken))
    variants = {s.column: s.variants.within(spelled[s.column]) for s in expected.original.sensitive}
    k, quasi, starred = group_size(expected.models), expected.original.columns, bool(expected.starred)
    known = groups_of(sizes, k)
    exposures = expose(table, quasi, expected.passing, k, known, starred, expected.passes, expected.allowance)
    joint = expose_jointly(table, quasi, exposures, known, k, expected.allowance, starred, expected.passes)
    variants = {c: found for c, found in variants.items() if found}
    labels = _different(table, expected.original.columns, expected.passes) if expected.in_parts else {}
    return Verified(verdicts, sizes, variants, spelled, exposures=exposures, joint=joint, labels=labels)


def groups_of(sizes: Mapping[int, int], k: int) -> Groups:
    """The groups of so many classes of each size."""
    found = np.repeat(np.array([*sizes], dtype=np.int64), [*sizes.values()])
    return Groups.of(found, k)


def _different(table: Table, columns: Sequence[str], lots: int) -> dict[str, int]:
    """How many different labels each column shows, a missing value being one."""
    groups = table.groups([[c] for c in columns], [0] * len(columns), lots=lots)
    return {c: found.number + table.lacks(c) for c, found in zip(columns, groups, strict=True)}


def _people(release: FrequencyTable, people: Mapping[tuple[Text, ...], int]) -> np.ndarray:
    """The people of each class that was written; none where such a class was not expected."""
    labels = [h.leaves for h in release.hierarchies]
    return np.array(
        [people.get(tuple(x[c] for x, c in zip(labels, row, strict=True)), 0) for row in release.codes.tolist()], dtype=np.int64
    )


def variants_notes(variants: Mapping[str, SpellingVariants]) -> tuple[Note, ...]:
    """What was folded in a release, without the values."""
    return tuple(
        Note(
            "variants-folded",
            Sentence(
                "{spellings:,} spellings of {values:,} value(s) were judged as one value each; 'variants: distinct' tells them apart",
                spellings=found.spellings,
                values=len(found.groups),
            ),
            column,
        )
        for column, found in variants.items()
    )


def verify_operations(planned: Planned, stage: Stage, slot: Slot) -> Verified:
    """Check that a written table has its columns and records, and that every operation was applied."""
    try:
        with stage.read_back(slot) as table:
            if list(table.header) != planned.header:
                raise verification_error(Sentence("its columns are not the expected ones"))
            if table.rows() != planned.rows:
                raise verification_error(
                    Sentence("it holds {records} records instead of {expected}", records=table.rows(), expected=planned.rows)
                )
            for treatment in planned.treatments:
                _check_treated(table, treatment, complete=True, guarded=slot.sink.is_guarded)
            shown = [c for c in passing(planned.fitted.schema, light=True) if c.name in planned.header]
            return Verified(exposures=expose(table, (), shown, group_size(()), Groups(table.rows(), 0, 0, 1)))
    except InputError as error:
        raise unreadable(error) from None


def _check_treated(table: Table, treatment: Treatment, complete: bool, guarded: bool, starred: int = 0) -> None:
    if treatment.column not in table.header:
        return
    records = column_records(table, treatment.column, guarded, starred)
    if records.get(ROOT, 0) < 0:
        raise no_stars()
    problem = treatment.problem(records, complete)
    if problem:
        raise verification_error(problem)


def column_records(table: Table, column: str, guarded: bool, starred: int = 0) -> dict[Text, int]:
    """How often each value of a column occurs, beside the ``*`` of suppressed records."""
    counts = table.count([column])
    counts = readable(counts) if guarded else counts
    records: Counter[Text] = Counter()
    for code, n in zip(counts.codes[0], counts.counts, strict=True):
        records[counts.dictionaries[0][code]] += int(n)
    records[ROOT] -= starred
    return {value: n for value, n in records.items() if n}


def no_stars() -> VerificationError:
    """The error of a release whose suppressed records still show something, in whatever column."""
    return verification_error(Sentence("it does not hold the suppressed records as rows of *"))


def verification_error(reason: str) -> VerificationError:
    """The error of a release that is not what it should be."""
    return VerificationError(
        "verification-failed",
        Sentence("the written release did not pass verification: {reason}; it was removed", reason=reason),
        hint="Nothing was published. Please report this as a bug.",
    )
