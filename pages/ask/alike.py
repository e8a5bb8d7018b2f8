"""The questions of the run that are like the one asked: who answers them, how disputed they are, and their positions."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from audit.queries.questions_like import QuestionLike
from audit.store.runs import Run
from audit.terms import counted
from pages._blinded.templates import rendered
from pages._shared.position_cards import positions_on
from pages.ask.answers import question_address

MAX_POSITIONS = 4
ANSWERING = "{n} {answer} it. "
NONE_DISAGREE = "No two of them were found to disagree."
DISAGREE = "{disagreeing} of {present} pairs of answers disagree."


def alike_html(run: Run, alike: Sequence[QuestionLike]) -> Markup:
    """Each question as a link to its page, with who answers it and what they say."""
    return rendered(
        "ask/alike.html",
        alike=[
            (one.text, question_address(run, one.question_id), _facts(run, one), _positions(run, one.question_id))
            for one in alike
        ],
    )


def _facts(run: Run, question: QuestionLike) -> str:
    n = len(question.answered_by)
    words = ANSWERING.format(n=counted(run, "handbook", n), answer="answers" if n == 1 else "answer")
    if not question.present:
        return words.strip()
    if question.present == 1:
        return words + ("Their answers disagree." if question.disagreeing else "Their answers do not disagree.")
    disputed = DISAGREE if question.disagreeing else NONE_DISAGREE
    return words + disputed.format(disagreeing=f"{question.disagreeing:,}", present=f"{question.present:,}")


def _positions(run: Run, question_id: str) -> list[tuple[str, str]]:
    """What is said of a question, by how many handbooks."""
    if not run.has_pairs:
        return []
    return [
        (position.value or position.statement, counted(run, "handbook", len(position.holders)))
        for position in positions_on(run, question_id).positions[:MAX_POSITIONS]
    ]
