import numpy as np

from audit.metrics.questions import questions

TABLE = """
    q1 kidney topics=work,diet subtopics=salt ab=DIVERGENT/high ac=CONTRADICTORY bc=COMPLEMENTARY d=absent
    q2 general ab=UNSCORED c=absent d=notasked
    q3 liver a=absent
"""


def test_a_question_has_its_counts_its_topics_and_who_answers_it(store):
    first, second, third = questions(store(TABLE)).to_dict("records")
    assert (first["question_id"], first["topics"], first["subtopics"]) == ("q1", "diet, work", "salt")
    assert (first["asked"], first["answering"]) == (4, 3)
    assert (first["pairs"], first["prescreened"], first["disagreeing"], first["r_div"]) == (6, 3, 2, 2 / 3)
    assert (second["asked"], second["answering"], second["unscored"], second["scored"]) == (3, 2, 1, 2)
    assert (third["asked"], third["answering"], third["pairs"], third["topics"]) == (1, 0, 0, "")


def test_a_significance_that_was_not_stated_weighs_as_the_least(store):
    first = questions(store(TABLE)).iloc[0]
    assert (first["high"], first["unstated"]) == (1, 1)
    assert first["severity"] == (3 + 1) / 3


def test_a_question_without_present_pairs_has_no_rate(store):
    found = questions(store(TABLE))
    assert found["r_div"].isna().tolist() == [False, True, True]
    assert found["severity"].isna().tolist() == [False, True, True]
    assert found["r_abs"].tolist()[:2] == [3 / 6, 1]
    assert np.isnan(found["r_abs"].iloc[2])


def test_without_answers_who_was_asked_is_unknown(store):
    found = questions(store(TABLE, answers=False))
    assert found[["asked", "answering"]].isna().all(axis=None)
    assert found["pairs"].tolist() == [6, 3, 0]
