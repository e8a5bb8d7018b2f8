"""The tables of human work; how times and texts are stored in them is in `stored_values`.

`creation` creates them, with the triggers of the append-only ones. Table and column names are stored data, so they stay as they
are (`seats`, `visit`, `theme_acts`) while the code uses the field's words.
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

from annotation.schemes import PAIRS, WORDS
from audit.vocabulary import DISAGREEING, SIGNIFICANCES, sql_list

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
    Column("disabled_at", Text),  # null: may sign in
    Column("one_time_until", Text),  # not null: the password is good for one sign-in until then, and has to be changed there
    Column("last_sign_in_at", Text),
    Column("signed_out_at", Text),  # a sign-in at the identity provider that is older is no longer believed
    Column("totp_secret", Text),  # of the second factor; null: none
    Column("totp_used", Integer),  # the last step of 30 s whose code signed in, so none is good twice
    CheckConstraint("role in ('viewer', 'annotator', 'adjudicator', 'pi')", name="role"),
)

provider_users = Table(  # whom an account was first signed in for; an e-mail address may pass to somebody else, this does not
    "provider_users",
    metadata,
    Column("provider_user", Text, primary_key=True),  # issuer and subject
    Column("username", Text, ForeignKey("users.username"), nullable=False, unique=True),
    Column("bound_at", Text, nullable=False),
)

sessions = Table(
    "sessions",
    metadata,
    Column("token_hash", Text, primary_key=True),  # sha256, so a stolen copy of the database signs nobody in
    Column("username", Text, ForeignKey("users.username"), nullable=False),
    Column("created_at", Text, nullable=False),
    Column("expires_at", Text, nullable=False, index=True),
    Column("used_at", Text),  # to within a minute; null: not since it began
)

ended_sign_ins = Table(  # at the identity provider, whose cookie goes on to name a user who has signed out here
    "ended_sign_ins",
    metadata,
    Column("sign_in", Text, primary_key=True),  # subject and time of the sign-in
    Column("expires_at", Text, nullable=False),  # from then on the sign-in has expired anyway
)

sign_in_attempts = Table(
    "attempts",
    metadata,
    Column("attempt", Integer, primary_key=True, autoincrement=True),
    Column("username", Text, nullable=False),  # a hash of what was typed, which may be a password in the wrong field
    Column("address", Text, nullable=False, server_default=""),
    Column("at", Text, nullable=False, index=True),
    Column("failed", Boolean, nullable=False),
    Index("ix_attempts_username_at", "username", "at"),
    Index("ix_attempts_address_at", "address", "at"),
)

saved_selections = Table(  # a name for the address of a list with its filters
    "saved_selections",
    metadata,
    Column("name", Text, primary_key=True),
    Column("address", Text, nullable=False),  # its query without the run
    Column("author", Text, ForeignKey("users.username"), nullable=False),
    Column("saved_at", Text, nullable=False),
)

app_settings = Table(  # set by a PI on *People*; an environment variable takes precedence
    "app_settings",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
    Column("changed_by", Text, nullable=False),
    Column("changed_at", Text, nullable=False),
)

access_log = Table(  # append-only (triggers), but for entries older than an entry that says from when on they are kept
    "access_log",
    metadata,
    Column("entry", Integer, primary_key=True, autoincrement=True),
    Column("at", Text, nullable=False, index=True),
    Column("account", Text, nullable=False),  # who acted; not a foreign key, as the command line acts too
    Column("address", Text, nullable=False),
    Column("event", Text, nullable=False),
    Column("detail", Text, nullable=False),
    Column("kept_from", Text),
    Column("previous", Text),  # the hash chain; null: from before entries had one
    Column("hash", Text),
)
KEPT_FROM = access_log.c.kept_from.is_not(None)
Index("ix_access_log_kept_from", access_log.c.kept_from, sqlite_where=KEPT_FROM, postgresql_where=KEPT_FROM)

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
    Column("synthetic", Boolean, nullable=False, server_default=false()),  # drawn from a simulated run, which every page states
    Column("scheme", Text, nullable=False, server_default=PAIRS.name),  # what is asked about an item; annotation.schemes
    Column("ratings_per_item", Integer, nullable=False, server_default="2"),  # 2 to 5; a check needs a new table in SQLite
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
    Column("handbook_a", Text, nullable=False),  # in a head-to-head study the system that answered, likewise name_a
    Column("handbook_b", Text, nullable=False),
    Column("name_a", Text, nullable=False),
    Column("name_b", Text, nullable=False),
    Column("answer_a", Text, nullable=False),
    Column("answer_b", Text, nullable=False),
    Column("reference", Text),  # the reference answer, shown on request; null: none
    CheckConstraint("kind in ('calibration', 'study', 'repeat')", name="kind"),
    CheckConstraint("(kind = 'repeat') = (repeat_of is not null)", name="repeat"),
)

assignments = Table(  # as many per study item as it gets ratings, created with the study and never added to
    "seats",
    metadata,
    Column("seat_id", Text, primary_key=True),  # opaque: the item's name for annotators and in packets
    Column("study_id", Text, ForeignKey("studies.study_id"), nullable=False),
    Column("item_id", Text, ForeignKey("items.item_id"), nullable=False),
    Column(
        "seat", Text, nullable=False
    ),  # A, B, ...: of a study item one for each rating, of a calibration item one for each annotator
    Column("calibration", Boolean, nullable=False),
    Column("annotator", Text),  # null: unassigned; any annotator without this item may claim it
    Column("position", Integer),  # position in the annotator's own order
    Column("swapped", Boolean, nullable=False),  # true: the annotator sees answer_b first
    Column("current", Integer),  # seq of the current revision; null: not rated
    Column("visit", Text),  # the labelling session that last showed the task ...
    Column("opened_at", Text),  # ... and when, by the server's clock
    UniqueConstraint("item_id", "seat"),
    UniqueConstraint("item_id", "annotator"),
    UniqueConstraint("study_id", "annotator", "calibration", "position"),
    ForeignKeyConstraint(["study_id", "annotator"], ["members.study_id", "members.annotator"], name="fk_seats_member"),
)
UNRATED = assignments.c.current.is_(None)
Index(  # finds the next task without scanning those already rated
    "ix_seats_unrated", assignments.c.study_id, assignments.c.annotator, assignments.c.calibration, assignments.c.position,
    sqlite_where=UNRATED, postgresql_where=UNRATED,
)  # fmt: skip

drafts = Table(  # choices that are not submitted yet
    "drafts",
    metadata,
    Column("seat_id", Text, ForeignKey("seats.seat_id"), primary_key=True),
    Column("label", Text),
    Column("significance", Text),
    Column("flagged", Boolean, nullable=False),
    Column("comment", Text, nullable=False),
    Column("saved_at", Text, nullable=False),
    Column("rationale", Text),
    Column("difference", Text),
)


def _heads_table(name: str, owner: Column[str]) -> Table:
    """The last entry of each hash chain; its row is the lock for appending."""
    entries, last_hash = Column("entries", Integer, nullable=False), Column("hash", Text, nullable=False)
    return Table(name, metadata, owner, Column("ledger", Text, primary_key=True), entries, last_hash)


def _label_columns() -> tuple[Column[object], ...]:
    return Column("label", Text, nullable=False), Column("significance", Text)


def _chain_columns(*, key: bool = True) -> tuple[Column[object], ...]:
    """The hash chain of a ledger, and the idempotency key: an entry that is sent twice is stored once."""
    return tuple(Column(name, Text, nullable=False) for name in (*(["key"] if key else []), "previous", "hash"))


heads = _heads_table("heads", Column("study_id", Text, ForeignKey("studies.study_id"), primary_key=True))
# The digest of the release, because a run can be deleted and loaded again.
theme_heads = _heads_table("theme_heads", Column("run", Text, primary_key=True))
log_heads = _heads_table("log_heads", Column("log", Text, primary_key=True))


LABEL_CHECK = f"label in {sql_list(WORDS)}"
SIGNIFICANCE_CHECK = f"significance is null or (significance in {sql_list(SIGNIFICANCES)} and label in {sql_list(DISAGREEING)})"

ratings = Table(  # append-only (triggers); a revision is another row
    "ratings",
    metadata,
    Column("study_id", Text, ForeignKey("studies.study_id"), primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("seat_id", Text, ForeignKey("seats.seat_id"), nullable=False),
    Column("item_id", Text, ForeignKey("items.item_id"), nullable=False),
    Column("annotator", Text, nullable=False),
    Column("revision", Integer, nullable=False),
    *_label_columns(),
    Column("flagged", Boolean, nullable=False),
    Column("comment", Text, nullable=False),
    Column("milliseconds", Integer),  # time on screen, by the server's clock; null: not known
    Column("source", Text, nullable=False),
    Column("submitted_at", Text, nullable=False),
    *_chain_columns(),
    Column("rationale", Text),  # JSON: the marked sentences of answers a and b; null: none marked
    Column("difference", Text),  # why the advice differs; null: not stated
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
    *_label_columns(),
    Column("reason", Text, nullable=False),
    Column("decided_at", Text, nullable=False),
    *_chain_columns(),
    UniqueConstraint("study_id", "key"),
    UniqueConstraint("item_id", "revision"),
    CheckConstraint(LABEL_CHECK, name="label"),
    CheckConstraint(SIGNIFICANCE_CHECK, name="significance"),
)

study_events = Table(  # append-only (triggers); what a study was created from, and each change of its state
    "study_events",
    metadata,
    Column("study_id", Text, ForeignKey("studies.study_id"), primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("body", Text, nullable=False),  # JSON; annotation.label_store.seals
    Column("happened_at", Text, nullable=False),
    *_chain_columns(key=False),
)

theme_edits = Table(  # append-only (triggers); an undo is another row
    "theme_acts",
    metadata,
    Column("run", Text, primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("body", Text, nullable=False),  # JSON escaped to ASCII, so any phrase survives unchanged
    Column("undoes", Integer),
    Column("author", Text, ForeignKey("users.username"), nullable=False),
    Column("reason", Text, nullable=False),
    Column("made_at", Text, nullable=False),
    Column("taxonomy", Text, nullable=False),  # sha256 of the taxonomy as built
    *_chain_columns(),
    UniqueConstraint("run", "key"),
    ForeignKeyConstraint(["run", "undoes"], ["theme_acts.run", "theme_acts.seq"], name="fk_theme_acts_undoes"),
    CheckConstraint("(kind = 'undo') = (undoes is not null)", name="undo"),
    CheckConstraint("undoes is null or undoes < seq", name="order"),
)
