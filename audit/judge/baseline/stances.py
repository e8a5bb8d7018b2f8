"""Opposite directions on one point: what one answer allows or advises, and the other forbids or denies."""

from __future__ import annotations

import re
from itertools import product

from audit.judge.baseline.amounts import Conflict
from audit.judge.baseline.question import GENERIC, Asked
from audit.judge.baseline.statements import Answer, Statement
from audit.wording.grammar import plain_text

ALLOWS = re.compile(
    r"\b(?:you (?:may|can)|(?:may|can) be|(?:is|are) (?:\w+ )?(?:allowed|permitted|safe|fine|acceptable|possible|ok|okay|"
    r"needed|required|necessary|recommended)|(?:need|should|must|have to)\b|go on)"
)
FORBIDS = re.compile(
    r"\b(?:off (?:your|the) (?:menu|list)|off limits|for good|give up|against|"
    r"(?:are|is) not for you|only|any more)\b"
)


def opposite(asked: Asked, first: Answer, second: Answer) -> Conflict | None:
    """The statements in which the two answers go opposite ways on what is asked; None where they do not."""
    if not asked.closed:
        return None
    found = [(mine, theirs) for mine, theirs in product(_takers(asked, first), _takers(asked, second))]
    for (mine, yes), (theirs, also) in found[:1]:
        if yes != also:
            return Conflict(mine, theirs, mine.text, theirs.text, mine.stems & theirs.stems)
    return None


def _takers(asked: Asked, answer: Answer) -> list[tuple[Statement, bool]]:
    """The statements on what is asked that take a stance, and whether it is yes."""
    taken = [(s, stance) for s in answer.statements if asked.touches(s) and (stance := _stance(asked, s)) is not None]
    return sorted(taken, key=lambda found: -len(found[0].stems & asked.stems))


def _stance(asked: Asked, statement: Statement) -> bool | None:
    plain = plain_text(statement.text)
    if any(asked.stems & (denial.about - GENERIC) for denial in statement.denials) or FORBIDS.search(plain):
        return False
    return True if ALLOWS.search(plain) else None
