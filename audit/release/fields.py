"""What a field of the release format is, the types that it may have, and the fields that several records share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from audit.vocabulary import PARSES


@dataclass(frozen=True)
class Field:
    """One field of a record. `type` is one of the keys of `JSON_TYPES`; `allowed` are its only values, texts or integers."""

    name: str
    type: str
    meaning: str
    required: bool = False
    aliases: tuple[str, ...] = ()
    allowed: tuple[str, ...] | tuple[int, ...] = ()


JSON_TYPES: dict[str, dict[str, Any]] = {
    "text": {"type": ["string", "null"]},
    "flag": {"type": ["boolean", "null"]},
    "integer": {"type": ["integer", "null"]},
    "number": {"type": ["number", "null"]},
    "texts": {"type": ["array", "null"], "items": {"type": "string"}},
    "integers": {"type": ["array", "null"], "items": {"type": "integer"}},
    "page starts": {
        "type": ["array", "null"],
        "items": {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 2, "maxItems": 2},
    },
    "object": {"type": ["object", "null"]},
    "matrix": {
        "type": ["array", "null"],
        "items": {"type": "array", "items": {"type": ["integer", "null"], "minimum": 0, "maximum": 4}},
    },
    "pairs": {"type": "array", "items": {"$ref": "#/$defs/pair"}},
    "judging": {"anyOf": [{"$ref": "#/$defs/judge_metadata"}, {"type": "null"}]},
    "checks": {"type": ["array", "null"], "items": {"$ref": "#/$defs/check"}},
    "places": {"type": "array", "items": {"$ref": "#/$defs/place"}},
    "evidence": {"type": ["array", "null"], "items": {"$ref": "#/$defs/evidence"}},
    "usage": {"anyOf": [{"$ref": "#/$defs/usage"}, {"type": "null"}]},
    "source routes": {"type": ["array", "null"], "items": {"$ref": "#/$defs/source_route"}},
    "routed evidence": {"type": ["array", "null"], "items": {"$ref": "#/$defs/routed_evidence"}},
    "planted change": {"anyOf": [{"$ref": "#/$defs/planted_change"}, {"type": "null"}]},
    "holders": {"type": "array", "items": {"$ref": "#/$defs/holder"}},
    "stress documents": {"type": ["array", "null"], "items": {"$ref": "#/$defs/stress_document"}},
    "stress calls": {"type": ["array", "null"], "items": {"$ref": "#/$defs/stress_call"}},
    "stress sub answers": {"type": ["array", "null"], "items": {"$ref": "#/$defs/stress_sub_answer"}},
    "objects": {"type": ["array", "null"], "items": {"type": "object"}},
}

QUESTION_ID = Field("question_id", "text", "the question's id", required=True, aliases=("qid", "question_key"))
PARSE = Field("parse", "text", "how the judge's reply was read; rules: no model was asked", allowed=tuple(PARSES))
JUDGE_USAGE = (
    Field("input_tokens", "integer", "tokens of the prompt"),
    Field("output_tokens", "integer", "tokens of the reply"),
    Field("latency_s", "number", "seconds until the reply was there"),
)


def field_names(fields: Iterable[Field]) -> tuple[str, ...]:
    """The format's own names of `fields`, in order."""
    return tuple(field.name for field in fields)
