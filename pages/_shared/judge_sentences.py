"""What is known of a judge's labels, in sentences: next to raters, asked again, and after planted changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from annotation.agreement.comparisons import POPULATION, SAMPLE
from annotation.agreement.estimates import MIN_ITEMS
from annotation.agreement.sentences import capitalised, figure, kappa_words, share_words, undefined
from annotation.prevalence.sentences import confirmed_words
from annotation.ratings.gold import MAJORITY, confirmed_calls
from annotation.ratings.table import GOLD, JUDGE
from audit.charts.style import interval, percent
from audit.metrics.judge import CHECK_WORDS
from audit.metrics.planted import MOVES
from audit.store.runs import Run
from audit.tables import Row
from audit.terms import fill
from audit.vocabulary import LABELS, Label
from pages._shared.rating_sources import RatingSource

REFERENCES = {MAJORITY: "the label that the raters agree on", GOLD: "the label of the raters after adjudication"}
ORDER = LABELS[::-1]
"""Disagreements first: they are what a reader looks for, and rare enough to be wrong often."""
FEW = " Few pairs: read this with care."


def reference_of(source: RatingSource) -> str:
    """What the judge is measured by: the adjudicated labels where there are any, else the label that raters agree on."""
    return GOLD if GOLD in source.ratings.labels else MAJORITY


def chance_sentence(source: RatingSource) -> str:
    """How far the judge agrees with raters beyond chance."""
    by = reference_of(source)
    if words := kappa_words(source.report, by, JUDGE):
        return f"The judge agrees with {REFERENCES[by]} beyond chance, {words}."
    reason = undefined(figure(source.report, by, JUDGE, source.report.scheme.headline))
    return f"How far the judge agrees with {REFERENCES[by]} beyond chance is not defined ({reason})."


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
    return words


def label_sentence(source: RatingSource, label: Label) -> str:
    """Of the pairs to which the judge gave a label, how many raters confirm; of those that raters give it, how many it finds."""
    by, scope = reference_of(source), SAMPLE if source.ratings.design is None else POPULATION
    recall = figure(source.report, by, JUDGE, "recall", label.value, scope)
    calls = confirmed_calls(source.ratings, label)
    word, who = label.value.lower(), source.kind.words
    if calls.rated:
        confirmed = f"Of the pairs called {word}, {who} confirm {confirmed_words(calls)}."
    else:
        confirmed = f"The judge called none of the rated pairs {word}."
    if undefined(recall):
        return f"{confirmed} {capitalised(who)} called none {word}, so how many the judge misses is not known."
    in_run = "; weighted to the run" if scope == POPULATION else ""
    care = FEW if calls.rated < MIN_ITEMS or "too small" in recall["note"] else ""
    span = interval(recall["low"], recall["high"], 0) or "unknown"
    recall_words = f"{percent(recall['value'], 0)} of those that {who} call {word} (95 % interval {span}{in_run})"
    return f"{confirmed} The judge finds {recall_words}.{care}"


def check_sentences(run: Run, checks: pd.DataFrame) -> dict[str, str]:
    """Kind of check -> a sentence, of those that were made (rows of `judge_checks`)."""
    figures: Mapping[Any, Row] = checks.set_index(["kind", "figure"]).to_dict("index")
    return {kind: _check_sentence(run, kind, figures) for kind in CHECK_WORDS if figures[kind, "changed"]["of"]}


def _check_sentence(run: Run, kind: str, figures: Mapping[Any, Row]) -> str:
    changed, crossed = (figures[kind, name] for name in ("changed", "crossed"))
    moved = f"{crossed['count']:,} moved between agreement and disagreement ({share_with_interval(crossed)})"
    relabelled = f"{changed['count']:,} of {changed['of']:,} pairs got another label ({share_with_interval(changed)})"
    return f"Asked again with {fill(run, CHECK_WORDS[kind])}: {relabelled}; {moved}."


def planted_sentences(effects: pd.DataFrame) -> Iterator[str]:
    """One sentence for changes that must move the label and one for those that must not (rows by effect)."""
    for row in effects.to_dict("records"):
        if row["of"]:
            must = (
                "should change the label, it changed as expected"
                if row["effect"] == MOVES
                else "should not change it, it stayed the same"
            )
            yield f"After {row['of']:,} planted changes that {must} in {row['count']:,} ({share_with_interval(row)})."


def share_with_interval(row: Row) -> str:
    """`3.2 %, 95 % interval 1.0 to 5.1 %`."""
    return f"{percent(row['value'])}, 95 % interval {interval(row['value_low'], row['value_high']) or 'unknown'}"
