"""The data behind a study's validation, computed once, and its tables: one function per table, and the confusion matrices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from annotation.agreement.baseline_comparison import compare_with_baseline
from annotation.agreement.comparisons import MAJORITY, POPULATION, SAMPLE
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
from annotation.ratings.table import GOLD, JUDGE, Ratings
from annotation.studies.baseline_judge import baseline_of_study
from annotation.studies.study_tables import STRATA_TABLE, repeats_table, strata_frame, study_ratings
from annotation.studies.verdict_store import SampleOrigin, Stratum, find_origin, list_strata
from audit.exports.table_model import Table
from audit.tables import Column, TableSpec


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
    first, second, scope = cells[["first", "second", "scope"]].iloc[0]
    order = list(dict.fromkeys(cells["first_label"]))
    wide = cells.pivot(index="first_label", columns="second_label", values="count").loc[order, order]
    columns = [Column.count(label, LABEL.display(label)) for label in order]
    title = f"Labels by {rater_name(first)} (rows) and by {rater_name(second)} (columns), {UNITS[scope]}"
    rows = Column.text("first_label", rater_name(first), words=LABEL.words)
    return TableSpec(title, (rows, *columns)), wide.rename_axis(columns=None).reset_index()


TABLES = (sample_table, agreement_table, by_label_table, errors_table, significance_table, prevalence_table, baseline_table)
"""In addition to the matrices."""
