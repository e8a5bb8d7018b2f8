"""Whether what was found is enough to answer from, and what happens where it is not."""

from __future__ import annotations

from collections.abc import Iterable

from audit.corpus.documents import Document
from audit.retrieval.index import Index
from audit.retrieval.model import FALLBACK, PASSAGES, Mode, Passage
from audit.retrieval.options import Options
from audit.retrieval.tokens import tokens


def goes_whole(document: Document, options: Options) -> bool:
    """Whether the handbook is short enough to go whole at once."""
    return len(document.full_text) <= options.whole_characters


def coverage(index: Index, question: str, passages: Iterable[Passage]) -> float:
    """Share of the question's words that the passages hold, each word weighed by how rare it is in the handbook; in [0, 1].

    A word that the handbook does not hold at all weighs most. 0 where the question has no word of meaning.
    """
    asked = set(tokens(question))
    held = {token for passage in passages for token in tokens(f"{_title(index, passage)} {passage.text}")}
    weight = {token: index.words["chunks"].rarity(token) for token in asked}
    total = sum(weight.values())
    return sum(weight[token] for token in sorted(asked & held)) / total if total else 0.0


def _title(index: Index, passage: Passage) -> str:
    return index.document.by_id[passage.section_id].title


def judged(index: Index, question: str, passages: tuple[Passage, ...]) -> tuple[Mode, str | None]:
    """The mode that the evidence asks for, and the reason where it is thin."""
    options = index.options
    share = coverage(index, question, passages)
    if share >= options.sufficient or not options.uses("sufficiency"):
        return PASSAGES, None
    length = len(index.document.full_text)
    thin = f"the passages hold {share:.0%} of the question's weighty words, under {options.sufficient:.0%}"
    if length <= options.fallback_characters:
        return FALLBACK, f"{thin}: the handbook went whole"
    return PASSAGES, f"{thin}; {length:,} characters are too many to go whole (limit {options.fallback_characters:,})"
