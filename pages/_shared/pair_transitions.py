"""Two runs pair by pair: what each says of it, how far their judges agree, and a pair that moved with both verdicts."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from audit.charts.style import coefficient, coefficient_interval, handbook_names
from audit.charts.transitions import STATE_WORDS, flows_figure, transitions_figure
from audit.metrics.run_agreement import run_agreement
from audit.metrics.transitions import ANY, changed_pairs, transitions
from audit.queries.pair_view import Pair, pair
from audit.queries.picker_options import handbook_list
from audit.store.runs import Run
from audit.tables import Column
from pages._shared.loaders import load, load_two
from pages._shared.run_comparison import Two
from pages._shared.side_by_side import CSS, answers_html, verdict_html
from pages._shared.tables import clicked_row, table
from pages._shared.terms import escaped
from pages._shared.widgets import chart, clicked_point, counts, footer, link

MOST_LISTED = 200
CELL = "cell"


def flows(two: Two) -> None:
    """Every pair from what the first run says to what the second says: as a matrix that can be clicked, and as bands."""
    st.header("Label by label", anchor=False)
    cells = load_two(transitions, two.first, two.second)
    alt = "What the first run says of each pair, against what the second run says of the same pair."
    matrix, bands = st.tabs(["Matrix", "Flow"])
    with matrix:
        if clicked := clicked_point(transitions_figure(cells, *two.names), f"transitions_{two.id}", alt):
            st.session_state[CELL] = (two.id, *str(clicked).split("\t"))
        counts(
            two.run,
            "Each cell: pairs, and their share of the row. Framed: the same in both. Click a cell to list its pairs below.",
        )
    with bands:
        chart(flows_figure(cells, *two.names), f"flows_{two.id}", alt)
        alone = cells[(cells["first"] == "PRE-SCREENED") & (cells["second"] == "PRE-SCREENED")]["pairs"].sum()
        counts(two.run, "Without {n} pairs that are pre-screened in both. The thinnest bands are drawn thicker.", n=f"{alone:,}")
    agreed = load_two(run_agreement, two.first, two.second)
    _agreement(two, agreed)
    footer(cells, "transitions", two.run, "transitions", "run_agreement", "changed_pairs")


def _agreement(two: Two, agreed: pd.DataFrame) -> None:
    kappa = agreed[agreed["figure"] == "kappa"].iloc[0]
    counts(
        two.run, "Over the {n} pairs that both judges labelled, kappa is **{value}** (95 % interval {span}).",
        n=f"{kappa['of']:,}", value=coefficient(kappa["value"]),
        span=coefficient_interval(kappa["value_low"], kappa["value_high"]),
    )  # fmt: skip
    shares = agreed[agreed["figure"] != "kappa"]
    figure, count, of, value, method = run_agreement.table.pick(two.run)
    table(shares, "run_agreement", (figure, count, of, Column.share("value", value.heading), method))


def moved_pairs(two: Two) -> None:
    """The pairs of the clicked cell, or all that moved; the one clicked with both verdicts."""
    key, first, second = st.session_state.get(CELL, (two.id, ANY, ANY))
    if key != two.id:
        first = second = ANY
    listed = load_two(changed_pairs, two.first, two.second, first=first, second=second, limit=MOST_LISTED)
    if listed.empty:
        counts(two.run, "No pair moved from one label to another.")
        return
    total = int(listed["total"].iloc[0])
    which = "moved" if first == ANY else f"{STATE_WORDS[first]} before and {STATE_WORDS[second]} after"
    st.header("The pairs behind it", anchor=False)
    counts(
        two.run, "**{total}** {which}{cut}. Click one to read both verdicts.",
        total=f"{total:,} {'pair' if total == 1 else 'pairs'}", which=which,
        cut=f", {MOST_LISTED} listed" if total > MOST_LISTED else "",
    )  # fmt: skip
    names = handbook_names(load(handbook_list, two.first))
    with_names = listed.assign(a=listed["handbook_a"].map(names), b=listed["handbook_b"].map(names))
    question, one, other, before, after = changed_pairs.table.pick(two.run)
    titles = replace(before, heading=two.names[0]), replace(after, heading=two.names[1])
    columns = (question, replace(one, name="a"), replace(other, name="b"), *titles)
    picked = clicked_row(with_names, f"moved_{two.id}_{first}_{second}", columns, rows=8)
    footer(listed.drop(columns="total"), "moved", two.run)
    if picked is not None:
        both_verdicts(two, picked, names)


def both_verdicts(two: Two, row: pd.Series, names: dict[str, str]) -> None:
    """One pair: what each run's judge says of it beside each other, then both answers."""
    chosen = {"question_id": row["question_id"], "handbook_a": row["handbook_a"], "handbook_b": row["handbook_b"]}
    before, after = (load(pair, each, **chosen) for each in (two.first, two.second))
    st.html(CSS)
    st.header(escaped(before.question.text), anchor=False)
    for column, each, found in zip(st.columns(2), (two.first, two.second), (before, after), strict=True):
        with column:
            _verdict(each, found, row)
    differ = (before.a.answer, before.b.answer) != (after.a.answer, after.b.answer)
    if differ:
        counts(two.run, "The two runs hold different answers to this {question}:")
    for name, each in zip(two.names, (before, after) if differ else (after,), strict=False):
        if differ:
            st.caption(escaped(name))
        st.html(f'<div class="pair">{answers_html(each, names, "all")}</div>')


def _verdict(each: Run, found: Pair, row: pd.Series) -> None:
    st.caption(escaped(each.title))
    st.html(f'<div class="pair">{verdict_html(each, found)}</div>')
    link(
        "disagreements", "Open it among the disagreements of this run", each, icon=":material/open_in_new:",
        question=row["question_id"], a=row["handbook_a"], b=row["handbook_b"],
    )  # fmt: skip
