"""The judging of a corpus by a model: the calls that it needs, and what they would cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from audit.judging.corpus import Corpus
from audit.judging.parse import is_readable
from audit.judging.protocols import ABSENCE, EXTRACT, KEEP, Protocol, open_calls
from audit.llm.calls import Call, Reply
from audit.llm.tasks import Replies, StageCost, stage_cost

REPLY_TOKENS = {"absence": 8, "structured": 130, "label": 10, "extract": 25}
"""The rough number of tokens of one reply, for estimates without a server."""
EXTRACT_NOTE = "extract needs one more call for each pair that turns out to disagree."


@dataclass(frozen=True)
class JudgingTask:
    """A protocol and the corpus that it is used on, as a task for `audit.llm`."""

    protocol: Protocol
    corpus: Corpus
    unit: str = "questions"

    @property
    def model(self) -> str:
        """The model that judges."""
        return self.protocol.model

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages of the protocol."""
        return self.protocol.stages

    def plan(self) -> dict[str, Any]:
        """The settings that must match for a journal to be resumed."""
        protocol = self.protocol
        return {
            "protocol": protocol.name,
            "model": protocol.model,
            "absence": protocol.absence,
            "swap": protocol.swap,
            "blind_centers": protocol.blind,
            "repeat": protocol.repeats,
            "prompts": {stage: prompt.title for stage, prompt in protocol.stage_prompts.items()},
            **self.corpus.source,
            "pairs": self.corpus.selection,
        }

    def open_calls(self, stage: str, replies: Replies) -> Iterator[Call]:
        """The calls of a stage that are still to be asked."""
        return open_calls(self.protocol, stage, self.corpus, replies)

    def readable(self, call: Call, reply: Reply) -> bool:
        """Whether a reply contains what its call asked for."""
        return is_readable(call, reply)


def stage_costs(protocol: Protocol, corpus: Corpus, replies: Replies) -> list[StageCost]:
    """The cost of the open calls, stage by stage. `extract` is counted only for pairs that have a label already.

    Before absence is checked, the run's own flags decide which pairs will be asked about.
    """
    unchecked = replace(protocol, absence=KEEP)
    return [
        stage_cost(stage, open_calls(protocol if stage == ABSENCE else unchecked, stage, corpus, replies), REPLY_TOKENS[stage])
        for stage in protocol.stages
    ]


def cost_notes(costs: list[StageCost]) -> str:
    """What the estimate leaves out."""
    return EXTRACT_NOTE if any(cost.stage == EXTRACT for cost in costs) else ""


def pairs_to_ask(protocol: Protocol, corpus: Corpus) -> tuple[int, int]:
    """(all pairs, pairs of two answers that are present by the run's own flags): the others need no call."""
    unchecked, pairs, to_ask = replace(protocol, absence=KEEP), 0, 0
    for item in corpus.items():
        findings = unchecked.absence_findings(item, lambda _: {})
        pairs += len(item.pairs)
        to_ask += sum(all(findings[handbook].absent is False for handbook in pair) for pair in item.pairs)
    return pairs, to_ask
