"""Names for themes by a language model: the prompt, the call for one theme, and the name in a reply."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

from audit.llm.calls import Call, Reply
from audit.llm.prompts import Prompt, PromptForm, load_templates
from audit.themes.naming import Card

MAX_NAME_LENGTH = 60
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": MAX_NAME_LENGTH}},
    "required": ["name"],
    "additionalProperties": False,
}
FORM = PromptForm("theme_name", "name", ("words", "phrases"), SCHEMA)


def naming_prompt(folder: Path | None = None) -> Prompt:
    """The template `theme_name`, from `folder` where one is given. Raises AuditError where it cannot be used."""
    return load_templates([FORM], resources.files("audit.themes").joinpath("templates"), folder)[FORM.name]


def naming_call(prompt: Prompt, model: str, number: int, card: Card) -> Call:
    """The request that asks `model` to name one theme; a parent is named by the names of its themes."""
    phrases = card.children or card.exemplars
    return prompt.call(model, f"theme {number}", {"words": ", ".join(card.terms), "phrases": "\n".join(phrases)})


def parse_name(reply: Reply | None) -> str | None:
    """The name in a reply, on one line; None where the reply has no name, or one that is too long."""
    try:
        record: Any = json.loads(reply.text or "", strict=False) if reply else None
    except ValueError:
        return None
    name = record.get("name") if isinstance(record, dict) else None
    name = " ".join(name.split()) if isinstance(name, str) else ""
    return name if 0 < len(name) <= MAX_NAME_LENGTH else None
