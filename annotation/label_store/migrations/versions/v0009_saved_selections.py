"""Selections of disagreements that people saved under a name."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Create the list."""
    op.create_table(
        "saved_selections",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("saved_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_saved_selections"),
        sa.ForeignKeyConstraint(["author"], ["users.username"], name="fk_saved_selections_author"),
    )
