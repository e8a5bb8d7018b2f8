"""Tasks that need many calls in stages, such as judging pairs or writing answers: what is still to be asked, and its cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol, TypeVar

from audit.llm.calls import FAILED, REFUSED, Call, Reply

T = TypeVar("T")
Replies = Callable[[Iterable[str]], Mapping[str, Reply]]
"""The latest reply to each of some keys, without the keys that have none: `Journal.latest`."""
Readable = Callable[[Call, Reply], bool]
"""Whether a reply contains what its call asked for."""

# An unreadable reply is asked for once more and then left: the same request brings the same reply.
MAX_READ_ATTEMPTS = 2
BATCH_SIZE = 500
# The usual rule of thumb for English; a probe measures it for the model at hand.
CHARACTERS_PER_TOKEN = 4.0
SAMPLE_SIZE = 8


class LlmTask(Protocol):
    """A task that needs many calls, in stages, and can read the replies."""

    @property
    def model(self) -> str:
        """The model that is asked."""

    @property
    def stages(self) -> tuple[str, ...]:
        """The purposes of its calls, in order. A stage may depend on the replies to the one before."""

    @property
    def unit(self) -> str:
        """What is never split between two shards, in the plural: questions, handbooks."""

    def plan(self) -> dict[str, Any]:
        """The settings that must match for a journal to be resumed."""

    def open_calls(self, stage: str, replies: Replies) -> Iterator[Call]:
        """The calls of a stage that are still to be asked, one whole group after the other."""

    def readable(self, call: Call, reply: Reply) -> bool:
        """Whether a reply contains what its call asked for."""


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
    """Whether asking again gains nothing: the reply was read, refused, or unreadable for the second time."""
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


# -- what it costs -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StageCost:
    """The open calls of one stage: how many, the characters of their prompts, the first few, and the longest.

    `written` is the rough number of tokens of one reply, for estimates without a server.
    """

    stage: str
    calls: int = 0
    characters: int = 0
    sample: tuple[Call, ...] = ()
    longest: Call | None = None
    written: float = 0.0


@dataclass(frozen=True)
class CallRates:
    """What one call takes, as measured on a few calls; by a rule of thumb the reply's tokens and the time are None."""

    characters_per_token: float = CHARACTERS_PER_TOKEN
    written: float | None = None
    latency_s: float | None = None


def stage_cost(stage: str, calls: Iterable[Call], written: float = 0.0) -> StageCost:
    """The cost of the calls of one stage."""
    count = characters = max_length = 0
    sample: list[Call] = []
    longest = None
    for call in calls:
        length = prompt_characters(call)
        count, characters = count + 1, characters + length
        if count <= SAMPLE_SIZE:
            sample.append(call)
        if length > max_length:
            max_length, longest = length, call
    return StageCost(stage, count, characters, tuple(sample), longest, written)


def prompt_characters(call: Call) -> int:
    """The number of characters in a call's prompt."""
    return sum(len(message["content"]) for message in call.body["messages"])


def rates_from_sample(
    sample: Sequence[Call], prompt_tokens: float | None, completion_tokens: float | None, latency_s: float | None
) -> CallRates:
    """Rates from the mean tokens and seconds of the calls of a sample; the rule of thumb for tokens that are unknown."""
    if not sample or not prompt_tokens:
        return CallRates(latency_s=latency_s)
    characters = sum(map(prompt_characters, sample)) / len(sample)
    return CallRates(characters / prompt_tokens, completion_tokens, latency_s)


def estimate_figures(costs: Sequence[StageCost], rates: CallRates, concurrency: int) -> dict[str, Any]:
    """Calls and tokens of each stage, `seconds` for all of them (None if no endpoint was tried), and the assumptions."""
    names = ("stage", "calls", "prompt_tokens", "reply_tokens")
    return {
        "stages": [dict(zip(names, _stage_row(cost, rates), strict=True)) for cost in costs],
        "seconds": _total_seconds(costs, rates, concurrency),
        "characters_per_token": rates.characters_per_token,
        "latency_s": rates.latency_s,
        "concurrency": concurrency,
    }


def estimate_text(costs: Sequence[StageCost], rates: CallRates, concurrency: int) -> str:
    """Calls, tokens and time, one line for each stage, and how they were estimated."""
    rows = [_stage_row(cost, rates) for cost in costs]
    lines = [f"{'stage':<12}{'calls':>12}{'prompt tokens':>16}{'reply tokens':>16}"]
    lines += [f"{stage:<12}{calls:>12,}{prompt:>16,}{reply:>16,}" for stage, calls, prompt, reply in rows]
    characters = f"{rates.characters_per_token:.1f} characters per token"
    seconds = _total_seconds(costs, rates, concurrency)
    if seconds is None:
        lines.append(f"Estimated from the length of the texts, {characters}. Without an endpoint the time is unknown.")
    else:
        lines.append(f"Estimated from a few calls to the endpoint: {characters}, {rates.latency_s:.2f} s per call.")
        lines.append(f"About {_duration(seconds / 3600)}, if {concurrency} calls at once take no longer each than one alone.")
    return "\n".join(lines)


def _total_seconds(costs: Sequence[StageCost], rates: CallRates, concurrency: int) -> float | None:
    if rates.latency_s is None:
        return None
    return sum(cost.calls for cost in costs) * rates.latency_s / max(1, concurrency)


def _stage_row(cost: StageCost, rates: CallRates) -> tuple[str, int, int, int]:
    """(stage, calls, tokens of the prompts, tokens of the replies)"""
    written = cost.calls * (cost.written if rates.written is None else rates.written)
    return cost.stage, cost.calls, round(cost.characters / rates.characters_per_token), round(written)


def _duration(hours: float) -> str:
    return f"{hours:.1f} hours" if hours >= 1 else f"{max(1, round(hours * 60))} min"
