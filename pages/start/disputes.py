"""The most disputed questions, each with who says what in a few lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st
from markupsafe import Markup

from audit.charts.style import PLAIN_LABELS, handbook_names
from audit.metrics.disputed_questions import counts_on
from audit.metrics.question_positions import Position
from audit.queries.lookup import handbook_list
from audit.store.runs import Run
from audit.terms import terms
from pages._blinded.frame import escaped
from pages._blinded.scripts import script_path
from pages._blinded.templates import rendered
from pages._shared.loaders import load
from pages._shared.position_cards import DOTS_CSS, at_least, by_center, card_of, centers_of, dot_groups, doubt_words, positions_on
from pages._shared.question_detail import who_says_what

CSS = Path(__file__).with_name("disputes.css")
POSITIONS, CENTERS = 2, 4
"""Positions of a question and centers of a position that are named; the others are counted."""


def disputes(run: Run, questions: pd.DataFrame) -> None:
    """Rows of the metric `disputed_questions`, each a link to its question above its positions."""
    st.html(CSS)
    st.html(DOTS_CSS)
    names, centers = handbook_names(load(handbook_list, run)), centers_of(run)
    with st.container(key="disputes", gap="small"):
        for row in questions.to_dict("records"):
            asked = {"run": run.key, "question": str(row["question_id"])}
            st.page_link(script_path("question"), label=escaped(row["question_text"]), query_params=asked)
            st.html(_positions_html(run, row, centers, names))


def _positions_html(run: Run, row: Mapping[Hashable, Any], centers: dict[str, str], names: dict[str, str]) -> Markup:
    """Who says what in one sentence, the two positions that most hold or the judge's own words, and how grave it is."""
    question_id = str(row["question_id"])
    found = positions_on(run, question_id)
    told_apart = {**centers, **on_several_sides(found.positions, names, centers)}
    lines = [(card_of(one, names, centers), who_holds(run, one, told_apart)) for one in found.positions[:POSITIONS]]
    # Without values the quotes below say it
    is_short = all(position.value for position in found.positions)
    told = who_says_what(run, found, load(counts_on, run, question_id=question_id)) if is_short else ""
    judged = found.certain.reasoning if found.certain and not found.positions else ""
    summary = _summary(run, row, len(found.positions))
    groups = dot_groups(found, names)
    return rendered("start/dispute.html", told=told, groups=groups, lines=lines, judged=judged, summary=summary, terms=terms(run))


def on_several_sides(positions: Sequence[Position], names: Mapping[str, str], centers: Mapping[str, str]) -> dict[str, str]:
    """The whole names of handbooks on another side than most of their center's, whose name alone would stand on both."""
    sides: dict[str, Counter[int]] = {}
    for side, position in enumerate(positions):
        for holder in position.holders:
            sides.setdefault(centers[holder.handbook_id], Counter())[side] += 1
    return {
        holder.handbook_id: names[holder.handbook_id]
        for side, position in enumerate(positions)
        for holder in position.holders
        if sides[centers[holder.handbook_id]].most_common(1)[0][0] != side
    }


def who_holds(run: Run, position: Position, centers: Mapping[str, str]) -> str:
    """`6 handbooks (at least 5): Alder (3), Cedar (2), Birch`: the holders of a position by center."""
    held, n = by_center(position.holders, centers), len(position.holders)
    named = [f"{center} ({count})" if count > 1 else center for center, count in held[:CENTERS]]
    others = [f"{len(held) - CENTERS} more"] if len(held) > CENTERS else []
    count = f"{n} {terms(run)['handbooks']}{doubt_words(at_least(position))}: " if n > 1 else ""
    return count + ", ".join(named + others)


def _summary(run: Run, row: Mapping[Hashable, Any], positions: int) -> str:
    parts = [PLAIN_LABELS.get(str(row["label"]), str(row["label"]))]
    if not pd.isna(row["significance"]):
        parts[0] += f", {row['significance']} {terms(run)['significance']}"
    pairs, disagree = ("pair", "disagrees") if row["pairs"] == 1 else ("pairs", "disagree")
    # Single labels err, so they need not add up to the positions above
    parts.append(f"as the judge labels, {row['pairs']:,} {pairs} of {row['handbooks']} {terms(run)['handbooks']} {disagree}")
    if positions > POSITIONS:
        parts.append(f"{positions - POSITIONS} more {'position' if positions == POSITIONS + 1 else 'positions'}")
    return " · ".join(parts)
