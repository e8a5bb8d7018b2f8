"""Methods and results of a study as paragraphs for a paper, every number taken from the tables of the same export."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import pandas as pd

from annotation.agreement.report import AgreementReport
from annotation.agreement.sentences import (
    capitalised,
    judge_sentence,
    people_sentence,
    same_of,
    share_words,
    together_sentence,
    weighted_sentence,
)
from annotation.agreement.tables import LABEL
from annotation.label_store.studies import Study
from annotation.prevalence.headline import CorrectedRate
from annotation.prevalence.sentences import disagreement_sentence, rate_sentence, shared_errors_sentence
from annotation.prevalence.shared_errors import shared_errors
from annotation.ratings.gold import GOLD_RULE, WITHOUT_GOLD, gold_standard
from annotation.ratings.table import Ratings
from annotation.studies.calibration import Calibration
from annotation.studies.flow import StudyFlow
from annotation.studies.verdict_store import SampleOrigin, Stratum

BLINDED = (
    "The annotators did not see the judge's labels, each other's labels, or which handbooks the answers came from; the order of "
    "items and the sides of the two answers were randomised for each annotator."
)
INTERVALS = (
    "Intervals are 95 % (Wilson's on the scale of each figure, with the number of trials from its delta-method standard error; "
    "for corrected shares, Jeffreys' within strata, combined with their exactly known sizes)."
)
NOT_FINAL = "The study is in the state {state}: these figures are not final."


def methods_paragraph(
    study: Study,
    origin: SampleOrigin,
    strata: Sequence[Stratum],
    flow: StudyFlow,
    ratings: Ratings,
    calibration: Calibration | None,
) -> str:
    """How the sample was drawn, rated and adjudicated."""
    sampled = ", ".join(f"{s.sampled:,} of {s.population:,} {s.stratum.lower()}" for s in strata)
    labels = ", ".join(map(LABEL.display, ratings.scheme.words))
    sentences = [
        f"{flow.drawn:,} pairs were drawn from the {sum(s.population for s in strata):,} pairs of run {origin.run_key} that have "
        f"a verdict of the judge, at random and without replacement inside strata by its label ({sampled}).",
        f"Each was labelled by {study.ratings_per_item} annotators with the labels of the rubric ({labels}).",
        BLINDED,
        *_outside_the_sample(flow, calibration),
        f"{GOLD_RULE} {WITHOUT_GOLD}" if flow.disputed or flow.rated_once else GOLD_RULE,
        INTERVALS,
    ]
    state = study.state.value
    return " ".join([*sentences, *([] if state == "closed" else [NOT_FINAL.format(state=state)])])


def _outside_the_sample(flow: StudyFlow, calibration: Calibration | None) -> list[str]:
    agreed = f" {calibration.sentence()}" if calibration else ""
    round_before = (
        f"Before the study the annotators labelled {flow.calibration:,} calibration items, which enter no figure.{agreed}"
    )
    repeats = f"{flow.repeats:,} items were shown a second time without notice, to measure intra-rater agreement."
    return [*([round_before] if flow.calibration else []), *([repeats] if flow.repeats else [])]


def results_paragraph(
    report: AgreementReport, ratings: Ratings, by: str, rate: CorrectedRate, shares: pd.DataFrame, flow: StudyFlow
) -> str:
    """Results: flow, inter-rater and intra-rater agreement, agreement of the judge with people, the corrected shares."""
    sentences = [
        flow.sentence(),
        together_sentence(report), *(people_sentence(report, *pair) for pair in combinations(ratings.annotators, 2)),
        *_retest(report), judge_sentence(report, by), weighted_sentence(report, by),
        disagreement_sentence(shares, "the gold labels"), rate_sentence(rate),
        shared_errors_sentence(shared_errors(ratings)), _open(ratings),
    ]  # fmt: skip
    return " ".join(filter(None, sentences))


def _retest(report: AgreementReport) -> list[str]:
    rows = report.retest[report.retest["name"] == "agreement"].to_dict("records") if len(report.retest) else []
    return [
        f"Shown an item again, {row['annotator']} gave the same label to {same_of(row)} ({share_words(row)})."
        for row in rows
        if row["n"]
    ]


def _open(ratings: Ratings) -> str:
    left = gold_standard(ratings).left_open()
    return f"{capitalised(left)}." if left else ""
