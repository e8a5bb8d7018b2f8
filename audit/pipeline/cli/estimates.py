"""Estimates of `--dry-run`: calls, tokens and time of the open calls by stage, and what is sent to whom.

Tokens and time are those of a few test calls (`--probe`) or of stored replies; else tokens are estimated by a rule of thumb. The
time is the mean time of a call, times the calls, divided by how many are open at once, which a trial makes at once too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any
from urllib.parse import urlsplit

from audit.cli.conventions import note
from audit.formatting import some_of
from audit.pipeline.cli.model_calls import endpoints_of, limits_of
from audit.pipeline.llm.calls import ANSWERED, CUT, Call
from audit.pipeline.llm.client import Endpoint
from audit.pipeline.llm.limits import Limits
from audit.pipeline.llm.probe import probe_endpoint
from audit.pipeline.llm.runner import run_calls
from audit.pipeline.llm.tasks import StageCost, prompt_characters
from audit.release.journal_files import Reply
from audit.settings import Settings

# The usual rule of thumb for English; stored replies and test calls measure it for the model at hand.
CHARACTERS_PER_TOKEN = 4.0
RULE, STORED, TRIED = "rule of thumb", "stored replies", "test calls"
# Fewer are not representative of the run.
MIN_STORED = 8
Made = Sequence[tuple[Call, Reply]]


@dataclass(frozen=True)
class StageEstimate:
    """The open calls of a stage, and what one of them takes: by calls that were `made`, or where there are none by a rule.

    at_once  how many calls may be open
    source   RULE, STORED or TRIED
    """

    cost: StageCost
    at_once: int
    source: str = RULE
    made: Made = ()

    @property
    def characters_per_token(self) -> float:
        """Of the prompts; by the rule where the server reports no tokens."""
        counted = [(call, reply.usage["prompt_tokens"]) for call, reply in self.made if reply.usage.get("prompt_tokens")]
        tokens = sum(number for _, number in counted)
        return sum(prompt_characters(call) for call, _ in counted) / tokens if tokens else CHARACTERS_PER_TOKEN

    @property
    def latency_s(self) -> float | None:
        """Mean seconds from a request to its reply; None where they are unknown."""
        known = [reply.latency_s for _, reply in self.made if reply.latency_s is not None]
        return fmean(known) if known else None

    @property
    def seconds(self) -> float | None:
        """Seconds of all its calls; None where the time of one is unknown."""
        if self.latency_s is None:
            return None
        # As many as in the trial: with more, an endpoint at its limit would take longer for each
        tried = len(self.made) if self.source == TRIED else self.at_once
        return self.latency_s * self.cost.calls / min(self.at_once, tried, max(1, self.cost.calls))

    def record(self) -> dict[str, Any]:
        """The figures as JSON values."""
        written = [reply.usage["completion_tokens"] for _, reply in self.made if "completion_tokens" in reply.usage]
        return {
            "stage": self.cost.stage,
            "done": self.cost.done,
            "calls": self.cost.calls,
            "prompt_tokens": round(self.cost.characters / self.characters_per_token),
            "reply_tokens": round(self.cost.calls * (fmean(written) if written else self.cost.written)),
            "seconds": self.seconds,
            "source": self.source,
        }

    def line(self, width: int) -> str:
        """Its line of the table, whose first column has this width."""
        figures = self.record()
        tokens = f"{figures['prompt_tokens']:>16,}{figures['reply_tokens']:>16,}"
        seconds = duration(self.seconds) if self.cost.calls and self.seconds is not None else "-"
        basis = f"{len(self.made):,} {self.source}" if self.made else self.source
        return f"{self.cost.stage:<{width}}{self.cost.done:>10,}{self.cost.calls:>12,}{tokens}{seconds:>12}  {basis}"


@dataclass(frozen=True)
class CostEstimate:
    """The open calls, and the tokens and time that they would take: as text, and as figures for a page.

    sends    what the prompts contain, and whose it is
    remarks  sentences below the figures; an empty one is left out
    """

    stages: Sequence[StageEstimate]
    concurrency: int
    sends: str = ""
    remarks: Sequence[str] = ()

    @property
    def record(self) -> dict[str, Any]:
        """Calls, tokens and seconds of each stage and in all, and the rates of the first measured stage."""
        seconds = [stage.seconds for stage in self.stages if stage.cost.calls]
        first = next((stage for stage in self.stages if stage.made), None)
        return {
            "stages": [stage.record() for stage in self.stages],
            "seconds": None if None in seconds or not seconds else sum(filter(None, seconds)),
            "characters_per_token": first.characters_per_token if first else CHARACTERS_PER_TOKEN,
            "latency_s": first.latency_s if first else None,
            "source": first.source if first else RULE,
            "concurrency": self.concurrency,
            "sends": self.sends,
        }

    @property
    def text(self) -> str:
        """One line for each stage, the rates, and the remarks."""
        figures = self.record
        width = max([12, *(len(stage.cost.stage) + 1 for stage in self.stages)])
        lines = [f"{'stage':<{width}}{'done':>10}{'calls':>12}{'prompt tokens':>16}{'reply tokens':>16}{'time':>12}  based on"]
        lines += [stage.line(width) for stage in self.stages]
        rates = f"{figures['characters_per_token']:.1f} characters per token"
        if figures["latency_s"] is not None:
            rates += f", {figures['latency_s']:.2f} s per call, at most {self.concurrency:,} calls at once"
        lines.append(f"By {figures['source']}: {rates}.")
        if figures["seconds"]:
            lines.append(f"In all about {duration(figures['seconds'])}.")
        elif any(stage.cost.calls for stage in self.stages):
            lines.append("The time is unknown. With --probe a few test calls measure tokens and time.")
        return "\n".join(filter(None, [*lines, *self.remarks]))


def estimate(
    settings: Settings, model: str, costs: Sequence[StageCost], *, probe: bool, sends: str, remarks: Sequence[str] = ()
) -> CostEstimate:
    """What the open calls of a task would take.

    probe  make a few of the calls, and measure them; prints first what will be sent
    sends  what the prompts contain, and whose it is

    Raises AuditError when an endpoint is to be tried and cannot be used.
    """
    limits = limits_of(settings)
    made = {cost.stage: _measured(STORED, cost.stored) for cost in costs if len(cost.stored) >= MIN_STORED}
    if probe:
        made |= _tried(endpoints_of(settings, model), costs, limits, sends)
    stages = [StageEstimate(cost, limits.concurrency, *made.get(cost.stage, ())) for cost in costs]
    calls, hosts = sum(cost.calls for cost in costs), _hosts(settings.judge_urls)
    sent = f"Sends to {hosts}: {calls:,} prompts with {sends}." if calls and hosts else ""
    return CostEstimate(stages, limits.concurrency, sends, (sent, *remarks))


def _tried(endpoints: Sequence[Endpoint], costs: Sequence[StageCost], limits: Limits, sends: str) -> dict[str, tuple[str, Made]]:
    """Some calls of each stage with their replies, made as a run would make them. Raises AuditError where no endpoint answers."""
    number = sum(len(cost.sample) for cost in costs)
    # Printed before any text is sent, so the user can still press Ctrl-C
    note(f"Sending up to {number:,} test prompts to {_hosts(endpoint.base_url for endpoint in endpoints)}: {sends}.")
    made: dict[str, tuple[str, Made]] = {}
    together = replace(limits, start=limits.concurrency)
    for cost in costs:
        if not cost.sample:
            continue
        # As before a run: a context that is too short, or an ignored schema, must be detected here
        for endpoint in endpoints:
            asyncio.run(probe_endpoint(endpoint, cost.longest, limits))
        replies: list[Reply] = []
        # Readability is checked by the run; the cost of a reply is the same.
        asyncio.run(run_calls(cost.sample, endpoints, replies.append, readable=lambda *_: True, limits=together))
        calls = {call.key: call for call in cost.sample}
        made[cost.stage] = _measured(TRIED, [(calls[reply.key], reply) for reply in replies])
    return made


def _measured(source: str, made: Made) -> tuple[str, Made]:
    """The calls that were answered, and the rule where none was."""
    answered = [(call, reply) for call, reply in made if reply.outcome in (ANSWERED, CUT)]
    return (source, answered) if answered else (RULE, ())


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
