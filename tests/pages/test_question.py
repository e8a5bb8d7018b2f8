"""Question: the sentence, the matrix, the position groups and the open pair."""

from __future__ import annotations

from tests.pages.conftest import words_on
from tests.pages.test_disagreements import html_on


def test_the_question_is_summarised_in_a_sentence_with_its_counts(run, open_page):
    words = words_on(open_page("question", question="q1")).replace("*", "")
    assert "4 handbooks were asked: 3 answered, 1 did not address the question." in words
    assert "In 1 of 3 pairs in which both answer, the answers disagree (33.3 %; 95 % interval" in words


def test_position_groups_are_listed_with_their_members(run, open_page):
    html = html_on(open_page("question", question="q1"))
    assert html.count('class="position-group"') == 2


def test_the_most_serious_pair_is_open_unless_the_link_names_one(run, open_page):
    assert "divergent" in html_on(open_page("question", question="q1"))
    linked = html_on(open_page("question", question="q1", a="b", b="c"))
    assert "consistent" in linked
    assert "divergent" not in linked


def test_another_question_forgets_the_opened_pair(run, open_page):
    at = open_page("question", question="q1", a="b", b="c")
    at.selectbox(key="question").select("q2").run()
    assert "a" not in at.query_params
    assert "contradictory" in html_on(at)


def test_the_most_disputed_question_opens_first(run, open_page):
    assert open_page("question").selectbox(key="question").value in ("q1", "q2")


def test_an_unknown_question_or_handbook_in_the_link_is_ignored(run, open_page):
    at = open_page("question", question="q99", a="nobody", b="b")
    assert not at.exception
    assert "question = q99" in words_on(at)


def test_a_question_that_fewer_than_two_answer_says_there_is_nothing_to_compare(load_run, open_page):
    load_run("q1 kidney a=absent b=absent c=absent", handbooks=None)
    words = words_on(open_page("question"))
    assert "nothing to compare" in words
    assert "Not addressed (3): " in words


def test_handbooks_that_do_not_address_it_and_those_not_asked_are_listed_separately(run, open_page):
    words = words_on(open_page("question", question="q3"))
    assert "Not asked (1): " in words
    assert "Not addressed" not in words


def test_handbooks_without_an_answer_can_be_drawn_too(run, open_page):
    assert not open_page("question", question="q1", show="everyone").exception


def test_the_entropy_of_every_question_is_counted_once_somebody_opens_it(run, open_page):
    def tables(at):
        return [table.value for table in at.dataframe if "entropy" in table.value]

    at = open_page("question", question="q1")
    assert not tables(at)
    at.session_state["every_entropy"] = True
    (table,) = tables(at.run())
    assert len(table) == 3
