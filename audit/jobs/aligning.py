"""Aligning a judge to a study in the background: a proposal to edit, and the judging by each version."""

from __future__ import annotations

from typing import Literal

from audit.jobs.processes import create_job, find_job, list_jobs, start_process
from audit.jobs.table import Job, JobState
from audit.settings import Settings
from audit.store.runs import STRUCTURED

KIND, SLOT = "aligned", "set"
"""The slot is that of judging a set of pairs: both ask the same judge."""
Step = Literal["propose", "judge"]


def alignment_job(settings: Settings, study_id: str, step: Step) -> Job | None:
    """The newest job of this step for a study."""
    wanted = {"study": study_id, "step": step}
    jobs = (job for job in list_jobs(settings) if job.kind == KIND)
    return next((job for job in jobs if wanted.items() <= job.request.items()), None)


def start_alignment(settings: Settings, study_id: str, step: Step, requested_by: str, protocol: str = STRUCTURED) -> Job:
    """Begin a step, or continue one that was stopped: `audit judge align` asks nothing that has an answer.

    Raises AuditError when another job of the judge is running.
    """
    job = create_job(settings, KIND, SLOT, {"study": study_id, "step": step, "requested_by": requested_by})
    proposing = ["--propose", str(job.folder.resolve() / "version.md"), "--protocol", protocol]
    action = proposing if step == "propose" else ["--judge"]
    start_process(settings, job, JobState.RUNNING, ["judge", "align", "--study", study_id, *action])
    return find_job(settings, job.name)


def proposal_of(job: Job | None) -> str:
    """The prompt to edit that a job wrote; empty where it wrote none."""
    path = job.folder / "version.md" if job else None
    return path.read_text(encoding="utf-8") if path and path.is_file() else ""
