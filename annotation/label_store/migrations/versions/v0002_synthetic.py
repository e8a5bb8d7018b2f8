"""Whether a study was drawn from a synthetic run."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Studies that are there already were drawn before it was noted; they say nothing."""
    op.add_column("studies", sa.Column("synthetic", sa.Boolean(), nullable=False, server_default=sa.false()))
