"""Screening: identifying details are located, ordinary questions are not flagged, and nothing is rewritten."""

import json
from pathlib import Path

import pytest

from audit.pipeline.corpus.questions.checks import make_screen
from audit.pipeline.corpus.questions.importing import import_questions
from tests.simulator.policies import policies


@pytest.mark.parametrize(
    ("text", "kind", "detail_text"),
    [
        ("Can you write to jane.doe@example.org?", "e-mail address", "jane.doe@example.org"),
        ("Call me at (415) 555-0132 about my fever?", "telephone number", "(415) 555-0132"),
        ("Is +44 20 7946 0958 the right clinic?", "telephone number", "+44 20 7946 0958"),
        ("I was transplanted on 03/14/2021, may I fly?", "date", "03/14/2021"),
        ("I was transplanted on March 14, 2021, may I fly?", "date", "March 14, 2021"),
        ("My biopsy on 2 May 2024 was fine?", "date", "2 May 2024"),
        ("My MRN is wrong: MRN 00482913?", "record number", "MRN 00482913"),
        ("Policy number AB-558210 was refused, what now?", "record number", "Policy number AB-558210"),
        ("My SSN is 536-90-4399, who may ask for it?", "social security number", "536-90-4399"),
        ("My NHS number is 999 000 0018, where is my letter?", "health service number", "999 000 0018"),
        ("I paid with 4111 1111 1111 1111, is that safe?", "card number", "4111 1111 1111 1111"),
        ("May I pay from GB82 WEST 1234 5698 7654 32?", "bank account", "GB82 WEST 1234 5698 7654 32"),
        ("I live at 12 Alder Creek Road; how far is that?", "street address", "12 Alder Creek Road"),
        ("Dr. Whitfield told me to fast, why?", "name", "Dr. Whitfield"),
        ("My name is Ann Alder and I itch?", "name", "My name is Ann Alder"),
        ("Can my husband Peter donate?", "name", "my husband Peter"),
        ("My father is a 93-year-old man, can he donate?", "age over 89", "93-year-old"),
    ],
)
def test_a_detail_is_located(text: str, kind: str, detail_text: str) -> None:
    assert (kind, detail_text) in [(detail.kind, text[detail.start : detail.end]) for detail in make_screen()(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Do I take 500 mg 2 x 100 days, or 1200-1500 calories?",
        "Is 120/80 a good blood pressure, and 10/12 weeks too long?",
        "Was the 2019-2021 booklet replaced in March 2022?",
        "May I eat soft cheese 3 months after my transplant in May?",
        "Does the clinic at MSC 3655, Bethesda 20892-3655 take letters?",
        "Can a 65-year-old get on the list?",
        "Should my husband or wife be vaccinated? Can my doctor tell me?",
        "What does the Deposit Act say on 2 months' rent?",
    ],
)
def test_numbers_and_words_of_ordinary_questions_are_not_flagged(text: str) -> None:
    assert make_screen()(text) == []


def test_no_question_of_the_simulator_is_flagged() -> None:
    screen = make_screen()
    questions = [wording for policy in policies() for wording in (*policy.asks, *policy.hows)]
    assert [question for question in questions if screen(question)] == []


def test_a_number_valid_in_two_countries_is_reported_once() -> None:
    assert [detail.kind for detail in make_screen(("US", "GB", "DE"))("Is +44 20 7946 0958 yours?")] == ["telephone number"]


def test_a_flagged_question_is_written_unchanged_with_the_kinds_and_reported_without_the_detail(tmp_path: Path) -> None:
    (tmp_path / "source.csv").write_text("question_id,question,organ\na,Is a@b.org yours?,lung\nb,May I fly?,lung\n")
    report = import_questions(tmp_path / "source.csv", tmp_path / "questions.jsonl", screen=make_screen())
    flagged, other = map(json.loads, (tmp_path / "questions.jsonl").read_text().splitlines())
    assert (flagged["question"], flagged["identifying"], other["identifying"]) == ("Is a@b.org yours?", ["e-mail address"], [])
    assert report.identifying == {"a": ["e-mail address"]}
    assert "characters 4 to 10" in report.findings[0].message
    assert "a@b.org" not in report.as_text()
