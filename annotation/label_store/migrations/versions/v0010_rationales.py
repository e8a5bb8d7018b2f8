"""Rationales: the sentences that an annotator marked, with a rating and with a draft."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    """Add the columns; entries that were written before have none, and keep their hashes."""
    for table in ("ratings", "drafts"):
        op.add_column(table, sa.Column("rationale", sa.Text(), nullable=True))
