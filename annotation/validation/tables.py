"""The tables of a validation study: one function per table, and the confusion matrices."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from annotation.agreement.comparisons import POPULATION, SAMPLE
from annotation.agreement.report_text import MEASURE_NAMES
from annotation.ratings.table import GOLD, JUDGE
from annotation.validation.data import ValidationData, label_word, rater_name
from audit.exports.table_model import Table
from audit.tables import Column

INTERVALS = "In brackets: 95 % intervals. A dash means undefined, or no interval; the note gives the reason."
SCOPES = "Sample: the sampled items, unweighted. Run: weighted by stratum to all pairs of the run that have a verdict."
KEYS = ["about", "first", "second", "name", "label"]


def sample(data: ValidationData) -> Table:
    """How the sample was drawn: N_h, n_h and weight of each stratum."""
    strata = data.strata
    pairs = sum(stratum.population for stratum in strata)
    frame = pd.DataFrame(
        {
            "stratum": [stratum.stratum.lower() for stratum in strata],
            "population": [stratum.population for stratum in strata],
            "sampled": [stratum.sampled for stratum in strata],
            "weight": [stratum.weight for stratum in strata],
            "share": [stratum.population / pairs for stratum in strata],
        }
    )
    return Table(
        "study_sample",
        "How the validation sample was drawn",
        frame,
        (
            Column.text("stratum", "Stratum", "judge's label"),
            Column.count("population", "N_h", "pairs of the run"),
            Column.count("sampled", "n_h", "items"),
            Column.decimal("weight", "Weight", "N_h / n_h"),
            Column.decimal("share", "Share", "of the pairs"),
        ),
        (
            "Drawn without replacement inside each stratum; calibration items and silent repeats are excluded.",
            f"{data.origin.unscored:,} of {data.origin.pairs:,} pairs have no verdict and are in no stratum, so "
            "no figure of the study covers them.",
        ),
        data.n,
    )


def _wide(figures: pd.DataFrame) -> pd.DataFrame:
    """One row per figure: the values for the sample and for the run side by side, with interval limits and notes."""
    sides = {scope: figures[figures["scope"] == scope].set_index(KEYS) for scope in (SAMPLE, POPULATION)}
    wide = sides[SAMPLE][["n", "word"]].copy()
    for scope, own in sides.items():
        wide[[scope, f"{scope}_low", f"{scope}_high"]] = own[["value", "low", "high"]]
    notes = pd.DataFrame({scope: own["note"] for scope, own in sides.items()}).fillna("")
    wide["note"] = [_noted(*row) for row in notes.itertuples(index=False, name=None)]
    return wide.reset_index()


def _noted(sample: str, run: str) -> str:
    return (
        sample if sample == run else "; ".join(f"{scope}: {note}" for scope, note in (("sample", sample), ("run", run)) if note)
    )


def _compared(data: ValidationData, about: str) -> pd.DataFrame:
    figures = data.report.figures
    wide = _wide(figures[(figures["about"] == about) & (figures["label"] == "") & (figures["name"] != "prevalence")])
    who = [f"{rater_name(a)} and {rater_name(b)}" if b else a for a, b in zip(wide["first"], wide["second"], strict=True)]
    return wide.assign(who=who, figure=wide["name"].map(MEASURE_NAMES).fillna(wide["name"]))


FIGURE_COLUMNS = (
    Column.text("who", "Between"),
    Column.text("figure", "Figure"),
    Column.count("n", "n", "items"),
    Column.decimal(SAMPLE, "Sample"),
    Column.decimal(POPULATION, "Run", "weighted"),
    Column.text("word", "In words", "sample"),
    Column.text("note", "Note"),
)


def agreement(data: ValidationData) -> Table:
    """Agreement between annotators, and of the judge with each reference standard."""
    return Table(
        "study_agreement",
        "Agreement of annotators and judge on the label",
        _compared(data, "label"),
        FIGURE_COLUMNS,
        (
            "Majority: the label on which both annotators agree. Gold: that label, or else the adjudicated one.",
            SCOPES,
            INTERVALS,
            "Kappa with quadratic weights is the headline because labels are ordered. Words: Landis and Koch (1977).",
        ),
        data.n,
    )


def significance(data: ValidationData) -> Table:
    """The same for clinical significance."""
    return Table(
        "study_significance",
        "Agreement on clinical significance",
        _compared(data, "significance"),
        FIGURE_COLUMNS,
        ("Only items for which annotators and judge all chose a significance.", SCOPES, INTERVALS),
        data.n,
    )


def by_label(data: ValidationData) -> Table:
    """Precision, recall and F1 of the judge for each label, against the majority and against gold."""
    figures = data.report.figures
    own = figures[(figures["second"] == JUDGE) & (figures["label"] != "") & figures["first"].isin(["majority", GOLD])]
    wide = _wide(own)
    return Table(
        "study_by_label",
        "The judge, label by label",
        wide.assign(
            by=wide["first"].map(rater_name), label=wide["label"].map(label_word), figure=wide["name"].replace("f1", "F1")
        ),
        (
            Column.text("by", "Reference standard"),
            Column.text("label", "Label"),
            Column.text("figure", "Figure"),
            Column.count("n", "n", "items"),
            Column.decimal(SAMPLE, "Sample"),
            Column.decimal(POPULATION, "Run", "weighted"),
            Column.text("note", "Note"),
        ),
        (
            "n: items in the denominator: for precision, those with this label by the judge; for recall, by people; for F1, by "
            "either.",
            SCOPES,
            INTERVALS,
        ),
        data.n,
    )


def errors(data: ValidationData) -> Table:
    """The judge's errors by kind."""
    frame = data.report.errors
    return Table(
        "study_errors",
        "The judge's errors by kind",
        frame.assign(
            by=frame["by"].map(rater_name), right=frame["right"].map(label_word), judged=frame["judged"].map(label_word)
        ),
        (
            Column.text("by", "Reference standard"),
            Column.text("right", "Label by people"),
            Column.text("judged", "Label by the judge"),
            Column.count("n", "n", "items"),
        ),
        ("Items without a label by people, or without a readable verdict, are not counted as errors.",),
        data.n,
    )


def prevalence(data: ValidationData) -> Table:
    """How common each label is in the whole run, corrected for the judge's errors."""
    shares = data.shares
    judge = shares[shares["method"] == "judge"].set_index("label")["value"]
    own = shares[shares["method"] == "corrected"]
    people = shares[shares["method"] == "human only"].set_index("label")
    frame = own.rename(columns={"low": "value_low", "high": "value_high"}).assign(
        judge=own["label"].map(judge),
        people=own["label"].map(people["value"]),
        people_low=own["label"].map(people["low"]),
        people_high=own["label"].map(people["high"]),
        label=own["label"].map(label_word),
    )
    return Table(
        "study_prevalence",
        "How common each label is in the run, corrected for the judge's errors",
        frame,
        (
            Column.text("label", "Label"),
            Column.decimal("value", "Corrected", "share of the run"),
            Column.decimal("judge", "Judge's own", "share"),
            Column.decimal("people", "People alone", "share"),
            Column.count("n", "n", "items"),
            Column.text("note", "Note"),
        ),
        (
            "Corrected: people's labels, weighted stratum by stratum with the exactly known sizes (stratified prediction-powered "
            "inference, arXiv:2406.04291). Judge's own: uncorrected; no interval can make up for its bias. People alone: the "
            "same items and weights, ignoring the strata.",
            "Disagrees: divergent or contradictory. " + INTERVALS,
        ),
        data.n,
    )


def baseline(data: ValidationData) -> Table:
    """The judge compared with the baseline judge, on the same items."""
    frame = data.compared
    return Table(
        "study_baseline",
        f"The judge compared with the {data.baseline}",
        frame.assign(
            by=frame["by"].map(rater_name),
            name=frame["name"].map(MEASURE_NAMES),
            scope=frame["scope"].replace({POPULATION: "run, weighted"}),
        ),
        (
            Column.text("by", "Reference standard"),
            Column.text("scope", "Scope"),
            Column.text("name", "Figure"),
            Column.count("n", "n", "items"),
            Column.decimal("judge", "Judge"),
            Column.decimal("other", "Baseline"),
            Column.decimal("difference", "Difference"),
            Column.text("note", "Note"),
        ),
        ("The baseline judge uses plain rules, no model; a language model has to do better. " + SCOPES, INTERVALS),
        data.n,
    )


# -- confusion matrices ------------------------------------------------------------------------------------------------

UNITS = {SAMPLE: "items", POPULATION: "estimated pairs of the run"}
WEIGHT_NOTES = {SAMPLE: "", POPULATION: ": each item is counted with its weight N_h / n_h"}
NAME_SUFFIXES = {SAMPLE: "", POPULATION: "_run"}


def matrices(data: ValidationData) -> Iterator[Table]:
    """Confusion matrices: annotators with each other, the judge against the majority and gold; for the sample and for the run."""
    cells = data.report.confusion
    labels = cells[cells["about"] == "label"]
    for (first, second, scope), own in labels.groupby(["first", "second", "scope"], sort=False):
        if second != JUDGE or first in ("majority", GOLD):
            wide = own.pivot(index="first_label", columns="second_label", values="count")
            order = list(dict.fromkeys(own["first_label"]))
            frame = wide.loc[order, order].rename_axis(columns=None).reset_index()
            unit = UNITS[str(scope)]
            yield Table(
                f"study_confusion_{first}_{second}{NAME_SUFFIXES[str(scope)]}".replace("annotator_", ""),
                f"Labels by {rater_name(str(first))} (rows) and by {rater_name(str(second))} (columns), {unit}",
                frame.assign(first_label=frame["first_label"].map(label_word)),
                (
                    Column.text("first_label", rater_name(str(first))),
                    *(Column.count(label, label_word(label)) for label in order),
                ),
                (f"Counts are {unit}{WEIGHT_NOTES[str(scope)]}. Items that one of the two did not label are excluded.",),
                data.n,
            )


TABLES = (sample, agreement, by_label, errors, significance, prevalence, baseline)
"""In addition to the matrices."""
