"""What a judging in the background has brought: as a run to look at, as raw replies, and saved beside the other runs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from audit.cli.judge_jobs import Job, State, keep_name
from audit.errors import AuditError
from audit.llm.calls import Reply
from audit.llm.journal import copy_journal, first_replies, journal_path
from audit.settings import Settings
from audit.store.load import load_release
from audit.store.runs import Run, list_runs

MOST_REPLIES = 20


def result_of(job: Job) -> Run:
    """The result as a run, which is not among the loaded ones. Raises AuditError when it is not there."""
    found = list_runs(job.folder / "loaded" / "store")
    if not found:
        raise AuditError(f"The result of {job.name} is gone from {job.folder}. Nothing is shown. Judge the pairs again.")
    return found[0]


def raw_replies(job: Job) -> list[Reply]:
    """The first replies as they came, in the order of asking; none from the baseline judge."""
    return first_replies(job.journal, MOST_REPLIES)


def proposed_title(job: Job) -> str:
    """What the release calls itself until somebody gives it a name."""
    title = str(json.loads((job.release / "manifest.json").read_text(encoding="utf-8"))["title"])
    return title if job.order.pairs == "all" else f"{title} ({job.order.chosen})"


def save(settings: Settings, job: Job, title: str) -> Run:
    """Write the result, under this title, to the releases, its journal beside it, and load it as a run.

    Raises AuditError when there is no result, or no title.
    """
    if job.state is not State.JUDGED:
        raise AuditError(f"This re-judging is {job.state}, and only a result can be saved. Nothing was saved.")
    if not title.strip():
        raise AuditError("The run needs a title. Nothing was saved.")
    target = settings.releases_dir / job.name
    _copy_release(job, target, title.strip())
    run = load_release(target, settings).run
    keep_name(job, run.key)
    return run


def _copy_release(job: Job, target: Path, title: str) -> None:
    building = target.with_name(f".{target.name}.writing")
    shutil.rmtree(building, ignore_errors=True)
    shutil.copytree(job.release, building)
    path = building / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest |= {"run_id": job.name, "title": title, "judge_settings": {**manifest["judge_settings"], "chosen": job.order.chosen}}
    path.write_text(json.dumps(manifest, indent=1, ensure_ascii=False), encoding="utf-8")
    shutil.rmtree(target, ignore_errors=True)
    building.rename(target)
    journal_path(target).unlink(missing_ok=True)
    copy_journal(job.journal, journal_path(target))
