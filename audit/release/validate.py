"""Validating handbooks, questions, answers, sections and trials: each becomes a dict with the format's field names and types,
or is rejected with a message.

Each function takes a raw record. An unusable optional field is dropped, with a message in `repairs`; an unusable required one
raises Reject, and the caller quarantines the record.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from audit.release.fields import JUDGE_USAGE, field_names
from audit.release.schema import KINDS, canonical
from audit.release.values import (
    Reject,
    Repairs,
    boolean,
    integer,
    number,
    object_value,
    optional,
    page_starts,
    required_text,
    text,
    texts,
    type_name,
    vocabulary_term,
)
from audit.vocabulary import GENERAL, NOT_ADDRESSED, PHASE_SPELLINGS, PHASES, says_absence

REQUIRED = {kind: tuple(field.name for field in fields if field.required) for kind, fields in KINDS.items()}
USAGE = field_names(JUDGE_USAGE)
# The names that servers use, and that earlier versions of this software wrote in answers
SERVER_NAMES = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens", "latency_s": "seconds"}
AS_JSON = json.JSONEncoder(ensure_ascii=False, default=str).encode
# Pages draw a manifest in full, and read it whenever they list runs
MAX_MANIFEST_TEXT, MAX_MANIFEST = 2_000, 500_000


def fields_of(record: Any, kind: str) -> dict[str, Any]:
    """The known fields of `record` under their own names. Rejects a record that is not an object or lacks a required field."""
    if not isinstance(record, Mapping):
        raise Reject("wrong_type", f"this is {type_name(record)}, but each record must be an object.")
    fields = canonical(record, kind)
    for name in REQUIRED[kind]:
        if name not in fields:
            raise Reject(
                "missing_field",
                f"it has no field '{name}'{_alias_words(kind, name)}; it has: {', '.join(map(str, record)) or 'nothing'}.",
            )
    return fields


def manifest(record: Mapping[str, Any], repairs: Repairs) -> dict[str, Any]:
    """A manifest under the format's own names, with its unknown fields; values too large for a page are truncated or left out."""
    loaded: dict[str, Any] = {}
    left = MAX_MANIFEST
    for name, full in (canonical(record, "manifest") | dict(record)).items():
        value = full[:MAX_MANIFEST_TEXT] if isinstance(full, str) else full
        length = len(AS_JSON({name: value}))
        if value != full:
            repairs.append(f"field '{name[:80]}' has {len(full):,} characters; its first {MAX_MANIFEST_TEXT:,} were loaded.")
        if length <= left:
            loaded[name], left = value, left - length
        else:
            repairs.append(f"field '{name[:80]}' has {length:,} characters; the release was loaded without it.")
    return loaded


def handbook(record: Any, repairs: Repairs) -> dict[str, Any]:
    """A handbook's record: its ids, organ, center, phase, title, url, aliases, pages, file, quality of its text, and edition.

    The file: digest, licence, may_be_downloaded. The quality: silent_pages, unreadable, language.
    """
    raw = fields_of(record, "handbook")
    required: dict[str, Any] = {name: required_text(raw, name) for name in ("handbook_id", "organ", "center")}
    phase = vocabulary_term(raw.get("phase"), PHASE_SPELLINGS, "phase", PHASES) if raw.get("phase") is not None else None
    return required | {
        "phase": phase or "combined",
        "title": text(raw.get("title"), "title"),
        "url": text(raw.get("url"), "url"),
        "aliases": optional(texts, raw, "aliases", repairs) or [],
        "pages": optional(integer, raw, "pages", repairs),
        "digest": optional(text, raw, "digest", repairs),
        "licence": optional(text, raw, "licence", repairs),
        "may_be_downloaded": optional(boolean, raw, "may_be_downloaded", repairs) or False,
        "silent_pages": optional(integer, raw, "silent_pages", repairs),
        "unreadable": optional(number, raw, "unreadable", repairs),
        "language": optional(text, raw, "language", repairs),
        "edition": optional(text, raw, "edition", repairs),
        "edition_of": optional(text, raw, "edition_of", repairs),
    }


def question(record: Any, repairs: Repairs) -> dict[str, Any]:
    """A question's record: question_id, question, organ, topics, subtopics, source."""
    raw = fields_of(record, "question")
    required: dict[str, Any] = {name: required_text(raw, name) for name in ("question_id", "question")}
    organ = (text(raw.get("organ"), "organ") or "").strip()
    if "organ" in raw and not organ:
        repairs.append(f"field 'organ' is empty. The question was loaded with '{GENERAL}'.")
    return required | {
        "organ": organ or GENERAL,
        "topics": optional(texts, raw, "topics", repairs) or [],
        "subtopics": optional(texts, raw, "subtopics", repairs) or [],
        "source": text(raw.get("source"), "source"),
    }


def answer(record: Any, repairs: Repairs) -> dict[str, Any]:
    """An answer's record. Whether it is absent is taken from `absent`, or else from the canonical prefix of its text.

    It is neither (`absent` None) where the generator's reply could not be parsed: no text, and a reason for that.
    """
    raw = fields_of(record, "answer")
    words = text(raw.get("answer"), "answer")
    prefixed = says_absence(words)
    absent = boolean(raw.get("absent"), "absent")
    unread = unread_reason(raw, words, absent, repairs)
    # Neither present nor absent may be assumed: either would be a finding about the handbook
    if absent is None and words is None and unread is None:
        raise Reject(
            "missing_field", "it has neither an answer nor an 'absent' flag, so it is unknown whether the handbook answers."
        )
    if absent is False and prefixed:
        repairs.append(f"it has absent: false but begins with '{NOT_ADDRESSED}'; it was loaded as present, following the flag.")
    is_absent = None if unread else prefixed if absent is None else absent
    method = text(raw.get("absence_method"), "absence_method")
    retrieval = optional(object_value, raw, "retrieval", repairs) or {}
    usage = optional(object_value, raw, "usage", repairs) or {}
    return {
        "question_id": required_text(raw, "question_id"), "handbook_id": required_text(raw, "handbook_id"),
        "answer": words, "absent": is_absent,
        "absence_method": (method or ("prefix" if prefixed else "stated")) if is_absent else None, "unread_reason": unread,
        "mode": text_or_none(retrieval.get("mode")), "sections": _cited_sections(retrieval),
        "url": text_or_none(retrieval.get("url")),
        "retrieval": AS_JSON(retrieval) if retrieval else None, "passages": retrieval.get("passages"),
        **{name: usage_number({name: usage.get(name, usage.get(SERVER_NAMES[name]))}, name, repairs) for name in USAGE},
    }  # fmt: skip


def usage_number(usage: Mapping[str, Any], name: str, repairs: Repairs) -> float | None:
    """One number of USAGE: tokens are integers, `latency_s` is in seconds."""
    usage_value: float | None = optional(integer if name.endswith("tokens") else number, usage, name, repairs)
    return usage_value


def unread_reason(raw: Mapping[str, Any], words: str | None, without: bool | None, repairs: Repairs) -> str | None:
    """Why the generator's reply could not be parsed; dropped if there is a parsed answer, or a parsed absence or refusal."""
    reason = (optional(text, raw, "unread_reason", repairs) or "").strip() or None
    if reason and (words is not None or without):
        repairs.append(f"unread_reason '{reason[:80]}' on an answer that was parsed. The answer was loaded without it.")
        return None
    return reason


def section(record: Any, repairs: Repairs) -> dict[str, Any]:
    """A section's record: handbook_id, section_id, heading, above, text, pages, page_starts, url."""
    raw = fields_of(record, "section")
    required: dict[str, Any] = {name: required_text(raw, name) for name in ("handbook_id", "section_id")}
    return required | {
        "text": text(raw["text"], "text") or "",
        "heading": optional(text, raw, "heading", repairs) or "",
        "above": optional(texts, raw, "above", repairs) or [],
        "pages": optional(integers, raw, "pages", repairs) or [],
        "page_starts": optional(page_starts, raw, "page_starts", repairs) or [],
        "url": optional(text, raw, "url", repairs),
    }


def trial(record: Any, repairs: Repairs) -> dict[str, Any]:
    """A trial's record: question_id, handbook_id, strategy, mode, ranked, gold, reason, seconds."""
    raw = fields_of(record, "trial")
    required: dict[str, Any] = {name: required_text(raw, name) for name in ("question_id", "handbook_id", "strategy")}
    return required | {
        **{name: optional(text, raw, name, repairs) for name in ("mode", "reason")},
        **{name: optional(texts, raw, name, repairs) or [] for name in ("ranked", "gold")},
        "seconds": optional(number, raw, "seconds", repairs),
    }


def integers(value: Any, name: str) -> list[int]:
    """A list of integers; a cell of a table may contain several."""
    return [parsed for item in texts(value, name) if (parsed := integer(item, name)) is not None]


def _cited_sections(retrieval: Mapping[str, Any]) -> list[str]:
    listed = retrieval.get("sections") or []
    return [str(section) for section in listed] if isinstance(listed, list) else [str(listed)]


def text_or_none(value: Any) -> str | None:
    """Any value as a text; None stays None."""
    return None if value is None else str(value)


def _alias_words(kind: str, name: str) -> str:
    aliases = next(field.aliases for field in KINDS[kind] if field.name == name)
    return f" (or {', '.join(aliases)})" if aliases else ""
