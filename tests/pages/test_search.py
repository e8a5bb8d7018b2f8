"""What the one box can find in a run, and how disputed each is said to be."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from audit.store.runs import Run
from pages._shared.search import MAX_STATEMENT, handbook_note, question_note, shortened, tag_note
from tests.pages.conftest import Open, component


def found(at: AppTest) -> dict[str, Any]:
    """Heading -> (name, note) of each entry; of what is typed, its name."""
    kinds = json.loads(component(at, "search")["index"])["kinds"]
    return {kind["heading"]: kind.get("typed") or [tuple(entry[1:3]) for entry in kind["entries"]] for kind in kinds}


def test_every_kind_says_how_disputed_it_is(run: Run, open_page: Open) -> None:
    kinds = found(open_page("start"))
    assert kinds["Questions"] == [
        ("What about q1?", "3 of 3 handbooks answer, disputed"), ("What about q2?", "3 of 4 handbooks answer, disputed"),
        ("What about q3?", "3 of 3 handbooks answer, not disputed"),
    ]  # fmt: skip
    assert kinds["Topics"] == [("diet", "2 of 2 questions disputed"), ("work and money", "1 of 2 questions disputed")]
    assert kinds["Handbooks"][0] == ("kidney · Alder · pre", "disagrees on 2 questions")
    assert kinds["Handbooks"][3] == ("lung · Cedar Hill · combined", "disagrees on 0 questions")


def test_without_texts_the_last_result_is_the_list_of_disagreements(run: Run, open_page: Open) -> None:
    at = open_page("start")
    assert list(found(at))[-1] == "Disagreements"
    assert component(at, "search")["asks"] is False
    assert component(at, "search")["label"] == "Search questions, handbooks and topics"


@pytest.mark.parametrize(
    ("counts", "note"),
    [
        ((24, 19, 0, 60), "19 of 24 handbooks answer, disputed"), ((24, 19, 0, 0), "19 of 24 handbooks answer, not disputed"),
        ((24, 1, 0, 0), "1 of 24 handbooks answers"), ((1, 0, 0, 0), "none of 1 handbook answers"),
        ((24, 12, 7, 0), "stated in 5, perhaps in 7 of 24 handbooks, not disputed"), ((0, 0, 0, 3), "disputed"),
    ],
)  # fmt: skip
def test_a_question_says_how_many_answer_and_whether_they_differ(run: Run, counts: tuple[int, ...], note: str) -> None:
    assert question_note(run, counts) == note


def test_a_run_without_pairs_says_nothing_of_disputes(run: Run) -> None:
    uncompared = replace(run, has_pairs=False)
    assert question_note(uncompared, (24, 19, 19, 0)) == "stated in 0, perhaps in 19 of 24 handbooks"
    assert handbook_note(uncompared, 0) == ""


def test_notes_count_in_words(run: Run) -> None:
    assert tag_note(run, 1, 1) == "1 of 1 question disputed"
    assert tag_note(run, 8, 5) == "5 of 8 questions disputed"
    assert handbook_note(run, 1) == "disagrees on 1 question"
    assert shortened("word " * 100).endswith("word …")
    assert len(shortened("word " * 100)) <= MAX_STATEMENT + 2
