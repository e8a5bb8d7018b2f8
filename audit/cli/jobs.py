"""`audit jobs work`: one background job, carried out in this process. The dashboard starts it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import Any

from audit.cli.execution import FINDINGS, OK
from audit.cli.main import parse
from audit.jobs.processes import run_job
from audit.jobs.table import Job
from audit.settings import Settings


def work_options(parser: argparse.ArgumentParser) -> None:
    """The options of `audit jobs work`."""
    parser.add_argument("job", metavar="NAME", help="name of the job")


def work(arguments: argparse.Namespace, settings: Settings) -> int:
    """`audit jobs work NAME`"""

    def carry_out(job: Job, store: Callable[[Mapping[str, Any]], None]) -> str:
        # imported only now: the job's lock is taken first, and whoever started the job waits for that
        from audit.jobs.progress import STARTING, Progress

        progress = Progress(store)
        progress.update(phase=STARTING)
        command = parse(job.command)
        command.progress = progress
        code = command.function(command, settings)
        return "" if code in (OK, FINDINGS) else str(progress.values.get("message") or f"It ended with exit code {code}.")

    run_job(settings, arguments.job, carry_out)
    return OK
