"""Validating positions, as in `audit.release.validate`."""

from __future__ import annotations

from typing import Any

from audit.release.validate import fields_of
from audit.release.values import Reject, Repairs, integer, list_value, optional, required_text, text, vocabulary_term
from audit.vocabulary import POSITION_METHOD_SPELLINGS, POSITION_METHODS, PositionMethod


def position(record: Any, repairs: Repairs) -> dict[str, Any]:
    """A position's record: question_id, aspect, statement, value, method, and holders as records of their own."""
    raw = fields_of(record, "position")
    holders = [_holder(value, repairs) for value in list_value(raw.get("holders"), "holders")]
    if not holders:
        raise Reject("no_holders", "field 'holders' is empty, but a position needs a handbook that takes it.")
    method = vocabulary_term(raw.get("method"), POSITION_METHOD_SPELLINGS, "method", POSITION_METHODS)
    return {
        **{name: required_text(raw, name) for name in ("question_id", "statement")},
        **{name: (optional(text, raw, name, repairs) or "").strip() or None for name in ("aspect", "value")},
        "method": method or PositionMethod.RELEASE,
        "holders": holders,
    }


def _holder(value: Any, repairs: Repairs) -> dict[str, Any]:
    raw = fields_of(value, "holder")
    return {
        **{name: required_text(raw, name) for name in ("handbook_id", "quote")},
        "lead": (optional(text, raw, "lead", repairs) or "").strip() or None,
        "start": optional(integer, raw, "start", repairs),
    }
