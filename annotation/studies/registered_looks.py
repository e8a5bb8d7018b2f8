"""Looks at the primary figure that were registered before the study: a verdict before its end, paid for with a part of the error.

A look is taken when an investigator first opens the figures after the registered share of items is rated. It enters the ledger
with what it showed, so it is taken once; what it spent is missing at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime

from annotation.agreement.comparisons import comparisons
from annotation.agreement.estimates import Estimate, estimate_measure
from annotation.agreement.measures import classifier_measures, two_rater_measures
from annotation.agreement.report import AgreementReport
from annotation.label_store.engine import LabelStore
from annotation.label_store.ledger import lock_study_head
from annotation.label_store.schema import study_events
from annotation.label_store.seals import REGISTERED_LOOK, events_of, record_study_event
from annotation.ratings.table import Ratings
from annotation.studies.registration import PRIMARY_FIGURES, Registration, outcome_sentence, primary_of, verdict_words
from audit.charts.style import coefficient, coefficient_interval
from audit.formatting import fixed
from audit.stats.spending import ERROR, spent, width_at


@dataclass(frozen=True)
class TakenLook:
    """A look that was taken: the items with a figure then, of so many planned; the error that it spent; what it showed."""

    items: int
    of: int
    error: float
    value: float
    low: float
    high: float

    def sentence(self, at_least: float) -> str:
        """What was seen, in words."""
        return (
            f"At the registered look with {self.items:,} of {self.of:,} items it was {figure_words(self, self.error)}: the "
            f"threshold was {'' if self.low >= at_least else 'not yet '}reached."
        )


def figure_words(found: TakenLook | Estimate, error: float) -> str:
    """The value and its interval, with the level of this."""
    level = f"{fixed(100 * (1 - error), 2)} % interval"
    return f"{coefficient(found.value, 2)} ({level} {coefficient_interval(found.low, found.high, 2)})"


def looks_taken(store: LabelStore, study_id: str) -> list[TakenLook]:
    """The registered looks that were taken, in order."""
    with store.read() as con:
        return [TakenLook(**body) for body in events_of(con, study_id, REGISTERED_LOOK)]


def take_look(store: LabelStore, study_id: str, registration: Registration, ratings: Ratings, now: datetime) -> list[TakenLook]:
    """The registered looks that were taken, with one more if it is due: `ratings` are those of a study under way."""
    taken = looks_taken(store, study_id)
    if not ratings.live or (look := due_look(registration, ratings, taken)) is None:
        return taken
    with store.begin() as tx:
        lock_study_head(tx, study_events, study_id)
        if len(events_of(tx, study_id, REGISTERED_LOOK)) == len(taken):  # two tabs refresh at once
            record_study_event(tx, study_id, REGISTERED_LOOK, asdict(look), now)
    return looks_taken(store, study_id)


def outcome_with_looks(registration: Registration, report: AgreementReport, ratings: Ratings, taken: Sequence[TakenLook]) -> str:
    """As `outcome_sentence`, with what the looks showed; at the end the interval has the error that they left."""
    seen = " ".join(look.sentence(registration.at_least) for look in taken)
    if ratings.live or not taken:
        return f"{outcome_sentence(registration, report, ratings)} {seen}".strip()
    error = ERROR - sum(look.error for look in taken)
    found = primary_at(registration, ratings, error)
    verdict = verdict_words(registration, found.value, found.low)
    return (
        f"{seen} At the end the primary figure, the {PRIMARY_FIGURES[registration.primary]}, is {figure_words(found, error)}, "
        f"{found.n:,} items, with what the looks left of the error: {verdict}."
    )


def due_look(registration: Registration, ratings: Ratings, taken: Sequence[TakenLook]) -> TakenLook | None:
    """The look that is due now; None where none is."""
    before = taken[-1].items / taken[-1].of if taken else 0.0
    of, items = len(ratings.items), primary_at(registration, ratings, ERROR).n
    if not any(before < share <= items / of for share in registration.looks):
        return None
    error = spent(items / of) - sum(look.error for look in taken)
    found = primary_at(registration, ratings, error)
    return TakenLook(items, of, error, found.value, found.low, found.high)


def primary_at(registration: Registration, ratings: Ratings, error: float) -> Estimate:
    """The primary figure with an interval that misses with this probability, for one look."""
    first, second, name = primary_of(registration, ratings)
    own = next(one for one in comparisons(ratings) if (one.about, one.first, one.second) == ("label", first, second))
    measures = (*two_rater_measures(len(own.order), own.ordered), *classifier_measures(len(own.order)))
    measure = next(one for one in measures if one.name == name)
    return estimate_measure(measure, replace(own.table(), live=False, factor=width_at(error)))
