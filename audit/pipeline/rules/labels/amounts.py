"""Conflicting amounts: amounts of the same kind (body and not shelf temperatures) on the same object that do not agree.

The same dimension is not enough: a fever of 100.4 °F and a shelf of 15 to 30 °C share one, and so do five minutes of warm-up and
six months of waiting. Where the words leave open whether two amounts are about the same thing, the conflict is UNCLEAR.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product

from audit.pipeline.rules.labels.conflicts import Sameness, StatementConflict, clearest
from audit.pipeline.rules.labels.reading import ParsedAnswer, ParsedQuestion, StatementReading
from audit.text.quantity import Quantity
from audit.text.statements import CELL_SEPARATOR
from audit.text.tokens import plain_text, stem, stems
from audit.text.units import CLOCK, COUNT, DURATION, PRESSURE, SHARE, TEMPERATURE, TEMPERATURE_TOLERANCE_C

# Two clauses with fewer common words need not have the same subject; for counts, and where all words of one clause are in the
# other, one word less is enough.
MIN_SHARED_WORDS = 3
# Minimum share of the words of the shorter clause that both have if they are about the same object
MIN_OVERLAP, MIN_OVERLAP_OF_ASKED = 0.6, 0.5
# Two numbers closer than this share of the larger one differ only by rounding (annotation protocol, section 4).
ROUNDING = 0.15
# Three types are not four, and 10 pm is not 11 pm.
NEVER_ROUNDED = (COUNT, CLOCK)
# Amounts that differ by a larger factor are of different kinds (minutes and months, milligrams and pounds), except for these
MAX_RATIO = 30
ANY_RATIO = (COUNT, CLOCK, SHARE, TEMPERATURE)
BODY_C = (34.0, 43.0)
KINDS_OF_TEMPERATURE = {
    kind: frozenset(map(stem, words.split()))
    for kind, words in {
        "body": "fever body oral mouth armpit ear forehead rectal thermometer chill sick",
        "storage": "store storage refrigerator refrigerate fridge freezer shelf bottle tablet capsule vial pharmacy",
        "food": "cook meat poultry chicken oven internal reheat food boil egg leftover serve",
        "water": "water bath shower heater pool tub wash laundry dishwasher",
    }.items()
}
_PEOPLE = "child children infant toddler teen teenager adolescent men women man woman pregnant elderly"
POPULATIONS = frozenset(map(stem, _PEOPLE.split()))
AGE = re.compile(r"\b(?:age[ds]?|old|older|younger|born)\b")
# "Wait 6 weeks before you drive" starts on the same day as "6 weeks after surgery"
WAITS = re.compile(r"\b(?:wait\w*|not|never|avoid)\b")
BEFORE, AFTER = re.compile(r"\W*(?:before|prior|ago|in advance|ahead)\b"), re.compile(r"\W*(?:after|following|later|from)\b")
# "Eight people per 1 million" is a rate
RATE = re.compile(r"^\W*(?:\w+\W+)?(?:per|in every|out of)\b")
# Maximum distance from an amount of the words that show that it is an age
NEAR = 25

QuantityInStatement = tuple[StatementReading, Quantity]


def quantities_that_differ(question: ParsedQuestion, first: ParsedAnswer, second: ParsedAnswer) -> StatementConflict | None:
    """The two quantities whose conflict is most certain: those that the question asks for, else those in the closest statements.

    None if no quantities differ. A quantity that occurs anywhere in the other answer does not differ from it.
    """
    asked_for = clearest(_differing(question, _asked_for(question, first), _asked_for(question, second), first, second))
    if asked_for is not None and asked_for.sameness is Sameness.SAME:
        return asked_for
    others = _differing(question, _all_quantities(first), _all_quantities(second), first, second, asked=False)
    # Requested quantities come first: others may differ because the answers are about different things.
    return clearest(others) or asked_for


def _asked_for(question: ParsedQuestion, answer: ParsedAnswer) -> Sequence[QuantityInStatement]:
    """The quantities that answer "how long", "how much" ... in the statement that shares most with the question."""
    candidates = [
        (statement, [q for q in statement.quantities if question.asks_for(q) and not _states_no_amount(statement, q)])
        for statement in answer.guidance
    ]
    closest = max(
        (candidate for candidate in candidates if candidate[1]),
        key=lambda candidate: len(candidate[0].stems & question.stems),
        default=None,
    )
    return [(closest[0], quantity) for quantity in closest[1]] if closest else []


def _all_quantities(answer: ParsedAnswer) -> list[QuantityInStatement]:
    return [
        (statement, quantity)
        for statement in answer.statements
        for quantity in statement.quantities
        if not _states_no_amount(statement, quantity)
    ]


CONTAINER = re.compile(r"\W{0,3}(?:glass(?:es)?|cups?|mugs?|bottles?|cans?|cartons?)\b", re.I)


def _states_no_amount(statement: StatementReading, quantity: Quantity) -> bool:
    """Whether a number is a reference ("in the next decade (14)") or the size of a container ("4 to 8 8 oz. glasses")."""
    rest = statement.text[quantity.end :]
    is_reference = statement.text[: quantity.start].endswith("(") and rest.startswith(")")
    return is_reference or (quantity.dimension == "volume" and CONTAINER.match(rest) is not None)


def _differing(
    question: ParsedQuestion,
    quantities: Sequence[QuantityInStatement],
    others: Sequence[QuantityInStatement],
    first: ParsedAnswer,
    second: ParsedAnswer,
    *,
    asked: bool = True,
) -> Iterator[StatementConflict]:
    for (statement, quantity), (other_statement, other) in product(quantities, others):
        # An answer that gives both amounts, for different cases, does not differ from the other.
        if not differ_in_value(quantity, other) or _is_given(quantity, second) or _is_given(other, first):
            continue
        objects = _same_asked if asked else _same_subject
        sameness = min(
            _same_kind(statement, quantity, other_statement, other),
            objects(question, statement, quantity, other_statement, other),
        )
        if sameness > Sameness.DIFFERENT:
            yield StatementConflict(statement, other_statement, quantity.text, other.text, sameness)


def _is_given(quantity: Quantity, answer: ParsedAnswer) -> bool:
    return any(
        quantity.comparable(other) and not differ_in_value(quantity, other)
        for statement in answer.statements
        for other in statement.quantities
    )


def differ_in_value(a: Quantity, b: Quantity) -> bool:
    """Whether two comparable quantities differ: neither range contains the other, and the difference exceeds rounding.

    A bound is compared by its value: a reader of "at least 3 months" acts differently from one of "6 months".
    """
    if a.vague or b.vague or not a.comparable(b):
        return False
    if a.dimension == PRESSURE:  # 150/90 is a pair and not a range
        return (a.low, a.high) != (b.low, b.high)
    # A reader who follows the narrower range also complies with the wider one.
    if (a.low <= b.low and b.high <= a.high) or (b.low <= a.low and a.high <= b.high):
        return False
    if a.dimension == TEMPERATURE:  # relative differences of temperatures are meaningless: 38.0 and 38.6 °C are two thresholds
        return max(abs(a.low - b.low), abs(a.high - b.high)) > TEMPERATURE_TOLERANCE_C
    rounding = 0.0 if a.dimension in NEVER_ROUNDED else ROUNDING
    return not (_is_rounded(a.low, b.low, rounding) and _is_rounded(a.high, b.high, rounding))


def _is_rounded(a: float, b: float, rounding: float) -> bool:
    return abs(a - b) <= rounding * max(abs(a), abs(b))


# -- about the same object ---------------------------------------------------------------------------------------------


def _same_asked(question: ParsedQuestion, a: StatementReading, x: Quantity, b: StatementReading, y: Quantity) -> Sameness:
    """Whether both amounts answer the question: both statements share a word with it, and most of their words."""
    shared, overlap = len(question.stems & a.stems & b.stems), _overlap(a, x, b, y)[1]
    # "9 in 10 do not know" and "11 % have it" are both shares of adults with the disease
    same_claim = x.dimension != SHARE or (overlap >= MIN_OVERLAP_OF_ASKED and _is_negated(a, x) == _is_negated(b, y))
    if x.dimension == COUNT and not (_counts_asked(question, a, x) and _counts_asked(question, b, y)):
        return Sameness.DIFFERENT
    same_people = _populations(a) - question.all_stems == _populations(b) - question.all_stems
    is_alike = shared > 1 or overlap >= MIN_OVERLAP_OF_ASKED
    if shared and is_alike and same_claim and same_people and _same_row(a, b):
        return Sameness.SAME
    # Two statements that share no word with the question are not answers to it, so their amounts cannot conflict.
    return Sameness.UNCLEAR if question.shares_word(a) or question.shares_word(b) else Sameness.DIFFERENT


def _same_subject(question: ParsedQuestion, a: StatementReading, x: Quantity, b: StatementReading, y: Quantity) -> Sameness:
    """Whether two amounts that the question does not ask for have one subject, which includes what is counted."""
    shared, overlap = _overlap(a, x, b, y)
    on_question = not question.stems.isdisjoint(a.stems & b.stems)
    needed = MIN_SHARED_WORDS - (on_question and (x.dimension == COUNT or overlap == 1))
    same_people = _populations(a) == _populations(b)
    is_same = shared >= needed and overlap >= MIN_OVERLAP and same_people and _same_row(a, b)
    return Sameness.SAME if is_same else Sameness.DIFFERENT


def _counts_asked(question: ParsedQuestion, statement: StatementReading, quantity: Quantity) -> bool:
    """Whether a count is of what the question names: "how many stages" does not ask for a number of nurses."""
    counted = {*stems(quantity.noun), *([] if quantity.noun else [_word_before(statement, quantity)])}
    return not counted.isdisjoint(question.all_stems)


def _same_row(a: StatementReading, b: StatementReading) -> bool:
    """Whether two table rows are about one thing, which their first cells name; True for other statements."""
    labels = [frozenset(stems(s.text.partition(CELL_SEPARATOR)[0])) if CELL_SEPARATOR in s.text else None for s in (a, b)]
    ours, others = (s.stems if label is None else label for s, label in zip((a, b), labels, strict=True))
    return labels == [None, None] or not ours.isdisjoint(others)


def _is_negated(statement: StatementReading, quantity: Quantity) -> bool:
    first, last = statement.clause(quantity.start, quantity.end)
    return any(first <= negation.start < last for negation in statement.negations)


def _populations(statement: StatementReading) -> frozenset[str]:
    """The groups of people that a statement is about: advice for children differs from advice for adults."""
    return statement.stems & POPULATIONS


def _overlap(a: StatementReading, x: Quantity, b: StatementReading, y: Quantity) -> tuple[int, float]:
    """The number of words that the clauses of two amounts share, also as a share of the shorter one."""
    ours, others = a.clause_stems(x.start, x.end), b.clause_stems(y.start, y.end)
    shared = len(ours & others)
    return shared, shared / max(1, min(len(ours), len(others)))


# -- of the same kind --------------------------------------------------------------------------------------------------


def _same_kind(a: StatementReading, x: Quantity, b: StatementReading, y: Quantity) -> Sameness:
    """Whether two comparable amounts measure the same kind of thing, by their size and the words around them."""
    if x.dimension not in ANY_RATIO and _ratio(x, y) > MAX_RATIO:
        return Sameness.DIFFERENT
    if x.dimension == TEMPERATURE:
        return _same_temperature(a, x, b, y)
    if x.dimension == DURATION:
        differ = _is_age(a, x) != _is_age(b, y) or {_side(a, x), _side(b, y)} == {"before", "after"}
        return Sameness.DIFFERENT if differ else Sameness.SAME
    return _same_counted(a, x, b, y) if x.dimension == COUNT else Sameness.SAME


def _same_counted(a: StatementReading, x: Quantity, b: StatementReading, y: Quantity) -> Sameness:
    if any(RATE.search(plain_text(statement.text[q.end :])) for statement, q in ((a, x), (b, y))):
        return Sameness.DIFFERENT
    named_before = _word_before(a, x) == _word_before(b, y) != ""  # "a BMI of 38"
    return Sameness.SAME if (x.noun and y.noun) or named_before else Sameness.DIFFERENT


def _ratio(x: Quantity, y: Quantity) -> float:
    smaller, larger = sorted((x.low + x.high, y.low + y.high))
    return larger / smaller if smaller > 0 else MAX_RATIO


def _same_temperature(a: StatementReading, x: Quantity, b: StatementReading, y: Quantity) -> Sameness:
    ours, others = kinds_of_temperature(a.text, x), kinds_of_temperature(b.text, y)
    if ours and others:
        return Sameness.SAME if ours & others else Sameness.DIFFERENT
    return Sameness.UNCLEAR if ours or others else Sameness.SAME


def kinds_of_temperature(text: str, quantity: Quantity) -> set[str]:
    """What a temperature in a text is of: body, storage, food, water; empty if the text does not say."""
    words = frozenset(stems(text))
    kinds = {kind for kind, of_kind in KINDS_OF_TEMPERATURE.items() if of_kind & words}
    is_bodily = BODY_C[0] <= quantity.low and quantity.high <= BODY_C[1]
    # Nothing is stored, cooked or washed at the temperature of a fever.
    return {"body"} if is_bodily and ("body" in kinds or not kinds) else kinds - {"body"}


def _is_age(statement: StatementReading, quantity: Quantity) -> bool:
    around = statement.text[max(0, quantity.start - NEAR) : quantity.end + NEAR]
    return AGE.search(plain_text(around)) is not None


def _side(statement: StatementReading, quantity: Quantity) -> str:
    """Whether a period of time is before or after something, from the words around it."""
    rest = plain_text(statement.text[quantity.end :])
    waits = WAITS.search(plain_text(statement.text)) is not None
    return "before" if BEFORE.match(rest) and not waits else "after" if AFTER.match(rest) else ""


def _word_before(statement: StatementReading, quantity: Quantity) -> str:
    return next((word.stem for word in reversed(statement.words) if word.end <= quantity.start), "")
