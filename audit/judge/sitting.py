"""One judging from beginning to end: its plan, and its stages one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from audit.judge.calls import Call
from audit.judge.corpus import Corpus
from audit.judge.costs import Cost, cost_of
from audit.judge.protocols import Protocol, Replies, open_calls

Ask = Callable[[Cost, Iterator[Call]], None]
"""(what the stage costs, its calls): sees to it that every call is asked and every reply stored."""


def plan_of(protocol: Protocol, corpus: Corpus) -> dict[str, Any]:
    """What must stay the same for a journal to be gone on with."""
    return {
        "protocol": protocol.name, "model": protocol.model, "absence": protocol.absence, "swap": protocol.swap,
        "blind_centers": protocol.blind, "repeat": protocol.repeats,
        "prompts": {stage: prompt.title for stage, prompt in protocol.used.items()},
        "source_run": corpus.run["run_id"], "source_digest": corpus.run["digest"], "pairs": corpus.selection,
    }  # fmt: skip


def ask_stages(protocol: Protocol, corpus: Corpus, replies: Replies, ask: Ask) -> None:
    """Ask all that is open, stage by stage: what a stage asks depends on the replies to the one before."""
    for stage in protocol.stages:
        cost = cost_of(stage, open_calls(protocol, stage, corpus, replies))
        if cost.calls:
            ask(cost, open_calls(protocol, stage, corpus, replies))
