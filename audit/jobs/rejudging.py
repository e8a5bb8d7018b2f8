"""Judging pairs of a run again, in the background: the request, and saving the result.

The files of a job are in its folder: pairs.csv, the pairs that were selected; log, what the process printed; release/, the
result; release.journal, the replies; loaded/, the result as a run to compare with. The endpoint's key is in none of them: the
process has it from the environment, as the settings have.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from audit.errors import AuditError
from audit.jobs.processes import create_job, job_table, start_process
from audit.jobs.table import Job, JobState
from audit.people_tables import csv_text
from audit.release.journal_files import Reply, copy_journal, first_replies, journal_path
from audit.settings import Settings
from audit.store.load import load_release
from audit.store.runs import Run, list_runs
from audit.vocabulary import PAIR_COLUMNS, PairIds

KIND = "rejudged"
FILE = "file"
MAX_REPLIES = 20


@dataclass(frozen=True)
class JobRequest:
    """Which pairs to judge, and how.

    run, title        the digest and the title of the run
    selection, count  which pairs, in words, and how many
    pairs             all, sample:N, or file (those that are passed to `request_judging`)
    pair              the only pair, where it is one
    model             the model that was set at the time of the request
    requested_by      the person's name, where people sign in
    """

    run: str
    title: str
    selection: str
    count: int
    pairs: str = FILE
    pair: PairIds | None = None
    model: str = ""
    protocol: str = "structured"
    swap: bool = False
    blind: bool = False
    repeats: int = 0
    requested_by: str = ""


def request_of(job: Job) -> JobRequest:
    """The request of a job. Raises AuditError for a job of another kind."""
    if job.kind != KIND:
        raise AuditError(f"{job.name} is a job that does not judge pairs. Nothing was done.")
    pair = job.request["pair"]
    return JobRequest(**{**job.request, "pair": tuple(pair) if pair else None})


def request_judging(settings: Settings, request: JobRequest, pairs: Iterable[PairIds] = ()) -> Job:
    """A new job; nothing is started. A single pair has a slot of its own, so it need not wait for a long job.

    pairs  the pairs of a request whose `pairs` is `file`
    """
    job = create_job(settings, KIND, "pair" if request.pair else "set", asdict(request))
    if request.pairs == FILE:
        with (job.folder / "pairs.csv").open("w", newline="", encoding="utf-8") as file:
            file.write(csv_text(PAIR_COLUMNS, pairs))
    return job


def estimate_judging(settings: Settings, job: Job, *, trial: bool = False) -> None:
    """Begin to estimate calls and tokens; with `trial` a few calls are made at the endpoint, which gives the time too.

    Raises AuditError when another job is running.
    """
    start_process(settings, job, JobState.ESTIMATING, [*_command(job), "--dry-run", *(["--probe"] if trial else [])])


def start_judging(settings: Settings, job: Job) -> None:
    """Begin the judging, or continue it: answered calls are not made again.

    Raises AuditError when another job is running, or this one is finished.
    """
    if job.state in (JobState.FINISHED, JobState.SAVED):
        raise AuditError("These pairs are judged already. Nothing was started.")
    start_process(settings, job, JobState.RUNNING, [*_command(job), "--load-into", str(job.folder.resolve() / "loaded")])


def _command(job: Job) -> list[str]:
    """The arguments of `audit` that carry out what was requested."""
    request, folder = request_of(job), job.folder.resolve()
    pairs = str(folder / "pairs.csv") if request.pairs == FILE else request.pairs
    command = ["judge", request.run, "--out", str(folder / "release"), "--pairs", pairs]
    command += ["--protocol", request.protocol]
    command += [*(["--swap"] if request.swap else []), *(["--blind-centers"] if request.blind else [])]
    return command + (["--repeat", str(request.repeats)] if request.repeats else [])


# -- the result ----------------------------------------------------------------------------------------------------------


def release_folder(job: Job) -> Path:
    """Where the result is."""
    return job.folder / "release"


def job_journal(job: Job) -> Path:
    """Where the replies are."""
    return journal_path(release_folder(job))


def result_run(job: Job) -> Run:
    """The result as a run, which is not among the loaded ones. Raises AuditError when it is missing."""
    runs = list_runs(job.folder / "loaded" / "store")
    if not runs:
        raise AuditError(f"The result of {job.name} is missing from {job.folder}. Nothing is shown. Judge the pairs again.")
    return runs[0]


def job_replies(job: Job) -> list[Reply]:
    """The first replies, unchanged, in the order of the calls."""
    return first_replies(job_journal(job), MAX_REPLIES)


def proposed_title(job: Job) -> str:
    """The title of the release before a person gives it another."""
    request = request_of(job)
    title = str(json.loads((release_folder(job) / "manifest.json").read_text(encoding="utf-8"))["title"])
    return title if request.pairs == "all" else f"{title} ({request.selection})"


def save_result(settings: Settings, job: Job, title: str) -> Run:
    """Copy the result with its journal to the releases, under this title, and load it as a run.

    Raises AuditError when there is no result, or no title.
    """
    if job.state is not JobState.FINISHED:
        raise AuditError(f"This job is {job.state}, and only the result of a finished job can be saved. Nothing was saved.")
    if not title.strip():
        raise AuditError("The run needs a title. Nothing was saved.")
    target = settings.releases_dir / job.name
    _copy_release(job, target, title.strip())
    run = load_release(target, settings).run
    job_table(settings).move(job, JobState.SAVED, result=run.key)
    return run


def _copy_release(job: Job, target: Path, title: str) -> None:
    # A hidden draft first: a release must appear complete or not at all
    draft = target.with_name(f".{target.name}.writing")
    shutil.rmtree(draft, ignore_errors=True)
    shutil.copytree(release_folder(job), draft)
    path = draft / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    settings = {**manifest["judge_settings"], "chosen": request_of(job).selection}
    manifest |= {"run_id": job.name, "title": title, "judge_settings": settings}
    path.write_text(json.dumps(manifest, indent=1, ensure_ascii=False), encoding="utf-8")
    # An existing target can only come from an interrupted save: job names are unique
    shutil.rmtree(target, ignore_errors=True)
    draft.rename(target)
    journal_path(target).unlink(missing_ok=True)
    copy_journal(job_journal(job), journal_path(target))
