import numpy as np
import pytest

from audit.errors import AuditError
from audit.metrics.severity import WEIGHTS, severity, severity_rho

TABLE = """
    q1 kidney topics=diet      ab=DIVERGENT/low  ac=DIVERGENT/low bc=CONSISTENT
    q2 kidney topics=diet,work ab=DIVERGENT/high ac=CONSISTENT    bc=CONSISTENT
    q3 kidney topics=rest      ab=CONSISTENT c=absent
    q4 kidney topics=void      a=absent ab=ABSENT
"""


def by_unit(frame):
    return frame.set_index("unit")


def test_one_grave_disagreement_can_outrank_two_slight_ones(store):
    found = by_unit(severity(store(TABLE)))
    assert found["severity"].iloc[:3].to_dict() == {"q2": 3 / 3, "q1": 2 / 3, "q3": 0}
    assert found["r_div"].iloc[:3].to_dict() == {"q2": 1 / 3, "q1": 2 / 3, "q3": 0}
    assert found["rank_shift"].iloc[:3].to_dict() == {"q2": 2 - 1, "q1": 1 - 2, "q3": 0}


def test_a_unit_without_present_pairs_has_no_rank_and_stands_last(store):
    last = severity(store(TABLE)).iloc[-1]
    assert (last["unit"], last["present"]) == ("q4", 0)
    assert np.isnan(last["severity"])
    assert severity(store(TABLE))["rank_severity"].isna().tolist() == [False, False, False, True]


def test_a_question_counts_in_each_of_its_topics(store):
    found = by_unit(severity(store(TABLE), "topic"))
    assert found["severity"].dropna().to_dict() == {"work": 3 / 3, "diet": 5 / 6, "rest": 0}


def test_a_pair_counts_for_both_its_handbooks(store):
    found = by_unit(severity(store(TABLE), "handbook"))
    assert found["disagreeing"].to_dict() == {"a": 3, "b": 2, "c": 1}
    assert found["severity"].to_dict() == {"a": 5 / 5, "b": 4 / 5, "c": 1 / 4}


def test_equal_values_share_the_better_rank(store):
    found = by_unit(severity(store("q1 k ab=CONSISTENT\nq2 k ab=CONSISTENT\nq3 k ab=DIVERGENT")))
    assert found["rank_severity"].to_dict() == {"q3": 1, "q1": 2, "q2": 2}


def test_weights_grow_with_significance_and_an_unstated_one_weighs_least():
    assert WEIGHTS["unstated"] == WEIGHTS["low"] < WEIGHTS["medium"] < WEIGHTS["high"]


def test_another_level_is_refused(store):
    with pytest.raises(AuditError, match="Allowed: question, topic, handbook"):
        severity(store(TABLE), "center")


RANKED_TABLE = """
    q1 k ab=DIVERGENT/low  ac=DIVERGENT/low bc=CONSISTENT
    q2 k ab=DIVERGENT/high ac=CONSISTENT    bc=CONSISTENT
    q3 k ab=CONSISTENT     ac=CONSISTENT    bc=CONSISTENT
    q4 k a=absent
"""


def test_rho_is_that_of_the_two_rankings(store):
    """Ranks by severity (q2, q1, q3) = 1, 2, 3 and by r_div = 2, 1, 3: rho = 1 - 6 (1 + 1 + 0) / (3 (9 - 1)) = 0.5."""
    question = severity_rho(store(RANKED_TABLE)).set_index("level").loc["question"]
    assert (question["units"], question["rho"]) == (3, pytest.approx(0.5))


def test_units_without_a_disagreement_do_not_make_the_rankings_agree(store):
    """Two disputed questions: severity 2/3 and 3/3, r_div 2/3 and 1/3, mean significance 1 and 3: both orders are reversed.
    Eight more questions without a disagreement share the last rank of both, so rho over all is high.
    """
    alike = "".join(f"\nq{number} k ab=CONSISTENT ac=CONSISTENT bc=CONSISTENT" for number in range(10, 17))
    question = severity_rho(store(RANKED_TABLE + alike)).set_index("level").loc["question"]
    assert (question["units"], question["disputed"]) == (10, 2)
    assert question["rho"] > 0.9
    assert (question["rho_disputed"], question["rho_significance"]) == (pytest.approx(-1), pytest.approx(-1))
    assert np.isnan(question["rho_disputed_low"])


def test_too_few_units_leave_the_interval_unknown_and_none_leaves_rho_unknown(store):
    table = severity_rho(store(RANKED_TABLE)).set_index("level")
    assert np.isnan(table.loc["question", "rho_low"])
    assert np.isnan(table.loc["question", "rho_high"])
    assert table.loc["topic", "units"] == 0
    assert np.isnan(table.loc["topic", "rho"])


def test_the_interval_contains_rho_and_has_a_width(store):
    rng = np.random.default_rng(5)
    words = ["DIVERGENT/low", "DIVERGENT/high", "CONSISTENT", "CONTRADICTORY", "COMPLEMENTARY"]
    lines = [f"q{i} k " + " ".join(f"{pair}={rng.choice(words)}" for pair in ("ab", "ac", "bc", "ad")) for i in range(20)]
    question = severity_rho(store("\n".join(lines))).set_index("level").loc["question"]
    assert question["rho_low"] < question["rho"] < question["rho_high"] < 1
