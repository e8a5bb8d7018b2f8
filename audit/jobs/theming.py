"""Building the themes of a run in the background: the clustering needs libraries that the dashboard's process does not load."""

from __future__ import annotations

from importlib.util import find_spec

from audit.jobs.processes import create_job, discard_job, list_jobs, start_process
from audit.jobs.table import Job, JobState
from audit.queries.themes import taxonomy_path
from audit.release.taxonomy import AVERAGE, HDBSCAN, HDBSCAN_LIBRARIES
from audit.settings import Settings
from audit.store.runs import Run

KIND = SLOT = "themes"


def themes_job(settings: Settings, run: Run) -> Job | None:
    """The newest job that builds, or built, the themes of this run."""
    return next((job for job in list_jobs(settings) if job.kind == KIND and job.request["run"] == run.digest), None)


def methods_installed() -> tuple[str, ...]:
    """The methods of clustering that can be chosen here, the default first; no library is loaded."""
    return AVERAGE, *([HDBSCAN] if all(map(find_spec, HDBSCAN_LIBRARIES)) else [])


def start_themes(settings: Settings, run: Run, requested_by: str = "", method: str = AVERAGE) -> Job:
    """Begin to build the themes of a run; an earlier job of this run that has ended is deleted with its log.

    method  one of `methods_installed`
    Raises AuditError when themes are being built already, of this or another run.
    """
    earlier = themes_job(settings, run)
    if earlier is not None and not earlier.active:
        discard_job(settings, earlier)
    job = create_job(settings, KIND, SLOT, {"run": run.digest, "title": run.title, "requested_by": requested_by})
    # Themes that stay much the same keep their ids, and with them what people edited.
    built = taxonomy_path(run, settings.themes_dir).resolve()
    keeping = ["--previous", str(built)] if built.is_file() else []
    start_process(settings, job, JobState.RUNNING, ["themes", "build", "--run", run.digest, "--method", method, *keeping])
    return job
