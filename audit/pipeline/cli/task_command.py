"""A command that puts a task to a model: its estimate, its calls, and the result."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from audit.cli.conventions import FINDINGS, OK, print_result
from audit.pipeline.cli.estimates import estimate, estimate_text
from audit.pipeline.cli.model_calls import carry_out
from audit.pipeline.llm.journal import Journal
from audit.pipeline.llm.tasks import LlmTask, Replies, no_replies
from audit.pipeline.release_tables import store_prompts
from audit.release.journal_files import journal_path
from audit.settings import Settings


def about_calls(journal: str) -> str:
    """What every such command says about its endpoint and its journal."""
    return (
        "AUDIT_JUDGE_URL, AUDIT_JUDGE_MODEL and AUDIT_JUDGE_KEY set the endpoint. Every reply is stored in\n"
        f"{journal}, next to the folder, before it is parsed. If the command stops, the same command\n"
        "continues where it stopped, and no call is made twice."
    )


def print_estimate(
    arguments: argparse.Namespace, settings: Settings, task: LlmTask, *, sends: str, remarks: str = "", **figures: Any
) -> dict[str, Any]:
    """Print what the open calls of a task would cost, and return it: the record of `estimate`, with further `figures`."""
    path = journal_path(arguments.out)
    # Opening the journal would create it
    with Journal(path, task.plan()) if path.exists() else nullcontext() as journal:
        costs = task.costs(journal.latest if journal else no_replies)
    notes = task.cost_note, remarks
    record = figures | estimate(settings, task.model, costs, probe=arguments.probe, sends=sends, remarks=notes)
    print_result(arguments, estimate_text(record), record)
    return record


def run_task(
    arguments: argparse.Namespace,
    settings: Settings,
    task: LlmTask,
    *,
    write: Callable[[Replies, list[str]], int],
    **estimated: Any,
) -> int:
    """Make the calls of a task and write its result; or with `--dry-run` print an estimate. Returns the exit code.

    write      writes the result, given the replies and what the servers report to be, and prints what was written
    estimated  for `print_estimate`: what is sent, remarks, and further figures
    """
    if arguments.dry_run:
        print_estimate(arguments, settings, task, **estimated)
        return OK

    def write_all(journal: Journal, servers: list[str]) -> int:
        code = write(journal.latest, servers)
        # A release is written, or tables are added to one
        texts = [prompt.record(arguments.prog.removeprefix("audit ")) for prompt in task.prompts.values()]
        store_prompts(getattr(arguments, "release", arguments.out), texts)
        return code

    return carry_out(arguments, settings, task, write=write_all)


def print_written(
    arguments: argparse.Namespace, lines: Sequence[str], records: str, path: Path, result: Mapping[str, Any], *, findings: bool
) -> int:
    """Print what was written into a release, and how to load it; the exit code."""
    load = f"Load the release again with: audit load {shlex.quote(str(arguments.release))}"
    print_result(arguments, "\n".join([*filter(None, lines), f"{records}: {path}. {load}"]), result)
    return FINDINGS if findings else OK
