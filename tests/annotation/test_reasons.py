"""Why the advice differs, as annotators state it: optional, stored and sealed with the rating, and held against the judge's."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import text

from annotation.label_store.assignments import Choice
from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.ratings import save_draft
from annotation.studies.reasons import JUDGE, RATERS, reason_agreement
from annotation.studies.study_tables import ratings_table
from annotation.studies.verification import verify_study
from tests.support.studies import NOW, item, rate, seat_at, study_of
from tests.support.tiny_store import store_from


@pytest.fixture
def rated(lite: LabelStore) -> LabelStore:
    """Of three items both state a reason for two, the same for one."""
    study_of(lite, [item(number) for number in range(1, 4)])
    for number, (ana, ben) in enumerate([("other time", "other time"), ("other time", "other scope"), ("other time", None)], 1):
        for annotator, reason in (("ana", ana), ("ben", ben)):
            rate(lite, annotator, number, "DIVERGENT", "high", difference=reason)
    return lite


def test_a_reason_is_stored_exported_and_sealed(rated: LabelStore) -> None:
    table = ratings_table(rated, "s")
    assert table["difference"].value_counts().to_dict() == {"other time": 4, "other scope": 1}
    assert verify_study(rated, "s") == []
    with rated.begin() as tx:
        tx.execute(text("drop trigger if exists ratings_no_update"))
        tx.execute(text("update ratings set difference = 'other scope' where seq = 1"))
    assert any("entry 1 was changed" in fault for fault in verify_study(rated, "s"))


def test_a_draft_keeps_its_reason_and_other_labels_have_none(lite: LabelStore) -> None:
    study_of(lite, [item(1)])
    task = seat_at(lite, "ana", 1)
    save_draft(lite, "ana", task.assignment_id, Choice("DIVERGENT", difference="other amount"), NOW)
    assert seat_at(lite, "ana", 1).choice.difference == "other amount"
    with pytest.raises(StudyError, match="CONSISTENT has no reason why the advice differs"):
        rate(lite, "ana", 1, "CONSISTENT", difference="other amount")
    with pytest.raises(StudyError, match="The reason 'bad luck' is not in the vocabulary"):
        rate(lite, "ana", 1, "DIVERGENT", "high", difference="bad luck")


def test_reasons_are_compared_where_both_sides_state_one(rated: LabelStore, tmp_path: Path) -> None:
    first = item(1)
    con = store_from(tmp_path, "q1 kidney ab=DIVERGENT/high")
    con.execute("update pairs set difference = 'other time'")
    con.execute("update questions set question_id = $id", {"id": first.question_id})
    for number, name in enumerate((first.handbook_a, first.handbook_b)):
        con.execute("update handbooks set handbook_id = $id where handbook = $n", {"id": name, "n": number})
    table = reason_agreement(rated, "s", con).set_index("who")
    assert table.loc[RATERS, ["count", "n", "value"]].tolist() == [1, 2, 0.5]
    # The run has a reason for the first item only, and both raters state the same
    assert table.loc[JUDGE, ["count", "n", "value"]].tolist() == [2, 2, 1.0]
