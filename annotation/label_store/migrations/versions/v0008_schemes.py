"""Head-to-head studies: a study's scheme, the reference answer of an item, and the words that a preference can be."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

LEDGERS = ("ratings", "decisions")
WORDS = "'ABSENT', 'CONSISTENT', 'COMPLEMENTARY', 'DIVERGENT', 'CONTRADICTORY', 'A', 'B', 'tie', 'both_bad'"
LABEL = f"label in ({WORDS})"
SIGNIFICANCE = "significance is null or (significance in ('low', 'medium', 'high') and label in ('DIVERGENT', 'CONTRADICTORY'))"


def upgrade() -> None:
    """Add the columns, and let the ledgers of ratings and decisions have the words of a preference."""
    op.add_column("studies", sa.Column("scheme", sa.Text(), nullable=False, server_default="pairs"))
    op.add_column("items", sa.Column("reference", sa.Text(), nullable=True))
    for name in LEDGERS:
        if op.get_bind().dialect.name == "sqlite":
            _rebuild(name)
        else:
            op.drop_constraint(f"ck_{name}_label", name)
            op.create_check_constraint(f"ck_{name}_label", name, LABEL)


def _rebuild(name: str) -> None:
    """Copy a ledger into a table with the new check, because SQLite cannot change one; every entry stays as it is."""
    con = op.get_bind()
    old = sa.Table(name, sa.MetaData(), autoload_with=con)
    new = old.to_metadata(old.metadata, name=f"{name}_new")
    # Some versions of SQLAlchemy reflect checks, others do not.
    new.constraints.difference_update([check for check in new.constraints if isinstance(check, sa.CheckConstraint)])
    new.append_constraint(sa.CheckConstraint(LABEL, name=f"ck_{name}_label"))
    new.append_constraint(sa.CheckConstraint(SIGNIFICANCE, name=f"ck_{name}_significance"))
    new.create(con)
    con.execute(sa.insert(new).from_select(old.columns.keys(), sa.select(old)))
    # The triggers that refuse to change or delete an entry go with the old table.
    op.drop_table(name)
    op.rename_table(new.name, name)
    for action in ("update", "delete"):
        refusal = f"{name} are append-only"
        op.execute(f"create trigger {name}_no_{action} before {action} on {name} begin select raise(abort, '{refusal}'); end")
