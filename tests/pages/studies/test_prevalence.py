"""The Prevalence page: corrected shares of the run, and a plan for more ratings."""

from __future__ import annotations

import pytest

from annotation.verdict_store import Design, Stratum, Verdict, keep
from tests.pages.conftest import words_on
from tests.pages.studies.conftest import SignIn
from tests.support.studies import rate, study_of


@pytest.fixture
def judged(folk):
    """The judge calls all 100 pairs CONSISTENT; of ten that people read, two are COMPLEMENTARY."""
    study_of(folk, 10)
    said = [Verdict(f"i{n:03}", "CONSISTENT", "CONSISTENT", None, None, None) for n in range(1, 11)]
    with folk.begin() as tx:
        keep(tx, "s", Design("run", "0" * 64, 100, 0, {}), [Stratum("CONSISTENT", "CONSISTENT", None, 100, 10)], said)
    for number in range(1, 11):
        for name in ("ana", "ben"):
            rate(folk, name, number, "CONSISTENT" if number <= 8 else "COMPLEMENTARY")
    return folk


def test_the_corrected_share_stands_above_the_judge_s_own(judged, as_user: SignIn):
    at = as_user("petra", "prevalence")
    assert not at.exception
    assert not at.error
    corrected, judge = (dict(zip(at.dataframe[i].value["label"], at.dataframe[i].value["value"], strict=True)) for i in (0, 1))
    assert corrected["CONSISTENT"] == pytest.approx(80.0)
    assert judge["CONSISTENT"] == pytest.approx(100.0)


def test_a_plan_says_how_many_more_ratings_are_wanted(judged, as_user: SignIn):
    assert "more items, each rated by two" in words_on(as_user("petra", "prevalence"))


def test_nothing_rated_is_a_sentence(folk, as_user: SignIn):
    study_of(folk, 2)
    said = [Verdict(f"i{n:03}", "ABSENT", "ABSENT", None, None, None) for n in (1, 2)]
    with folk.begin() as tx:
        keep(tx, "s", Design("run", "0" * 64, 9, 0, {}), [Stratum("ABSENT", "ABSENT", None, 9, 2)], said)
    at = as_user("petra", "prevalence")
    assert not at.exception
    assert "Nothing was estimated" in words_on(at)
