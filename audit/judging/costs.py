"""What a judging will cost, stage by stage, and how many of its pairs need no call."""

from __future__ import annotations

from dataclasses import replace

from audit.judging.corpus import Corpus
from audit.judging.protocols import ABSENCE, EXTRACT, KEEP, Protocol, open_calls
from audit.llm.tasks import Replies, StageCost, stage_cost

WRITTEN = {"absence": 8, "structured": 130, "label": 10, "extract": 25}
"""Tokens that a reply takes, roughly, where no server can be asked."""
MORE = "extract needs one call more for each pair that turns out to disagree."


def costs(protocol: Protocol, corpus: Corpus, replies: Replies) -> list[StageCost]:
    """What is open, by stage; `extract`, one call for each pair that will disagree, is counted as far as labels are there.

    Before absence is checked, the run's own flags say which pairs will be asked about.
    """
    kept = replace(protocol, absence=KEEP)
    return [
        stage_cost(stage, open_calls(protocol if stage == ABSENCE else kept, stage, corpus, replies), WRITTEN[stage])
        for stage in protocol.stages
    ]


def remarks(found: list[StageCost]) -> str:
    """What the figures of a judging leave out."""
    return MORE if any(cost.stage == EXTRACT for cost in found) else ""


def pairs_to_ask(protocol: Protocol, corpus: Corpus) -> tuple[int, int]:
    """(all pairs, those of two answers that are there by the run's own flags: the others need no call on a pair)."""
    kept, pairs, to_ask = replace(protocol, absence=KEEP), 0, 0
    for item in corpus.items():
        silences = kept.silences(item, lambda _: {})
        pairs += len(item.pairs)
        to_ask += sum(all(silences[handbook].absent is False for handbook in pair) for pair in item.pairs)
    return pairs, to_ask
