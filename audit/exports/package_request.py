"""What an export contains: its run, the run it is compared with, its study, and how much of it is written."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from audit.errors import AuditError
from audit.exports.catalogue import Chapter
from audit.exports.context import CurationPart
from audit.exports.published.comparison import RunFigure
from audit.release.taxonomy import Taxonomy
from audit.store.runs import Run

STEM = re.compile(r"[^A-Za-z0-9_-]+")
EVERYTHING, VALIDATION, REPORT = "everything", "validation", "report"
CONTENTS_WORDS = {EVERYTHING: "Everything", VALIDATION: "Validation only", REPORT: "Report only"}
"""What an export can be limited to: the tables and figures of its study, or only report.html."""


@dataclass(frozen=True)
class StudyPart:
    """The part of an export from a study of human labels.

    study_id  its name; digest  the SHA-256 of the release that it was drawn from
    chapter   its tables and figures
    figures   its figures by the names of published ones
    facts     what it is: state, seed, where its ledgers end
    """

    study_id: str
    digest: str
    chapter: Chapter
    figures: Mapping[str, RunFigure | str]
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class ExportRequest:
    """The contents of an export.

    other  the run to compare with
    study  the part of a study
    paper  whether to compare with the published figures
    taxonomy  the themes of the run as they were built, where it has any
    curation  the themes as people curated them, where there are edits
    against  the themes of the run to compare with as they were built, where it has any
    date   today, ISO 8601: it is in the manifest and nowhere else
    contents  a key of CONTENTS_WORDS
    """

    run: Run
    date: str
    other: Run | None = None
    study: StudyPart | None = None
    paper: bool = False
    taxonomy: Taxonomy | None = None
    curation: CurationPart | None = None
    against: Taxonomy | None = None
    contents: str = EVERYTHING

    @property
    def command(self) -> str:
        """The command line that makes the same package again."""
        study_id = self.study.study_id if self.study else None
        return command_of(self.run, self.other, study_id, paper=self.paper, contents=self.contents)


def archive_name(run: Run) -> str:
    """The file name of an archive of the run: `run-id_digest.zip`."""
    return STEM.sub("-", f"{run.run_id}_{run.digest[:8]}") + ".zip"


def command_of(run: Run, other: Run | None, study_id: str | None, *, paper: bool, contents: str = EVERYTHING) -> str:
    """The command line that writes this package."""
    parts = ["audit", "export", *(["--study", study_id] if study_id else []), "--run", run.key]
    parts += ["--against", other.key] if other else []
    parts += ["--only", contents] if contents != EVERYTHING else []
    return shlex.join([*parts, *(["--compare", "paper"] if paper else []), "--out", archive_name(run)])


def check_drawn_from(study: StudyPart, run: Run) -> None:
    """Raise AuditError where a study's items are not pairs of the run."""
    if study.digest != run.digest:
        raise AuditError(
            f"Study '{study.study_id}' was not drawn from run {run.key}, so its labels do not apply to it. "
            "Nothing was written. Leave --run out to export the study with its own run."
        )


def today() -> str:
    """The date that the manifest states."""
    return datetime.now(UTC).date().isoformat()
