"""Question: who agrees with whom on one question. The reordered label matrix, the position groups, one pair, every answer."""

from __future__ import annotations

import streamlit as st

from audit.charts.style import coefficient, coefficient_interval, handbook_names
from audit.metrics.label_entropy import label_entropy
from audit.metrics.position_groups import matrix, position_groups
from audit.metrics.questions import questions
from audit.queries.lookup import handbook_list
from audit.queries.pair_view import pair
from audit.store.runs import Run
from audit.terms import fill
from pages._shared.label_matrix import label_matrix
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.pair_list import close_when_changed, link_for_a_pair, opened_on
from pages._shared.pickers import pick_question
from pages._shared.position_groups import all_answers, group_cards, summary
from pages._shared.side_by_side import side_by_side
from pages._shared.widgets import counts, footer, say
from pages._shared.widgets import table as draw_table

LEAD = "Who agrees with whom on one question. {Handbooks} that agree are placed next to each other and form a position group."
GROUPS = (
    "Position groups follow from the judge's labels alone. Each group is named after words that its answers use "
    "and others rarely do."
)


def two_answers(run: Run, question_id: str, opened: tuple[str, str], names: dict[str, str]) -> None:
    """The opened pair: both answers next to each other."""
    st.header("Two answers side by side", anchor=False)
    with st.container(horizontal=True, vertical_alignment="center"):
        counts(run, "Click a cell of the matrix to read another pair.")
        link_for_a_pair(run, question_id, *opened)
    judged = load(pair, run, question_id=question_id, handbook_a=opened[0], handbook_b=opened[1])
    side_by_side(run, judged, names, with_question=False)


def label_variety(run: Run, question_id: str) -> None:
    """How mixed the labels of this question are, and those of every question behind a click."""
    row = load(label_entropy, run, question_id=question_id).iloc[0]
    counts(
        run,
        "Label entropy: **{bits}** bits (95 % interval {span}) over {n} pairs in which both {handbooks} answer. "
        "It is 0 when all these pairs have the same label, and 2 when four labels are equally common.",
        bits=coefficient(row["entropy"]), span=coefficient_interval(row["entropy_low"], row["entropy_high"]),
        n=f"{row['present']:,}",
    )  # fmt: skip
    every = st.expander(fill(run, "Label entropy of every {question}"), key="every_entropy", on_change="rerun")
    if every.open:  # only now, as every question is counted for it
        with every:
            entropy_of_every_question(run)


def entropy_of_every_question(run: Run) -> None:
    """The label entropy of all questions as a table."""
    frame = load(label_entropy, run)
    draw_table(frame, "entropy_table", label_entropy.table.pick(run, "text", "present", "entropy", "evenness"))
    footer(frame, "label-entropy", run, "label_entropy")


with page("Question", LEAD) as run:
    names = handbook_names(load(handbook_list, run))
    question_id = pick_question(run)
    close_when_changed("question", question_id, ("a", "b"))
    table, cells = load(position_groups, run, question_id=question_id), load(matrix, run, question_id=question_id)
    summary(run, table, load(questions, run, question_id=question_id).iloc[0])
    answering = table[table["state"] == "answers"]
    if len(answering) < 2:
        st.info(say(run, "Fewer than two {handbooks} answer this question, so there is nothing to compare."))
    else:
        opened = opened_on(question_id, cells, answering["handbook_id"])
        left, right = st.container(key="reading").columns([6, 5], gap="medium")
        with left:
            label_matrix(run, question_id, cells, table, names, opened)
        with right:
            group_cards(run, answering, names)
            counts(run, GROUPS)
        two_answers(run, question_id, opened, names)
    label_variety(run, question_id)
    all_answers(run, question_id, table, names)
    footer(table, "position-groups", run, "position_groups", "matrix", "questions")
