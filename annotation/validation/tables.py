"""The tables of a validation study: one function a table."""

from __future__ import annotations

import pandas as pd

from annotation.agreement.comparisons import POPULATION, SAMPLE
from annotation.agreement.text import SPOKEN
from annotation.ratings import GOLD, JUDGE
from annotation.validation.data import ValidationData, label_word, rater_name
from audit.exports.contents.columns import counted, share
from audit.exports.table_model import Column, Table

INTERVALS = "In brackets: 95 % intervals. A dash: undefined, or without an interval; the note says why."
SCOPES = "Sample: these items as they were drawn. Run: weighted by stratum to all pairs of the run that have a verdict."
KEYS = ["about", "first", "second", "name", "label"]


def sample(evidence: ValidationData) -> Table:
    """How the items were drawn: N_h, n_h and weight of each stratum."""
    layers = evidence.strata
    pairs = sum(layer.population for layer in layers)
    frame = pd.DataFrame(
        {
            "stratum": [layer.stratum.lower() for layer in layers], "population": [layer.population for layer in layers],
            "sampled": [layer.sampled for layer in layers], "weight": [layer.weight for layer in layers],
            "share": [layer.population / pairs for layer in layers],
        }
    )  # fmt: skip
    return Table(
        "study_sample", "How the validation sample was drawn", frame,
        (
            Column("stratum", "Stratum", "judge's label"), counted("population", "N_h", "pairs of the run"),
            counted("sampled", "n_h", "items"), share("weight", "Weight", "N_h / n_h"), share("share", "Share", "of the pairs"),
        ),
        (
            "Drawn without replacement inside each stratum; calibration items and silent repeats are not among them.",
            f"{evidence.origin.unscored:,} of {evidence.origin.pairs:,} pairs have no verdict and are in no stratum: no figure "
            "of the study speaks for them.",
        ), evidence.n,
    )  # fmt: skip


def _wide(figures: pd.DataFrame) -> pd.DataFrame:
    """One row per figure, the sample's value and the run's beside each other, with their ends and notes."""
    sides = {scope: figures[figures["scope"] == scope].set_index(KEYS) for scope in (SAMPLE, POPULATION)}
    wide = sides[SAMPLE][["n", "word"]].copy()
    for scope, own in sides.items():
        wide[[scope, f"{scope}_low", f"{scope}_high"]] = own[["value", "low", "high"]]
    notes = pd.DataFrame({scope: own["note"] for scope, own in sides.items()}).fillna("")
    wide["note"] = [_noted(*row) for row in notes.itertuples(index=False, name=None)]
    return wide.reset_index()


def _noted(sample: str, run: str) -> str:
    return sample if sample == run else "; ".join(f"{who}: {told}" for who, told in (("sample", sample), ("run", run)) if told)


def _compared(evidence: ValidationData, about: str) -> pd.DataFrame:
    figures = evidence.report.figures
    wide = _wide(figures[(figures["about"] == about) & (figures["label"] == "") & (figures["name"] != "prevalence")])
    who = [f"{rater_name(a)} and {rater_name(b)}" if b else a for a, b in zip(wide["first"], wide["second"], strict=True)]
    return wide.assign(who=who, figure=wide["name"].map(SPOKEN).fillna(wide["name"]))


FIGURE_COLUMNS = (
    Column("who", "Between"), Column("figure", "Figure"), counted("n", "n", "items"), share(SAMPLE, "Sample"),
    share(POPULATION, "Run", "weighted"), Column("word", "In words", "sample"), Column("note", "Note"),
)  # fmt: skip


def agreement(evidence: ValidationData) -> Table:
    """Annotators with each other, and the judge by each yardstick."""
    return Table(
        "study_agreement", "Agreement of annotators and judge on the label", _compared(evidence, "label"), FIGURE_COLUMNS,
        (
            "Majority: the label that both annotators gave. Gold: that, or the adjudicated label.", SCOPES, INTERVALS,
            "Kappa with quadratic weights is the headline, since labels are ordered. Words: Landis and Koch (1977).",
        ), evidence.n,
    )  # fmt: skip


def significance(evidence: ValidationData) -> Table:
    """The same for clinical significance."""
    return Table(
        "study_significance", "Agreement on clinical significance", _compared(evidence, "significance"), FIGURE_COLUMNS,
        ("On the items to which annotators and judge all gave a significance.", SCOPES, INTERVALS), evidence.n,
    )  # fmt: skip


def by_label(evidence: ValidationData) -> Table:
    """Precision, recall and F1 of the judge for each label, by the majority and by gold."""
    figures = evidence.report.figures
    own = figures[(figures["second"] == JUDGE) & (figures["label"] != "") & figures["first"].isin(["majority", GOLD])]
    wide = _wide(own)
    return Table(
        "study_by_label", "The judge, label by label",
        wide.assign(by=wide["first"].map(rater_name), label=wide["label"].map(label_word), figure=wide["name"].replace("f1", "F1")),
        (
            Column("by", "Measured by"), Column("label", "Label"), Column("figure", "Figure"), counted("n", "n", "items"),
            share(SAMPLE, "Sample"), share(POPULATION, "Run", "weighted"), Column("note", "Note"),
        ),
        (
            "n: items in the denominator: of precision those the judge called so, of recall those people did, of F1 either.",
            SCOPES, INTERVALS,
        ), evidence.n,
    )  # fmt: skip


def errors(evidence: ValidationData) -> Table:
    """The judge's errors by kind."""
    frame = evidence.report.errors
    return Table(
        "study_errors", "The judge's errors by kind",
        frame.assign(by=frame["by"].map(rater_name), right=frame["right"].map(label_word), judged=frame["judged"].map(label_word)),
        (
            Column("by", "Measured by"), Column("right", "Label by people"), Column("judged", "Label by the judge"),
            counted("n", "n", "items"),
        ), ("Items without a label by people, or without a readable verdict, are no errors.",), evidence.n,
    )  # fmt: skip


def prevalence(evidence: ValidationData) -> Table:
    """How common each label is in the whole run, the judge's errors taken out."""
    shares = evidence.shares
    judge = shares[shares["method"] == "judge"].set_index("label")["value"]
    own = shares[shares["method"] == "corrected"]
    people = shares[shares["method"] == "human only"].set_index("label")
    frame = own.rename(columns={"low": "value_low", "high": "value_high"}).assign(
        judge=own["label"].map(judge), people=own["label"].map(people["value"]), people_low=own["label"].map(people["low"]),
        people_high=own["label"].map(people["high"]), label=own["label"].map(label_word),
    )  # fmt: skip
    return Table(
        "study_prevalence", "How common each label is in the run, the judge's errors taken out", frame,
        (
            Column("label", "Label"), share("value", "Corrected", "share of the run"), share("judge", "Judge's own", "share"),
            share("people", "People alone", "share"), counted("n", "n", "items"), Column("note", "Note"),
        ),
        (
            "Corrected: people's labels, weighted stratum by stratum with the exactly known sizes (stratified prediction-powered "
            "inference, arXiv:2406.04291). Judge's own: errors and all; no interval helps its bias. People alone: the same items "
            "and weights without knowing their strata.", "Disagrees: divergent or contradictory. " + INTERVALS,
        ), evidence.n,
    )  # fmt: skip


def baseline(evidence: ValidationData) -> Table:
    """The judge beside the baseline judge, on the same items."""
    frame = evidence.beside
    return Table(
        "study_baseline", f"The judge beside the {evidence.rival}",
        frame.assign(
            by=frame["by"].map(rater_name), name=frame["name"].map(SPOKEN), scope=frame["scope"].replace({POPULATION: "run, weighted"})
        ),
        (
            Column("by", "Measured by"), Column("scope", "Scope"), Column("name", "Figure"), counted("n", "n", "items"),
            share("judge", "Judge"), share("other", "Baseline"), share("difference", "Difference"), Column("note", "Note"),
        ),
        ("The baseline judge is plain rules, no model: the floor that a language model must beat. " + SCOPES, INTERVALS),
        evidence.n,
    )  # fmt: skip


TABLES = (sample, agreement, by_label, errors, significance, prevalence, baseline)
"""Beside the matrices."""
