"""One question in a sentence, and its camps as cards: the value, how many hold it, and who."""

from __future__ import annotations

from html import escape

import pandas as pd
import streamlit as st

from audit.charts.style import percent
from audit.store.runs import Run
from audit.vocabulary import DISAGREEING, LABELS, Label
from pages._shared.side_by_side import CSS
from pages._shared.words import say, terms

PRESENT = [label.value for label in LABELS if label != Label.ABSENT]

DISPUTED = "**{disagreeing}** of {present} present pairs disagree ({share}){unscored}. **{camps}** {camp_word}."


def summary(run: Run, table: pd.DataFrame, cells: pd.DataFrame) -> None:
    """How many were asked, answer and disagree, with the counts behind the rate."""
    asked = table[table["state"] != "not asked"]
    answering = table[table["state"] == "answers"]
    values = pd.Series(cells.to_numpy(dtype=str).ravel()).value_counts() // 2
    present = int(values.reindex(PRESENT, fill_value=0).sum())
    disagreeing = int(values.reindex([label.value for label in DISAGREEING], fill_value=0).sum())
    unscored = int(values.get("unscored", 0))
    st.markdown(
        say(
            run,
            "**{asked}** {handbooks} were asked, **{answering}** answer, **{silent}** do not address it. "
            + (DISPUTED if present else ""),
            asked=len(asked), answering=len(answering), silent=len(asked) - len(answering), disagreeing=disagreeing,
            present=present, share=percent(disagreeing / present if present else None),
            unscored=f"; {unscored} more unscored" if unscored else "",
            camps=int(table["camp"].nunique()), camp_word="camp" if table["camp"].nunique() == 1 else "camps",
        )
    )  # fmt: skip


def camp_cards(run: Run, answering: pd.DataFrame, names: dict[str, str]) -> None:
    """One card per camp, in the order of the matrix."""
    st.html(CSS)
    cards = "".join(_card(run, group, names) for _, group in answering.groupby("camp"))
    st.html(f'<div class="camps">{cards}</div>')


def _card(run: Run, group: pd.DataFrame, names: dict[str, str]) -> str:
    size, words = len(group), terms(run)
    held = f"{size} {words['handbook' if size == 1 else 'handbooks']}"
    members = "; ".join(names.get(handbook, handbook) for handbook in group["handbook_id"])
    head = f'<div class="value">{escape(group["name"].iloc[0])} <span class="count">{escape(held)}</span></div>'
    return f'<div class="camp">{head}<div class="members">{escape(members)}</div>{_doubt(group.iloc[0])}</div>'


def _doubt(camp: pd.Series) -> str:
    """The pairs inside a camp that disagree: verdicts to look at twice."""
    if not camp["inside_disagreeing"]:
        return ""
    return f'<div class="count">{camp["inside_disagreeing"]} of {camp["inside"]} pairs inside it disagree</div>'
