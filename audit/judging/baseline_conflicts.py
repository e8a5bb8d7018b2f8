"""Statements of two answers that cannot both be followed: opposite directions, and quantities that do not agree."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from audit.judging.baseline_reading import GENERIC_STEMS, ParsedAnswer, ParsedQuestion, Statement
from audit.text.comparison import find_negations
from audit.text.quantity import Quantity
from audit.text.tokens import plain_text
from audit.text.units import CLOCK, COUNT

# Two statements with fewer words in common need not have the same subject; for counts, one word less is enough.
MIN_SHARED_WORDS = 3
# Two figures closer than this share of the larger one are the same figure, rounded (annotation protocol, section 4).
ROUNDING = 0.15
# Three types are not four, and 10 pm is not 11 pm.
NEVER_ROUNDED = (COUNT, CLOCK)

GOOD = "allowed|permitted|safe|fine|acceptable|possible|ok|okay|all right|needed|required|necessary|recommended"
PERMITS = re.compile(rf"\b(?:you (?:may|can)|(?:may|can) be|(?:is|are) (?:\w+ )?(?:{GOOD}))\b")
ADVISES = re.compile(r"\b(?:need|should|must|have to|go on)\b")
FORBIDS = re.compile(
    r"\b(?:off (?:your|the) (?:menu|list)|off[- ]limits|over for good|gi?ve(?:n)? up|(?:advise|recommend)s? against|"
    r"not for you|for [a-z]+ only|not your \w+ any ?more)\b"
)
PROHIBITS = re.compile(rf"^(?:please )?(?:do not|don't|never|avoid)\b|\b(?:must|should|may) not\b|\b(?:is|are) not (?:{GOOD})\b")

QuantityInStatement = tuple[Statement, Quantity]


@dataclass(frozen=True)
class StatementConflict:
    """One statement of each answer that cannot both be followed, and the quotations in which they differ."""

    first: Statement
    second: Statement
    first_quote: str
    second_quote: str

    @property
    def shared_stems(self) -> frozenset[str]:
        """What both statements are about."""
        return self.first.stems & self.second.stems


# -- opposite directions -----------------------------------------------------------------------------------------------
#
# Negations alone decide nothing: of 33 pairs of the NIH release in which one answer negates what the other states in the
# same words, the judge calls 2 contradictory. So a direction is looked for if the question asks for one, and otherwise only
# between a plain prohibition and a plain permission.


def opposite_directions(question: ParsedQuestion, first: ParsedAnswer, second: ParsedAnswer) -> StatementConflict | None:
    """The statements in which the two answers give opposite directions on the question; None if they do not."""
    if question.is_closed:
        return _yes_against_no(question, first, second)
    return next(_prohibition_against_permission(question, first, second), None)


def _yes_against_no(question: ParsedQuestion, first: ParsedAnswer, second: ParsedAnswer) -> StatementConflict | None:
    a, b = _closest_direction(question, first), _closest_direction(question, second)
    if a is None or b is None or a[1] == b[1]:
        return None
    return StatementConflict(a[0], b[0], a[0].text, b[0].text)


def _closest_direction(question: ParsedQuestion, answer: ParsedAnswer) -> tuple[Statement, bool] | None:
    """The statement with a yes or a no that shares most with the question, and whether it is a yes."""
    directions = [
        (statement, yes)
        for statement in answer.guidance
        if question.shares_word(statement) and (yes := _says_yes(question, statement)) is not None
    ]
    return max(directions, key=lambda direction: len(direction[0].stems & question.stems), default=None)


def _says_yes(question: ParsedQuestion, statement: Statement) -> bool | None:
    plain = plain_text(statement.text)
    # A negation on the subject of the question outweighs a permission in the same sentence.
    if any(question.stems & (negation.subject - GENERIC_STEMS) for negation in statement.negations):
        return False
    if PERMITS.search(plain):
        return True
    # Advice last: a prohibition often contains it, as in "you should give up".
    return False if FORBIDS.search(plain) else True if ADVISES.search(plain) else None


def _prohibition_against_permission(
    question: ParsedQuestion, first: ParsedAnswer, second: ParsedAnswer
) -> Iterator[StatementConflict]:
    for a, b in product(first.guidance, second.guidance):
        shared = (a.stems & b.stems) - GENERIC_STEMS
        # Two statements on the same subject, and one that the question is about.
        if len(shared) < MIN_SHARED_WORDS or question.stems.isdisjoint(shared):
            continue
        if {_permits(a), _permits(b)} == {True, False}:
            yield StatementConflict(a, b, a.text, b.text)


def _permits(statement: Statement) -> bool | None:
    return direction_of(statement.text)


def direction_of(text: str) -> bool | None:
    """Whether a statement plainly permits (True) or plainly prohibits (False); None where it does neither."""
    plain = plain_text(text)
    if PROHIBITS.search(plain):
        return False
    return True if PERMITS.search(plain) and not find_negations(text) else None


# -- quantities --------------------------------------------------------------------------------------------------------


def quantities_that_differ(question: ParsedQuestion, first: ParsedAnswer, second: ParsedAnswer) -> StatementConflict | None:
    """The two quantities that differ most plainly: those that the question asks for, else those whose statements share most.

    None if none differ. A quantity that the other answer gives anywhere does not differ from it.
    """
    asked_for = _differing(_asked_for(question, first), _asked_for(question, second), first, second)
    aligned = _differing_in_aligned_statements(question, first, second)
    # What the question asks for comes first: other figures may differ because the answers speak of different things.
    return next(asked_for, None) or max(aligned, key=lambda conflict: len(conflict.shared_stems), default=None)


def _asked_for(question: ParsedQuestion, answer: ParsedAnswer) -> Sequence[QuantityInStatement]:
    """The quantities that answer "how long", "how much" ... in the statement that shares most with the question."""
    candidates = [(statement, list(filter(question.asks_for, statement.quantities))) for statement in answer.guidance]
    closest = max(
        (candidate for candidate in candidates if candidate[1]),
        key=lambda candidate: len(candidate[0].stems & question.stems),
        default=None,
    )
    return [(closest[0], quantity) for quantity in closest[1]] if closest else []


def _differing_in_aligned_statements(
    question: ParsedQuestion, first: ParsedAnswer, second: ParsedAnswer
) -> Iterator[StatementConflict]:
    """Quantities in statements on the same subject; what is counted ("two types", "three types") is part of the subject."""
    for a, b in product(_with_quantities(first), _with_quantities(second)):
        shared = (a.stems & b.stems) - GENERIC_STEMS
        # What is counted is one of the shared words, so counts are comparable with one word less.
        counts_only = len(shared) == MIN_SHARED_WORDS - 1 and not question.stems.isdisjoint(shared)
        if counts_only or len(shared) >= MIN_SHARED_WORDS:
            yield from _differing(_quantities_in(a, counts_only), _quantities_in(b, counts_only), first, second)


def _quantities_in(statement: Statement, counts_only: bool) -> Sequence[QuantityInStatement]:
    return [(statement, q) for q in statement.quantities if not counts_only or q.dimension == COUNT]


def _with_quantities(answer: ParsedAnswer) -> list[Statement]:
    return [statement for statement in answer.statements if statement.quantities]


def _differing(
    quantities: Sequence[QuantityInStatement],
    others: Sequence[QuantityInStatement],
    first: ParsedAnswer,
    second: ParsedAnswer,
) -> Iterator[StatementConflict]:
    for (statement, quantity), (other_statement, other) in product(quantities, others):
        # An answer may give both figures, for different cases: then it does not differ from the other.
        if differ_in_value(quantity, other) and not (_is_given(quantity, second) or _is_given(other, first)):
            yield StatementConflict(statement, other_statement, quantity.text, other.text)


def _is_given(quantity: Quantity, answer: ParsedAnswer) -> bool:
    return any(
        quantity.comparable(other) and not differ_in_value(quantity, other)
        for statement in answer.statements
        for other in statement.quantities
    )


def differ_in_value(a: Quantity, b: Quantity) -> bool:
    """Whether two comparable quantities differ: neither range contains the other, and it is more than rounding.

    A bound counts as its figure: a reader of "at least 3 months" acts otherwise than one of "6 months".
    """
    if a.vague or b.vague or not a.comparable(b):
        return False
    # Who follows the narrower range also keeps to the wider one.
    if (a.low <= b.low and b.high <= a.high) or (b.low <= a.low and a.high <= b.high):
        return False
    rounding = 0.0 if a.dimension in NEVER_ROUNDED else ROUNDING
    return not (_is_rounded(a.low, b.low, rounding) and _is_rounded(a.high, b.high, rounding))


def _is_rounded(a: float, b: float, rounding: float) -> bool:
    return abs(a - b) <= rounding * max(abs(a), abs(b))
