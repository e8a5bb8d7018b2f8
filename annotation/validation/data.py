"""The data behind a study's validation tables and figures, computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from annotation.agreement.baseline_comparison import compare_with_baseline
from annotation.agreement.report import AgreementReport, agreement_report
from annotation.label_store.engine import LabelStore
from annotation.label_store.studies import Study, find_study
from annotation.prevalence.estimates import prevalence
from annotation.ratings.table import GOLD, JUDGE, Ratings
from annotation.studies.baseline_judge import baseline_of_study
from annotation.studies.study_tables import repeats_table, study_ratings
from annotation.studies.verdict_store import SampleOrigin, Stratum, find_origin, list_strata
from audit.charts.style import LABEL_WORDS

RATER_NAMES = {"majority": "the majority", GOLD: "gold", JUDGE: "the judge"}


@dataclass(frozen=True)
class ValidationData:
    """A study, its sample, its agreement report, the shares of the run, and the judge compared with the baseline judge.

    shares    as `annotation.prevalence.prevalence` returns them
    baseline  name of the baseline judge
    compared  the judge compared with it, as `annotation.agreement` returns it
    """

    study: Study
    origin: SampleOrigin
    strata: Sequence[Stratum]
    ratings: Ratings
    report: AgreementReport
    shares: pd.DataFrame
    baseline: str
    compared: pd.DataFrame

    @property
    def n(self) -> str:
        """The number of items behind the figures, in words."""
        return f"{self.report.counts['items']:,} items of study {self.study.study_id}"


def validation_data(store: LabelStore, study_id: str) -> ValidationData:
    """The data of a study, as far as it is rated.

    Raises StudyError when there is no such study, AuditError while nothing is rated.
    """
    study, ratings = find_study(store, study_id), study_ratings(store, study_id)
    baseline = baseline_of_study(store, study_id, ratings.items)
    return ValidationData(
        study, find_origin(store, study_id), list_strata(store, study_id), ratings,
        agreement_report(ratings, repeats_table(store, study_id)), prevalence(ratings), baseline.name,
        compare_with_baseline(ratings, baseline),
    )  # fmt: skip


def rater_name(name: str) -> str:
    """A rater in words: `annotator_a` is annotator A."""
    return RATER_NAMES.get(name) or (f"annotator {name[-1].upper()}" if name.startswith("annotator_") else name)


def label_word(label: str) -> str:
    """A label in words."""
    return LABEL_WORDS.get(label, label)
