"""One judging: a protocol and the corpus that it is used on, as work that is done by asking."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from audit.judging.corpus import Corpus
from audit.judging.parse import readable
from audit.judging.protocols import Protocol, open_calls
from audit.llm.calls import Call, Reply
from audit.llm.tasks import Replies


@dataclass(frozen=True)
class Sitting:
    """The calls that a judging needs."""

    protocol: Protocol
    corpus: Corpus
    unit: str = "questions"

    @property
    def model(self) -> str:
        """The model that judges."""
        return self.protocol.model

    @property
    def stages(self) -> tuple[str, ...]:
        """Those of the protocol."""
        return self.protocol.stages

    def plan(self) -> dict[str, Any]:
        """What must stay the same for a journal to be gone on with."""
        return plan_of(self.protocol, self.corpus)

    def open_calls(self, stage: str, replies: Replies) -> Iterator[Call]:
        """The calls of a stage that are still to be asked."""
        return open_calls(self.protocol, stage, self.corpus, replies)

    def readable(self, call: Call, reply: Reply) -> bool:
        """Whether a reply says what its call asked for."""
        return readable(call, reply)


def plan_of(protocol: Protocol, corpus: Corpus) -> dict[str, Any]:
    """What must stay the same for a journal to be gone on with."""
    return {
        "protocol": protocol.name, "model": protocol.model, "absence": protocol.absence, "swap": protocol.swap,
        "blind_centers": protocol.blind, "repeat": protocol.repeats,
        "prompts": {stage: prompt.title for stage, prompt in protocol.used.items()},
        **corpus.source, "pairs": corpus.selection,
    }  # fmt: skip
