"""What bodies and answers have in common."""

from __future__ import annotations

from typing import Annotated, Generic, TypeVar

from fastapi import Query
from pydantic import BaseModel, ConfigDict, StringConstraints

T = TypeVar("T")

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")]
"""A name that people give: one line."""
Id = Annotated[str, StringConstraints(max_length=64)]
"""An id in a body; whether there is such a thing is looked up."""


class Body(BaseModel):
    """What a caller sends: keys that are not known are refused."""

    model_config = ConfigDict(extra="forbid")


class Listed(BaseModel, Generic[T]):
    """A page of a list. ``next`` is what ``after`` must be for the next one; null: this is the last."""

    items: list[T]
    next: str | None = None


Limit = Annotated[int, Query(ge=1, le=500, description="Items of a page")]
After = Annotated[str | None, Query(max_length=200, description="`next` of the page before")]
