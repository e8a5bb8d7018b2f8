"""Disagreements: between handbooks, within one handbook, and what the reader's own handbook leaves out.

Between handbooks it is the clinician's workbench: a list of disputed questions or pairs, and next to it the open one.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pandas as pd
import streamlit as st

from audit.charts.style import handbook_names
from audit.metrics.disagreements import ORDERS, Filters, disagreements, places_in_pairs, places_in_questions
from audit.metrics.disputed_questions import disputed_questions
from audit.queries.lookup import handbook_list
from audit.queries.pair_view import pair
from audit.queries.weak_evidence import weak_answers
from audit.store.runs import Run
from pages._shared import pair_list
from pages._shared.loaders import load
from pages._shared.page import NO_PAIRS, page
from pages._shared.pair_filters import link_for_a_pair, link_for_all, pick_filters
from pages._shared.pickers import choose, named_by, pick_one
from pages._shared.question_detail import question_view
from pages._shared.side_by_side import side_by_side
from pages._shared.widgets import counts, how_counted, link, say
from pages.disagreements.left_out import left_out
from pages.disagreements.pair_downloads import download_all
from pages.disagreements.saved_selections import saved_selections
from pages.disagreements.within_one import within_one

LEAD = "Where {handbooks} disagree, the gravest first. Pick a row, or move with the arrow keys, to read who says what."
BETWEEN, WITHIN, LEFT_OUT = "between", "within", "left-out"
LEADS = {
    WITHIN: "Where {a_handbook} says one thing on one page, and another on a different page.",
    LEFT_OUT: "What your {handbook} leaves out and most comparable {handbooks} answer.",
}
TABS = {BETWEEN: "Between {handbooks}", WITHIN: "Within one {handbook}", LEFT_OUT: "Left out by mine"}
CSS = Path(__file__).with_name("workbench.css")
BY_QUESTION, BY_PAIR = "questions", "pairs"
LISTS = {BY_QUESTION: "Questions", BY_PAIR: "Pairs"}
SORTS = {
    "significance": "{Significance} first", "label": "Label first", "handbooks": "Most {handbooks} first",
    "release": "As listed in the run",
}  # fmt: skip
Pane = st.delta_generator.DeltaGenerator
NO_MATCH = "No pair matches these filters. Remove a filter, or choose more labels."


def pick_rows(run: Run) -> tuple[str, str]:
    """Pickers for the kind of rows and their order."""
    with st.container(horizontal=True, vertical_alignment="center", key="rows"):
        listed = choose("Rows", tuple(LISTS), "list", named_by(LISTS), show_label=False)
        words = {name: say(run, title) for name, title in SORTS.items()}
        order = pick_one("Order", tuple(ORDERS), "sort", "significance", named_by(words), show_label=False)
    return listed, order or "significance"


def questions_workbench(run: Run, left: Pane, right: Pane, filters: Filters, order: str, names: dict[str, str]) -> None:
    """Questions at the left, who says what on one of them at the right."""
    start = (pair_list.page_number() - 1) * pair_list.PER_PAGE
    table = load(disputed_questions, run, filters=filters, limit=pair_list.PER_PAGE, offset=start, order=order)
    stop_if_empty(run, left, table)
    occurrences = load(places_in_questions, run, filters=filters, question_ids=tuple(table["question_id"]))
    rows = pair_list.question_rows(run, table, occurrences, names)
    opened = st.query_params.get("question") or rows[0].key
    with left:
        total, pairs = int(table["total"].iloc[0]), int(table["total_pairs"].iloc[0])
        with st.container(horizontal=True, vertical_alignment="center", key="matches"):
            words = "**{total}** {asked} with **{pairs}** " + ("pair" if pairs == 1 else "pairs")
            words += " matches." if total == 1 else " match."
            counts(run, words, total=f"{total:,}", asked=run.term("question", total), pairs=f"{pairs:,}")
            download_all(run, filters, order, pairs)
        pair_list.question_list(run, rows, opened)
        below_the_list(run, total, "disputed_questions")
    with right:
        with st.container(horizontal=True, vertical_alignment="center", key="steps"):
            pair_list.step_buttons([row.key for row in rows], opened, pair_list.open_question)
            link("question", "Matrix and all answers", run, icon=":material/grid_on:", question=opened)
        question_view(run, opened, filters, names)


def pairs_workbench(run: Run, left: Pane, right: Pane, filters: Filters, order: str, names: dict[str, str]) -> None:
    """Pairs at the left, both answers of one of them at the right."""
    start = (pair_list.page_number() - 1) * pair_list.PER_PAGE
    table = load(disagreements, run, filters=filters, limit=pair_list.PER_PAGE, offset=start, order=order)
    stop_if_empty(run, left, table)
    occurrences = load(places_in_pairs, run, filters=filters, pairs=tuple(pair_list.pairs_of(table)))
    weak = load(weak_answers, run, question_ids=tuple(table["question_id"].unique()))
    rows, opened = pair_list.pair_rows(table, names, occurrences, weak), pair_list.opened_pair(table)
    with left:
        total, first, last = int(table["total"].iloc[0]), table["rank"].iloc[0], table["rank"].iloc[-1]
        with st.container(horizontal=True, vertical_alignment="center", key="matches"):
            words = "**1** pair matches." if total == 1 else "**{total}** pairs match; {first} to {last} are shown."
            counts(run, words, total=f"{total:,}", first=first, last=last)
            download_all(run, filters, order, total)
        pair_list.pair_list(run, rows, opened)
        below_the_list(run, total, "disagreements")
    with right:
        with st.container(horizontal=True, vertical_alignment="center", key="steps"):
            pair_list.step_buttons([row.key for row in rows], json.dumps(opened), pair_list.open_pair_of_row)
            link("question", "Who says what on this question", run, icon=":material/grid_on:", question=opened[0])
            link_for_a_pair(run, *opened)
        question_id, a, b = opened
        side_by_side(run, load(pair, run, question_id=question_id, handbook_a=a, handbook_b=b), names)


def stop_if_empty(run: Run, left: Pane, table: pd.DataFrame) -> None:
    """Stop with a message where nothing matches."""
    if table.empty:
        left.info(say(run, NO_MATCH))
        st.stop()


def panes() -> tuple[Pane, Pane]:
    """The pane of the list and that of the detail, which opens over the list where a window is too narrow for both."""
    picked = "question" in st.query_params
    left, right = st.container(key="workbench").columns([5, 7], gap="small")
    detail = right.container(key="picked" if picked else "nothing_picked").container(key="pane_detail")
    detail.container(key="back_to_list").button(
        "Back to the list", icon=":material/arrow_back:", key="back", on_click=partial(pair_list.close, pair_list.PARAMS)
    )
    return left.container(key="pane_list"), detail


def below_the_list(run: Run, total: int, metric: str) -> None:
    """Pages of the list, and what the list counts."""
    pair_list.page_picker(total)
    how_counted(metric)
    link_for_all(run)


def between_handbooks(run: Run, names: dict[str, str]) -> None:
    """The workbench: filters, and below them the list and what is open."""
    with st.container(key="filters"):
        chosen, saved = st.columns([13, 2])
        with chosen:
            filters = pick_filters(run, names)
        with saved:
            saved_selections(run)
    left, right = panes()
    with left:
        listed, order = pick_rows(run)
    pair_list.close_when_changed("filters", (filters, listed), (*pair_list.PARAMS, "page"))
    pair_list.close_when_changed("order", order, ("page",))
    (questions_workbench if listed == BY_QUESTION else pairs_workbench)(run, left, right, filters, order, names)


lead = LEADS.get(st.query_params.get("tab", ""), LEAD)
with page("Disagreements", lead, without_pairs=LEADS[WITHIN] if lead == LEAD else lead) as run:
    if not run.has_handbooks:
        st.info(say(run, NO_PAIRS))
        st.stop()
    st.html(CSS)
    names = handbook_names(load(handbook_list, run))
    titles = {name: say(run, title) for name, title in TABS.items() if run.has_pairs or name != BETWEEN}
    tab = choose("Disagreements", tuple(titles), "tab", named_by(titles), show_label=False)
    {BETWEEN: between_handbooks, WITHIN: within_one, LEFT_OUT: left_out}[tab](run, names)
