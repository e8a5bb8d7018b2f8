"""`annotation export-all`: the command `audit export`, which here also takes a study of human labels and curated themes."""

from __future__ import annotations

from typing import Any

from annotation.label_store.engine import open_label_store
from annotation.theme_edits.history import curation_part
from annotation.theme_edits.record import list_edits
from annotation.theme_edits.replay import apply_edits
from annotation.validation.part import study_part
from audit.cli import export
from audit.exports.context import CurationPart
from audit.exports.package import StudyPart
from audit.settings import Settings
from audit.store.runs import Run
from audit.themes.taxonomy import Taxonomy


def register(commands: Any) -> None:
    """Add the command to `commands`, the sub-parsers of a command line."""
    export.register(commands, part_of, curation_of, "export-all")


def part_of(study_id: str, settings: Settings) -> StudyPart:
    """What a study adds to an export. Raises AuditError where there is no such study, or nothing is rated."""
    return study_part(open_label_store(settings.studies_url), study_id)


def curation_of(run: Run, built: Taxonomy, settings: Settings) -> CurationPart | None:
    """What people made of a run's themes, if anybody changed any."""
    acts = list_edits(open_label_store(settings.studies_url), run.digest)
    return curation_part(acts, apply_edits(built, acts))
