"""What is told of releases: the answers of their operations."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, Field

Often = list[tuple[int, int]]
"""Different numbers, and how often each occurs."""


class ReleaseEntry(BaseModel):
    """A release. ``state``: made, approved, withdrawn; ``judged_by`` approved or withdrew it."""

    id: str
    project: str
    project_name: str
    job: str
    version: int
    state: str
    created: datetime
    user: str | None
    judged_by: str | None
    judged: datetime | None
    place: dict[str, Any]
    summary: dict[str, Any]
    downloadable: bool = Field(description="Whether its data may be downloaded in its state, by who asks")

    def parts(self) -> dict[str, dict[str, Any]]:
        """The public figures of each table; one table has no name."""
        tables = self.summary.get("tables")
        return tables if isinstance(tables, dict) else {"": self.summary}

    def part(self, table: str | None) -> dict[str, Any]:
        """The public figures of a table, of all of them if it has no such one."""
        return self.parts().get(table or "", self.summary)

    def has_exposed_people(self) -> bool:
        """Whether people are in groups smaller than k by what others know or could know."""
        return exposes(self.summary)


class ReleaseChoice(NamedTuple):
    """A release to choose, without its figures."""

    id: str
    job: str
    version: int
    state: str
    created: datetime


class Judged(ReleaseEntry):
    """A release that was approved or withdrawn; ``notes`` are what is left to do."""

    notes: list[str] = Field(default_factory=list)


class ReportEntry(BaseModel):
    """A file of a report."""

    name: str
    format: str
    language: str
    bytes: int
    created: datetime
    job: str


class ReportsAnswer(BaseModel):
    """The reports of a release."""

    items: list[ReportEntry]


class Page(BaseModel):
    """Some rows of a table: ``total`` is how many there are."""

    columns: list[str]
    rows: list[list[Any]]
    offset: int
    total: int
    masked: bool = False


def exposes(summary: Mapping[str, Any]) -> bool:
    """Whether people of a release, or of a table of it, are in groups smaller than k by what others know or could know."""
    tables = summary.get("tables")
    parts = tables.values() if isinstance(tables, Mapping) else (summary,)
    return any(bool((one.get("exposure") or {}).get("below")) for one in parts)


class SizesAnswer(BaseModel):
    """Class sizes, and how many classes have each."""

    before: Often
    after: Often


class LevelAnswer(BaseModel):
    """The level of a quasi-identifier, a mean where it differs from class to class, and the highest one."""

    level: float | None
    height: int


class ShareAnswer(BaseModel):
    """Records under a label; ``kind``: label (null is a missing value), other, not-released."""

    label: str | None
    kind: Literal["label", "other", "not-released"]
    before: int
    after: int


class ColumnShares(BaseModel):
    """The distribution of a column."""

    column: str
    role: str
    shares: list[ShareAnswer]


class ShownAnswer(BaseModel):
    """A number, or a label of the release; ``kind``: number, label, hidden (a small group has it). ``records`` have it."""

    kind: Literal["number", "label", "hidden"]
    number: float | None = None
    label: str | None = None
    records: int | None = None


class AnswerAnswer(BaseModel):
    """What a numeric column answers; ``name``: min, max, mean (by midpoints), mean-lower, mode, mode-suppressed (which counts
    suppressed records as ``*``)."""

    name: str
    before: ShownAnswer
    after: ShownAnswer


class DistributionsAnswer(BaseModel):
    """Sizes of classes before and after (in people where ``people``), how many different sensitive values classes have, levels,
    records under each label, and of numeric columns their answers and Kolmogorov–Smirnov tests."""

    records: int
    people: bool
    sizes: SizesAnswer
    distinct: dict[str, Often]
    levels: dict[str, LevelAnswer]
    columns: list[ColumnShares]
    answers: dict[str, list[AnswerAnswer]]
    ks: dict[str, dict[str, Any]] = Field(description="As in an evaluation")
