"""The tables that an attack works on, read and matched when they are needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from velado.attacks import Attacker, Links, Records, Truth, flat, relate_labels
from velado.errors import InputError, suggest
from velado.evaluation import Pair
from velado.evaluation.exposure import Exposure
from velado.evaluation.joint_exposure import JointExposure
from velado.evaluation.matching import fitting
from velado.frequency import Classes, FrequencyTable, Sensitive, distinct_rows
from velado.frequency.sensitive import sensitive_column
from velado.hierarchies import Cover, Hierarchy, build
from velado.methods import Method
from velado.models import PrivacyModel
from velado.questions.evaluate import Both, match_tables, read_both, without_suppressed
from velado.release.column_exposure import expose, group_size, passing
from velado.release.count_joint_exposure import expose_jointly
from velado.release.read_back import readable, showing
from velado.results import Discreet
from velado.schema import Column, Schema
from velado.sentences import Sentence
from velado.tables import ColumnType, Counts, Groups, Plan, Selection, Session, Table, Translation, unknown_column
from velado.tables.formats.formulas import remove_guard
from velado.values import ROOT, Text


@dataclass(frozen=True, repr=False)
class Beside(Discreet):
    """The release and another table, their labels related column by column."""

    release: Records
    other: Records
    covers: tuple[Cover, ...]
    trees: tuple[Hierarchy | None, ...]
    file: str


@dataclass(frozen=True, repr=False)
class Adversary(Discreet):
    """What is known: the release, and perhaps the original, an external table, another release.

    ``method`` and ``models`` are those of a release whose values do not say for which others they stand; ``roles`` are those
    of all columns, where a project says them; ``starred`` rows of the release are known to be suppressed records.
    """

    tables: Mapping[str, Table]
    schema: Schema
    folder: Path
    release: Any
    match: Mapping[str, str]
    identity: str | None
    attacker: Attacker
    session: Session
    method: Method | None = None
    models: Sequence[PrivacyModel] = ()
    roles: Schema | None = None
    starred: int | None = None

    # The release

    @cached_property
    def exposures(self) -> tuple[Exposure, ...]:
        """How far the other columns of the release single records out; what the owner knows is looked at, too.

        Identifiers, whose values an operation replaced, and what hides its values are left out.
        """
        table, known = self.tables["release"], self.roles or self.schema
        quasi, _ = self.columns("release")
        listed = {c.name: replace(c, exposure="") for c in passing(known)}
        others = [name for name in table.header if name in listed or name not in known]
        columns = [listed.get(name, Column(name, "insensitive")) for name in others]
        return expose(table, quasi, columns, self._below, Groups.of(self.classes.sizes, self._below), self._has_stars)

    @cached_property
    def joint(self) -> JointExposure | None:
        """How far all of them do together; None where there is one at most, which says it by itself."""
        if len(self.exposures) < 2:
            return None
        quasi, _ = self.columns("release")
        known = Groups.of(self.classes.sizes, self._below)
        return expose_jointly(self.tables["release"], quasi, self.exposures, known, self._below, starred=self._has_stars)

    @property
    def _below(self) -> int:
        """Groups of fewer are small: the k of the models, or of the release."""
        return max(group_size(self.models), int(self.classes.sizes.min(initial=2)))

    @property
    def _has_stars(self) -> bool:
        return self.tables["release"].count_constant_rows(ROOT) > 0

    @cached_property
    def both(self) -> Both | None:
        """The original and the release, counted, if the original is known."""
        if "original" not in self.tables:
            return None
        table = self.tables["original"]
        models = () if self.method is None else self.models
        return read_both(table, self.release, self.schema, models, self.folder, self.session, self.starred)

    @cached_property
    def pair(self) -> Pair | None:
        """The original and the release matched, if the original is known."""
        if self.both is None:
            return None
        table, progress = self.tables["original"], self.session.progress
        return match_tables(table, self.both, self.models, self.method, None, progress)

    @cached_property
    def classes(self) -> Classes:
        """The classes of the release as it shows them, one per distinct row of labels."""
        if self.pair is not None and self.both is not None:
            release = self.both.release
            return Classes.from_ids(release, np.arange(release.rows), release.rows)
        table = self.tables["release"]
        quasi, sensitive = self.columns("release")
        counted = [readable(table.count([*quasi, *s])) for s in ([[s] for s in sensitive] or [[]])]
        counted, _ = without_suppressed(counted, quasi, table.name)
        labels = [sorted({v for c in counted for v in c.dictionaries[j]}, key=_missing_last) for j in range(len(quasi))]
        hierarchies = [flat(name, x) for name, x in zip(quasi, labels, strict=True)]
        attributes = [self._attribute(s, c) for s, c in zip(sensitive, counted, strict=False)]
        frequency = FrequencyTable.build(hierarchies, counted, attributes)
        return Classes.from_ids(frequency, np.arange(frequency.rows), frequency.rows)

    def _attribute(self, name: str, counts: Counts) -> Sensitive:
        column, values = self.schema[name], list(dict.fromkeys(counts.dictionaries[-1]))
        tree = None
        if column.hierarchy is not None:
            tree = build(name, column.hierarchy, values, format=column.format, folder=self.folder)
        return sensitive_column(column, values, tree)

    @property
    def attributes(self) -> tuple[Sensitive, ...]:
        """The sensitive columns."""
        return tuple(s for s in self.classes.frequency.sensitive if not s.others)

    def columns(self, name: str) -> tuple[list[str], list[str]]:
        """Quasi-identifiers and sensitive columns, which the table must have, in the order of the release."""
        for one in dict.fromkeys(("release", name)):
            table = self.tables[one]
            self.schema.fit_header(table.header, "insensitive", table.name)
        known = self.schema.fit_header(self.tables["release"].header, "insensitive")
        return known.names("quasi-identifier"), known.names("sensitive")

    @property
    def population(self) -> int:
        """Records of the original, if it is known."""
        return self.pair.records if self.pair is not None else 0

    # Hierarchies

    def tree(self, column: str, values: Sequence[Text] = ()) -> Hierarchy | None:
        """The hierarchy of a quasi-identifier, built on the original's values and on others that it can take."""
        described = self.schema[column]
        if described.hierarchy is None:
            return None
        own = None
        if self.pair is not None:
            own = self.pair.original.hierarchies[self.pair.columns.index(column)]
            if own.code.keys() >= set(values):
                return own
        try:
            tree = self._build_hierarchy(described, dict.fromkeys((*(own.leaves if own else ()), *values)))
        except InputError:
            # Values that are no leaves (generalized, or of other people) are read as what they say.
            tree = own or self._build_hierarchy(described, ())
        return None if tree.leaves == (None,) else tree

    def _build_hierarchy(self, column: Column, values: Any) -> Hierarchy:
        return build(column.name, column.hierarchy, list(values), format=column.format, folder=self.folder)

    # The external table

    @cached_property
    def links(self) -> Links:
        """The external table's rows and the classes that fit them."""
        classes = self.classes
        counts = self._external()
        file = self.tables["external"].name
        if not counts.counts.sum():
            raise InputError("no-rows", "the table has a header but no rows", file=file)
        hierarchies = [flat(n, d) for n, d in zip(counts.names, counts.dictionaries, strict=True)]
        external = FrequencyTable.build(hierarchies, [counts])
        covers = []
        for h, shown in zip(external.hierarchies, classes.frequency.hierarchies, strict=True):
            tree = self.tree(h.column, h.leaves)
            labels = [remove_guard(x) for x in shown.leaves]
            covers.append(relate_labels(h.column, labels, h.leaves, tree, file, ignorant=True))
        return Links.between(classes, external, covers, self.session.progress)

    def _external(self, *more: str) -> Counts:
        """The external table counted, its columns under the release's names."""
        table = self.tables["external"]
        quasi = self.classes.frequency.columns
        for name in self.match:
            if name not in (*quasi, self.identity):
                raise InputError(
                    "unknown-column",
                    "'match' names a column that is no quasi-identifier of the release",
                    column=name,
                    hint=suggest(name, quasi),
                )
        names = (*more, *quasi)
        theirs = [self.match.get(name, name) for name in names]
        for name, column in zip(names, theirs, strict=True):
            if column not in table.header:
                raise unknown_column(
                    column,
                    table.header,
                    theirs,
                    table.name,
                    Sentence("the external table has no such column"),
                    Sentence("Say which column it is: --match {name}=COLUMN.", name=name),
                )
        return replace(table.count(theirs), names=names)

    def truth(self) -> Truth | None:
        """Who is who, if an identity column is known in the original and in the external table."""
        if self.identity is None or self.pair is None:
            return None
        original = self.tables["original"]
        if self.identity not in original.header:
            wanted = (self.identity, *self.pair.columns)
            raise unknown_column(self.identity, original.header, wanted, original.name)
        theirs = self._external(self.identity)
        ours = original.count([self.identity, *self.pair.columns])
        there = _people(theirs, self.tables["external"].name)
        here = _people(ours, original.name)
        both = [name for name in there if name in here]
        if self.pair.class_of is not None:
            rows = np.flatnonzero(self.pair.class_of >= 0)
            classes = self._shown_as[self.pair.class_of[rows]]
        else:
            rows, classes = fitting(self.pair.original.codes, self.pair.covers, self.pair.labels, self.session.progress)
        return Truth(
            _rows(self.links.external, theirs)[[there[name] for name in both]],
            _rows(self.pair.original, ours)[[here[name] for name in both]],
            rows,
            classes,
            self.pair.original.rows,
        )

    @property
    def _shown_as(self) -> np.ndarray:
        """The class of the release that each class of the pair is shown as."""
        assert self.pair is not None
        frequency = self.classes.frequency
        shown = [[h.leaves[x] for h, x in zip(frequency.hierarchies, row, strict=True)] for row in frequency.codes]
        number = {tuple(remove_guard(x) for x in labels): i for i, labels in enumerate(shown)}
        texts = self.pair.texts(range(self.pair.released.count))
        return np.array([number[tuple(remove_guard(x) for x in labels)] for labels in texts], dtype=np.int64)

    # Another table beside the release

    def beside(self, name: str, in_order: bool = False) -> Beside:
        """The release and another table as records, counted or in the order of their rows."""
        self.classes  # noqa: B018  (says first what is wrong with the release itself)
        quasi, sensitive = self.columns(name)
        tables = [self.tables["release"], self.tables[name]]
        read = _in_order if in_order else (lambda table, columns: table.count(columns))
        counted = [readable(read(table, [*quasi, *sensitive])) for table in tables]
        for table, counts in zip(tables, counted, strict=True):
            if not counts.counts.sum():
                raise InputError("empty-release", "the release has no records", file=table.name)
        release, other = side_by_side(counted, quasi)
        file = tables[1].name
        trees, covers = [], []
        for j, column in enumerate(quasi):
            tree = self.tree(column, other.labels[j] if name == "original" else ())
            trees.append(tree)
            covers.append(relate_labels(column, release.labels[j], other.labels[j], tree, file))
        return Beside(release, other, tuple(covers), tuple(trees), file)


def _missing_last(value: Text) -> tuple[bool, str]:
    return value is None, value or ""


def _people(counts: Counts, file: str) -> dict[Text, int]:
    """Where each person is; a name that occurs twice does not tell who is meant."""
    if len(set(counts.codes[0].tolist())) < counts.counts.sum() or None in counts.dictionaries[0]:
        raise InputError(
            "not-an-identity",
            "the identity column must have a different value in every row",
            file=file,
            column=counts.names[0],
            hint="Choose a column that says who is meant, such as a number of the person.",
        )
    return {counts.dictionaries[0][code]: i for i, code in enumerate(counts.codes[0].tolist())}


def _rows(frequency: FrequencyTable, counts: Counts) -> np.ndarray:
    """The distinct row of a frequency table that each combination is."""
    codes = np.array([counts.encode_column(h.column, h.encode) for h in frequency.hierarchies])
    both = np.concatenate([frequency.codes.T, codes], axis=1)
    distinct, number = distinct_rows(both, [len(h.leaves) for h in frequency.hierarchies])
    place = np.empty(len(distinct), dtype=np.int64)
    place[number[: frequency.rows]] = np.arange(frequency.rows)
    found: np.ndarray = place[number[frequency.rows :]]
    return found


def _in_order(table: Table, columns: Sequence[str]) -> Counts:
    """One combination per row, in the order of the table, cells as the text that `Table.count` gives."""
    translations = []
    for name in columns:
        if table.type_of(name) is not ColumnType.TEXT:
            (values,) = table.count([name]).dictionaries
            translations.append(Translation(name, values, np.arange(len(values)), values))
    dropped = tuple(c for c in table.header if c not in columns)
    rows = table.fetch(Plan(tuple(translations), Selection(), dropped=dropped))
    kept = [c for c in table.header if c not in dropped]
    dictionaries, codes = [], []
    for name in columns:
        encoded = rows.column(kept.index(name)).combine_chunks().cast("string").dictionary_encode(null_encoding="encode")
        dictionaries.append(tuple(encoded.dictionary.to_pylist()))
        codes.append(encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32))
    return Counts(tuple(columns), tuple(dictionaries), tuple(codes), np.ones(rows.num_rows, dtype=np.int64))


def side_by_side(counted: Sequence[Counts], quasi: Sequence[str]) -> list[Records]:
    """Tables with the same columns as records; combinations of sensitive values have the same code in all."""
    width = len(quasi)
    joint = [np.zeros(len(c.counts), dtype=np.int64) for c in counted]
    spoken: list[tuple[Text, ...]] = [()]
    for s in range(width, len(counted[0].names)):
        words = sorted({v for c in counted for v in c.dictionaries[s]}, key=_missing_last)
        number = {v: i for i, v in enumerate(words)}
        for i, c in enumerate(counted):
            own = np.array([number[v] for v in c.dictionaries[s]], dtype=np.int64)
            joint[i] = joint[i] * len(words) + own[c.codes[s]]
        used, again = np.unique(np.concatenate(joint), return_inverse=True)
        spoken = [(*spoken[u // len(words)], words[u % len(words)]) for u in used]
        joint = np.split(again.ravel(), np.cumsum([len(x) for x in joint])[:-1])
    found = []
    for c, values in zip(counted, joint, strict=True):
        labels, columns = [], []
        for j in range(width):
            words = sorted(set(c.dictionaries[j]), key=_missing_last)
            number = {v: i for i, v in enumerate(words)}
            own = np.array([number[v] for v in c.dictionaries[j]], dtype=np.int64)
            labels.append(tuple(words))
            columns.append(own[c.codes[j]])
        hidden = showing(c, quasi, (ROOT, None))
        if hidden.all():
            hidden = np.zeros(len(hidden), dtype=bool)
        codes = np.array(columns, dtype=np.int64).reshape(width, len(c.counts)).T
        found.append(Records(tuple(quasi), tuple(labels), codes, values, tuple(spoken), c.counts, hidden))
    return found
