"""Asking the endpoint from a command: its trial before a run, the bar while it lasts, and what a run would cost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tqdm import tqdm

from audit.errors import AuditError
from audit.llm.calls import Call
from audit.llm.client import Endpoint
from audit.llm.journal import Journal
from audit.llm.limits import Limits
from audit.llm.probe import find_model, probe_endpoint
from audit.llm.runner import CallStats, run_calls
from audit.llm.tasks import CallRates, LlmTask, StageCost, ask_stages, estimate_figures, estimate_text, rates_from_sample
from audit.settings import Settings


def endpoints_of(settings: Settings, model: str) -> list[Endpoint]:
    """The endpoints that are set.

    Raises AuditError when none is.
    """
    if not settings.judge_urls:
        raise AuditError(
            "No judge is set. Nothing was asked. Set AUDIT_JUDGE_URL to an OpenAI-compatible endpoint, such as "
            'http://127.0.0.1:8000/v1, or let plain rules judge (--baseline; in a config, judge = "baseline").'
        )
    return [Endpoint(url, model, settings.judge_key) for url in settings.judge_urls]


def model_of(settings: Settings, begun: str | None, *, asks: bool = True) -> str:
    """The model that is set, the one a journal was begun with, or the only one that the first endpoint has.

    Raises AuditError when it is none of these; without `asks` no endpoint is looked at.
    """
    if settings.judge_model or begun:
        return settings.judge_model or begun or ""
    if not asks:
        raise AuditError("No model is set. Nothing was written. Set AUDIT_JUDGE_MODEL to the one that the cluster will load.")
    return asyncio.run(find_model(endpoints_of(settings, "")[0], limits_of(settings))).model


def limits_of(settings: Settings) -> Limits:
    """How hard the endpoints are pressed."""
    most = max(1, settings.judge_concurrency)
    return replace(Limits(), concurrency=most, start=min(Limits.start, most))


def ask_all(
    settings: Settings,
    work: LlmTask,
    journal: Journal,
    watch: Callable[[StageCost, CallStats], None] = lambda *_: None,
) -> list[str]:
    """Ask everything that is open, with a bar on standard error; return what the servers say they are.

    `watch` gets what the bar gets: the stage, and its counts so far.

    Raises AuditError when an endpoint will not do, and StoppedError when a run of calls was stopped by a rule.
    """
    endpoints, limits, servers = endpoints_of(settings, work.model), limits_of(settings), set[str]()

    def ask(cost: StageCost, calls: Iterator[Call]) -> None:
        for endpoint in endpoints:
            servers.add(asyncio.run(probe_endpoint(endpoint, [cost.longest] if cost.longest else [], limits)).server or "unknown")
        with tqdm(total=cost.calls, desc=cost.stage, unit="call", smoothing=0.05, dynamic_ncols=True) as bar:

            def progress(tally: CallStats) -> None:
                draw(bar, tally)
                watch(cost, tally)

            asyncio.run(run_calls(calls, endpoints, journal.put, readable=work.readable, progress=progress, limits=limits))

    ask_stages(work, journal.latest, ask)
    return sorted(servers)


def draw(bar: Any, tally: CallStats) -> None:
    """Move the bar to where the run is, and say beside it what went wrong so far."""
    names = ("unreadable", "cut", "refused", "failed", "waiting_again")
    faults = {name.replace("_", " "): count for name in names if (count := getattr(tally, name))}
    bar.set_postfix({"open": tally.in_flight, **faults}, refresh=False)
    bar.update(tally.done - bar.n)


@dataclass(frozen=True)
class Estimate:
    """What is still to be asked, and the tokens and time it would take: as text, and as figures for a page."""

    text: str
    figures: dict[str, Any]


def estimate(settings: Settings, model: str, found: Sequence[StageCost], *, trial: bool = True, remarks: str = "") -> Estimate:
    """What it would take to ask what was `found` open; with `trial` a few calls are tried where an endpoint is set."""
    sample = next((cost.sample for cost in found if cost.sample), ())
    rates = _rates(settings, model, sample) if trial else CallRates()
    text = estimate_text(found, rates, settings.judge_concurrency)
    return Estimate(f"{text}\n{remarks}".rstrip(), estimate_figures(found, rates, settings.judge_concurrency))


def _rates(settings: Settings, model: str, sample: tuple[Call, ...]) -> CallRates:
    if not settings.judge_urls or not sample:
        return CallRates()
    report = asyncio.run(probe_endpoint(endpoints_of(settings, model)[0], sample, limits_of(settings)))
    return rates_from_sample(sample, report.prompt_tokens, report.completion_tokens, report.latency_s)
