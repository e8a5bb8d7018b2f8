"""Alembic's entry: the store passes its open transaction, so a migration is applied completely or not at all."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], transactional_ddl=True)
with context.begin_transaction():
    context.run_migrations()
