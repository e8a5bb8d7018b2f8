"""Many handbooks at once: the same function on the same tasks, in this process, in several, or in jobs of SLURM."""

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
from audit.pipeline.config import ClusterOptions

Task = TypeVar("Task")
Result = TypeVar("Result")
ONE, SLURM = "one", "slurm"
LOCAL = re.compile(r"local:([1-9]\d{0,2})")
EXTRA, PURPOSE = "dask", "Retrieval over many handbooks at once"
PATIENCE_S = 60


def carried_out(
    workers: str, options: ClusterOptions, function: Callable[[Task], Result], tasks: Sequence[Task], logs: Path | None = None
) -> Iterator[tuple[Task, Result | Exception]]:
    """Each of `tasks` with what `function` made of it, or why it failed; in any order when there are several workers.

    workers  one, local:N or slurm (see `check_workers`)
    function  of a module, so that another process finds it; tasks and results are plain data
    logs      the folder for what jobs of SLURM print (None: where this process runs)
    """
    if workers == ONE or not tasks:
        for task in tasks:
            yield task, _tried(function, task)
        return
    distributed = optional("distributed", PURPOSE, EXTRA)
    with _cluster(workers, options, len(tasks), logs) as cluster, distributed.Client(cluster, timeout=PATIENCE_S) as client:
        of = {client.submit(_tried, function, task, pure=False, retries=1): task for task in tasks}
        for future in distributed.as_completed(of):
            failed = future.exception() if future.status != "finished" else None
            yield of[future], _as_exception(failed) if failed else future.result()


def check_workers(workers: str) -> None:
    """Raise ConfigError where `workers` names no way of working."""
    if workers not in (ONE, SLURM) and not LOCAL.fullmatch(workers):
        raise ConfigError(f"workers is '{workers}'. Allowed: one, local:N (N processes), slurm. Nothing was done.")


def _tried(function: Callable[[Task], Result], task: Task) -> Result | Exception:
    try:
        return function(task)
    except Exception as error:  # one handbook that cannot be searched must not cost the others
        return error


def _as_exception(error: BaseException) -> Exception:
    """What became of a task whose worker died under it, again and again."""
    return error if isinstance(error, Exception) else RuntimeError(str(error))


@contextmanager
def _cluster(workers: str, options: ClusterOptions, tasks: int, logs: Path | None) -> Iterator[Any]:
    if workers == SLURM:
        with slurm_cluster(options, logs) as cluster:
            cluster.scale(jobs=min(options.jobs, tasks))
            yield cluster
        return
    count = int(LOCAL.fullmatch(workers)[1])  # type: ignore[index]  # check_workers has seen it
    distributed = optional("distributed", PURPOSE, EXTRA)
    with distributed.LocalCluster(
        n_workers=min(count, tasks), threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
    ) as cluster:
        yield cluster


def slurm_cluster(options: ClusterOptions, logs: Path | None = None) -> Any:
    """dask-jobqueue's cluster of SLURM jobs, none of which is submitted yet; `job_script()` shows what one is."""
    jobqueue = optional("dask_jobqueue", PURPOSE, EXTRA)
    given = {
        "queue": options.queue,
        "account": options.account,
        "interface": options.interface,
        "log_directory": logs and str(logs),
    }
    return jobqueue.SLURMCluster(
        cores=options.cores, processes=1, memory=options.memory, walltime=options.walltime,
        job_script_prologue=[_search_path(), *options.prologue], job_extra_directives=list(options.directives),
        scheduler_options={"dashboard": False},
        **{name: value for name, value in given.items() if value},
    )  # fmt: skip


def _search_path() -> str:
    """The line of shell by which a job finds this package, installed or not."""
    return f"export PYTHONPATH={shlex.quote(str(Path(audit.__file__).resolve().parents[1]))}${{PYTHONPATH:+:$PYTHONPATH}}"
