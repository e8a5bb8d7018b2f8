"""The release format as data: every record, its fields, their types and their aliases.

The reader, the JSON Schema that others validate against (`audit schema`, data/release.schema.json) and the
tables of data/README.md all come from `KINDS`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from audit.release.fields import JSON_TYPES, Field
from audit.release.handbook_fields import ANSWER, HANDBOOK, MANIFEST, QUESTION, SECTION, TRIAL
from audit.release.pair_fields import CHECK, COMPARISON, INCONSISTENCY, JUDGE_METADATA, PAIR, PLACE, SELF_COMPARISON, THEME
from audit.release.planted_fields import PLANTED, PLANTED_CHANGE
from audit.release.position_fields import HOLDER, POSITION
from audit.release.rating_fields import HUMAN_RATING
from audit.release.route_fields import ROUTE, ROUTED_EVIDENCE, SOURCE, SOURCE_ROUTE
from audit.release.stress_fields import STRESS_CALL, STRESS_DOCUMENT, STRESS_INSTANCE, STRESS_REPLY, STRESS_SUB_ANSWER
from audit.release.system_fields import CRITERIA_SCORES, EVIDENCE, MEASURE, PREFERENCE, REFERENCE, SYSTEM, SYSTEM_ANSWER, USAGE
from audit.vocabulary import plain

KINDS: dict[str, tuple[Field, ...]] = {
    "manifest": MANIFEST, "handbook": HANDBOOK, "question": QUESTION, "answer": ANSWER, "comparison": COMPARISON, "pair": PAIR,
    "judge_metadata": JUDGE_METADATA, "check": CHECK, "theme": THEME, "section": SECTION, "trial": TRIAL,
    "inconsistency": INCONSISTENCY, "place": PLACE, "self_comparison": SELF_COMPARISON, "system": SYSTEM, "reference": REFERENCE,
    "system_answer": SYSTEM_ANSWER, "evidence": EVIDENCE, "criteria": CRITERIA_SCORES, "usage": USAGE, "preference": PREFERENCE,
    "measure": MEASURE, "source": SOURCE, "route": ROUTE, "source_route": SOURCE_ROUTE, "routed_evidence": ROUTED_EVIDENCE,
    "planted": PLANTED, "planted_change": PLANTED_CHANGE, "human_rating": HUMAN_RATING,
    "position": POSITION, "holder": HOLDER,
    "stress_instance": STRESS_INSTANCE, "stress_document": STRESS_DOCUMENT, "stress_reply": STRESS_REPLY,
    "stress_call": STRESS_CALL, "stress_sub_answer": STRESS_SUB_ANSWER,
}  # fmt: skip


def _names(fields: Iterable[Field]) -> dict[str, str]:
    """Plain spelling of every name of every field -> the field's own name; a field's own name beats an alias."""
    names = {plain(alias): field.name for field in fields for alias in field.aliases}
    # Last, so a field's own name wins over an alias of another field
    return names | {plain(field.name): field.name for field in fields}


NAMES: dict[str, dict[str, str]] = {kind: _names(fields) for kind, fields in KINDS.items()}


def canonical(record: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """`record` with every known field under its own name; fields the format does not know are left out.

    Where a record has a field under two names, the field's own name wins.
    """
    return {name: record[key] for name, key in _spelling(tuple(record), kind)}


def spelling(record: Mapping[str, Any], kind: str) -> dict[str, str]:
    """The field's own name -> the name that `record` uses for it, for the fields that it has."""
    return dict(_spelling(tuple(record), kind))


@lru_cache(1024)  # the records of a file nearly always have the same keys
def _spelling(keys: tuple[str, ...], kind: str) -> tuple[tuple[str, str], ...]:
    spellings: dict[str, str] = {}
    for key in keys:
        name = NAMES[kind].get(plain(key))
        if name and (name not in spellings or key == name):
            spellings[name] = key
    return tuple(spellings.items())


def json_schema() -> dict[str, Any]:
    """A JSON Schema (draft 2020-12) with one definition per record of the format."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A release of answers and judgements",
        "description": "Validate a manifest against #/$defs/manifest, a handbook against #/$defs/handbook, and so on.",
        "$defs": {kind: _definition(fields) for kind, fields in KINDS.items()},
        "$ref": "#/$defs/comparison",
    }


def _definition(fields: Iterable[Field]) -> dict[str, Any]:
    fields = list(fields)
    return {
        "type": "object",
        "properties": {field.name: _property(field) for field in fields},
        "required": [field.name for field in fields if field.required],
    }


def _property(field: Field) -> dict[str, Any]:
    described = {**JSON_TYPES[field.type], "description": field.meaning}
    return {**described, "enum": [*field.allowed, None]} if field.allowed else described
