"""Estimates of `--dry-run`: tokens, time and content of the open calls, with `--probe` measured by a few test calls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from audit.cli.conventions import note
from audit.formatting import some_of
from audit.pipeline.cli.model_calls import endpoints_of, limits_of
from audit.pipeline.llm.client import Endpoint
from audit.pipeline.llm.estimate import (
    CallRates,
    StageEstimate,
    estimate_figures,
    estimate_text,
    stage_estimates,
    stored_rates,
    try_calls,
)
from audit.pipeline.llm.journal import Journal
from audit.pipeline.llm.limits import Limits
from audit.pipeline.llm.probe import probe_endpoint
from audit.pipeline.llm.tasks import Replies, StageCost, no_replies, prompt_characters
from audit.release.journal_files import Reply, journal_path
from audit.settings import Settings

ShareLeft = Callable[[StageCost, Sequence[Reply]], float]
"""The share of the later stages' calls that remain, given the replies of some calls of a stage."""


@dataclass(frozen=True)
class CostEstimate:
    """The open calls, and the tokens and time that they would take: as text, and as figures for a page."""

    text: str
    record: dict[str, Any]

    def remarked(self, *remarks: str) -> CostEstimate:
        """The same with more sentences; an empty one is left out."""
        return CostEstimate("\n".join(filter(None, [self.text, *remarks])), self.record)


def estimate(
    settings: Settings,
    model: str,
    costs: Sequence[StageCost],
    *,
    probe: bool,
    sends: str,
    remarks: str = "",
    share_left: ShareLeft = lambda *_: 1.0,
    context: int | None = None,
) -> CostEstimate:
    """The estimated cost of the open calls of `costs`, from stored replies or a rule of thumb.

    probe    make a few of the calls, and measure them; prints first what will be sent
    sends    what the prompts contain, and whose it is
    context  tokens that the endpoint takes for prompt and reply together, if known

    Raises AuditError when an endpoint is to be tried and cannot be used.
    """
    limits, rates = limits_of(settings), {cost.stage: known for cost in costs if (known := stored_rates(cost))}
    if probe:
        costs, tried = _try(endpoints_of(settings, model), costs, limits, sends, share_left)
        rates |= tried
    stages = stage_estimates(costs, rates, limits, max(1, len(settings.judge_urls)))
    calls = sum(cost.calls for cost in costs)
    lines = [estimate_text(stages, limits.concurrency)]
    lines += [f"Sends to {_hosts(settings.judge_urls)}: {calls:,} prompts with {sends}."] if calls and settings.judge_urls else []
    lines += [sentence for stage in stages if (sentence := _too_long(stage, context))]
    figures = estimate_figures(stages, limits.concurrency) | {"sends": sends}
    return CostEstimate("\n".join(filter(None, [*lines, remarks])), figures)


def _try(
    endpoints: Sequence[Endpoint], costs: Sequence[StageCost], limits: Limits, sends: str, share_left: ShareLeft
) -> tuple[list[StageCost], dict[str, CallRates]]:
    """The costs as the replies leave them, and the rates of each stage that has calls to try."""
    number = sum(len(cost.sample) for cost in costs)
    # Printed before any text is sent, so the user can still press Ctrl-C
    note(f"Sending up to {number:,} test prompts to {_hosts([endpoint.base_url for endpoint in endpoints])}: {sends}.")
    expected, rates, left = [], {}, 1.0
    for cost in costs:
        replies = [reply for _, reply in cost.stored]
        if cost.sample:
            # As before a run: a context that is too short, or an ignored schema, must be detected here
            for endpoint in endpoints:
                asyncio.run(probe_endpoint(endpoint, [cost.longest] if cost.longest else [], limits))
            rates[cost.stage], tried = asyncio.run(try_calls(endpoints, cost.sample, limits))
            replies += tried.values()
        expected.append(replace(cost, calls=round(cost.calls * left), characters=round(cost.characters * left)))
        left *= share_left(cost, replies)
    return expected, rates


def _hosts(urls: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(urlsplit(url).netloc for url in urls))


def _too_long(stage: StageEstimate, context: int | None) -> str:
    """A sentence on the longest prompt, where the endpoint's context is too short for it."""
    call = stage.cost.longest
    if call is None or context is None:
        return ""
    tokens = round(prompt_characters(call) / stage.rates.characters_per_token) + int(call.body.get("max_tokens") or 0)
    if tokens <= context:
        return ""
    return (
        f"{stage.cost.stage}: the longest prompt with its reply takes about {tokens:,} tokens, and the endpoint has room for "
        f"{context:,}: the run would stop there. Start the server with a longer context (vLLM: --max-model-len)."
    )


def handbooks_text(names: Sequence[str]) -> str:
    """How many handbooks, and the first few: `3 handbooks (a, b, c)`."""
    return f"{len(names):,} handbook{'' if len(names) == 1 else 's'} ({some_of(names)})"


def with_stored_replies(out: Path, plan: dict[str, Any], measure: Callable[[Replies], CostEstimate]) -> CostEstimate:
    """The result of `measure` on the replies already stored for `out`; a journal is read but never created."""
    path = journal_path(out)
    # Opening the journal would create it
    if not path.exists():
        return measure(no_replies)
    with Journal(path, plan) as journal:
        return measure(journal.latest)
