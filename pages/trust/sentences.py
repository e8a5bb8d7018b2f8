"""What is known of a judge's labels, in sentences: plain text, each figure with its interval and its count."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import chain, combinations, repeat
from typing import Any

import pandas as pd

from annotation.agreement.comparisons import POPULATION, SAMPLE
from annotation.agreement.measures import PRECISION
from annotation.agreement.sentences import capitalised, figure, share_words, undefined
from annotation.agreement.tables import rater_name
from annotation.ratings.gold import MAJORITY
from annotation.ratings.table import GOLD, JUDGE
from audit.charts.style import coefficient, coefficient_interval, interval, percent
from audit.metrics.judge import CHECK_WORDS
from audit.metrics.planted import MOVES
from audit.store.runs import Run
from audit.tables import Row
from audit.terms import fill
from audit.vocabulary import LABELS, Label
from pages._shared.rating_sources import RatingSource, confirmations

REFERENCES = {MAJORITY: "the label that the raters agree on", GOLD: "the label of the raters after adjudication"}
ORDER = LABELS[::-1]
"""Disagreements first: they are what a reader looks for, and rare enough to be wrong often."""
ON_START = " Start says {confirmed:,} of {rated:,}: it counts pairs without such a label too, and any label of different advice."
FEW = " Few pairs: read this with care."


def reference_of(source: RatingSource) -> str:
    """What the judge is measured by: the adjudicated labels where there are any, else the label that raters agree on."""
    return GOLD if GOLD in source.ratings.labels else MAJORITY


# -- raters --------------------------------------------------------------------------------------------------------------


def rater_sentences(source: RatingSource) -> Iterator[str]:
    """How far raters agree with each other, and with themselves where they read pairs twice."""
    report = source.report
    for first, second in combinations(source.ratings.annotators, 2):
        names = f"{capitalised(rater_name(first))} and {rater_name(second)}"
        raw, kappa = (figure(report, first, second, name) for name in ("agreement", report.scheme.headline))
        if reason := undefined(raw):
            yield f"{names}: agreement is not known ({reason})."
            continue
        same = round(raw["value"] * raw["n"])
        yield f"{names} gave the same label to {same:,} of {raw['n']:,} pairs ({share_words(raw)}). {chance_words(kappa)}"
    repeated = report.retest[report.retest["name"] == "agreement"].to_dict("records") if len(report.retest) else []
    # Not by name: readers of a run need not know who rates
    who = chain(["one rater"], repeat("another rater"))
    for row in repeated:
        if not undefined(row):
            same = round(row["value"] * row["n"])
            yield f"Shown the same pair again, {next(who)} gave the same label to {same:,} of {row['n']:,} ({share_words(row)})."


def chance_words(kappa: Row) -> str:
    """Agreement beyond chance, in a sentence."""
    if reason := undefined(kappa):
        return f"Agreement beyond chance is not defined ({reason})."
    span = coefficient_interval(kappa["low"], kappa["high"])
    return f"Agreement beyond chance (weighted kappa) is {coefficient(kappa['value'])} ({span}): {kappa['word']}."


# -- the judge -------------------------------------------------------------------------------------------------------------


def judge_sentence(source: RatingSource) -> str:
    """How often the judge gives the raters' label, for the rated pairs and weighted to the run."""
    by = reference_of(source)
    accuracy = figure(source.report, by, JUDGE, "accuracy")
    if reason := undefined(accuracy):
        return f"How often the judge gives {REFERENCES[by]} is not known ({reason})."
    right = round(accuracy["value"] * accuracy["n"])
    words = f"The judge gives {REFERENCES[by]} in {right:,} of {accuracy['n']:,} pairs ({share_words(accuracy)})."
    if source.ratings.design is not None:
        weighted = figure(source.report, by, JUDGE, "accuracy", scope=POPULATION)
        words += "" if undefined(weighted) else f" Weighted to the run, that is {share_words(weighted)}."
    return f"{words} {chance_words(figure(source.report, by, JUDGE, source.report.scheme.headline))}"


def counted_sentence(source: RatingSource) -> str:
    """Which of the rated pairs the figures about the judge count."""
    counted = figure(source.report, reference_of(source), JUDGE, "accuracy")["n"]
    left_out = source.rated - counted
    settled = "a label after adjudication" if reference_of(source) == GOLD else "a label on which the raters agree"
    words = f"Counted: {counted:,} pairs that have {settled} and a verdict of the judge."
    return f"{words} {left_out:,} other rated pairs lack one of the two." if left_out else words


def label_sentence(source: RatingSource, label: Label) -> str:
    """Of the pairs to which the judge gave a label, how many raters confirm; of those that raters give it, how many it finds."""
    by, scope = reference_of(source), SAMPLE if source.ratings.design is None else POPULATION
    sampled, weighted, recall = (
        figure(source.report, by, JUDGE, name, label.value, of)
        for name, of in ((PRECISION, SAMPLE), (PRECISION, scope), ("recall", scope))
    )
    # The interval of the run knows how many pairs are left, but its share is that of the counts only where nothing is weighted.
    precision = weighted if math.isclose(weighted["value"], sampled["value"]) else sampled
    word, who = label.value.lower(), source.kind.words
    if undefined(precision):
        confirmed = f"The judge called none of the rated pairs {word}."
    else:
        right = round(precision["value"] * precision["n"])
        confirmed = f"Of {precision['n']:,} pairs called {word}, {who} confirm {right:,} ({share_words(precision)})."
        start = next((one for one in confirmations(source.ratings) if one.label == label.value), None)
        if start and (start.confirmed, start.rated) != (right, precision["n"]):
            confirmed += ON_START.format(confirmed=start.confirmed, rated=start.rated)
    if undefined(recall):
        return f"{confirmed} {capitalised(who)} called none {word}, so how many the judge misses is not known."
    in_run = "; weighted to the run" if scope == POPULATION else ""
    care = FEW if "too small" in precision["note"] + recall["note"] else ""
    span = interval(recall["low"], recall["high"], 0) or "unknown"
    recall_words = f"{percent(recall['value'], 0)} of those that {who} call {word} (95 % interval {span}{in_run})"
    return f"{confirmed} It finds {recall_words}.{care}"


# -- asked again -------------------------------------------------------------------------------------------------------


def check_sentences(run: Run, checks: pd.DataFrame) -> Iterator[str]:
    """One sentence per kind of check that was made (rows of `judge_checks`)."""
    figures: Mapping[Any, Row] = checks.set_index(["kind", "figure"]).to_dict("index")
    for kind, words in CHECK_WORDS.items():
        changed, crossed = (figures[kind, name] for name in ("changed", "crossed"))
        if changed["of"]:
            moved = f"{crossed['count']:,} moved between agreement and disagreement ({_check_share(crossed)})"
            relabelled = f"{changed['count']:,} of {changed['of']:,} pairs got another label ({_check_share(changed)})"
            yield f"Asked again with {fill(run, words)}: {relabelled}; {moved}."


def unmeasured_checks(run: Run, checks: pd.DataFrame) -> list[str]:
    """The kinds of check that were not made, in words."""
    made = checks[checks["figure"] == "changed"].set_index("kind")["of"]
    return [fill(run, words) for kind, words in CHECK_WORDS.items() if not made[kind]]


def planted_sentences(effects: pd.DataFrame) -> Iterator[str]:
    """One sentence for changes that must move the label and one for those that must not (rows by effect)."""
    for row in effects.to_dict("records"):
        if row["of"]:
            must = (
                "should change the label, it changed as expected"
                if row["effect"] == MOVES
                else "should not change it, it stayed the same"
            )
            yield f"After {row['of']:,} planted changes that {must} in {row['count']:,} ({_check_share(row)})."


def _check_share(row: Row) -> str:
    return f"{percent(row['value'])}, 95 % interval {interval(row['value_low'], row['value_high']) or 'unknown'}"
