"""Pages of lists, newest first: a page begins after the last item of the page before, whatever was added meanwhile."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Select, and_, or_
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.orm import Session as Db

from velado.service.errors import Invalid


def newest(
    db: Db,
    query: Select[Any],
    moment: InstrumentedAttribute[datetime],
    id: InstrumentedAttribute[str],
    limit: int,
    after: str | None,
) -> tuple[list[Any], str | None]:
    """A page of a query by a moment, the newest first, and what ``after`` must be for the next one."""
    if after is not None:
        last, name = _place(after)
        query = query.where(or_(moment < last, and_(moment == last, id < name)))
    found = list(db.scalars(query.order_by(moment.desc(), id.desc()).limit(limit + 1)))
    if len(found) <= limit:
        return found, None
    end: Any = found[limit - 1]
    return found[:limit], f"{getattr(end, moment.key).isoformat()}~{getattr(end, id.key)}"


def _place(after: str) -> tuple[datetime, str]:
    when, _, name = after.partition("~")
    try:
        moment = datetime.fromisoformat(when).astimezone()
    except (ValueError, OverflowError):
        moment = None
    if moment is None or not name.isalnum():
        raise Invalid(
            "bad-request", "'after' is no place in this list", hint="Send the 'next' of the page before.", fields={"path": "after"}
        )
    return moment, name
