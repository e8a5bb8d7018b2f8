"""The corrected shares in sentences of plain text: each figure with its interval, next to the judge's own figure."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from annotation.agreement.estimates import MIN_ITEMS
from annotation.agreement.sentences import item_noun, share_words
from annotation.agreement.tables import rater_name
from annotation.prevalence.estimates import (
    CORRECTED,
    DISAGREES,
    JUDGE_ALONE,
    CorrectedRate,
    can_tell_annotators_apart,
    true_labels,
)
from annotation.prevalence.planning import items_of_random_sample
from annotation.ratings.gold import ConfirmedCalls, confirmed_calls
from annotation.ratings.table import GOLD, Ratings
from annotation.schemes import PAIRS
from audit.charts.style import interval, percent
from audit.vocabulary import LABELS

AT_THE_EDGE = 0.1
"""Of the width of an interval: an estimate that is nearer to its lower end is said to lie there."""


def disagreement_sentence(shares: pd.DataFrame, source: str) -> str:
    """How many pairs of the run disagree, by people's labels and by the judge's; `source` names the people's.

    shares  as `annotation.prevalence.estimates.prevalence` returns them
    """
    corrected, judge = (
        shares[(shares["method"] == method) & (shares["label"] == DISAGREES)].iloc[0] for method in (CORRECTED, JUDGE_ALONE)
    )
    return (
        f"{percent(corrected['value'])} of all pairs of the run disagree (divergent or contradictory; 95 % interval "
        f"{interval(corrected['low'], corrected['high'])}), by {source} for {corrected['n']:,} {item_noun(corrected)}, "
        f"weighted to the run. The judge says {percent(judge['value'])}{_verdict(corrected, judge['value'])}."
    )


def rate_sentence(rate: CorrectedRate) -> str:
    """The disagreement rate among pairs in which both answers say something; "" where it is undefined."""
    if math.isnan(rate.value) or math.isnan(rate.judge):
        return ""
    return (
        f"Of the pairs in which both answers address the question, {percent(rate.value)} disagree (95 % interval "
        f"{interval(rate.low, rate.high)}); the judge says {percent(rate.judge)}."
    )


def edge_sentences(shares: pd.DataFrame) -> list[str]:
    """For each label with a corrected share near the lower end of its interval, why it is there.

    shares  as `annotation.prevalence.estimates.prevalence` returns them
    """
    corrected = shares[(shares["method"] == CORRECTED) & (shares["label"] != DISAGREES)]
    near = corrected[corrected["value"] - corrected["low"] < AT_THE_EDGE * (corrected["high"] - corrected["low"])]
    return [
        f"{row['label'].capitalize()}: the share is at the lower end of its interval. Hardly any rated pair that the judge "
        "labelled otherwise has this label, but only a part of these pairs was rated, so up to "
        f"{percent(row['high'], 2)} cannot be ruled out."
        for row in near.to_dict("records")
    ]


def saving_sentence(shares: pd.DataFrame, label: str = DISAGREES) -> str:
    """The gain from the judge's labels: the size of an equally precise random sample; "" if nothing is estimated.

    shares  as `annotation.prevalence.estimates.prevalence` returns them
    """
    row = shares[(shares["method"] == CORRECTED) & (shares["label"] == label)].iloc[0]
    half_width = (row["high"] - row["low"]) / 2
    if not (0 < row["value"] < 1 and 0 < half_width < 0.5):
        return ""
    needed = items_of_random_sample(row["value"], half_width)
    if needed < row["n"]:
        return (
            f"For this share ({label}), these {row['n']:,} items are as precise as about {needed:,} drawn at random from all "
            "pairs: too few of them are in the strata that hold most of the run."
        )
    return (
        f"A random sample of all pairs, drawn without the judge's labels, would need about {needed:,} items to be as precise as "
        f"these {row['n']:,} are for this share ({label})."
    )


def annotator_errors_sentence(ratings: Ratings) -> str:
    """How often each annotator seems to give the true label; "" with fewer than three ratings of an item."""
    if not can_tell_annotators_apart(ratings):
        return ""
    model = true_labels(ratings)
    shares = np.nanmean(model.probability, axis=0)
    right = [float(shares @ np.diag(confusion)) for confusion in model.confusion]
    names = (f"{rater_name(annotator)} {percent(share, 0)}" for annotator, share in zip(ratings.annotators, right, strict=True))
    listed = ", ".join(names)
    return f"By the model of Dawid and Skene, which weighs annotators by their errors, the true label is given by {listed}."


def shared_errors_sentence(errors: pd.DataFrame, wrong: float = 0.05) -> str:
    """The share of disagreement if annotators are wrong together on a share `wrong` of the items.

    errors  as `annotation.prevalence.shared_errors.shared_errors` returns them
    """
    row = errors[errors["wrong"] == wrong].iloc[0]
    return (
        f"If annotators are wrong together on {percent(wrong, 0)} of the items, and choose a label next to the right one, "
        f"{percent(row['value'])} of all pairs would disagree (95 % interval {interval(row['value_low'], row['value_high'])})."
    )


def least_confirmed_sentence(ratings: Ratings, by: str) -> str:
    """The label of which the fewest calls of the judge are confirmed; "" where no label has enough of them.

    A kappa above .9 is possible although one label is right only half of the time, so that label is named too.
    """
    human = by if by in ratings.annotators else GOLD
    calls = [(label, confirmed_calls(ratings, label, human)) for label in LABELS] if ratings.scheme is PAIRS else []
    known = [(label, call) for label, call in calls if call.rated >= MIN_ITEMS]
    if not known:
        return ""
    label, worst = min(known, key=lambda one: float(one[1].share.value))
    return f"Raters confirm it least often where it says {label.value.lower()}: {confirmed_words(worst)}."


def confirmed_words(calls: ConfirmedCalls, interval_name: str = "95 % interval ") -> str:
    """`25 of 40, divided on 5, which count in parts (69 %, 95 % interval 60 to 77 % of the run's 945)`."""
    divided = f", divided on {calls.divided:,}, which count in parts" if calls.divided else ""
    value, low, high = map(float, calls.share)
    share = share_words({"value": value, "low": low, "high": high}, interval_name)
    # The same count is known better where the run has fewer such pairs
    of_run = f" of the run's {calls.pairs:,.0f}" if math.isfinite(calls.pairs) and low < high else ""
    return f"{calls.confirmed:,} of {calls.rated:,}{divided} ({share}{of_run})"


def _verdict(corrected: pd.Series, judge: float) -> str:
    if judge > corrected["high"]:
        return ", more than the interval allows"
    return ", less than the interval allows" if judge < corrected["low"] else ", which the interval includes"
