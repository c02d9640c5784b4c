"""The audit log: read it, and check that nobody changed it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from velado.service import audit
from velado.service.web.call import Called
from velado.service.web.shapes import Limit, Listed

router = APIRouter(prefix="/audit", tags=["audit"])
Wanted = Annotated[str | None, Query(max_length=200)]


class Line(BaseModel):
    """Who did what with which thing. ``actor`` and ``subject`` are ids."""

    number: int
    created: str
    actor: str
    action: str
    subject: str
    detail: dict[str, Any]
    hash: str


class Checked(BaseModel):
    """What the check found. ``broken``: the first line that was changed, or before which one was taken out or moved.

    Keep ``head`` elsewhere: who takes the last lines away is noticed only by who knows it.
    """

    intact: bool
    lines: int
    broken: int | None
    head: str = Field(description="The hash of the last line that is as it was written")


@router.get("")
def list_lines(
    call: Called,
    limit: Limit = 100,
    after: Annotated[int | None, Query(ge=0, le=2**62, description="`next` of the page before")] = None,
    actor: Wanted = None,
    action: Annotated[
        str | None,
        Query(max_length=200, description="An action such as user.roles, or its beginning up to a dot: user"),
    ] = None,
    subject: Wanted = None,
    since: Annotated[datetime | None, Query(description="Lines from then on; without a zone it is UTC")] = None,
) -> Listed[Line]:
    """Lines of the log, the newest first."""
    call.caller.require("audit.read")
    with call.reading() as db:
        found = audit.page(
            db, limit + 1, before=after, actor=actor, action=action, subject=subject, since=since and _utc(since)
        )
    shown = [Line.model_validate(line, from_attributes=True) for line in found[:limit]]
    return Listed(items=shown, next=str(shown[-1].number) if len(found) > limit else None)


@router.get("/verify")
def verify(call: Called) -> Checked:
    """Follow the chain of hashes from the first line to the last."""
    call.caller.require("audit.read")
    with call.reading() as db:
        found = audit.verify(audit.lines(db), call.service.secrets)
    return Checked(intact=found.broken is None, lines=found.lines, broken=found.broken, head=found.head)


def _utc(moment: datetime) -> datetime:
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        # The first and the last day of the calendar, in another zone.
        return moment.replace(tzinfo=UTC)
