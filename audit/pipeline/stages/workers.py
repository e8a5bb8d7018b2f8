"""Runs a function on many tasks: in this process, in several local ones, or in SLURM jobs (Dask)."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import audit
from audit.errors import ConfigError
from audit.optional_imports import optional
from audit.pipeline.stages.config import ClusterOptions

Argument = TypeVar("Argument")
Result = TypeVar("Result")
ONE_PROCESS, SLURM = "one", "slurm"
LOCAL = re.compile(r"local:([1-9]\d{0,2})")
EXTRA, PURPOSE = "cluster", "Searching several handbooks at once"
CONNECT_TIMEOUT_S = 60


def run_tasks(
    workers: str,
    options: ClusterOptions,
    function: Callable[[Argument], Result],
    tasks: Sequence[Argument],
    logs: Path | None = None,
) -> Iterator[tuple[Argument, Result | Exception]]:
    """Each of `tasks` with the result of `function`, or the error it failed with; in any order with several workers.

    workers   one, local:N or slurm (see `check_workers`)
    function  a module-level function, so another process can import it; tasks and results are plain data
    logs      folder for the output of SLURM jobs (None: the current folder)
    """
    if workers == ONE_PROCESS or not tasks:
        for task in tasks:
            yield task, _attempt(function, task)
        return
    distributed = optional("distributed", PURPOSE, EXTRA)
    with (
        _cluster(workers, options, len(tasks), logs) as cluster,
        distributed.Client(cluster, timeout=CONNECT_TIMEOUT_S) as client,
    ):
        # One retry, because a worker may die with a task that is not to blame; pure=False, because tasks write files.
        futures = {client.submit(_attempt, function, task, pure=False, retries=1): task for task in tasks}
        for future in distributed.as_completed(futures):
            error = future.exception() if future.status != "finished" else None
            # A task whose workers died repeatedly may end in something that is not an Exception.
            failure = error if error is None or isinstance(error, Exception) else RuntimeError(str(error))
            yield futures[future], failure or future.result()


def check_workers(workers: str) -> None:
    """Raise ConfigError where `workers` has a value that is not allowed."""
    if workers not in (ONE_PROCESS, SLURM) and not LOCAL.fullmatch(workers):
        raise ConfigError(f"workers is '{workers}'. Allowed: one, local:N (N processes), slurm. Nothing was done.")


def _attempt(function: Callable[[Argument], Result], task: Argument) -> Result | Exception:
    try:
        return function(task)
    except Exception as error:  # one handbook that cannot be searched must not stop the others
        return error


@contextmanager
def _cluster(workers: str, options: ClusterOptions, tasks: int, logs: Path | None) -> Iterator[object]:
    if workers == SLURM:
        with slurm_cluster(options, logs) as cluster:
            # A job without a task would wait in the queue for nothing.
            cluster.scale(jobs=min(options.jobs, tasks))
            yield cluster
        return
    count = int(LOCAL.fullmatch(workers)[1])  # type: ignore[index]  # checked by check_workers
    distributed = optional("distributed", PURPOSE, EXTRA)
    # Processes, because the search is Python code; one thread each, or their libraries would compete for the cores.
    with distributed.LocalCluster(
        n_workers=min(count, tasks), threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
    ) as cluster:
        yield cluster


def slurm_cluster(options: ClusterOptions, logs: Path | None = None) -> Any:
    """dask-jobqueue's cluster of SLURM jobs, with no job submitted yet; `job_script()` returns the script of one."""
    jobqueue = optional("dask_jobqueue", PURPOSE, EXTRA)
    optional_settings = {
        "queue": options.queue,
        "account": options.account,
        "interface": options.interface,
        "log_directory": logs and str(logs),
    }
    return jobqueue.SLURMCluster(
        cores=options.cores, processes=1, memory=options.memory, walltime=options.walltime,
        job_script_prologue=[_search_path(), *options.prologue], job_extra_directives=list(options.directives),
        scheduler_options={"dashboard": False},
        **{name: value for name, value in optional_settings.items() if value},
    )  # fmt: skip


def _search_path() -> str:
    """The shell line that lets a job import this package, whether it is installed or not."""
    return f"export PYTHONPATH={shlex.quote(str(Path(audit.__file__).resolve().parents[1]))}${{PYTHONPATH:+:$PYTHONPATH}}"
