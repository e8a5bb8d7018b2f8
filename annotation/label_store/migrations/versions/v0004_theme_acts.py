"""Theme edits: what people change about the taxonomy of a run, edit by edit."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Create the ledger and its heads; triggers refuse to change or delete an edit."""
    op.create_table(
        "theme_heads",
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("ledger", sa.Text(), nullable=False),
        sa.Column("entries", sa.Integer(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("run", "ledger", name="pk_theme_heads"),
    )
    op.create_table(
        "theme_acts",
        sa.Column("run", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("undoes", sa.Integer(), nullable=True),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("made_at", sa.Text(), nullable=False),
        sa.Column("taxonomy", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("previous", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.CheckConstraint("(kind = 'undo') = (undoes is not null)", name="ck_theme_acts_undo"),
        sa.CheckConstraint("undoes is null or undoes < seq", name="ck_theme_acts_order"),
        sa.ForeignKeyConstraint(["author"], ["users.username"], name="fk_theme_acts_author"),
        sa.ForeignKeyConstraint(["run", "undoes"], ["theme_acts.run", "theme_acts.seq"], name="fk_theme_acts_undoes"),
        sa.PrimaryKeyConstraint("run", "seq", name="pk_theme_acts"),
        sa.UniqueConstraint("run", "key", name="uq_theme_acts_run_key"),
    )
    _seal("theme_acts")


def _seal(table: str) -> None:
    refusal = f"{table} are append-only"
    if op.get_bind().dialect.name == "sqlite":
        for action in ("update", "delete"):
            op.execute(
                f"create trigger {table}_no_{action} before {action} on {table} begin select raise(abort, '{refusal}'); end"
            )
        return
    op.execute(
        f"create function {table}_sealed() returns trigger language plpgsql as $$ begin raise exception '{refusal}'; end $$"
    )
    op.execute(
        f"create trigger {table}_sealed before update or delete or truncate on {table} "
        f"for each statement execute function {table}_sealed()"
    )
