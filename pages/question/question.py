"""Question: who says what on one question. The question is the heading, then its positions, two answers, the label matrix."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from pathlib import Path
from urllib.parse import urlencode

import pandas as pd
import streamlit as st
from markupsafe import Markup

from audit.charts.style import handbook_names
from audit.formatting import shortened
from audit.metrics.disagreements import Filters
from audit.metrics.position_groups import matrix, position_groups
from audit.metrics.question_positions import QuestionPositions
from audit.queries.answers_on import ABSENT, ANSWERED, NOT_ASKED, UNREAD, HandbookAnswer, answers_on
from audit.queries.citations import citations
from audit.queries.lookup import handbook_list
from audit.queries.pair_view import pair
from audit.queries.run_texts import has_texts
from audit.store.runs import Run
from audit.terms import counted
from audit.vocabulary import Found
from pages._blinded.frame import is_phone
from pages._blinded.templates import rendered
from pages._shared.found_states import errors_of, miss_sentence
from pages._shared.judging_cost import cost_of_judging
from pages._shared.loaders import load
from pages._shared.my_handbook import my_handbook
from pages._shared.page import page
from pages._shared.pair_list import close_when_changed, linked_pair
from pages._shared.pickers import asked_id, asked_question, pick_question
from pages._shared.position_cards import most_differing, position_cards, positions_on
from pages._shared.question_detail import all_answers, label_counts, pairs_on, pick_two, summary, two_answers
from pages._shared.source_links import citation_links_html
from pages._shared.widgets import counts, footer, link, say
from pages.question.label_matrix import disagreeing_list, label_matrix

UNLABELLED = "What each {handbook} says, in its own words."
PICK = "Click a cell of the matrix, or reach it with Tab and the arrow keys and press Enter; or choose any two {handbooks} here."
PICK_TWO = "A row opens the answers of the first two side by side. Or choose any two {handbooks} here."


# -- A question that nothing has compared yet ----------------------------------------------------------------


CSS = Path(__file__).with_name("unlabelled.css")
READ = {Found.STATED: "Stated ({n})", ANSWERED: "Answers ({n})", Found.PERHAPS: "Perhaps: see these passages ({n})"}
"""State -> the heading above the words of the handbooks in it, in the order of the page."""
LISTED = {
    Found.NOT_FOUND: "**Not found** ({n}), which does not prove that they are silent. Open one to see its nearest passages:",
    ABSENT: "**Does not address the {question}** ({n}):",
    UNREAD: "**The reply could not be read** ({n}):",
    NOT_ASKED: "**Not asked** ({n}):",
}
"""State -> the line above the names of the handbooks in it."""
SPLIT = {True: "Of {n} that should answer: {parts}. ", False: "Besides, {n} of another {organ} {verb} something on it."}
MINE = {
    "answers": "Your {handbook}, {name}, says: {words}.",
    "not addressed": "Your {handbook}, {name}, does not address this {question}.",
    "unread": "The reply on your {handbook}, {name}, could not be read.",
    "not asked": "Your {handbook}, {name}, was not asked this {question}.",
}
SEARCH = "An answer may miss what the text says: search all {handbooks} for it"
OTHER_WORDS = "its answer below, which holds none of these positions"
NOT_COMPARED = "No model has compared these yet"
COST = (
    "Which of them agree is not known. A judge would compare {pairs} on this {question}; on the whole run it would take {cost}."
)


def unlabelled_question(run: Run, names: dict[str, str]) -> None:
    """The page *Question* of a run without pairs; `names` of the handbooks by id."""
    question_id = pick_question(run)
    answers = load(answers_on, run, question_id=question_id)
    st.markdown(_summary(run, answers))
    st.header(NOT_COMPARED, anchor=False)
    couples = comb(sum(one.state in READ for one in answers), 2)
    cost_of_judging(run, COST, pairs="no pair" if couples == 0 else "1 pair" if couples == 1 else f"{couples:,} pairs")
    st.html(CSS)
    for state, heading in READ.items():
        if own := [one for one in answers if one.state == state]:
            st.subheader(heading.format(n=len(own)), anchor=False)
            st.html(_cards(run, question_id, own, names))
    for state, line in LISTED.items():
        # Those of another organ are not expected to answer
        if own := [one for one in answers if one.state == state and one.should_answer]:
            st.markdown(say(run, line, n=len(own)))
            st.html(_names(run, question_id, own, names))
    if errors_of(run).searched:
        st.caption(miss_sentence(run))


def _summary(run: Run, answers: Sequence[HandbookAnswer]) -> str:
    """How many of those that should answer are in which state, and how many others say something."""
    expected = [one.state for one in answers if one.should_answer]
    parts = [f"{expected.count(state)} {_short(state)}" for state in (*READ, *LISTED) if state in expected]
    others = sum(one.state in READ for one in answers if not one.should_answer)
    sentence = say(run, SPLIT[True], n=counted(run, "handbook", len(expected)), parts=", ".join(parts))
    if not others:
        return sentence
    return sentence + say(run, SPLIT[False], n=counted(run, "handbook", others), verb="says" if others == 1 else "say")


def _short(state: str) -> str:
    return {ANSWERED: "answer", Found.PERHAPS: "perhaps", ABSENT: "do not address it", NOT_ASKED: "were not asked"}.get(
        state, state
    )


def _cards(run: Run, question_id: str, answers: Sequence[HandbookAnswer], names: dict[str, str]) -> Markup:
    """Each handbook's words with links to their pages and to the passages."""
    cited = load(citations, run, question_id=question_id)
    cards = [
        (
            names.get(one.handbook_id, one.handbook_id),
            shortened(one.answer or ""),
            citation_links_html(run, question_id, one.handbook_id, cited.get(one.handbook_id, ())),
            _address(run, question_id, one.handbook_id),
        )
        for one in answers
    ]
    return rendered("question/unlabelled.html", answers=cards)


def _names(run: Run, question_id: str, answers: Sequence[HandbookAnswer], names: dict[str, str]) -> Markup:
    """The names of handbooks, each a link to its nearest passages."""
    one_link = Markup('<a href="{}" target="_self">{}</a>')
    links = (
        one_link.format(_address(run, question_id, one.handbook_id), names.get(one.handbook_id, one.handbook_id))
        for one in answers
    )
    return Markup('<p class="names">{}</p>').format(Markup(" · ").join(links))


def _address(run: Run, question_id: str, handbook_id: str) -> str:
    return f"answer?{urlencode({'run': run.key, 'question': question_id, 'handbook': handbook_id})}"


def mine_line(run: Run, table: pd.DataFrame, found: QuestionPositions, names: dict[str, str]) -> None:
    """What the reader's own handbook says here, or that it says nothing; nothing where none is chosen."""
    mine = my_handbook(run, names)
    state = table.set_index("handbook_id")["state"].get(mine) if mine else None
    if mine is None or state not in MINE:
        return
    held = [one for one in found.positions if any(holder.handbook_id == mine for holder in one.holders)]
    words = "; ".join(shortened(one.value or one.statement).rstrip(".") for one in held)
    st.markdown(say(run, MINE[state], name=names[mine], words=words or OTHER_WORDS))


with page("Question", "", unlabelled=UNLABELLED, headed=asked_question) as run:
    names = handbook_names(load(handbook_list, run))
    if not run.has_pairs:
        unlabelled_question(run, names)
        st.stop()
    question_id = asked_id(run)
    close_when_changed("question", question_id, ("a", "b"))
    table, cells = load(position_groups, run, question_id=question_id), load(matrix, run, question_id=question_id)
    found = positions_on(run, question_id)
    with st.container(key="says"):
        summary(run, question_id, found, names)
        mine_line(run, table, found, names)
        if load(has_texts, run) and (table["state"] == "not addressed").any():
            link("ask", SEARCH, run, icon=":material/find_in_page:", ask=asked_question(run))
        answering = table.loc[table["state"] == "answers", "handbook_id"].tolist()
        if len(answering) < 2:
            st.info(say(run, "Fewer than two {handbooks} answer this question, so there is nothing to compare."))
        else:
            pairs = [two for two in pairs_on(run, question_id, Filters(labels=())) if {*two} <= {*answering}]
            opened = linked_pair(question_id, cells.index) or most_differing(pairs or [(answering[0], answering[1])], found)
            judged = load(pair, run, question_id=question_id, handbook_a=opened[0], handbook_b=opened[1])
            # Positions first: on a narrow screen the columns come one below the other.
            reading, has_cards = st.container(key="reading"), found.positions or found.others or found.certain
            left, right = reading.columns([4, 7], gap="medium") if has_cards else (reading, reading)
            with left:
                position_cards(run, found, names, cells)
            with right:
                two_answers(run, judged, names, "Two answers side by side")
            with st.expander("Who agrees with whom", on_change="rerun", key="who_agrees") as agreeing:
                if agreeing.open:  # the matrix is neither computed nor sent before
                    label_counts(run, question_id)
                    if is_phone():  # cells would be too small to touch
                        disagreeing_list(run, question_id, cells.loc[answering, answering], names)
                    else:
                        label_matrix(run, question_id, cells, table, names, opened)
                    counts(run, PICK_TWO if is_phone() else PICK)
                    pick_two(run, list(cells.index), opened, names)
        all_answers(run, question_id, table, found, names)
    pick_question(run)  # last: drawn first, it would jump when the answer comes above it
    footer(table, "position-groups", run, "question_positions", "position_groups", "matrix")
