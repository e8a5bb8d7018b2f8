"""Question: the sentence, the positions, the matrix, the open pair and the answers under their position."""

from __future__ import annotations

import json

import pytest
from markupsafe import Markup
from streamlit.testing.v1 import AppTest

from audit.metrics.question_positions import Holder, Position, QuestionPositions
from audit.text.sentences import SentenceSpan
from pages._blinded.templates import rendered
from pages._shared.position_cards import card_of, different_positions, dot_groups, most_differing, quoted_from
from pages._shared.side_by_side import _with_sentence_html
from pages.question.label_matrix import KEY, _picked
from pages.start.disputes import on_several_sides
from tests.pages.conftest import words_on
from tests.pages.test_disagreements import html_on
from tests.support.loading import load


def who_agrees(at: AppTest) -> AppTest:
    """The page with the matrix of labels unfolded."""
    at.session_state["who_agrees"] = True
    return at.run()


@pytest.fixture
def sorted_run(release, data_dir):
    """The tiny run with two positions on q1 from its release."""
    held = [("a", "3 months"), ("bc", None)]
    records = [
        {"question_id": "q1", "statement": f"Handbook {ids[0]} on q1.", "method": "judge",
         "value": value, "holders": [{"handbook_id": one, "quote": f"Handbook {one} on q1."} for one in ids]}
        for ids, value in held
    ]  # fmt: skip
    (release / "positions.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    load(release, data_dir)


def test_the_question_is_the_heading_and_its_first_sentence_says_who_says_what(sorted_run, open_page):
    at = open_page("question", question="q1")
    assert at.title[0].value.replace("\\", "") == "What about q1?"
    html = html_on(at)
    assert "2 of 3 handbooks (at least 1 for certain) say “Handbook b on q1”, 1 says 3 months; 1 does not address it." in html
    assert html.index('class="who"') < html.index('class="positions"')


@pytest.mark.parametrize(
    ("mine", "words"),
    [("a", "says: 3 months."), ("b", "says: Handbook b on q1."), ("d", "does not address this question.")],
)
def test_what_the_readers_own_handbook_says_is_said_and_that_it_says_nothing(sorted_run, open_page, mine, words):
    assert f"Your handbook, center {mine}, {words}" in words_on(open_page("question", question="q1", mine=mine))
    assert "Your handbook" not in words_on(open_page("question", question="q1"))


@pytest.mark.parametrize(("start", "folds"), [(0, 1), (700, 2), (1380, 1)])
def test_of_a_long_answer_what_is_near_to_the_marked_sentence_is_in_sight(start, folds):
    text = "many words " * 127
    html = _with_sentence_html(text, SentenceSpan(start, start + 10))
    assert html.count("<details") == folds
    assert (
        Markup(html).striptags().replace("The beginning of the answer", "").replace("The rest of the answer", "") == text.strip()
    )
    assert "<details" not in _with_sentence_html(text[:800], SentenceSpan(0, 10))


def test_where_no_position_is_certain_the_judge_s_words_stand_alone(run, open_page):
    at = open_page("question", question="q1")
    html = html_on(at)
    assert "3 handbooks answer and disagree" in html
    assert html.count('class="position certain"') == 1
    assert "a against b" in html
    assert "In 1 of the 3 pairs in which the judge sees two answers, it finds that they disagree." in words_on(who_agrees(at))


def test_positions_are_cards_with_a_quote_and_the_answers_are_listed_under_them(sorted_run, open_page):
    at = open_page("question", question="q1")
    assert html_on(at).count('<div class="position">') == 2
    assert html_on(at).count("<blockquote>Handbook ") >= 2
    assert 'class="held-answers"' not in html_on(at)
    at.session_state["all_answers"] = True
    html = html_on(at.run())
    assert html.count('class="held-answers"') == 2
    assert html.count('<div class="answers">') == 3  # every answer once
    assert "<mark>Handbook a on q1.</mark>" in html


def test_what_is_marked_in_an_answer_is_the_quote_of_its_position(sorted_run, open_page):
    html = html_on(open_page("question", question="q1", a="a", b="b"))
    assert html.count('<mark class="clash"') == 3  # the legend and two quotes
    assert "pale" not in html


def held(*statements):
    return tuple(
        Position("", " ".join(letters), None, tuple(Holder(letter, "", 0, 0) for letter in letters)) for letters in statements
    )


def test_the_first_pair_opened_lies_across_positions():
    positions = QuestionPositions(held("ab", "cd"))
    assert not different_positions(positions, "a", "b")
    assert different_positions(positions, "a", "d")
    # a against b is graver, and yet both say the same: a verdict that deserves a second look, and no example of the dispute
    assert most_differing([("a", "b"), ("b", "c"), ("a", "c")], positions) == ("b", "c")
    assert most_differing([("a", "b"), ("c", "d")], positions) == ("a", "b")
    aspects = (*held("ab", "c"), *(Position("dose", "", None, position.holders) for position in held("a", "b")))
    assert different_positions(QuestionPositions(aspects), "a", "b")


def test_two_handbooks_are_picked_without_a_mouse(run, open_page):
    at = who_agrees(open_page("question", question="q1"))
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
    assert not who_agrees(open_page("question", question="q1", show="everyone")).exception


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
        monkeypatch.setattr("pages.question.label_matrix.st.session_state", {KEY: type("State", (), {"picked": cell})})
        _picked(lambda row, column: opened.append((row, column)), 3)
    assert opened == [(1, 2), (0, 1)]


def test_the_matrix_reaches_the_keyboard_with_its_names_and_labels(run, open_page):
    closed = open_page("question", question="q1")
    assert not [part for part in closed.get("bidi_component") if part.proto.component_name.endswith(KEY)]
    drawn = [part.proto for part in who_agrees(closed).get("bidi_component")]
    (data,) = [json.loads(part.json) for part in drawn if part.component_name.endswith(KEY)]
    assert len(data["names"]) == 3
    assert [data["words"][int(row[row_number])] for row_number, row in enumerate(data["rows"])] == ["the same handbook"] * 3
    assert "divergent" in {data["words"][int(value)] for row in data["rows"] for value in row}


def test_a_dot_stands_for_each_handbook_in_the_first_of_its_positions(sorted_run, open_page):
    assert "<i data-name=" not in html_on(open_page("question", question="q1"))  # of three handbooks
    aspects = (*held("abc", "d"), *(Position("dose", "", None, position.holders) for position in held("a", "b")))
    groups = dot_groups(QuestionPositions(aspects, others=(Holder("e", "", 0, 0),)), dict.fromkeys("abcde", "<b>"))
    assert [(len(group.names), group.is_else) for group in groups] == [(3, False), (1, False), (1, True)]
    strip = rendered("_shared/who_says_what.html", text="", groups=groups, terms={"handbook": "code"})
    assert strip.count('<i data-name="&lt;b&gt;') == 5
    assert 'aria-label="One dot for each code: 3 a b c, 1 d, 1 something else"' in strip
    assert dot_groups(QuestionPositions(others=tuple(Holder(one, "", 0, 0) for one in "abcd")), dict.fromkeys("abcd", "")) == []


def test_a_handbook_on_another_side_than_most_of_its_center_has_its_whole_name():
    centers = {"a": "Alder", "b": "Alder", "c": "Birch", "d": "Alder"}
    sides = [Position("", words, None, tuple(Holder(one, "", 0, 0) for one in ids)) for words, ids in (("3", "abc"), ("6", "d"))]
    assert on_several_sides(sides, {one: f"heart {one}" for one in centers}, centers) == {"d": "heart d"}


def test_who_holds_a_position_is_said_by_center_where_several_of_one_do():
    ids = {f"h{number}": center for number, center in enumerate(("Alder", "Alder", "Birch", "Alder", "Cedar_Hill"))}
    position = Position("", "Wait.", None, tuple(Holder(handbook_id, "Wait.", 0, 5) for handbook_id in ids))
    assert card_of(position, ids, ids).centers == ("Alder 3", "Birch 1", "Cedar Hill 1")
    alone = {handbook_id: handbook_id for handbook_id in ids}
    assert card_of(position, ids, alone).centers == ()  # each of a center of its own is named
