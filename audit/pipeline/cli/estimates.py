"""Estimates of `--dry-run`: tokens, time and content of the open calls by stage, with the basis of each figure.

The basis is a few test calls (`--probe`), stored replies, or a rule of thumb.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any
from urllib.parse import urlsplit

from audit.cli.conventions import note
from audit.formatting import some_of
from audit.pipeline.cli.model_calls import endpoints_of, limits_of
from audit.pipeline.llm.calls import ANSWERED, CUT, Call
from audit.pipeline.llm.client import Endpoint
from audit.pipeline.llm.limits import GROWTH, Limits
from audit.pipeline.llm.probe import probe_endpoint
from audit.pipeline.llm.runner import run_calls
from audit.pipeline.llm.tasks import LlmTask, StageCost, prompt_characters
from audit.release.journal_files import Reply
from audit.settings import Settings

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

    def text(self, concurrency: int) -> str:
        """The rates and what they are based on."""
        characters = f"{self.characters_per_token:.1f} characters per token"
        if self.source == RULE:
            unknown = "the time is unknown. With --probe a few test calls measure them."
            return f"by a rule of thumb, {characters}; {unknown}"
        latency = f", {self.latency_s:.2f} s per call" if self.latency_s is not None else ""
        at_most = f"at most {concurrency:,} are sent at once"
        if self.calls_at_once:
            at_most = f"the endpoint processes about {self.calls_at_once:,} calls at once, and {at_most}"
        return f"measured on {self.calls:,} {self.source}: {characters}{latency}; {at_most}."


@dataclass(frozen=True)
class StageEstimate:
    """The open calls of a stage with their rates; `seconds` is None where no latency is known."""

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

    def line(self, width: int) -> str:
        """The line of a table whose first column has this width."""
        cost = self.cost
        seconds = duration(self.seconds) if cost.calls and self.seconds is not None else "-"
        tokens = f"{self.prompt_tokens:>16,}{self.reply_tokens:>16,}"
        return f"{cost.stage:<{width}}{cost.done:>10,}{cost.calls:>12,}{tokens}{seconds:>12}"

    def too_long(self, context: int | None) -> str:
        """A sentence on the longest prompt, where the endpoint's context is too short for it."""
        call = self.cost.longest
        if call is None or context is None:
            return ""
        prompt_tokens = round(prompt_characters(call) / self.rates.characters_per_token)
        tokens = prompt_tokens + int(call.body.get("max_tokens") or 0)
        if tokens <= context:
            return ""
        return (
            f"{self.cost.stage}: the longest prompt with its reply takes about {tokens:,} tokens, and the endpoint has "
            f"room for {context:,}: the run would stop there. Start the server with a longer context (vLLM: "
            "--max-model-len)."
        )


@dataclass(frozen=True)
class CostEstimate:
    """The open calls, and the tokens and time that they would take: as text, and as figures for a page.

    sends    what the prompts contain, and whose it is
    remarks  sentences below the figures; an empty one is left out
    """

    stages: Sequence[StageEstimate]
    concurrency: int
    sends: str = ""
    remarks: tuple[str, ...] = ()

    def remarked(self, *remarks: str) -> CostEstimate:
        """The same with more sentences."""
        return replace(self, remarks=(*self.remarks, *remarks))

    @property
    def rates(self) -> CallRates:
        """The first measured rates; the rule of thumb where nothing is measured."""
        return next((stage.rates for stage in self.stages if stage.rates.source != RULE), CallRates())

    @property
    def seconds(self) -> float | None:
        """Seconds of all stages with open calls; None where one of them is unknown."""
        seconds = [stage.seconds for stage in self.stages if stage.cost.calls]
        known = [value for value in seconds if value is not None]
        return sum(known) if len(known) == len(seconds) and (known or not self.stages) else None

    @property
    def record(self) -> dict[str, Any]:
        """Calls, tokens and seconds of each stage and in all, and the assumptions."""
        rates = self.rates
        return {
            "stages": [stage.record() for stage in self.stages],
            "seconds": self.seconds,
            "characters_per_token": rates.characters_per_token,
            "latency_s": rates.latency_s,
            "at_once": rates.calls_at_once,
            "source": rates.source,
            "concurrency": self.concurrency,
            "sends": self.sends,
        }

    @property
    def text(self) -> str:
        """One line for each stage, how its figures were estimated, and the remarks."""
        width = max([12, *(len(stage.cost.stage) + 1 for stage in self.stages)])
        lines = [f"{'stage':<{width}}{'done':>10}{'calls':>12}{'prompt tokens':>16}{'reply tokens':>16}{'time':>12}"]
        lines += [stage.line(width) for stage in self.stages]
        lines += self._basis()
        lines += [f"In all about {duration(self.seconds)}."] if self.seconds else []
        return "\n".join(filter(None, [*lines, *self.remarks]))

    def _basis(self) -> list[str]:
        """What the figures of each stage with open calls are based on."""
        basis = {stage.cost.stage: stage.rates.text(self.concurrency) for stage in self.stages}
        shown = dict.fromkeys(basis[stage.cost.stage] for stage in self.stages if stage.cost.calls)
        return [f"{', '.join(name for name in basis if basis[name] == text)}: {text}" for text in shown]


def estimate(
    settings: Settings, task: LlmTask, costs: Sequence[StageCost], *, probe: bool, sends: str, context: int | None = None
) -> CostEstimate:
    """What the open calls of a task would take, from stored replies or a rule of thumb.

    probe    make a few of the calls, and measure them; prints first what will be sent
    sends    what the prompts contain, and whose it is
    context  tokens that the endpoint takes for prompt and reply together, if known

    Raises AuditError when an endpoint is to be tried and cannot be used.
    """
    limits, rates = limits_of(settings), {cost.stage: known for cost in costs if (known := stored_rates(cost))}
    if probe:
        costs, tried = _try(endpoints_of(settings, task.model), task, costs, limits, sends)
        rates |= tried
    stages = stage_estimates(costs, rates, limits, max(1, len(settings.judge_urls)))
    calls, hosts = sum(cost.calls for cost in costs), _hosts(settings.judge_urls)
    sent = f"Sends to {hosts}: {calls:,} prompts with {sends}." if calls and hosts else ""
    too_long = [stage.too_long(context) for stage in stages]
    return CostEstimate(stages, limits.concurrency, sends, (sent, *too_long, task.cost_note))


def stage_estimates(
    costs: Sequence[StageCost], rates: Mapping[str, CallRates], limits: Limits, endpoints: int = 1
) -> list[StageEstimate]:
    """Each stage with its own rates, or else with the characters per token that another stage shows of the model."""
    shown = next((known.characters_per_token for known in rates.values() if known.source != RULE), CHARACTERS_PER_TOKEN)
    known = [rates.get(cost.stage) or CallRates(shown) for cost in costs]
    return [
        StageEstimate(cost, of_stage, run_seconds(cost.calls, of_stage, limits, endpoints))
        for cost, of_stage in zip(costs, known, strict=True)
    ]


def duration(seconds: float) -> str:
    """A time in the unit that a person would choose."""
    if seconds < 100:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 3600:.1f} hours" if seconds >= 3600 else f"{round(seconds / 60)} min"


def handbooks_text(names: Sequence[str]) -> str:
    """How many handbooks, and the first few: `3 handbooks (a, b, c)`."""
    return f"{len(names):,} handbook{'' if len(names) == 1 else 's'} ({some_of(names)})"


def _hosts(urls: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(urlsplit(url).netloc for url in urls))


# -- rates of calls that were made -------------------------------------------------------------------------------------


def measured_rates(made: Iterable[tuple[Call, Reply]], source: str) -> CallRates:
    """Rates of calls with their replies; the rule of thumb for tokens that the server does not report."""
    answered = [(call, reply) for call, reply in made if reply.outcome in (ANSWERED, CUT)]
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
    rates = measured_rates(cost.stored, STORED)
    return rates if rates.calls >= MIN_STORED else None


def _try(
    endpoints: Sequence[Endpoint], task: LlmTask, costs: Sequence[StageCost], limits: Limits, sends: str
) -> tuple[list[StageCost], dict[str, CallRates]]:
    """The costs as the replies leave them, and the rates of each stage that has calls to try."""
    number = sum(len(cost.sample) for cost in costs)
    # Printed before any text is sent, so the user can still press Ctrl-C
    note(f"Sending up to {number:,} test prompts to {_hosts(endpoint.base_url for endpoint in endpoints)}: {sends}.")
    expected, rates, left = [], {}, 1.0
    for cost in costs:
        replies = [reply for _, reply in cost.stored]
        if cost.sample:
            # As before a run: a context that is too short, or an ignored schema, must be detected here
            for endpoint in endpoints:
                asyncio.run(probe_endpoint(endpoint, cost.longest, limits))
            rates[cost.stage], tried = asyncio.run(try_calls(endpoints, cost.sample, limits))
            replies += tried.values()
        expected.append(replace(cost, calls=round(cost.calls * left), characters=round(cost.characters * left)))
        left *= task.share_left(cost, replies)
    return expected, rates


async def try_calls(endpoints: Sequence[Endpoint], sample: Sequence[Call], limits: Limits) -> tuple[CallRates, dict[str, Reply]]:
    """Make the calls of `sample`: a few one after the other, the rest as a run would make them, as many at once as it may.

    Returns the rates, with a limit where so many calls took clearly longer each than one alone, and the replies by key.
    Raises AuditError where no endpoint answers.
    """
    replies: dict[str, Reply] = {}

    def keep(reply: Reply) -> None:
        replies[reply.key] = reply

    async def ask(calls: Sequence[Call], at_once: int) -> float:
        """Make the calls and keep their replies; returns the seconds that took."""
        # Readability is checked by the run; the cost of a reply is the same.
        opened = replace(limits, concurrency=at_once, start=at_once)
        return (await run_calls(calls, endpoints, keep, readable=lambda *_: True, limits=opened)).seconds

    def rates_so_far() -> CallRates:
        return measured_rates([(call, replies[call.key]) for call in sample if call.key in replies], TRIED)

    await ask(sample[:ALONE], 1)
    alone_s, together = rates_so_far().latency_s, sample[ALONE:]
    at_once = max(1, min(limits.concurrency, len(together)))
    # Full rounds only: a last one with a few calls would look like an endpoint at its limit
    together = together[: len(together) // at_once * at_once]
    seconds = await ask(together, at_once) if together else 0.0
    rates, per_s = rates_so_far(), len(together) / seconds if seconds else None
    if alone_s is not None and per_s is not None and per_s * alone_s < UNLIMITED_SHARE * at_once:
        rates = replace(rates, latency_s=alone_s, per_s=per_s)
    return rates, replies


# -- the time of a run -------------------------------------------------------------------------------------------------


def run_seconds(calls: float, rates: CallRates, limits: Limits, endpoints: int = 1) -> float | None:
    """Seconds for so many calls, the first slow rounds of a run included; None where no latency is known.

    A run begins with `limits.start` calls at once per endpoint and opens more with each round of replies.
    """
    if rates.latency_s is None:
        return None
    most = max(1, limits.concurrency)
    at_once, seconds, rest = float(min(most, limits.start * endpoints)), 0.0, float(calls)
    while rest > 0:
        sent = rest if at_once == most else min(rest, at_once)
        # A last round that is not full takes as long as a full one, where the endpoint has room for it.
        unlimited = rates.latency_s * max(sent / at_once, 1.0)
        seconds += max(unlimited, sent / rates.per_s) if rates.per_s else unlimited
        rest -= sent
        at_once = min(most, at_once + max(endpoints, at_once * GROWTH))
    return seconds
