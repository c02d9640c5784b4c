"""The shapes of sources: what they are made from, and what is told of them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from velado.service.web.problems import ProblemPart
from velado.service.web.schemas import Body, Id, Name

SAMPLES = ("hospital", "caoba", "covid_ceara")
"""Built-in tables of invented people."""
Sign = Annotated[str, Field(min_length=1, max_length=1)]
TableText = Annotated[str, Field(min_length=1, max_length=300, pattern=r"^[^\x00]*$")]
Format = Literal["csv", "parquet", "xlsx", "arrow", "duckdb", "sqlite"]


class Options(Body):
    """How a file is read, as in the source of a project file; what is absent is found out from the file."""

    format: Format | None = None
    delimiter: Sign | None = None
    quote: Sign | None = None
    encoding: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.: -]{1,40}$")] | None = None
    sheet: Annotated[str, Field(max_length=200)] | None = None
    missing: Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=100)] | None = None
    header: bool | None = None
    skip: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    names: Literal["unique", "numbered"] | None = None


class NewSource(Body):
    """A table: an upload, a table or query of a connection, or a sample."""

    name: Name
    upload: Id | None = None
    connection: Id | None = None
    table: TableText | None = Field(default=None, description="Of the connection, or of an uploaded database")
    query: Annotated[str, Field(min_length=1, max_length=20_000)] | None = None
    sample: Literal["hospital", "caoba", "covid_ceara"] | None = None
    rows: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(default=None, description="Of the sample")
    options: Options = Options()


class ChangedSource(Body):
    """What is to change; other options are inspected again."""

    name: Name | None = None
    options: Options | None = None


class ColumnAnswer(BaseModel):
    """A column and its type."""

    name: str
    type: str


class SourceAnswer(BaseModel):
    """A table. ``state``: new, ready, failed, deleted; ``job`` is the one that inspects it, ``problem`` why that failed."""

    id: str
    name: str
    kind: str
    state: str
    upload: str | None = None
    connection: str | None = None
    table: str | None = None
    query: str | None = None
    sample: str | None = None
    options: dict[str, Any] = {}
    rows: int | None = None
    columns: list[ColumnAnswer] = []
    job: str | None = None
    problem: ProblemPart | None = None
    owned: bool
    actions: list[str]
    created: datetime
    used: datetime


class UseAnswer(BaseModel):
    """A project that works on a source."""

    id: str
    name: str


class RowsAnswer(BaseModel):
    """A page of rows, cells as texts; null is a missing value."""

    columns: list[str]
    rows: list[list[str | None]]
    offset: int
    total: int | None = None
