"""Answer: where one answer comes from, or two next to each other: passages in their sections, and the search by layers."""

from __future__ import annotations

import streamlit as st

from audit.charts.style import handbook_names
from audit.metrics.position_groups import position_groups
from audit.queries.answer_view import Answer, answer
from audit.queries.citations import citations
from audit.queries.lookup import handbook_list
from audit.queries.pair_view import pair
from audit.store.runs import Run
from audit.terms import fill
from pages._shared.found_states import miss_sentence
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.pickers import named_by, pick_one, pick_question
from pages._shared.side_by_side import CSS as PAIR_CSS
from pages._shared.side_by_side import pair_html, verdict_html
from pages._shared.source_links import citation_links_html
from pages._shared.widgets import counts, link
from pages.answer.passages import CSS, answer_html, layers_html

LEAD = "Where an answer comes from: how it was found, its passages in the {handbook}, and the results of each search step."


def pick_answers(run: Run, names: dict[str, str]) -> tuple[str, str, str | None]:
    """Question, handbook, and a second handbook or None, each kept in the address."""
    question_id = pick_question(run)
    first_column, second_column = st.columns(2)
    with first_column:
        default = first_answering(run, question_id, names)
        handbook_id = pick_one(fill(run, "{Handbook}"), list(names), "handbook", default=default, format_func=named_by(names))
    with second_column:
        others = [other for other in names if other != handbook_id]
        other_id = pick_one("Compare with", others, "other", placeholder="None", format_func=named_by(names))
    return question_id, handbook_id or default, other_id


def first_answering(run: Run, question_id: str, names: dict[str, str]) -> str:
    """The first handbook that answers the question."""
    # By default, the page does not open with an empty answer.
    table = load(position_groups, run, question_id=question_id)
    answering = set(table.loc[table["state"] == "answers", "handbook_id"])
    return next((handbook_id for handbook_id in names if handbook_id in answering), next(iter(names)))


def answer_details(run: Run, question_id: str, details: Answer, name: str, key: str) -> None:
    """One answer, how it was found and the passages behind it."""
    handbook_id = details.side.handbook_id
    cited = load(citations, run, question_id=question_id).get(handbook_id, ())
    links = citation_links_html(run, question_id, handbook_id, cited)
    st.html(answer_html(run, details, name, key, links))
    if details.layers:
        with st.expander("Search results, layer by layer", key=f"search_{key}"):
            st.html(layers_html(details))
    elif details.recorded:
        counts(run, "The release does not record the layers of this search.")


def verdict(run: Run, question_id: str, handbook_id: str, other_id: str) -> None:
    """The judge's verdict on the two answers."""
    st.html(PAIR_CSS)
    judged = load(pair, run, question_id=question_id, handbook_a=handbook_id, handbook_b=other_id)
    st.html(pair_html(verdict_html(run, judged)))


with page("Answer", LEAD, unlabelled=LEAD) as run:
    names = handbook_names(load(handbook_list, run))
    question_id, handbook_id, other_id = pick_answers(run, names)
    st.html(CSS)
    if other_id and run.has_pairs:
        verdict(run, question_id, handbook_id, other_id)
    with st.container(horizontal=True, vertical_alignment="center"):
        link("question", "See all {handbooks} on this question", run, icon=":material/grid_on:", question=question_id)
        if other_id and run.has_pairs:
            link(
                "disagreements", "See the differences marked", run, icon=":material/compare_arrows:",
                question=question_id, a=handbook_id, b=other_id,
            )  # fmt: skip
    handbook_ids = [handbook_id, *([other_id] if other_id else [])]
    answers = [load(answer, run, question_id=question_id, handbook_id=handbook_id) for handbook_id in handbook_ids]
    with st.container(key="behind"):
        for key, column, details in zip("ab", st.columns(len(answers), gap="medium"), answers, strict=False):
            with column:
                answer_details(run, question_id, details, names[details.side.handbook_id], key)
    if any(details.side.found for details in answers):
        counts(run, "Coloured: the passages nearest to the {question}, word for word.")
        st.caption(miss_sentence(run))
    elif any(details.passages for details in answers):
        counts(run, "Coloured text was given to the generator. A number leads from a part of the answer to its passage.")
