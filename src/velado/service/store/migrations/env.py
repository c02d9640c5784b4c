"""What Alembic runs: the connection comes from the store."""

from alembic import context

from velado.service.store.tables import Base

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=Base.metadata, render_as_batch=True, compare_type=True)
context.run_migrations()
