"""The audit log: read it, and check that nobody changed it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query

from velado.service.admin import operations
from velado.service.admin.operations import Checked, Line
from velado.service.web.call import Called
from velado.service.web.schemas import Limit, Listed

router = APIRouter(prefix="/audit", tags=["audit"])
Wanted = Annotated[str | None, Query(max_length=200)]


@router.get("")
def list_lines(
    call: Called,
    limit: Limit = 100,
    after: Annotated[int | None, Query(ge=0, le=2**62, description="`next` of the page before")] = None,
    actor: Wanted = None,
    action: Annotated[
        str | None, Query(max_length=200, description="An action such as user.roles, or its beginning up to a dot: user")
    ] = None,
    subject: Wanted = None,
    since: Annotated[datetime | None, Query(description="Lines from then on; without a zone it is UTC")] = None,
) -> Listed[Line]:
    """Lines of the log, the newest first."""
    return operations.list_lines(call, limit, after, actor=actor, action=action, subject=subject, since=since)


@router.get("/verify")
def verify(call: Called) -> Checked:
    """Follow the chain of hashes from the first line to the last."""
    return operations.verify_log(call)
