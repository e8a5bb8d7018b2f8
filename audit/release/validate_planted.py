"""Validating planted changes, as in `audit.release.validate`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from audit.release.validate import USAGE, fields_of, usage_number
from audit.release.values import (
    Reject,
    Repairs,
    integer,
    object_value,
    optional,
    required_text,
    text,
    texts,
    vocabulary_term,
)
from audit.vocabulary import (
    CHANGED_SIDE_SPELLINGS,
    CHANGED_SIDES,
    LABEL_SPELLINGS,
    LABELS,
    PLANTED_KIND_SPELLINGS,
    PLANTED_KINDS,
)


def planted(record: Any, repairs: Repairs) -> dict[str, Any]:
    """A planted change's record: its ids, kind, variant, ordered, expected, the fields of the change, answers, labels, usage."""
    raw = fields_of(record, "planted")
    kind = vocabulary_term(raw["kind"], PLANTED_KIND_SPELLINGS, "kind", PLANTED_KINDS)
    if kind is None:
        raise Reject("missing_field", "field 'kind' is empty.")
    labels = {name: _label(raw.get(name), name) for name in ("label_before", "label", "ordered")}
    values: dict[str, Any] = {
        name: (optional(text, raw, name, repairs) or "").strip() or None
        for name in ("variant", "reasoning", "unscored_reason", "judge")
    }
    if labels["label"] is None and not any(values[name] for name in ("reasoning", "unscored_reason", "judge")):
        raise Reject("no_verdict", "it has neither a label nor any trace of a judge, so nothing shows that it was ever asked.")
    answers = {name: optional(text, raw, name, repairs) for name in ("answer_a", "answer_b")}
    usage = optional(object_value, raw, "usage", repairs) or {}
    return {
        **{name: required_text(raw, name) for name in ("item_id", "question_id", "handbook_a", "handbook_b")},
        "kind": kind, **labels, "expected": _expected(raw), **answers, **_change(raw, answers, repairs), **values,
        **{name: usage_number(usage, name, repairs) for name in USAGE},
    }  # fmt: skip


def _label(value: Any, name: str) -> Any:
    return vocabulary_term(value, LABEL_SPELLINGS, name, LABELS)


def _expected(raw: Mapping[str, Any]) -> list[Any]:
    """The expected labels. One that is unknown rejects the record: without it, a right label would count as wrong."""
    return [label for word in texts(raw.get("expected"), "expected") if (label := _label(word, "expected"))]


def _change(raw: Mapping[str, Any], answers: Mapping[str, str | None], repairs: Repairs) -> dict[str, Any]:
    """The fields of the change; `start` is None if the changed words are not at that position in the answer."""
    change = optional(object_value, raw, "change", repairs)
    fields = fields_of(change, "planted_change") if change else {}
    values: dict[str, Any] = {
        **{name: optional(text, fields, name, repairs) for name in ("before", "after")},
        "start": optional(integer, fields, "start", repairs), "side": optional(_side, fields, "side", repairs),
    }  # fmt: skip
    start, after = values["start"], values["after"] or ""
    answer = answers.get(f"answer_{values['side']}") or ""
    if start is not None and (start < 0 or answer[start : start + len(after)] != after):
        repairs.append(
            "field 'change' does not match the answer: its words are not at that position. It was loaded without the position."
        )
        values["start"] = None
    return values


def _side(value: Any, name: str) -> Any:
    return vocabulary_term(value, CHANGED_SIDE_SPELLINGS, name, CHANGED_SIDES)
