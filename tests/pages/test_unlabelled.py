"""A run that nothing has compared: its menu, its start, its questions side by side, and what needs labels says so."""

from __future__ import annotations

import json
import re

import pytest

from audit.store.runs import Run
from pages._shared.doors import BROWSING, CLINICIAN_DOORS
from pages._shared.navigation import is_listed
from tests.pages.conftest import HANDBOOKS, TABLE, lists, opened, words_on
from tests.support.loading import load
from tests.support.tiny import release_from
from tests.support.unlabelled import ERRORS, found_of, without_pairs

NEEDS_LABELS = ("themes", "theme", "centers", "judge", "compare")
MISSES = (
    "Where it was measured, such a search missed 14 of 100 answers that were there (95 % interval 8.5 to 22.1 %), so some of "
    "these handbooks do answer."
)


@pytest.fixture(scope="module")
def unlabelled(tmp_path_factory) -> Run:
    """The tiny run of the other pages without its pairs, answered by a search."""
    folder = tmp_path_factory.mktemp("unlabelled")
    return load(without_pairs(release_from(folder, TABLE, HANDBOOKS), folder / "releases"), folder / "data").run


@pytest.fixture
def show(unlabelled, monkeypatch):
    """Opens a page of that run."""
    monkeypatch.setenv("AUDIT_DATA_DIR", str(unlabelled.path.parents[1]))
    return opened


def html_on(at) -> str:
    return re.sub(r"<[^>]+>", " ", " ".join(str(element.proto.body) for element in at.get("html")))


def test_it_lists_no_page_that_needs_labels(unlabelled):
    listed = {tab.script for door in CLINICIAN_DOORS for tab in door.tabs if is_listed(tab, unlabelled)}
    assert listed == {
        "start",
        "disagreements",
        "questions",
        "topics",
        "organs",
        "coverage",
        "about",
        "trust",
        "glossary",
        "downloads",
    }


@pytest.mark.parametrize("page", sorted(BROWSING))
def test_every_page_opens_or_says_that_nothing_has_compared_the_handbooks(page, show):
    at = show(page)
    assert not at.exception
    assert ("Nothing has compared the handbooks of this run yet" in words_on(at)) == (page in NEEDS_LABELS)
    if page != "glossary":  # it defines the words of every run
        shown = " ".join(str(element.value) for kind in ("markdown", "caption", "info") for element in at.get(kind))
        assert "does not address" not in shown + html_on(at)


def test_its_start_says_what_was_found_what_was_missed_and_what_judging_costs(show):
    at = show("start")
    words = words_on(at)
    assert at.title[0].value.startswith("What handbooks say")
    # d was not asked q3; absent: d in q1 and q2. Of their own: a, b of q1; all four of q2; c of q3.
    assert "Of 7 answers that handbooks should give" in words
    assert "**1** not found" in words
    assert MISSES in words
    # Present answers: three to each of three questions
    assert "about 9 calls to a language model" in words
    assert "agree" in words


def test_a_question_shows_each_handbooks_words_under_its_state(show):
    at = show("question", question="q2")
    assert [header.value for header in at.header] == ["No model has compared these yet"]
    assert "A judge would compare 3 pairs on this question" in words_on(at)
    assert "Handbook a on q2." in html_on(at)
    assert "**Not found** (1), which does not prove that they are silent." in words_on(at)
    assert "NOT ADDRESSED" not in html_on(at)


def test_an_answer_says_how_surely_it_was_found(show):
    places = {"q1": 0, "q2": 4, "q3": 8}
    said = {letter: found_of(places["q2"] + position, letter == "d") for position, letter in enumerate("abcd")}
    words = {"stated": "Stated: a passage", "perhaps": "Perhaps: see these passages", "not found": "Not found: no passage"}
    for letter, found in said.items():
        assert words[found] in html_on(show("answer", question="q2", handbook=letter))


def test_a_handbook_counts_its_states_and_a_gap_is_what_was_not_found(show):
    at = show("handbook", handbook="d")
    words = words_on(at)
    assert "Of what it should answer (1: questions of its organ, and general ones): **0** stated" in words
    assert "**1** not found" in words
    assert words.count(MISSES) == 2  # beside the counts and beside the gaps


def test_questions_are_filtered_by_topic_and_words(show):
    assert "1 question." in words_on(show("questions", topic="work_and_money", words="q3"))
    assert "2 questions." in words_on(show("questions", topic="diet"))


def test_without_known_errors_of_the_search_the_share_of_silence_is_not_shown(tmp_path, data_dir, open_page):
    release = without_pairs(release_from(tmp_path, TABLE, HANDBOOKS), tmp_path / "releases", generator_errors=None)
    load(release, data_dir)
    for page in ("start", "coverage", "handbook"):
        words = words_on(open_page(page))
        assert "was not measured for this run" in words
        assert "Corrected for all errors" not in words


def test_a_run_with_labels_has_no_list_of_questions_but_leads_to_its_disagreements(run, open_page):
    assert not is_listed(BROWSING["questions"], run)
    assert "are on *Disagreements*" in words_on(open_page("questions"))


def test_a_search_whose_answers_a_judge_compared_has_no_rate_of_pairs_that_are_not_addressed(tmp_path, data_dir, open_page):
    folder = release_from(tmp_path, TABLE, HANDBOOKS, generator_errors=ERRORS)
    answers = [json.loads(line) for line in (folder / "answers.jsonl").read_text().splitlines()]
    states = [answer | {"found": found_of(number, answer["absent"])} for number, answer in enumerate(answers)]
    (folder / "answers.jsonl").write_text("".join(json.dumps(answer) + "\n" for answer in states))
    load(folder, data_dir)
    assert "Of 7 answers that handbooks should give" in words_on(open_page("start"))
    assert "at least one does not address" not in words_on(open_page("start"))
    for page in ("topics", "organs", "centers"):
        at = open_page(page)
        assert not at.exception
        assert not {"r_abs", "absence"} & {column for table in lists(at) for column in table.value}
        assert MISSES in words_on(at)


@pytest.mark.parametrize("page", ["start", "questions", "question", "disagreements", "coverage", "handbook", "ask", "trust"])
def test_a_run_of_one_handbook_has_its_answers_and_opens(page, tmp_path, data_dir, open_page):
    release = release_from(tmp_path, "q1 kidney ab=CONSISTENT\nq2 kidney ab=absent", HANDBOOKS[:2])
    folder = without_pairs(release, tmp_path / "one")
    for name in ("handbooks", "answers"):
        lines = (folder / f"{name}.jsonl").read_text("utf-8").splitlines(keepends=True)
        (folder / f"{name}.jsonl").write_text("".join(line for line in lines if json.loads(line)["handbook_id"] == "a"), "utf-8")
    run = load(folder, data_dir).run
    at = open_page(page, **({"question": "q1"} if page == "question" else {}))
    assert not at.exception
    assert not at.error
    assert (run.has_pairs, run.has_answers) == (False, True)
    assert "2 handbooks" not in words_on(at) + html_on(at)
    assert "0 calls" not in words_on(at)
    if page in ("start", "question"):
        assert "No question has answers from two handbooks, so there is nothing to compare." in words_on(at)
    if page == "question":
        assert at.title[0].value.replace("\\", "") == "What about q1?"
        assert "Handbook a on q1" in html_on(at)


def test_trust_says_how_often_the_search_errs_where_there_is_no_judge(show):
    at = show("trust")
    assert at.title[0].value == "How far to trust what was found"
    assert "Of 100 questions that a document answers, such a search called 14 “not found” (14.0 %" in words_on(at)
    assert len(at.get("plotly_chart")) == 1


@pytest.mark.parametrize("page", ["start", "coverage", "handbook", "question"])
def test_of_one_handbook_no_page_has_a_dash_for_a_figure_or_the_cost_of_comparing_nothing(page, data_dir, tmp_path):
    errors = ERRORS | {"missed": 6, "answered": 118, "found": 44, "unanswered": 65}
    release = without_pairs(release_from(tmp_path, TABLE, HANDBOOKS), tmp_path / "releases", generator_errors=errors)
    for name in ("handbooks.jsonl", "answers.jsonl"):
        lines = (release / name).read_text(encoding="utf-8").splitlines()
        kept = [line for line in lines if json.loads(line)["handbook_id"] == HANDBOOKS[0]["handbook_id"]]
        (release / name).write_text("\n".join(kept), encoding="utf-8")
    load(release, data_dir)
    at = opened(page)
    assert not at.exception
    assert "–**" not in words_on(at)
    assert "0 pairs" not in words_on(at)
    assert ("too little to tell how many handbooks are silent" in words_on(at)) == (page != "question")
