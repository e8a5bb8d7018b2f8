"""The tables of an agreement report, each specified once: pages, the command line and exports render these columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from annotation.agreement.comparisons import POPULATION, SAMPLE
from annotation.ratings.gold import GOLD_RULE, MAJORITY, WITHOUT_GOLD
from annotation.ratings.table import GOLD, JUDGE
from annotation.schemes import HEAD_TO_HEAD, PAIRS
from audit.people_tables import rater_columns, rater_key
from audit.tables import HIGH, LOW, Column, IntervalNote, Population, TableSpec

MEASURE_NAMES = {
    "kappa_quadratic": "Cohen's kappa, quadratic weights",
    "kappa_linear": "Cohen's kappa, linear weights",
    "kappa": "Cohen's kappa, unweighted",
    "kappa_disagrees": "Cohen's kappa, disagrees or not",
    "kappa_fleiss": "Fleiss' kappa",
    "agreement": "raw agreement",
    "accuracy": "accuracy",
    "ac1": "Gwet's AC1",
    "pabak": "PABAK (Brennan-Prediger)",
    "alpha_nominal": "Krippendorff's alpha, nominal",
    "alpha_ordinal": "Krippendorff's alpha, ordinal",
    "f1_macro": "macro F1",
    "f1_weighted": "weighted F1",
    "f1": "F1",
}
RATER_NAMES = {MAJORITY: "the majority", GOLD: "gold", JUDGE: "the judge"}
INTERVALS = IntervalNote(Population.ITEMS, more="Where a figure is undefined or has no interval, the note gives the reason.")
SCOPES = "Sample: the sampled items, unweighted. Run: weighted by stratum to all pairs of the run that have a verdict."

ANNOTATOR = Column.text("annotator", "Annotator")
REFERENCE = Column.text("by", "Reference standard")
LABEL = Column.text("label", "Label", words=HEAD_TO_HEAD.names | {word: word.lower() for word in PAIRS.words})
FIGURE = Column.text("figure", "Figure", words=MEASURE_NAMES)
ITEMS = Column.count("n", "n", "items")
# Named by scope, so a table of one scope on a page has the heading of the table of both in an export.
VALUES = Column.decimal(SAMPLE, "Sample"), Column.decimal(POPULATION, "Run", "weighted")
NOTE = Column.text("note", "Note")

FIGURES_TABLE = TableSpec(
    "Agreement of annotators and judge on the label",
    (Column.text("who", "Between"), FIGURE, ITEMS, *VALUES, NOTE),
    (
        f"Majority: the label of more than half of an item's annotators, at least two of them. {GOLD_RULE} {WITHOUT_GOLD}",
        SCOPES,
        INTERVALS,
        "Kappa with quadratic weights is the headline because labels are ordered.",
    ),
)
SIGNIFICANCE_TABLE = replace(
    FIGURES_TABLE,
    title="Agreement on significance",
    notes=("Only items for which annotators and judge all chose a significance.", SCOPES, INTERVALS),
)
BY_LABEL_TABLE = TableSpec(
    "The judge, label by label",
    (REFERENCE, LABEL, FIGURE, ITEMS, *VALUES, NOTE),
    (
        "n: items in the denominator: for precision, those with this label by the judge; for recall, by raters; for F1, by "
        "either. An open dispute counts in parts in precision, as in corrected shares; recall and F1 leave it out.",
        SCOPES,
        INTERVALS,
    ),
)
JUDGED_LABELS_TABLE = TableSpec(
    "The judge, label by label, in words",
    (
        LABEL,
        Column.text("precision", "Precision: confirmed, of those the judge called so"),
        Column.text("recall", "Recall: found, of those the raters call so"),
        Column.text("f1", "F1"),
        NOTE,
    ),
)
LABEL_SHARES_TABLE = TableSpec(
    "How often each rater gave each label",
    (
        Column.text("first", "Rater"), LABEL, ITEMS, Column.share(SAMPLE, "Sample"), Column.share(POPULATION, "Run", "weighted"),
        NOTE,
    ),
    (INTERVALS,),
)  # fmt: skip
ERRORS_TABLE = TableSpec(
    "The judge's errors by kind",
    (
        REFERENCE,
        Column.text("right", "Label by raters", words=LABEL.words),
        Column.text("judged", "Label by the judge", words=LABEL.words),
        ITEMS,
        Column.text("items", "Item ids"),
    ),
    ("Items without a label by raters, or without a readable verdict, are not counted as errors.",),
)
BASELINE_TABLE = TableSpec(
    "The judge compared with a baseline",
    (
        REFERENCE, Column.text("scope", "Scope", words={POPULATION: "run, weighted"}), replace(FIGURE, name="name"), ITEMS,
        Column.decimal("judge", "Judge"), Column.decimal("other", "Baseline"),
        Column.decimal("difference", "Difference", "judge minus baseline"), NOTE,
    ),
    ("The baseline is the other judge whose labels the file has. " + SCOPES, INTERVALS),
)  # fmt: skip
TIMES_TABLE = TableSpec(
    "Time per item",
    (
        ANNOTATOR, ITEMS, Column.decimal("median_s", "Median", "s"), Column.decimal("fastest_tenth_s", "Fastest tenth", "s"),
        Column.decimal("slowest_tenth_s", "Slowest tenth", "s"), Column.decimal("first_quarter_s", "First quarter", "s"),
        Column.decimal("last_quarter_s", "Last quarter", "s"),
    ),
)  # fmt: skip
DRIFT_TABLE = TableSpec(
    "Same label as others, by quarter of the work",
    (
        ANNOTATOR, Column.text("against", "Compared with"), Column.count("quarter", "Quarter of the work"), ITEMS,
        Column.share("value", "Same label"), NOTE,
    ),
    (INTERVALS,),
)  # fmt: skip
RETEST_TABLE = TableSpec(
    "Intra-rater (test-retest) reliability, on hidden repeats",
    (ANNOTATOR, FIGURE, ITEMS, Column.decimal("value", "Value"), NOTE),
    (INTERVALS,),
)


def rater_name(rater: str) -> str:
    """A rater in words: `annotator_a` is annotator A."""
    prefix, _, letter = rater.rpartition("_")
    if " " not in rater and rater_columns([rater]) and rater_key(rater):
        prefix, letter = "annotator", rater_key(rater)
    return f"{prefix} {letter.upper() if len(letter) == 1 else letter}" if prefix else RATER_NAMES.get(rater, rater)


def with_interval(frame: pd.DataFrame, column: str = "value") -> pd.DataFrame:
    """A frame of figures (name, value, low, high) under the names that a table looks for; `column` is that of the value."""
    return frame.rename(columns={"name": "figure", "value": column, "low": column + LOW, "high": column + HIGH})


def figures_by_scope(figures: pd.DataFrame) -> pd.DataFrame:
    """One row per figure: the values for the sample and for the run side by side, with interval ends and notes."""
    keys = ["about", "first", "second", "figure", "label"]
    scopes = [scope for scope in (SAMPLE, POPULATION) if scope in set(figures["scope"])]
    sides = {scope: with_interval(figures[figures["scope"] == scope], scope).set_index(keys) for scope in scopes}
    wide = sides[SAMPLE][["n"]].copy()
    for scope, own in sides.items():
        wide[[scope, scope + LOW, scope + HIGH]] = own[[scope, scope + LOW, scope + HIGH]]
    notes = pd.DataFrame({scope: own["note"] for scope, own in sides.items()}).reindex(wide.index).fillna("")
    wide["note"] = [_combined_note(row) for row in notes.to_dict("records")]
    return wide.reset_index()


def _combined_note(notes: Mapping[Any, str]) -> str:
    if len(set(notes.values())) == 1:
        return next(iter(notes.values()))
    return "; ".join(f"{'run' if scope == POPULATION else scope}: {note}" for scope, note in notes.items() if note)
