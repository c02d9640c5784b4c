"""The parameters of jobs: keys that are not known are refused. Ids of sources, uploads and jobs are texts of 24 signs.

What a parameter means to a model or method is checked where it is used, by what that declares of itself.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

Id = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{24}$")]
ColumnName = Annotated[str, StringConstraints(min_length=1, max_length=300)]
Columns = Annotated[list[ColumnName], Field(max_length=1000)]
TableName = Annotated[str, StringConstraints(max_length=300)]
Level = Annotated[int, Field(ge=0, le=1000)]
Seed = Annotated[int, Field(ge=0, le=2**32 - 1)]
Language = Literal["en", "es", "pt"]
Measure = Literal["privacy", "aggregates", "ks", "queries"]
AnyMeasure = Literal["privacy", "aggregates", "ks", "queries", "subsets"]
ReportFormat = Literal["html", "pdf", "xlsx"]
MOST_SETTINGS = 2000
MOST_LISTED = 2000
MOST_VALUES = 100_000
"""Values of a hierarchy that one answer has."""


class Parameters(BaseModel):
    """What a job is told beside what it is about."""

    model_config = ConfigDict(extra="forbid")


class Nothing(Parameters):
    """No parameters."""


class Run(Parameters):
    """Release a project; with ``levels``, one for every quasi-identifier, exactly this node of the lattice."""

    levels: dict[ColumnName, Level] | None = None


class Explore(Parameters):
    """Look at every node of the lattice; one of more nodes is refused.

    ``table``: which of several. ``method``: as if the project said this one, since not all methods choose a node.
    """

    most_nodes: Annotated[int, Field(ge=1, le=2_000_000)] = 1_000_000
    table: TableName | None = None
    method: str | dict[str, dict[str, Any] | None] | None = None


class Node(Parameters):
    """One node with its classes, at most ``limit``, the smallest first; ``records``: with so many rows of it, as examples.

    ``exploration`` is the job that has looked at all nodes; without it they are looked at anew. ``table``: of several.
    """

    exploration: Id | None = None
    table: TableName | None = None
    levels: dict[ColumnName, Level] | Annotated[list[Level], Field(max_length=1000)]
    l: Annotated[int, Field(ge=1, le=1000)] = 2  # noqa: E741
    offset: Annotated[int, Field(ge=0)] = 0
    limit: Annotated[int, Field(ge=0, le=MOST_LISTED)] = 200
    records: Annotated[int, Field(ge=0, le=20)] = 0


class Evaluate(Parameters):
    """Measure a release anew; what is not asked for is left out. ``population``: a source with the same quasi-identifiers.

    ``table``: which one, of several.
    """

    table: TableName | None = None
    measures: list[AnyMeasure] | None = None
    target: ColumnName | None = None
    population: Id | None = None
    weights: ColumnName | None = None
    fraction: Annotated[float, Field(gt=0, le=1)] | None = None
    l: Annotated[int, Field(ge=1, le=1000)] = 2  # noqa: E741
    queries: Annotated[int, Field(ge=1, le=1_000_000)] = 1000
    seed: Seed = 0


Grid = Annotated[dict[str, Annotated[list[Any], Field(min_length=1, max_length=200)]], Field(max_length=10)]
"""Parameters of models and of the method, with the values to try."""


class _Gridded(Parameters):
    @model_validator(mode="after")
    def _few_enough(self) -> _Gridded:
        count = 1
        for values in (getattr(self, "grid", None) or {}).values():
            count *= len(values)
        if count > MOST_SETTINGS:
            raise ValueError("too many settings for one comparison")
        return self


class Compare(_Gridded):
    """Every combination of values of parameters, searched and measured; nothing is released. ``table``: which one, of several."""

    table: TableName | None = None
    grid: Grid
    measures: list[Measure] = ["ks"]


class Balance(_Gridded):
    """The strongest setting that keeps the conditions, such as ``{"loss": 0.2}``. ``table``: which one, of several."""

    table: TableName | None = None
    conditions: Annotated[dict[str, float], Field(min_length=1, max_length=20)]
    grid: Grid | None = None


class Attack(Parameters):
    """What an adversary can do with a release; ``external`` is a source, ``other`` too, or the job of another release.

    ``table``: which one, of several.
    """

    table: TableName | None = None
    only: list[str] | None = None
    external: Id | None = None
    other: Id | None = None
    match: Annotated[dict[ColumnName, ColumnName], Field(max_length=1000)] = {}
    identity: ColumnName | None = None
    know: Annotated[int, Field(ge=1, le=1000)] = 1
    confidence: Annotated[float, Field(gt=0, le=1)] = 1.0
    factor: Annotated[float, Field(ge=1, le=1_000_000)] = 2.0
    seed: Seed = 0


class Report(Parameters):
    """The report of a release, in some formats and languages; ``table``: of a release of several."""

    formats: Annotated[list[ReportFormat], Field(min_length=1, max_length=3)] = ["html"]
    languages: Annotated[list[Language], Field(min_length=1, max_length=3)] = ["en"]
    grid: Grid | None = None
    table: TableName | None = None


class Check(Parameters):
    """All privacy measures of a table as it is."""

    quasi_identifiers: Annotated[Columns, Field(min_length=1)]
    sensitive: Columns = []
    l: Annotated[int, Field(ge=1, le=1000)] = 2  # noqa: E741
    models: Annotated[list[dict[str, Any]], Field(max_length=50)] = []
    person: ColumnName | None = None
    variants: Literal["fold", "distinct"] = "fold"


class Fuzzify(Parameters):
    """Partition columns into fuzzy sets, and measure; ``method`` are the parameters of the method fuzzy."""

    quasi_identifiers: Annotated[Columns, Field(min_length=1)]
    sensitive: Columns = []
    method: dict[str, Any] = {}
    models: Annotated[list[dict[str, Any]], Field(max_length=50)] = []


class SlotsLike(Parameters):
    """Invented slots: how many, their capacities, and for how many people there must be places."""

    slots: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    people: Annotated[int, Field(ge=0, le=100_000_000)] | None = None
    lowest: Annotated[int, Field(ge=0, le=100_000_000)] | None = None
    highest: Annotated[int, Field(ge=1, le=100_000_000)] | None = None
    seed: Seed | None = None


class Calendar(Parameters):
    """Slots of a calendar: every place at every hour of every day, all of one capacity."""

    places: Annotated[list[ColumnName], Field(min_length=1, max_length=10_000)]
    days: Annotated[list[ColumnName], Field(min_length=1, max_length=1000)]
    hours: Annotated[list[ColumnName], Field(min_length=1, max_length=1000)]
    capacity: Annotated[int, Field(ge=1, le=1_000_000)]


class Appointments(Parameters):
    """Give people appointments. Slots are a source, a calendar, or invented. ``compare``: several planners, nothing given out."""

    quasi_identifiers: Annotated[Columns, Field(min_length=1)]
    slots: Id | Calendar | SlotsLike
    method: str = "best-fit"
    options: dict[str, Any] = {}
    compare: list[str] | bool = False
    k: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    capacity: ColumnName = "capacity"
    slot: ColumnName | None = None
    identifier: ColumnName | None = None
    household: ColumnName | None = None
    fixed: ColumnName | None = None
    admissible: Id | None = None
    match: Annotated[dict[ColumnName, ColumnName], Field(max_length=100)] = {}
    seed: Seed = 0


class Study(Parameters):
    """A published experiment, reproduced."""

    name: Literal["ubb", "unilab", "anonylitics", "oviedo", "ucm"]
    rows: Annotated[int, Field(ge=100, le=5_000_000)] | None = None
    seed: Seed | None = None


class Hierarchy(Parameters):
    """Hierarchies as they are built: of all columns, of one, or of one by another ``description``, which is not saved.

    ``values``: with so many of its values at all levels. ``format``: dates are read so, whatever the project says.
    """

    column: ColumnName | None = None
    description: dict[str, Any] | None = None
    format: str | list[str] | None = None
    table: str | None = None
    values: Annotated[int, Field(ge=0, le=MOST_VALUES)] = 0
    offset: Annotated[int, Field(ge=0)] = 0


class SingledOut(Parameters):
    """How many are alone with their quasi-identifiers, before anything is recoded. ``table``: which one, of several."""

    table: TableName | None = None


class Rows(Parameters):
    """Some rows of a table, all cells as texts."""

    offset: Annotated[int, Field(ge=0)] = 0
    limit: Annotated[int, Field(ge=1, le=1000)] = 100
    sort: ColumnName | None = None
    descending: bool = False
    where: dict[ColumnName, str | None] = {}


class OnConnection(Parameters):
    """About a connection."""

    connection: Id
