"""The part that a study adds to an export: for pairs the validation of the judge, for a head-to-head study the preferences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext

import pandas as pd

from annotation.agreement.report import report_without_judge
from annotation.agreement.tables import FIGURES_TABLE, figures_by_scope, rater_name
from annotation.label_store.engine import LabelStore
from annotation.label_store.studies import Study, find_study
from annotation.schemes import HEAD_TO_HEAD
from annotation.studies.preference_results import (
    COUPLES_TABLE,
    STRENGTHS_TABLE,
    comparisons_of,
    couples_frame,
    side_sentence,
    strengths_frame,
    system_names,
)
from annotation.studies.study_tables import TYPES_TABLE, repeats_table, strata_frame, study_ratings
from annotation.studies.validation import provisional_note, study_facts, validation_part
from annotation.studies.verdict_store import find_origin, list_strata, sample_digest
from audit.exports.catalogue import Chapter
from audit.exports.package_request import StudyPart
from audit.exports.table_model import Table
from audit.store.connection import Connection, open_store
from audit.store.runs import Run
from audit.tables import TableSpec

TITLE = "Systems compared head-to-head by raters"
AGREEMENT_TITLE = "Agreement of annotators on the better answer"
AGREEMENT_NOTE = "Kappa without weights, because the choices have no order; choices are compared as systems, not as sides."


def study_part(store: LabelStore, study_id: str, runs: Sequence[Run] = ()) -> StudyPart:
    """The tables and figures of a study in its current state, and facts about it.

    `runs`: the loaded runs. The one that the study was drawn from gives organ, topic and phase of its items; without it these
    groups are left out.

    Raises StudyError when there is no such study or it was not drawn from a run, AuditError while nothing is rated.
    """
    study = find_study(store, study_id)
    if study.scheme is HEAD_TO_HEAD:
        return head_to_head_part(store, study)
    with opened_run(store, study_id, runs) as con:
        return validation_part(store, study_id, con)


@contextmanager
def opened_run(store: LabelStore, study_id: str, runs: Sequence[Run]) -> Iterator[Connection | None]:
    """A connection to the run that a study was drawn from; None where it is not among `runs`."""
    digest = sample_digest(store, study_id)
    run = next((run for run in runs if run.digest == digest), None)
    with open_store(run.path) if run else nullcontext() as con:
        yield con


def head_to_head_part(store: LabelStore, study: Study) -> StudyPart:
    """The tables, figures and facts of a head-to-head study."""
    origin, ratings = find_origin(store, study.study_id), study_ratings(store, study.study_id)
    figures = report_without_judge(ratings, repeats_table(store, study.study_id)).figures
    agreement = figures_by_scope(figures[figures["name"] != "prevalence"])
    who = [
        f"{rater_name(a)} and {rater_name(b)}" if b else a for a, b in zip(agreement["first"], agreement["second"], strict=True)
    ]
    comparisons, names = comparisons_of(store, study.study_id), system_names(store, study.study_id)
    n = f"{len(ratings.items):,} items of study {study.study_id}"

    def table(name: str, spec: TableSpec, frame: pd.DataFrame, *notes: str) -> Table:
        written = Table(name, spec.title, frame, spec.columns, notes, n, population=spec.population)
        return written.noted(provisional_note(study))

    tables = [
        table("study_sample", TYPES_TABLE, strata_frame(list_strata(store, study.study_id)), *TYPES_TABLE.notes),
        Table(
            "study_agreement", AGREEMENT_TITLE, agreement.assign(who=who),
            FIGURES_TABLE.named("who", "figure", "n", "sample", "word", "note"), (AGREEMENT_NOTE,), n,
            population=FIGURES_TABLE.population,
        ).noted(provisional_note(study)),
        table("study_preferences", COUPLES_TABLE, couples_frame(comparisons, names), *COUPLES_TABLE.notes),
        table("study_strengths", STRENGTHS_TABLE, strengths_frame(comparisons, names), side_sentence(comparisons)),
    ]  # fmt: skip
    return StudyPart(study.study_id, origin.digest, Chapter(TITLE, tables, []), {}, study_facts(store, study, origin))
