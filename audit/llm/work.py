"""Something that is done by asking: its stages, which calls are still open, and all asked, one stage after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Protocol, TypeVar

from audit.llm.calls import FAILED, REFUSED, Call, Reply
from audit.llm.costs import Cost, cost_of

Each = TypeVar("Each")
Replies = Callable[[Iterable[str]], Mapping[str, Reply]]
"""The latest reply to each of some keys that has one: `Journal.latest`."""
Readable = Callable[[Call, Reply], bool]
"""Whether a reply says what its call asked for."""
Ask = Callable[[Cost, Iterator[Call]], None]
"""(what the stage costs, its calls): sees to it that every call is asked and every reply stored."""

MOST_TRIES = 2
"""A reply that cannot be read is asked for once more, and then left: the same request brings the same reply."""
BATCH = 500


class Work(Protocol):
    """The judging of pairs, the writing of answers: whatever needs many calls, in stages, and can read the replies."""

    @property
    def model(self) -> str:
        """The model that is asked."""

    @property
    def stages(self) -> tuple[str, ...]:
        """The purposes of its calls, one after the other: what a stage asks may depend on the replies to the one before."""

    @property
    def unit(self) -> str:
        """What is never divided between two shards, in the plural: questions, handbooks."""

    def plan(self) -> dict[str, Any]:
        """What must stay the same for a journal to be gone on with."""

    def open_calls(self, stage: str, replies: Replies) -> Iterator[Call]:
        """The calls of a stage that are still to be asked, whole groups one after the other."""

    def readable(self, call: Call, reply: Reply) -> bool:
        """Whether a reply says what its call asked for."""


def ask_stages(work: Work, replies: Replies, ask: Ask) -> None:
    """Ask all that is open, stage by stage."""
    for stage in work.stages:
        cost = cost_of(stage, work.open_calls(stage, replies))
        if cost.calls:
            ask(cost, work.open_calls(stage, replies))


def unanswered(calls: Iterable[Call], replies: Replies, readable: Readable) -> Iterator[Call]:
    """Those of some calls that are still to be asked, each once.

    Replies are looked up as the calls are drawn, so calls may be drawn while they are being answered.
    """
    seen: set[str] = set()
    for batch in batches(calls):
        keyed = {call.key: call for call in batch if call.key not in seen}
        seen |= keyed.keys()
        found = replies(keyed)
        yield from (call for key, call in keyed.items() if not settled(call, found.get(key), readable))


def settled(call: Call, reply: Reply | None, readable: Readable) -> bool:
    """Whether nothing is gained by asking again: it was read, refused, or could not be read twice."""
    if reply is None:
        return False
    if reply.outcome == REFUSED or readable(call, reply):
        return True
    return reply.outcome != FAILED and reply.attempt >= MOST_TRIES


def batches(many: Iterable[Each], size: int = BATCH) -> Iterator[list[Each]]:
    """Lists of at most `size`."""
    left = iter(many)
    while batch := list(islice(left, size)):
        yield batch
