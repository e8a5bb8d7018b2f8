"""The judge's prompts: which templates there are, which texts they take, and the JSON Schema of their replies."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any

from audit.llm.prompts import Prompt, PromptForm, load_templates
from audit.vocabulary import LABELS, SIGNIFICANCES

MAX_REASONING, MAX_TOPIC = 700, 120


def _object_schema(**properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


LABEL = {"type": "string", "enum": [*map(str, LABELS)]}
SIGNIFICANCE = {"type": "string", "enum": [*map(str, SIGNIFICANCES)]}
TOPIC = {"type": "string", "maxLength": MAX_TOPIC}

# A model writes the keys in this order, so the reasoning comes before the label that it leads to. One fixed schema for each
# template, never one for each pair: a server compiles every new schema.
SCHEMAS: dict[str, dict[str, Any]] = {
    "absence": _object_schema(addressed={"type": "string", "enum": ["YES", "NO"]}),
    "structured": _object_schema(
        reasoning={"type": "string", "maxLength": MAX_REASONING},
        classification=LABEL,
        divergence_topic={"type": ["string", "null"], "maxLength": MAX_TOPIC},
        clinical_significance={"type": ["string", "null"], "enum": [*map(str, SIGNIFICANCES), None]},
    ),
    "label_only": _object_schema(classification=LABEL),
    "extract": _object_schema(divergence_topic=TOPIC, clinical_significance=SIGNIFICANCE),
}

PAIR_FIELDS = ("question", "answer_a", "answer_b")
FORMS = (
    PromptForm("absence", "absence", ("question", "answer"), SCHEMAS["absence"]),
    PromptForm("structured", "structured", PAIR_FIELDS, SCHEMAS["structured"]),
    PromptForm("label_only", "label", PAIR_FIELDS, SCHEMAS["label_only"]),
    PromptForm("extract", "extract", (*PAIR_FIELDS, "label"), SCHEMAS["extract"]),
)


def load_prompts(folder: Path | None = None) -> dict[str, Prompt]:
    """All prompts by name; a template that `folder` has too is taken from there.

    Raises AuditError if a template of `folder` cannot be used, or the folder contains none.
    """
    return load_templates(FORMS, resources.files("audit.judging").joinpath("templates"), folder)
