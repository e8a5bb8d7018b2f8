"""Questions for stress tests from a release: its answers, and the sections that they rest on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from audit.errors import ReleaseError
from audit.pipeline.stress.building.contexts import NoisePool
from audit.pipeline.stress.building.questions import BuildReport
from audit.pipeline.stress.building.stress_questions import questions_of_release
from audit.release.write import write_release
from audit.vocabulary import NOT_ADDRESSED

LIMIT = 2**20


def cites(*section_ids: str) -> dict[str, Any]:
    citations = [{"passage": 1, "section_id": name, "known": True} for name in section_ids]
    passages = [{"passage": 1, "section_id": "s9", "start": 0, "end": 3}]
    return {"citations": citations, "passages": passages}


def answered(question: str, handbook: str, text: str, **more: Any) -> dict[str, Any]:
    return {"question_id": question, "handbook_id": handbook, "answer": text, **more}


def section(handbook: str, section_id: str, text: str) -> dict[str, Any]:
    return {"handbook_id": handbook, "section_id": section_id, "text": text}


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """Two handbooks; q1 is answered by both, q2 by one; one answer cites nothing, one is absent."""
    return write_release(
        tmp_path / "folder",
        manifest={"run_id": "kidney"},
        handbooks=[{"handbook_id": name, "organ": "kidney", "center": name} for name in "ab"],
        questions=[{"question_id": f"q{n}", "question": f"Question {n}?", "organ": "kidney"} for n in (1, 2, 3)],
        answers=[
            answered("q1", "a", "Wait 3 months [1].", absent=False, retrieval=cites("s1", "s1")),
            answered("q1", "b", "Wait 6 months.", absent=False, retrieval=cites("s1", "s2")),
            answered("q2", "a", "Drink 2 liters.", absent=False, retrieval=cites("s3")),
            answered("q2", "b", f"{NOT_ADDRESSED}: nothing.", absent=True),
            answered("q3", "a", "Ask us.", absent=False, retrieval={"passages": [{"section_id": "s1"}]}),
        ],
        comparisons=[{"question_id": "q1", "handbooks": ["a", "b"], "pairs": []}],
        sections=[
            section("a", "s1", "Wait 3 months before you travel."), section("a", "s3", "Drink 2 liters a day."),
            section("b", "s1", "Wait 6 months before you travel."), section("b", "s2", ""),
        ],
    )  # fmt: skip


def test_the_handbooks_answer_is_the_gold_and_what_it_cites_is_the_signal(release):
    report = BuildReport()
    questions = {one.question_id: one for one in questions_of_release(release, LIMIT, report)}
    assert {name: [document.document_id for document in one.documents] for name, one in questions.items()} == {
        "q1/a": ["a/s1"], "q1/b": ["b/s1"], "q2/a": ["a/s3"],
    }  # fmt: skip
    assert (questions["q1/a"].gold, questions["q1/a"].options, questions["q1/a"].dataset) == ("Wait 3 months.", {}, "kidney")
    assert report.counts == {"answer without sections": 1, "section without text": 1}


def test_what_another_handbook_says_on_the_same_question_is_no_noise(release):
    questions = questions_of_release(release, LIMIT, BuildReport())
    assert [document.document_id for document in NoisePool(questions).draw(questions[0], 9, 0)] == ["a/s3"]


def test_gold_sections_come_before_citations(release):
    (release / "references.jsonl").write_text('{"question_id": "q1", "gold_sections": ["a/s3"]}\n')
    questions = {one.question_id: one for one in questions_of_release(release, LIMIT, BuildReport())}
    assert [document.document_id for document in questions["q1/a"].documents] == ["a/s3"]
    assert [document.document_id for document in questions["q1/b"].documents] == ["b/s1"]


def test_without_answers_of_handbooks_the_reference_answer_is_the_gold(release):
    (release / "answers.jsonl").unlink()
    (release / "references.jsonl").write_text(
        '{"question_id": "q1", "answers": ["3 months."], "gold_sections": ["s1"]}\n{"question_id": "q2", "answers": ["2 l."]}\n'
    )
    report = BuildReport()
    (one,) = questions_of_release(release, LIMIT, report)
    assert (one.question_id, one.gold, [document.document_id for document in one.documents]) == (
        "q1", "3 months.", ["a/s1", "b/s1"],
    )  # fmt: skip
    assert report.counts == {"reference without gold sections": 1}


def test_a_long_section_is_cut_after_a_statement(release):
    sentence = "Wait 3 months before you travel to another country. "
    (release / "sections.jsonl").write_text(
        f'{{"handbook_id": "a", "section_id": "s1", "text": "{sentence * 90}"}}\n', encoding="utf-8"
    )
    (one,) = questions_of_release(release, LIMIT, BuildReport())
    (document,) = one.documents
    assert 2_000 < len(document.text) <= 2_500
    assert document.text.endswith("country.")


def test_a_release_without_sections_is_refused(release):
    (release / "sections.jsonl").unlink()
    with pytest.raises(ReleaseError, match="has no texts of sections"):
        questions_of_release(release, LIMIT, BuildReport())
