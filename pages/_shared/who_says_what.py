"""The first sentence on a question: how many handbooks say what, how many say something else, and how many nothing."""

from __future__ import annotations

from collections.abc import Mapping

from audit.metrics.question_positions import Position, QuestionPositions
from audit.store.runs import Run

ELSE = "something else, or one of these in other words"
POSITIONS, LETTERS = 3, 110
"""Positions that are named, and letters of a sentence that are quoted."""


def who_says_what(run: Run, found: QuestionPositions, numbers: Mapping[str, int]) -> str:
    """The sentence, as plain text: `15 handbooks say 3 months, 4 say 6 months; 5 do not address it.`

    numbers  of `counts_on` this question
    """
    holding = {holder.handbook_id for position in found.positions for holder in position.holders}
    others = numbers["answering"] - len(holding) - len(found.others)
    parts = [
        _positions(run, found, numbers),
        _count(len(found.others), f"says {ELSE}", f"say {ELSE}"),
        _count(others, "answers, with no sentence found on this", "answer, with no sentence found on this") if holding else "",
        _count(numbers["not_addressing"], "does not address it", "do not address it"),
        _count(numbers["unread"], "gave a reply that could not be read", "gave replies that could not be read"),
    ]
    return "; ".join(part for part in parts if part) + "."


def _positions(run: Run, found: QuestionPositions, numbers: Mapping[str, int]) -> str:
    if found.positions:
        shown = found.positions[:POSITIONS]
        said = [_said(run, position, is_first=number == 0) for number, position in enumerate(shown)]
        left = len(found.positions) - len(shown)
        return ", ".join(said) + (f", and there {'is' if left == 1 else 'are'} {left} more" if left else "")
    n, topic = numbers["answering"], found.certain.topic if found.certain else ""
    if found.certain is not None:
        on = f" on {topic}" if topic else ""
        return f"{n:,} {run.term('handbook', n)} answer and disagree{on}, in sentences that cannot be told apart with certainty"
    if numbers["disagreeing"]:
        return f"{n:,} {run.term('handbook', n)} answer, and some of them disagree"
    if n == 0:
        return f"No {run.term('handbook', 1)} answers"
    if n == 1:
        return f"1 {run.term('handbook', 1)} answers"
    return f"{n:,} {run.term('handbook', n)} answer, and no two of them were found to disagree"


def _said(run: Run, position: Position, *, is_first: bool) -> str:
    n = len(position.holders)
    who = f"{n:,} {run.term('handbook', n)}" if is_first else f"{n:,}"
    return f"{who} {'says' if n == 1 else 'say'} {position.value or _quoted(position.statement)}"


def _quoted(statement: str) -> str:
    words = statement.rstrip(".") if len(statement) <= LETTERS else statement[:LETTERS].rsplit(" ", 1)[0] + " ..."
    return f"“{words}”"


def _count(n: int, one: str, many: str) -> str:
    return f"{n:,} {one if n == 1 else many}" if n > 0 else ""
