"""An index of assignments without a rating."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Find the next task without scanning those already rated."""
    unrated = sa.text("current is null")
    columns = ["study_id", "annotator", "calibration", "position"]
    op.create_index("ix_seats_unrated", "seats", columns, sqlite_where=unrated, postgresql_where=unrated)
