"""New rows beside an earlier release: placed into its classes by its recoding, and judged together with it.

Everybody may hold the earlier release, so its rows cannot be taken back: new rows that would break a model are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from velado.errors import MOST_VALUES, InputError, NoSolution
from velado.frequency import Classes, FrequencyTable, distinct_rows
from velado.frequency.sensitive import sensitive_of
from velado.hierarchies import Hierarchy
from velado.methods.base import reached_levels
from velado.methods.suppression import Suppression, suppression_limit
from velado.models import FUZZY, Verdict, judge_classes
from velado.project import Project
from velado.project.people import ROWS
from velado.recoding import UNKNOWN, Recoding
from velado.release.count import attributes_of, no_rows
from velado.release.fit import Fitted
from velado.release.population import read_population
from velado.release.read_back import count_together, flat_hierarchy, readable, showing, without
from velado.release.treatments import as_released
from velado.results import Discreet
from velado.schema.values import values_of
from velado.sentences import Sentence, join_sentences
from velado.tables import Counts, Table
from velado.tables.header import unknown_column
from velado.tables.sink import GUARDED_FORMATS
from velado.values import ROOT, Text

MISSING = Sentence("(missing)")


@dataclass(frozen=True, repr=False)
class Arriving(Discreet):
    """New rows, counted by the labels that the recoding gives them, once per sensitive attribute.

    Of ``rows`` records ``unplaced`` have values, or combinations of them, that the recoding does not know; ``unseen`` are
    up to five such values of each column.
    """

    counted: list[Counts]
    rows: int
    unplaced: int
    unseen: dict[str, list[str]]


def count_arriving(fitted: Fitted, recoding: Recoding) -> Arriving:
    """Count the new rows where they live; sensitive columns as they will be published."""
    table = as_released(fitted.table, fitted.schema, fitted.project.folder)
    groups = attributes_of(fitted.schema, fitted.project.models) or [()]
    quasi = [c.name for c in recoding.columns]
    counted = [table.count([*quasi, *columns]) for columns in groups]
    rows = int(counted[0].counts.sum())
    if not rows:
        raise no_rows(fitted.table)
    unseen = {
        name: [MISSING if v is None else v for v in values[:MOST_VALUES]] for name, values in recoding.unseen(counted[0]).items()
    }
    labelled = [_label_counts(c, recoding) for c in counted]
    return Arriving(labelled, rows, rows - int(labelled[0].counts.sum()), unseen)


def _label_counts(counts: Counts, recoding: Recoding) -> Counts:
    """The combinations that the recoding knows, with its labels."""
    codes = recoding.label_codes(counts)
    known = (codes != UNKNOWN).all(axis=1)
    width = len(recoding.columns)
    shown = Counts(
        counts.names,
        (*(c.labels for c in recoding.columns), *counts.dictionaries[width:]),
        (*(column.astype(np.int32) for column in codes.T), *counts.codes[width:]),
        counts.counts,
    )
    return without(shown, np.where(known, counts.counts, 0))


def count_earlier(table: Table, fitted: Fitted, recoding: Recoding, guard: bool = True) -> list[Counts]:
    """Count an earlier release by its labels, as `count_arriving` counts the new rows; rows of ``*`` are nobody's.

    ``guard``: in formats of spreadsheets, texts that look like formulas carry an apostrophe.
    """
    groups = attributes_of(fitted.schema, fitted.project.models) or [()]
    quasi = [c.name for c in recoding.columns]
    for name in dict.fromkeys([*quasi, *(c for columns in groups for c in columns)]):
        if name not in table.header:
            raise unknown_column(name, table.header, quasi, table.name, Sentence("the earlier release has no such column"))
    counted = [table.count([*quasi, *columns]) for columns in groups]
    if guard and table.source.kind() in GUARDED_FORMATS:
        counted = [readable(c) for c in counted]
    return [_public_counts(c, recoding, table.name) for c in counted]


def _public_counts(counts: Counts, recoding: Recoding, file: str) -> Counts:
    hidden = showing(counts, counts.names, (ROOT,))
    if len(counts.names) == len(recoding.columns) and all(ROOT in c.labels for c in recoding.columns):
        # Nothing tells a row of * from a record that is fully generalized.
        hidden[:] = False
    counts = without(counts, np.where(hidden, 0, counts.counts))
    for c, dictionary in zip(recoding.columns, counts.dictionaries, strict=False):
        labels = set(c.labels)
        strange = [v for v in dictionary if v not in labels]
        if strange:
            raise InputError(
                "not-corresponding",
                "the earlier release shows values that the recoding does not make",
                file=file,
                column=c.name,
                values=[v for v in strange if v is not None],
                hint="Give the recoding that was saved with this release, and the release as it was written.",
            )
    return counts


def refuse_unseen(arriving: Arriving, recoding: Recoding, file: str) -> None:
    """Refuse new rows that the recoding does not know what to make of."""
    if not arriving.unplaced:
        return
    values = [Sentence("column '{column}': {values}", column=name, values=found) for name, found in arriving.unseen.items()]
    first = Sentence(
        "the recoding does not know what becomes of {rows:,} of {all:,} new rows", rows=arriving.unplaced, all=arriving.rows
    )
    local = recoding.shown is not None
    known = [] if values or not local else [Sentence("their combinations of values were not in the release")]
    raise InputError(
        "unseen-values",
        join_sentences("; ", [first, *values, *known]),
        file=file,
        hint="Leave these rows out (--unseen suppress), let the hierarchies place the values (--unseen place), correct them, or "
        "make a new release of all rows: velado run. Nothing was written.",
        fields={"unseen": arriving.unseen},
    )


@dataclass(frozen=True, repr=False)
class Together(Discreet):
    """Old and new rows as one table of classes, and which classes get their new rows.

    ``whole`` holds all new rows that were placed, ``public`` the earlier release and the new rows that are kept, ``new`` these
    alone. ``classes`` are the codes of the labels of new rows that are kept, ``verdicts`` those on ``public``.
    """

    whole: FrequencyTable
    public: FrequencyTable
    new: FrequencyTable
    classes: np.ndarray
    verdicts: list[Verdict]
    earlier: list[Counts]

    @property
    def released_records(self) -> int:
        """New rows that are kept."""
        return self.new.records


def judge_together(
    fitted: Fitted,
    recoding: Recoding,
    arriving: Arriving,
    earlier: Sequence[Sequence[Counts]],
    limit: Suppression,
    alone: bool = False,
) -> Together:
    """Keep the new rows of classes that satisfy all models with the earlier rows; the rest is suppressed, within a limit.

    Where models compare with the distribution of a sensitive column, it is that of the earlier release and the new rows
    together. ``alone``: the new rows by themselves must satisfy the models, too. What would be public is judged again.
    """
    project, models = fitted.project, fitted.project.models
    before = [count_together(counts) for counts in zip(*earlier, strict=True)]
    both = [count_together([b, c]) for b, c in zip(before, arriving.counted, strict=True)]
    hierarchies = [flat_hierarchy(c.name, both) for c in recoding.columns]
    groups = attributes_of(fitted.schema, models)
    sensitive = [sensitive_of(fitted.schema, g, c, project.folder) for g, c in zip(groups, both, strict=False)]
    whole = _with_populations(FrequencyTable.build(hierarchies, both, sensitive), fitted, recoding)
    good, verdicts = judge_classes(models, whole.judged_columns, Classes.of_rows(whole))
    new = _frequency(whole, arriving.counted)
    kept = good[_rows_in(whole, new)]
    if alone:
        good_alone, verdicts_alone = judge_classes(models, whole.judged_columns, Classes.of_rows(new))
        kept &= good_alone
        verdicts = [*verdicts, *verdicts_alone]
    _check_suppressed(int(new.counts[~kept].sum()), arriving, limit, verdicts)
    chosen = [_of_classes(c, hierarchies, new.codes[kept]) for c in arriving.counted]
    if not chosen[0].counts.sum():
        raise NoSolution(
            "nothing-arrives",
            "none of the new rows can be released: every one would break a model",
            hint=WAIT,
            fields={"reached": reached_levels(verdicts)},
        )
    public = _frequency(whole, [count_together([b, c]) for b, c in zip(before, chosen, strict=True)])
    _, verdicts = judge_classes(models, whole.judged_columns, Classes.of_rows(public))
    _check_public(verdicts)
    left = _frequency(whole, chosen)
    if alone:
        _check_public(judge_classes(models, whole.judged_columns, Classes.of_rows(left))[1])
    return Together(whole, public, left, _label_codes(left, recoding), verdicts, before)


WAIT = Sentence(
    "Allow more suppression, wait until more rows have arrived, or make a new release of all rows: velado run. Nothing was written."
)


def _frequency(whole: FrequencyTable, counted: Sequence[Counts]) -> FrequencyTable:
    """Some of the rows of a table, with its labels, its sensitive values and their distribution."""
    found = FrequencyTable.build(whole.hierarchies, counted, [replace(s, first=0) for s in whole.sensitive])
    return replace(found, populations=whole.populations)


def _rows_in(whole: FrequencyTable, part: FrequencyTable) -> np.ndarray:
    """Which row of the whole each row of a part is."""
    both = np.concatenate([whole.codes, part.codes]).T
    _, row_of = distinct_rows(both, [len(h.leaves) for h in whole.hierarchies])
    return row_of[whole.rows :]


def _of_classes(counts: Counts, hierarchies: Sequence[Hierarchy], classes: np.ndarray) -> Counts:
    """The combinations that are in some classes."""
    codes = np.array([counts.encode_column(h.column, h.encode) for h in hierarchies], dtype=np.int64)
    codes = codes.reshape(len(hierarchies), len(counts.counts))
    _, row_of = distinct_rows(np.concatenate([classes.T, codes], axis=1), [len(h.leaves) for h in hierarchies])
    chosen = np.isin(row_of[len(classes) :], row_of[: len(classes)])
    return without(counts, np.where(chosen, counts.counts, 0))


def _label_codes(frequency: FrequencyTable, recoding: Recoding) -> np.ndarray:
    """The classes of a table by the codes that the recoding gives their labels."""
    codes = np.empty(frequency.codes.shape, dtype=np.int64)
    for j, (c, h) in enumerate(zip(recoding.columns, frequency.hierarchies, strict=True)):
        place: dict[Text, int] = {label: i for i, label in enumerate(c.labels)}
        codes[:, j] = np.array([place[label] for label in h.leaves], dtype=np.int64)[frequency.codes[:, j]]
    return codes


def _with_populations(frequency: FrequencyTable, fitted: Fitted, recoding: Recoding) -> FrequencyTable:
    """With the other tables of people that models compare with; values of the recoding have its labels there."""
    project = fitted.project
    named = dict.fromkeys(path for model in project.models for path in model.populations)
    if not named:
        return frequency
    hierarchies = [
        Hierarchy(c.name, (c.values, c.labels), (np.arange(len(c.values), dtype=np.int32), c.codes.astype(np.int32)))
        for c in recoding.columns
    ]
    records = [dict.fromkeys(c.values, 0) | values_of([fitted.table.count([c.name])], c.name) for c in recoding.columns]
    populations = {path: read_population(path, fitted.schema, hierarchies, records, project.folder) for path in named}
    return replace(frequency, populations=populations)


def _check_suppressed(suppressed: int, arriving: Arriving, limit: Suppression, verdicts: Sequence[Verdict]) -> None:
    allowed = suppression_limit(limit, arriving.rows)
    if suppressed <= allowed:
        return
    broken = list(dict.fromkeys(v.name for v in verdicts if not v.satisfied))
    raise NoSolution(
        "arriving-suppressed",
        Sentence(
            "{suppressed:,} of {rows:,} new rows would have to be suppressed so that old and new rows together satisfy "
            "{models}, and at most {allowed:,} may be",
            suppressed=suppressed,
            rows=arriving.rows,
            models=broken,
            allowed=allowed,
        ),
        hint=WAIT,
        fields={"failing": broken, "nearest": {"suppressed": suppressed, "suppression": suppressed / arriving.rows}},
    )


def _check_public(verdicts: Sequence[Verdict]) -> None:
    """What would be public satisfies every model, rows that were published before included."""
    broken = [v.name for v in verdicts if not v.satisfied]
    if broken:
        raise NoSolution(
            "earlier-breaks",
            Sentence(
                "with the new rows the earlier release does not satisfy {models} any more, and its rows cannot be taken back",
                models=broken,
            ),
            hint="Make a new release of all rows: velado run. Nothing was written.",
            fields={"failing": broken, "reached": reached_levels(verdicts)},
        )


def check_applicable(project: Project, recoding: Recoding) -> None:
    """The recoding is of this project, and says what becomes of rows that it has not seen."""
    project.check_modelled()
    recoding.check_general()
    if project.unit not in (None, ROWS):
        raise InputError(
            "not-on-people",
            "people may have rows in the earlier release, which does not tell whose its rows are",
            column=project.unit,
            hint="Make a new release of all rows: velado run. Or write 'person: rows' if every row is a person.",
        )
    fuzzy = [m.name for m in project.models if m.basis == FUZZY]
    if fuzzy:
        raise InputError(
            "not-reusable",
            Sentence(
                "{models}: memberships in fuzzy sets are not published, so old and new rows cannot be judged together", models=fuzzy
            ),
            hint="Make a new release of all rows: velado run.",
        )
    quasi = {c.name for c in project.columns if c.role == "quasi-identifier"}
    recoded = {c.name for c in recoding.columns}
    if quasi != recoded:
        raise InputError(
            "not-corresponding",
            Sentence(
                "the project and the recoding do not have the same quasi-identifiers: {columns}", columns=sorted(quasi ^ recoded)
            ),
            hint="Give the project of the release that the recoding was saved with.",
        )
