"""Opposite directions on one point: what one answer allows or advises, and the other forbids or denies.

Denials alone decide nothing: of 33 pairs of the NIH release in which one answer denies what the other states in the same
words, the judge calls 2 contradictory. So a stance is looked for where the question wants one, and elsewhere only between
a plain prohibition and a plain permission.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

from audit.judging.baseline.conflict import Conflict
from audit.judging.baseline.question import GENERIC, Asked
from audit.judging.baseline.statements import Answer, Statement
from audit.text.tokens import plain_text

GOOD = "allowed|permitted|safe|fine|acceptable|possible|ok|okay|all right|needed|required|necessary|recommended"
PERMITS = re.compile(rf"\b(?:you (?:may|can)|(?:may|can) be|(?:is|are) (?:\w+ )?(?:{GOOD}))\b")
ADVISES = re.compile(r"\b(?:need|should|must|have to|go on)\b")
FORBIDS = re.compile(
    r"\b(?:off (?:your|the) (?:menu|list)|off[- ]limits|over for good|gi?ve(?:n)? up|(?:advise|recommend)s? against|"
    r"not for you|for [a-z]+ only|not your \w+ any ?more)\b"
)
PROHIBITS = re.compile(rf"^(?:please )?(?:do not|don't|never|avoid)\b|\b(?:must|should|may) not\b|\b(?:is|are) not (?:{GOOD})\b")
SHARED = 3
"""So many words must a prohibition and a permission share where the question does not ask for yes or no."""


def opposite(asked: Asked, first: Answer, second: Answer) -> Conflict | None:
    """The statements in which the two answers go opposite ways on what is asked; None where they do not."""
    return _stances_apart(asked, first, second) if asked.closed else next(_directives_apart(asked, first, second), None)


def _stances_apart(asked: Asked, first: Answer, second: Answer) -> Conflict | None:
    """Yes against no: each answer's stance is that of the statement nearest to the question that takes one."""
    mine, theirs = _nearest(asked, first), _nearest(asked, second)
    if mine is None or theirs is None or mine[1] == theirs[1]:
        return None
    return Conflict(mine[0], theirs[0], mine[0].text, theirs[0].text)


def _nearest(asked: Asked, answer: Answer) -> tuple[Statement, bool] | None:
    taken = [(s, yes) for s in answer.guidance if asked.touches(s) and (yes := _stance(asked, s)) is not None]
    return max(taken, key=lambda found: len(found[0].stems & asked.stems), default=None)


def _stance(asked: Asked, statement: Statement) -> bool | None:
    plain = plain_text(statement.text)
    if any(asked.stems & (denial.subject - GENERIC) for denial in statement.denials):
        return False
    if PERMITS.search(plain):
        return True
    return False if FORBIDS.search(plain) else True if ADVISES.search(plain) else None


def _directives_apart(asked: Asked, first: Answer, second: Answer) -> Iterator[Conflict]:
    """Do not against you may, on what is asked."""
    for mine, theirs in product(first.guidance, second.guidance):
        shared = (mine.stems & theirs.stems) - GENERIC
        if len(shared) >= SHARED and not asked.stems.isdisjoint(shared) and {_directs(mine), _directs(theirs)} == {True, False}:
            yield Conflict(mine, theirs, mine.text, theirs.text)


def _directs(statement: Statement) -> bool | None:
    plain = plain_text(statement.text)
    if PROHIBITS.search(plain):
        return False
    return True if PERMITS.search(plain) and not statement.denials else None
