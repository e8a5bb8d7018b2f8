"""The page System answers: reference and answers side by side, marked, with scores, evidence and preferences."""

from __future__ import annotations

import re

from audit.text.comparison import DifferenceKind, DifferenceSpan
from pages._shared.side_by_side import beginning_html, marked_html
from tests.pages.conftest import LoadSystems, Open, words_on
from tests.pages.test_systems import table_with
from tests.support.directions import without_directions
from tests.support.systems import answered, judged, preferred, system_tables


def html_on(at) -> str:
    return without_directions("\n".join(block.proto.body for block in at.get("html") if "<style" not in block.proto.body))


def test_the_reference_and_every_answer_are_next_to_each_other(load_systems: LoadSystems, open_page: Open) -> None:
    load_systems()
    at = open_page("system_answers", question="q1")
    assert not at.exception
    html = html_on(at)
    for text in ("Reference answer", "Drink; rest.", "1 more reference answer", "Model alone", "Drink water.", "closed book"):
        assert text in html
    assert "2 of 2 systems answered this one. Question type: treatment." in words_on(at)


def test_words_that_the_other_has_not_are_marked_on_both_sides(load_systems: LoadSystems, open_page: Open) -> None:
    answers = [answered("q1", "alone", "Wait 3 months."), answered("q1", "rag", "Wait 12 months.")]
    load_systems(system_answers=answers, references=[])
    html = html_on(open_page("system_answers", question="q1", baseline="alone"))
    assert ">3 months</mark>" in html
    assert ">12 months</mark>" in html
    assert "<mark" not in html_on(open_page("system_answers", question="q1", mark="none"))


def test_what_all_others_lack_is_marked_in_the_text_they_are_compared_with(load_systems: LoadSystems, open_page: Open) -> None:
    references = [{"question_id": "q1", "answers": ["Wait 3 months. Rest 2 days."]}]
    answers = [answered("q1", "alone", "Wait 3 months."), answered("q1", "rag", "Wait 12 months.")]
    load_systems(system_answers=answers, references=references)
    html = html_on(open_page("system_answers", question="q1"))
    assert ">2 days</mark>" in html
    assert ">12 months</mark>" in html
    assert html.count(">3 months</mark>") == 1  # in the legend


def test_scores_have_their_meaning_and_explanation(load_systems: LoadSystems, open_page: Open) -> None:
    scored = judged("q1", "alone", 1, 0, -2, 0, 0, 0, None, 1, explanations={"missing_content": "No <b>dose</b>."})
    load_systems(criteria=[scored])
    at = open_page("system_answers", question="q1")
    html = html_on(at)
    assert "something of great importance (\N{MINUS SIGN}2)" in html
    assert "No &lt;b&gt;dose&lt;/b&gt;." in html
    assert "no composite, because a score is missing" in html
    assert "<b>Empathy</b>: could not be read" in html
    scores = table_with(open_page("system_answers", question="q1", view="scores"), "missing_content")
    assert (scores["missing_content"].iloc[0], scores["empathy"].isna().iloc[0]) == (-2, True)


def test_refused_unread_and_not_asked_are_said(load_systems: LoadSystems, open_page: Open) -> None:
    load_systems()
    html = html_on(open_page("system_answers", question="q3"))
    assert "The system declined to answer." in html
    assert "could not be read (cut_short)" in html
    tables = {"system_answers": [answered("q1", "alone", "Drink.")], "criteria": [judged("q2", "rag")], "measures": []}
    load_systems(**tables)
    assert "Not asked this question: Model with retrieval." in html_on(open_page("system_answers", question="q1"))
    assert "has scores of this system&#39;s answer, but not the answer itself" in html_on(
        open_page("system_answers", question="q2")
    )


def test_evidence_says_which_passages_contain_the_answer(load_systems: LoadSystems, open_page: Open) -> None:
    load_systems()
    html = html_on(open_page("system_answers", question="q1"))
    assert "Evidence: 2 passages, 1 from a section that contains the answer" in html
    assert "rank 1 · score 0.9 · section s1 (contains the answer)" in html
    assert "Drink water." in html


def test_preferences_are_listed_with_who_was_first(load_systems: LoadSystems, open_page: Open) -> None:
    load_systems(preferences=[preferred("q2", "B", shown_first="A", comment="**shorter**")])
    at = open_page("system_answers", question="q2", view="preferred")
    row = table_with(at, "preferred").iloc[0]
    assert (row["preferred"], row["first"], row["comment"]) == ("Model with retrieval", "Model alone", "**shorter**")


def test_filters_that_fit_no_question_say_so(load_systems: LoadSystems, open_page: Open) -> None:
    tables = system_tables()
    load_systems(references=tables["references"], system_answers=[answered("q1", "alone", "Drink.")], criteria=[], preferences=[])
    at = open_page("system_answers", type="information")
    assert not at.exception
    assert "The link asks for" in words_on(at)


def test_a_long_answer_is_folded_after_its_beginning_and_says_how_many_marks_are_in_the_fold() -> None:
    text = "Wait 3 months. " + "Ask your team before you travel. " * 20 + "Then wait 6 months."
    spans = [
        DifferenceSpan(text.index(words), text.index(words) + 8, DifferenceKind.NUMBER) for words in ("3 months", "6 months")
    ]
    html = str(beginning_html(text, spans))
    seen, folded = html.split("<details")
    assert re.sub(r"<summary>.*?</summary>|<[^>]+>", "", html) == text
    assert 350 <= len(re.sub("<[^>]+>", "", seen)) < 360
    assert "3 months</mark>" in seen
    assert "The rest of the answer (1 marked)" in folded
    assert "6 months</mark>" in folded
    assert beginning_html(text[:460], spans[:1]) == marked_html(text[:460], spans[:1])  # the rest is short
