"""Every handbook's answer to one question, camp by camp."""

from __future__ import annotations

from html import escape

import pandas as pd
import streamlit as st

from audit.store.runs import Run
from pages._shared.marked import shortened
from pages._shared.side_by_side import CSS
from pages._shared.widgets import link
from pages._shared.words import listed, say

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
