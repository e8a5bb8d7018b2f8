"""Which passages are kept under a limit of tokens: every required source first, then the best. Source: S1, Algorithm 2."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil

from audit.pipeline.retrieval.across.consolidation import EvidenceChunk
from audit.pipeline.retrieval.across.settings import PackingSettings

CHARACTERS_PER_TOKEN = 4.0
"""A rule of thumb for English; a model's own tokens are known to its server only."""
REQUIRED, EXPECTED, RANKED = "required", "expected", "ranked"
TOO_LONG, HANDBOOK_FULL, ENOUGH = "does not fit", "handbook has its share", "enough passages"


@dataclass(frozen=True)
class PackingStep:
    """The packing decision about a passage: kept as `required`, `expected` or `ranked`, or the reason why it was left out."""

    passage: EvidenceChunk
    tokens: int
    decision: str


@dataclass(frozen=True)
class Packing:
    """The passages that were kept, best first, every decision in order, and messages for the user."""

    passages: tuple[EvidenceChunk, ...]
    steps: tuple[PackingStep, ...]
    notes: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        """Tokens of the passages, by the rule of thumb."""
        return sum(passage_tokens(passage) for passage in self.passages)


def passage_tokens(passage: EvidenceChunk) -> int:
    """Rough tokens of a passage: characters / 4, rounded up."""
    return ceil(len(passage.text) / CHARACTERS_PER_TOKEN)


def pack(
    ranked: Sequence[EvidenceChunk], required: Iterable[str], settings: PackingSettings, expected: Iterable[str] = ()
) -> Packing:
    """The passages that are kept of those that are ranked, best first.

    First the best passage of each required source that fits, in the order of these passages; then the rest, as long as
    tokens, the number of passages and the share of a handbook allow.

    expected  sources that are covered next, after the required ones
    """
    packer, needed, wanted = _Packer(settings), set(required), set(expected)
    for sources, reason in ((needed, REQUIRED), (wanted - needed, EXPECTED)):
        for passage in ranked:
            if passage.source_id in sources and packer.decide(passage, reason):
                sources.discard(passage.source_id)
    for passage in ranked:
        packer.decide(passage, RANKED)
    packed = tuple(passage for passage in ranked if passage in packer.packed)
    with_passages = {passage.source_id for passage in ranked}
    return Packing(
        packed, tuple(packer.steps.values()), tuple(_coverage_notes(ranked, packed, sorted(needed & with_passages), settings))
    )


class _Packer:
    """Keeps passages while there is room."""

    def __init__(self, settings: PackingSettings) -> None:
        self.settings = settings
        self.packed: list[EvidenceChunk] = []
        # By the passage: a required one that did not fit is considered again at its rank
        self.steps: dict[tuple[str, str, int, int], PackingStep] = {}
        self._tokens = 0
        self._handbooks: Counter[str] = Counter()

    def decide(self, passage: EvidenceChunk, reason: str) -> bool:
        """Keep the passage if there is room for it."""
        chunk = passage.candidate.chunk_id
        key = (*chunk, passage.end)
        if passage in self.packed:
            return True
        tokens = passage_tokens(passage)
        obstacle = self._obstacle(chunk.handbook_id, tokens)
        self.steps[key] = PackingStep(passage, tokens, obstacle or reason)
        if obstacle is None:
            self.packed.append(passage)
            self._tokens += tokens
            self._handbooks[chunk.handbook_id] += 1
        return obstacle is None

    def _obstacle(self, handbook_id: str, tokens: int) -> str | None:
        most, share = self.settings.passages, self.settings.per_handbook
        if most is not None and len(self.packed) >= most:
            return ENOUGH
        if share is not None and self._handbooks[handbook_id] >= share:
            return HANDBOOK_FULL
        return TOO_LONG if self._tokens + tokens > self.settings.tokens else None


def _coverage_notes(
    ranked: Sequence[EvidenceChunk], packed: Sequence[EvidenceChunk], missing: Sequence[str], settings: PackingSettings
) -> list[str]:
    if ranked and not packed:
        shortest = min(map(passage_tokens, ranked))
        return [
            f"{settings.tokens} tokens are too few for any passage: the shortest of {len(ranked)} has about {shortest}. "
            "No passage was kept; allow more tokens."
        ]
    return [
        f"No passage of the required source '{source}' fits within {settings.tokens} tokens and the other limits. "
        "The evidence does not cover it."
        for source in missing
    ]
