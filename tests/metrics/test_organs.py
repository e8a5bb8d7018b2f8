import numpy as np
import pytest

from audit.errors import AuditError
from audit.metrics.questions import organs
from audit.stats.intervals import wilson
from audit.store.connection import open_store
from tests.support.loading import load
from tests.support.tiny import handbook, release_from

TABLE = """
    q1 kidney  ab=DIVERGENT ac=CONSISTENT bc=ABSENT d=absent
    q2 kidney  ab=UNSCORED c=absent
    q3 liver   ab=COMPLEMENTARY ac=CONTRADICTORY bc=CONSISTENT
    q4 general ab=UNSCORED
"""


BY_ORGAN = """
    q1 kidney  ab=DIVERGENT c=absent d=absent
    q2 kidney  a=present b=absent c=absent d=absent
    q3 general ab=CONSISTENT ac=CONSISTENT bc=CONSISTENT d=absent
"""


@pytest.fixture
def release_of(tmp_path):
    """Two kidney handbooks and two of the heart, which say nothing on kidney questions, with pairs of all four."""
    handbooks = [handbook("a"), handbook("b"), handbook("c", "heart"), handbook("d", "heart")]

    def build(asked):
        return open_store(load(release_from(tmp_path, BY_ORGAN, handbooks, asked=asked), tmp_path / "data").run.path)

    return build


def row(frame, organ):
    return frame.set_index("organ").loc[organ]


def test_absent_and_unscored_pairs_leave_the_denominator_of_disagreement(store):
    kidney = row(organs(store(TABLE)), "kidney")
    assert (kidney["pairs"], kidney["scored"], kidney["unscored"]) == (6 + 3, 9 - 1, 1)
    assert (kidney["absent"], kidney["prescreened"], kidney["absent_judged"]) == (4 + 2, 3 + 2, 1)
    assert (kidney["r_abs"], kidney["r_div"], kidney["r_con"]) == (6 / 8, 1 / 2, 1 / 2)


def test_the_last_row_is_the_whole_run_and_general_stands_before_it(store):
    found = organs(store(TABLE))
    assert found["organ"].tolist() == ["kidney", "liver", "general", "(all)"]
    assert row(found, "(all)")[["questions", "pairs", "disagreeing"]].tolist() == [4, 9 + 3 + 1, 1 + 1]
    assert row(found, "(all)")["r_div"] == 2 / 5


def test_a_question_nobody_could_score_is_not_a_question_without_disagreement(store):
    found = organs(store(TABLE))
    general, everything = row(found, "general"), row(found, "(all)")
    assert (general["questions"], general["questions_scored"]) == (1, 0)
    assert np.isnan(general["pct_any_div"])
    assert np.isnan(general["r_div"])
    assert np.isnan(general["r_abs"])
    assert (everything["questions_any"], everything["questions_scored"], everything["pct_any_div"]) == (2, 3, 2 / 3)
    assert (everything["pct_any_div_low"], everything["pct_any_div_high"]) == pytest.approx(np.ravel(wilson(2, 3)))


def test_one_question_of_an_organ_leaves_its_intervals_unknown(store):
    liver = row(organs(store(TABLE)), "liver")
    assert liver["r_div"] == 1 / 3
    assert np.isnan(liver["r_div_low"])
    assert np.isnan(liver["r_div_high"])


def test_an_organ_whose_questions_have_no_pairs_is_shown_with_zeros(store):
    found = organs(store(TABLE + "\n    q5 heart a=absent"))
    assert row(found, "heart")[["questions", "pairs", "present"]].tolist() == [1, 0, 0]


def test_among_handbooks_of_the_organ_absence_is_their_own_and_over_all_that_of_the_others_too(release_of):
    con = release_of(asked="organ")
    matching, everything = row(organs(con), "kidney"), row(organs(con, scope="all"), "kidney")
    # q1: both kidney handbooks answer and disagree; q2: one of them is silent. Each has six pairs, one within the organ
    assert (matching["compared"], matching["pairs"], matching["r_abs"], matching["r_div"]) == ("matching", 2, 1 / 2, 1)
    assert (everything["compared"], everything["pairs"], everything["r_abs"], everything["r_div"]) == ("all", 12, 11 / 12, 1)
    general = organs(con).set_index("organ").loc["general"]
    assert general["pairs"] == 6, "a general question concerns all"


def test_the_scope_is_all_where_every_handbook_was_asked(release_of):
    con = release_of(asked="all")
    assert set(organs(con)["compared"]) == {"all"}
    assert row(organs(con, scope="matching"), "kidney")["pairs"] == 2


def test_an_unknown_scope_is_refused(store):
    with pytest.raises(AuditError, match=r"Scope 'own'.*matching, all"):
        organs(store(TABLE), scope="own")
