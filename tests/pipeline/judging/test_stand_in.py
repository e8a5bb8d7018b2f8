"""The stand-in judge: labels of a made-up example, read off its own table of truths."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.errors import AuditError
from audit.pipeline.judging.corpus import AnswerToJudge, QuestionToJudge
from audit.pipeline.judging.stand_in import StandInVerdicts, check_handbooks, read_truth

TRUTH = """rule,alder,birch,cedar,dogwood
driving,6 weeks,42 days,8 weeks,
alcohol,yes,no,yes,
"""
QUESTIONS = """question_id,question,rule
q1,When may I drive?,driving
q2,May I drink?,alcohol
q3,Who pays for hail?,
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "truth.csv").write_text(TRUTH)
    (tmp_path / "questions.csv").write_text(QUESTIONS)
    return tmp_path / "truth.csv", tmp_path / "questions.csv"


@pytest.mark.parametrize(
    ("question", "pair", "label"),
    [
        ("q1", ("alder", "birch"), "CONSISTENT"),  # 42 days are 6 weeks
        ("q1", ("alder", "cedar"), "DIVERGENT"),
        ("q1", ("alder", "dogwood"), "ABSENT"),
        ("q2", ("alder", "birch"), "CONTRADICTORY"),
        ("q2", ("alder", "cedar"), "CONSISTENT"),
        ("q3", ("alder", "birch"), None),
        ("q1", ("alder", "elm"), None),
    ],
)
def test_the_label_of_a_pair_is_how_its_two_values_relate(files, question, pair, label) -> None:
    verdict = read_truth(*files).verdict(question, pair)
    assert (verdict.label, verdict.reason) == (label, None if label else "abstained: the truth table says nothing of it")


def test_the_reasoning_names_both_values(files) -> None:
    assert read_truth(*files).verdict("q1", ("cedar", "dogwood")).reasoning == (
        'The truth table of this example says on driving: A gives "8 weeks", and B gives nothing.'
    )


def test_an_answer_that_was_not_found_makes_its_pairs_absent_whatever_is_true(files) -> None:
    answers = {"alder": AnswerToJudge("Six weeks."), "birch": AnswerToJudge("NOT ADDRESSED", absent=True)}
    source = StandInVerdicts(read_truth(*files))
    (record,) = source.pairs(QuestionToJudge({"question_id": "q1"}, answers, (("alder", "birch"),)))
    assert (record["classification"], record["judge_metadata"], source.summary.counts["prescreened"]) == ("ABSENT", None, 1)


def test_a_table_without_its_column_and_that_of_another_example_are_refused(files) -> None:
    truth, questions = files
    with pytest.raises(AuditError, match="there is no column 'question_id'"):
        read_truth(truth, truth)
    with pytest.raises(AuditError, match=r"has a column for none of the handbooks of this run \(heart_x, ...\)"):
        check_handbooks(read_truth(truth, questions), ["heart_x"], truth)
