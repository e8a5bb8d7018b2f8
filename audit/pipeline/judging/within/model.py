"""Judging pairs of statements of one handbook by a model: the required calls, and the parsing of replies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from audit.pipeline.judging.parse import is_readable, read_verdict
from audit.pipeline.llm.calls import Call
from audit.pipeline.llm.prompts import Prompt
from audit.pipeline.llm.tasks import Replies, StageCost, batches, stage_cost, unsettled
from audit.pipeline.rules.within.candidates import CandidatePair, Candidates
from audit.pipeline.rules.within.claims import Claim
from audit.pipeline.rules.within.rules import subject_of
from audit.pipeline.verdict import Verdict
from audit.release.journal_files import Reply

PROMPT, STAGE = "within", "structured"
# Pairs of one handbook that a model is asked about, those of which the rules are certain first; the others count as not asked
DEFAULT_PAIRS = 100
REPLY_TOKENS = 130


@dataclass(frozen=True)
class WithinTask:
    """The pairs of statements of each handbook as calls, a task for `audit.pipeline.llm`.

    handbooks  may be called repeatedly, and yields (handbook id, its candidates) one handbook at a time
    max_pairs  so many pairs of a handbook are asked about
    """

    prompt: Prompt
    model: str
    handbooks: Callable[[], Iterable[tuple[str, Candidates]]]
    max_pairs: int = DEFAULT_PAIRS
    stages: tuple[str, ...] = (STAGE,)
    unit: str = "handbooks"

    def plan(self) -> dict[str, Any]:
        """The settings that must match for a journal to be resumed; the handbooks may change."""
        return {"work": PROMPT, "model": self.model, "prompts": {STAGE: self.prompt.title}, "max_pairs": self.max_pairs}

    def open_calls(self, stage: str, replies: Replies) -> Iterator[Call]:
        """The calls that are still to be asked, handbook by handbook."""
        calls = (call for handbook, candidates in self.handbooks() for _, call in self.calls(handbook, candidates))
        return unsettled(calls, replies, self.readable)

    def readable(self, call: Call, reply: Reply) -> bool:
        """Whether a reply contains a verdict."""
        return is_readable(call, reply)

    def calls(self, handbook: str, candidates: Candidates) -> Iterator[tuple[CandidatePair, Call]]:
        """The pairs of a handbook that are asked about, each with its call."""
        for pair in candidates.pairs[: self.max_pairs]:
            first, second = candidates.claims[pair.first], candidates.claims[pair.second]
            texts = {"subject": subject_of(first, second), "passage_a": _shown(first), "passage_b": _shown(second)}
            yield pair, self.prompt.call(self.model, handbook, texts)

    def verdicts(self, handbook: str, candidates: Candidates, replies: Replies) -> Mapping[CandidatePair, Verdict]:
        """The verdict on each pair that has a reply."""
        verdicts: dict[CandidatePair, Verdict] = {}
        for batch in batches(self.calls(handbook, candidates)):
            latest = replies([call.key for _, call in batch])
            verdicts |= {pair: read_verdict(latest[call.key], STAGE) for pair, call in batch if call.key in latest}
        return verdicts

    def costs(self, replies: Replies) -> list[StageCost]:
        """The cost of the open calls."""
        return [stage_cost(STAGE, self.open_calls(STAGE, replies), REPLY_TOKENS)]


def _shown(claim: Claim) -> str:
    """A statement below its headings: without them, "take it twice a day" says nothing."""
    return "\n".join(filter(None, (claim.passage.section.title, claim.passage.quoted)))
