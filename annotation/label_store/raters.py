"""Who rates in a study, as its investigator states it: an entry in the ledger of its events, so a change of it is on record."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, select

from annotation.label_store.engine import LabelStore
from annotation.label_store.schema import study_events
from annotation.label_store.seals import RATERS_STATED, record_study_event, stored_body
from audit.vocabulary import Raters, stated_raters


def state_raters(tx: Connection, study_id: str, raters: Raters, now: datetime) -> None:
    """Record who rates in a study; the last statement counts."""
    record_study_event(tx, study_id, RATERS_STATED, {"raters": raters.value}, now)


def raters_of(store: LabelStore, study_id: str) -> Raters:
    """Who rates in a study; UNKNOWN where nobody has stated it."""
    column = study_events.c
    query = select(column.body).where(column.study_id == study_id, column.kind == RATERS_STATED).order_by(column.seq.desc())
    with store.read() as con:
        body = con.execute(query.limit(1)).scalar()
    return stated_raters(stored_body(body)["raters"]) if body else Raters.UNKNOWN
