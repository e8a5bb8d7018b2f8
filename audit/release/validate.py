"""Validating records: each becomes a dict with the format's field names and types, or is refused with a sentence.

Each function takes a raw record. An optional field that cannot be used is dropped, with a sentence in `repairs`; a required
one raises Reject, and the caller quarantines the record.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from audit.release.schema import JUDGE_READING, JUDGE_USAGE, KINDS, canonical, field_names
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
    page_starts,
    required_text,
    text,
    texts,
    type_name,
    vocabulary_term,
)
from audit.vocabulary import (
    CHECK_KIND_SPELLINGS,
    CHECK_KINDS,
    DISAGREEING,
    LABEL_SPELLINGS,
    LABELS,
    NOT_ADDRESSED,
    PARSE_SPELLINGS,
    PARSES,
    PHASE_SPELLINGS,
    PHASES,
    SIGNIFICANCE_SPELLINGS,
    SIGNIFICANCES,
    Label,
    Parse,
    plain,
)

REQUIRED = {kind: tuple(field.name for field in fields if field.required) for kind, fields in KINDS.items()}
AS_JSON = json.JSONEncoder(ensure_ascii=False, default=str).encode
USAGE = field_names(JUDGE_USAGE)
MAX_CHECKS = 30_000
# Pages draw a manifest in full, and read it whenever they list runs
MAX_MANIFEST_TEXT, MAX_MANIFEST = 2_000, 500_000
READING = field_names(JUDGE_READING)


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
    """A manifest under the format's own names, with its unknown fields; what no page could draw is cut or left out."""
    kept: dict[str, Any] = {}
    left = MAX_MANIFEST
    for name, whole in (canonical(record, "manifest") | dict(record)).items():
        value = whole[:MAX_MANIFEST_TEXT] if isinstance(whole, str) else whole
        length = len(AS_JSON({name: value}))
        if value != whole:
            repairs.append(f"field '{name[:80]}' has {len(whole):,} characters; its first {MAX_MANIFEST_TEXT:,} were loaded.")
        if length <= left:
            kept[name], left = value, left - length
        else:
            repairs.append(f"field '{name[:80]}' has {length:,} characters; the release was loaded without it.")
    return kept


def handbook(record: Any, repairs: Repairs) -> dict[str, Any]:
    """A handbook's record: handbook_id, organ, center, phase, title, url, aliases, pages, its file and the quality of its text.

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
    }


def question(record: Any, repairs: Repairs) -> dict[str, Any]:
    """A question's record: question_id, question, organ, topics, subtopics, source."""
    raw = fields_of(record, "question")
    required: dict[str, Any] = {name: required_text(raw, name) for name in ("question_id", "question", "organ")}
    return required | {
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
    prefixed = (words or "").lstrip()[: len(NOT_ADDRESSED)].upper() == NOT_ADDRESSED
    absent = boolean(raw.get("absent"), "absent")
    unread = _unread_reason(raw, words, absent, repairs)
    # Neither present nor absent may be assumed: either would count as a finding about the handbook
    if absent is None and words is None and unread is None:
        raise Reject(
            "missing_field", "it has neither an answer nor an 'absent' flag, so it is unknown whether the handbook answers."
        )
    if absent is False and prefixed:
        repairs.append(f"it says absent: false but begins with '{NOT_ADDRESSED}'; taken as present, as its flag says.")
    is_absent = None if unread else prefixed if absent is None else absent
    method = text(raw.get("absence_method"), "absence_method")
    retrieval = optional(object_value, raw, "retrieval", repairs) or {}
    return {
        "question_id": required_text(raw, "question_id"), "handbook_id": required_text(raw, "handbook_id"),
        "answer": words, "absent": is_absent,
        "absence_method": (method or ("prefix" if prefixed else "stated")) if is_absent else None, "unread_reason": unread,
        "mode": _text_or_none(retrieval.get("mode")), "sections": _cited_sections(retrieval),
        "url": _text_or_none(retrieval.get("url")),
        "retrieval": AS_JSON(retrieval) if retrieval else None, "passages": retrieval.get("passages"),
    }  # fmt: skip


def _unread_reason(raw: Mapping[str, Any], words: str | None, absent: bool | None, repairs: Repairs) -> str | None:
    """Why the generator's reply could not be parsed; dropped if there is a parsed answer or absence."""
    reason = (optional(text, raw, "unread_reason", repairs) or "").strip() or None
    if reason and (words is not None or absent):
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


def pair(record: Any, repairs: Repairs) -> dict[str, Any]:
    """A pair's record; `asked` is whether the judge left a trace (a reason or metadata)."""
    raw = fields_of(record, "pair")
    label = vocabulary_term(raw.get("classification"), LABEL_SPELLINGS, "classification", LABELS)
    asked = not (is_missing(raw.get("reasoning")) and is_missing(raw.get("judge_metadata")))
    if label is None and not asked:
        raise Reject("no_verdict", "it has neither a label nor any trace of a judge, so nothing shows that it was ever asked.")
    usage = optional(object_value, raw, "judge_metadata", repairs) or {}
    return _handbook_ids(raw) | {
        "label": label, "asked": asked,
        "significance": significance(raw.get("clinical_significance"), label, repairs),
        "reasoning": optional(text, raw, "reasoning", repairs),
        "divergence_topic": optional(text, raw, "divergence_topic", repairs),
        **{name: _usage_number(usage, name, repairs) for name in USAGE},
        **_judge_reading(usage, repairs), "checks": checks(raw.get("checks"), repairs),
    }  # fmt: skip


def inconsistency(record: Any, repairs: Repairs) -> dict[str, Any]:
    """What a handbook states in several ways: handbook_id, question_id, label, significance, divergence_topic, ..., places."""
    raw = fields_of(record, "inconsistency")
    label = vocabulary_term(raw["classification"], LABEL_SPELLINGS, "classification", LABELS)
    if label is None:
        raise Reject("missing_field", "field 'classification' is empty.")
    places = [_place(place, repairs) for place in list_value(raw["places"], "places")]
    if len({place["position"] for place in places}) < 2:
        raise Reject("too_few_places", "it needs places with at least two positions: one that says this, one that says that.")
    return {
        "handbook_id": required_text(raw, "handbook_id"), "question_id": optional(text, raw, "question_id", repairs),
        "label": label, "significance": significance(raw.get("clinical_significance"), label, repairs), "places": places,
        **{name: optional(text, raw, name, repairs) for name in ("divergence_topic", "reasoning", "judge")},
    }  # fmt: skip


def _place(record: Any, repairs: Repairs) -> dict[str, Any]:
    raw = fields_of(record, "place")
    position = integer(raw["position"], "position")
    if position is None:
        raise Reject("missing_field", "field 'position' of a place is empty.")
    return {
        "position": position, "text": required_text(raw, "text"),
        **{name: optional(text, raw, name, repairs) for name in ("value", "section_id")},
        **{name: optional(integer, raw, name, repairs) for name in ("start", "end", "page")},
    }  # fmt: skip


def self_comparison(record: Any, repairs: Repairs) -> dict[str, Any]:
    """What comparing a handbook with itself counted: handbook_id, judge, statements, agreeing, compared, disagreeing, ..."""
    raw = fields_of(record, "self_comparison")
    counts: dict[str, Any] = {name: integer(raw[name], name) for name in ("compared", "disagreeing")}
    if None in counts.values():
        raise Reject("missing_field", "field 'compared' or 'disagreeing' is empty, so it is unknown what was compared.")
    return counts | {
        "handbook_id": required_text(raw, "handbook_id"), "judge": optional(text, raw, "judge", repairs),
        **{name: optional(integer, raw, name, repairs) for name in ("statements", "agreeing", "unscored", "not_asked")},
    }  # fmt: skip


def theme(record: Any, repairs: Repairs) -> dict[str, Any]:
    """A theme's record: theme_id, name, parent_id, topics (as the pairs have them), terms, medoid, exemplars, named_by."""
    raw = fields_of(record, "theme")
    required: dict[str, Any] = {name: required_text(raw, name) for name in ("theme_id", "name")}
    return required | {
        "parent_id": (optional(text, raw, "parent_id", repairs) or "").strip() or None,
        "medoid": optional(text, raw, "medoid", repairs), "named_by": _text_or_none(record.get("named_by")),
        **{name: optional(phrases, raw, name, repairs) or [] for name in ("topics", "terms", "exemplars")},
    }  # fmt: skip


def phrases(value: Any, name: str) -> list[str]:
    """A list of texts, unchanged."""
    # Not `values.texts`, which would strip the spaces that a divergence topic may begin with.
    return [phrase for item in list_value(value, name) if (phrase := text(item, name)) and phrase.strip()]


def checks(value: Any, repairs: Repairs) -> list[dict[str, Any]]:
    """The further verdicts on a pair: kind, number, label, significance, parse. One that cannot be used is dropped."""
    accepted: dict[tuple[str, int], dict[str, Any]] = {}
    for position, record in enumerate(optional(list_value, {"checks": value}, "checks", repairs) or [], 1):
        try:
            check = _validate_check(record, repairs)
            number = check["number"] if check["number"] is not None else 1 + sum(kind == check["kind"] for kind, _ in accepted)
            if (check["kind"], number) in accepted:
                raise Reject("duplicate_check", f"a check '{check['kind']}' of number {number} occurs earlier.")
            accepted[check["kind"], number] = check | {"number": number}
        except Reject as reject:
            repairs.append(f"check {position}: {reject} The pair was loaded without that check.")
    return list(accepted.values())


def _validate_check(record: Any, repairs: Repairs) -> dict[str, Any]:
    raw = fields_of(record, "check")
    kind = vocabulary_term(required_text(raw, "kind"), CHECK_KIND_SPELLINGS, "kind", CHECK_KINDS)
    if kind is None:
        raise Reject("missing_field", "field 'kind' is empty.")
    label = vocabulary_term(raw.get("classification"), LABEL_SPELLINGS, "classification", LABELS)
    return {
        "kind": kind, "number": optional(_check_number, raw, "number", repairs), "label": label,
        "significance": significance(raw.get("clinical_significance"), label, repairs),
        "parse": optional(_parse, raw, "parse", repairs),
    }  # fmt: skip


def _judge_reading(usage: Mapping[str, Any], repairs: Repairs) -> dict[str, Any]:
    """How the judge's reply was parsed: the fields of READING."""
    kinds = {"parse": _parse, "unscored_reason": text, "cached_tokens": integer, "prompt": text}
    return {name: optional(kinds[name], usage, name, repairs) for name in READING}


def _parse(value: Any, name: str) -> Any:
    # Elsewhere `none` means that there is no value; here it is a term of the vocabulary.
    is_none = isinstance(value, str) and plain(value) == Parse.NONE
    return Parse.NONE if is_none else vocabulary_term(value, PARSE_SPELLINGS, name, PARSES)


def _check_number(value: Any, name: str) -> int | None:
    check_number = integer(value, name)
    if check_number is not None and not 0 <= check_number <= MAX_CHECKS:
        raise Reject("wrong_type", f"field '{name}' is {check_number}, but must lie between 0 and {MAX_CHECKS:,}.")
    return check_number


def _handbook_ids(raw: Mapping[str, Any]) -> dict[str, Any]:
    a, b = required_text(raw, "handbook_a"), required_text(raw, "handbook_b")
    if a == b:
        raise Reject("self_pair", f"both sides are '{a}', but a handbook is not compared with itself.")
    return {"handbook_a": a, "handbook_b": b}


def significance(value: Any, label: Label | None, repairs: Repairs) -> str | None:
    """The significance of a disagreement; dropped where the label is not one."""
    term: str | None = vocabulary_term(value, SIGNIFICANCE_SPELLINGS, "clinical_significance", SIGNIFICANCES)
    if term is None or label in DISAGREEING:
        return term
    repairs.append(
        f"clinical_significance '{term}' on {label or 'an unscored pair'}: only {' and '.join(DISAGREEING)} have one. "
        "The pair was loaded without it."
    )
    return None


def _usage_number(usage: Mapping[str, Any], name: str, repairs: Repairs) -> float | None:
    usage_value: float | None = optional(integer if name.endswith("tokens") else number, usage, name, repairs)
    return usage_value


def _cited_sections(retrieval: Mapping[str, Any]) -> list[str]:
    listed = retrieval.get("sections") or []
    return [str(section) for section in listed] if isinstance(listed, list) else [str(listed)]


def _text_or_none(value: Any) -> str | None:
    return None if value is None else str(value)


def _alias_words(kind: str, name: str) -> str:
    aliases = next(field.aliases for field in KINDS[kind] if field.name == name)
    return f" (or {', '.join(aliases)})" if aliases else ""
