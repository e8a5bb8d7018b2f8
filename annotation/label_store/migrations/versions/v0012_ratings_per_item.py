"""How many annotators rate each item; two in every study that exists."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Add the column."""
    op.add_column("studies", sa.Column("ratings_per_item", sa.Integer(), nullable=False, server_default="2"))
