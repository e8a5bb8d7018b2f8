"""What the validation tables of a study are made from, computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from annotation.agreement.floor import beside
from annotation.agreement.report import Report, agreement_report
from annotation.baseline import baseline_of_study
from annotation.label_store.engine import LabelStore
from annotation.label_store.studies import Study, find_study
from annotation.prevalence import prevalence
from annotation.ratings import GOLD, JUDGE, Ratings
from annotation.study_tables import repeats_table, study_ratings
from annotation.verdict_store import Origin, Stratum, origin_of, strata_of
from audit.charts.style import LABEL_WORDS

PEOPLE = {"majority": "the majority", GOLD: "gold", JUDGE: "the judge"}


@dataclass(frozen=True)
class Evidence:
    """A study with its draw, its report, the shares of the run and the judge beside the baseline judge."""

    study: Study
    origin: Origin
    strata: Sequence[Stratum]
    ratings: Ratings
    report: Report
    shares: pd.DataFrame
    rival: str
    beside: pd.DataFrame

    @property
    def n(self) -> str:
        """How many items stand behind the figures."""
        return f"{self.report.counts['items']:,} items of study {self.study.study_id}"


def evidence_of(store: LabelStore, study_id: str) -> Evidence:
    """Everything that a study says, as far as it is rated.

    Raises StudyError when there is no such study, AuditError while nothing is rated.
    """
    study, ratings = find_study(store, study_id), study_ratings(store, study_id)
    rival = baseline_of_study(store, study_id, ratings.items)
    return Evidence(
        study, origin_of(store, study_id), strata_of(store, study_id), ratings,
        agreement_report(ratings, repeats_table(store, study_id)), prevalence(ratings), rival.name, beside(ratings, rival),
    )  # fmt: skip


def seat(name: str) -> str:
    """A seat as a reader knows it: `annotator_a` is annotator A."""
    return PEOPLE.get(name) or (f"annotator {name[-1].upper()}" if name.startswith("annotator_") else name)


def worded(label: str) -> str:
    """A label in words."""
    return LABEL_WORDS.get(label, label)
