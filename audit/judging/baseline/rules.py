"""The rules of the baseline judge, in the order in which they are tried."""

from __future__ import annotations

from audit.judging.baseline.amounts import amounts_apart
from audit.judging.baseline.conflict import Conflict
from audit.judging.baseline.likeness import LEFT_OVER, new_statements, share_new
from audit.judging.baseline.question import read_question
from audit.judging.baseline.stances import opposite
from audit.judging.baseline.statements import Answer, read_answer
from audit.judging.baseline.weight import significance, topic
from audit.judging.verdicts import Verdict
from audit.text.citations import without_citations
from audit.vocabulary import NOT_ADDRESSED, Label

NAME = "baseline judge (rules, no model)"
"""What this judge is called wherever its verdicts are shown or written."""
PARSE = "rules"
NEW = 1
"""Two answers with so many statements of which the other has nothing, in both together, still say the same."""
SPAN = 160
"""A span is quoted up to so many characters."""


def judge(question: str, a: str, b: str) -> Verdict:
    """How two answers to a question relate, by rules alone. Which answer comes first changes only who is called A.

    The first rule that applies gives the label, and `reasoning` names it:

    Silence             ABSENT: an answer is empty, begins with NOT ADDRESSED, or holds only asides
    Opposite directions CONTRADICTORY: yes against no, or do not against you may, on what is asked
    Amounts apart       DIVERGENT: figures of one dimension about one matter that do not agree
    Nothing new         CONSISTENT: at most one statement, and a small one, of which the other answer has nothing
    More or other       COMPLEMENTARY: everything else

    It reads no meaning: a disagreement without a figure, a yes or a no is COMPLEMENTARY to it. The numbers of cited passages,
    as in [2], are no figures.
    """
    a, b = without_citations(a), without_citations(b)
    if silent := [side for side, text in (("A", a), ("B", b)) if _silent(text)]:
        reasoning = f"Silence: answer {' and '.join(silent)} does not address the question."
        return Verdict(Label.ABSENT, reasoning=reasoning, parse=PARSE)
    if b < a:
        return _present(question, read_answer(b), read_answer(a), "BA")
    return _present(question, read_answer(a), read_answer(b), "AB")


def _silent(text: str) -> bool:
    return text.lstrip()[: len(NOT_ADDRESSED)].upper() == NOT_ADDRESSED or read_answer(text).empty


def _present(question: str, first: Answer, second: Answer, sides: str) -> Verdict:
    asked = read_question(question)
    for label, rule, find in (
        (Label.CONTRADICTORY, "Opposite directions", opposite),
        (Label.DIVERGENT, "Amounts apart", amounts_apart),
    ):
        if found := find(asked, first, second):
            degree, why = significance(asked, found)
            reasoning = f"{rule}: {_quoted(found, sides)} (significance: {why})."
            return Verdict(label, degree, topic(asked, found, question), reasoning, PARSE)
    new = new_statements(asked, first, second), new_statements(asked, second, first)
    if len(new[0]) + len(new[1]) <= NEW and max(share_new(first, new[0]), share_new(second, new[1])) <= LEFT_OVER:
        return Verdict(Label.CONSISTENT, reasoning="Nothing new: both answers make the same statements.", parse=PARSE)
    counts = dict(zip(sides, map(len, new), strict=True))
    reasoning = f"More or other: statements that only answer A makes: {counts['A']}; only answer B: {counts['B']}."
    return Verdict(Label.COMPLEMENTARY, reasoning=reasoning, parse=PARSE)


def _quoted(found: Conflict, sides: str) -> str:
    said = dict(zip(sides, (found.one, found.other), strict=True))
    return ", ".join(f'{side} says "{_cut(said[side])}"' for side in "AB")


def _cut(text: str) -> str:
    return text if len(text) <= SPAN else text[: SPAN - 1].rstrip() + "…"
