"""A task of items that are each put to a model by calls of their own, none of which needs the reply to another.

Pairwise judging, positions and facts of stress tests have stages that depend on replies, so they list their calls themselves, as
an `LlmTask`. Names of themes and entities of passages are asked in the course of other work, without a plan or an estimate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from audit.pipeline.llm.calls import Call
from audit.pipeline.llm.tasks import LlmTask, Replies, batches
from audit.release.journal_files import Reply

Item = TypeVar("Item")
# Items may hold the text of a whole handbook
ITEMS_PER_LOOKUP = 100


@dataclass(frozen=True)
class ItemTask(LlmTask, Generic[Item]):
    """Items as calls: what most tasks are.

    work       its name in the plan
    items      may be called repeatedly, and yields the items, those of one group after each other
    calls_of   the calls of an item; their purposes are names of prompts
    is_read    whether a reply contains what its call asked for
    stage      one stage for all purposes; without it each is a stage of its own
    settings   what else a journal is bound to
    """

    work: str
    items: Callable[[], Iterable[Item]]
    calls_of: Callable[[Item], Iterable[Call]]
    is_read: Callable[[Call, Reply], bool]
    stage: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def stages(self) -> tuple[str, ...]:
        """The purposes that are asked for, or the one stage."""
        return (self.stage,) if self.stage else tuple(self.tokens)

    def plan(self) -> dict[str, Any]:
        """The settings that must match for a journal to be resumed; the items may change."""
        prompts = {purpose: prompt.title for purpose, prompt in self.prompts.items()}
        return {"work": self.work, "model": self.model, "prompts": prompts, **self.settings}

    def calls(self) -> Iterator[tuple[Item, Call]]:
        """Each item with each of its calls."""
        return ((item, call) for item in self.items() for call in self.calls_of(item))

    def parts(self, stage: str, replies: Replies, *, expected: bool = False) -> Iterator[Iterable[Call]]:
        """The calls of a stage or purpose; two items may need the same."""
        yield (call for _, call in self.calls() if stage in (self.stage, call.purpose))

    def readable(self, call: Call, reply: Reply) -> bool:
        """Whether a reply contains what its call asked for."""
        return self.is_read(call, reply)

    def results(self, replies: Replies) -> Iterator[tuple[Item, Call, Reply | None]]:
        """Each item with each of its calls and the reply to it; None where it was not asked."""
        for batch in batches(self.calls(), ITEMS_PER_LOOKUP):
            latest = replies([call.key for _, call in batch])
            yield from ((item, call, latest.get(call.key)) for item, call in batch)
