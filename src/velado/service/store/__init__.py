"""The store: what the service remembers, in SQLite or PostgreSQL, by SQLAlchemy; Alembic brings it up to date."""

from velado.service.store.store import Store

__all__ = ["Store"]
