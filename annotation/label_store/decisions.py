"""Adjudications: an adjudicator's label for an item on which two annotators differ, with the reason. Append-only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, func, select
from sqlalchemy.engine import RowMapping

from annotation.label_store import ledger
from annotation.label_store.assignments import Choice
from annotation.label_store.engine import LabelStore
from annotation.label_store.errors import ConflictError, StudyError
from annotation.label_store.ratings import check_choice
from annotation.label_store.schema import assignments, decisions, items, studies
from annotation.label_store.studies import StudyState
from annotation.label_store.texts import checked_text, to_timestamp


@dataclass(frozen=True)
class Decision:
    """An adjudicated label; only the highest revision of an item counts."""

    item_id: str
    adjudicator: str
    revision: int
    label: str
    significance: str | None
    reason: str
    decided_at: str


@dataclass(frozen=True)
class NewDecision:
    """What an adjudicator says of one item.

    key      as for a rating: the same key again changes nothing
    revises  the revision that the adjudicator saw; 0 for a first decision
    """

    item_id: str
    label: str
    significance: str | None
    reason: str
    key: str
    revises: int = 0


def submit_decision(store: LabelStore, adjudicator: str, ruling: NewDecision, now: datetime) -> Decision:
    """Store one decision; when this returns, it is on the disk.

    Raises StudyError when the study is not in adjudication, the reason is empty, the label is incomplete, or the adjudicator
    rated the item; ConflictError when somebody else decided it a moment ago.
    """
    choice = Choice(ruling.label, ruling.significance)
    check_choice(choice)
    if not ruling.reason.strip():
        raise StudyError("A decision needs a reason. Nothing was saved. Say in a sentence why this label holds.")
    with store.begin() as tx:
        study_id = _study_of(tx, ruling.item_id)
        head = ledger.lock(tx, decisions, study_id)
        known = tx.execute(select(decisions).where(decisions.c.study_id == study_id, decisions.c.key == ruling.key))
        if (row := known.mappings().first()) is not None:
            return decision_of(row)
        _check(tx, study_id, adjudicator, ruling)
        return decision_of(ledger.append(tx, decisions, head, _entry(adjudicator, ruling, now)))


def decisions_by_item(store: LabelStore, study_id: str) -> dict[str, Decision]:
    """The decision that counts, by item id."""
    with store.read() as con:
        found = con.execute(select(decisions).where(decisions.c.study_id == study_id).order_by(decisions.c.seq)).mappings()
        return {row["item_id"]: decision_of(row) for row in found}


def decision_of(row: Mapping[str, Any] | RowMapping) -> Decision:
    """A row of the ledger as a decision."""
    return Decision(**{name: row[name] for name in Decision.__dataclass_fields__})


def _study_of(tx: Connection, item_id: str) -> str:
    study_id: str | None = tx.execute(select(items.c.study_id).where(items.c.item_id == item_id)).scalar()
    if study_id is None:
        raise StudyError(f"There is no item '{item_id}'. Nothing was saved.")
    return study_id


def _check(tx: Connection, study_id: str, adjudicator: str, ruling: NewDecision) -> None:
    state = tx.execute(select(studies.c.state).where(studies.c.study_id == study_id)).scalar_one()
    if state != StudyState.ADJUDICATION:
        raise StudyError(f"Study '{study_id}' is in the state {state}, so nothing can be adjudicated. Nothing was saved.")
    own = select(func.count()).where(and_(assignments.c.item_id == ruling.item_id, assignments.c.annotator == adjudicator))
    if tx.execute(own).scalar_one():
        raise StudyError("Whoever rated an item does not adjudicate it. Nothing was saved.")
    last = select(func.max(decisions.c.revision)).where(decisions.c.item_id == ruling.item_id)
    if (tx.execute(last).scalar() or 0) != ruling.revises:
        raise ConflictError("This item was decided a moment ago. That decision stands and nothing was saved here. Look again.")


def _entry(adjudicator: str, ruling: NewDecision, now: datetime) -> dict[str, Any]:
    return {
        "item_id": ruling.item_id,
        "adjudicator": adjudicator,
        "revision": ruling.revises + 1,
        "label": str(ruling.label),
        "significance": None if ruling.significance is None else str(ruling.significance),
        "reason": checked_text(ruling.reason.strip(), "reason"),
        "decided_at": to_timestamp(now),
        "key": ruling.key,
    }
