"""Question: the sentence, the positions, the matrix, the open pair and the answers under their position."""

from __future__ import annotations

import json

from audit.metrics.question_positions import Holder, Position
from pages._shared.label_matrix import KEY, _picked
from pages._shared.position_cards import different_positions, most_differing, quoted_from
from tests.pages.conftest import words_on
from tests.pages.test_disagreements import html_on


def test_the_question_is_summarised_in_a_sentence_with_its_counts(run, open_page):
    words = words_on(open_page("question", question="q1")).replace("*", "")
    assert "4 handbooks were asked: 3 answered, 1 did not address the question." in words
    assert "In 1 of 3 pairs in which both answer, the answers disagree (33.3 %)." in words
    assert "They hold 2 different positions." in words
    assert "interval" not in words  # one question is a sample of nothing


def test_positions_are_cards_with_a_quote_and_the_answers_are_listed_under_them(run, open_page):
    at = open_page("question", question="q1")
    assert html_on(at).count('<div class="position">') == 2
    assert html_on(at).count("<blockquote>Handbook ") >= 2
    assert 'class="held-answers"' not in html_on(at)
    at.session_state["all_answers"] = True
    html = html_on(at.run())
    assert html.count('class="held-answers"') == 2
    assert html.count('<div class="answers">') == 3  # every answer once
    assert "<mark>Handbook a on q1.</mark>" in html


def held(*statements):
    return [
        Position("", " ".join(letters), None, tuple(Holder(letter, "", 0, 0) for letter in letters)) for letters in statements
    ]


def test_the_first_pair_opened_lies_across_positions():
    positions = held("ab", "cd")
    assert not different_positions(positions, "a", "b")
    assert different_positions(positions, "a", "d")
    # a against b is graver, and yet both say the same: a verdict that deserves a second look, and no example of the dispute
    assert most_differing([("a", "b"), ("b", "c"), ("a", "c")], positions) == ("b", "c")
    assert most_differing([("a", "b"), ("c", "d")], positions) == ("a", "b")
    aspects = [*held("ab", "c"), *(Position("dose", "", None, position.holders) for position in held("a", "b"))]
    assert different_positions(aspects, "a", "b")


def test_two_handbooks_are_picked_without_a_mouse(run, open_page):
    at = open_page("question", question="q1")
    assert [at.selectbox(key=f"pick_{side}").value for side in "ab"] == ["a", "b"]
    at.selectbox(key="pick_a").select("c").run()
    assert [at.query_params[side] for side in "ab"] == ["c", "b"]
    at.selectbox(key="pick_b").select("c").run()  # both the same: the other side gets what was here
    assert [at.query_params[side] for side in "ab"] == ["b", "c"]


def test_the_gravest_pair_is_open_unless_the_link_names_one(run, open_page):
    assert "divergent" in html_on(open_page("question", question="q1"))
    linked = html_on(open_page("question", question="q1", a="b", b="c"))
    assert "consistent" in linked
    assert "divergent" not in linked


def test_another_question_forgets_the_opened_pair(run, open_page):
    at = open_page("question", question="q1", a="b", b="c")
    at.selectbox(key="question").select("q2").run()
    assert "a" not in at.query_params
    assert "contradictory" in html_on(at)


def test_the_question_of_the_highest_significance_opens_first(run, open_page):
    assert open_page("question").selectbox(key="question").value == "q1"  # q2 is contradictory, and of low significance


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


def test_a_single_pair_is_said_in_words_and_not_as_one_of_one(load_run, open_page):
    load_run("q1 kidney ab=DIVERGENT c=absent\nq2 kidney ab=CONSISTENT c=absent", handbooks=None)
    for question_id, words in (("q1", "the answers disagree."), ("q2", "the answers do not disagree.")):
        assert f"In the only pair in which both answer, {words}" in words_on(open_page("question", question=question_id))


def test_a_card_says_whose_words_it_shows_where_its_handbooks_use_different_ones():
    names = {"a": "Alder", "b": "Birch <b>", "c": "Catalpa"}

    def told(**words: str) -> str:
        holders = tuple(Holder(handbook, quote, 0, len(quote)) for handbook, quote in words.items())
        return quoted_from(Position("", "Wait a year.", None, holders), names)

    assert told(a="Wait a year.", b="Wait a year.") == ""
    assert told(a="After 12 months.", b="Wait a year.") == "Birch <b>"
    assert told(a="Wait a year.", b="After 12 months.", c="Wait a year.") == "Alder and 1 more"
    # A statement that a model worded is nobody's quote
    assert told(a="After 12 months.", b="In a year.") == ""


def test_a_cell_opened_by_key_is_one_of_two_handbooks_of_the_matrix(monkeypatch):
    opened = []
    for cell in (5, 1.0, 4, 9, -1, "5", None):  # 4 is on the diagonal of three handbooks, 9 beyond them
        monkeypatch.setattr("pages._shared.label_matrix.st.session_state", {KEY: type("State", (), {"picked": cell})})
        _picked(lambda row, column: opened.append((row, column)), 3)
    assert opened == [(1, 2), (0, 1)]


def test_the_matrix_reaches_the_keyboard_with_its_names_and_labels(run, open_page):
    drawn = [part.proto for part in open_page("question", question="q1").get("bidi_component")]
    (data,) = [json.loads(part.json) for part in drawn if part.component_name.endswith(KEY)]
    assert len(data["names"]) == 3
    assert [data["words"][int(row[row_number])] for row_number, row in enumerate(data["rows"])] == ["the same handbook"] * 3
    assert "divergent" in {data["words"][int(value)] for row in data["rows"] for value in row}
