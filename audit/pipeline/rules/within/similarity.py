"""Whether two claims of a handbook are about the same thing, and whether they say the same about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from audit.pipeline.rules.labels.amounts import differ_in_value, kinds_of_temperature
from audit.pipeline.rules.labels.directions import ACTS, find_directions
from audit.pipeline.rules.within.claims import Claim
from audit.text.quantity import Quantity
from audit.text.tokens import stem
from audit.text.units import DAY, DURATION, MASS, TEMPERATURE, YEAR

# Share of the words, by weight, that two statements on one thing have in common, of all the words of both
MIN_SIMILARITY = 0.5
MIN_SHARED = 2


@dataclass(frozen=True)
class SharedAspect:
    """An aspect that handbooks state in so many ways that word similarity does not find it.

    low, high   its amounts are between these, in the base unit of the dimension
    words       the statement, its leads or its heading have one of these
    never       and none of these
    """

    name: str
    dimension: str
    low: float
    high: float
    words: frozenset[str]
    never: frozenset[str]


def _stems(words: str) -> frozenset[str]:
    return frozenset(map(stem, words.split()))


ASPECTS = (
    SharedAspect(
        "fever at which to call", TEMPERATURE, 37.2, 40.5, _stems("fever temperature temp"),
        _stems("normal average usual below under low grade store storage keep oven water bath refrigerator"),
    ),
    SharedAspect("weight that may be lifted", MASS, 0.4, 30.0, _stems("lift"), _stems("scale gain lose")),
    SharedAspect(
        "time without driving", DURATION, 5 * DAY, YEAR, _stems("drive driving"),
        _stems("sedation anesthesia biopsy catheter procedure seizure hour minute"),
    ),
    SharedAspect("how long leftovers keep", DURATION, DAY / 2, 10 * DAY, _stems("leftover"), _stems("freeze frozen room")),
)  # fmt: skip


def aspect_of(claim: Claim) -> SharedAspect | None:
    """The aspect that a claim is about, or None."""
    amount, words = claim.amount, claim.passage.stems | claim.passage.heading
    if amount is None:
        return None
    return next(
        (
            aspect
            for aspect in ASPECTS
            if amount.dimension == aspect.dimension
            and aspect.low <= amount.low <= amount.high <= aspect.high
            and words & aspect.words
            and not words & aspect.never
        ),
        None,
    )


def says_the_same(first: Claim, second: Claim) -> bool:
    """Whether a reader of one claim would do what a reader of the other does."""
    if first.amount is None or second.amount is None:
        return first.permits == second.permits
    return _same_amount(first.amount, second.amount)


def _same_amount(a: Quantity, b: Quantity) -> bool:
    return a.agrees(b) or not differ_in_value(a, b)


def similarity(first: Claim, second: Claim, weights: Mapping[str, float]) -> float:
    """The share of the words of both statements, by weight, that both have: 0 to 1."""
    a, b = first.passage.stems, second.passage.stems
    return _weight(a & b, weights) / (_weight(a | b, weights) or 1.0)


def _weight(stems: frozenset[str], weights: Mapping[str, float]) -> float:
    return sum(weights[name] for name in stems)


def on_one_thing(first: Claim, second: Claim, weights: Mapping[str, float]) -> bool:
    """Whether rules may take two claims of one kind to be about the same thing, in the same case. In doubt they do not."""
    return _same_case(first, second) and (_same_aspect(first, second) or _same_words(first, second, weights))


def _same_aspect(first: Claim, second: Claim) -> bool:
    aspect = aspect_of(first)
    return aspect is not None and aspect == aspect_of(second)


def _same_words(first: Claim, second: Claim, weights: Mapping[str, float]) -> bool:
    a, b = first.passage, second.passage
    if first.amount is not None and a.negated != b.negated:
        return False
    if len(a.stems & b.stems) < MIN_SHARED or similarity(first, second, weights) < MIN_SIMILARITY:
        return False
    if not _same_object(first, second):
        return False
    headings = first.passage.in_heading, second.passage.in_heading
    if not (_have_counterparts(*headings) and _have_counterparts(*reversed(headings))):
        return False
    # The subject may be named only in the heading: "Take it twice a day" below Tacrolimus and below Prednisone
    return a.heading <= (b.heading | b.stems) or b.heading <= (a.heading | a.stems)


def _same_object(first: Claim, second: Claim) -> bool:
    """Whether two temperatures are of the same kind (a body's, a shelf's), and two directions about one act and object."""
    a, b = first.passage.quoted, second.passage.quoted
    if first.amount and second.amount:
        return first.kind != TEMPERATURE or kinds_of_temperature(a, first.amount) == kinds_of_temperature(b, second.amount)
    return any((ours <= others or others <= ours) and (ours & others) - ACTS for ours in _objects(a) for others in _objects(b))


def _objects(text: str) -> list[frozenset[str]]:
    return [listed for direction in find_directions(text) for listed in direction.objects]


def _same_case(first: Claim, second: Claim) -> bool:
    bounds = {claim.amount.bound for claim in (first, second) if claim.amount}
    return (
        first.passage.cases == second.passage.cases
        and bounds != {"at least", "at most"}
        and _have_counterparts(first.other_amounts, second.other_amounts)
        and _have_counterparts(second.other_amounts, first.other_amounts)
    )


def _have_counterparts(amounts: tuple[Quantity, ...], others: tuple[Quantity, ...]) -> bool:
    return all(any(amount.comparable(other) and _same_amount(amount, other) for other in others) for amount in amounts)
