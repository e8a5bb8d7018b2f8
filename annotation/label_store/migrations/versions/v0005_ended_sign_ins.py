"""Sign-ins at the identity provider that were ended here: the provider's cookie goes on to name the user."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Create the list."""
    op.create_table(
        "ended_sign_ins",
        sa.Column("sign_in", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("sign_in", name="pk_ended_sign_ins"),
    )
