"""How often a judge errs, from rated pairs, from pairs read twice, or assumed: a few are drawn towards what is assumed.

Ratings measure how often the judge calls an agreement a disagreement. They do not measure how often two handbooks of different
positions are not called a disagreement: raters see two answers, and these may leave open what is disputed.

Without ratings, pairs that a second judge read too, or the judge itself once more, tell of errors as the model of Dawid and Skene
(1979, J. R. Stat. Soc. C 28) has it, with disagreeing or not as its two classes: readings err independently, given the truth. Two
readings alone do not identify its rates, so each has the assumed one as its prior; the estimate is the mode of the posterior.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from audit.stats.intervals import Floats
from audit.stats.latent_positions import JudgeErrors

RATED, SECOND, REPEATS, ASSUMED = "ratings of this run", "a second judge", "the judge asked again", "assumed"
ASSUMED_ERRORS = JudgeErrors(false=0.05, missed=0.15)
# The assumed rates count as much as this many rated pairs
ASSUMED_ITEMS = 20.0
LEAST_MORE = 0.001
"""Above the assumed rate, for what repeats show to be more than it."""


class MeasuredErrors(NamedTuple):
    """The errors with their standard errors, and where that of false alarms is from; that of missed ones is assumed.

    rated   pairs that both the judge and raters read, or that were read twice; 0 where both rates are assumed
    source  RATED, SECOND, REPEATS or ASSUMED
    """

    errors: JudgeErrors
    se_false: float
    se_missed: float
    rated: int
    source: str = RATED


def measured_errors(weight: Floats, disagreeing: Floats, called: Floats) -> MeasuredErrors:
    """The error rates by rated pairs in which both answer, each argument (pairs,).

    weight  pairs of the run that each stands for; disagreeing  share of its raters who say so; called  1 where the judge does
    """
    agreeing = weight * (1 - disagreeing)
    effective = agreeing.sum() ** 2 / (agreeing**2).sum() if agreeing.any() else 0.0
    measured = float((agreeing * called).sum() / agreeing.sum()) if effective else 0.0
    false = (effective * measured + ASSUMED_ITEMS * ASSUMED_ERRORS.false) / (effective + ASSUMED_ITEMS)
    return _with_false(float(false), _se(false, effective + ASSUMED_ITEMS), len(called), RATED if len(called) else ASSUMED)


def errors_by_two_readings(run: Floats, read: Floats, facts: float, source: str) -> MeasuredErrors:
    """The error rates by pairs that were read twice, in all of which both readings find two answers.

    run     (2,), pairs of the run that its judge calls an agreement, and a disagreement
    read    (2, 2), pairs read twice: by what the run's judge says, and by what the other reading says
    facts   how many independent ones a pair counts for, in (0, 1]: pairs of one question share their handbooks
    source  SECOND: the other reading has error rates of its own. REPEATS: it is the same judge's, whose errors may recur, so it
            shows least how often it errs: the assumed rate stays where it is higher
    """
    # scipy.optimize takes .2 s to import, and most runs have ratings
    from scipy.optimize import minimize

    first, twice = facts * run, facts * read
    rates = [ASSUMED_ERRORS.false, ASSUMED_ERRORS.missed] * (2 if source == SECOND else 1)
    found = minimize(_loss, logit([2 * ASSUMED_ERRORS.false, *rates]), (first, twice, np.array(rates)), method="BFGS")
    false = float(expit(found.x[1]))
    if not read.any() or (source == REPEATS and false <= ASSUMED_ERRORS.false + LEAST_MORE):
        return measured_errors(*np.zeros((3, 0)))
    se = np.sqrt(np.linalg.inv(_curvature(found.x, first, twice, np.array(rates)))[1, 1])
    return _with_false(false, float(se) * false * (1 - false), int(read.sum()), source)


def _loss(place: Floats, run: Floats, read: Floats, prior: Floats) -> float:
    """Minus the log posterior, `place` having the logits of the share of disagreements and of the error rates."""
    share, *rates = expit(place)
    apart, same = (np.array([[1 - rate, rate] for rate in each]) for each in (rates[1::2], rates[::2]))
    apart = apart[:, ::-1]  # a missed disagreement is called an agreement
    both = share * np.outer(apart[0], apart[-1]) + (1 - share) * np.outer(same[0], same[-1])
    own = both.sum(axis=1)
    # How many pairs the run's judge calls so is known of all; the other reading is of pairs chosen by that
    likelihood = run @ np.log(own) + (read * np.log(both / own[:, None])).sum()
    return -float(likelihood + ASSUMED_ITEMS * (prior * np.log(rates) + (1 - prior) * np.log1p(-np.array(rates))).sum())


def _curvature(place: Floats, *data: Floats) -> Floats:
    """The second derivatives of the loss."""
    steps = 1e-3 * np.eye(len(place))
    ends = [[_loss(place + i * a + j * b, *data) for i, j in ((1, 1), (1, -1), (-1, 1), (-1, -1))] for a in steps for b in steps]
    return (np.array(ends) @ [1, -1, -1, 1]).reshape(len(place), -1) / 4e-6


def _with_false(false: float, se: float, rated: int, source: str) -> MeasuredErrors:
    missed = ASSUMED_ERRORS.missed
    return MeasuredErrors(JudgeErrors(false, missed), se, _se(missed, ASSUMED_ITEMS), rated, source)


def _se(rate: float, items: float) -> float:
    return float(np.sqrt(rate * (1 - rate) / (items + 1)))
