"""The ledger of a study's events: what it was created from, and each change of its state.

Like every migration it uses no code of the program, which may have changed since: a store that is migrated years later gets the
same digests.
"""

import hashlib
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

GENESIS_HASH = "0" * 64

SLOT = ("seat_id", "study_id", "item_id", "seat", "calibration", "swapped")
SEALED_COLUMNS = {
    "studies": ("study_id", "title", "names_shown", "seed", "terms", "created_at", "synthetic"),
    "members": ("study_id", "annotator"),
    "items": (
        "item_id", "study_id", "kind", "repeat_of", "question_id", "question", "handbook_a", "handbook_b", "name_a", "name_b",
        "answer_a", "answer_b",
    ),
    "designs": ("study_id", "run_key", "digest", "pairs", "unscored", "plan"),
    "strata": ("study_id", "stratum", "label", "second", "population", "sampled"),
    "verdicts": ("item_id", "study_id", "stratum", "label", "significance", "topic", "reasoning"),
}  # fmt: skip
"""As they are at this revision: the tables of the code may have got more columns since."""


def upgrade() -> None:
    """Create the ledger, and seal the studies that exist as they are now; triggers refuse to change or delete an event."""
    op.create_table(
        "study_events",
        sa.Column("study_id", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("happened_at", sa.Text(), nullable=False),
        sa.Column("previous", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["studies.study_id"], name="fk_study_events_study_id"),
        sa.PrimaryKeyConstraint("study_id", "seq", name="pk_study_events"),
    )
    _make_append_only("study_events")
    for study_id, state in op.get_bind().execute(sa.text("select study_id, state from studies")).all():
        _seal(study_id, state)


def _seal(study_id: str, state: str) -> None:
    """Write the first entry of a study's ledger: the digests of its rows, and its state."""
    con = op.get_bind()
    tables = {name: sa.Table(name, sa.MetaData(), autoload_with=con) for name in (*SEALED_COLUMNS, "seats", "heads")}
    events = sa.Table("study_events", sa.MetaData(), autoload_with=con)
    members = sa.select(sa.func.count()).where(tables["members"].c.study_id == study_id)
    # With two annotators nobody claims items, so who has which one at which position never changes.
    slots = (*SLOT, "annotator", "position") if con.execute(members).scalar_one() == 2 else SLOT
    columns = {**SEALED_COLUMNS, "seats": slots}
    sealed = {name: {"columns": own, "rows": _digests(tables[name], own, study_id)} for name, own in columns.items()}
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    body = _canonical({"tables": sealed, "state": state})
    entry = {"study_id": study_id, "seq": 1, "previous": GENESIS_HASH, "kind": "sealed", "body": body, "happened_at": now}
    entry["hash"] = _sha256(entry)
    con.execute(sa.insert(events).values(entry))
    head = {"study_id": study_id, "ledger": "study_events", "entries": 1, "hash": entry["hash"]}
    con.execute(sa.insert(tables["heads"]).values(head))


def _digests(table: sa.Table, columns: Sequence[str], study_id: str) -> dict[str, str]:
    """Key of each row of the study -> SHA-256 of these columns."""
    keys = [column for column in table.primary_key if column.name != "study_id"] or list(table.primary_key)
    query = sa.select(*keys, *(table.c[name] for name in columns)).where(table.c.study_id == study_id).order_by(*keys)
    return {
        "/".join(row[: len(keys)]): _sha256(dict(zip(columns, row[len(keys) :], strict=True)))
        for row in op.get_bind().execute(query)
    }


def _sha256(value: dict[str, Any]) -> str:
    return hashlib.sha256(_canonical(value).encode()).hexdigest()


def _canonical(value: dict[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _make_append_only(table: str) -> None:
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
