"""Coverage: what each handbook answers of the questions it was asked. A click on a row opens the handbook."""

from dataclasses import replace

import pandas as pd
import streamlit as st

from audit.charts.coverage import ORDERS, coverage_figure, coverage_rows
from audit.charts.style import handbook_names
from audit.metrics.case_mix import handbook_case_mix
from audit.metrics.coverage import coverage
from audit.metrics.handbooks import handbooks
from audit.queries.pair_counts import MATCHING
from audit.store.runs import Run
from audit.tables import Column
from audit.terms import counted, fill
from pages._blinded.option_labels import distinct_labels
from pages._shared.explore import RowFilter, case_mix_section
from pages._shared.findings import rate_finding
from pages._shared.found_states import counted_sentence, errors_of, of_run, states_by
from pages._shared.loaders import drawn, load
from pages._shared.page import page
from pages._shared.pickers import choose, pick_many
from pages._shared.widgets import clicked_point, counts, figure_frame, go_to, linked_rows, say, title_of

LEAD = "How much each {handbook} leaves out of what it should answer. Click a row to open the {handbook}."
ALT = "Percentage of questions not addressed, per {handbook} and {organ} of the question."
ORDER_LABELS = {"organ": "{organ}", "absence": "not addressed", "center": "{center}", "name": "name"}
ABOUT_CELLS = (
    "The column *all* counts {questions} of the {organ} of {a_handbook}, and general ones. Grey: {questions} about another "
    "{organ}, which {a_handbook} need not answer. Hatched: not asked."
)
MOST_LEFT_OUT = "Most of what it should answer is left out by"
NONE_LEAVES_OUT_MORE = "How much each {handbook} leaves out of what it should answer"
STATE_ORDERS = {"stated": "most stated", "name": "name"}
GROUPS = ("handbook", "topic", "organ")


def open_by_name(run: Run, names: dict[str, str]) -> str | None:
    """A list of the handbooks, for who cannot click a chart."""
    chosen: str | None = st.selectbox(
        say(run, "Open {a_handbook} (or click its row)"), sorted(names, key=names.__getitem__), index=None,
        format_func=distinct_labels(names, names.__getitem__), key="to_open", placeholder=fill(run, "Choose {a_handbook}"),
    )  # fmt: skip
    return chosen


def in_three_states(run: Run, names: dict[str, str]) -> None:
    """The states of a search by handbook, topic or organ; a handbook opens its page, the others their questions."""
    st.markdown(counted_sentence(run, of_run(run)))
    left, right = st.columns(2)
    with left:
        by = choose("By", GROUPS, "by", format_func=lambda word: title_of(run, word))
    with right:
        order = choose("Order by", list(STATE_ORDERS), "order", format_func=STATE_ORDERS.__getitem__)
    opened = open_by_name(run, names)
    clicked = states_by(run, by, names.__getitem__, order) if by == "handbook" else states_by(run, by, ordered=order)
    if opened or (clicked and by == "handbook"):
        go_to("handbook", run, handbook=str(opened or clicked))
    if clicked:
        go_to("questions" if not run.has_pairs else "disagreements", run, **{by: clicked})


def not_addressed(run: Run, overall: pd.DataFrame) -> None:
    """The heat map of absence by handbook and organ of the question."""
    cells = load(coverage, run)
    several_organs = overall["organ"].nunique() > 1
    left, right = st.columns([3, 2])
    with left:
        order = choose(
            "Order by", ORDERS if several_organs else ORDERS[1:], "order", format_func=lambda name: fill(run, ORDER_LABELS[name])
        )
    with right:
        organs = sorted(overall["organ"].unique())
        chosen_organs = pick_many(fill(run, "{Handbooks} of {organ}"), organs, "of_organ") if several_organs else []
    selected = overall[overall["organ"].isin(chosen_organs)] if chosen_organs else overall
    rows = coverage_rows(selected, order)
    whole = rows["absent"].sum() / max(rows["asked"].sum(), 1)
    names = rows["handbook_id"].map(handbook_names(rows))
    title = rate_finding(run, rows, names, "absence", whole, MOST_LEFT_OUT, NONE_LEAVES_OUT_MORE)
    written = cells[cells["handbook_id"].isin(rows["handbook_id"])]
    files = ("coverage", "coverage", "handbooks")
    list_tab, map_tab = figure_frame(run, "coverage", written, *files, title=title, tabs=("List", "By question"))
    if list_tab.open:
        with list_tab:
            own = Column.text("name", title_of(run, "handbook"))
            asked, absence = handbooks.table.pick(run, "asked", "absence")
            columns = (own, replace(absence, heading="Does not address"), asked)
            opens = lambda row: {"handbook": row["handbook_id"]}  # noqa: E731
            linked_rows(run, rows.assign(name=names), "coverage_list", columns, "handbook", opens, rows=20)
    if map_tab.open:
        with map_tab:
            figure = drawn(coverage_figure, rows, cells, run.term("handbook"))
            if clicked := clicked_point(figure, "coverage", fill(run, ALT), title):
                go_to("handbook", run, handbook=str(clicked))
            if several_organs:
                counts(run, ABOUT_CELLS)
    counts(
        run,
        "{n}. Answers that should be given: {asked}; missing: {absent}." if several_organs
        else "{n}. Of {asked} answers that should be given, {absent} are missing.",
        n=counted(run, "handbook", len(rows)),
        absent=f"{rows['absent'].sum():,}",
        asked=f"{rows['asked'].sum():,}",
    )  # fmt: skip


with page("Coverage", LEAD, unlabelled=LEAD) as run:
    overall = load(handbooks, run, scope=MATCHING)
    if errors_of(run).searched:
        in_three_states(run, handbook_names(overall))
    else:
        not_addressed(run, overall)
    if run.has_pairs:
        mix = load(handbook_case_mix, run)
        opens = RowFilter("handbook_id", "handbook")
        case_mix_section(run, handbook_case_mix, mix, mix["handbook_id"].map(handbook_names(overall)), opens, "handbook")
