"""Estimated tokens and time of open calls by stage, with the basis of each figure: test calls, stored replies, or a rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from audit.pipeline.llm.calls import ANSWERED, CUT, Call
from audit.pipeline.llm.client import Endpoint
from audit.pipeline.llm.limits import GROWTH, Limits
from audit.pipeline.llm.runner import run_calls
from audit.pipeline.llm.tasks import StageCost, prompt_characters
from audit.release.journal_files import Reply

# The usual rule of thumb for English; stored replies and test calls measure it for the model at hand.
CHARACTERS_PER_TOKEN = 4.0
RULE, STORED, TRIED = "rule of thumb", "stored replies", "test calls"
# Fewer are not representative of the run.
MIN_STORED = 8
# Calls of a trial that are made one after the other
ALONE = 3
# Below this share of what its latency alone would allow, an endpoint is at its limit.
UNLIMITED_SHARE = 0.75


@dataclass(frozen=True)
class CallRates:
    """Cost of one call of a stage; None for unknown values.

    characters_per_token   of the prompts
    written                tokens of a call's replies
    latency_s              seconds from a request to its reply, as long as the endpoint is not at its limit
    per_s                  the endpoint's limit in calls per second; None if no limit was reached
    source, calls          RULE, STORED or TRIED; how many calls were measured
    """

    characters_per_token: float = CHARACTERS_PER_TOKEN
    written: float | None = None
    latency_s: float | None = None
    per_s: float | None = None
    source: str = RULE
    calls: int = 0

    @property
    def calls_at_once(self) -> int | None:
        """How many calls the endpoint processes at once; None if its limit was not reached."""
        return max(1, round(self.per_s * self.latency_s)) if self.per_s and self.latency_s else None


def measured_rates(calls: Iterable[Call], replies: Mapping[str, Reply], source: str) -> CallRates:
    """Rates of the calls that have a reply; the rule of thumb for tokens that the server does not report."""
    with_reply = [(call, replies[call.key]) for call in calls if call.key in replies]
    answered = [(call, reply) for call, reply in with_reply if reply.outcome in (ANSWERED, CUT)]
    counted = [(call, reply) for call, reply in answered if reply.usage.get("prompt_tokens")]
    latencies = [reply.latency_s for _, reply in answered if reply.latency_s is not None]
    latency_s = fmean(latencies) if latencies else None
    if not counted:
        return CallRates(latency_s=latency_s, source=source if answered else RULE, calls=len(answered))
    characters = sum(prompt_characters(call) for call, _ in counted)
    tokens = sum(reply.usage["prompt_tokens"] for _, reply in counted)
    written = fmean(reply.usage.get("completion_tokens", 0) for _, reply in counted)
    return CallRates(characters / tokens, written, latency_s, source=source, calls=len(counted))


def stored_rates(cost: StageCost) -> CallRates | None:
    """Rates of the stage's stored replies; None with fewer than MIN_STORED of them."""
    replies = {call.key: reply for call, reply in cost.stored}
    rates = measured_rates([call for call, _ in cost.stored], replies, STORED)
    return rates if rates.calls >= MIN_STORED else None


async def try_calls(endpoints: Sequence[Endpoint], sample: Sequence[Call], limits: Limits) -> tuple[CallRates, dict[str, Reply]]:
    """Make the calls of `sample`: a few one after the other, the rest as a run would make them, as many at once as it may.

    Returns the rates, with a limit where so many calls took clearly longer each than one alone, and the replies by key.
    Raises AuditError where no endpoint answers.
    """
    replies: dict[str, Reply] = {}
    alone, together = sample[:ALONE], sample[ALONE:]
    await _ask(endpoints, alone, replies, replace(limits, concurrency=1, start=1))
    alone_s = measured_rates(alone, replies, TRIED).latency_s
    at_once = max(1, min(limits.concurrency, len(together)))
    # Full rounds only: a last one with a few calls would look like an endpoint at its limit
    together = together[: len(together) // at_once * at_once]
    seconds = await _ask(endpoints, together, replies, replace(limits, concurrency=at_once, start=at_once)) if together else 0.0
    rates = measured_rates(sample, replies, TRIED)
    per_s = len(together) / seconds if seconds else None
    if alone_s is not None and per_s is not None and per_s * alone_s < UNLIMITED_SHARE * at_once:
        rates = replace(rates, latency_s=alone_s, per_s=per_s)
    return rates, replies


async def _ask(endpoints: Sequence[Endpoint], calls: Sequence[Call], replies: dict[str, Reply], limits: Limits) -> float:
    """Make the calls and put their replies into `replies`; returns the seconds that took."""

    def put(reply: Reply) -> None:
        replies[reply.key] = reply

    # Readability is checked by the run; the cost of a reply is the same.
    stats = await run_calls(calls, endpoints, put, readable=lambda *_: True, limits=limits)
    return stats.seconds


def run_seconds(calls: float, rates: CallRates, limits: Limits, endpoints: int = 1) -> float | None:
    """Seconds for so many calls, the first slow rounds of a run included; None where no latency is known.

    A run begins with `limits.start` calls at once per endpoint and opens more with each round of replies.
    """
    if rates.latency_s is None:
        return None
    most = max(1, limits.concurrency)
    at_once, seconds, rest = float(min(most, limits.start * endpoints)), 0.0, float(calls)
    while rest > 0 and at_once < most:
        seconds += _seconds(min(rest, at_once), at_once, rates)
        rest -= at_once
        at_once = min(most, at_once + max(endpoints, at_once * GROWTH))
    return seconds + _seconds(max(0.0, rest), at_once, rates)


def _seconds(calls: float, at_once: float, rates: CallRates) -> float:
    """Seconds for so many calls with so many at once."""
    assert rates.latency_s is not None
    # A last round that is not full takes as long as a full one, where the endpoint has room for it.
    unlimited = rates.latency_s * max(calls / at_once, float(calls > 0))
    return max(unlimited, calls / rates.per_s) if rates.per_s else unlimited


@dataclass(frozen=True)
class StageEstimate:
    """The open calls of a stage with their rates."""

    cost: StageCost
    rates: CallRates
    seconds: float | None

    @property
    def prompt_tokens(self) -> int:
        """Tokens of the prompts of all its calls."""
        return round(self.cost.characters / self.rates.characters_per_token)

    @property
    def reply_tokens(self) -> int:
        """Tokens of the replies to all its calls."""
        return round(self.cost.calls * (self.cost.written if self.rates.written is None else self.rates.written))

    def record(self) -> dict[str, Any]:
        """The figures as JSON values."""
        return {
            "stage": self.cost.stage, "done": self.cost.done, "calls": self.cost.calls, "prompt_tokens": self.prompt_tokens,
            "reply_tokens": self.reply_tokens, "seconds": self.seconds, "source": self.rates.source,
        }  # fmt: skip


def stage_estimates(
    costs: Sequence[StageCost], rates: Mapping[str, CallRates], limits: Limits, endpoints: int = 1
) -> list[StageEstimate]:
    """Each stage with its own rates, or else with the characters per token that another stage shows of the model."""
    shown = next((known.characters_per_token for known in rates.values() if known.source != RULE), CHARACTERS_PER_TOKEN)
    known = {cost.stage: rates.get(cost.stage) or CallRates(shown) for cost in costs}
    return [
        StageEstimate(cost, known[cost.stage], run_seconds(cost.calls, known[cost.stage], limits, endpoints)) for cost in costs
    ]


def estimate_figures(stages: Sequence[StageEstimate], concurrency: int) -> dict[str, Any]:
    """Calls, tokens and seconds of each stage, `seconds` for all of them (None where one is unknown), and the assumptions."""
    first = next((stage.rates for stage in stages if stage.rates.source != RULE), CallRates())
    return {
        "stages": [stage.record() for stage in stages],
        "seconds": total_seconds(stages),
        "characters_per_token": first.characters_per_token,
        "latency_s": first.latency_s,
        "at_once": first.calls_at_once,
        "source": first.source,
        "concurrency": concurrency,
    }


def total_seconds(stages: Sequence[StageEstimate]) -> float | None:
    """Seconds of all stages with open calls; None where one of them is unknown."""
    seconds = [stage.seconds for stage in stages if stage.cost.calls]
    known = [value for value in seconds if value is not None]
    return sum(known) if len(known) == len(seconds) and (known or not stages) else None


# -- as text -----------------------------------------------------------------------------------------------------------


def estimate_text(stages: Sequence[StageEstimate], concurrency: int) -> str:
    """Calls, tokens and time, one line for each stage, and how they were estimated."""
    width = max(12, *(len(stage.cost.stage) + 1 for stage in stages)) if stages else 12
    lines = [f"{'stage':<{width}}{'done':>10}{'calls':>12}{'prompt tokens':>16}{'reply tokens':>16}{'time':>12}"]
    lines += [_stage_line(stage, width) for stage in stages]
    sources = dict.fromkeys(_source_text(stage.rates, concurrency) for stage in stages if stage.cost.calls)
    names = {text: [stage.cost.stage for stage in stages if _source_text(stage.rates, concurrency) == text] for text in sources}
    lines += [f"{', '.join(names[text])}: {text}" for text in sources]
    seconds = total_seconds(stages)
    return "\n".join([*lines, *([f"In all about {duration(seconds)}."] if seconds else [])])


def _stage_line(stage: StageEstimate, width: int) -> str:
    cost, seconds = stage.cost, duration(stage.seconds) if stage.cost.calls and stage.seconds is not None else "-"
    return (
        f"{cost.stage:<{width}}{cost.done:>10,}{cost.calls:>12,}{stage.prompt_tokens:>16,}{stage.reply_tokens:>16,}{seconds:>12}"
    )


def _source_text(rates: CallRates, concurrency: int) -> str:
    characters = f"{rates.characters_per_token:.1f} characters per token"
    if rates.source == RULE:
        return f"by a rule of thumb, {characters}; the time is unknown. With --probe a few test calls measure them."
    latency = f", {rates.latency_s:.2f} s per call" if rates.latency_s is not None else ""
    limit, at_most = rates.calls_at_once, f"at most {concurrency:,} are sent at once"
    capacity = f"the endpoint processes about {limit:,} calls at once, and {at_most}" if limit else at_most
    return f"measured on {rates.calls:,} {rates.source}: {characters}{latency}; {capacity}."


def duration(seconds: float) -> str:
    """A time in the unit that a person would choose."""
    if seconds < 100:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 3600:.1f} hours" if seconds >= 3600 else f"{round(seconds / 60)} min"
