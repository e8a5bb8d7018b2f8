"""Why a question or a pair matches a search."""

import pytest

from audit.metrics.disagreements import Filters, SearchPlace, places_in_pairs, places_in_questions
from tests.support.tiny import handbook
from tests.support.tiny_store import store_from

# Questions are "What about q1?", answers "Handbook a on q1.", reasonings "a against b", topics "topic of ab"
TABLE = """
    q1 kidney  ab=DIVERGENT/low  ac=DIVERGENT/high  bc=CONSISTENT
    q2 heart   ab=CONTRADICTORY/medium  c=absent
"""


@pytest.fixture
def con(tmp_path):
    return store_from(tmp_path, TABLE, [handbook("a"), handbook("b"), handbook("c")])


def places(con, *words, **filters):
    return places_in_questions(con, Filters(words=words, **filters), ("q1", "q2"))


def test_the_question_and_each_answer_are_places_and_case_does_not_matter(con):
    assert places(con, "WHAT") == {
        "q1": (SearchPlace("question", "What about q1?", 1),),
        "q2": (SearchPlace("question", "What about q2?", 1),),
    }
    assert places(con, "handbook a") == {
        "q1": (SearchPlace("answer", "Handbook a on q1.", 1, ("a",)),),
        "q2": (SearchPlace("answer", "Handbook a on q2.", 1, ("a",)),),
    }


def test_topics_and_reasonings_are_counted_over_the_pairs_that_match(con):
    assert places(con, "against")["q1"] == (SearchPlace("reasoning", "a against b", 2),)  # bc agrees and is not selected
    assert places(con, "against", labels=())["q1"] == (SearchPlace("reasoning", "a against b", 3),)
    assert places(con, "topic")["q1"] == (SearchPlace("topic", "topic of ab", 2),)


def test_several_words_may_be_in_several_places_named_in_one_order(con):
    found = places(con, "topic", "handbook", "what")
    assert [place.kind for place in found["q1"]] == ["question", "answer", "topic"]
    assert found["q1"][1].handbook_ids == ("a", "b", "c")
    assert found["q2"][1].handbook_ids == ("a", "b")  # the pair of a and b is the only one that disagrees


def test_an_answer_of_a_pair_that_does_not_match_is_no_reason(con):
    assert places(con, "handbook", handbooks=("a", "b"))["q1"][0].handbook_ids == ("a", "b")


def test_a_pair_has_its_own_places_and_both_answers(con):
    pairs = (("q1", "a", "c"), ("q2", "a", "b"))
    assert places_in_pairs(con, Filters(words=("handbook", "ac")), pairs) == {
        ("q1", "a", "c"): (
            SearchPlace("answer", "Handbook a on q1.", 2, ("a", "c")), SearchPlace("topic", "topic of ac", 1),
        )
    }  # fmt: skip
    assert places_in_pairs(con, Filters(words=("%",)), pairs) == {}


@pytest.mark.parametrize("filters", [Filters(), Filters(words=("no such word",)), Filters(words=("what",), organs=("lung",))])
def test_without_words_and_without_a_match_there_is_no_place(con, filters):
    assert places_in_questions(con, filters, ("q1", "q2")) == places_in_pairs(con, filters, (("q1", "a", "b"),)) == {}
    assert places_in_questions(con, Filters(words=("what",)), ()) == places_in_pairs(con, Filters(words=("what",)), ()) == {}
