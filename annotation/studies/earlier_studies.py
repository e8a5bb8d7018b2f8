"""Studies of one run as one larger study: a further study leaves out the pairs of earlier ones, and their ratings are pooled.

A study cannot change once it is drawn, so it is made larger by another one. Pairs drawn at random from what an earlier random
sample left are, together with it, a random sample again; so the pooled items of a stratum represent all its pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pandas as pd

from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.results import assignment_rows
from annotation.label_store.studies import Study, find_study, is_complete, list_studies
from annotation.ratings.table import Ratings, ratings_from
from annotation.schemes import PAIRS
from annotation.studies.study_tables import labels_table, study_ratings
from annotation.studies.verdict_store import find_origin, list_strata, sample_digest
from audit.store.runs import Run

RatedPair = tuple[str, str, str]
"""(question id, one handbook, the other), the handbooks in the order of the run."""
PAIR = ["question_id", "handbook_a", "handbook_b"]


def pairs_of_studies(store: LabelStore, run: Run, study_ids: Sequence[str]) -> list[RatedPair]:
    """The pairs of these studies of a run, those of calibration rounds included, because annotators have read them.

    Raises StudyError for a study that does not exist, compares systems, or was drawn from another run.
    """
    for study_id in study_ids:
        if find_study(store, study_id).scheme is not PAIRS or sample_digest(store, study_id) != run.digest:
            raise StudyError(
                f"Study '{study_id}' was not drawn from the pairs of run {run.key}, so it has none that could be left out. "
                "Nothing was drawn. Name studies of pairs of this run."
            )
    rows = (row for study_id in study_ids for row in assignment_rows(store, study_id))
    return sorted({(row["question_id"], row["handbook_a"], row["handbook_b"]) for row in rows})


def items_of_studies(store: LabelStore, study_ids: Sequence[str]) -> Counter[str]:
    """How many study items these studies have together, by the judge's label."""
    items: Counter[str] = Counter()
    for study_id in study_ids:
        for stratum in list_strata(store, study_id):
            items[stratum.label] += stratum.sampled
    return items


def poolable(store: LabelStore, study: Study) -> list[str]:
    """The other studies whose ratings can be pooled with those of a study: of pairs of the same run, divided alike."""
    if sample_digest(store, study.study_id) is None:
        return []
    others = (other.study_id for other in list_studies(store) if other.scheme is PAIRS and other.study_id != study.study_id)
    return [other for other in others if not _why_not(store, study.study_id, other)]


def pooled_ratings(store: LabelStore, study_ids: Sequence[str]) -> Ratings:
    """The ratings of several studies of one run as those of one sample; a pair that several have counts once, as in the first.

    Annotators keep their seats: annotator A of one study may be another person than annotator A of the next.
    Raises StudyError for studies that cannot be pooled, and as `study_ratings`.
    """
    first, *others = dict.fromkeys(study_ids)
    if not others:
        return study_ratings(store, first)
    for other in others:
        if why := _why_not(store, first, other):
            raise StudyError(f"Studies '{first}' and '{other}' cannot be pooled: {why}. Nothing was computed.")
    tables = pd.concat([labels_table(store, study_id) for study_id in (first, *others)], ignore_index=True)
    pairs = {stratum.stratum: float(stratum.population) for stratum in list_strata(store, first)}
    pooled = ratings_from(tables.drop_duplicates(PAIR), f"Studies {', '.join((first, *others))}", pairs)
    complete = all(is_complete(store, find_study(store, study_id)) for study_id in (first, *others))
    return pooled if complete else pooled.as_live()


def _why_not(store: LabelStore, one: str, other: str) -> str:
    """Why two studies cannot be pooled; "" if they can."""
    if find_study(store, other).scheme is not PAIRS or find_study(store, one).scheme is not PAIRS:
        return "one of them compares systems"
    if sample_digest(store, one) is None or sample_digest(store, one) != sample_digest(store, other):
        return "they were not drawn from the same run"
    plans = [find_origin(store, study_id).plan for study_id in (one, other)]
    if bool(plans[0].get("design_for")) != bool(plans[1].get("design_for")):
        return "pre-screened pairs are a stratum of their own in one of them only"
    if bool(plans[0].get("first_in_line")) != bool(plans[1].get("first_in_line")):
        return "pairs that are first in line are strata of their own in one of them only"
    return "" if plans[0].get("second") == plans[1].get("second") else "one of them is divided by organ and the other is not"
