"""One question: a sentence of counts, who says what, two answers side by side, and every answer under its position."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st
from markupsafe import Markup

from audit.formatting import shortened
from audit.metrics.disagreements import Filters, matching
from audit.metrics.disputed_questions import counts_on
from audit.metrics.question_positions import SOMETHING_ELSE, Holder, Position, QuestionPositions
from audit.queries.citations import citations
from audit.queries.pair_view import Pair, pair
from audit.store.runs import Run
from audit.terms import terms
from pages._blinded.frame import escaped
from pages._blinded.templates import marked, rendered
from pages._shared.loaders import load
from pages._shared.pair_filters import link_for_a_pair
from pages._shared.pair_list import linked_pair
from pages._shared.pickers import named_by
from pages._shared.position_cards import CSS as POSITIONS_CSS
from pages._shared.position_cards import (
    DOTS_CSS,
    at_least,
    dot_groups,
    doubt_words,
    most_differing,
    position_cards,
    positions_on,
    without_answer,
)
from pages._shared.side_by_side import CSS as PAIR_CSS
from pages._shared.side_by_side import AnswerHead, pair_html, side_by_side
from pages._shared.source_links import citation_links_html
from pages._shared.widgets import counts, link, say, title_of

LABELS = "In {disagreeing} of the {present} pairs in which the judge sees two answers, it finds that they disagree{unscored}."
NO_ANSWERS = "This run came without answers."
NO_POSITION, NOT_SORTED = "Nothing on this", "Not sorted by position"
SIDES = ("a", "b")


def summary(run: Run, question_id: str, found: QuestionPositions, names: Mapping[str, str]) -> None:
    """The first sentence: how many say what, and how many nothing; below it a dot for each handbook."""
    text = who_says_what(run, found, load(counts_on, run, question_id=question_id))
    st.html(POSITIONS_CSS)
    st.html(DOTS_CSS)
    st.html(rendered("_shared/who_says_what.html", text=text, groups=dot_groups(found, names), terms=terms(run)))


def label_counts(run: Run, question_id: str) -> None:
    """How many pairs disagree, by the judge's labels."""
    numbers = load(counts_on, run, question_id=question_id)
    words = {name: f"{numbers[name]:,}" for name in ("disagreeing", "present")}
    counts(run, LABELS, **words, unscored=_unscored_words(numbers["unscored"]))


def _unscored_words(pairs: int) -> str:
    return "" if not pairs else "; 1 more pair is unscored" if pairs == 1 else f"; {pairs:,} more pairs are unscored"


def question_view(run: Run, question_id: str, filters: Filters, names: dict[str, str]) -> None:
    """The detail of a question in a list: who says what, then the pair that differs most among those that the filters select."""
    found = positions_on(run, question_id)
    linked = linked_pair(question_id, pd.Index(list(names)))
    opened = linked or most_differing(pairs_on(run, question_id, filters), found)
    judged = load(pair, run, question_id=question_id, handbook_a=opened[0], handbook_b=opened[1])
    st.html(PAIR_CSS)
    st.html(pair_html(Markup(), judged.question.text))
    summary(run, question_id, found, names)
    position_cards(run, found, names)
    two_answers(run, judged, names, "Two answers side by side" if linked else "The pair that differs most")


def two_answers(run: Run, judged: Pair, names: dict[str, str], heading: str) -> None:
    """The opened pair: both answers next to each other."""
    st.header(heading, anchor=False)
    side_by_side(run, judged, names, with_question=False)
    if written_by := run.manifest.get("generator"):  # an answer may be a text that was cut
        counts(run, "Answers: {written_by}.", written_by=str(written_by).rstrip("."))
    link_for_a_pair(run, judged.question.question_id, judged.a.handbook_id, judged.b.handbook_id)


def pairs_on(run: Run, question_id: str, filters: Filters) -> list[tuple[str, str]]:
    """The pairs on a question that the filters select, the gravest first; all of them where the filters select none."""
    for chosen in (replace(filters, questions=(question_id,)), Filters(labels=(), questions=(question_id,))):
        pairs = load(matching, run, filters=chosen, order="significance")
        if len(pairs):
            break
    return list(pairs[["handbook_a", "handbook_b"]].itertuples(index=False, name=None))


def pick_two(run: Run, handbooks: Sequence[str], opened: tuple[str, str], names: dict[str, str]) -> None:
    """Two pickers, by which any two handbooks can be compared without a mouse."""
    for column, side, current in zip(st.columns(2), SIDES, opened, strict=True):
        st.session_state[f"pick_{side}"] = current
        column.selectbox(
            escaped(f"{title_of(run, 'handbook')} {side.upper()}"), handbooks, key=f"pick_{side}", format_func=named_by(names),
            on_change=_open_two, args=(side, opened),
        )  # fmt: skip


def _open_two(side: str, opened: tuple[str, str]) -> None:
    chosen = {name: st.session_state[f"pick_{name}"] for name in SIDES}
    if chosen["a"] == chosen["b"]:  # the one that was chosen stays, and the other side gets what was there
        other = "b" if side == "a" else "a"
        chosen[other] = opened[SIDES.index(side)]
    st.query_params.update(chosen)


# -- every answer ------------------------------------------------------------------------------------------------------


def all_answers(run: Run, question_id: str, table: pd.DataFrame, found: QuestionPositions, names: dict[str, str]) -> None:
    """Every answer under its position, behind a click; then which handbooks gave none, and why.

    table  of `position_groups`
    """
    answers = dict(table.loc[table["state"] == "answers", ["handbook_id", "answer"]].itertuples(index=False, name=None))
    with st.expander(say(run, "All answers by position ({n})", n=len(answers)), on_change="rerun", key="all_answers") as expander:
        if expander.open:
            st.html(PAIR_CSS)
            for heading, holders in _under_positions(answers, found):
                st.html(Markup('<div class="held-answers">{}</div>').format(heading))
                for handbook_id, holder in holders:
                    _answer(run, question_id, handbook_id, answers[handbook_id], holder, names)
    without_answer(run, table, names)


def _under_positions(
    answers: Mapping[str, object], found: QuestionPositions
) -> Iterator[tuple[str, list[tuple[str, Holder | None]]]]:
    """Heading -> the handbooks under it with their words, each handbook once: under the first of its positions."""
    left = dict.fromkeys(answers)
    headed = [(f"{one.value}: {one.statement}" if one.value else one.statement, one.holders) for one in found.positions]
    for heading, holders in (*headed, (SOMETHING_ELSE.capitalize(), found.others)):
        held = [(holder.handbook_id, holder) for holder in holders if holder.handbook_id in left]
        for handbook_id, _ in held:
            del left[handbook_id]
        if held:
            yield heading, list(held)
    if left:
        yield NO_POSITION if found.positions else NOT_SORTED, [(handbook_id, None) for handbook_id in left]


def _answer(run: Run, question_id: str, handbook_id: str, answer: object, holder: Holder | None, names: dict[str, str]) -> None:
    cited = load(citations, run, question_id=question_id).get(handbook_id, ())
    links = citation_links_html(run, question_id, handbook_id, cited)
    head = AnswerHead(names.get(handbook_id, handbook_id))
    st.html(rendered("_shared/held_answer.html", head=head, text=_with_words_marked(answer, holder), links=links))
    link("answer", "See the passages behind it", run, question=question_id, handbook=handbook_id)


def _with_words_marked(answer: object, holder: Holder | None) -> Markup:
    """The answer with the words by which it holds a position marked."""
    text = shortened(answer) if isinstance(answer, str) else NO_ANSWERS
    start, end = (holder.start or 0, holder.end or 0) if holder else (0, 0)
    return marked(text, start, end)


# -- The first sentence on a question: how many handbooks say what, how many say something else, and how many nothing


ELSE = "something else, or one of these in other words"
POSITIONS, LETTERS = 3, 110
"""Positions that are named, and letters of a sentence that are quoted."""


def who_says_what(run: Run, found: QuestionPositions, numbers: Mapping[str, int]) -> str:
    """The sentence, as plain text: `15 of 19 handbooks (at least 13) say 3 months, 4 say 6 months; 5 do not address it.`

    numbers  of `counts_on` this question
    """
    holding = {holder.handbook_id for position in found.positions for holder in position.holders}
    others = numbers["answering"] - len(holding) - len(found.others)
    elsewhere = f"of another {terms(run)['organ']}"
    parts = [
        _positions(run, found, numbers),
        _count(len(found.others), f"says {ELSE}", f"say {ELSE}"),
        _count(others, "answers, with no sentence found on this", "answer, with no sentence found on this") if holding else "",
        _count(numbers["not_addressing"], "does not address it", "do not address it"),
        _count(numbers["elsewhere"], f"{elsewhere} says nothing, and need not", f"{elsewhere} say nothing, and need not"),
        _count(numbers["unread"], "gave a reply that could not be read", "gave replies that could not be read"),
    ]
    return "; ".join(part for part in parts if part) + "."


def _positions(run: Run, found: QuestionPositions, numbers: Mapping[str, int]) -> str:
    if found.positions:
        shown = found.positions[:POSITIONS]
        first = f" of {numbers['answering']:,} {run.term('handbook', numbers['answering'])}"
        said = [_said(position, "" if number else first) for number, position in enumerate(shown)]
        left = len(found.positions) - len(shown)
        return ", ".join(said) + (f", and there {'is' if left == 1 else 'are'} {left} more" if left else "")
    n, topic = numbers["answering"], found.certain.topic if found.certain else ""
    if found.unread:
        return f"{n:,} {run.term('handbook', n)} answer, in texts that were not read for positions: {found.unread}"
    if found.certain is not None:
        on = f" ({topic})" if topic else ""
        return f"{n:,} {run.term('handbook', n)} answer and disagree{on}, in sentences that cannot be told apart with certainty"
    if numbers["disagreeing"]:
        return f"{n:,} {run.term('handbook', n)} answer, and some of them disagree"
    if n == 0:
        return f"No {run.term('handbook', 1)} answers"
    if n == 1:
        return f"1 {run.term('handbook', 1)} answers"
    return f"{n:,} {run.term('handbook', n)} answer, and no two of them were found to disagree"


def _said(position: Position, of: str) -> str:
    n = len(position.holders)
    words = position.value or _quoted(position.statement)
    return f"{n:,}{of}{doubt_words(at_least(position))} {'says' if n == 1 else 'say'} {words}"


def _quoted(statement: str) -> str:
    words = statement.rstrip(".") if len(statement) <= LETTERS else statement[:LETTERS].rsplit(" ", 1)[0] + " ..."
    return f"“{words}”"


def _count(n: int, one: str, many: str) -> str:
    return f"{n:,} {one if n == 1 else many}" if n > 0 else ""
