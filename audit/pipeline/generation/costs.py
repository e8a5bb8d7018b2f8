"""The estimated cost of answers by a model, also with passages only where prompts contain full handbooks."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean
from typing import NamedTuple

from audit.pipeline.answers.evidence import Evidence, GroundedQuestion
from audit.pipeline.retrieval.settings import RetrievalSettings
from audit.text.documents import Document

CHARACTERS_PER_WORD = 6.0
# A tokenizer counts punctuation marks too
CHARACTERS_PER_TOKEN = 5.2


class FullDocumentCost(NamedTuple):
    """How many of the prompts contain their handbook in full, and how much evidence that is.

    characters  of evidence in all prompts; `alone`: if every prompt had only passages
    """

    prompts: int = 0
    full: int = 0
    characters: float = 0.0
    alone: float = 0.0

    def plus(self, other: FullDocumentCost, times: int = 1) -> FullDocumentCost:
        """The sum with another part of a run, or with so many that are alike."""
        return FullDocumentCost(
            self.prompts + times * other.prompts,
            self.full + times * other.full,
            self.characters + times * other.characters,
            self.alone + times * other.alone,
        )

    def text(self, characters_per_token: float) -> str:
        """A sentence for the plan of a run; empty where no prompt contains a full handbook."""
        if not self.full:
            return ""
        return (
            f"{self.full:,} of {self.prompts:,} prompts contain their handbook in full: all evidence together is about "
            f"{tokens_text(self.characters / characters_per_token)} prompt tokens, passages alone would be about "
            f"{tokens_text(self.alone / characters_per_token)} (whole_characters = 0 and fallback_characters = 0 in "
            "[retrieval.options]). A server with a prefix cache computes a full handbook once for all of its questions."
        )


def full_document_cost(questions: Iterable[tuple[GroundedQuestion, Evidence]], options: RetrievalSettings) -> FullDocumentCost:
    """The cost of the evidence of some questions, handbook by handbook."""
    total, typical = FullDocumentCost(), dict[str, float]()
    for question, evidence in questions:
        length, handbook = len(evidence.in_prompt), question.document.handbook_id
        if evidence.full and handbook not in typical:
            typical[handbook] = typical_passages(question.document, options)
        alone = min(length, typical[handbook]) if evidence.full else length
        total = total.plus(FullDocumentCost(1, int(evidence.full), length, alone))
    return total


def typical_passages(document: Document, options: RetrievalSettings) -> float:
    """Characters of the passages that a question gets from a handbook, by the lengths of its sections."""
    words = options.chunk_words + 2 * options.neighbours * (options.chunk_words - options.overlap_words)
    longest = max(words, options.parent_words) * CHARACTERS_PER_WORD
    lengths = [min(len(section.text), longest) for section in document.sections if section.text.strip()]
    sections = options.passages * (1 + 2 * options.neighbour_sections)
    return min(float(len(document.full_text)), sections * fmean(lengths)) if lengths else 0.0


def hybrid_passages(document: Document, options: RetrievalSettings) -> float:
    """The same for the strategy `hybrid`, whose passages are its chunks."""
    characters = options.hybrid.final_k * options.hybrid.chunk_tokens * CHARACTERS_PER_TOKEN
    return min(float(len(document.full_text)), characters)


def tokens_text(tokens: float) -> str:
    """A number of tokens, in billions or millions where it is large."""
    for unit, name in ((1e9, "billion"), (1e6, "million")):
        if tokens >= unit / 20:
            return f"{tokens / unit:.1f} {name}"
    return f"{round(tokens):,}"
