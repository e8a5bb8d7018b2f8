"""Topics: rates per topic or subtopic, and whether severity changes the ranking. Every dot and row opens its pairs."""

from dataclasses import replace
from functools import partial
from typing import cast

import pandas as pd
import streamlit as st

from audit.charts.rates import rate_dots
from audit.charts.style import coefficient
from audit.metrics.questions import organs, topics
from audit.metrics.severity import severity, severity_rho
from audit.queries.pair_counts import MATCHING
from audit.store.runs import Run
from audit.terms import counted
from audit.vocabulary import SIGNIFICANCES
from pages._shared.explore import RowFilter, corrected_groups, rates_frame
from pages._shared.findings import MOST_DISAGREEMENT, NONE_STANDS_OUT, rate_finding
from pages._shared.found_states import UNLABELLED, shown_rates, shown_titles, where_silence_is, without_labels
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.pickers import choose
from pages._shared.widgets import counts, footer, table, title_of

ORDERS = {"r_div": "disagreement", "pct_any_div": "disputed questions", "r_abs": "not addressed", "topic": "name"}
MAX_DRAWN = 60
FEW = ("r_div", "pct_any_div", "r_abs", "questions")
"""Columns that fit beside the name."""
FEW_OF_SEVERITY = ("unit", "severity", "rank_shift", "high", "medium")
COUNTS = ("questions", "pairs", "present", "disagreeing", "unscored")
"""Columns after the rates."""


def severity_section(run: Run) -> None:
    """Ranks of topics with and without severity weights, and Spearman's rho between them; nothing where no judge graded any."""
    frame = load(severity, run, level="topic")
    if not frame[list(SIGNIFICANCES)].to_numpy().any():
        return
    with st.expander("Does severity change the ranking?", on_change="rerun", key="by_severity") as opened:
        if opened.open:
            _ranks(run, frame)


def _ranks(run: Run, frame: pd.DataFrame) -> None:
    rho = cast(pd.Series, load(severity_rho, run).set_index("level").loc["topic"])
    counts(
        run,
        "For severity, each disagreement counts 1, 2 or 3 by its {significance} (low, medium, high). Places gained is how "
        "far {a_topic} moves up as a result. Spearman's rho between the two rankings of the {n} with a disagreement is "
        "{rho} (1: the same ranking); between how often advice differs and how grave a difference is on average it is {grave} "
        "(0: no connection).",
        rho=coefficient(rho["rho_disputed"]),
        grave=coefficient(rho["rho_significance"]),
        n=counted(run, "topic", int(rho["disputed"])),
    )
    name, *few = severity.table.pick(run, *FEW_OF_SEVERITY)
    rest = [column for column in severity.table.pick(run) if column.name not in FEW_OF_SEVERITY]
    table(frame, "severity_table", (replace(name, heading=title_of(run, "topic")), *few, *rest))
    footer(frame, "severity-topics", run, "severity", "severity_rho")


LEAD = "On which {topics} does advice differ, and which {topics} do {handbooks} leave out?"

with page("By {topic}", LEAD, unlabelled=UNLABELLED) as run:
    if not run.has_pairs:
        without_labels(run, "topic")
        st.stop()
    left, right = st.columns(2)
    with left:
        level = choose("Level", ("topic", "subtopic"), "level", format_func=lambda word: title_of(run, word))
    with right:
        orders = [name for name in ORDERS if name == "topic" or name in shown_titles(run)]
        order = choose("Order by", orders, "order", format_func=ORDERS.__getitem__)
    frame = load(topics, run, level=level, scope=MATCHING).sort_values(order, ascending=order == "topic", ignore_index=True)
    rows = RowFilter("topic", level)
    whole = load(organs, run, scope=MATCHING).iloc[-1]["r_div"]
    title = rate_finding(run, frame, frame["topic"], "r_div", whole, MOST_DISAGREEMENT, NONE_STANDS_OUT)
    name, *few = topics.table.pick(run, "topic", *(column for column in FEW if column in (*shown_titles(run), "questions")))
    name = replace(name, heading=title_of(run, level))
    every = topics.table.pick(run, *shown_titles(run), *COUNTS)
    drawn = frame.head(MAX_DRAWN)
    drawing = (partial(rate_dots, drawn, "topic", shown_rates(run), opens="topic"), "Rates per topic, with 95 % intervals.")
    rates_frame(run, frame, "topic", title, drawing, rows, ((name, *few), (name, *every)), level, "topics")
    counts(
        run,
        "{n}{drawn}. Lines are 95 % intervals; one wider than 50 points is given in numbers alone. A "
        "{question} on two {topics} counts in both. Pairs are those of {handbooks} that should answer: of the {organ} of the "
        "{question}, or any two where it is general.",
        n=counted(run, level, len(frame)),
        drawn=f", of which the chart shows {len(drawn)}" if len(drawn) < len(frame) else "",
    )
    where_silence_is(run)
    if level == "topic":
        corrected_groups(run, "topic")
    severity_section(run)
