"""What a reply must look like: one fixed JSON Schema per template, never one per pair (a server compiles each anew)."""

from __future__ import annotations

from typing import Any

from audit.vocabulary import LABELS, SIGNIFICANCES

LONGEST_REASONING, LONGEST_TOPIC = 700, 120


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


LABEL = {"type": "string", "enum": [*map(str, LABELS)]}
SIGNIFICANCE = {"type": "string", "enum": [*map(str, SIGNIFICANCES)]}
TOPIC = {"type": "string", "maxLength": LONGEST_TOPIC}

# Keys come out in this order, so the reasoning is written before the label that it leads to.
SCHEMAS: dict[str, dict[str, Any]] = {
    "absence": _object(addressed={"type": "string", "enum": ["YES", "NO"]}),
    "structured": _object(
        reasoning={"type": "string", "maxLength": LONGEST_REASONING},
        classification=LABEL,
        divergence_topic={"type": ["string", "null"], "maxLength": LONGEST_TOPIC},
        clinical_significance={"type": ["string", "null"], "enum": [*map(str, SIGNIFICANCES), None]},
    ),
    "label_only": _object(classification=LABEL),
    "extract": _object(divergence_topic=TOPIC, clinical_significance=SIGNIFICANCE),
}
