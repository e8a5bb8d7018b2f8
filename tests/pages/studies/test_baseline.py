"""The Agreement page compares the judge with the baseline judge, on the study's own texts, for those who may see it."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from annotation.studies.verdict_store import SampleOrigin, StoredVerdict, Stratum, store_sample, verdicts
from audit.vocabulary import RULES_JUDGE as NAME
from tests.pages.conftest import words_on
from tests.pages.studies.conftest import SignIn
from tests.support.studies import item, rate, study_of

TEXTS = [
    ("Do not drive your car to church for 6 weeks.", "Do not drive your car to church for eight weeks.", "DIVERGENT"),
    ("Do not drive your car to church for 6 weeks.", "Do not drive your car to church for six weeks.", "CONSISTENT"),
]
ITEMS = 24
SAME_FROM_FOUR = [f"i{n:03}" for n in range(4, ITEMS + 1) if TEXTS[n % 2][2] == "CONSISTENT"]


@pytest.fixture
def driving(folk):
    """Items of two kinds, which people and the rules read alike; the judge calls every one CONSISTENT."""
    made = [item(n, answer_a=TEXTS[n % 2][0], answer_b=TEXTS[n % 2][1]) for n in range(1, ITEMS + 1)]
    study_of(folk, made)
    stored = [StoredVerdict(f"i{n:03}", "CONSISTENT", "CONSISTENT", None, None, None) for n in range(1, ITEMS + 1)]
    with folk.begin() as tx:
        store_sample(
            tx,
            "s",
            SampleOrigin("run", "0" * 64, 100, 0, {}),
            [Stratum("CONSISTENT", "CONSISTENT", None, 100, ITEMS)],
            stored,
        )
    for number in range(1, ITEMS + 1):
        label = TEXTS[number % 2][2]
        for who in ("ana", "ben"):
            rate(folk, who, number, label, "medium" if label == "DIVERGENT" else None)
    return folk


def test_a_judge_that_is_right_half_the_time_loses_to_rules_that_are_always_right(driving, as_user: SignIn):
    at = as_user("petra", "agreement")
    assert not at.exception
    comparison = next(frame.value for frame in at.dataframe if "other" in frame.value)
    (accuracy,) = comparison[comparison["name"] == "accuracy"].to_dict("records")
    assert (accuracy["judge"], accuracy["other"], accuracy["difference"]) == (0.5, 1.0, -0.5)
    assert all(" to " in accuracy[f"{name}_interval"] for name in ("judge", "other", "difference"))
    assert accuracy["n"] == ITEMS
    assert f"agrees less well than the {NAME}" in words_on(at).replace("\\", "")


def test_too_few_items_allow_no_conclusion(driving, as_user: SignIn):
    with driving.begin() as tx:
        tx.execute(update(verdicts).where(verdicts.c.item_id > "i003").values(label="DIVERGENT"))
        tx.execute(update(verdicts).where(verdicts.c.item_id.in_(SAME_FROM_FOUR)).values(label="CONSISTENT"))
    words = words_on(as_user("petra", "agreement")).replace("\\", "")
    assert "no conclusion is possible yet: too small: exactly one is right on 1 item, 10 needed" in words


def test_an_adjudicator_who_still_decides_sees_no_baseline(driving, as_user: SignIn):
    at = as_user("ada", "agreement")
    assert not at.exception
    assert not [frame for frame in at.dataframe if "other" in frame.value]
    assert "baseline" not in words_on(at)
