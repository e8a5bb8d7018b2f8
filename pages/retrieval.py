"""Retrieval: which search strategy finds the section with the answer, how often, and at what cost."""

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

LEAD = "Which search strategy finds the section that contains the answer? All strategies are tried on the same {questions}."
NO_TRIALS = (
    "This run has no retrieval trials, so search strategies cannot be compared (not measured, which is not the same as zero). "
    "A release provides them in trials.jsonl; for your own {handbooks}, these commands create them:"
)
TRIAL_COMMANDS = """\
audit retrieve DOCUMENTS --questions FILE --out DIR --gold FILE --strategy hero --strategy bm25
audit run CONFIG.toml      # with gold sections in the configuration: retrieves, answers, judges, loads"""
TRIED = "{tried_on} **{n}** searches with a known section, over {questions} {word}"
UNKNOWN = "; {unknown} more without a known section are excluded."
MAX_LISTED = 300


def compared(run: Run, everything: pd.DataFrame) -> None:
    """The measures of each strategy, with intervals."""
    trials, unknown = int(everything["trials"].max()), int(everything["no_gold"].max())
    questions = int(everything["questions"].max())
    same_number = everything["trials"].nunique() == 1
    tried_on = "Each strategy was tried on" if same_number else "The strategies were tried on up to"
    counts(
        run, TRIED + (UNKNOWN if unknown else "."), n=f"{trials:,}", tried_on=tried_on, unknown=f"{unknown:,}",
        questions=f"{questions:,}", word=run.term("question", questions),
    )  # fmt: skip
    chart(
        rate_dots(everything, "strategy", RATES),
        "measures",
        "How well each strategy finds the section that contains the answer, with 95 % intervals.",
    )
    counts(run, MEANINGS + " Lines are 95 % intervals from resampling {questions}.")
    footer(everything, "retrieval", run, "retrieval")


def against_the_first(run: Run) -> None:
    """Paired differences, search by search."""
    frame = load(retrieval_paired, run)
    if frame.empty:
        return
    st.header(escaped(f"Each compared with {frame['against'].iloc[0]}, search by search"), anchor=False)
    rows = frame.assign(
        measure=frame["measure"].map(TITLES), moves=frame["moves"].map(MOVES),
        change=list(map(change_of, frame["measure"], frame["change"])),
        span=list(map(change_within, frame["measure"], frame["change_low"], frame["change_high"])),
    )  # fmt: skip
    headings = {
        "strategy": "Strategy", "measure": "Measure", "change": "Change", "span": "95 % interval", "moves": "So it is",
        "questions": "Differ on", "trials": "Searches",
    }  # fmt: skip
    table(rows, "paired", headings, rows=15)
    counts(run, "Both strategies made the same searches, so differences in difficulty between {questions} cancel out.")
    footer(frame, "retrieval-paired", run, "retrieval_paired")


def cost(everything: pd.DataFrame) -> None:
    """What each strategy gave to the generator, and its CPU time."""
    st.header("What the generator was given, and at what cost", anchor=False)
    total = everything[list(MODES)].sum(axis=1)
    shares = everything.assign(**{name: everything[name] / total for name in MODES}, searches=total.astype(int))
    used = {name: title for name, title in MODES.items() if everything[name].sum()}
    rows = shares.assign(seconds=[f"{value * 1000:,.1f} ms" if pd.notna(value) else NO_VALUE for value in shares["seconds"]])
    headings = {"strategy": "Strategy", "searches": "Searches", **used, "seconds": "CPU time a search"}
    table(rows, "cost", headings, shares=tuple(used))


def answered(run: Run) -> None:
    """Whether the run's own answers cite the gold sections."""
    frame = load(retrieval_answers, run)
    total = int(frame["of"].iloc[0])
    st.header("Answers that cite the known section", anchor=False)
    if not total:
        counts(run, "No answer of this run comes from a search with a known section.")
        return
    best = frame.iloc[0]
    st.markdown(
        say(
            run, "Of **{n}** answers with a known section, **{share}** cite it (95 % interval {span}).", n=f"{total:,}",
            share=percent(best["value"]), span=interval(best["value_low"], best["value_high"]) or "unknown",
        )
    )  # fmt: skip
    headings = {"answer": "The answer", "count": "Answers", "of": "Of", "value": "Share", "interval": "Interval made by"}
    table(frame.assign(answer=frame["answer"].map(ANSWERS)), "answered", headings, shares=("value",))
    footer(frame, "retrieval-answers", run, "retrieval_answers")


def by_group(run: Run, names: dict[str, str]) -> None:
    """hit@5 of every strategy by organ of the question or by handbook."""
    st.header("Where the section is harder to find", anchor=False)
    by = choose("By", ("organ", "handbook"), "by", lambda name: title_of(run, name), show_label=False)
    frame = load(retrieval, run, by=by)
    rows = frame.assign(name=[names.get(name, display_name(name)) for name in frame["name"]])
    headings = {
        "name": title_of(run, by), "strategy": "Strategy", "trials": "Searches", "hit_5": "hit@5", "hit_1": "hit@1", "mrr": "MRR",
    }  # fmt: skip
    table(rows, f"by_{by}", headings, shares=("hit_5", "hit_1"), rows=12)
    counts(run, "With few searches the intervals are wide: read each share together with its interval.")
    footer(frame, f"retrieval-{by}", run, "retrieval")


def missed(run: Run, names: dict[str, str], strategies: list[str]) -> None:
    """The searches that a strategy missed; a click opens the answer."""
    st.header("Searches that a strategy missed", anchor=False)
    strategy = choose("Strategy", strategies, "strategy", show_label=False)
    frame = load(retrieval_missed, run, strategy=strategy)
    if frame.empty:
        counts(run, "This strategy found the known section in every search.")
        return
    counts(
        run, "**{n}** searches without a gold section among the first five results{cut}. Click one to open the answer.",
        n=f"{len(frame):,}", cut=f"; {MAX_LISTED} are listed" if len(frame) > MAX_LISTED else "",
    )  # fmt: skip
    found_by = frame["found_by"].replace("", NOBODY)
    rows = frame.assign(handbook=frame["handbook_id"].map(names), found_by=found_by).head(MAX_LISTED)
    headings = {
        "question_text": title_of(run, "question"), "handbook": title_of(run, "handbook"), "place": "At place",
        "found_by": "Found by",
    }  # fmt: skip
    picked = clicked_row(rows, f"missed_{strategy}", headings, rows=8)
    footer(frame, "retrieval-missed", run, "retrieval_missed")
    if picked is not None:
        go_to("answer", run, question=str(picked["question_id"]), handbook=str(picked["handbook_id"]))


with page("Retrieval", LEAD) as run:
    everything = load(retrieval, run)
    if everything.empty:
        st.info(say(run, NO_TRIALS))
        st.code(TRIAL_COMMANDS, language="bash", wrap_lines=True)
        st.stop()
    names = handbook_names(load(handbook_list, run))
    if everything["trials"].sum():
        compared(run, everything)
        against_the_first(run)
        answered(run)
    else:
        st.info(
            say(
                run,
                "No trial of this run names the section that contains the answer, so only what the generator was "
                "given can be shown.",
            )
        )
    cost(everything)
    if everything["trials"].sum():
        by_group(run, names)
        missed(run, names, list(everything["strategy"]))
