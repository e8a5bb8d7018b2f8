"""One question in a sentence, and its camps as cards: the value, how many hold it, and who."""

from __future__ import annotations

from html import escape

import pandas as pd
import streamlit as st

from audit.charts.style import interval, percent
from audit.store.runs import Run
from pages._shared.side_by_side import CSS, shortened
from pages._shared.terms import listed, say, terms
from pages._shared.widgets import link

ASKED = "**{asked}** {handbooks} were asked, **{answering}** answer, **{silent}** do not address it. "
UNREAD = "The replies of **{unread}** could not be read. "
DISPUTED = (
    "**{disagreeing}** of {present} present pairs disagree ({share}; 95 % interval {span}){unscored}. **{camps}** {camp_word}."
)
IN_SIGHT = 14
"""Members of a camp that are named at once; a click shows the others."""


def summary(run: Run, table: pd.DataFrame, rates: pd.Series) -> None:
    """How many were asked, answer and disagree: the counts behind the rate, and its interval (a row of `questions`)."""
    asked, answering, silent, unread = (
        (table["state"].isin(states)).sum()
        for states in (("answers", "not addressed", "unread"), ("answers",), ("not addressed",), ("unread",))
    )
    camps = table["group"].nunique()
    st.markdown(
        say(
            run, ASKED + (UNREAD if unread else "") + (DISPUTED if rates["present"] else ""),
            asked=asked, answering=answering, silent=silent, unread=unread,
            disagreeing=f"{rates['disagreeing']:,}", present=f"{rates['present']:,}", share=percent(rates["r_div"]),
            span=interval(rates["r_div_low"], rates["r_div_high"]) or "unknown",
            unscored=f"; {rates['unscored']:,} more unscored" if rates["unscored"] else "",
            camps=camps, camp_word="camp" if camps == 1 else "camps",
        )
    )  # fmt: skip


def camp_cards(run: Run, answering: pd.DataFrame, names: dict[str, str]) -> None:
    """One card per camp, in the order of the matrix."""
    st.html(CSS)
    cards = "".join(_card(run, group, names) for _, group in answering.groupby("group"))
    st.html(f'<div class="camps">{cards}</div>')


def _card(run: Run, group: pd.DataFrame, names: dict[str, str]) -> str:
    size, words = len(group), terms(run)
    held = f"{size} {words['handbook' if size == 1 else 'handbooks']}"
    head = f'<div class="value">{escape(group["name"].iloc[0])} <span class="count">{escape(held)}</span></div>'
    members = _members([escape(names.get(handbook, handbook)) for handbook in group["handbook_id"]])
    return f'<div class="camp">{head}<div class="members">{members}</div>{_doubt(group.iloc[0])}</div>'


def _members(names: list[str]) -> str:
    if len(names) <= IN_SIGHT + 2:
        return "; ".join(names)
    first, others = names[:IN_SIGHT], names[IN_SIGHT:]
    return f"{'; '.join(first)}<details><summary>and {len(others)} more</summary>{'; '.join(others)}</details>"


def _doubt(camp: pd.Series) -> str:
    """The pairs inside a camp that disagree: verdicts to look at twice."""
    if not camp["inside_disagreeing"]:
        return ""
    return f'<div class="count">{camp["inside_disagreeing"]} of {camp["inside"]} pairs inside it disagree</div>'


OTHERS = {
    "not addressed": "{n} do not address this question: {who}.",
    "unread": "{n} gave a reply that could not be read: {who}.",
    "not asked": "{n} were not asked: {who}.",
}


def all_answers(run: Run, question_id: str, table: pd.DataFrame, names: dict[str, str]) -> None:
    """The answers, camp by camp, behind a click; then who is silent and who was not asked."""
    answering = table[table["state"] == "answers"]
    with st.expander(say(run, "All {n} answers", n=len(answering)), on_change="rerun", key="all_answers") as expander:
        if expander.open:
            st.html(CSS)
            for row in answering.itertuples():
                st.html(f'<div class="answers">{_answer(row, names)}</div>')
                handbook_id = str(row.handbook_id)
                link("answer", "The passages behind it", run, question=question_id, handbook=handbook_id)
    for state, template in OTHERS.items():
        absent = table.loc[table["state"] == state, "handbook_id"]
        if len(absent):
            st.caption(say(run, template, n=len(absent), who=listed(sorted(names.get(h, h) for h in absent))))


def _answer(row: object, names: dict[str, str]) -> str:
    handbook_id, answer = str(row.handbook_id), row.answer  # type: ignore[attr-defined]
    camp = f"camp: {row.name}"  # type: ignore[attr-defined]
    text = shortened(answer) if isinstance(answer, str) else "This release came without answers."
    head = f'<div class="name">{escape(names.get(handbook_id, handbook_id))}</div><div class="faint">{escape(camp)}</div>'
    return f'<div class="side">{head}<div class="said">{escape(text)}</div></div>'
