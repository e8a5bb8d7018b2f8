"""The rules of the baseline judge, in the order in which they are tried."""

from __future__ import annotations

from audit.judge.baseline.amounts import Conflict, amounts_apart
from audit.judge.baseline.question import GENERIC, read_question
from audit.judge.baseline.stances import opposite
from audit.judge.baseline.statements import Answer, read_answer
from audit.judge.verdicts import Verdict
from audit.vocabulary import NOT_ADDRESSED, Label, Significance
from audit.wording.grammar import plain_text
from audit.wording.words import stem, words

NAME = "baseline judge (rules, no model)"
"""What this judge is called wherever its verdicts are shown or written."""
PARSE = "rules"
ALIKE = 0.6
"""Two answers that share this part of all their words say the same."""
_HIGH = "emergency fever infection rejection dose medicine drug bleeding chest breath"
_LOW = "parking visitor pets travel phone class"
HIGH, LOW = (frozenset(map(stem, some.split())) for some in (_HIGH, _LOW))


def judge(question: str, a: str, b: str) -> Verdict:
    """How two answers to a question relate, by rules alone. The label is the same whichever answer comes first."""
    if silent := [side for side, text in (("A", a), ("B", b)) if _silent(text)]:
        return Verdict(
            Label.ABSENT, reasoning=f"Silence: answer {' and '.join(silent)} does not address the question.", parse=PARSE
        )
    if b < a:
        return _present(question, read_answer(b), read_answer(a), ("B", "A"))
    return _present(question, read_answer(a), read_answer(b), ("A", "B"))


def _silent(text: str) -> bool:
    return not text.strip() or text.lstrip().upper().startswith(NOT_ADDRESSED)


def _present(question: str, first: Answer, second: Answer, sides: tuple[str, str]) -> Verdict:
    asked = read_question(question)
    if found := opposite(asked, first, second):
        return _disagreeing(Label.CONTRADICTORY, "Opposite directions", found, sides)
    if found := amounts_apart(asked, first, second):
        return _disagreeing(Label.DIVERGENT, "Amounts apart", found, sides)
    share = _alike(first, second)
    label = Label.CONSISTENT if share >= ALIKE else Label.COMPLEMENTARY
    return Verdict(label, reasoning=f"Words: the answers share {share:.0%} of their words.", parse=PARSE)


def _alike(first: Answer, second: Answer) -> float:
    either = first.stems | second.stems
    return len(first.stems & second.stems) / len(either) if either else 1.0


def _disagreeing(label: Label, rule: str, found: Conflict, sides: tuple[str, str]) -> Verdict:
    said = dict(zip(sides, (found.one, found.other), strict=True))
    reasoning = f'{rule}: answer A says "{said["A"]}", answer B "{said["B"]}".'
    return Verdict(label, _significance(found), _topic(found), reasoning, PARSE)


def _significance(found: Conflict) -> str:
    about = found.first.stems | found.second.stems
    if about & HIGH:
        return Significance.HIGH
    return Significance.LOW if about & LOW else Significance.MEDIUM


def _topic(found: Conflict) -> str:
    shared = [word for word in words(found.first.text) if word.stem in found.shared - GENERIC]
    plain = plain_text(found.first.text)
    return " ".join(dict.fromkeys(plain[word.start : word.end] for word in shared[:4])) or "amount"
