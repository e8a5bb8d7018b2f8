"""Times and texts in the form in which the store keeps them."""

from __future__ import annotations

from datetime import UTC, datetime

from annotation.label_store.errors import StudyError

MAX_COMMENT_LENGTH = 4_000


def to_timestamp(now: datetime) -> str:
    """UTC, to the microsecond and of one width, so that texts sort as times do."""
    if now.tzinfo is None:
        raise ValueError("a time without a zone means another moment on another server")
    return now.astimezone(UTC).isoformat(timespec="microseconds")


def from_timestamp(text: str) -> datetime:
    """The time that `to_timestamp` wrote."""
    return datetime.fromisoformat(text)


def storable_text(text: str) -> str:
    """`text` with what PostgreSQL cannot hold (NUL) or UTF-8 cannot say (half a surrogate pair) shown as U+FFFD."""
    return text.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def checked_text(text: str, what: str = "comment") -> str:
    """A comment or a reason as it is kept.

    Raises StudyError when it is longer than COMMENT_LIMIT: a text that was cut in silence would be somebody else's.
    """
    if len(text) > MAX_COMMENT_LENGTH:
        raise StudyError(
            f"The {what} has {len(text):,} characters; at most {MAX_COMMENT_LENGTH:,} are kept. Nothing was saved. Shorten it."
        )
    return storable_text(text)
