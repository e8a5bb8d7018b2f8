"""Opening a reference answer: shown on request only, and entered in the study's ledger of events."""

from __future__ import annotations

import json
from datetime import datetime

from sqlalchemy import Connection, select

from annotation.label_store.assignments import find_task
from annotation.label_store.engine import LabelStore
from annotation.label_store.ledger import lock_study_head
from annotation.label_store.schema import study_events
from annotation.label_store.seals import REFERENCE, record_study_event


def open_reference(store: LabelStore, assignment_id: str, annotator: str, now: datetime) -> str | None:
    """The reference answer of a task; None where the item has none. The first opening is recorded, with its time.

    Raises StudyError when the task is not this annotator's.
    """
    with store.begin() as tx:
        task = find_task(tx, assignment_id, annotator)
        if task.reference is not None:
            lock_study_head(
                tx, study_events, task.study_id
            )  # if two tabs open it at once, the second finds the entry of the first
            if assignment_id not in reference_openings(tx, task.study_id):
                record_study_event(tx, task.study_id, REFERENCE, {"seat_id": assignment_id, "annotator": annotator}, now)
        return task.reference


def reference_openings(con: Connection, study_id: str) -> dict[str, str]:
    """Assignment id -> when its reference answer was first opened on the page."""
    opened = select(study_events.c.body, study_events.c.happened_at).where(
        study_events.c.study_id == study_id, study_events.c.kind == REFERENCE
    )
    return {json.loads(body)["seat_id"]: at for body, at in con.execute(opened)}
