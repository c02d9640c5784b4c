"""How many bytes documents take, whose turn it is, and where the audit log ends."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

NO_REPLACE = (
    "CREATE TRIGGER audit_no_replace BEFORE INSERT ON audit WHEN EXISTS (SELECT 1 FROM audit WHERE number = NEW.number) "
    "BEGIN SELECT RAISE(ABORT, 'append only'); END"
)
"""SQLite replaces a line without asking the triggers of deletions; PostgreSQL asks those of changes."""


def upgrade() -> None:
    """Forwards."""
    for table in ("versions", "jobs"):
        op.add_column(table, sa.Column("bytes", sa.BigInteger(), nullable=False, server_default="0"))
        op.execute(f"UPDATE {table} SET bytes = coalesce(length(CAST(document AS TEXT)), 0)")
    op.create_index(op.f("ix_versions_user_id"), "versions", ["user_id"])
    op.drop_index(op.f("ix_jobs_user_id"), "jobs")
    op.create_index(op.f("ix_jobs_user_id_jobs_quick_jobs_started"), "jobs", ["user_id", "quick", "started"])
    op.create_table(
        "audit_head",
        sa.Column("id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("seal", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_head")),
    )
    if op.get_bind().dialect.name == "sqlite":
        op.execute(NO_REPLACE)
