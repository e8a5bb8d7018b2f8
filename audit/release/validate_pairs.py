"""Validating pairs and their checks, disagreements within a handbook, and themes, as in `audit.release.validate`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from audit.release.fields import field_names
from audit.release.pair_fields import JUDGE_READING
from audit.release.validate import USAGE, fields_of, text_or_none, usage_number
from audit.release.values import (
    Reject,
    Repairs,
    integer,
    is_missing,
    list_value,
    object_value,
    optional,
    required_text,
    text,
    vocabulary_term,
)
from audit.vocabulary import (
    CHECK_KIND_SPELLINGS,
    CHECK_KINDS,
    DISAGREEING,
    LABEL_SPELLINGS,
    LABELS,
    PARSE_SPELLINGS,
    PARSES,
    SIGNIFICANCE_SPELLINGS,
    SIGNIFICANCES,
    Label,
    Parse,
    plain,
)

READING = field_names(JUDGE_READING)
MAX_CHECKS = 30_000


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
        **{name: usage_number(usage, name, repairs) for name in USAGE},
        **_judge_reading(usage, repairs), "checks": checks(raw.get("checks"), repairs),
    }  # fmt: skip


def inconsistency(record: Any, repairs: Repairs) -> dict[str, Any]:
    """A disagreement within a handbook: handbook_id, question_id, label, significance, divergence_topic, ..., places."""
    raw = fields_of(record, "inconsistency")
    label = vocabulary_term(raw["classification"], LABEL_SPELLINGS, "classification", LABELS)
    if label is None:
        raise Reject("missing_field", "field 'classification' is empty.")
    places = [_place_record(entry, repairs) for entry in list_value(raw["places"], "places")]
    if len({entry["position"] for entry in places}) < 2:
        raise Reject("too_few_places", "it needs places with at least two different positions.")
    return {
        "handbook_id": required_text(raw, "handbook_id"), "question_id": optional(text, raw, "question_id", repairs),
        "label": label, "significance": significance(raw.get("clinical_significance"), label, repairs), "places": places,
        **{name: optional(text, raw, name, repairs) for name in ("divergence_topic", "reasoning", "judge")},
    }  # fmt: skip


def _place_record(record: Any, repairs: Repairs) -> dict[str, Any]:
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
    """The counts from comparing a handbook with itself: handbook_id, judge, statements, agreeing, compared, disagreeing, ..."""
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
        "medoid": optional(text, raw, "medoid", repairs), "named_by": text_or_none(record.get("named_by")),
        **{name: optional(phrases, raw, name, repairs) or [] for name in ("topics", "terms", "exemplars")},
    }  # fmt: skip


def phrases(value: Any, name: str) -> list[str]:
    """A list of texts, unchanged."""
    # Not `values.texts`, which would strip leading spaces of a divergence topic.
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
        "parse": optional(parse_status, raw, "parse", repairs),
    }  # fmt: skip


def _judge_reading(usage: Mapping[str, Any], repairs: Repairs) -> dict[str, Any]:
    """How the judge's reply was parsed: the fields of READING."""
    kinds = {"parse": parse_status, "unscored_reason": text, "cached_tokens": integer, "prompt": text}
    return {name: optional(kinds[name], usage, name, repairs) for name in READING}


def parse_status(value: Any, name: str) -> Any:
    """How a judge's reply was read, a `Parse`; None without a value."""
    # Elsewhere `none` means a missing value; here it is a term of the vocabulary.
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
