"""Whether a search alone answered in a run, and how often it errs, as the manifest states it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from audit.stats.misclassification import ErrorCounts
from audit.store.connection import Connection, rows

SQL = "select exists (from answers where found is not null), (select manifest -> 'generator_errors' from run)"


@dataclass(frozen=True)
class SearchErrors:
    """Whether answers of a run were found by a search that no model has read, and how often it errs (None: not known)."""

    searched: bool
    rates: ErrorCounts | None


def search_errors(con: Connection) -> SearchErrors:
    """What is known of the search behind a run's answers."""
    ((searched, stated),) = rows(con, SQL)
    return SearchErrors(bool(searched), error_counts(json.loads(stated) if stated else None))


def error_counts(stated: Any) -> ErrorCounts | None:
    """The entry `generator_errors` of a manifest; None where it is missing or cannot be counts."""
    if not isinstance(stated, Mapping):
        return None
    counts = [count for name in ErrorCounts._fields if type(count := stated.get(name)) is int]
    if len(counts) < len(ErrorCounts._fields):
        return None
    errors = ErrorCounts(*counts)
    possible = 0 <= errors.missed <= errors.answered > 0 and 0 <= errors.found <= errors.unanswered > 0
    return errors if possible else None
