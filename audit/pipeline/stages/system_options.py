"""[[systems]] in a config of `audit run`: the answering systems that are compared, one section each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from audit.evaluation.criteria import REFERENCE
from audit.pipeline.generation.model_generator import DEFAULT_CONTEXT
from audit.pipeline.generation.system_answers import MAX_TOKENS, TEMPERATURE, AnsweringSystem
from audit.pipeline.retrieval.across.settings import CrossSourceSettings
from audit.pipeline.retrieval.across.sources import DEFAULT_AUTHORITY
from audit.pipeline.retrieval.strategies import CLOSEST, CORPUS_STRATEGIES, HERO
from audit.pipeline.stages.config_types import ConfigSection, ExistingPath, Text, Texts
from audit.pipeline.stages.settings_models import AcrossTable
from audit.vocabulary import SystemMode

SOURCED_TOKENS = 1_024
BY_MODEL: Final = "model"
DECLARED: Final = "groups"
CORPUS: Final = "corpus"

# It becomes part of a file name.
SYSTEM_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def _system_id(value: str) -> str:
    if not SYSTEM_ID.fullmatch(value):
        raise ValueError(f"is '{value}'. It may contain letters, digits, dots, dashes and underscores.")
    if value == REFERENCE:
        raise ValueError(f"is '{value}', which is reserved for reference answers. Choose another id.")
    return value


def _authority(value: dict[str, float]) -> dict[str, float]:
    for source, authority in value.items():
        if not 0 <= authority <= 1:
            raise ValueError(f"of '{source}' is {authority:g}; allowed: 0, the least trusted source, to 1, the most trusted.")
    return value


class SystemOptions(ConfigSection):
    """One answering system: a model, alone or with the passages of [retrieval], or one that routes questions to sources."""

    id: Annotated[Text, AfterValidator(_system_id)] = Field(description="short name of the system, required")
    name: Text = Field("", description="its name on the pages (left out: the model and the mode)")
    mode: Literal["closed_book", "retrieval", "multi_source"] = Field(
        "retrieval", description="the model alone, with the passages found, or from several sources with marked statements"
    )
    generator: Literal["model", "passages"] = Field(
        BY_MODEL, description="multi_source: who writes, the model, or nobody: the closest passages of the sources are quoted"
    )
    url: Texts = Field((), description="OpenAI-compatible endpoints of the model (left out: AUDIT_JUDGE_URL)")
    model: Text = Field("", description="the model's name there (left out: AUDIT_JUDGE_MODEL, or the endpoint's only model)")
    temperature: float = Field(TEMPERATURE, ge=0, le=2, description="randomness of the model's words")
    max_tokens: int = Field(
        MAX_TOKENS, ge=1, description=f"tokens of an answer, at most; multi_source, with quotes: {SOURCED_TOKENS} if left out"
    )
    passages: int = Field(5, ge=1, description="retrieval: passages of all handbooks together")
    search: Literal["handbooks", "corpus"] = Field(
        "handbooks", description="retrieval: the best passages of each handbook first, or the best of all handbooks as one corpus"
    )
    strategy: Text = Field(
        "",
        description=f'search = "{CORPUS}": {", ".join(CORPUS_STRATEGIES)} (left out: that of [retrieval]; for {CLOSEST}: {HERO})',
    )
    context: int = Field(DEFAULT_CONTEXT, ge=1_000, description="tokens the model takes for prompt and answer together")
    templates: ExistingPath | None = Field(
        None, description="folder with your own prompt, closed_book.md, with_evidence.md or several_sources.md"
    )
    group_by: Literal["center", "organ", "groups"] = Field(
        "center", description="multi_source: a source is all handbooks of a center, of an organ, or a declared group"
    )
    groups: dict[str, Texts] = Field(
        {}, description="multi_source: each source with ids or centers of its handbooks; handbooks in none are not searched"
    )
    authority: Annotated[dict[str, float], AfterValidator(_authority)] = Field(
        {},
        description=f"multi_source: how much each source counts before anything is searched, 0 to 1 (else {DEFAULT_AUTHORITY})",
    )
    required: Texts = Field((), description="multi_source: sources that the evidence covers first")
    entities: ExistingPath | None = Field(
        None, description="multi_source: vocabulary of the graph (TOML); left out: the medical terms of this program"
    )
    learn: ExistingPath | None = Field(
        None,
        description="multi_source: questions with their primary_source (JSONL), to learn the weights of routing from; other "
        "questions than those asked",
    )
    across: AcrossTable = Field(
        CrossSourceSettings(),
        description="multi_source: [systems.across]; in it tables daks, consolidation, graph (or graph = false) and packing",
    )

    @property
    def retrieves(self) -> bool:
        """Whether it answers from the passages of [retrieval]."""
        return SystemMode(self.mode) is SystemMode.RETRIEVAL

    @property
    def searches_corpus(self) -> bool:
        """Whether its passages are the best of all handbooks as one corpus."""
        return self.retrieves and self.search == CORPUS

    @property
    def asks_sources(self) -> bool:
        """Whether it answers from several sources."""
        return SystemMode(self.mode) is SystemMode.MULTI_SOURCE

    @property
    def calls_model(self) -> bool:
        """Whether a model writes its answers."""
        return not self.asks_sources or self.generator == BY_MODEL

    def system(self, model: str, retriever: str) -> AnsweringSystem:
        """The system with the model that its endpoint has."""
        tokens = SOURCED_TOKENS if self.asks_sources and "max_tokens" not in self.model_fields_set else self.max_tokens
        return AnsweringSystem(
            model,
            SystemMode(self.mode),
            self.id,
            self.name,
            self.across.retriever if self.asks_sources else retriever if self.retrieves else "",
            self.temperature,
            tokens,
        )


def search_problems(options: SystemOptions) -> Iterator[tuple[str, str]]:
    """(option, message) for inconsistent options of the search of one corpus."""
    written = options.model_fields_set
    if not options.retrieves and (named := sorted({"search", "strategy"} & written)):
        yield named[0], f"{named[0]} is for mode = \"retrieval\", and the mode of '{options.id}' is {options.mode}."
    elif options.strategy and not options.searches_corpus:
        yield (
            "strategy",
            (
                f'strategy is for search = "{CORPUS}"; the passages of single handbooks are those of [retrieval]. Write '
                f'search = "{CORPUS}", or leave strategy out.'
            ),
        )
    elif options.strategy and options.strategy not in CORPUS_STRATEGIES:
        yield "strategy", f"strategy is '{options.strategy}'. Allowed: {', '.join(CORPUS_STRATEGIES)}."


def source_problems(options: SystemOptions) -> Iterator[tuple[str, str]]:
    """(option, message) for inconsistent options of several sources."""
    alone = {"group_by", "groups", "authority", "required", "entities", "learn", "across", "generator"}
    if not options.asks_sources:
        for name in sorted(alone & options.model_fields_set):
            yield name, f"{name} is for mode = \"multi_source\", and the mode of '{options.id}' is {options.mode}."
    elif options.group_by == DECLARED and not options.groups:
        yield "group_by", 'group_by is groups, and there are no groups: name them as groups = { short = ["handbook_id"] }.'
    elif options.groups and options.group_by != DECLARED:
        yield "groups", f'there are groups, and group_by is {options.group_by}: write group_by = "{DECLARED}".'
