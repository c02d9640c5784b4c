"""What is told of explorations: the answers of their operations."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from velado.service.web.schemas import Listed

Figure = float | int | str | None
"""A number, null if there is none; for who may not read records "fewer than 3", and null for what tells of such a count."""


class ExplorationEntry(BaseModel):
    """An exploration in a list: the job that made it, or makes it."""

    id: str
    version: int | None
    state: str
    created: datetime
    finished: datetime | None
    table: str | None = Field(None, description="Which one, of several")
    nodes: int | None = None
    counts: dict[str, int] = Field(default_factory=dict)


class ExplorationAnswer(ExplorationEntry):
    """What an exploration is about. ``levels`` is how many each column has, ``limit`` how many records may be suppressed."""

    columns: list[str]
    levels: list[int]
    rows: int
    limit: int
    objective: str
    method: str | None = Field(None, description="With which method it was explored")
    person: str | None = None
    models: list[dict[str, Any]]
    labels: dict[str, list[int]] = Field(default_factory=dict, description="Labels of each column at each level")
    optimal: list[int] | None = Field(None, description="The levels of the best node")
    masked: bool = Field(description="Whether small counts are left out for who asks")


class NodeEntry(BaseModel):
    """A node: its levels, and what a release at them would be."""

    levels: list[int]
    height: int
    status: str
    minimal: bool
    objective: Figure
    loss: Figure
    suppressed: Figure
    share: Figure
    classes: Figure
    smallest: Figure
    largest: Figure
    average: Figure
    k: Figure
    highest_risk: Figure
    average_risk: Figure
    achieved: dict[str, Figure]
    reached: dict[str, Figure]


class NodeList(Listed[NodeEntry]):
    """Some nodes."""

    total: int = Field(description="How many there are on all pages")


class NodeColumns(BaseModel):
    """All nodes as arrays, an element for each node in lexicographic order of the level vectors (`format=columns`).

    Figures have six significant digits, `achieved(…)` and `reached(…)` are those of models. Null: there is none, or it is hidden
    from who may not read records.
    """

    nodes: int
    columns: list[str]
    sizes: list[int] = Field(description="How many levels each column has")
    statuses: list[str] = Field(description="The statuses, best first")
    height: list[int] = Field(default_factory=list)
    status: list[int] = Field(default_factory=list, description="The place of its status in `statuses`")
    minimal: list[int] = Field(default_factory=list, description="1: no finer node satisfies")
    levels: dict[str, list[int]] = Field(default_factory=dict, description="By column")
    figures: dict[str, list[float | int | None]] = Field(default_factory=dict)
    small: dict[str, list[int]] = Field(
        default_factory=dict, description="By figure, for who may not read records: 1 where it is hidden for being small"
    )


class PathAnswer(BaseModel):
    """A shortest way between two nodes, and their distance vector."""

    start: list[int]
    end: list[int]
    vector: list[int]
    length: int
    comparable: bool
    paths: int
    nodes: list[list[int]]
