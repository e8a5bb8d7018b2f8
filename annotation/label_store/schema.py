"""The tables of the human side. Alembic (migrations/) makes them; a test holds the two together.

Times are UTC texts of one width (see `texts.stamp`), so that they sort, compare and hash alike in both databases.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    false,
)

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)

users = Table(
    "users",
    metadata,
    Column("username", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("password_hash", Text),  # null: signs in through the identity provider only
    Column("created_at", Text, nullable=False),
    CheckConstraint("role in ('viewer', 'annotator', 'adjudicator', 'pi')", name="role"),
)

sessions = Table(
    "sessions",
    metadata,
    Column("token_hash", Text, primary_key=True),  # sha256: a copy of the database signs nobody in
    Column("username", Text, ForeignKey("users.username"), nullable=False),
    Column("created_at", Text, nullable=False),
    Column("expires_at", Text, nullable=False, index=True),
)

sign_in_attempts = Table(
    "attempts",
    metadata,
    Column("attempt", Integer, primary_key=True, autoincrement=True),
    Column("username", Text, nullable=False),
    Column("at", Text, nullable=False, index=True),
    Column("failed", Boolean, nullable=False),
    Index("ix_attempts_username_at", "username", "at"),
)

studies = Table(
    "studies",
    metadata,
    Column("study_id", Text, primary_key=True),
    Column("title", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("names_shown", Boolean, nullable=False),  # false: annotators do not see which handbook an answer is from
    Column("seed", Integer, nullable=False),
    Column("terms", JSON, nullable=False),  # the release's own words for handbook, organ, ...
    Column("created_at", Text, nullable=False),
    Column("synthetic", Boolean, nullable=False, server_default=false()),  # drawn from a simulated run, and says so
    CheckConstraint("state in ('calibration', 'labelling', 'adjudication', 'closed')", name="state"),
)

study_members = Table(  # who may rate in a study
    "members",
    metadata,
    Column("study_id", Text, ForeignKey("studies.study_id"), primary_key=True),
    Column("annotator", Text, ForeignKey("users.username"), primary_key=True),
)

items = Table(  # a snapshot: reloading or deleting the run changes nothing here
    "items",
    metadata,
    Column("item_id", Text, primary_key=True),
    Column("study_id", Text, ForeignKey("studies.study_id"), nullable=False, index=True),
    Column("kind", Text, nullable=False),
    Column("repeat_of", Text, ForeignKey("items.item_id")),  # a silent repeat of this item
    Column("question_id", Text, nullable=False),
    Column("question", Text, nullable=False),
    Column("handbook_a", Text, nullable=False),
    Column("handbook_b", Text, nullable=False),
    Column("name_a", Text, nullable=False),
    Column("name_b", Text, nullable=False),
    Column("answer_a", Text, nullable=False),
    Column("answer_b", Text, nullable=False),
    CheckConstraint("kind in ('calibration', 'study', 'repeat')", name="kind"),
    CheckConstraint("(kind = 'repeat') = (repeat_of is not null)", name="repeat"),
)

assignments = Table(  # two per study item, made with the study and never added to: a third label has no place to go
    "seats",
    metadata,
    Column("seat_id", Text, primary_key=True),  # opaque: what annotators and packets call an item
    Column("study_id", Text, ForeignKey("studies.study_id"), nullable=False),
    Column("item_id", Text, ForeignKey("items.item_id"), nullable=False),
    Column("seat", Text, nullable=False),  # A or B (calibration with more readers: C, D, ...)
    Column("calibration", Boolean, nullable=False),
    Column("annotator", Text),  # null: open, anyone of the study who has no seat at this item may take it
    Column("position", Integer),  # place in the annotator's own order
    Column("swapped", Boolean, nullable=False),  # true: the annotator sees answer_b first
    Column("current", Integer),  # seq of the rating that counts; null: not rated
    Column("visit", Text),  # the sitting in which the task was last put on the screen ...
    Column("opened_at", Text),  # ... and when, by the server's clock
    UniqueConstraint("item_id", "seat"),
    UniqueConstraint("item_id", "annotator"),
    UniqueConstraint("study_id", "annotator", "calibration", "position"),
    ForeignKeyConstraint(["study_id", "annotator"], ["members.study_id", "members.annotator"], name="fk_seats_member"),
)
UNRATED = assignments.c.current.is_(None)
Index(  # the next task is found among those to come, however many are behind
    "ix_seats_unrated", assignments.c.study_id, assignments.c.annotator, assignments.c.calibration, assignments.c.position,
    sqlite_where=UNRATED, postgresql_where=UNRATED,
)  # fmt: skip

drafts = Table(  # a choice that is not submitted yet
    "drafts",
    metadata,
    Column("seat_id", Text, ForeignKey("seats.seat_id"), primary_key=True),
    Column("label", Text),
    Column("significance", Text),
    Column("flagged", Boolean, nullable=False),
    Column("comment", Text, nullable=False),
    Column("saved_at", Text, nullable=False),
)

heads = Table(  # the end of each hash chain; its row is the lock under which a chain grows
    "heads",
    metadata,
    Column("study_id", Text, ForeignKey("studies.study_id"), primary_key=True),
    Column("ledger", Text, primary_key=True),
    Column("entries", Integer, nullable=False),
    Column("hash", Text, nullable=False),
)

LABEL_CHECK = "label in ('ABSENT', 'CONSISTENT', 'COMPLEMENTARY', 'DIVERGENT', 'CONTRADICTORY')"
SIGNIFICANCE_CHECK = (
    "significance is null or (significance in ('low', 'medium', 'high') and label in ('DIVERGENT', 'CONTRADICTORY'))"
)

ratings = Table(  # append-only (triggers); a revision is a further row
    "ratings",
    metadata,
    Column("study_id", Text, ForeignKey("studies.study_id"), primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("seat_id", Text, ForeignKey("seats.seat_id"), nullable=False),
    Column("item_id", Text, ForeignKey("items.item_id"), nullable=False),
    Column("annotator", Text, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("label", Text, nullable=False),
    Column("significance", Text),
    Column("flagged", Boolean, nullable=False),
    Column("comment", Text, nullable=False),
    Column("milliseconds", Integer),  # on the screen, by the server's clock; null: rated offline
    Column("source", Text, nullable=False),
    Column("submitted_at", Text, nullable=False),
    Column("key", Text, nullable=False),  # the submitter's own name for this submit: sent twice, it is one row
    Column("previous", Text, nullable=False),
    Column("hash", Text, nullable=False),
    UniqueConstraint("study_id", "key"),
    UniqueConstraint("seat_id", "revision"),
    CheckConstraint(LABEL_CHECK, name="label"),
    CheckConstraint(SIGNIFICANCE_CHECK, name="significance"),
)

decisions = Table(  # append-only (triggers)
    "decisions",
    metadata,
    Column("study_id", Text, ForeignKey("studies.study_id"), primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("item_id", Text, ForeignKey("items.item_id"), nullable=False),
    Column("adjudicator", Text, ForeignKey("users.username"), nullable=False),
    Column("revision", Integer, nullable=False),
    Column("label", Text, nullable=False),
    Column("significance", Text),
    Column("reason", Text, nullable=False),
    Column("decided_at", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("previous", Text, nullable=False),
    Column("hash", Text, nullable=False),
    UniqueConstraint("study_id", "key"),
    UniqueConstraint("item_id", "revision"),
    CheckConstraint(LABEL_CHECK, name="label"),
    CheckConstraint(SIGNIFICANCE_CHECK, name="significance"),
)

theme_heads = Table(  # the same for the ledgers of runs
    "theme_heads",
    metadata,
    Column("run", Text, primary_key=True),  # the digest of its release: a run itself can be deleted and loaded again
    Column("ledger", Text, primary_key=True),
    Column("entries", Integer, nullable=False),
    Column("hash", Text, nullable=False),
)

theme_edits = Table(  # append-only (triggers); an undo is a further row
    "theme_acts",
    metadata,
    Column("run", Text, primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("body", Text, nullable=False),  # JSON, escaped to ASCII: phrases are kept as they are, whatever stands in them
    Column("undoes", Integer),
    Column("author", Text, ForeignKey("users.username"), nullable=False),
    Column("reason", Text, nullable=False),
    Column("made_at", Text, nullable=False),
    Column("taxonomy", Text, nullable=False),  # sha256 of the one that was built
    Column("key", Text, nullable=False),
    Column("previous", Text, nullable=False),
    Column("hash", Text, nullable=False),
    UniqueConstraint("run", "key"),
    ForeignKeyConstraint(["run", "undoes"], ["theme_acts.run", "theme_acts.seq"], name="fk_theme_acts_undoes"),
    CheckConstraint("(kind = 'undo') = (undoes is not null)", name="undo"),
    CheckConstraint("undoes is null or undoes < seq", name="order"),
)
