"""The judge's prompts: which templates there are, and what each takes."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from audit.judging.schemas import SCHEMAS
from audit.llm.prompts import Prompt, PromptForm, load_templates

PAIR = ("question", "answer_a", "answer_b")
FORMS = (
    PromptForm("absence", "absence", ("question", "answer"), SCHEMAS["absence"]),
    PromptForm("structured", "structured", PAIR, SCHEMAS["structured"]),
    PromptForm("label_only", "label", PAIR, SCHEMAS["label_only"]),
    PromptForm("extract", "extract", (*PAIR, "label"), SCHEMAS["extract"]),
    PromptForm("theme_name", "name", ("words", "phrases"), SCHEMAS["theme_name"]),
)


def load_prompts(folder: Path | None = None) -> dict[str, Prompt]:
    """All templates by name; a template that `folder` holds too is taken from there.

    Raises AuditError when a template of `folder` cannot be used, or the folder holds none.
    """
    return load_templates(FORMS, resources.files("audit.judging").joinpath("templates"), folder)
