"""How times and texts are stored in the tables, and how a row becomes a record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy.engine import RowMapping

from annotation.label_store.engine import StudyError
from audit.formatting import printable

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

RecordT = TypeVar("RecordT", bound="DataclassInstance")
MAX_COMMENT_LENGTH = 4_000


def record_of(record: type[RecordT], row: Mapping[str, Any] | RowMapping) -> RecordT:
    """A row as a dataclass, each of whose fields is a column."""
    return record(**{field.name: row[field.name] for field in fields(record)})


def to_timestamp(now: datetime) -> str:
    """UTC to the microsecond, at a fixed width, so times sort, compare and hash alike in both databases."""
    if now.tzinfo is None:
        raise ValueError("a time without a zone means a different moment on another server")
    return now.astimezone(UTC).isoformat(timespec="microseconds")


def from_timestamp(text: str) -> datetime:
    """The time that `to_timestamp` wrote."""
    return datetime.fromisoformat(text)


def storable_text(text: str) -> str:
    """`text` as databases and exports can hold it: U+FFFD for NUL and half a surrogate pair, spaces for other controls."""
    # Two halves that belong together are one character after this; PostgreSQL rejects NUL, and UTF-8 a half that is left.
    return printable(text.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def checked_text(text: str, field: str = "comment") -> str:
    """A comment or a reason as it is stored.

    Raises StudyError when it is longer than MAX_COMMENT_LENGTH: cutting it silently would change what the person wrote.
    """
    if len(text) > MAX_COMMENT_LENGTH:
        raise StudyError(
            f"The {field} has {len(text):,} characters; at most {MAX_COMMENT_LENGTH:,} are allowed. Nothing was saved. "
            "Shorten it."
        )
    return storable_text(text)
