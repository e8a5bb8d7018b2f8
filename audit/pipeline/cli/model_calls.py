"""Calling a model from a command: endpoint and progress bar; and on a cluster without a network, in batches."""

from __future__ import annotations

import argparse
import asyncio
import json
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from tqdm import tqdm

from audit.cli.conventions import FAILED, FINDINGS, OK, count, note, print_before_result
from audit.errors import AuditError
from audit.pipeline.llm.calls import ANSWERED, CUT, REFUSED, Call
from audit.pipeline.llm.calls import FAILED as CALL_FAILED
from audit.pipeline.llm.client import Endpoint
from audit.pipeline.llm.journal import Journal
from audit.pipeline.llm.limits import Limits, StoppedError
from audit.pipeline.llm.probe import probe_endpoint
from audit.pipeline.llm.runner import CallStats, run_calls
from audit.pipeline.llm.shards import ShardCount, collect_replies, max_array_size, read_batch, sbatch_commands, write_batch
from audit.pipeline.llm.tasks import LlmTask, Replies, StageCost, ask_stages
from audit.release.journal_files import Reply, journal_path, journal_plan
from audit.settings import Settings

Watch = Callable[[StageCost, CallStats], None]
DEFAULT_SHARDS = 32
CONTINUE = "The same command continues from there, and no call is made twice."
OUTCOMES = (ANSWERED, CUT, REFUSED, CALL_FAILED)


def add_call_options(parser: Any, product: str) -> Any:
    """Add the options shared by `audit judge` and `audit generate`; returns the group of mutually exclusive options.

    product  the result that is written from the replies, such as `release`
    """
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--dry-run", action="store_true", help="estimate calls, tokens and hours, and do nothing")
    mode.add_argument("--parse-again", action="store_true", help=f"call no model; write the {product} from the stored replies")
    mode.add_argument(
        "--emit-batch", type=Path, metavar="DIR", help="call no model; write shards and a SLURM script for a cluster"
    )
    mode.add_argument("--collect", type=Path, metavar="DIR", help="collect the cluster's replies, and report what is missing")
    parser.add_argument(
        "--shards",
        type=count,
        default=DEFAULT_SHARDS,
        metavar="N",
        help="for --emit-batch: number of shards (default: %(default)s)",
    )
    add_probe(parser)
    return mode


def add_probe(parser: Any) -> None:
    """Add `--probe`, with the same meaning for every command that estimates calls."""
    parser.add_argument("--probe", action="store_true", help="for --dry-run: send a few prompts, and measure tokens and time")


def uses_batch(arguments: argparse.Namespace) -> bool:
    """Whether the calls are made on a cluster and not by this command."""
    return bool(arguments.emit_batch or arguments.collect)


def endpoints_of(settings: Settings, model: str) -> list[Endpoint]:
    """The endpoints that are set. Raises AuditError when there is none."""
    if not settings.judge_urls:
        raise AuditError(
            "No model endpoint is set. No model was called. Set AUDIT_JUDGE_URL to an OpenAI-compatible endpoint, such as "
            "http://127.0.0.1:8000/v1."
        )
    return [Endpoint(url, model, settings.judge_key, settings.judge_thinking) for url in settings.judge_urls]


def model_of(settings: Settings, recorded: str | None, *, calls: bool = True) -> str:
    """The model that is set, the one `recorded` in the journal, or the only one that the first endpoint offers.

    calls  False: do not ask the endpoint, because the calls are made elsewhere

    Raises AuditError when there is no such model.
    """
    if settings.judge_model or recorded:
        return settings.judge_model or recorded or ""
    if not calls:
        raise AuditError("No model is set. Nothing was written. Set AUDIT_JUDGE_MODEL to the model that the cluster will load.")
    return asyncio.run(probe_endpoint(endpoints_of(settings, "")[0], limits_of(settings), only_name=True)).endpoint.model


def model_for(arguments: argparse.Namespace, settings: Settings) -> str:
    """The model of a command that writes to `--out`; for an estimate without test calls any name will do."""
    recorded = (journal_plan(journal_path(arguments.out)) or {}).get("model")
    if arguments.dry_run and not arguments.probe:
        return settings.judge_model or recorded or "unknown"
    return model_of(settings, recorded, calls=not uses_batch(arguments))


def limits_of(settings: Settings) -> Limits:
    """How many calls may be open at once."""
    # The number of open calls grows from `start`, which must not be above the limit
    concurrency = max(1, settings.judge_concurrency)
    return replace(Limits(), concurrency=concurrency, start=min(Limits.start, concurrency))


def ask_all(settings: Settings, task: LlmTask, journal: Journal, watch: Watch = lambda *_: None) -> list[str]:
    """Make every open call, with a bar on standard error; returns what the servers report to be.

    watch  receives what the bar receives: the stage, and its counts so far

    Raises AuditError when an endpoint cannot be used, and StoppedError when a stop rule ended the calls.
    """
    endpoints, limits, servers = endpoints_of(settings, task.model), limits_of(settings), set[str]()

    def ask(cost: StageCost, calls: Iterator[Call]) -> None:
        # The longest prompt goes first: a context that is too short must be detected now and not after hours
        for endpoint in endpoints:
            servers.add(asyncio.run(probe_endpoint(endpoint, limits, cost.longest)).server or "unknown")
        # Replies come in bursts: a slow average keeps the remaining time from jumping
        with tqdm(total=cost.calls, desc=cost.stage, unit="call", smoothing=0.05, dynamic_ncols=True) as bar:

            def progress(tally: CallStats) -> None:
                show_progress(bar, tally)
                watch(cost, tally)

            asyncio.run(run_calls(calls, endpoints, journal.put, readable=task.readable, progress=progress, limits=limits))

    ask_stages(task, journal.latest, ask)
    return sorted(servers)


def carry_out(
    arguments: argparse.Namespace,
    settings: Settings,
    task: LlmTask,
    *,
    write: Callable[[Journal, list[str]], int],
    explain_stop: Callable[[str], None] = lambda _: note(CONTINUE),
    watch: Watch = lambda *_: None,
) -> int:
    """Make the calls of a task here, or on a cluster where the options say so, and write the result; returns the exit code.

    write         writes the result from the journal, given what the servers report to be, and prints what was written
    explain_stop  gets the reason when the calls are stopped, and prints how to continue
    """
    with Journal(journal_path(arguments.out), task.plan()) as journal:
        servers: list[str] = []
        if arguments.emit_batch:
            print_before_result(arguments, emit_batch(arguments.emit_batch, arguments.shards, task, journal.latest))
            return OK
        if arguments.collect:
            print_before_result(arguments, collect_batch(arguments.collect, task.plan(), journal))
            if rest := open_requests(task, journal.latest):
                print_before_result(arguments, rest)
                return FINDINGS
            servers = ["batch"]
        elif not arguments.parse_again:
            try:
                servers = ask_all(settings, task, journal, watch)
            except (KeyboardInterrupt, StoppedError) as error:
                reason = str(error) if isinstance(error, StoppedError) else "Stopped."
                note(f"\n{arguments.prog}: {reason}")
                note(f"{sum(journal.counts().values()):,} replies are stored in {journal.path}.")
                explain_stop(reason)
                return FAILED
        return write(journal, servers)


def show_progress(bar: Any, tally: CallStats) -> None:
    """Move the bar to the calls done, and show the failures so far next to it."""
    names = ("unreadable", "cut", "refused", "failed", "waiting_again")
    faults = {name.replace("_", " "): number for name in names if (number := getattr(tally, name))}
    bar.set_postfix({"open": tally.in_flight, **faults}, refresh=False)
    bar.update(tally.done - bar.n)


# -- batches for a cluster ---------------------------------------------------------------------------------------------


def emit_batch(folder: Path, shards: int, task: LlmTask, replies: Replies) -> str:
    """Write the first stage that has open calls as shards to `folder`; returns what was written and what to do next."""
    stage, calls = next_stage(task, replies)
    if not stage:
        return "Every call is answered already. Nothing was written. Write the result with --parse-again."
    sizes = write_batch(calls, folder, shards, {"stage": stage, "plan": task.plan()}, task.model)
    limit = max_array_size()
    jobs, script = -(-len(sizes) // limit), "sbatch ask.sbatch"
    note_on_jobs = ""
    if jobs > 1:
        script = "bash submit.sh"
        note_on_jobs = (
            f"SLURM allows {limit:,} tasks in one array (MaxArraySize), so submit.sh submits the shards as {jobs:,} array jobs.\n"
        )
    return (
        f"{folder}: {sum(sizes):,} requests of stage '{stage}' in {len(sizes):,} shards, complete {task.unit} in each.\n"
        f"{note_on_jobs}On the cluster:  cd {shlex.quote(str(folder))} && {script}\n"
        "Then collect them with the same command and --collect in place of --emit-batch."
    )


def next_stage(task: LlmTask, replies: Replies) -> tuple[str, Iterator[Call]]:
    """The first stage with open calls, and these calls; an empty name where no call is open."""
    for stage in task.stages:
        calls = task.open_calls(stage, replies)
        if first := next(calls, None):
            return stage, chain([first], calls)
    return "", iter(())


def open_requests(task: LlmTask, replies: Replies) -> str:
    """The next stage to emit, in words; empty if every call is answered."""
    stage, calls = next_stage(task, replies)
    if not stage:
        return ""
    number = sum(1 for _ in calls)
    return f"Stage '{stage}' has {number:,} open requests. Emit them to another folder: the same command with --emit-batch."


def collect_batch(folder: Path, plan: dict[str, Any], journal: Journal) -> str:
    """Put the cluster's replies into the journal, each once; returns how many came and how many are missing.

    Raises AuditError when `folder` was emitted for another plan.
    """
    emitted = read_batch(folder).get("plan")
    # Compared as stored: JSON turns tuples into lists.
    if emitted != json.loads(json.dumps(plan)):
        raise AuditError(
            f"{folder} was emitted with other options, or for another run. Nothing was collected. "
            "Collect it with the command that emitted it."
        )
    counts = []
    for shard_count, replies in collect_replies(folder):
        for reply in _new_replies(replies, journal):
            journal.put(reply)
        counts.append(shard_count)
    return _collected_text(folder, counts)


def _new_replies(replies: dict[str, Reply], journal: Journal) -> Iterable[Reply]:
    """The replies that the journal lacks, or has only as a failure."""
    stored = journal.latest(replies)
    for key, reply in replies.items():
        earlier = stored.get(key)
        if earlier is None or (earlier.outcome != ANSWERED and reply.outcome != earlier.outcome):
            yield reply


def _collected_text(folder: Path, counts: list[ShardCount]) -> str:
    """The replies in total and for each incomplete shard, and how to request the rest."""
    total = sum((shard.outcomes for shard in counts), Counter[str]())
    missing = sum(shard.missing for shard in counts)
    lines = [f"{sum(shard.asked for shard in counts):,} requests: {_outcomes_text(total)}, {missing:,} missing."]
    incomplete = [shard for shard in counts if shard.missing or shard.outcomes[CALL_FAILED]]
    lines += map(_shard_text, incomplete)
    if incomplete:
        commands = sbatch_commands([shard.shard for shard in incomplete], max_array_size())
        lines.append(f"Request the rest:  cd {shlex.quote(str(folder))} && {' && '.join(commands)}")
    return "\n".join(lines)


def _shard_text(shard: ShardCount) -> str:
    faults = {"torn line": shard.torn, "line of another batch": shard.strange}
    suffix = "".join(f"; {number:,} {words}{'s' if number > 1 else ''}" for words, number in faults.items() if number)
    return f"  shard {shard.shard}: {_outcomes_text(shard.outcomes)}, {shard.missing:,} missing{suffix}"


def _outcomes_text(outcomes: Counter[str]) -> str:
    return ", ".join(f"{outcomes[name]:,} {name}" for name in OUTCOMES if outcomes[name] or name == ANSWERED)
