"""One question in a sentence, its position groups as cards, and every answer group by group."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from types import MappingProxyType

import pandas as pd
import streamlit as st

from audit.charts.style import interval, percent
from audit.queries.citations import citations
from audit.store.runs import Run
from audit.terms import terms
from pages._shared.loaders import load
from pages._shared.side_by_side import CSS, shortened
from pages._shared.source_links import citation_links_html
from pages._shared.widgets import link, listed, say

ASKED = "**{asked}** {handbooks} were asked: **{answering}** answered, **{not_addressing}** did not address the question. "
UNREAD = "The replies of **{unread}** could not be read. "
DISPUTED = (
    "In **{disagreeing}** of {present} pairs in which both answer, the answers disagree ({share}; 95 % interval {span})"
    "{unscored}. There {groups_are}."
)
NAMED_MEMBERS = 14  # visible at once; a click shows the other members of a group
WITHOUT_ANSWER = {  # state of a handbook in the metric's table -> the sentence below the answers
    "not addressed": "Not addressed ({n}): {who}.",
    "unread": "Reply not readable ({n}): {who}.",
    "not asked": "Not asked ({n}): {who}.",
}


def summary(run: Run, table: pd.DataFrame, rates: pd.Series) -> None:
    """How many were asked, answer and disagree: the counts behind the rate, and its interval (a row of `questions`)."""
    states = table["state"].value_counts().reindex(["answers", "not addressed", "unread"], fill_value=0)
    answering, not_addressing, unread = states
    groups = table["group"].nunique()
    st.markdown(
        say(
            run, ASKED + (UNREAD if unread else "") + (DISPUTED if rates["present"] else ""),
            asked=states.sum(), answering=answering, not_addressing=not_addressing, unread=unread,
            disagreeing=f"{rates['disagreeing']:,}", present=f"{rates['present']:,}", share=percent(rates["r_div"]),
            span=interval(rates["r_div_low"], rates["r_div_high"]) or "unknown",
            unscored=_unscored_words(rates["unscored"]),
            groups_are="is 1 position group" if groups == 1 else f"are {groups} position groups",
        )
    )  # fmt: skip


def _unscored_words(pairs: int) -> str:
    return "" if not pairs else "; 1 more pair is unscored" if pairs == 1 else f"; {pairs:,} more pairs are unscored"


def group_cards(run: Run, answering: pd.DataFrame, names: dict[str, str]) -> None:
    """One card per position group, in the order of the matrix."""
    st.html(CSS)
    cards = "".join(_card_html(run, group, names) for _, group in answering.groupby("group"))
    st.html(f'<div class="position-groups">{cards}</div>')


def _card_html(run: Run, group: pd.DataFrame, names: dict[str, str]) -> str:
    size, words = len(group), terms(run)
    count = f"{size} {words['handbook' if size == 1 else 'handbooks']}"
    head = f'<div class="value">{escape(group["name"].iloc[0])} <span class="count">{escape(count)}</span></div>'
    members = _members_html([escape(names.get(handbook, handbook)) for handbook in group["handbook_id"]])
    return (
        f'<div class="position-group">{head}<div class="members">{members}</div>{_inner_disagreement_html(group.iloc[0])}</div>'
    )


def _members_html(names: list[str]) -> str:
    if len(names) <= NAMED_MEMBERS + 2:  # a click for one or two more names is not worth it
        return "; ".join(names)
    first, others = names[:NAMED_MEMBERS], names[NAMED_MEMBERS:]
    return f"{'; '.join(first)}<details><summary>and {len(others)} more</summary>{'; '.join(others)}</details>"


def _inner_disagreement_html(group: pd.Series) -> str:
    # A pair that disagrees within a group of one position is a verdict that deserves a second look.
    if not group["inside_disagreeing"]:
        return ""
    return f'<div class="count">{group["inside_disagreeing"]} of {group["inside"]} pairs within this group disagree</div>'


def all_answers(run: Run, question_id: str, table: pd.DataFrame, names: dict[str, str]) -> None:
    """Every answer, group by group, behind a click; then which handbooks gave none, and why."""
    answering = table[table["state"] == "answers"]
    with st.expander(say(run, "All {n} answers", n=len(answering)), on_change="rerun", key="all_answers") as expander:
        if expander.open:
            st.html(CSS)
            cited = load(citations, run, question_id=question_id)
            for row in answering.itertuples():
                links = citation_links_html(run, question_id, str(row.handbook_id), cited.get(str(row.handbook_id), ()))
                st.html(f'<div class="answers">{answer_html(row, names, links)}</div>')
                link("answer", "See the passages behind it", run, question=question_id, handbook=str(row.handbook_id))
    without_answer(run, table, names)


def without_answer(
    run: Run, table: pd.DataFrame, names: dict[str, str], sentences: Mapping[str, str] = MappingProxyType(WITHOUT_ANSWER)
) -> None:
    """Which handbooks gave no answer, those of each reason apart; `sentences` has a template for each state."""
    for state, template in sentences.items():
        handbook_ids = table.loc[table["state"] == state, "handbook_id"]
        if len(handbook_ids):
            st.caption(say(run, template, n=len(handbook_ids), who=listed(sorted(names.get(h, h) for h in handbook_ids))))


def answer_html(row: object, names: dict[str, str], links: str) -> str:
    """One answer under its handbook and its position group; `row` of the table of groups."""
    handbook_id, answer = str(row.handbook_id), row.answer  # type: ignore[attr-defined]
    group = f"position group: {row.name}"  # type: ignore[attr-defined]
    text = shortened(answer) if isinstance(answer, str) else "This release came without answers."
    head = f'<div class="name">{escape(names.get(handbook_id, handbook_id))}</div><div class="faint">{escape(group)}</div>'
    return f'<div class="side">{head}<div class="answer-text">{escape(text)}</div>{links}</div>'
