"""The access log; accounts that are disabled, signed out or have a one-time password; addresses of sign-in attempts."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

REFUSAL = "access_log is append-only"
PRUNED = "exists (select 1 from access_log where kept_from > old.at)"
"""An entry may go once an entry that stays says from when on entries are kept: so no removal is unlogged."""


def upgrade() -> None:
    """Add the columns, and create the log with its triggers."""
    for name in ("disabled_at", "one_time_until", "last_sign_in_at", "signed_out_at"):
        op.add_column("users", sa.Column(name, sa.Text(), nullable=True))
    op.add_column("attempts", sa.Column("address", sa.Text(), nullable=False, server_default=""))
    op.create_index("ix_attempts_address_at", "attempts", ["address", "at"], unique=False)
    op.create_table(
        "access_log",
        sa.Column("entry", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("kept_from", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("entry", name="pk_access_log"),
    )
    op.create_index("ix_access_log_at", "access_log", ["at"], unique=False)
    # Asked for every entry that is removed, while hardly any entry has a value.
    known = sa.text("kept_from is not null")
    op.create_index("ix_access_log_kept_from", "access_log", ["kept_from"], sqlite_where=known, postgresql_where=known)
    _seal()


def _seal() -> None:
    if op.get_bind().dialect.name == "sqlite":
        raising = f"begin select raise(abort, '{REFUSAL}'); end"
        op.execute(f"create trigger access_log_no_update before update on access_log {raising}")
        op.execute(f"create trigger access_log_no_delete before delete on access_log when not {PRUNED} {raising}")
        return
    raising = f"raise exception '{REFUSAL}'"
    op.execute(f"create function access_log_sealed() returns trigger language plpgsql as $$ begin {raising}; end $$")
    op.execute(
        "create function access_log_kept() returns trigger language plpgsql as "
        f"$$ begin if not {PRUNED} then {raising}; end if; return old; end $$"
    )
    op.execute(
        "create trigger access_log_sealed before update or truncate on access_log "
        "for each statement execute function access_log_sealed()"
    )
    op.execute("create trigger access_log_kept before delete on access_log for each row execute function access_log_kept()")
