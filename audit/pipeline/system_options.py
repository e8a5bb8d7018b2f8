"""[[systems]] in a config of `audit run`: the answering systems that are compared, one section each."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from audit.evaluation.criteria import REFERENCE
from audit.generation.model_generator import DEFAULT_CONTEXT
from audit.generation.system_answers import MAX_TOKENS, TEMPERATURE, AnsweringSystem
from audit.pipeline.config_types import ConfigSection, ExistingPath, Text, Texts
from audit.vocabulary import SystemMode

# It becomes part of a file name.
SYSTEM_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def _system_id(value: str) -> str:
    if not SYSTEM_ID.fullmatch(value):
        raise ValueError(f"is '{value}'. It may contain letters, digits, dots, dashes and underscores.")
    if value == REFERENCE:
        raise ValueError(f"is '{value}', which is reserved for reference answers. Choose another id.")
    return value


class SystemOptions(ConfigSection):
    """One answering system: a model, alone or with the passages of [retrieval]."""

    id: Annotated[Text, AfterValidator(_system_id)] = Field(description="short name of the system, needed")
    name: Text = Field("", description="what the pages call it (left out: the model and the mode)")
    mode: Literal["closed_book", "retrieval"] = Field("retrieval", description="the model alone, or with the passages found")
    url: Texts = Field((), description="OpenAI-compatible endpoints of the model (left out: AUDIT_JUDGE_URL)")
    model: Text = Field("", description="the model's name there (left out: AUDIT_JUDGE_MODEL, or the endpoint's only model)")
    temperature: float = Field(TEMPERATURE, ge=0, le=2, description="randomness of the model's words")
    max_tokens: int = Field(MAX_TOKENS, ge=1, description="tokens of an answer, at most")
    passages: int = Field(5, ge=1, description="retrieval: passages of all handbooks together; the best of each come first")
    context: int = Field(DEFAULT_CONTEXT, ge=1_000, description="tokens the model takes for prompt and answer together")
    templates: ExistingPath | None = Field(None, description="folder with your own prompt, closed_book.md or with_evidence.md")

    @property
    def retrieves(self) -> bool:
        """Whether it answers from passages."""
        return SystemMode(self.mode) is SystemMode.RETRIEVAL

    def system(self, model: str, retriever: str) -> AnsweringSystem:
        """The system with the model that its endpoint has."""
        return AnsweringSystem(
            model,
            SystemMode(self.mode),
            self.id,
            self.name,
            retriever if self.retrieves else "",
            self.temperature,
            self.max_tokens,
        )
