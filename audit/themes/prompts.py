"""The prompt by which a model names a theme."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from audit.llm.prompts import Prompt, PromptForm, load_templates

MAX_NAME = 60
FORM = PromptForm(
    "theme_name",
    "name",
    ("words", "phrases"),
    {
        "type": "object",
        "properties": {"name": {"type": "string", "maxLength": MAX_NAME}},
        "required": ["name"],
        "additionalProperties": False,
    },
)


def load_name_prompt(folder: Path | None = None) -> Prompt:
    """The prompt `theme_name`, from `folder` if it is given.

    Raises AuditError if the template cannot be used.
    """
    return load_templates([FORM], resources.files("audit.themes").joinpath("templates"), folder)[FORM.name]
