"""What people's work adds to `audit export`: the tables of a study, and edited themes."""

from __future__ import annotations

from annotation.label_store.engine import open_label_store
from annotation.theme_edits.history import curation_part
from annotation.theme_edits.record import list_edits
from annotation.theme_edits.replay import apply_edits
from annotation.validation.part import study_part
from audit.exports.context import CurationPart
from audit.exports.package import StudyPart
from audit.settings import Settings
from audit.store.runs import Run
from audit.themes.taxonomy import Taxonomy


def study_tables(study_id: str, settings: Settings) -> StudyPart:
    """The tables of a study. Raises AuditError where there is no such study, or nothing is rated."""
    return study_part(open_label_store(settings.studies_url), study_id)


def curated_themes(run: Run, built: Taxonomy, settings: Settings) -> CurationPart | None:
    """What people changed about a run's themes, if anybody changed anything."""
    if not settings.studies and not (settings.data_dir / "studies.db").is_file():
        return None  # opening the label store would create it
    edits = list_edits(open_label_store(settings.studies_url), run.digest)
    return curation_part(edits, apply_edits(built, edits))
