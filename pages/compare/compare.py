"""Compare: what changed between two runs, in the answers found and in how they were judged."""

from __future__ import annotations

import math
from dataclasses import replace

import pandas as pd
import streamlit as st

from audit.charts.style import coefficient, coefficient_interval, handbook_names
from audit.charts.transitions import STATE_WORDS, transitions_figure
from audit.metrics.ablation import runs_cost, topic_likeness
from audit.metrics.records import shared
from audit.metrics.transitions import ANY, changed_pairs, run_agreement, transitions
from audit.queries.lookup import handbook_list
from audit.queries.pair_view import Pair, pair
from audit.store.runs import Run
from audit.tables import Column
from audit.terms import fill
from pages._blinded.frame import escaped
from pages._shared.loaders import load, load_two
from pages._shared.page import page
from pages._shared.pickers import choose
from pages._shared.side_by_side import CSS, answers_html, pair_html, verdict_html
from pages._shared.widgets import clicked_point, clicked_row, counts, figure_frame, footer, link, table
from pages.compare.run_comparison import (
    ComparedRuns,
    causes_section,
    common_data,
    headline,
    moved_section,
    nothing_in_common,
    organ_section,
    pick_two_runs,
)

LEAD = "What changed between two runs: which answers were newly found or lost, and which pairs got another label."
VIEWS = {
    "all": "What changed", "organ": "By {organ}", "moved": "Where most changed", "labels": "Label by label",
    "costs": "Topics and costs",
}  # fmt: skip


# -- Two runs pair by pair: label against label, and the pairs whose label changed ---------------------------


MAX_LISTED = 200
CELLS_NOTE = (
    "Each cell has the number of pairs and their share of the row; framed cells kept their label. A click lists the pairs."
)
TRANSITIONS = ("Labels", "Figures")
CELL = "cell"  # in the session: the comparison that the clicked cell belongs to, its state in the first and in the second run


def transitions_section(compared: ComparedRuns) -> None:
    """The labels of the first run against those of the second: a clickable matrix."""
    cells = load_two(transitions, compared.first, compared.second)
    alt = "The label of each pair in the first run against its label in the second run."
    metrics = "transitions", "run_agreement", "changed_pairs"
    chart, figures = figure_frame(compared.run, "transitions", cells, "transitions", *metrics, tabs=TRANSITIONS)
    if chart.open:
        with chart:
            if clicked := clicked_point(transitions_figure(cells, *compared.names), f"transitions_{compared.id}", alt):
                st.session_state[CELL] = (compared.id, *str(clicked).split("\t"))
            counts(compared.run, CELLS_NOTE)
    if figures.open:
        with figures:
            _agreement_table(compared, load_two(run_agreement, compared.first, compared.second))


KAPPAS = {
    "kappa": "On the {n} pairs that both judges labelled, kappa is **{value}** (95 % interval {span}).",
    "significance kappa": "On the significance of {n} pairs, where both state one, kappa is **{value}** (95 % interval {span}).",
}


def _agreement_table(compared: ComparedRuns, agreement: pd.DataFrame) -> None:
    for name, sentence in KAPPAS.items():
        kappa = agreement[agreement["figure"] == name].iloc[0]
        if not math.isnan(kappa["value"]):
            counts(
                compared.run, sentence, n=f"{kappa['of']:,}", value=coefficient(kappa["value"]),
                span=coefficient_interval(kappa["value_low"], kappa["value_high"]) or "unknown",
            )  # fmt: skip
    shares = agreement[~agreement["figure"].isin(KAPPAS)]
    figure, count, of, value, method = run_agreement.table.pick(compared.run)
    table(shares, "run_agreement", (figure, count, of, Column.share("value", value.heading), method))


def ablation_section(compared: ComparedRuns) -> None:
    """The effect of another judge or protocol: the similarity of topics, and the cost of a verdict."""
    st.header("Topics and costs", anchor=False)
    counts(compared.run, "Of interest where both runs judge the same answers, and only the judge or its protocol differs.")
    similarity, cost = (load_two(metric, compared.first, compared.second) for metric in (topic_likeness, runs_cost))
    table(similarity, "topic_likeness", topic_likeness.table.pick(compared.run))
    table(cost, "runs_cost", runs_cost.table.pick(compared.run))
    footer(cost, "topics-and-costs", compared.run, "topic_likeness", "runs_cost")


def changed_pairs_section(compared: ComparedRuns) -> None:
    """The pairs of the clicked cell, or all whose label changed; the clicked one with both verdicts."""
    key, first, second = st.session_state.get(CELL, (compared.id, ANY, ANY))
    if key != compared.id:  # the cell was clicked in another comparison
        first = second = ANY
    listed = load_two(changed_pairs, compared.first, compared.second, first=first, second=second, limit=MAX_LISTED)
    if listed.empty:
        counts(compared.run, "No pair changed its label.")
        return
    total = int(listed["total"].iloc[0])
    changed = "changed its label" if total == 1 else "changed their labels"
    change = changed if first == ANY else f"{STATE_WORDS[first]} before and {STATE_WORDS[second]} after"
    st.header("Pairs whose label changed", anchor=False)
    counts(
        compared.run, "**{total}** {change}{cut}. Click one to read both verdicts.",
        total=f"{total:,} {'pair' if total == 1 else 'pairs'}", change=change,
        cut=f"; {MAX_LISTED} are listed" if total > MAX_LISTED else "",
    )  # fmt: skip
    names = handbook_names(load(handbook_list, compared.first))
    rows = listed.assign(a=listed["handbook_a"].map(names), b=listed["handbook_b"].map(names))
    question, a, b, before, after = changed_pairs.table.pick(compared.run)
    titles = replace(before, heading=compared.names[0]), replace(after, heading=compared.names[1])
    columns = (question, replace(a, name="a"), replace(b, name="b"), *titles)
    picked = clicked_row(rows, f"moved_{compared.id}_{first}_{second}", columns, rows=8)
    footer(listed.drop(columns="total"), "moved", compared.run)
    if picked is not None:
        both_verdicts(compared, picked, names)


def both_verdicts(compared: ComparedRuns, row: pd.Series, names: dict[str, str]) -> None:
    """One pair: the verdicts of both runs next to each other, then both answers."""
    chosen = {"question_id": row["question_id"], "handbook_a": row["handbook_a"], "handbook_b": row["handbook_b"]}
    before, after = (load(pair, run, **chosen) for run in (compared.first, compared.second))
    st.html(CSS)
    st.header(escaped(before.question.text), anchor=False)
    for column, run, judged in zip(st.columns(2), (compared.first, compared.second), (before, after), strict=True):
        with column:
            _verdict(run, judged, row)
    differ = (before.a.answer, before.b.answer) != (after.a.answer, after.b.answer)
    if differ:
        counts(compared.run, "The two runs have different answers to this {question}:")
    sides = ((compared.first, before), (compared.second, after))
    for name, (run, judged) in zip(compared.names, sides if differ else sides[1:], strict=False):
        if differ:
            st.caption(escaped(name))
        st.html(pair_html(answers_html(run, judged, names, "all")))


def _verdict(run: Run, judged: Pair, row: pd.Series) -> None:
    st.caption(escaped(run.title))
    st.html(pair_html(verdict_html(run, judged)))
    link(
        "disagreements", "Open on Disagreements in this run", run, icon=":material/open_in_new:",
        question=row["question_id"], a=row["handbook_a"], b=row["handbook_b"],
    )  # fmt: skip


def what_changed(compared: ComparedRuns) -> None:
    """The change in a few sentences, and where it comes from."""
    headline(compared)
    causes_section(compared)


def label_by_label(compared: ComparedRuns) -> None:
    """The matrix of labels, and the pairs of its clicked cell."""
    transitions_section(compared)
    changed_pairs_section(compared)


DRAWN = {
    "all": what_changed, "organ": organ_section, "moved": moved_section, "labels": label_by_label, "costs": ablation_section,
}  # fmt: skip
"""What each view draws."""

with page("Compare", LEAD) as run:
    if compared := pick_two_runs(run):
        in_common = load_two(shared, compared.first, compared.second)
        if nothing_in_common(run, in_common):
            common_data(compared, in_common)
        else:
            view = choose("Show", tuple(VIEWS), "view", lambda name: fill(run, VIEWS[name]), show_label=False)
            DRAWN[view](compared)
            if view == "all":
                common_data(compared, in_common)
