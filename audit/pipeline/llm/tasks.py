"""Tasks that need many calls in stages, such as judging pairs or writing answers: their open calls, and the cost."""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, TypeVar

from audit.pipeline.llm.calls import FAILED, REFUSED, Call
from audit.pipeline.llm.prompts import Prompt
from audit.release.journal_files import Reply

T = TypeVar("T")
Replies = Callable[[Iterable[str]], Mapping[str, Reply]]
"""The latest reply to each of some keys, without the keys that have none: `Journal.latest`."""
Readable = Callable[[Call, Reply], bool]
"""Whether a reply contains what its call asked for."""


def no_replies(_: Iterable[str]) -> dict[str, Reply]:
    """The replies of a journal that does not exist."""
    return {}


# An unreadable reply is asked for once more and then left: the same request brings the same reply.
MAX_READ_ATTEMPTS = 2
BATCH_SIZE = 500
# A trial makes a tenth of the calls of a stage within these bounds.
MIN_SAMPLE, MAX_SAMPLE = 12, 64
# Number of calls with a stored reply from which the cost of a call is estimated.
MAX_STORED = 200


@dataclass(frozen=True)
class LlmTask(ABC):
    """A task that needs many calls, in stages, and can read the replies. A stage may depend on the replies to the one before.

    prompts  purpose of a call -> its prompt
    tokens   purpose -> rough tokens of a reply, for an estimate without a server; only the purposes that are asked for
    unit     what is never split between two shards, in the plural: questions, handbooks
    """

    prompts: Mapping[str, Prompt]
    model: str
    tokens: Mapping[str, float] = field(kw_only=True)
    unit: str = field(default="questions", kw_only=True)

    @property
    def stages(self) -> tuple[str, ...]:
        """The purposes of its calls, in order."""
        return tuple(self.tokens)

    @abstractmethod
    def plan(self) -> dict[str, Any]:
        """The settings that must match for a journal to be resumed."""

    @abstractmethod
    def parts(self, stage: str, replies: Replies, *, expected: bool = False) -> Iterator[Iterable[Call]]:
        """The calls of a stage, answered or not, in parts; a call that a part has twice is asked once.

        Calls of one group, such as a question, follow each other: the server's prefix cache then helps.

        expected  with the calls to which missing replies will probably lead, for an estimate
        """

    @abstractmethod
    def readable(self, call: Call, reply: Reply) -> bool:
        """Whether a reply contains what its call asked for."""

    @property
    def cost_note(self) -> str:
        """A sentence on calls that `costs` leaves out; empty where there are none."""
        return ""

    def open_calls(self, stage: str, replies: Replies) -> Iterator[Call]:
        """The calls of a stage that are still to be asked."""
        for part in self.parts(stage, replies):
            yield from unsettled(part, replies, self.readable)

    def costs(self, replies: Replies) -> list[StageCost]:
        """The cost of the open calls of each purpose."""
        return [
            stage_cost(purpose, self._each_once(purpose, replies), replies, self.readable, tokens)
            for purpose, tokens in self.tokens.items()
        ]

    def _each_once(self, purpose: str, replies: Replies) -> Iterator[Call]:
        for part in self.parts(purpose, replies, expected=True):
            yield from unsettled(part, no_replies, self.readable)


def ask_stages(task: LlmTask, replies: Replies, ask: Callable[[StageCost, Iterator[Call]], None]) -> None:
    """Ask every open call, stage by stage. `ask` gets the cost of a stage and its calls, and must store every reply."""
    for stage in task.stages:
        # Drawn twice, once to count and once to ask: a run may have millions of calls, too many to keep.
        cost = stage_cost(stage, task.open_calls(stage, replies))
        if cost.calls:
            ask(cost, task.open_calls(stage, replies))


def unsettled(calls: Iterable[Call], replies: Replies, readable: Readable) -> Iterator[Call]:
    """The calls that are still to be asked, each once.

    Replies are looked up while the calls are drawn, so calls may be answered while others are drawn.
    """
    seen: set[str] = set()
    for batch in batches(calls):
        new_calls = {call.key: call for call in batch if call.key not in seen}
        # Equal answers give equal calls, also across batches.
        seen |= new_calls.keys()
        latest = replies(new_calls)
        yield from (call for key, call in new_calls.items() if not is_settled(call, latest.get(key), readable))


def is_settled(call: Call, reply: Reply | None, readable: Readable) -> bool:
    """Whether asking again is pointless: the reply was read, refused, or unreadable for the second time."""
    if reply is None:
        return False
    if reply.outcome == REFUSED or readable(call, reply):
        return True
    # A failed call is not settled however often it failed: a later run may meet a healthy server.
    return reply.outcome != FAILED and reply.attempt >= MAX_READ_ATTEMPTS


def batches(items: Iterable[T], size: int = BATCH_SIZE) -> Iterator[list[T]]:
    """Lists of at most `size` items."""
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch


# -- what is still to be asked -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StageCost:
    """The open calls of one stage: how many, the characters of their prompts, a random sample of them, and the longest.

    written  rough number of tokens of one reply, for estimates without a server
    done     calls that are settled already; `stored`: the first of all calls that have a reply
    """

    stage: str
    calls: int = 0
    characters: int = 0
    sample: tuple[Call, ...] = ()
    longest: Call | None = None
    written: float = 0.0
    done: int = 0
    stored: tuple[tuple[Call, Reply], ...] = ()


def stage_cost(
    stage: str,
    calls: Iterable[Call],
    replies: Replies = no_replies,
    readable: Readable = lambda *_: True,
    written: float = 0.0,
) -> StageCost:
    """The cost of those of `calls`, each of them once, that the stored replies have not settled."""
    cost = StageCost(stage, written=written)
    for batch in batches(calls):
        latest = replies([call.key for call in batch])
        rest = [call for call in batch if not is_settled(call, latest.get(call.key), readable)]
        stored = ((call, latest[call.key]) for call in batch if call.key in latest)
        cost = replace(
            cost,
            calls=cost.calls + len(rest),
            characters=cost.characters + sum(map(prompt_characters, rest)),
            # By key, which is as good as random and the same each time
            sample=tuple(heapq.nsmallest(MAX_SAMPLE, [*cost.sample, *rest], key=lambda call: call.key)),
            longest=max([*([cost.longest] if cost.longest else []), *rest], key=prompt_characters, default=None),
            done=cost.done + len(batch) - len(rest),
            stored=(*cost.stored, *islice(stored, MAX_STORED - len(cost.stored))),
        )
    return replace(cost, sample=cost.sample[: max(MIN_SAMPLE, cost.calls // 10)])


def prompt_characters(call: Call) -> int:
    """The number of characters in a call's prompt."""
    return sum(len(message["content"]) for message in call.body["messages"])
