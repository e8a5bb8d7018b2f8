"""Estimates of `--dry-run`: calls, tokens and time of the open calls by stage, and what is sent to whom.

Tokens and time are those of a few test calls (`--probe`) or of stored replies; else tokens are estimated by a rule of thumb. The
time is the mean time of a call, times the calls, divided by how many are open at once, which a trial makes at once too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any
from urllib.parse import urlsplit

from audit.cli.conventions import note
from audit.formatting import duration, some_of, text_table
from audit.pipeline.cli.model_calls import endpoints_of, limits_of
from audit.pipeline.llm.calls import ANSWERED, CUT, Call
from audit.pipeline.llm.client import Endpoint
from audit.pipeline.llm.limits import Limits
from audit.pipeline.llm.probe import probe_endpoint, too_long
from audit.pipeline.llm.runner import run_calls
from audit.pipeline.llm.tasks import StageCost, prompt_characters
from audit.release.journal_files import Reply
from audit.settings import Settings
from audit.text.words import CHARACTERS_PER_TOKEN

# Stored replies and test calls measure what the rule of thumb (audit.text.words) says for the model at hand.
RULE, STORED, TRIED = "rule of thumb", "stored replies", "test calls"
HEAD = ("stage", "done", "calls", "prompt tokens", "reply tokens", "characters per token", "s per call", "time", "based on")
Made = Sequence[tuple[Call, Reply]]


def estimate(
    settings: Settings,
    model: str,
    costs: Sequence[StageCost],
    *,
    probe: bool,
    sends: str,
    context: int | None = None,
    remarks: Iterable[str] = (),
) -> dict[str, Any]:
    """What the open calls of a task would take, in all and by stage, as JSON values; `estimate_text` puts them into words.

    probe    make a few of the calls, and measure them; prints first what will be sent
    sends    what the prompts contain, and whose it is
    context  tokens of prompt and reply together that the endpoint takes, if known
    remarks  sentences on the figures; an empty one is left out

    Raises AuditError when an endpoint is to be tried and cannot be used.
    """
    limits, calls = limits_of(settings), sum(cost.calls for cost in costs)
    hosts = ", ".join(dict.fromkeys(urlsplit(url).netloc for url in settings.judge_urls))
    tried: dict[str, Made] = {}
    if probe and calls:
        endpoints = endpoints_of(settings, model)
        # Printed before any text is sent, so the user can still press Ctrl-C
        note(f"Sending up to {sum(len(cost.sample) for cost in costs):,} test prompts to {hosts}: {sends}.")
        tried = {cost.stage: _tried(endpoints, cost, limits) for cost in costs if cost.calls}
    rows = [stage_row(cost, limits.concurrency, tried.get(cost.stage)) for cost in costs]
    seconds = [row["seconds"] for row in rows if row["calls"]]
    rates = next((row for row in rows if row["measured"]), stage_row(StageCost(""), limits.concurrency))
    sent = f"Sends to {hosts}: {calls:,} prompts with {sends}." if calls and hosts else ""
    long = [too_long(cost.longest, row["longest_prompt"], context) for cost, row in zip(costs, rows, strict=True)]
    return {
        "stages": rows,
        "seconds": None if None in seconds or not seconds else sum(seconds),
        **{name: rates[name] for name in ("characters_per_token", "latency_s", "source")},
        "concurrency": limits.concurrency,
        "sends": sends,
        "remarks": [*filter(None, [sent, *(f"Roughly, {sentence}" for sentence in long if sentence), *remarks])],
    }


def stage_row(cost: StageCost, concurrency: int, tried: Made | None = None) -> dict[str, Any]:
    """What the open calls of a stage take, by the rates of test calls or of stored replies; where none was answered, by a rule.

    Tokens of all prompts and replies, and of the longest prompt; seconds, None where those of a call are unknown; the rates, and
    how many `measured` calls they are based on.
    """
    made = cost.stored if tried is None else tried
    measured = [(call, reply) for call, reply in made if reply.outcome in (ANSWERED, CUT)]
    counted = [(call, tokens) for call, reply in measured if (tokens := reply.usage.get("prompt_tokens"))]
    written = [reply.usage["completion_tokens"] for _, reply in measured if "completion_tokens" in reply.usage]
    latencies = [reply.latency_s for _, reply in measured if reply.latency_s is not None]
    characters = sum(prompt_characters(call) for call, _ in counted)
    rate = characters / sum(tokens for _, tokens in counted) if counted else CHARACTERS_PER_TOKEN
    latency_s = fmean(latencies) if latencies else None
    # As many as were measured: with more, an endpoint at its limit would take longer for each
    at_once = max(1, min(concurrency, cost.calls, len(measured)))
    return {
        "stage": cost.stage,
        "done": cost.done,
        "calls": cost.calls,
        "prompt_tokens": round(cost.characters / rate),
        "reply_tokens": round(cost.calls * (fmean(written) if written else cost.written)),
        "longest_prompt": round(prompt_characters(cost.longest) / rate) if cost.longest else 0,
        "seconds": None if latency_s is None else latency_s * cost.calls / at_once,
        "source": RULE if not measured else STORED if tried is None else TRIED,
        "measured": len(measured),
        "characters_per_token": rate,
        "latency_s": latency_s,
    }


def estimate_text(record: dict[str, Any]) -> str:
    """One line for each stage, the time, and the remarks."""
    lines = [text_table([HEAD, *map(_cells, record["stages"])])]
    if record["seconds"]:
        lines.append(f"In all about {duration(record['seconds'])}, with at most {record['concurrency']:,} calls at once.")
    elif any(row["calls"] for row in record["stages"]):
        lines.append("The time is unknown. With --probe a few test calls measure tokens and time.")
    return "\n".join([*lines, *record["remarks"]])


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    figures = (f"{row[name]:,}" for name in ("done", "calls", "prompt_tokens", "reply_tokens"))
    latency = "-" if row["latency_s"] is None else f"{row['latency_s']:.2f}"
    time = duration(row["seconds"]) if row["seconds"] else "-"
    basis = f"{row['measured']:,} {row['source']}" if row["measured"] else row["source"]
    return row["stage"], *figures, f"{row['characters_per_token']:.1f}", latency, time, basis


def _tried(endpoints: Sequence[Endpoint], cost: StageCost, limits: Limits) -> Made:
    """Some calls of a stage with their replies, made as a run would make them. Raises AuditError where no endpoint answers."""
    # As before a run: a context that is too short, or an ignored schema, must be detected here
    for endpoint in endpoints:
        asyncio.run(probe_endpoint(endpoint, limits, cost.longest))
    replies: list[Reply] = []
    together = replace(limits, start=limits.concurrency)
    # Readability is checked by the run; the cost of a reply is the same.
    asyncio.run(run_calls(cost.sample, endpoints, replies.append, readable=lambda *_: True, limits=together))
    calls = {call.key: call for call in cost.sample}
    return [(calls[reply.key], reply) for reply in replies]


def handbooks_text(names: Sequence[str]) -> str:
    """How many handbooks, and the first few: `3 handbooks (a, b, c)`."""
    return f"{len(names):,} handbook{'' if len(names) == 1 else 's'} ({some_of(names)})"
