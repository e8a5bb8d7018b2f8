"""This run against another: what they share, how far their judges agree, what moved, and a moved pair with both verdicts."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from audit.charts.names import handbook_names
from audit.charts.style import NO_VALUE
from audit.charts.transitions import STATE_WORDS, transitions_figure
from audit.metrics.choices import handbook_list
from audit.metrics.moved import ANY, moved
from audit.metrics.pair import pair
from audit.metrics.run_agreement import run_agreement
from audit.metrics.shared import shared
from audit.metrics.transitions import transitions
from audit.store.runs import Run
from pages._shared.loaders import load, load_two, runs
from pages._shared.pickers import pick_one
from pages._shared.side_by_side import CSS, answers_html, verdict_html
from pages._shared.tables import clicked_row, table
from pages._shared.widgets import clicked_point, counts, footer, link
from pages._shared.words import escaped, say

ONLY_RUN = "Only this run is loaded. Judge it again, or load another release over the same questions, to compare the two:"
AGAIN = "audit judge {run} --out rejudged --load"
FIGURES = {
    "same label": "Same label", "DIVERGENT kept": "Divergent, and still so",
    "disagreement kept": "Disagreement, and still one", "disagreement new": "No disagreement, and now one",
    "significance stated": "Significance stated again", "significance the same": "The same significance again",
    "read in both": "Readable in both",
}  # fmt: skip
MOST_LISTED = 200
CELL = "cell"


def comparison(run: Run) -> None:
    """Pick another run and compare; without another one, say how to come by one."""
    others = {other.key: other for other in runs() if other.key != run.key}
    if not others:
        st.info(ONLY_RUN)
        st.code(AGAIN.format(run=run.key), language="bash", wrap_lines=True)
        return
    label = "Compare with"
    key = pick_one(label, list(others), "against", format_func=lambda name: f"{others[name].title} ({name})", placeholder="A run")
    if key is None:
        counts(run, "Pick a run above: its judge's verdicts on the same pairs are then held against this run's.")
    else:
        _compared(run, others[key])


def _compared(run: Run, other: Run) -> None:
    in_common = load_two(shared, run, other)
    both = in_common.set_index("what")["in_both"]
    if not both["pairs"]:
        st.info(say(run, "The two runs share no pair: no {question} with two {handbooks} of the same ids stands in both."))
        return
    _what_is_shared(run, in_common)
    cells, agreed = load_two(transitions, run, other), load_two(run_agreement, run, other)
    names = ("This run", "The other")
    alt = "What this run says of each pair, against what the other run says of the same pair."
    if clicked := clicked_point(transitions_figure(cells, *names), f"transitions_{other.key}", alt):
        st.session_state[CELL] = (other.key, *str(clicked).split("\t"))
    counts(
        run, "Each cell: pairs, and their share of the row. Framed cells say the same in both. Click a cell to list its pairs."
    )
    _agreement(run, agreed)
    footer(cells, "transitions", run, "transitions", "run_agreement", "shared", "moved")
    _moved(run, other)


def _what_is_shared(run: Run, in_common: pd.DataFrame) -> None:
    words = {"questions": run.term("question", 2), "handbooks": run.term("handbook", 2), "pairs": "pairs"}
    told = []
    for what, both, here, there in in_common.itertuples(index=False, name=None):
        alone = [f"{count:,} only in {name}" for count, name in ((here, "this run"), (there, "the other")) if count]
        told.append(", ".join([f"{both:,} {words[what]} in both", *alone]))
    counts(run, "{shared}. What only one run has is in no figure but the last row and column.", shared="; ".join(told))


def _agreement(run: Run, agreed: pd.DataFrame) -> None:
    kappa = agreed[agreed["figure"] == "kappa"].iloc[0]
    span = f"{kappa['value_low']:.2f} to {kappa['value_high']:.2f}" if pd.notna(kappa["value_low"]) else "unknown"
    counts(
        run, "Over the {n} pairs that both judges labelled, kappa is **{value}** (95 % interval {span}).",
        n=f"{kappa['of']:,}", value=f"{kappa['value']:.2f}" if pd.notna(kappa["value"]) else NO_VALUE, span=span,
    )  # fmt: skip
    shares = agreed[agreed["figure"] != "kappa"]
    headings = {"figure": "Of the pairs that both judges were asked about", "count": "Pairs", "of": "Of", "value": "Share"}
    table(
        shares.assign(figure=shares["figure"].map(FIGURES)), "run_agreement", {**headings, "interval": "Interval made by"},
        shares=("value",),
    )  # fmt: skip


def _moved(run: Run, other: Run) -> None:
    """The pairs of the clicked cell, or all that moved; the one clicked with both verdicts."""
    key, first, second = st.session_state.get(CELL, (other.key, ANY, ANY))
    if key != other.key:
        first = second = ANY
    listed = load_two(moved, run, other, first=first, second=second, limit=MOST_LISTED)
    if listed.empty:
        counts(run, "No pair moved from one label to another.")
        return
    total = int(listed["total"].iloc[0])
    which = "moved" if first == ANY else f"{STATE_WORDS[first]} here and {STATE_WORDS[second]} there"
    st.subheader("The pairs behind it", anchor=False)
    counts(
        run, "**{total}** {which}{cut}. Click one to read both verdicts.",
        total=f"{total:,} {'pair' if total == 1 else 'pairs'}", which=which,
        cut=f", {MOST_LISTED} listed" if total > MOST_LISTED else "",
    )  # fmt: skip
    names = handbook_names(load(handbook_list, run))
    words = listed.assign(
        first=listed["first"].map(STATE_WORDS), second=listed["second"].map(STATE_WORDS),
        a=listed["handbook_a"].map(names), b=listed["handbook_b"].map(names),
    )  # fmt: skip
    headings = {"question_text": "Question", "a": "One", "b": "The other", "first": "This run", "second": "The other run"}
    picked = clicked_row(words, f"moved_{other.key}_{first}_{second}", headings, rows=8)
    footer(listed.drop(columns="total"), "moved", run)
    if picked is not None:
        both_verdicts(run, other, picked, names)


def both_verdicts(run: Run, other: Run, row: pd.Series, names: dict[str, str]) -> None:
    """One pair: what each run's judge says of it beside each other, then both answers."""
    chosen = {"question_id": row["question_id"], "handbook_a": row["handbook_a"], "handbook_b": row["handbook_b"]}
    here, there = (load(pair, each, **chosen) for each in (run, other))
    st.html(CSS)
    st.subheader(escaped(here.question.text), anchor=False)
    for column, each, found in zip(st.columns(2), (run, other), (here, there), strict=True):
        with column:
            st.caption(f"{escaped(each.title)}")
            st.html(f'<div class="pair">{verdict_html(each, found)}</div>')
            link(
                "disagreements", "Open it among the disagreements of this run", each, icon=":material/open_in_new:",
                question=row["question_id"], a=row["handbook_a"], b=row["handbook_b"],
            )  # fmt: skip
    if (here.a.answer, here.b.answer) != (there.a.answer, there.b.answer):
        counts(run, "The two runs hold different answers to this question; those of this run are shown.")
    st.html(f'<div class="pair">{answers_html(here, names, "all")}</div>')
