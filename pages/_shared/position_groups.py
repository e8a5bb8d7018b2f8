"""The position groups of one question as cards, and which handbooks gave no answer: for a question that no run has."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from types import MappingProxyType

import pandas as pd
import streamlit as st

from audit.store.runs import Run
from audit.terms import terms
from pages._shared.position_cards import members_html
from pages._shared.side_by_side import CSS, shortened
from pages._shared.widgets import listed, say

WITHOUT_ANSWER = {  # state of a handbook in the metric's table -> the sentence below the answers
    "not addressed": "Not addressed ({n}): {who}.",
    "unread": "Reply not readable ({n}): {who}.",
    "not asked": "Not asked ({n}): {who}.",
}


def group_cards(run: Run, answering: pd.DataFrame, names: dict[str, str]) -> None:
    """One card per position group, in the order of the matrix."""
    st.html(CSS)
    cards = "".join(_card_html(run, group, names) for _, group in answering.groupby("group"))
    st.html(f'<div class="position-groups">{cards}</div>')


def _card_html(run: Run, group: pd.DataFrame, names: dict[str, str]) -> str:
    size, words = len(group), terms(run)
    count = f"{size} {words['handbook' if size == 1 else 'handbooks']}"
    head = f'<div class="value">{escape(group["name"].iloc[0])} <span class="count">{escape(count)}</span></div>'
    members = members_html([names.get(handbook, handbook) for handbook in group["handbook_id"]])
    return (
        f'<div class="position-group">{head}<div class="members">{members}</div>{_inner_disagreement_html(group.iloc[0])}</div>'
    )


def _inner_disagreement_html(group: pd.Series) -> str:
    # A pair that disagrees within a group of one position is a verdict that deserves a second look.
    if not group["inside_disagreeing"]:
        return ""
    return f'<div class="count">{group["inside_disagreeing"]} of {group["inside"]} pairs within this group disagree</div>'


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
