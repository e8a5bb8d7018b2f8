"""Question: who says what on one question. The question is the heading, then its positions, two answers, the label matrix."""

from __future__ import annotations

import streamlit as st

from audit.charts.style import handbook_names
from audit.metrics.disagreements import Filters
from audit.metrics.position_groups import matrix, position_groups
from audit.queries.lookup import handbook_list
from audit.queries.pair_view import pair
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.pair_list import close_when_changed, linked_pair
from pages._shared.pickers import asked_question, pick_question
from pages._shared.position_cards import most_differing, position_cards, positions_on
from pages._shared.question_detail import all_answers, label_counts, pairs_on, pick_two, summary, two_answers
from pages._shared.widgets import counts, footer, say
from pages.question.label_matrix import label_matrix
from pages.question.unlabelled import unlabelled_question

UNLABELLED = "What each {handbook} says, in its own words."
PICK = "Click a cell of the matrix, or reach it with Tab and the arrow keys and press Enter; or choose any two {handbooks} here."

with page("Question", "", unlabelled=UNLABELLED, headed=asked_question) as run:
    names = handbook_names(load(handbook_list, run))
    if not run.has_pairs:
        unlabelled_question(run, names)
        st.stop()
    above, below = st.container(), st.container()
    with below:
        question_id = pick_question(run)
    close_when_changed("question", question_id, ("a", "b"))
    table, cells = load(position_groups, run, question_id=question_id), load(matrix, run, question_id=question_id)
    found = positions_on(run, question_id)
    with above:
        summary(run, question_id, found)
        answering = table.loc[table["state"] == "answers", "handbook_id"].tolist()
        if len(answering) < 2:
            st.info(say(run, "Fewer than two {handbooks} answer this question, so there is nothing to compare."))
        else:
            pairs = [two for two in pairs_on(run, question_id, Filters(labels=())) if {*two} <= {*answering}]
            opened = linked_pair(question_id, cells.index) or most_differing(pairs or [(answering[0], answering[1])], found)
            judged = load(pair, run, question_id=question_id, handbook_a=opened[0], handbook_b=opened[1])
            # Positions first: on a narrow screen the columns come one below the other.
            left, right = st.container(key="reading").columns([5, 6], gap="medium")
            with left:
                position_cards(run, found, names, cells)
            with right:
                two_answers(run, judged, names, "Two answers side by side")
            with st.expander("Who agrees with whom"):
                label_counts(run, question_id)
                label_matrix(run, question_id, cells, table, names, opened)
                counts(run, PICK)
                pick_two(run, list(cells.index), opened, names)
        all_answers(run, question_id, table, found, names)
    footer(table, "position-groups", run, "question_positions", "position_groups", "matrix")
