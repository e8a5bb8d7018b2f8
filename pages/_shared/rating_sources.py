"""Who has rated pairs of a run, and the disagreement rate corrected by their labels: what *Trust in the judge* is made from.

`headline_pair` is for other pages: the judge's figure, and beside it the corrected one. Nothing of this is for annotators: their
session has no pages about runs, and a person who rates in an open study of the run gets no ratings here either.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import streamlit as st

from annotation.agreement.report import AgreementReport, agreement_report
from annotation.label_store.seals import raters_of
from annotation.label_store.studies import Study, StudyState, list_studies
from annotation.prevalence.estimates import CorrectedRate, corrected_disagreement, total_interval
from annotation.ratings.design import MISSING
from annotation.ratings.table import Ratings, ratings_from
from annotation.schemes import PAIRS
from annotation.studies.accounts import Account, Role
from annotation.studies.verdict_store import sample_digest
from audit.errors import AuditError
from audit.metrics.questions import organs
from audit.queries.human_ratings import human_ratings
from audit.queries.pair_counts import ALL_HANDBOOKS
from audit.store.runs import Run
from audit.vocabulary import Raters, stated_raters
from pages._blinded.access import current_account, database_exists, label_store
from pages._shared.loaders import load
from pages._shared.study_figures import current_ratings, current_report, judge_is_known

RELEASE_TITLE = "Ratings that the release brings"
RATERS_UNKNOWN = "who the raters are is not stated"


@dataclass(frozen=True)
class RatingSource:
    """Ratings of pairs of a run, as plain text and numbers.

    study_id  "" for ratings that the release brings
    title   the study's, or that of the ratings in the release
    raters  who they are, in words that end in a full stop
    kind    what they are: no sentence calls raters of another kind people
    final   a study that is closed, or ratings in a release: they change no more
    """

    title: str
    raters: str
    final: bool
    ratings: Ratings
    report: AgreementReport
    study_id: str = ""
    kind: Raters = Raters.UNKNOWN

    @property
    def rated(self) -> int:
        """Items with a label by at least one rater."""
        labels = [self.ratings.labels[rater] != MISSING for rater in self.ratings.annotators]
        return int(sum(labels).astype(bool).sum())


@dataclass(frozen=True)
class HeadlinePair:
    """The disagreement rate (R_div) by the judge and corrected by ratings, and whose ratings: see `CorrectedRate`.

    low, high  95 % interval of the corrected rate for other questions and other handbooks; NaN where it is not known
    """

    rate: CorrectedRate
    low: float
    high: float
    source: str
    final: bool
    kind: Raters


def headline_pair(run: Run) -> HeadlinePair | None:
    """The judge's disagreement rate next to the corrected one; None where nobody has rated pairs of the run, or not by design."""
    for source in rating_sources(run):
        rate = corrected_rate(source)
        if rate is not None and not math.isnan(rate.value):
            whole = load(organs, run, scope=ALL_HANDBOOKS).iloc[-1]
            ends = total_interval(rate, (whole["r_div_low"], whole["r_div_high"]))
            return HeadlinePair(rate, *ends, source.title, source.final, source.kind)
    return None


def corrected_rate(source: RatingSource) -> CorrectedRate | None:
    """The corrected disagreement rate; None where it is unknown how the rated pairs were drawn."""
    return None if source.ratings.design is None else corrected_disagreement(source.ratings)


def rating_sources(run: Run) -> list[RatingSource]:
    """All ratings of pairs of the run that this visitor may see: final ones first, then those with most items."""
    account = current_account()
    if rates_in_open_study(account, run):
        return []
    sources = [*_studies_of(run, account), *_of_release(run)]
    return sorted((source for source in sources if source.rated), key=lambda source: (not source.final, -source.rated))


def first_source(run: Run) -> RatingSource | None:
    """The ratings that a page shows where it shows one; None where nobody has rated, or this visitor may see none."""
    return next(iter(rating_sources(run)), None)


def rates_in_open_study(account: Account | None, run: Run) -> bool:
    """Whether an account rates in a study of this run that is not closed, and so must not see the judge's labels."""
    if account is None or not database_exists():
        return False
    own = list_studies(label_store(), account.username)
    return any(study.state is not StudyState.CLOSED and _is_of(study, run) for study in own)


def _is_of(study: Study, run: Run) -> bool:
    return sample_digest(label_store(), study.study_id) == run.digest


def _studies_of(run: Run, account: Account | None) -> Iterator[RatingSource]:
    if not database_exists():  # opening a database creates its file, which a visit must not do
        return
    sees_all = account is not None and account.role is Role.PI
    for study in list_studies(label_store()):
        if study.scheme is PAIRS and _is_of(study, run) and (sees_all or judge_is_known(study)):
            source = _study_source(study)
            if source is not None:
                yield source


def _study_source(study: Study) -> RatingSource | None:
    try:
        ratings, report = current_ratings(study.study_id), current_report(study.study_id)
    except AuditError:  # a study that was only just drawn has no items that count yet, which is not a fault
        return None
    kind, final = raters_of(label_store(), study.study_id), study.state is StudyState.CLOSED
    who = f"{len(ratings.annotators)} annotators ({RATERS_UNKNOWN if kind is Raters.UNKNOWN else kind.words})"
    raters = f"{who}, blinded to the judge and to each other."
    return RatingSource(f"Study “{study.title}”", raters, final, ratings, report, study.study_id, kind)


def _of_release(run: Run) -> Iterator[RatingSource]:
    if run.ratings_digest:
        ratings, report = _release_report(run.digest, run.ratings_digest, run.loaded_at, _run=run)
        kind = stated_raters(run.manifest.get("raters_are"))
        stated = str(run.manifest.get("raters") or "").strip()
        known = f"{stated} ({kind.words})" if stated and kind is not Raters.UNKNOWN else stated
        raters = known or (RATERS_UNKNOWN if kind is Raters.UNKNOWN else kind.words)
        yield RatingSource(RELEASE_TITLE, f"{raters}.", True, ratings, report, kind=kind)


@st.cache_data(show_spinner=False, max_entries=8)
def _release_report(digest: str, rated: str, loaded_at: str, *, _run: Run) -> tuple[Ratings, AgreementReport]:
    ratings = ratings_from(load(human_ratings, _run), f"The ratings of run {_run.key}")
    return ratings, agreement_report(ratings)
