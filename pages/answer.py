"""Answer: what stands behind one answer, or two beside each other. Its passages in their sections, and the search by layers."""

from __future__ import annotations

import streamlit as st

from audit.charts.style import handbook_names
from audit.metrics.position_groups import position_groups
from audit.queries.answer_view import Answer, answer
from audit.queries.pair_view import pair
from audit.queries.picker_options import handbook_list, question_list
from audit.store.runs import Run
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.passages import CSS, found_html, layers_html, passages_html, said_html
from pages._shared.pickers import pick_one
from pages._shared.side_by_side import CSS as PAIR_CSS
from pages._shared.side_by_side import verdict_html
from pages._shared.terms import fill
from pages._shared.widgets import counts, link

LEAD = "What stands behind an answer: how it was found, its passages inside the {handbook}, and the search layer by layer."
SEARCH = "The search, layer by layer"


def picked(run: Run, names: dict[str, str]) -> tuple[str, str, str | None]:
    """Question, handbook, and the other handbook or None, as the address has them."""
    listed = load(question_list, run)
    texts = dict(zip(listed["question_id"], listed["text"], strict=True))
    label = fill(run, "Question (type to search; the most disputed come first)")
    first = next(iter(texts))
    question_id = pick_one(label, list(texts), "question", default=first, format_func=lambda each: texts.get(each, each)) or first
    one, two = st.columns(2)
    with one:
        book = first_that_answers(run, question_id, names)
        handbook_id = pick_one(
            fill(run, "{Handbook}"), list(names), "handbook", default=book, format_func=lambda each: names.get(each, each)
        )
    with two:
        other = pick_one(
            "Beside it", [each for each in names if each != handbook_id], "other", placeholder="Nothing",
            format_func=lambda each: names.get(each, each),
        )  # fmt: skip
    return question_id, handbook_id or book, other


def first_that_answers(run: Run, question_id: str, names: dict[str, str]) -> str:
    """The first handbook that answers the question: where nobody was named, silence is not what one looks for."""
    table = load(position_groups, run, question_id=question_id)
    answering = set(table.loc[table["state"] == "answers", "handbook_id"])
    return next((name for name in names if name in answering), next(iter(names)))


def behind(run: Run, found: Answer, name: str, key: str) -> None:
    """One answer and everything behind it."""
    st.html(said_html(run, found, name, key) + found_html(run, found) + passages_html(run, found, key))
    layers = layers_html(found)
    if layers:
        with st.expander(SEARCH, key=f"search_{key}"):
            st.html(layers)
    elif found.recorded:
        counts(run, "The release does not tell the layers of this search.")


def verdict(run: Run, question_id: str, handbook_id: str, other: str) -> None:
    """What the judge says of the two, and the way back to where they are marked."""
    found = load(pair, run, question_id=question_id, handbook_a=handbook_id, handbook_b=other)
    st.html(PAIR_CSS)
    st.html(f'<div class="pair">{verdict_html(run, found)}</div>')


with page("Answer", LEAD) as run:
    names = handbook_names(load(handbook_list, run))
    question_id, handbook_id, other = picked(run, names)
    st.html(CSS)
    if other:
        verdict(run, question_id, handbook_id, other)
    with st.container(horizontal=True, vertical_alignment="center"):
        link("question", "All {handbooks} on this question", run, icon=":material/grid_on:", question=question_id)
        if other:
            link(
                "disagreements", "What differs, word by word", run, icon=":material/compare_arrows:",
                question=question_id, a=handbook_id, b=other,
            )  # fmt: skip
    shown = [handbook_id, *([other] if other else [])]
    found = {each: load(answer, run, question_id=question_id, handbook_id=each) for each in shown}
    with st.container(key="behind"):
        for key, column, each in zip("ab", st.columns(len(shown), gap="medium"), shown, strict=False):
            with column:
                behind(run, found[each], names[each], key)
    if any(each.passages for each in found.values()):
        counts(run, "Coloured: what the generator was given. A number leads from a part of the answer to its passage.")
