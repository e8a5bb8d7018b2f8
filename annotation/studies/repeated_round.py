"""A calibration round that failed, repeated with another sample, as the protocol asks (annotation/PROTOCOL.md, section 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import count

from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.results import assignment_rows
from annotation.label_store.seals import raters_of
from annotation.label_store.studies import ItemKind, Study, StudyState, find_study, list_annotators, list_studies
from annotation.schemes import PAIRS
from annotation.studies.calibration import calibration_of
from annotation.studies.earlier_studies import RatedPair, pairs_of_studies
from annotation.studies.registration import registration_of
from annotation.studies.rewordings import REWORDED
from annotation.studies.sample_plan import MAX_STUDY_ITEMS, SamplePlan
from annotation.studies.sampling import DrawnSample, draw_sample, draw_study
from annotation.studies.verdict_store import find_origin
from audit.store.runs import Run

REPEATS_ROUND_OF = "repeats_round_of"
"""In the sealed plan of a study: the study whose round it repeats."""
NOT_AGAIN = "Nothing was drawn. Draw a new study with another seed under *New study*."


def repeat_round(store: LabelStore, study_id: str, runs: Sequence[Run], now: datetime) -> str:
    """Draw a study like this one from another sample of its run, beginning with a calibration round; returns its id.

    The next seed draws it, without the pairs that its annotators have read in earlier rounds. The study whose round failed stays
    as it is, and nobody need go on with it.

    Raises StudyError where the study is not in a round of pairs below the threshold, was reworded, or its run is not loaded.
    """
    study, origin = find_study(store, study_id), find_origin(store, study_id)
    calibration = calibration_of(store, study_id)
    if study.state is not StudyState.CALIBRATION or calibration is None or calibration.met is not False:
        raise StudyError(f"Study '{study_id}' is not in a calibration round below the threshold. Nothing was drawn.")
    if study.scheme is not PAIRS or REWORDED in origin.plan:
        raise StudyError(
            f"Study '{study_id}' compares systems or was reworded, so it cannot be drawn again from here. {NOT_AGAIN}"
        )
    run = next((run for run in runs if run.digest == origin.digest), None)
    if run is None:
        raise StudyError(
            f"The run that study '{study_id}' was drawn from is not loaded. Load its release again. Nothing was drawn."
        )
    stored = {name: value for name, value in origin.plan.items() if name in SamplePlan.__dataclass_fields__}
    stored |= {name: tuple(stored[name]) for name in ("after", "masked_words") if name in stored}
    plan = SamplePlan(**{**stored, "seed": study.seed + 1, "registration": registration_of(origin.plan)})
    read = _read_in_rounds(store, study)

    def draw(store: LabelStore, run: Run, plan: SamplePlan, study_id: str, most: int | None) -> DrawnSample:
        return draw_sample(run, plan, study_id, most, [*pairs_of_studies(store, run, plan.after), *read])

    def present(drawn: DrawnSample) -> DrawnSample:
        return replace(drawn, origin=replace(drawn.origin, plan={**drawn.origin.plan, REPEATS_ROUND_OF: study_id}))

    new_id = _next_id(store, study_id)
    draw_study(
        store, run, plan, study_id=new_id, title=study.title, annotators=list_annotators(store, study_id), now=now,
        max_items=MAX_STUDY_ITEMS, ratings_per_item=study.ratings_per_item, raters=raters_of(store, study_id), draw=draw,
        present=present,
    )  # fmt: skip
    return new_id


def _read_in_rounds(store: LabelStore, study: Study) -> list[RatedPair]:
    """The calibration pairs of a study, and of those whose round it repeated."""
    earlier = find_origin(store, study.study_id).plan.get(REPEATS_ROUND_OF)
    rows = [row for row in assignment_rows(store, study.study_id) if row["kind"] == ItemKind.CALIBRATION]
    own = sorted({(row["question_id"], row["handbook_a"], row["handbook_b"]) for row in rows})
    return own + (_read_in_rounds(store, find_study(store, str(earlier))) if earlier else [])


def _next_id(store: LabelStore, study_id: str) -> str:
    """The id with the first number from 2 on that no study has."""
    taken, stem = {study.study_id for study in list_studies(store)}, study_id[:60]
    return next(name for number in count(2) if (name := f"{stem}-{number}") not in taken)
