import pytest

from audit.errors import AuditError
from audit.metrics.questions import topics

TABLE = """
    q1 kidney topics=diet,work subtopics=salt ab=DIVERGENT ac=CONSISTENT bc=ABSENT
    q2 kidney topics=diet ab=CONTRADICTORY
    q3 liver  ab=CONSISTENT
"""


def test_a_question_with_two_topics_counts_in_both(store):
    found = topics(store(TABLE)).set_index("topic")
    assert found["questions"].to_dict() == {"diet": 2, "work": 1, "(none)": 1}
    assert found["disagreeing"].to_dict() == {"diet": 2, "work": 1, "(none)": 0}
    assert found["r_div"].to_dict() == {"diet": 2 / 3, "work": 1 / 2, "(none)": 0}


def test_questions_without_a_subtopic_stand_in_a_row_of_their_own(store):
    found = topics(store(TABLE), level="subtopic").set_index("topic")
    assert found["pairs"].to_dict() == {"salt": 3, "(none)": 2}


def test_there_is_no_rest_where_every_question_has_a_topic(store):
    assert topics(store("q1 kidney topics=diet ab=CONSISTENT"))["topic"].tolist() == ["diet"]


def test_another_level_is_refused_with_those_there_are(store):
    with pytest.raises(AuditError, match=r"Level 'theme' is not available.*topic, subtopic"):
        topics(store(TABLE), level="theme")
