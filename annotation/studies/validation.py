"""The validation of the judge by a study: its data, computed once, its tables and figures, and the part it adds to an export."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from annotation.agreement.baseline_comparison import SEED, compare_with_baseline
from annotation.agreement.comparisons import POPULATION, SAMPLE, significance_by_all
from annotation.agreement.report import AgreementReport, agreement_report
from annotation.agreement.tables import (
    BASELINE_TABLE,
    BY_LABEL_TABLE,
    ERRORS_TABLE,
    FIGURES_TABLE,
    LABEL,
    SIGNIFICANCE_TABLE,
    by_scope,
    rater_name,
)
from annotation.label_store.engine import LabelStore
from annotation.label_store.studies import Study, find_study
from annotation.prevalence.estimates import CORRECTED_TABLE, by_label, prevalence
from annotation.ratings.gold import MAJORITY
from annotation.ratings.table import GOLD, JUDGE, MISSING, Ratings
from annotation.studies.baseline_judge import baseline_of_study
from annotation.studies.study_tables import STRATA_TABLE, repeats_table, strata_frame, study_ratings
from annotation.studies.verdict_store import SampleOrigin, Stratum, find_origin, list_strata
from annotation.studies.verification import heads_record
from audit.charts.rates import Rate, rate_dots
from audit.charts.style import LABEL_COLOURS, Figure
from audit.exports.catalogue import Chapter
from audit.exports.package import StudyPart
from audit.exports.published_comparison import RunFigure
from audit.exports.table_model import Picture, Table
from audit.tables import Column, TableSpec
from audit.vocabulary import LABELS, Label

TITLE = "Validation of the judge by people"
PUBLISHED_AGREEMENT = {"agreement": "study.agreement", "kappa": "study.kappa"}
PUBLISHED_JUDGE = {name: f"study.judge.{name}" for name in ("accuracy", "kappa", "f1_weighted", "f1_macro")}


@dataclass(frozen=True)
class ValidationData:
    """A study, its sample, its agreement report, the shares of the run, and the judge compared with the baseline judge.

    shares    as `annotation.prevalence.estimates.prevalence` returns them
    baseline  name of the baseline judge
    compared  the judge compared with it, as `compare_with_baseline` returns it
    """

    study: Study
    origin: SampleOrigin
    strata: Sequence[Stratum]
    ratings: Ratings
    report: AgreementReport
    shares: pd.DataFrame
    baseline: str
    compared: pd.DataFrame

    def table(self, name: str, spec: TableSpec, frame: pd.DataFrame, *columns: str, title: str = "") -> Table:
        """A table of the study by its specification, with some of its columns, all where none is named."""
        n = f"{self.report.counts['items']:,} items of study {self.study.study_id}"
        return Table(name, title or spec.title, frame, spec.named(*columns), spec.notes, n)


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


def sample_table(data: ValidationData) -> Table:
    """How the sample was drawn: N_h, n_h and weight of each stratum."""
    uncovered = (
        f"{data.origin.unscored:,} of {data.origin.pairs:,} pairs have no verdict and are in no stratum, so "
        "no figure of the study covers them."
    )
    frame = strata_frame(data.strata)
    return data.table("study_sample", STRATA_TABLE, frame.assign(stratum=frame["stratum"].str.lower())).noted(uncovered)


def agreement_table(data: ValidationData) -> Table:
    """Agreement between annotators, and of the judge with each reference standard."""
    return data.table("study_agreement", FIGURES_TABLE, _compared(data, "label"))


def significance_table(data: ValidationData) -> Table:
    """The same for clinical significance."""
    return data.table("study_significance", SIGNIFICANCE_TABLE, _compared(data, "significance"))


def _compared(data: ValidationData, about: str) -> pd.DataFrame:
    figures = data.report.figures
    wide = by_scope(figures[(figures["about"] == about) & (figures["label"] == "") & (figures["name"] != "prevalence")])
    who = [f"{rater_name(a)} and {rater_name(b)}" if b else a for a, b in zip(wide["first"], wide["second"], strict=True)]
    return wide.assign(who=who)


def by_label_table(data: ValidationData) -> Table:
    """Precision, recall and F1 of the judge for each label, against the majority and against gold."""
    figures = data.report.figures
    wide = by_scope(figures[(figures["second"] == JUDGE) & (figures["label"] != "") & figures["first"].isin([MAJORITY, GOLD])])
    return data.table("study_by_label", BY_LABEL_TABLE, wide.assign(by=wide["first"].map(rater_name)))


def errors_table(data: ValidationData) -> Table:
    """The judge's errors by kind."""
    errors = data.report.errors
    return data.table("study_errors", ERRORS_TABLE, errors.assign(by=errors["by"].map(rater_name)), "by", "right", "judged", "n")


def prevalence_table(data: ValidationData) -> Table:
    """How common each label is in the whole run, corrected for the judge's errors."""
    return data.table("study_prevalence", CORRECTED_TABLE, by_label(data.shares))


def baseline_table(data: ValidationData) -> Table:
    """The judge compared with the baseline judge, on the same items."""
    frame, title = data.compared.assign(by=data.compared["by"].map(rater_name)), f"The judge compared with the {data.baseline}"
    return data.table("study_baseline", BASELINE_TABLE, frame, title=title)


# -- confusion matrices ------------------------------------------------------------------------------------------------

UNITS = {SAMPLE: "items", POPULATION: "estimated pairs of the run"}
WEIGHT_NOTES = {SAMPLE: "", POPULATION: ": each item is counted with its weight N_h / n_h"}
NAME_SUFFIXES = {SAMPLE: "", POPULATION: "_run"}


def matrix_tables(data: ValidationData) -> Iterator[Table]:
    """Confusion matrices: annotators with each other, the judge against the majority and gold; for the sample and for the run."""
    cells = data.report.confusion
    for (first, second, scope), own in cells[cells["about"] == "label"].groupby(["first", "second", "scope"], sort=False):
        if second != JUDGE or first in (MAJORITY, GOLD):
            name = f"study_confusion_{first}_{second}{NAME_SUFFIXES[str(scope)]}".replace("annotator_", "")
            counted = f"Counts are {UNITS[str(scope)]}{WEIGHT_NOTES[str(scope)]}."
            spec, frame = confusion_matrix(own)
            yield data.table(name, spec, frame).noted(f"{counted} Items that one of the two did not label are excluded.")


def confusion_matrix(cells: pd.DataFrame) -> tuple[TableSpec, pd.DataFrame]:
    """The cells of one comparison in one scope (rows of `AgreementReport.confusion`) as a matrix, and its columns."""
    about, first, second, scope = cells[["about", "first", "second", "scope"]].iloc[0]
    order = list(dict.fromkeys(cells["first_label"]))
    wide = cells.pivot(index="first_label", columns="second_label", values="count").loc[order, order]
    columns = [Column.count(label, LABEL.display(label)) for label in order]
    raters = f"{rater_name(first)} (rows) and by {rater_name(second)} (columns)"
    title = f"{'Labels' if about == 'label' else 'Significance'} by {raters}, {UNITS[scope]}"
    rows = Column.text("first_label", rater_name(first), words=LABEL.words)
    return TableSpec(title, (rows, *columns)), wide.rename_axis(columns=None).reset_index()


TABLES = (sample_table, agreement_table, by_label_table, errors_table, significance_table, prevalence_table, baseline_table)
"""In addition to the matrices."""


# -- the part of an export ---------------------------------------------------------------------------------------------


def validation_part(store: LabelStore, study_id: str) -> StudyPart:
    """The validation tables and figures of a study in its current state, and facts about it.

    Raises StudyError when there is no such study or it was not drawn from a run, AuditError while nothing is rated.
    """
    data = validation_data(store, study_id)
    note = provisional_note(data.study)
    tables = [make(data).noted(note) for make in TABLES]
    # The matrices follow the errors that they count.
    tables[4:4] = [table.noted(note) for table in matrix_tables(data)]
    facts = {**study_facts(store, data.study, data.origin), "seed_of_baseline_bootstrap": SEED}
    chapter = Chapter(TITLE, tables, list(study_pictures(data)))
    return StudyPart(study_id, data.origin.digest, chapter, _published_figures(data), facts)


def study_facts(store: LabelStore, study: Study, origin: SampleOrigin) -> dict[str, Any]:
    """What a study is, for the manifest of an export: its plan, its state, and where its ledgers end."""
    return {
        "title": study.title, "state": study.state.value, "scheme": study.scheme.name, "run": origin.run_key,
        "plan": dict(origin.plan), "seed_of_order": study.seed, "ledgers": heads_record(store, study.study_id),
    }  # fmt: skip


def provisional_note(study: Study) -> str:
    """What a table of a study that is not closed says of itself; "" where it is closed."""
    state = study.state.value
    return "" if state == "closed" else f"The study is in the state {state}: its figures are not final."


def _published_figures(data: ValidationData) -> dict[str, RunFigure | str]:
    """The figures of the study that are also published, by name."""
    counts = data.report.counts
    first, second = data.ratings.annotators[:2]
    both = int(((data.ratings.labels[first] >= 0) & (data.ratings.labels[second] >= 0)).sum())
    # With two annotators, an item without a majority is one on which they differ.
    agreed = both - counts[f"without a {MAJORITY}"]
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
    on_boundary = {f"study.errors.COMPLEMENTARY.{to}": kinds.get(("COMPLEMENTARY", to), 0) for to in ("DIVERGENT", "CONSISTENT")}
    boundary = sum(n for kind, n in kinds.items() if Label.COMPLEMENTARY in kind)
    totals = {"study.errors": own["n"].sum(), "study.errors.boundary": boundary}
    return {name: RunFigure(float(n)) for name, n in {**totals, **on_boundary}.items()}


# -- figures -----------------------------------------------------------------------------------------------------------

LABEL_MEASURES = {"precision": "Precision", "recall": "Recall", "f1": "F1"}
COLOURS = {"precision": "#6b7280", "recall": "#c77700", "f1": LABEL_COLOURS[Label.CONSISTENT]}


def study_pictures(data: ValidationData) -> Iterator[Picture]:
    """The judge label by label, and the corrected share of each label."""
    title = "The judge against the majority, label by label, with 95 % intervals (sample)"
    yield Picture("study_by_label", title, _judge_by_label(data))
    yield Picture("study_prevalence", "Share of each label in the run, corrected, with 95 % intervals", _corrected_shares(data))


def _judge_by_label(data: ValidationData) -> Figure:
    figures = data.report.figures
    own = figures[(figures["first"] == MAJORITY) & (figures["second"] == JUDGE) & (figures["scope"] == SAMPLE)]
    columns: dict[str, list[object]] = {"label": list(map(LABEL.display, LABELS))}
    for name in LABEL_MEASURES:
        rows = own[own["name"] == name].set_index("label").reindex(list(map(str, LABELS)))
        limits = zip(("", "_low", "_high", "_n"), ("value", "low", "high", "n"), strict=True)
        columns |= {name + end: rows[column].tolist() for end, column in limits}
    rates = [Rate(name, words, f"{name}_n", "items", COLOURS[name]) for name, words in LABEL_MEASURES.items()]
    return rate_dots(pd.DataFrame(columns), "label", rates)


def _corrected_shares(data: ValidationData) -> Figure:
    own = by_label(data.shares)
    share = Rate("value", "Share of the run", "n", "rated items")
    return rate_dots(own.assign(label=own["label"].map(LABEL.display)), "label", [share])
