"""`annotation export-all`: the command `audit export`, which here also takes a study of human labels."""

from __future__ import annotations

from typing import Any

from annotation.label_store.engine import open_label_store
from annotation.validation.part import study_part
from audit.commands import export
from audit.exports.package import StudyPart
from audit.settings import Settings


def register(commands: Any) -> None:
    """Add the command to `commands`, the sub-parsers of a command line."""
    export.register(commands, part_of, "export-all")


def part_of(study_id: str, settings: Settings) -> StudyPart:
    """What a study adds to an export. Raises AuditError where there is no such study, or nothing is rated."""
    return study_part(open_label_store(settings.studies_url), study_id)
