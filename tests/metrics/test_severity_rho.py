import numpy as np
import pytest

from audit.metrics.severity_rho import severity_rho

TABLE = """
    q1 k ab=DIVERGENT/low  ac=DIVERGENT/low bc=CONSISTENT
    q2 k ab=DIVERGENT/high ac=CONSISTENT    bc=CONSISTENT
    q3 k ab=CONSISTENT     ac=CONSISTENT    bc=CONSISTENT
    q4 k a=absent
"""


def test_rho_is_that_of_the_two_rankings(store):
    """Ranks by severity (q2, q1, q3) = 1, 2, 3 and by r_div = 2, 1, 3: rho = 1 - 6 (1 + 1 + 0) / (3 (9 - 1)) = 0.5."""
    question = severity_rho(store(TABLE)).set_index("level").loc["question"]
    assert (question["units"], question["rho"]) == (3, pytest.approx(0.5))


def test_too_few_units_leave_the_interval_unknown_and_none_leaves_rho_unknown(store):
    found = severity_rho(store(TABLE)).set_index("level")
    assert np.isnan(found.loc["question", "rho_low"])
    assert np.isnan(found.loc["question", "rho_high"])
    assert found.loc["topic", "units"] == 0
    assert np.isnan(found.loc["topic", "rho"])


def test_the_interval_contains_rho_and_has_a_width(store):
    rng = np.random.default_rng(5)
    words = ["DIVERGENT/low", "DIVERGENT/high", "CONSISTENT", "CONTRADICTORY", "COMPLEMENTARY"]
    lines = [f"q{i} k " + " ".join(f"{pair}={rng.choice(words)}" for pair in ("ab", "ac", "bc", "ad")) for i in range(20)]
    question = severity_rho(store("\n".join(lines))).set_index("level").loc["question"]
    assert question["rho_low"] < question["rho"] < question["rho_high"] < 1
