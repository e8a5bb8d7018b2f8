"""Whether a study was drawn from a synthetic run."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the column; nobody recorded this for earlier studies, so their pages show no notice."""
    op.add_column("studies", sa.Column("synthetic", sa.Boolean(), nullable=False, server_default=sa.false()))
