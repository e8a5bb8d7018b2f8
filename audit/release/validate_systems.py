"""Validating answering systems, their answers, references, criteria, preferences and measures, as in `audit.release.validate`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from audit.evaluation.criteria import CRITERIA, REFERENCE, Criterion
from audit.release.validate import AS_JSON, USAGE, fields_of, unread_reason, usage_number
from audit.release.validate_pairs import parse_status
from audit.release.values import (
    Reject,
    Repairs,
    boolean,
    integer,
    is_missing,
    list_value,
    number,
    object_value,
    optional,
    passages,
    required_text,
    text,
    texts,
    type_name,
    vocabulary_term,
)
from audit.vocabulary import (
    PREFERENCE_SPELLINGS,
    PREFERENCES,
    RATER_KIND_SPELLINGS,
    RATER_KINDS,
    SIDE_SPELLINGS,
    SIDES,
    SYSTEM_MODE_SPELLINGS,
    SYSTEM_MODES,
    Preference,
    RaterKind,
)

EMPTY = "empty"
"""The unread_reason of an answer that is an empty text."""


def system(record: Any, repairs: Repairs) -> dict[str, Any]:
    """A system's record: system_id, name, model, mode, retriever, settings (as JSON), description."""
    raw = fields_of(record, "system")
    system_id = required_text(raw, "system_id")
    if system_id == REFERENCE:
        raise Reject("reserved_id", f"the id '{REFERENCE}' stands for the reference answer; give the system another one.")
    settings = optional(object_value, raw, "settings", repairs)
    return {
        "system_id": system_id, "mode": optional(_system_mode, raw, "mode", repairs),
        **{name: optional(text, raw, name, repairs) for name in ("name", "model", "retriever", "description")},
        "settings": AS_JSON(settings) if settings else None,
    }  # fmt: skip


def _system_mode(value: Any, name: str) -> Any:
    return vocabulary_term(value, SYSTEM_MODE_SPELLINGS, name, SYSTEM_MODES)


def reference(record: Any, repairs: Repairs) -> dict[str, Any]:
    """The reference of a question: question_id, answers, question_type, gold_sections, url, primary_source, required_sources."""
    raw = fields_of(record, "reference")
    values: dict[str, Any] = {
        "answers": optional(passages, raw, "answers", repairs) or [],
        "question_type": (optional(text, raw, "question_type", repairs) or "").strip() or None,
        "gold_sections": optional(texts, raw, "gold_sections", repairs) or [],
        "url": optional(text, raw, "url", repairs),
        "primary_source": (optional(text, raw, "primary_source", repairs) or "").strip() or None,
        "required_sources": optional(texts, raw, "required_sources", repairs) or [],
    }
    if not any(values.values()):
        raise Reject("empty_reference", "it has neither a reference answer nor a question type nor anything else.")
    if "answers" in raw and not values["answers"]:
        repairs.append("field 'answers' has no text. The question was loaded without a reference answer.")
    return {"question_id": required_text(raw, "question_id"), **values}


def system_answer(record: Any, repairs: Repairs) -> dict[str, Any]:
    """A system's answer: question_id, system_id, answer, refused, unread_reason, evidence and citations (as JSON), usage.

    `refused` is None where no answer could be read: an empty text is such an answer, with the reason EMPTY.
    """
    raw = fields_of(record, "system_answer")
    words = text(raw.get("answer"), "answer")
    refused = boolean(raw.get("refused"), "refused")
    reason = unread_reason(raw, words or None, refused, repairs)
    if "answer" not in raw and not refused and not reason:
        raise Reject("missing_field", "it has neither an answer nor an 'unread_reason', and it is not a refusal.")
    if not (words or "").strip():
        words = None
        if not refused and not reason:
            repairs.append("the answer is empty. It was loaded as one that could not be read.")
            reason = EMPTY
    return {
        "question_id": required_text(raw, "question_id"), "system_id": required_text(raw, "system_id"), "answer": words,
        "refused": None if reason else bool(refused), "unread_reason": reason,
        "evidence": _as_json(_ranked(_objects(raw, "evidence", repairs, evidence))),
        "citations": _as_json(_objects(raw, "citations", repairs, lambda citation, _: citation)), **_usage(raw, repairs),
    }  # fmt: skip


def evidence(record: Any, repairs: Repairs) -> dict[str, Any]:
    """A passage that a system was given: handbook_id, section_id, rank, score, text."""
    raw = fields_of(record, "evidence")
    kinds: dict[str, Callable[[Any, str], Any]] = {
        "handbook_id": text, "section_id": text, "rank": integer, "score": number, "text": text,
    }  # fmt: skip
    return {name: optional(read, raw, name, repairs) for name, read in kinds.items()}


def _ranked(passages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The passages, each with a rank: its own, or its place in the list."""
    return [passage | {"rank": passage["rank"] or index} for index, passage in enumerate(passages, 1)]


def _objects(
    raw: Mapping[str, Any], name: str, repairs: Repairs, read: Callable[[Any, Repairs], dict[str, Any]]
) -> list[dict[str, Any]]:
    """A list of objects, each read by `read`; what is not an object is dropped."""
    objects = []
    for position, entry in enumerate(optional(list_value, raw, name, repairs) or [], 1):
        if isinstance(entry, Mapping):
            objects.append(read(entry, repairs))
        else:
            repairs.append(
                f"entry {position} of '{name}' is {type_name(entry)}, not an object. It was loaded without that entry."
            )
    return objects


def criteria(record: Any, repairs: Repairs) -> dict[str, Any]:
    """The scores of an answer on the eight criteria, each None where it could not be read, and how the judge's reply was read.

    question_id, system_id, judge, the criteria, explanations (as JSON), parse, unscored_reason, usage.
    """
    raw = fields_of(record, "criteria")
    scores = {name.value: optional(_score, raw, name.value, repairs) for name in CRITERIA}
    explanations = optional(object_value, raw, "explanations", repairs)
    values: dict[str, Any] = {
        "explanations": AS_JSON(explanations) if explanations else None,
        "parse": optional(parse_status, raw, "parse", repairs),
        "unscored_reason": (optional(text, raw, "unscored_reason", repairs) or "").strip() or None, **_usage(raw, repairs),
    }  # fmt: skip
    if all(value is None for value in (*scores.values(), *values.values())):
        raise Reject("no_scores", "it has neither a score nor any trace of a judge, so nothing shows that the judge was asked.")
    return {
        "question_id": required_text(raw, "question_id"), "system_id": required_text(raw, "system_id"),
        "judge": optional(text, raw, "judge", repairs), **scores, **values,
    }  # fmt: skip


def _score(value: Any, name: str) -> int | None:
    score = integer(value, name)
    allowed = CRITERIA[Criterion(name)].scores
    if score is not None and score not in allowed:
        raise Reject("out_of_range", f"field '{name}' is {score}, but must be one of {', '.join(map(str, allowed))}.")
    return score


def preference(record: Any, repairs: Repairs) -> dict[str, Any]:
    """A preference between two answers: question_id, system_a, system_b, preference, rater, rater_kind, shown_first, comment."""
    raw = fields_of(record, "preference")
    a, b = required_text(raw, "system_a"), required_text(raw, "system_b")
    if a == b:
        raise Reject("self_pair", f"both sides are '{a}', but a system is not compared with itself.")
    choice: Preference | None = vocabulary_term(raw["preference"], PREFERENCE_SPELLINGS, "preference", PREFERENCES)
    if choice is None:
        raise Reject("missing_field", "field 'preference' is empty.")
    return {
        "question_id": required_text(raw, "question_id"), "system_a": a, "system_b": b, "preference": choice.value,
        "rater": (optional(text, raw, "rater", repairs) or "").strip() or None,
        "rater_kind": optional(_rater_kind, raw, "rater_kind", repairs) or RaterKind.HUMAN.value,
        "shown_first": optional(_side, raw, "shown_first", repairs), "comment": optional(text, raw, "comment", repairs),
    }  # fmt: skip


def _rater_kind(value: Any, name: str) -> Any:
    return vocabulary_term(value, RATER_KIND_SPELLINGS, name, RATER_KINDS)


def _side(value: Any, name: str) -> Any:
    return vocabulary_term(value, SIDE_SPELLINGS, name, SIDES)


def measure(record: Any, repairs: Repairs) -> dict[str, Any]:
    """A measure of one answer: question_id, system_id, measure, value."""
    raw = fields_of(record, "measure")
    value = None if is_missing(raw["value"]) else number(raw["value"], "value")
    if value is None:
        raise Reject("missing_field", "field 'value' is empty: leave the record out where there is no value.")
    ids = {name: required_text(raw, name) for name in ("question_id", "system_id", "measure")}
    return ids | {"value": value}


def _usage(raw: Mapping[str, Any], repairs: Repairs) -> dict[str, Any]:
    usage = optional(object_value, raw, "usage", repairs) or {}
    return {name: usage_number(usage, name, repairs) for name in USAGE}


def _as_json(entries: list[dict[str, Any]]) -> str | None:
    return AS_JSON(entries) if entries else None
