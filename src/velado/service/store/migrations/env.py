"""What Alembic runs: the connection comes from the store."""

from alembic import context

from velado.service.store.tables import Base

if hasattr(context, "config"):
    # Only Alembic, which runs this file, has one.
    context.configure(
        connection=context.config.attributes["connection"], target_metadata=Base.metadata, render_as_batch=True, compare_type=True
    )
    context.run_migrations()
