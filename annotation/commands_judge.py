"""`annotation judge`: the command of `audit`, which here also takes the pairs of a study."""

from __future__ import annotations

from typing import Any

from annotation.label_store.engine import open_label_store
from annotation.studies.study_tables import ratings_table
from audit.cli import judge
from audit.cli.judge_source import COLUMNS, Triple
from audit.settings import Settings


def register(commands: Any) -> None:
    """Add the command to `commands`, the sub-parsers of a command line."""
    judge.register(commands, {"study": study_pairs})


def study_pairs(study_id: str, settings: Settings) -> list[Triple]:
    """The pairs that stand in a study, calibration included, each once.

    Raises StudyError when there is no such study.
    """
    table = ratings_table(open_label_store(settings.studies_url), study_id)[[*COLUMNS]].drop_duplicates()
    return [(str(question), str(a), str(b)) for question, a, b in table.itertuples(index=False)]
