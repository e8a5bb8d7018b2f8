"""A change to an old entry is detected, whoever made it."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from annotation.label_store.engine import LabelStore
from annotation.label_store.ledger import ledger_heads
from annotation.studies.verification import verify_study
from tests.support.studies import rate, study_of


@pytest.fixture
def rated(lite: LabelStore) -> LabelStore:
    study_of(lite, 3)
    for number, label in ((1, "ABSENT"), (2, "CONSISTENT"), (3, "COMPLEMENTARY"), (2, "ABSENT")):
        rate(lite, "ana", number, label)
    return lite


def tamper(store: LabelStore, *statements: str) -> list[str]:
    """Somebody with the file in their hands takes the triggers away first."""
    with store.begin() as tx:
        for trigger in ("ratings_no_update", "ratings_no_delete"):
            tx.execute(text(f"drop trigger {trigger}"))
        for statement in statements:
            tx.execute(text(statement))
    return verify_study(store, "s")


def test_an_untouched_ledger_is_valid(rated: LabelStore) -> None:
    assert verify_study(rated, "s") == []
    assert ledger_heads(rated, "s")["ratings"][0] == 4


@pytest.mark.parametrize(
    "change",
    [
        "label = 'DIVERGENT', significance = 'low'",
        "comment = 'never said'",
        "rationale = '[[0,0,5]]'",
        "milliseconds = 1",
        "submitted_at = '2026-03-02T09:00:00.000000+00:00'",
        "annotator = 'ben'",
        "key = 'other'",
    ],
)
def test_a_changed_field_is_detected_at_its_entry(rated: LabelStore, change: str) -> None:
    assert tamper(rated, f"update ratings set {change} where seq = 2") == ["ratings: entry 2 was changed after it was written"]


def test_a_removed_entry_is_detected(rated: LabelStore) -> None:
    faults = tamper(rated, "delete from ratings where seq = 1")
    assert "ratings: entry 2 does not follow the entry before it" in faults


def test_a_removed_last_entry_is_detected(rated: LabelStore) -> None:
    faults = tamper(rated, "delete from ratings where seq = 4")
    assert faults[0] == "ratings: the ledger ends at entry 3, but its head records 4"


def test_an_added_entry_is_detected(rated: LabelStore) -> None:
    copied = (
        "insert into ratings select study_id, 5, seat_id, item_id, annotator, 9, label, significance, flagged, comment, "
        "milliseconds, source, submitted_at, 'forged', hash, hash, rationale, difference from ratings where seq = 4"
    )
    assert "ratings: entry 5 was changed after it was written" in tamper(rated, copied)


def test_an_assignment_that_points_to_an_older_revision_is_detected(rated: LabelStore) -> None:
    (fault,) = tamper(rated, "update seats set current = 2 where current = 4")
    assert "does not point to its last rating" in fault
