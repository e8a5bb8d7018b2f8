"""The validation of the judge by a study: the part that it adds to an export."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from annotation.agreement.baseline_comparison import SEED
from annotation.agreement.comparisons import SAMPLE, significance_by_all
from annotation.agreement.report import ALL_ANNOTATORS
from annotation.label_store.engine import LabelStore
from annotation.label_store.studies import Study
from annotation.prevalence.headline import corrected_disagreement
from annotation.ratings.design import MISSING
from annotation.ratings.gold import MAJORITY
from annotation.ratings.table import JUDGE
from annotation.studies.flow import by_annotator_letter
from annotation.studies.group_tables import GROUP_TABLES
from annotation.studies.paper_text import methods_paragraph, results_paragraph
from annotation.studies.registered_outcome import outcome_sentence
from annotation.studies.registration import registration_of
from annotation.studies.study_plan import study_plan_table
from annotation.studies.validation_figures import study_pictures
from annotation.studies.validation_tables import TABLES, ValidationData, gold_tables, matrix_tables, validation_data
from annotation.studies.verdict_store import SampleOrigin
from annotation.studies.verification import heads_record
from audit.exports.catalogue import Chapter
from audit.exports.package_request import StudyPart
from audit.exports.published.comparison import RunFigure
from audit.store.connection import Connection
from audit.vocabulary import LABELS, Label

PAIR = 2
TITLE = "Validation of the judge by people"
PUBLISHED_AGREEMENT = {"agreement": "study.agreement", "kappa": "study.kappa"}
PUBLISHED_JUDGE = {name: f"study.judge.{name}" for name in ("accuracy", "kappa", "f1_weighted", "f1_macro")}


def validation_part(store: LabelStore, study_id: str, con: Connection | None = None) -> StudyPart:
    """The validation tables and figures of a study in its current state, and facts about it; `con` as `validation_data`.

    Raises StudyError when there is no such study or it was not drawn from a run, AuditError while nothing is rated.
    """
    data = validation_data(store, study_id, con)
    note = provisional_note(data.study)
    tables = [make(data).noted(note) for make in TABLES]
    # The matrices follow the errors that they count.
    groups = (make(data) for make in (*GROUP_TABLES, study_plan_table))
    tables[6:6] = [table.noted(note) for table in (*groups, *gold_tables(data), *matrix_tables(data))]
    facts = {**study_facts(store, data.study, data.origin), "seed_of_baseline_bootstrap": SEED}
    paragraphs = {"Methods": methods(data), "Results": results(data)}
    pictures = list(study_pictures(data.report, data.shares, data.reference))
    chapter = Chapter(TITLE, tables, pictures, paragraphs=paragraphs)
    return StudyPart(study_id, data.origin.digest, chapter, _published_figures(data), facts)


def methods(data: ValidationData) -> str:
    """A paragraph on how the sample was drawn, rated and adjudicated."""
    paragraph = methods_paragraph(data.study, data.origin, data.strata, data.flow, data.ratings, data.calibration)
    return paragraph + _registered(data)


def _registered(data: ValidationData) -> str:
    registration = registration_of(data.origin.plan)
    return f" {registration.sentence(data.study.created_at)}" if registration else ""


def _outcome(data: ValidationData) -> str:
    registration = registration_of(data.origin.plan)
    return f" {outcome_sentence(registration, data.report, data.ratings)}" if registration else ""


def results(data: ValidationData) -> str:
    """A paragraph on the results."""
    rate = corrected_disagreement(data.ratings)
    report = replace(data.report, retest=by_annotator_letter(data.report.retest, data.rows))  # no name of an account in a package
    return results_paragraph(report, data.ratings, data.reference, rate, data.shares, data.flow) + _outcome(data)


def study_facts(store: LabelStore, study: Study, origin: SampleOrigin) -> dict[str, object]:
    """Facts about a study for the manifest of an export: its plan, its state, and the ends of its ledgers."""
    return {
        "title": study.title, "state": study.state.value, "scheme": study.scheme.name, "run": origin.run_key,
        "plan": dict(origin.plan), "seed_of_order": study.seed, "ledgers": heads_record(store, study.study_id),
    }  # fmt: skip


def provisional_note(study: Study) -> str:
    """The note on tables of a study that is not closed; "" if it is closed."""
    state = study.state.value
    return "" if state == "closed" else f"The study is in the state {state}: its figures are not final."


def _published_figures(data: ValidationData) -> dict[str, RunFigure | str]:
    """The figures of the study that are also published, by name."""
    counts = data.report.counts
    labels = np.array([data.ratings.labels[rater] for rater in data.ratings.annotators])
    # With more annotators than two, those on which all of them agree
    agreed = int(((labels[0] != MISSING) & (labels == labels[0]).all(axis=0)).sum())
    first, second = data.ratings.annotators if len(labels) == PAIR else (ALL_ANNOTATORS, "")
    figures: dict[str, RunFigure | str] = {
        "study.items": RunFigure(float(counts["items"])), "study.agreed": RunFigure(float(agreed)),
    }  # fmt: skip
    figures |= {key: _figure_of(data, first, second, name) for name, key in PUBLISHED_AGREEMENT.items()}
    figures |= {key: _figure_of(data, MAJORITY, JUDGE, name) for name, key in PUBLISHED_JUDGE.items()}
    figures |= {f"study.f1.{label.value}": _figure_of(data, MAJORITY, JUDGE, "f1", label.value) for label in LABELS}
    graded = next(iter(significance_by_all(data.ratings).values()), np.array([]))
    figures["study.significance.items"] = RunFigure(float(np.count_nonzero(graded != MISSING)))
    # The paper prints one figure and does not say of whom
    figures["study.significance.kappa"] = "Each annotator has a figure of its own, in the tables of the study."
    return figures | _error_counts(data)


def _figure_of(data: ValidationData, first: str, second: str, name: str, label: str = "") -> RunFigure | str:
    rows = data.report.figures
    wanted = {"about": "label", "first": first, "second": second, "scope": SAMPLE, "name": name, "label": label}
    for column, value in wanted.items():
        rows = rows[rows[column] == value]
    (row,) = rows.to_dict("records")
    return str(row["note"]) if row["note"].startswith("undefined") else RunFigure(row["value"], row["low"], row["high"])


def _error_counts(data: ValidationData) -> dict[str, RunFigure | str]:
    errors = data.report.errors
    own = errors[errors["by"] == MAJORITY]
    kinds = {(right, judged): n for right, judged, n in own[["right", "judged", "n"]].itertuples(index=False, name=None)}
    own_label = Label.COMPLEMENTARY
    neighbours = LABELS[own_label.code + 1], LABELS[own_label.code - 1]
    on_boundary = {f"study.errors.{own_label}.{to}": kinds.get((own_label, to), 0) for to in neighbours}
    boundary = sum(n for kind, n in kinds.items() if Label.COMPLEMENTARY in kind)
    totals = {"study.errors": own["n"].sum(), "study.errors.boundary": boundary}
    return {name: RunFigure(float(n)) for name, n in {**totals, **on_boundary}.items()}
