"""An index of the seats without a rating."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """The next task is found without reading past every rated one."""
    unrated = sa.text("current is null")
    columns = ["study_id", "annotator", "calibration", "position"]
    op.create_index("ix_seats_unrated", "seats", columns, sqlite_where=unrated, postgresql_where=unrated)
