"""Two runs averaged over organs, each organ counting once."""

from __future__ import annotations

import numpy as np
import pytest

from audit.errors import AuditError
from audit.metrics.runs import runs_mean
from tests.metrics.two_stores import two
from tests.support.tiny import handbook

# Six questions of the kidney and one of the heart, so that a pooled change is not the mean of the two
BEFORE = "\n".join(["q0 heart ab=CONSISTENT", *(f"q{n} kidney ab=ABSENT" for n in range(1, 7))])
AFTER = "\n".join(["q0 heart ab=DIVERGENT", *(f"q{n} kidney ab={'CONSISTENT' if n < 4 else 'ABSENT'}" for n in range(1, 7))])


def by_rate(con, **options):
    return runs_mean(con, **options).set_index("rate")


def test_a_small_organ_counts_as_much_as_a_large_one(tmp_path):
    means = by_rate(two(tmp_path, BEFORE, AFTER))
    # r_abs: heart 0 to 0, kidney 1 to 3/6
    assert means.loc["r_abs", ["organs", "first", "second", "change"]].tolist() == [2, 1 / 2, 1 / 4, -1 / 4]
    # pct_any_div: heart 0 to 1, kidney 0 to 0
    assert means.loc["pct_any_div", ["organs", "change"]].tolist() == [2, 1 / 2]


def test_an_organ_without_the_rate_in_one_run_is_left_out_of_both_means(tmp_path):
    r_div = by_rate(two(tmp_path, BEFORE, AFTER)).loc["r_div"]
    assert (r_div["organs"], r_div["first"], r_div["second"]) == (1, 0, 1), "no kidney pair is present before"


def test_the_interval_holds_the_change_and_is_unknown_where_few_questions_differ(tmp_path):
    many = "\n".join(f"q{n} {organ} ab={{}}" for n, organ in enumerate(["kidney", "heart"] * 8))
    before = many.format(*["ABSENT"] * 16)
    after = many.format(*["CONSISTENT" if n % 3 else "ABSENT" for n in range(16)])
    r_abs = by_rate(two(tmp_path / "many", before, after)).loc["r_abs"]
    assert r_abs["change_low"] < r_abs["change"] < r_abs["change_high"] < 0
    assert (r_abs["questions"], r_abs["moves"]) == (10, "falls")
    few = by_rate(two(tmp_path / "few", BEFORE, AFTER)).loc["r_abs"]
    assert few["questions"] == 3
    assert np.isnan(few["change_low"])


def test_the_scope_is_that_of_the_organs(tmp_path):
    handbooks = [handbook("a"), handbook("b"), handbook("c", "heart")]
    before, after = "q1 kidney ab=CONSISTENT c=absent", "q1 kidney ab=DIVERGENT c=absent"
    con = two(tmp_path, before, after, handbooks)
    # The first run lists only kidney handbooks, as it is written without a list
    assert by_rate(con, scope="matching").loc["r_abs", "first"] == by_rate(con, scope="all").loc["r_abs", "first"] == 2 / 3
    with pytest.raises(AuditError, match="Scope 'own'"):
        runs_mean(con, scope="own")
