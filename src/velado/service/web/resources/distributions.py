"""How records and values of a release are distributed, before and after: what its charts are drawn from."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from velado.service import releases
from velado.service.releases import release_of
from velado.service.web.call import Called

router = APIRouter(tags=["releases"])
Private = Annotated[bool, Query(description="With what only owners and editors may know")]
OneTable = Annotated[str | None, Query(max_length=300, description="Which table, of a release of several")]
Often = list[tuple[int, int]]
"""Different numbers, and how often each occurs."""


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


@router.get("/releases/{id}/distributions")
def read_distributions(call: Called, id: str, private: Private = False, table: OneTable = None) -> DistributionsAnswer:
    """How records and values are distributed, as everybody may know it; private: with suppressed records and small groups.

    A release that was made part by part, or light, has none.
    """
    if private:
        with call.writing() as db:
            release = release_of(db, call.caller, id, "release.private")
            found = releases.figures(db, call.service.files, release, table, "shape")["whole"]
            call.audit(db, "release.private", release.id, what="distributions")
    else:
        with call.reading() as db:
            release = release_of(db, call.caller, id, "release.read")
            releases.check_evidence(db, call.caller, release, call.settings(db))
            found = releases.figures(db, call.service.files, release, table, "shape")["public"]
    return DistributionsAnswer(**found)
