"""Values of a record that may have any shape, such as what a release says of a retrieval: used if they fit, else left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Entries of a list that are shown; a broken release may have more.
MAX_SHOWN = 50

Record = Mapping[str, Any]


def shown_part(value: Any) -> list[object]:
    """The first entries of a list; [] for anything else."""
    return value[:MAX_SHOWN] if isinstance(value, list) else []


def objects(value: Any) -> list[Record]:
    """The objects among the first entries of a list."""
    return [entry for entry in shown_part(value) if isinstance(entry, dict)]


def text_or_none(value: Any) -> str | None:
    """A single value as text."""
    return None if value is None or isinstance(value, (dict, list)) else str(value)


def float_or_none(value: Any) -> float | None:
    """A number."""
    # To Python, the `true` of JSON is an integer.
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def int_or_none(value: Any) -> int | None:
    """A whole number."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None
