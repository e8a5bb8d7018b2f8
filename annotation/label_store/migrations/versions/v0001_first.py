"""Studies, seats, ratings, decisions, accounts; and apart from them the designs and verdicts."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

APPEND_ONLY = ("ratings", "decisions")


def upgrade() -> None:
    """Make every table, and let nobody change or delete a rating or a decision."""
    _tables()
    for table in APPEND_ONLY:
        _seal(table)


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


def _tables() -> None:
    op.create_table(
        "attempts",
        sa.Column("attempt", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("username", sa.Text(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("failed", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("attempt", name="pk_attempts"),
    )
    op.create_index("ix_attempts_at", "attempts", ["at"], unique=False)
    op.create_index("ix_attempts_username_at", "attempts", ["username", "at"], unique=False)
    op.create_table(
        "studies",
        sa.Column("study_id", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("names_shown", sa.Boolean(), nullable=False),
        sa.Column("seed", sa.Integer(), nullable=False),
        sa.Column("terms", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.CheckConstraint("state in ('calibration', 'labelling', 'adjudication', 'closed')", name="ck_studies_state"),
        sa.PrimaryKeyConstraint("study_id", name="pk_studies"),
    )
    op.create_table(
        "users",
        sa.Column("username", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("password_hash", sa.Text(), nullable=True),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.CheckConstraint("role in ('viewer', 'annotator', 'adjudicator', 'pi')", name="ck_users_role"),
        sa.PrimaryKeyConstraint("username", name="pk_users"),
    )
    op.create_table(
        "heads",
        sa.Column("study_id", sa.Text(), nullable=False),
        sa.Column("ledger", sa.Text(), nullable=False),
        sa.Column("entries", sa.Integer(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["studies.study_id"], name="fk_heads_study_id"),
        sa.PrimaryKeyConstraint("study_id", "ledger", name="pk_heads"),
    )
    op.create_table(
        "items",
        sa.Column("item_id", sa.Text(), nullable=False),
        sa.Column("study_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("repeat_of", sa.Text(), nullable=True),
        sa.Column("question_id", sa.Text(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("handbook_a", sa.Text(), nullable=False),
        sa.Column("handbook_b", sa.Text(), nullable=False),
        sa.Column("name_a", sa.Text(), nullable=False),
        sa.Column("name_b", sa.Text(), nullable=False),
        sa.Column("answer_a", sa.Text(), nullable=False),
        sa.Column("answer_b", sa.Text(), nullable=False),
        sa.CheckConstraint("(kind = 'repeat') = (repeat_of is not null)", name="ck_items_repeat"),
        sa.CheckConstraint("kind in ('calibration', 'study', 'repeat')", name="ck_items_kind"),
        sa.ForeignKeyConstraint(["repeat_of"], ["items.item_id"], name="fk_items_repeat_of"),
        sa.ForeignKeyConstraint(["study_id"], ["studies.study_id"], name="fk_items_study_id"),
        sa.PrimaryKeyConstraint("item_id", name="pk_items"),
    )
    op.create_index("ix_items_study_id", "items", ["study_id"], unique=False)
    op.create_table(
        "members",
        sa.Column("study_id", sa.Text(), nullable=False),
        sa.Column("annotator", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["annotator"], ["users.username"], name="fk_members_annotator"),
        sa.ForeignKeyConstraint(["study_id"], ["studies.study_id"], name="fk_members_study_id"),
        sa.PrimaryKeyConstraint("study_id", "annotator", name="pk_members"),
    )
    op.create_table(
        "sessions",
        sa.Column("token_hash", sa.Text(), nullable=False),
        sa.Column("username", sa.Text(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["username"], ["users.username"], name="fk_sessions_username"),
        sa.PrimaryKeyConstraint("token_hash", name="pk_sessions"),
    )
    op.create_index("ix_sessions_expires_at", "sessions", ["expires_at"], unique=False)
    op.create_table(
        "decisions",
        sa.Column("study_id", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("item_id", sa.Text(), nullable=False),
        sa.Column("adjudicator", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("significance", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("decided_at", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("previous", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "label in ('ABSENT', 'CONSISTENT', 'COMPLEMENTARY', 'DIVERGENT', 'CONTRADICTORY')", name="ck_decisions_label"
        ),
        sa.CheckConstraint(
            "significance is null or (significance in ('low', 'medium', 'high') and label in ('DIVERGENT', 'CONTRADICTORY'))",
            name="ck_decisions_significance",
        ),
        sa.ForeignKeyConstraint(["adjudicator"], ["users.username"], name="fk_decisions_adjudicator"),
        sa.ForeignKeyConstraint(["item_id"], ["items.item_id"], name="fk_decisions_item_id"),
        sa.ForeignKeyConstraint(["study_id"], ["studies.study_id"], name="fk_decisions_study_id"),
        sa.PrimaryKeyConstraint("study_id", "seq", name="pk_decisions"),
        sa.UniqueConstraint("item_id", "revision", name="uq_decisions_item_id_revision"),
        sa.UniqueConstraint("study_id", "key", name="uq_decisions_study_id_key"),
    )
    op.create_table(
        "seats",
        sa.Column("seat_id", sa.Text(), nullable=False),
        sa.Column("study_id", sa.Text(), nullable=False),
        sa.Column("item_id", sa.Text(), nullable=False),
        sa.Column("seat", sa.Text(), nullable=False),
        sa.Column("calibration", sa.Boolean(), nullable=False),
        sa.Column("annotator", sa.Text(), nullable=True),
        sa.Column("position", sa.Integer(), nullable=True),
        sa.Column("swapped", sa.Boolean(), nullable=False),
        sa.Column("current", sa.Integer(), nullable=True),
        sa.Column("visit", sa.Text(), nullable=True),
        sa.Column("opened_at", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["item_id"], ["items.item_id"], name="fk_seats_item_id"),
        sa.ForeignKeyConstraint(["study_id", "annotator"], ["members.study_id", "members.annotator"], name="fk_seats_member"),
        sa.ForeignKeyConstraint(["study_id"], ["studies.study_id"], name="fk_seats_study_id"),
        sa.PrimaryKeyConstraint("seat_id", name="pk_seats"),
        sa.UniqueConstraint("item_id", "annotator", name="uq_seats_item_id_annotator"),
        sa.UniqueConstraint("item_id", "seat", name="uq_seats_item_id_seat"),
        sa.UniqueConstraint(
            "study_id", "annotator", "calibration", "position", name="uq_seats_study_id_annotator_calibration_position"
        ),
    )
    op.create_table(
        "drafts",
        sa.Column("seat_id", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=True),
        sa.Column("significance", sa.Text(), nullable=True),
        sa.Column("flagged", sa.Boolean(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("saved_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["seat_id"], ["seats.seat_id"], name="fk_drafts_seat_id"),
        sa.PrimaryKeyConstraint("seat_id", name="pk_drafts"),
    )
    op.create_table(
        "ratings",
        sa.Column("study_id", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("seat_id", sa.Text(), nullable=False),
        sa.Column("item_id", sa.Text(), nullable=False),
        sa.Column("annotator", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("significance", sa.Text(), nullable=True),
        sa.Column("flagged", sa.Boolean(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("milliseconds", sa.Integer(), nullable=True),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("submitted_at", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("previous", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "label in ('ABSENT', 'CONSISTENT', 'COMPLEMENTARY', 'DIVERGENT', 'CONTRADICTORY')", name="ck_ratings_label"
        ),
        sa.CheckConstraint(
            "significance is null or (significance in ('low', 'medium', 'high') and label in ('DIVERGENT', 'CONTRADICTORY'))",
            name="ck_ratings_significance",
        ),
        sa.ForeignKeyConstraint(["item_id"], ["items.item_id"], name="fk_ratings_item_id"),
        sa.ForeignKeyConstraint(["seat_id"], ["seats.seat_id"], name="fk_ratings_seat_id"),
        sa.ForeignKeyConstraint(["study_id"], ["studies.study_id"], name="fk_ratings_study_id"),
        sa.PrimaryKeyConstraint("study_id", "seq", name="pk_ratings"),
        sa.UniqueConstraint("seat_id", "revision", name="uq_ratings_seat_id_revision"),
        sa.UniqueConstraint("study_id", "key", name="uq_ratings_study_id_key"),
    )
    op.create_table(
        "designs",
        sa.Column("study_id", sa.Text(), nullable=False),
        sa.Column("run_key", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("pairs", sa.Integer(), nullable=False),
        sa.Column("unscored", sa.Integer(), nullable=False),
        sa.Column("plan", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("study_id", name="pk_designs"),
    )
    op.create_table(
        "strata",
        sa.Column("study_id", sa.Text(), nullable=False),
        sa.Column("stratum", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("second", sa.Text(), nullable=True),
        sa.Column("population", sa.Integer(), nullable=False),
        sa.Column("sampled", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("study_id", "stratum", name="pk_strata"),
    )
    op.create_table(
        "verdicts",
        sa.Column("item_id", sa.Text(), nullable=False),
        sa.Column("study_id", sa.Text(), nullable=False),
        sa.Column("stratum", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("significance", sa.Text(), nullable=True),
        sa.Column("topic", sa.Text(), nullable=True),
        sa.Column("reasoning", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("item_id", name="pk_verdicts"),
    )
    op.create_index("ix_verdicts_study_id", "verdicts", ["study_id"], unique=False)
