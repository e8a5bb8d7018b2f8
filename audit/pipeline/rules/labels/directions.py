"""Opposite directions: one answer allows or advises what the other forbids, on the same act and the same object.

Negation by itself is not enough: of 33 pairs of the NIH release in which one answer negates what the other states in the same
words, the judge calls 2 contradictory. So each direction has a scope, the few words that it applies to, and two directions are
opposite only if their scopes name the same thing: "Do not clean the litter box" says nothing about keeping a cat.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from audit.pipeline.rules.labels.conflicts import Sameness, StatementConflict, clearest
from audit.pipeline.rules.labels.reading import GENERIC_STEMS, MEASURE_STEMS, ParsedAnswer, ParsedQuestion, StatementReading
from audit.text.tokens import plain_text, stem, stems
from audit.text.units import DURATION

GOOD = "allowed|permitted|safe|fine|acceptable|possible|ok|okay|all right|needed|required|necessary|recommended"
PARTICIPLE = r"(?:\w+(?:ed|en|ept|orn|un|et)|paid|made|done)\b"
# The forbidden or allowed act follows these ...
FORBIDS = re.compile(
    # "Do not" is an instruction; "early cancers do not cause symptoms" is a description
    r"(?:^|[.;:,!?(|•-] ?|\b(?:you|we|please|and|but|or|so|then|patients|recipients) )(?:do not|don't)\b|"
    r"\b(?:(?:must|should|may|can|need|shall)(?: not|n't)|can't|cannot|(?<!have )(?<!has )never|avoid(?:ing)?|"
    r"(?:refrain|abstain|stay away) from|steer clear of|gi?ve(?:n)? up|(?:advise|recommend)s? against|not for)\b|"
    r"^no\b(?! (?:more|less|matter|need)\b)"
)
# "You may be pregnant" and "it may be caused by" are not permissions
PERMITS = re.compile(r"\byou (?:may|can)\b(?! (?:be|feel|notice|experience|also be)\b)")
ADVISES = re.compile(r"\b(?:need to|needs? an?|should|must|have to|go on)\b")
# ... and precedes these
FORBIDDEN = re.compile(
    rf"\b(?:(?:is|are) (?:usually |generally )?not (?:{GOOD})|unsafe|off (?:your|the) (?:menu|list)|off[- ]limits|over for good|"
    r"not for you|for [a-z]+ only|not your \w+ any ?more|prohibited|forbidden|banned|contraindicated)\b"
)
DESCRIBES = "caus|affect|relat|link|associat|diagnos|confus|infect|pass"
PERMITTED = re.compile(rf"\b(?:is|are) (?:\w+ )?(?:{GOOD})\b|\b(?:may|can) be (?!{DESCRIBES}){PARTICIPLE}")
ADVISED = re.compile(rf"\b(?:must|should|ha[sv]e? to) be {PARTICIPLE}")
# In this order: "you may not" is a prohibition, and so is "you should give up"
CUES = (
    (FORBIDDEN, False, True),
    (FORBIDS, False, False),
    (PERMITTED, True, True),
    (ADVISED, True, True),
    (PERMITS, True, False),
    (ADVISES, True, False),
)
ADVICE = (ADVISES, ADVISED)
LISTED = re.compile(r"\b(?:and|or|nor)\b|[,/]")
# These begin a circumstance, which is not part of the object; a comma does not end a scope, because objects are often listed
SCOPE_END = re.compile(
    r"[.;!?()|]|\b(?:if|when|whenever|unless|until|till|while|before|after|during|because|so that|since|without|but|around|for|"
    r"even|whatever|as|within|again|prior)\b"
)
PLACE = re.compile(r"\b(?:in|at|on)\b")
CONDITION = re.compile(
    r"\b(?:if|when|whenever|until|till|while|during|before|after|prior|once|only|except|as long as|provided)\b"
)
MAX_SCOPE = 5
# Between a permission and the negation that withdraws it: "you may usually not"
MAX_GAP = 12
_ACTS = "eat drink take have use do go get make keep start stop try receive apply give avoid"
# Words for the act and not its object: two directions that share only these are about different things
ACTS = frozenset(map(stem, _ACTS.split()))
_HEDGES = """
following little bit small serving short course amount piece now moderate occasional usual normal safe safely ever please
completely entirely strictly
"""
# Words for an amount or a manner, never for the object
HEDGES = frozenset(map(stem, _HEDGES.split()))
NO_OBJECT = HEDGES | GENERIC_STEMS | MEASURE_STEMS


class Direction(NamedTuple):
    """The act that a statement allows, advises or forbids.

    objects     stems of the act and its object, one set for each of several listed: "grapefruit or its juice" has two
    places      stems of what follows "in", "at" or "on": where it applies
    conditions  words such as "if" and "until" in the statement
    """

    allows: bool
    is_advice: bool
    objects: tuple[frozenset[str], ...]
    places: frozenset[str]
    conditions: frozenset[str]


def opposite_directions(question: ParsedQuestion, first: ParsedAnswer, second: ParsedAnswer) -> StatementConflict | None:
    """The statements in which two answers give opposite directions on one act and object; None if they do not.

    On a yes-or-no question, advice counts as a yes; on other questions, only a permission is the opposite of a prohibition.
    """
    return clearest(_opposites(question, first, second))


def _opposites(question: ParsedQuestion, first: ParsedAnswer, second: ParsedAnswer) -> Iterator[StatementConflict]:
    for a, b in product(_directed(question, first), _directed(question, second)):
        pairs = product(find_directions(a.text), find_directions(b.text))
        degrees = [_sameness(question, x, y, a, b) for x, y in pairs if x.allows != y.allows]
        # An answer that gives both directions, for different cases, is not opposite to the other
        if a in second.statements or b in first.statements:
            continue
        if (sameness := max(degrees, default=Sameness.DIFFERENT)) > Sameness.DIFFERENT:
            yield StatementConflict(a, b, a.text, b.text, sameness)


def _directed(question: ParsedQuestion, answer: ParsedAnswer) -> list[StatementReading]:
    """The statements that give a direction on something the question names."""
    return [statement for statement in answer.guidance if question.shares_word(statement) and find_directions(statement.text)]


@lru_cache(maxsize=16384)
def find_directions(text: str) -> tuple[Direction, ...]:
    """The directions that a statement gives, each with its scope; empty for most statements."""
    plain, taken, directions = plain_text(text), list[tuple[int, int]](), []
    for pattern, allows, is_before in CUES:
        for cue in pattern.finditer(plain):
            if any(start - MAX_GAP <= cue.end() and cue.start() <= end + 1 for start, end in taken):
                continue
            taken.append(cue.span())
            objects, places = _objects_before(plain[: cue.start()]) if is_before else _objects_after(plain[cue.end() :])
            if any(objects):
                conditions = frozenset(CONDITION.findall(plain))
                directions.append(Direction(allows, pattern in ADVICE, objects, places, conditions))
    return tuple(directions)


def direction_of(text: str) -> bool | None:
    """Whether a statement plainly permits (True) or plainly prohibits (False); None where it does neither, or both."""
    allowed = {direction.allows for direction in find_directions(text) if not direction.is_advice}
    return allowed.pop() if len(allowed) == 1 else None


def _objects_after(text: str) -> tuple[tuple[frozenset[str], ...], frozenset[str]]:
    ending = SCOPE_END.search(text)
    phrase, *places = PLACE.split(text[: ending.start()] if ending else text)
    listed = tuple(frozenset(_content(part)[:MAX_SCOPE]) for part in LISTED.split(phrase))
    return listed, frozenset(_content(" ".join(places))[:MAX_SCOPE])


def _objects_before(text: str) -> tuple[tuple[frozenset[str], ...], frozenset[str]]:
    sentence = re.split(r"[.;:!?()|]\s", text)[-1]
    return tuple(frozenset(_content(part)[-MAX_SCOPE:]) for part in LISTED.split(sentence)), frozenset()


def _content(text: str) -> list[str]:
    return [word for word in stems(text) if word not in NO_OBJECT]


def _sameness(question: ParsedQuestion, x: Direction, y: Direction, a: StatementReading, b: StatementReading) -> Sameness:
    """Whether two opposite directions are about one act and object.

    Their common words must include a word of the question that is not merely an act. A word of one object that is in neither
    the question nor the other statement may name another object: with one such word this is unclear, with two the objects
    differ. They also differ with two places (a lake, a pool) and with conditions of a prohibition, but not with a single place.
    """
    if (x.is_advice or y.is_advice) and not question.is_closed:
        return Sameness.DIFFERENT
    ours, others = (_asked_about(question, direction) for direction in (x, y))
    if not (ours & others & question.stems) - ACTS:
        return Sameness.DIFFERENT
    extra = max(len(ours - question.stems - b.stems - ACTS), len(others - question.stems - a.stems - ACTS))
    if extra > 1:
        return Sameness.DIFFERENT
    prohibition, permission = sorted((x, y), key=lambda direction: direction.allows)
    same_place = not x.places or not y.places or x.places & y.places
    # "Not for 6 weeks" is not a permanent prohibition: the permitted time is compared as an amount
    is_timed = any(quantity.dimension == DURATION for quantity in (a if prohibition is x else b).quantities)
    same_case = not is_timed and (not prohibition.conditions or prohibition.conditions == permission.conditions)
    return Sameness.SAME if extra == 0 and same_place and same_case else Sameness.UNCLEAR


def _asked_about(question: ParsedQuestion, direction: Direction) -> frozenset[str]:
    """The stems of those listed objects that the question names."""
    return frozenset[str]().union(*(listed for listed in direction.objects if (listed & question.stems) - ACTS))
