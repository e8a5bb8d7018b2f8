"""The measures of routing on three questions, by hand."""

from __future__ import annotations

from math import isnan, log2

import pytest

from audit.evaluation.routing_measures import MEASURES, RoutedQuestion, routing_measures

QUESTIONS = {
    # Cross-source: both required sources are covered, one of two gold passages is found, in place 2
    "cross": RoutedQuestion(
        ("guides", "short"), [("short", "s1"), ("guides", "g1"), ("short", "s2")], "guides", {"guides", "short"}, {"g1", "g9"}
    ),
    # Six passages, of which five count: the guide in place 6 does not
    "single": RoutedQuestion(
        ("short", "web", "guides"), [*(("short", f"s{n}") for n in range(5)), ("guides", "g1")], "guides", {"guides"}, {"g1"}
    ),
    "nothing found": RoutedQuestion((), [], "short", {"short", "web"}, set()),
}


def test_measures_of_three_questions_by_hand() -> None:
    values = routing_measures(QUESTIONS, "short", {"guides"})
    assert all(set(of_one) == set(MEASURES) for of_one in values.values())
    cross = values["cross"]
    assert (cross["PrimaryAcc"], cross["Top2Hit"], cross["CrossEv@5"]) == (1, 1, 1)
    assert (cross["EDR"], cross["AuthCov"], cross["EvRecall@5"]) == pytest.approx((2 / 3, 1, 1 / 2))
    # The best order has gold in places 1 and 2: 1 + 1 / log2 3
    assert cross["EvNDCG@5"] == pytest.approx((1 / log2(3)) / (1 + 1 / log2(3)))
    single = values["single"]
    assert (single["PrimaryAcc"], single["Top2Hit"], single["EDR"], single["AuthCov"]) == (0, 0, 1, 0)
    assert (single["EvRecall@5"], single["EvNDCG@5"]) == (0, 0)
    assert isnan(single["CrossEv@5"]), "one source is not asked for coverage of several"


def test_what_is_not_asked_of_a_question_is_not_a_zero() -> None:
    nothing = routing_measures(QUESTIONS, "short", {"guides"})["nothing found"]
    assert (nothing["PrimaryAcc"], nothing["CrossEv@5"]) == (0, 0), "without evidence nothing is covered"
    assert all(isnan(nothing[name]) for name in ("EDR", "AuthCov", "EvRecall@5", "EvNDCG@5"))
    unmet = RoutedQuestion((), [], "guides", {"guides"}, {"g1"})
    assert routing_measures({"q": unmet}, "short", {"guides"})["q"]["AuthCov"] == 0
