"""A table in fuzzy sets: shown and measured before anything is released."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from velado.errors import InputError
from velado.evaluation import Check, Evaluation, Pair, Wanted, evaluate, judge
from velado.hierarchies import Hierarchy
from velado.hierarchies.scale import Scale
from velado.methods import Found, Fuzzy
from velado.models import PrivacyModel
from velado.progress import Progress
from velado.project import Project
from velado.project.arguments import names_of
from velado.questions.evaluate import read_pair, schema_and_models
from velado.release.count import count_table
from velado.results import IF_SET, UNSAID, Result, parts
from velado.schema import Schema
from velado.tables import Session, open_table
from velado.values import ROOT


@dataclass(frozen=True, kw_only=True, repr=False)
class FuzzificationDocument(Evaluation):
    """The JSON of a fuzzification: its evaluation, whose ``after`` is called ``crisp``, and the breaks of intervals."""

    after: Check | None = field(default=None, metadata=UNSAID)
    crisp: Check
    breaks: dict[str, list[float]] = field(default_factory=dict, metadata=IF_SET)


@dataclass(frozen=True, repr=False)
class Fuzzification(Result):
    """Fuzzy sets of a table's quasi-identifiers, and what their labels and memberships achieve.

    ``evaluation.fuzzy`` are the fuzzy measures, ``evaluation.after`` the crisp ones of the labels; ``found.fuzzy`` holds the
    partitions and memberships themselves, which are not part of the JSON. ``breaks`` are those of columns in intervals; the outermost are
    values of single records.
    """

    SCHEMA: ClassVar[str] = "velado-fuzzification-1"
    DOCUMENT: ClassVar[Any] = FuzzificationDocument
    evaluation: Evaluation
    breaks: dict[str, list[float]] = field(default_factory=dict)
    kept: Found | None = None

    @classmethod
    def of(cls, found: Found, models: Sequence[PrivacyModel] = (), progress: Progress | None = None) -> Fuzzification:
        """Measure what the method fuzzy found."""
        pair = Pair.of(found.classes, found.kept, found.covers, found.labels, fuzzy=found.fuzzy)
        assert found.fuzzy is not None
        breaks = {c.columns[0]: c.breaks.tolist() for c in found.fuzzy.codings if c.breaks is not None}
        return cls(evaluate(pair, models, judge(pair, models), Wanted(("privacy",)), progress), breaks, found)

    @property
    def found(self) -> Found:
        """What the method found; an error if this was read from JSON, which does not hold it."""
        if self.kept is None:
            raise InputError(
                "not-in-json",
                "the JSON of a fuzzification does not hold its sets and memberships",
                hint="Make it anew: velado.fuzzify.",
            )
        return self.kept

    @property
    def scales(self) -> dict[str, Scale]:
        """How the numbers of each column are written."""
        return {h.column: h.scale for h in self.found.classes.frequency.hierarchies if h.scale is not None}

    def document(self) -> FuzzificationDocument:
        """The JSON of ``velado fuzzy``."""
        assert self.evaluation.after is not None
        return FuzzificationDocument(**parts(self.evaluation), crisp=self.evaluation.after, breaks=self.breaks)

    @classmethod
    def from_document(cls, document: FuzzificationDocument) -> Fuzzification:
        """Without the partitions and memberships."""
        return cls(Evaluation(**(parts(document, Evaluation) | {"after": document.crisp})), document.breaks)

    def summary(self) -> dict[str, Any]:
        """How many fuzzy classes there are, their Q, and the k of the labels."""
        e = self.evaluation
        fuzzy = {} if e.fuzzy is None else {"fuzzy_classes": e.fuzzy.classes, "q": e.fuzzy.q}
        crisp = {} if e.after is None else {"k of the labels": e.after.k}
        return {"rows": e.rows, "suppressed": e.suppressed, **fuzzy, **crisp, "loss": e.utility.loss}


def fuzzify(
    data: Any,
    quasi_identifiers: str | Sequence[str],
    sensitive: str | Sequence[str] = (),
    *,
    method: Fuzzy | None = None,
    models: Sequence[PrivacyModel] = (),
    progress: Progress | None = None,
) -> Fuzzification:
    """Partition the quasi-identifiers of a table into fuzzy sets and measure; nothing is released.

    ``method`` has three sets of each column if it is not given. With ``models``, records are suppressed as in a
    release, and sets: auto looks for the most sets with which they hold.

    >>> import pyarrow as pa
    >>> people = pa.table({"age": ["21", "23", "25", "61", "64", "66"], "ill": ["a", "b", "a", "b", "a", "b"]})
    >>> seen = fuzzify(people, ["age"], ["ill"], method=Fuzzy(breakpoints={"age": [25, 60]}))
    >>> seen.evaluation.fuzzy.q, seen.evaluation.after.k, seen.found.fuzzy.names["age"]
    (3, 3, ('low', 'high'))
    """
    quasi_identifiers, sensitive = names_of(quasi_identifiers), names_of(sensitive)
    schema, folder, _ = schema_and_models(quasi_identifiers, sensitive, None, None)
    follow = (progress or Progress()).through(open=1, count=2, partition=6, measure=2)
    with open_table(data, session=Session(follow("open"))) as table:
        follow("count")
        frequency = count_table(table, schema.fit_header(table.header, "insensitive", table.name), models, folder)
    found = (method or Fuzzy(sets=3)).search(frequency, models, follow("partition"))
    return Fuzzification.of(found, models, follow("measure"))


def in_words(project: Project, schema: Schema, original: Any, release: Any, session: Session, starred: int | None = None) -> Schema:
    """The columns of a fuzzy release with their labels as hierarchies: every value belongs under one label.

    So an adversary is taken to know where the sets lie. Labels of joint sets, and degrees of membership, may occur in
    several places of a column; then there is no such hierarchy.
    """
    with open_table(original, project.folder, session) as table:
        pair = read_pair(table, release, schema, project.models, project.folder, project.method, session=session, starred=starred)
    changed = []
    for cover in pair.covers:
        labels = cover.label_of_leaf
        if labels is None:
            raise InputError(
                "attack-needs",
                "labels of joint sets and degrees of membership do not say for which values they stand",
                column=cover.column,
                hint="Name the release and its columns instead of the project (--qi, --sensitive).",
            )
        shown = (ROOT if x < 0 else cover.labels[x] for x in labels)
        rows = [[leaf, label, ROOT] for leaf, label in zip(cover.hierarchy.leaves, shown, strict=True)]
        changed.append(replace(schema[cover.column], hierarchy=Hierarchy.from_rows(cover.column, rows)))
    return Schema([*changed, *(schema[name] for name in schema.names("sensitive"))])
