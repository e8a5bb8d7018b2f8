"""The tables of a study's validation of the judge, each by its specification; its data is computed once for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from annotation.agreement.comparisons import POPULATION, SAMPLE
from annotation.agreement.report import AgreementReport, agreement_report
from annotation.agreement.sentences import capitalised
from annotation.agreement.tables import (
    BY_LABEL_TABLE,
    ERRORS_TABLE,
    FIGURE,
    FIGURES_TABLE,
    INTERVALS,
    LABEL,
    RETEST_TABLE,
    SIGNIFICANCE_TABLE,
    TIMES_TABLE,
    figures_by_scope,
    rater_name,
    with_interval,
)
from annotation.label_store.engine import LabelStore
from annotation.label_store.studies import Study, find_study
from annotation.prevalence.estimates import CORRECTED_TABLE, by_label, prevalence
from annotation.ratings.gold import GOLD_RULE, MAJORITY, WITHOUT_GOLD, reference_standard
from annotation.ratings.table import GOLD, JUDGE, Ratings
from annotation.studies.calibration import CALIBRATION_TABLE, Calibration, calibration_of
from annotation.studies.exit_answers import TABLE as EXIT_TABLE
from annotation.studies.exit_answers import exit_answers
from annotation.studies.item_groups import corrected_parts, item_groups
from annotation.studies.leakage import TABLE as LEAKAGE_TABLE
from annotation.studies.leakage import blinding_words, recorded_leakage
from annotation.studies.registered_looks import TakenLook, looks_taken
from annotation.studies.study_tables import (
    CODEBOOK_TABLE,
    FLOW_TABLE,
    RATINGS_TABLE,
    STRATA_TABLE,
    StudyFlow,
    by_annotator_letter,
    codebook,
    labels_table,
    ratings_table,
    repeats_table,
    strata_frame,
    study_flow,
    study_ratings,
)
from annotation.studies.verdict_store import SampleOrigin, Stratum, find_origin, list_strata
from audit.exports.table_model import Table
from audit.store.connection import Connection
from audit.tables import HIGH, LOW, Column, TableSpec

NO_CALIBRATION = "The study had no calibration round."
NO_ROUND = pd.DataFrame(columns=["who", "n", "value", "value_low", "value_high", "kappa", "kappa_low", "kappa_high", "note"])


@dataclass(frozen=True)
class ValidationData:
    """A study, its sample, its agreement report, and the shares of the run.

    groups    the groups of its items, as `item_groups` returns them
    corrected R_div by organ, topic and center; empty where the run is not loaded
    rows      every rating, as `ratings_table` returns them
    shares    as `annotation.prevalence.estimates.prevalence` returns them
    calibration  the round before the study; None where it had none
    looks     the registered looks that were taken
    blinding  what style gives away and what raters guessed, in words; leaks and guesses: the same as tables, empty where unknown
    """

    study: Study
    origin: SampleOrigin
    strata: Sequence[Stratum]
    groups: pd.DataFrame
    corrected: pd.DataFrame
    rows: pd.DataFrame
    ratings: Ratings
    report: AgreementReport
    shares: pd.DataFrame
    calibration: Calibration | None = None
    blinding: str = ""
    leaks: pd.DataFrame = field(default_factory=pd.DataFrame)
    guesses: pd.DataFrame = field(default_factory=pd.DataFrame)
    looks: Sequence[TakenLook] = ()

    @property
    def reference(self) -> str:
        """The reference standard for the judge: gold once a dispute is decided, the majority before."""
        return reference_standard(self.ratings)

    @property
    def flow(self) -> StudyFlow:
        """The flow of the items."""
        return study_flow(self.ratings, self.rows)

    def table(self, name: str, spec: TableSpec, frame: pd.DataFrame, *columns: str, title: str = "") -> Table:
        """A table of the study by its specification, with some of its columns, all where none is named."""
        n = f"{self.report.counts['items']:,} items of study {self.study.study_id}"
        kind = self.ratings.intervals
        own = tuple(column if spec is CALIBRATION_TABLE else column.of_kind(kind) for column in spec.named(*columns))
        return Table(name, title or spec.title, frame, own, spec.notes, n, population=spec.population)


def validation_data(store: LabelStore, study_id: str, con: Connection | None = None) -> ValidationData:
    """The data of a study, as far as it is rated; `con`: a connection to the run that it was drawn from, for groups of items.

    Raises StudyError when there is no such study, AuditError while nothing is rated.
    """
    study, ratings = find_study(store, study_id), study_ratings(store, study_id)
    measured = recorded_leakage(store, study_id)
    return ValidationData(
        study, find_origin(store, study_id), list_strata(store, study_id), item_groups(store, study_id, con),
        corrected_parts(ratings, labels_table(store, study_id), con),
        ratings_table(store, study_id), ratings,
        agreement_report(ratings, repeats_table(store, study_id)), prevalence(ratings), calibration_of(store, study_id),
        blinding_words(store, study_id), measured.frame() if measured else pd.DataFrame(), exit_answers(store, study_id),
        looks_taken(store, study_id),
    )  # fmt: skip


def sample_table(data: ValidationData) -> Table:
    """How the sample was drawn: N_h, n_h and weight of each stratum."""
    uncovered = (
        f"{data.origin.unscored:,} of {data.origin.pairs:,} pairs have no verdict and are in no stratum, so "
        "no figure of the study covers them."
    )
    frame = strata_frame(data.strata)
    return data.table("study_sample", STRATA_TABLE, frame.assign(stratum=frame["stratum"].str.lower())).noted(uncovered)


def flow_table(data: ValidationData) -> Table:
    """Drawn, rated, agreed, adjudicated."""
    return data.table("study_flow", FLOW_TABLE, data.flow.frame()).noted(f"{GOLD_RULE} {WITHOUT_GOLD}")


def statistics_table(data: ValidationData) -> Table:
    """Every statistic by comparison: annotators with each other, and the judge with each of them and one reference standard."""
    figures = data.report.figures
    other = {GOLD, MAJORITY} - {data.reference}
    own = figures[
        (figures["about"] == "label")
        & (figures["label"] == "")
        & (figures["scope"] == SAMPLE)
        & (figures["second"] != "")
        & ~figures["first"].isin(other)
    ]
    frame, columns = pd.DataFrame({"figure": list(own["name"].unique())}), [FIGURE]
    for (first, second), rows in own.groupby(["first", "second"], sort=False):
        name, values = f"{first}_{second}", rows.set_index("name").reindex(frame["figure"])
        columns.append(Column.decimal(name, f"{capitalised(rater_name(str(first)))} and {rater_name(str(second))}"))
        for column, end in (("value", ""), ("low", LOW), ("high", HIGH)):
            frame[name + end] = values[column].to_numpy()
    spec = TableSpec("Every statistic by comparison (sample)", tuple(columns), (INTERVALS,))
    return data.table("study_statistics", spec, frame)


def agreement_table(data: ValidationData) -> Table:
    """Agreement between annotators, and of the judge with each of them and with their majority."""
    rows = _compared(data, "label")
    return data.table("study_agreement", FIGURES_TABLE, rows[rows["first"] != GOLD])


def significance_table(data: ValidationData) -> Table:
    """Agreement on clinical significance."""
    return data.table("study_significance", SIGNIFICANCE_TABLE, _compared(data, "significance"))


def _compared(data: ValidationData, about: str) -> pd.DataFrame:
    figures = data.report.figures
    wide = figures_by_scope(figures[(figures["about"] == about) & (figures["label"] == "") & (figures["name"] != "prevalence")])
    who = [f"{rater_name(a)} and {rater_name(b)}" if b else a for a, b in zip(wide["first"], wide["second"], strict=True)]
    return wide.assign(who=who)


def by_label_table(data: ValidationData) -> Table:
    """Precision, recall and F1 of the judge for each label, by the majority."""
    return _by_label(data, MAJORITY)


def _by_label(data: ValidationData, by: str) -> Table:
    figures = data.report.figures
    own = figures[(figures["second"] == JUDGE) & (figures["label"] != "") & (figures["first"] == by)]
    wide = figures_by_scope(own)
    return data.table(_named("study_by_label", by), BY_LABEL_TABLE, wide.assign(by=wide["first"].map(rater_name)))


def errors_table(data: ValidationData) -> Table:
    """The judge's errors by kind, by the majority and by each annotator."""
    return _errors(data, data.report.errors["by"] != GOLD, MAJORITY)


def _errors(data: ValidationData, chosen: pd.Series, by: str) -> Table:
    errors = data.report.errors[chosen]
    named = errors.assign(by=errors["by"].map(rater_name))
    return data.table(_named("study_errors", by), ERRORS_TABLE, named, "by", "right", "judged", "n")


def gold_tables(data: ValidationData) -> Iterator[Table]:
    """Agreement, labels and errors by gold: in tables of their own, so no table mixes it with the majority."""
    rows = _compared(data, "label")
    yield data.table("study_agreement_gold", FIGURES_TABLE, rows[rows["first"] == GOLD], title="Agreement of the judge with gold")
    yield _by_label(data, GOLD)
    yield _errors(data, data.report.errors["by"] == GOLD, GOLD)


def _named(name: str, by: str) -> str:
    return f"{name}_gold" if by == GOLD else name


def blinding_tables(data: ValidationData) -> Iterator[Table]:
    """What style gives away, and the answers to the exit question, where they are known."""
    for name, spec, frame in (
        ("study_leakage", LEAKAGE_TABLE, data.leaks), ("study_exit_answers", EXIT_TABLE, data.guesses)
    ):  # fmt: skip
        if len(frame):
            yield data.table(name, spec, frame)


def calibration_table(data: ValidationData) -> Table:
    """Agreement on calibration items, and whether it reaches the protocol's threshold."""
    if data.calibration is None:
        return data.table("study_calibration", CALIBRATION_TABLE, NO_ROUND).noted(NO_CALIBRATION)
    return data.table("study_calibration", CALIBRATION_TABLE, data.calibration.frame()).noted(data.calibration.sentence())


def repeats_reliability(data: ValidationData) -> Table:
    """Intra-rater reliability; annotators by letter."""
    return data.table("study_repeats", RETEST_TABLE, with_interval(by_annotator_letter(data.report.retest, data.rows)))


def times_table(data: ValidationData) -> Table:
    """Time per item."""
    times = data.report.times
    return data.table("study_times", TIMES_TABLE, times.assign(annotator=times["annotator"].map(rater_name)))


def ratings_rows(data: ValidationData) -> Table:
    """Every rating, without names."""
    frame = data.rows.assign(unsure=data.rows["unsure"].map({True: "yes", False: "no"}))
    return replace(data.table("study_ratings", RATINGS_TABLE, frame), printed_rows=RATINGS_TABLE.printed_rows)


def codebook_table(data: ValidationData) -> Table:
    """The meanings of the columns of the ratings."""
    return data.table("study_codebook", CODEBOOK_TABLE, codebook(data.study.scheme))


def prevalence_table(data: ValidationData) -> Table:
    """How common each label is in the whole run, corrected for the judge's errors."""
    return data.table("study_prevalence", CORRECTED_TABLE, by_label(data.shares))


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


def further_tables(data: ValidationData) -> Iterator[Table]:
    """The tables by gold, the matrices, and those about blinding."""
    yield from gold_tables(data)
    yield from matrix_tables(data)
    yield from blinding_tables(data)


TABLES = (
    sample_table, flow_table, statistics_table, agreement_table, by_label_table, errors_table, significance_table,
    prevalence_table, calibration_table, repeats_reliability, times_table, ratings_rows, codebook_table,
)  # fmt: skip
"""In addition to `further_tables`."""
