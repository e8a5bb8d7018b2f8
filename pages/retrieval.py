"""Retrieval: which way of searching finds the section that holds the answer, how often, and at what cost."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from audit.charts.rates import rate_dots
from audit.charts.run_changes import points, points_interval
from audit.charts.style import NO_VALUE, handbook_names, interval, percent
from audit.exports.figures import RETRIEVAL_RATES
from audit.metrics.retrieval import (
    COST_TABLE,
    MEANINGS,
    MEANS,
    MODE_TITLES,
    retrieval,
    retrieval_answers,
    retrieval_missed,
)
from audit.metrics.retrieval_paired import retrieval_paired
from audit.number_format import signed
from audit.queries.picker_options import handbook_list
from audit.store.runs import Run
from audit.tables import Column
from audit.terms import display_name
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.pickers import choose
from pages._shared.tables import clicked_row, table
from pages._shared.terms import escaped, say, title_of
from pages._shared.widgets import chart, counts, footer, go_to

LEAD = "Which way of searching finds the section that holds the answer? Strategies on the same {questions} and {handbooks}."
NO_TRIALS = (
    "This run has no trials of retrieval, so strategies cannot be compared: that is not measured, and not zero. A release brings "
    "them in trials.jsonl; for {handbooks} of your own these make them:"
)
MAKE_THEM = """\
audit retrieve DOCUMENTS --questions FILE --out DIR --gold FILE --strategy hero --strategy bm25
audit run CONFIG.toml      # with gold sections named in it: retrieves, answers, judges and loads"""
TRIED = "Each strategy is tried on **{n}** searches{fewer} whose section is known, on {questions} {word}"
UNKNOWN = "; {unknown} more, of which it is not known, are in no measure."
MOST_LISTED = 300
DECIMALS = 3
"""Of a change of a mean that is not a share."""


def compared(run: Run, everything: pd.DataFrame) -> None:
    """The measures of each strategy with intervals, then each against the first."""
    most, unknown = int(everything["trials"].max()), int(everything["no_gold"].max())
    questions = int(everything["questions"].max())
    fewer = "" if everything["trials"].nunique() == 1 else " or fewer"
    counts(
        run, TRIED + (UNKNOWN if unknown else "."), n=f"{most:,}", fewer=fewer, unknown=f"{unknown:,}",
        questions=f"{questions:,}", word=run.term("question", questions),
    )  # fmt: skip
    chart(
        rate_dots(everything, "strategy", RETRIEVAL_RATES), "measures", "How well each strategy finds the section that answers."
    )
    counts(run, MEANINGS + " Lines: 95 % intervals, {questions} resampled.")
    footer(everything, "retrieval", run, "retrieval")


def _change(measure: str, value: float) -> str:
    """`+1.2 points` of a share, `+0.012` of a mean; a dash where it is not known."""
    if pd.isna(value):
        return NO_VALUE
    return signed(value, DECIMALS) if measure in MEANS else f"{points(value)} points"


def _change_interval(measure: str, low: float, high: float) -> str:
    """`-1.2 to +0.4` in the same unit; empty where there is no interval."""
    if pd.isna(low) or measure not in MEANS:
        return points_interval(low, high)
    return f"{signed(low, DECIMALS)} to {signed(high, DECIMALS)}"


def against_the_first(run: Run) -> None:
    """Paired differences, search by search."""
    frame = load(retrieval_paired, run)
    if frame.empty:
        return
    st.header(escaped(f"Each against {frame['against'].iloc[0]}, search by search"), anchor=False)
    drawn = frame.assign(
        change=list(map(_change, frame["measure"], frame["change"])),
        span=list(map(_change_interval, frame["measure"], frame["change_low"], frame["change_high"])),
    )  # fmt: skip
    strategy, measure, change, direction, *counted = retrieval_paired.table.pick(
        run, "strategy", "measure", "change", "moves", "questions", "trials"
    )
    in_words = Column.text("change", change.heading), Column.text("span", "95 % interval")
    table(drawn, "paired", (strategy, measure, *in_words, direction, *counted), rows=15)
    counts(run, "Both made the same searches, so what makes one {question} harder than another drops out.")
    footer(frame, "retrieval-paired", run, "retrieval_paired")


def cost(run: Run, everything: pd.DataFrame) -> None:
    """What each strategy gave to the generator, and its CPU time."""
    st.header("What was given, and at what cost", anchor=False)
    total = everything[list(MODE_TITLES)].sum(axis=1).astype(int)
    used = [name for name in MODE_TITLES if everything[name].sum()]
    table(everything.assign(total=total), "cost", COST_TABLE.pick(run, "strategy", "total", *used, "seconds"))


def answered(run: Run) -> None:
    """Whether the run's own answers rest on the gold sections."""
    frame = load(retrieval_answers, run)
    total = int(frame["of"].iloc[0])
    st.header("Answered from the section that holds it", anchor=False)
    if not total:
        counts(run, "No answer of this run belongs to a search with a known section.")
        return
    best = frame.iloc[0]
    st.markdown(
        say(
            run, "Of **{n}** answers whose section is known, **{share}** cite it (95 % interval {span}).", n=f"{total:,}",
            share=percent(best["value"]), span=interval(best["value_low"], best["value_high"]) or "unknown",
        )
    )  # fmt: skip
    table(frame, "answered", retrieval_answers.table.pick(run))
    footer(frame, "retrieval-answers", run, "retrieval_answers")


def by_group(run: Run, names: dict[str, str]) -> None:
    """hit@5 of every strategy by organ of the question or by handbook."""
    st.header("Where it is harder", anchor=False)
    by = choose("By", ("organ", "handbook"), "by", lambda name: title_of(run, name), show_label=False)
    frame = load(retrieval, run, by=by)
    named = frame.assign(name=[names.get(name, display_name(name)) for name in frame["name"]])
    measured = retrieval.table.pick(run, "strategy", "trials", "hit_5", "hit_1", "mrr")
    table(named, f"by_{by}", (Column.text("name", title_of(run, by)), *measured), rows=12)
    counts(run, "Few searches make wide intervals: read the shares with them.")
    footer(frame, f"retrieval-{by}", run, "retrieval")


def missed(run: Run, names: dict[str, str], strategies: list[str]) -> None:
    """The searches that a strategy missed; a click opens the answer."""
    st.header("What a strategy misses", anchor=False)
    strategy = choose("Strategy", strategies, "strategy", show_label=False)
    frame = load(retrieval_missed, run, strategy=strategy)
    if frame.empty:
        counts(run, "It misses none of its searches with a known section.")
        return
    counts(
        run, "**{n}** searches without a gold section among the first five{cut}. Click one to open the answer.",
        n=f"{len(frame):,}", cut=f"; {MOST_LISTED} listed" if len(frame) > MOST_LISTED else "",
    )  # fmt: skip
    listed = frame.assign(handbook=frame["handbook_id"].map(names)).head(MOST_LISTED)
    columns = retrieval_missed.table.pick(run, "question_text", "handbook", "place", "found_by")
    picked = clicked_row(listed, f"missed_{strategy}", columns, rows=8)
    footer(frame, "retrieval-missed", run, "retrieval_missed")
    if picked is not None:
        go_to("answer", run, question=str(picked["question_id"]), handbook=str(picked["handbook_id"]))


with page("Retrieval", LEAD) as run:
    everything = load(retrieval, run)
    if everything.empty:
        st.info(say(run, NO_TRIALS))
        st.code(MAKE_THEM, language="bash", wrap_lines=True)
        st.stop()
    names = handbook_names(load(handbook_list, run))
    if everything["trials"].sum():
        compared(run, everything)
        against_the_first(run)
        answered(run)
    else:
        st.info(say(run, "No trial of this run names the section that holds the answer: nothing is measured but what was given."))
    cost(run, everything)
    if everything["trials"].sum():
        by_group(run, names)
        missed(run, names, list(everything["strategy"]))
