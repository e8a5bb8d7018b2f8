"""Who says what on one question: a card for each of its positions, one for what is said besides, and who gave no answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pandas as pd
import streamlit as st
from markupsafe import Markup

from audit.charts.style import cut
from audit.metrics.question_positions import (
    ClearestPair,
    Holder,
    Position,
    QuestionPositions,
    positions_in,
    positions_of,
    question_positions,
    words_of,
)
from audit.queries.lookup import handbook_list
from audit.store.runs import Run
from audit.terms import display_name, terms
from audit.vocabulary import DISAGREEING, PRESENT_LABELS
from pages._blinded.templates import rendered
from pages._shared.loaders import load
from pages._shared.search import hits_html, searched_words
from pages._shared.widgets import counts, listed, say

CSS, DOTS_CSS = (Path(__file__).with_name(name) for name in ("positions.css", "dot_strip.css"))
FEW = 3
"""So many are named one by one."""
MAX_CENTER = 64
"""Letters of a center where only its number counts; the names of its handbooks are whole."""
LETTERS = 60
"""Of a position beside a dot."""
IN_SIGHT = 14  # members of a position that are named; a click shows the others
WITHOUT_ANSWER = {  # state of a handbook in the metric's table -> the sentence below the answers
    "not addressed": "Not addressed ({n}): {who}.",
    "unread": "Reply not readable ({n}): {who}.",
    "not asked": "Not asked ({n}): {who}.",
}
METHODS = {
    "labels": "The judge's labels propose which {handbooks} agree; only those whose own sentence states a position are "
    "named under it. Every quote is word for word from an answer.",
    "judge": "Found by a model; every quote is word for word from an answer.",
    "release": "As the run has them; every quote is word for word from an answer.",
}
CERTAIN = (
    "No sentence of these {handbooks} clearly states a position that could be told apart. This is the pair that shows the "
    "disagreement best."
)


def positions_on(run: Run, question_id: str) -> QuestionPositions:
    """Who says what on a question of the run, as loading kept it; the clearest pair only where no position is told apart."""
    kept = positions_in(load(question_positions, run, question_id=question_id))
    return kept if kept.positions else load(positions_of, run, question_id=question_id)


@dataclass(frozen=True)
class PositionCard:
    """A position as every page shows it.

    value        the quantity that sets it apart
    members      names of those who hold it; centers  `Alder 5`, where several of a center do
    statement    its words
    by           whose words these are, where not all members use them: the others agree, and need not say this very thing
    words        the words of every member, with whose they are, where they differ from the statement
    disagreeing  how many of the `pairs` within it disagree
    at_least     how many of the members share a position at least; 0 where all surely do
    """

    value: str
    members: list[str]
    centers: tuple[str, ...] = ()
    aspect: str = ""
    statement: str = ""
    by: str = ""
    words: tuple[tuple[Markup, list[str]], ...] = ()
    disagreeing: int = 0
    pairs: int = 0
    at_least: int = 0


def at_least(position: Position) -> int:
    """How many of its holders share a position at least; 0 where all surely do, or where it is not known."""
    least = position.at_least or 0
    return least if least < len(position.holders) else 0


def doubt_words(least: int) -> str:
    """` (at least 13 for certain)`; "" for 0."""
    return f" (at least {least:,} for certain)" if least else ""


def centers_of(run: Run) -> dict[str, str]:
    """handbook_id -> center."""
    return dict(load(handbook_list, run)[["handbook_id", "center"]].itertuples(index=False, name=None))


def by_center(holders: Iterable[Holder], centers: Mapping[str, str]) -> list[tuple[str, int]]:
    """The centers of the holders with how many of each, the most first."""
    held = Counter(centers[one.handbook_id] for one in holders).most_common()
    return [(cut(display_name(center), MAX_CENTER), n) for center, n in held]


def card_of(
    position: Position, names: Mapping[str, str], centers: Mapping[str, str], cells: pd.DataFrame | None = None
) -> PositionCard:
    """The card of a position; `cells`, the matrix of labels: with it a card says how many pairs within it disagree."""
    holders = [holder.handbook_id for holder in position.holders]
    disagreeing = pairs = 0
    if cells is not None:
        labels = cells.loc[holders, holders].to_numpy(dtype=object)
        disagreeing, pairs = (int(np.isin(labels, list(words)).sum()) // 2 for words in (DISAGREEING, PRESENT_LABELS))
    held = by_center(position.holders, centers)
    shared = tuple(f"{center} {n}" for center, n in held) if len(held) < len(holders) and len(holders) > FEW else ()
    return PositionCard(
        position.value or "", _named(position.holders, names), shared, position.aspect, _hits(position.statement),
        quoted_from(position, names), _words_of(position, names), disagreeing, pairs, at_least(position),
    )  # fmt: skip


def position_cards(run: Run, found: QuestionPositions, names: dict[str, str], cells: pd.DataFrame | None = None) -> None:
    """One card per position, under the aspect that it is about, one for what others say, and how they were found.

    Where no position is certain: the pair that shows the disagreement best, with the judge's sentence and the words that clash.
    """
    others = [(holder.handbook_id, _hits(words_of(holder))) for holder in found.others]
    pair = None if found.positions else found.certain
    centers = centers_of(run)
    st.html(CSS)
    st.html(rendered(
        "_shared/position_cards.html", cards=[card_of(one, names, centers, cells) for one in found.positions], terms=terms(run),
        in_sight=IN_SIGHT, others=[(words, [names.get(handbook_id, handbook_id)]) for handbook_id, words in others],
        certain=pair and _certain(pair, names), nothing_certain=CERTAIN.format(**terms(run)),
    ))  # fmt: skip
    for method in dict.fromkeys(position.method for position in found.positions):
        counts(run, METHODS[method])


def _certain(pair: ClearestPair, names: Mapping[str, str]) -> dict[str, object]:
    sides = [(names.get(side.handbook_id, side.handbook_id), _hits(words_of(side))) for side in (pair.a, pair.b)]
    return {"topic": pair.topic, "reasoning": pair.reasoning, "sides": sides}


def _hits(words: str) -> Markup:
    return hits_html(words, searched_words())


def different_positions(found: QuestionPositions, a: str, b: str) -> bool:
    """Whether two handbooks hold different positions on some aspect."""
    held: dict[str, dict[str, set[int]]] = {}
    for number, position in enumerate(found.positions):
        for holder in position.holders:
            held.setdefault(position.aspect, {}).setdefault(holder.handbook_id, set()).add(number)
    return any(a in by and b in by and not by[a] & by[b] for by in held.values())


@dataclass(frozen=True)
class DotGroup:
    """Handbooks that say the same on a question, by name, and what; or those that say something else."""

    position: str
    names: list[str]
    is_else: bool = False


def dot_groups(found: QuestionPositions, names: Mapping[str, str]) -> list[DotGroup]:
    """The handbooks with a position, each once, in the first of its positions; then those that say something else."""
    left = dict.fromkeys(holder.handbook_id for position in found.positions for holder in position.holders)
    groups = []
    for position in found.positions:
        own = [holder for holder in position.holders if holder.handbook_id in left]
        for holder in own:
            del left[holder.handbook_id]
        groups.append(DotGroup(cut(position.value or position.statement, LETTERS), _named(own, names)))
    groups.append(DotGroup("", _named(found.others, names), is_else=True))
    drawn = [group for group in groups if group.names] if found.positions else []
    return drawn if sum(len(group.names) for group in drawn) > FEW else []  # of few, the cards tell as much at a glance


def most_differing(pairs: Sequence[tuple[str, str]], found: QuestionPositions) -> tuple[str, str]:
    """The first of `pairs`, the gravest first, that lies across positions; without one, the clearest pair or the first of all."""
    clearest = (found.certain.a.handbook_id, found.certain.b.handbook_id) if found.certain else pairs[0]
    return next((pair for pair in pairs if different_positions(found, *pair)), clearest if clearest in pairs else pairs[0])


def quoted_from(position: Position, names: Mapping[str, str]) -> str:
    """Whose words the statement of a position are; "" where they are everybody's or nobody's."""
    theirs = [holder for holder in position.holders if words_of(holder) == position.statement]
    if not theirs or len(theirs) == len(position.holders):
        return ""
    return _named(theirs, names)[0] + (f" and {len(theirs) - 1:,} more" if len(theirs) > 1 else "")


def _words_of(position: Position, names: Mapping[str, str]) -> tuple[tuple[Markup, list[str]], ...]:
    """The words of every holder, equal words once; none where they are those of the statement."""
    if all(words_of(holder) == position.statement for holder in position.holders):
        return ()
    said = groupby(sorted(position.holders, key=words_of), words_of)
    return tuple((_hits(words), _named(holders, names)) for words, holders in said)


def _named(holders: Iterable[Holder], names: Mapping[str, str]) -> list[str]:
    return [names.get(holder.handbook_id, holder.handbook_id) for holder in holders]


def without_answer(
    run: Run, table: pd.DataFrame, names: dict[str, str], sentences: Mapping[str, str] = MappingProxyType(WITHOUT_ANSWER)
) -> None:
    """Which handbooks gave no answer, those of each reason apart; `sentences` has a template for each state."""
    for state, template in sentences.items():
        handbook_ids = table.loc[table["state"] == state, "handbook_id"]
        if len(handbook_ids):
            st.caption(say(run, template, n=len(handbook_ids), who=listed(sorted(names.get(h, h) for h in handbook_ids))))
