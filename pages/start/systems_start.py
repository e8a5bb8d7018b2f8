"""Start of a run about answering systems: which answers better, by what, and who judged."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
import streamlit as st

from audit.charts.style import coefficient, coefficient_interval, interval, percent
from audit.metrics._systems import COMPOSITE
from audit.metrics.preferences import preferences
from audit.metrics.systems import system_differences
from audit.queries.system_answers import judges_of_systems
from audit.store.runs import Run
from audit.vocabulary import RaterKind
from pages._shared.loaders import load
from pages._shared.widgets import link, listed, say

TITLE = "Which system answers better"
LEAD = "The same {patient} questions were put to several answering systems."
PREFERRED = (
    "**{who} preferred {winner} to {other}** in {share} of {n} comparisons with a choice (95 % interval {span}, over "
    "{questions} {words})."
)
EVEN = "{who} did not clearly prefer {a} or {b}: {a} in {share} of {n} comparisons with a choice (95 % interval {span})."
JUDGED = (
    "On the eight criteria {name} has a composite of **{value}** and {against} **{first}**, on the same {n} {words}: a "
    "difference of {change} (95 % interval {span}), {verdict}. Judged by {judges}."
)
VERDICTS = {"rises": "higher", "falls": "lower"}
UNDECIDED = "which chance alone could explain"
NOTHING = "Nobody has compared or judged the answers of these systems yet, so it is not known which is better."
WHO = {RaterKind.HUMAN: "Raters", RaterKind.JUDGE: "A judge"}


def systems_start(run: Run) -> None:
    """What is known in sentences, and the ways to read on."""
    sentences = [*_preferred(run, load(preferences, run)), *_judged(run, load(system_differences, run))]
    for sentence in sentences or [NOTHING]:
        st.markdown(sentence)
    link("systems", "How the systems compare", run, icon=":material/balance:")
    link("system_answers", "Read their answers side by side", run, icon=":material/view_column:")


def _preferred(run: Run, frame: pd.DataFrame) -> Iterator[str]:
    """A sentence for each couple of systems and kind of rater with a decided comparison."""
    for row in frame.dropna(subset=["a_share"]).to_dict("records"):
        decided, a_wins = row["a"] + row["b"], row["a_share"] >= 1 / 2
        share, ends = row["a_share"], (row["a_share_low"], row["a_share_high"])
        clear = not ends[0] <= 1 / 2 <= ends[1]
        names = (row["name_a"], row["name_b"])
        if not clear:
            yield say(run, EVEN, who=WHO[row["rater_kind"]], a=names[0], b=names[1], share=percent(share), n=f"{decided:,}",
                      span=interval(*ends) or "unknown")  # fmt: skip
            continue
        winner, other = names if a_wins else names[::-1]
        own = (share, *ends) if a_wins else (1 - share, 1 - ends[1], 1 - ends[0])
        yield say(
            run, PREFERRED, who=WHO[row["rater_kind"]], winner=winner, other=other, share=percent(own[0]), n=f"{decided:,}",
            span=interval(*own[1:]) or "unknown", questions=f"{row['questions']:,}", words=run.term("question", row["questions"]),
        )  # fmt: skip


def _judged(run: Run, frame: pd.DataFrame) -> Iterator[str]:
    """A sentence for each system that was judged like the first one."""
    judges = listed(load(judges_of_systems, run)) or "a judge that is not named"
    for row in frame[frame["measure"] == COMPOSITE].dropna(subset=["change"]).to_dict("records"):
        span = coefficient_interval(row["change_low"], row["change_high"]) or "unknown"
        yield say(
            run, JUDGED, name=row["name"], against=row["against"], value=coefficient(row["value"]),
            first=coefficient(row["first"]), n=f"{row['of']:,}", words=run.term("question", row["of"]),
            change=coefficient(row["change"]), span=span, verdict=VERDICTS.get(row["moves"], UNDECIDED), judges=judges,
        )  # fmt: skip
