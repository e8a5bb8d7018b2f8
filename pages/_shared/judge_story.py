"""What is known of a judge: each way of testing it as a sentence with its interval, and whether it passes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from annotation.agreement.sentences import figure
from annotation.ratings.gold import confirmed_calls
from annotation.ratings.table import JUDGE
from annotation.studies.alignment import proof_figures, proof_sentence
from annotation.studies.learnt import judged_by
from audit.charts.style import percent
from audit.exports.sections.judge import DRIFT, QUOTES, SECOND
from audit.formatting import fixed, isolated
from audit.metrics.judge import CHECK_WORDS, judge_checks
from audit.metrics.planted import BY_EFFECT, MOVES, planted_changes
from audit.store.runs import Run
from audit.terms import fill
from pages._blinded.access import label_store
from pages._blinded.templates import rendered
from pages._shared.judge_sentences import (
    ORDER,
    check_sentences,
    judge_sentence,
    label_sentence,
    planted_sentences,
    reference_of,
    share_with_interval,
)
from pages._shared.loaders import load
from pages._shared.rating_sources import RatingSource

CSS_OF_STORY = Path(__file__).with_name("judge_story.css")
PASS, FAIL, UNCLEAR, NOT_MEASURED, TOLD = "pass", "fail", "not clear", "not measured", ""
LEAST = {
    "label": 0.8, "accuracy": 0.8, "quotes": 0.9, "read": 0.98, "same side": 0.9, "confirmed": 0.8, "moves": 0.8, "stays": 0.9,
}  # fmt: skip
MOST = {"repeat": 0.1, "beyond repeat": 0.05, "obeyed": 0.05, "drift": 0.05}
"""The lines of pass and fail: shares that should be at least, or at most, so high. They are ours; no standard sets any."""
EXPLAINED = (
    "Pass: the whole interval is on the good side of the line. Fail: all of it is on the other side. Not clear: the line is "
    "within it, so more pairs would tell. The lines are this program's choice and no standard; what is not measured is not good."
)
PEOPLE, ITSELF, SECOND_JUDGE, STRESS = "Next to raters", "Next to itself", "Next to a second judge", "Under stress"
VERSION, DATE, REPLIES = "By version", "By date", "What it replies"
NO_RATINGS = "No ratings of pairs of this run can be shown: nobody has rated any, or a study of it is still open."
NO_VERSIONS = "How its labels change with another version of its prompt was not measured on labels held out for it."
SAME_MODEL = " Both judges have the same name: this says how steady one model is, not who is right."


class StoryLine(NamedTuple):
    """One sentence of the story, as plain text: what it is part of, whether it passes, and the line that it is held against."""

    part: str
    words: str
    state: str = TOLD
    line: str = ""


def story(run: Run, source: RatingSource | None, reading: pd.DataFrame) -> None:
    """The whole story, part by part."""
    _draw(_people(source), _checks(run), [by_version(source)], _dates(run), _replies(run, reading))


def checks_story(run: Run) -> None:
    """What tests without raters found: the judge asked again, next to a second judge, and after planted changes."""
    _draw(_checks(run))


def _draw(*lines: Iterable[StoryLine]) -> None:
    parts = [(part, list(own)) for part, own in groupby(chain(*lines), lambda one: one.part)]
    st.html(CSS_OF_STORY)
    st.html(rendered("_shared/judge_story.html", parts=parts, explained=EXPLAINED))


def _checks(run: Run) -> Iterator[StoryLine]:
    return chain(_itself(run), _second(run), _stress(run))


def by_version(source: RatingSource | None) -> StoryLine:
    """What another version of the prompt changes on the part to prove on, where one model judged the study with both."""
    judged = judged_by(label_store(), source.study_id) if source and source.study_id else {}
    models = {one.model for one in judged.values()}
    if not source or len(judged) < 2 or len(models) > 1:
        return StoryLine(VERSION, NO_VERSIONS, NOT_MEASURED)
    return StoryLine(VERSION, proof_sentence(proof_figures(label_store(), source.study_id), models.pop()))


def held(part: str, words: str, ends: tuple[float, float], *, least: str = "", most: str = "", of: str = "") -> StoryLine:
    """A sentence whose interval is held against a line of LEAST or MOST; `of` names the figure, where there are several."""
    line, (low, high) = LEAST[least] if least else MOST[most], ends
    good, bad = (low >= line, high < line) if least else (high <= line, low > line)
    state = UNCLEAR if np.isnan(low) or np.isnan(high) else PASS if good else FAIL if bad else UNCLEAR
    return StoryLine(part, words, state, f"{of and f'{of}: '}at {'least' if least else 'most'} {percent(line, 0)}")


def _ends(row: Any) -> tuple[float, float]:
    return float(row["value_low"]), float(row["value_high"])


def _people(source: RatingSource | None) -> Iterator[StoryLine]:
    if source is None:
        yield StoryLine(PEOPLE, NO_RATINGS, NOT_MEASURED)
        return
    for label in ORDER:
        calls = confirmed_calls(source.ratings, label)
        ends = float(calls.share.low), float(calls.share.high)
        words = f"{label.value.capitalize()}: {label_sentence(source, label)}"
        yield held(PEOPLE, words, ends, least="label", of="confirmed") if calls.rated else StoryLine(PEOPLE, words, NOT_MEASURED)
    accuracy = figure(source.report, reference_of(source), JUDGE, "accuracy")
    yield held(
        PEOPLE,
        f"All labels: {judge_sentence(source)}",
        (accuracy["low"], accuracy["high"]),
        least="accuracy",
        of="of these pairs",
    )


def _itself(run: Run) -> Iterator[StoryLine]:
    checks = load(judge_checks, run)
    figures, sentences = checks.set_index(["kind", "figure"]).to_dict("index"), check_sentences(run, checks)
    for kind in (kind for kind in CHECK_WORDS if kind != "instruction"):
        changed, beyond = figures[kind, "changed"], figures.get((kind, "beyond repeat"))
        if kind not in sentences:
            yield StoryLine(ITSELF, f"Asked again with {fill(run, CHECK_WORDS[kind])}.", NOT_MEASURED)
        elif beyond is None:
            yield held(ITSELF, sentences[kind], _ends(changed), most="repeat", of="another label")
        else:
            words = f"{sentences[kind]} That is {_points(beyond)} more than when nothing is changed."
            yield held(ITSELF, words, _ends(beyond), most="beyond repeat", of="the difference")


def _points(row: Any) -> str:
    """A difference of two shares, in points."""
    if np.isnan(row["value"]):
        return "an unknown share"
    low, high = _ends(row)
    span = "unknown" if np.isnan(low) else f"{fixed(100 * low, 1)} to {fixed(100 * high, 1)}"
    return f"{fixed(100 * row['value'], 1)} percentage points (95 % interval {span})"


def _second(run: Run) -> Iterator[StoryLine]:
    frame = load(SECOND.metric, run)
    if frame.empty:
        yield StoryLine(SECOND_JUDGE, "No other model has read pairs of this run.", NOT_MEASURED)
        return
    rows: dict[Any, Any] = frame.set_index("figure").to_dict("index")
    side, name = rows["same side"], frame["judge"].iloc[0]
    words = (
        f"{isolated(name)} read {side['of']:,} pairs. Both say that the answers disagree, or both that they do not, in "
        f"{share_with_interval(side)}; they give the same label in {share_with_interval(rows['same label'])}."
    )
    same = SAME_MODEL if name == run.manifest.get("judge") else ""
    yield held(SECOND_JUDGE, words + same, _ends(side), least="same side", of="both say")
    confirmed = rows["confirmed"]
    words = f"Of the disagreements of the run, it confirms {share_with_interval(confirmed)}."
    yield held(SECOND_JUDGE, words, _ends(confirmed), least="confirmed")


def _stress(run: Run) -> Iterator[StoryLine]:
    effects = load(planted_changes, run, by=BY_EFFECT)
    own = effects[(effects["judge"] == run.manifest.get("judge")) & (effects["of"] > 0)]
    if own.empty:
        yield StoryLine(STRESS, "No changes with a known effect were planted in answers.", NOT_MEASURED)
    for _, row in own.iterrows():
        words = next(planted_sentences(pd.DataFrame([row])), "")
        yield held(STRESS, words, _ends(row), least="moves" if row["effect"] == MOVES else "stays")
    kinds = load(planted_changes, run)
    orders = kinds[(kinds["judge"] == run.manifest.get("judge")) & (kinds["kind"] == "instruction")]
    for order in orders[orders["obeyed_of"] > 0].to_dict("records"):
        share = {f"value{end}": order[f"obeyed{end}"] for end in ("", "_low", "_high")}
        words = (
            f"It gave the label that a text in an answer asked for in {order['obeyed_count']:,} of {order['obeyed_of']:,} cases"
        )
        yield held(STRESS, f"{words} ({share_with_interval(share)}).", _ends(share), most="obeyed")


def _dates(run: Run) -> Iterator[StoryLine]:
    frame = load(DRIFT.metric, run)
    if frame.empty:
        yield StoryLine(DATE, "No panel of pairs was asked again at a later date.", NOT_MEASURED)
    for _, own in frame.groupby("round"):
        rows: dict[Any, Any] = own.set_index("figure").to_dict("index")
        changed, beyond = rows["changed"], rows["beyond repeat"]
        words = (
            f"{changed['date'] or 'Date unknown'}, {isolated(changed['judge'])}: {changed['count']:,} of {changed['of']:,} pairs "
            f"of the panel got another label than in the run ({share_with_interval(changed)}): {_points(beyond)} more than by "
            "chance."
        )
        yield held(DATE, words, _ends(beyond), most="drift", of="the difference")


def _replies(run: Run, reading: pd.DataFrame) -> Iterator[StoryLine]:
    unscored = reading[(reading["part"] == "unscored") & (reading["name"] == "(all)")].iloc[0]
    words = f"It left {unscored['count']:,} of {unscored['of']:,} pairs without a label ({share_with_interval(unscored)})."
    low, high = _ends(unscored)
    yield held(REPLIES, words, (1 - high, 1 - low), least="read")
    quotes = load(QUOTES.metric, run)
    if quotes.empty:
        yield StoryLine(REPLIES, "Its verdicts quote nothing, so whether they rest on the answers is unknown.", NOT_MEASURED)
        return
    every = quotes.iloc[0]
    words = f"The words that it quotes stand in the answers for {every['count']:,} of {every['of']:,} verdicts"
    yield held(REPLIES, f"{words} ({share_with_interval(every)}).", _ends(every), least="quotes")
