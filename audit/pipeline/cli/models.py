"""`audit models check`: what a model on this machine can do, and how long a run would take with it."""

from __future__ import annotations

import argparse
import asyncio
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from audit.cli.conventions import FINDINGS, OK, add_json, count, note, print_result
from audit.errors import AuditError
from audit.formatting import duration
from audit.pipeline.answers.evidence import SMALL_CONTEXT
from audit.pipeline.cli.model_calls import endpoints_of, limits_of
from audit.pipeline.cli.model_trial import Trial, try_model
from audit.pipeline.cli.run import planned_run
from audit.pipeline.llm.local_server import LocalModel, found_command, serving
from audit.pipeline.llm.probe import CheckedEndpoint, probe_endpoint
from audit.settings import Settings

DEFAULT_CONTEXT = 8_192
ABOUT = """MODEL is a GGUF file, on which llama.cpp's server is started for the time of the check (the program llama-server, or
the package xllamacpp), or the address of a server that runs, such as http://127.0.0.1:8000/v1. A few made-up questions are put to
it; no text of yours is sent.

With CONFIG, the plan of `audit run CONFIG --dry-run` is counted for this model: its tokens over the speeds measured here.

Quality is not measured: compare a model's verdicts with people's before you trust them.

Exit code: 0 it can be used, 1 something is missing, 2 nothing was checked."""


def check_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit models check`."""
    parser.epilog = ABOUT
    parser.add_argument("model", metavar="MODEL", help="a GGUF file, or the address of a server")
    parser.add_argument("config", nargs="?", type=Path, metavar="CONFIG.toml", help="the run whose time is estimated")
    parser.add_argument(
        "--context", type=count, default=DEFAULT_CONTEXT, metavar="N",
        help="for a file: tokens of prompt and reply together (default: %(default)s)",
    )  # fmt: skip
    add_json(parser)


def check(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit models check MODEL [CONFIG.toml]`"""
    with _served(arguments) as (url, name):
        settings = replace(settings, judge_urls=(url,), judge_model=name or settings.judge_model, judge_concurrency=1)
        limits = limits_of(settings)
        (endpoint,) = endpoints_of(settings, settings.judge_model)
        fault, checked = "", CheckedEndpoint(endpoint, None)
        try:
            checked = asyncio.run(probe_endpoint(endpoint, limits))
        except AuditError as error:
            fault = str(error)
            if not name:  # a file whose model does not obey is worth the rest; an address may be anything
                raise
        trial = try_model(checked.endpoint, limits, checked.context or arguments.context)
        lines, estimate = _plan_lines(arguments.config, settings, trial) if arguments.config else ([], {})
    record = _record(checked, trial, fault)
    text = [*_about(checked, trial, fault), *lines, *_how_to_start(arguments, name)]
    print_result(arguments, "\n".join(text), {**record, "plan": estimate})
    return FINDINGS if fault or any(usable < asked for usable, asked in trial.read.values()) else OK


@contextmanager
def _served(arguments: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """(address, name) of the model; the name is empty where a server runs already."""
    if "://" in arguments.model:
        yield arguments.model.rstrip("/"), ""
        return
    model = LocalModel(Path(arguments.model), Path(arguments.model).stem, 1, arguments.context)
    note(f"Starting llama.cpp's server on {model.file.name} ...")
    with serving(model) as url:
        yield url, model.name


def _record(checked: CheckedEndpoint, trial: Trial, fault: str) -> dict[str, Any]:
    return {
        "model": checked.endpoint.model, "server": checked.server, "context": checked.context, "structured_replies": not fault,
        "fault": fault, "prompt_tokens_per_s": trial.prompt_rate, "reply_tokens_per_s": trial.reply_rate,
        "read": {what: list(numbers) for what, numbers in trial.read.items()}, "faults": list(trial.faults),
    }  # fmt: skip


def _about(checked: CheckedEndpoint, trial: Trial, fault: str) -> Iterator[str]:
    yield f"{checked.endpoint.model}, {checked.server or 'a server that does not say what it is'}"
    yield f"structured replies: {fault or 'yes'}"
    context = f"{checked.context:,} tokens" if checked.context else "unknown"
    small = ": passages only, the best next to the question" if checked.context and checked.context < SMALL_CONTEXT else ""
    yield f"context: {context}{small}"
    speeds = (("prompt", trial.prompt_rate), ("reply", trial.reply_rate))
    yield "speed: " + ", ".join(f"{rate:,.0f} {kind} tokens a second" if rate else f"{kind}s unknown" for kind, rate in speeds)
    for what, (usable, asked) in trial.read.items():
        yield f"{what}: {usable} of {asked}"
    yield from (f"  {fault}" for fault in trial.faults)


def _plan_lines(config: Path, settings: Settings, trial: Trial) -> tuple[list[str], dict[str, Any]]:
    """What the calls of a run would take at the measured speeds, in words and as figures by stage."""
    stages = {}
    for name, estimate in planned_run(config, settings).items():
        rows: Sequence[dict[str, Any]] = estimate["stages"]
        calls, prompt, reply = (sum(row[figure] for row in rows) for figure in ("calls", "prompt_tokens", "reply_tokens"))
        seconds = prompt / trial.prompt_rate + reply / trial.reply_rate if trial.prompt_rate and trial.reply_rate else None
        stages[name] = {"calls": calls, "prompt_tokens": prompt, "reply_tokens": reply, "seconds": seconds}
    if not stages:
        return [f"{config}: no stage calls a model."], {}
    lines = [
        f"{name}: {row['calls']:,} calls, {row['prompt_tokens']:,} prompt and {row['reply_tokens']:,} reply tokens, "
        + ("time unknown" if row["seconds"] is None else f"about {duration(row['seconds'])}")
        for name, row in stages.items()
    ]
    return [f"{config}, one call after the other, without what a prefix cache saves:", *lines], stages


def _how_to_start(arguments: argparse.Namespace, name: str) -> Iterator[str]:
    if not name:
        yield f"To use it: export AUDIT_JUDGE_URL={shlex.quote(arguments.model)}"
        return
    command = found_command()(LocalModel(Path(arguments.model), name, 1, arguments.context), 8000)
    yield f"To use it, leave it running:  {shlex.join(command)}"
    yield "and in another terminal:  export AUDIT_JUDGE_URL=http://127.0.0.1:8000/v1 AUDIT_JUDGE_CONCURRENCY=1"
    yield 'A run whose config names no generator then has its answers from it; with [judge] judge = "model" its verdicts too.'
