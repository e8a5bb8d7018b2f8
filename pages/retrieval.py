"""Retrieval: which way of searching finds the section that holds the answer, how often, and at what cost."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from audit.charts.rates import rate_dots
from audit.charts.style import NO_VALUE, handbook_names, interval, percent
from audit.exports.searched import ANSWERS, MEANINGS, MODES, MOVES, NOBODY, RATES, TITLES, change_of, change_within
from audit.metrics.retrieval import retrieval, retrieval_answers, retrieval_missed
from audit.metrics.retrieval_paired import retrieval_paired
from audit.queries.picker_options import handbook_list
from audit.store.runs import Run
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


def compared(run: Run, everything: pd.DataFrame) -> None:
    """The measures of each strategy with intervals, then each against the first."""
    most, unknown = int(everything["trials"].max()), int(everything["no_gold"].max())
    questions = int(everything["questions"].max())
    fewer = "" if everything["trials"].nunique() == 1 else " or fewer"
    counts(
        run, TRIED + (UNKNOWN if unknown else "."), n=f"{most:,}", fewer=fewer, unknown=f"{unknown:,}",
        questions=f"{questions:,}", word=run.term("question", questions),
    )  # fmt: skip
    chart(rate_dots(everything, "strategy", RATES), "measures", "How well each strategy finds the section that answers.")
    counts(run, MEANINGS + " Lines: 95 % intervals, {questions} resampled.")
    footer(everything, "retrieval", run, "retrieval")


def against_the_first(run: Run) -> None:
    """Paired differences, search by search."""
    frame = load(retrieval_paired, run)
    if frame.empty:
        return
    st.header(escaped(f"Each against {frame['against'].iloc[0]}, search by search"), anchor=False)
    told = frame.assign(
        measure=frame["measure"].map(TITLES), moves=frame["moves"].map(MOVES),
        change=list(map(change_of, frame["measure"], frame["change"])),
        span=list(map(change_within, frame["measure"], frame["change_low"], frame["change_high"])),
    )  # fmt: skip
    headings = {
        "strategy": "Strategy", "measure": "Measure", "change": "Change", "span": "95 % interval", "moves": "So it is",
        "questions": "Differ on", "trials": "Searches",
    }  # fmt: skip
    table(told, "paired", headings, rows=15)
    counts(run, "Both made the same searches, so what makes one {question} harder than another drops out.")
    footer(frame, "retrieval-paired", run, "retrieval_paired")


def cost(everything: pd.DataFrame) -> None:
    """What each strategy gave to the generator, and its CPU time."""
    st.header("What was given, and at what cost", anchor=False)
    total = everything[list(MODES)].sum(axis=1)
    shares = everything.assign(**{name: everything[name] / total for name in MODES}, searches=total.astype(int))
    used = {name: title for name, title in MODES.items() if everything[name].sum()}
    told = shares.assign(seconds=[f"{value * 1000:,.1f} ms" if pd.notna(value) else NO_VALUE for value in shares["seconds"]])
    headings = {"strategy": "Strategy", "searches": "Searches", **used, "seconds": "CPU time a search"}
    table(told, "cost", headings, shares=tuple(used))


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
    headings = {"answer": "The answer", "count": "Answers", "of": "Of", "value": "Share", "interval": "Interval made by"}
    table(frame.assign(answer=frame["answer"].map(ANSWERS)), "answered", headings, shares=("value",))
    footer(frame, "retrieval-answers", run, "retrieval_answers")


def by_group(run: Run, names: dict[str, str]) -> None:
    """hit@5 of every strategy by organ of the question or by handbook."""
    st.header("Where it is harder", anchor=False)
    by = choose("By", ("organ", "handbook"), "by", lambda name: title_of(run, name), show_label=False)
    frame = load(retrieval, run, by=by)
    told = frame.assign(name=[names.get(name, display_name(name)) for name in frame["name"]])
    headings = {
        "name": title_of(run, by), "strategy": "Strategy", "trials": "Searches", "hit_5": "hit@5", "hit_1": "hit@1", "mrr": "MRR",
    }  # fmt: skip
    table(told, f"by_{by}", headings, shares=("hit_5", "hit_1"), rows=12)
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
    found_by = frame["found_by"].replace("", NOBODY)
    told = frame.assign(handbook=frame["handbook_id"].map(names), found_by=found_by).head(MOST_LISTED)
    headings = {
        "question_text": title_of(run, "question"), "handbook": title_of(run, "handbook"), "place": "At place",
        "found_by": "Found by",
    }  # fmt: skip
    picked = clicked_row(told, f"missed_{strategy}", headings, rows=8)
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
    cost(everything)
    if everything["trials"].sum():
        by_group(run, names)
        missed(run, names, list(everything["strategy"]))
