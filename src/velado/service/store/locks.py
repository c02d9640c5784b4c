"""Transactions that go one by one."""

from __future__ import annotations

from sqlalchemy import Connection, func, select
from sqlalchemy.orm import Session


def one_by_one(db: Session | Connection, number: int) -> None:
    """Until the end of the transaction nobody else passes under this number; SQLite has one writer anyway."""
    bind = db.get_bind() if isinstance(db, Session) else db
    if bind.dialect.name == "postgresql":
        db.execute(select(func.pg_advisory_xact_lock(number)))
