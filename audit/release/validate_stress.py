"""Validating stress tests and what systems replied to them, as in `audit.release.validate`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from audit.release.stress_fields import SUB_ANSWER_SCORES
from audit.release.validate import USAGE, fields_of, usage_number
from audit.release.values import (
    Reject,
    Repairs,
    boolean,
    integer,
    list_value,
    number,
    object_value,
    optional,
    required_text,
    text,
    vocabulary_term,
)
from audit.vocabulary import (
    DOCUMENT_CALL_SPELLINGS,
    DOCUMENT_CALLS,
    STRESS_TEST_SPELLINGS,
    STRESS_TESTS,
    DocumentCall,
    StressTest,
)

UNKNOWN_OPTION, NO_CHOICE = "unknown option", "no choice"
"""The unread_reason of a choice that is not an option, and of a reply without one."""
OPTIONAL_TEXTS = ("edited_from", "sub_question", "sub_answer", "false_answer")
MAX_DOCUMENTS = 1_000


def stress_instance(record: Any, repairs: Repairs) -> dict[str, Any]:
    """An instance: its ids, test, question, options, gold, signal_share, size, documents, dataset, seed.

    `options` is {} for an open question. `question` is None where the release leaves the text to questions.jsonl.
    """
    raw = fields_of(record, "stress_instance")
    test: StressTest | None = vocabulary_term(raw["test"], STRESS_TEST_SPELLINGS, "test", STRESS_TESTS)
    if test is None:
        raise Reject("missing_field", "field 'test' is empty.")
    options, gold = _options(raw), required_text(raw, "gold")
    if options and gold not in options:
        raise Reject("unknown_option", f"its gold '{gold}' is not an option. Options: {', '.join(options)}.")
    documents = list(_documents(raw, repairs))
    size = _integer_within(raw, "size", MAX_DOCUMENTS)
    return {
        "instance_id": required_text(raw, "instance_id"), "test": test.value, "question_id": required_text(raw, "question_id"),
        "question": optional(text, raw, "question", repairs), "options": options, "gold": gold,
        "signal_share": _integer_within(raw, "signal_share", 100), "size": len(documents) if size is None else size,
        "documents": documents, "dataset": optional(text, raw, "dataset", repairs),
        "seed": optional(integer, raw, "seed", repairs),
    }  # fmt: skip


def _options(raw: Mapping[str, Any]) -> dict[str, str]:
    options = object_value(raw.get("options"), "options") or {}
    return {letter: required_text(options, letter) for letter in options}


def _integer_within(raw: Mapping[str, Any], name: str, largest: int) -> int | None:
    value = integer(raw.get(name), name)
    if value is not None and not 0 <= value <= largest:
        raise Reject("out_of_range", f"field '{name}' is {value}, but must be from 0 to {largest:,}.")
    return value


def _documents(raw: Mapping[str, Any], repairs: Repairs) -> Iterator[dict[str, Any]]:
    """The documents of an instance. An unusable document rejects the instance, because its share of signal would change."""
    seen: set[str] = set()
    entries = list_value(raw.get("documents"), "documents")
    if len(entries) > MAX_DOCUMENTS:
        raise Reject("out_of_range", f"it has {len(entries):,} documents, but may have {MAX_DOCUMENTS:,} at most.")
    for position, entry in enumerate(entries, 1):
        try:
            document = _document(entry, repairs)
        except Reject as reject:
            raise Reject(reject.code, f"document {position}: {reject}") from reject
        if document["document_id"] in seen:
            repairs.append(f"document '{document['document_id']}' occurs twice. Only the first was loaded.")
            continue
        seen.add(document["document_id"])
        yield document


def _document(entry: Any, repairs: Repairs) -> dict[str, Any]:
    raw = fields_of(entry, "stress_document")
    is_signal = boolean(raw["is_signal"], "is_signal")
    if is_signal is None:
        raise Reject("missing_field", "field 'is_signal' is empty, so it is unknown whether it is signal or noise.")
    edit = optional(object_value, raw, "edit", repairs)
    return {
        "document_id": required_text(raw, "document_id"), "text": required_text(raw, "text"), "is_signal": is_signal,
        # Not optional(): a document whose truth is unknown must not be counted as factual
        "is_factual": boolean(raw.get("is_factual"), "is_factual") is not False, "edit": edit,
        **{name: optional(text, raw, name, repairs) or None for name in OPTIONAL_TEXTS},
    }  # fmt: skip


def stress_reply(record: Any, repairs: Repairs) -> dict[str, Any]:
    """A reply: instance_id, system_id, reasoning, choice, insufficient, documents, sub_answers, unread_reason, usage.

    `insufficient` is None where no choice could be read; `unread_reason` then says why.
    """
    raw = fields_of(record, "stress_reply")
    choice = (text(raw.get("choice"), "choice") or "").strip() or None
    insufficient = boolean(raw.get("insufficient"), "insufficient")
    reason = (optional(text, raw, "unread_reason", repairs) or "").strip() or None
    if insufficient and choice:
        repairs.append(f"it chooses '{choice[:80]}' and says that the documents do not suffice. It was loaded as unreadable.")
        choice, insufficient, reason = None, None, "choice and insufficient"
    elif reason and (choice or insufficient):
        repairs.append(f"unread_reason '{reason[:80]}' together with a choice. The reply was loaded without the choice.")
        choice = insufficient = None
    elif not (choice or insufficient or reason):
        reason = NO_CHOICE
    usage = optional(object_value, raw, "usage", repairs) or {}
    return {
        "instance_id": required_text(raw, "instance_id"), "system_id": required_text(raw, "system_id"),
        "reasoning": optional(text, raw, "reasoning", repairs), "choice": choice,
        "insufficient": None if reason else bool(insufficient), "unread_reason": reason,
        "score": optional(_score, raw, "score", repairs),
        "documents": _by_document(raw, "documents", repairs, _call),
        "sub_answers": _by_document(raw, "sub_answers", repairs, _sub_answer),
        **{name: usage_number(usage, name, repairs) for name in USAGE},
    }  # fmt: skip


def _by_document(
    raw: Mapping[str, Any], name: str, repairs: Repairs, read: Callable[[Any, Repairs], dict[str, Any]]
) -> list[dict[str, Any]]:
    """The entries of a list about documents, one per document; unusable entries are dropped with a message."""
    entries: dict[str, dict[str, Any]] = {}
    contradicted: set[str] = set()
    for position, entry in enumerate(optional(list_value, raw, name, repairs) or [], 1):
        try:
            value = read(entry, repairs)
        except Reject as reject:
            repairs.append(f"entry {position} of '{name}': {str(reject).rstrip('.')}. It was loaded without that entry.")
            continue
        if entries.setdefault(value["document_id"], value) != value:
            contradicted.add(value["document_id"])
    for document_id in contradicted:
        repairs.append(f"'{name}' has document '{document_id}' twice, with different content. It was loaded without both.")
        del entries[document_id]
    return list(entries.values())


def _call(entry: Any, _: Repairs) -> dict[str, Any]:
    raw = fields_of(entry, "stress_call")
    call: DocumentCall | None = vocabulary_term(raw["call"], DOCUMENT_CALL_SPELLINGS, "call", DOCUMENT_CALLS)
    if call is None:
        raise Reject("missing_field", "field 'call' is empty.")
    return {"document_id": required_text(raw, "document_id"), "call": call.value}


def _sub_answer(entry: Any, repairs: Repairs) -> dict[str, Any]:
    raw = fields_of(entry, "stress_sub_answer")
    return {
        "document_id": required_text(raw, "document_id"), "answer": required_text(raw, "answer"),
        "score": optional(_score, raw, "score", repairs),
    }  # fmt: skip


def _score(value: Any, name: str) -> float | None:
    score = number(value, name)
    if score is not None and score not in SUB_ANSWER_SCORES:
        raise Reject("out_of_range", f"field '{name}' is {score:g}, but must be 0, 0.5 or 1.")
    return score
