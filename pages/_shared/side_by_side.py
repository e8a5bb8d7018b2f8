"""One pair, opened: the question, the verdict, and both answers beside each other with what differs marked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from html import escape
from pathlib import Path

import streamlit as st

from audit.charts.dark_mode import DARK_COLOURS, light_dark
from audit.charts.style import LABEL_COLOURS, LABEL_WORDS, SIGNIFICANCE_COLOURS, ink_on
from audit.queries.pair_view import (
    ABSENT,
    NOT_ASKED,
    NOT_IN_RELEASE,
    PRESCREENED,
    PRESENT,
    UNKNOWN,
    UNREAD,
    UNSCORED,
    Judgement,
    Pair,
    Side,
)
from audit.store.runs import Run
from audit.text.comparison import DifferenceKind, DifferenceSpan, differences
from pages._shared.pickers import choose
from pages._shared.terms import terms
from pages._shared.widgets import link

CSS = Path(__file__).with_name("pair.css")
STATUS = {
    PRESCREENED: "Pre-screened: at least one {handbook} does not address the question, so the judge was not asked.",
    UNSCORED: "Unscored: the judge was asked and gave no readable verdict. The pair counts in no rate.",
    NOT_IN_RELEASE: "This pair is not in the release: nobody asked for a verdict on it.",
}
SILENT = {
    ABSENT: "Does not address the question{how}.",
    UNREAD: "The model's reply could not be read ({why}): neither an answer nor an absence.",
    NOT_ASKED: "Was not asked this question.",
    UNKNOWN: "This release came without answers.",
}
HOW = {"prefix": " (its answer says so)", "check": " (found by the yes-or-no check)"}
MARKS = {"all": tuple(DifferenceKind), "numbers": (DifferenceKind.NUMBER, DifferenceKind.NEGATION), "none": ()}
MARK_WORDS = {"all": "Mark all differences", "numbers": "Numbers and negations", "none": "No marks"}
LEGEND = (
    '<div class="legend"><span><mark class="number">3 months</mark> amount or duration only here</span>'
    '<span><mark class="negation">do not</mark> denied only here</span>{words}</div>'
)
LEGEND_WORDS = '<span><mark class="word">word</mark> used only here</span>'


def side_by_side(run: Run, pair: Pair, names: dict[str, str], *, with_question: bool = True) -> None:
    """Draw a pair: question and verdict, a choice of what to mark (kept in the address), and both answers."""
    st.html(CSS)
    question = f"<h2>{escape(pair.question.text)}</h2>" if with_question else ""
    st.html(f'<div class="pair">{question}{verdict_html(run, pair)}</div>')
    marks = choose("Mark what differs", tuple(MARKS), "mark", lambda name: MARK_WORDS[name], show_label=False)
    st.html(f'<div class="pair">{answers_html(pair, names, marks)}</div>')
    link(
        "answer", "The passages behind both answers", run, icon=":material/find_in_page:",
        question=pair.question.question_id, handbook=pair.a.handbook_id, other=pair.b.handbook_id,
    )  # fmt: skip


def verdict_html(run: Run, pair: Pair) -> str:
    """The label with its significance, what the pair is about and the judge's reasoning."""
    judgement = pair.judgement
    badges = _badges(judgement)
    topic = f'<span class="topic">{escape(judgement.divergence_topic)}</span>' if judgement.divergence_topic else ""
    status = STATUS.get(judgement.status, "").format(**terms(run))
    notice = f'<p class="faint">{escape(status)}</p>' if status else ""
    reasoning = f'<div class="reasoning">{escape(judgement.reasoning)}</div>' if judgement.reasoning else ""
    return f'<div class="verdict">{badges}{topic}</div>{notice}{reasoning}'


def answers_html(pair: Pair, names: dict[str, str], marks: str) -> str:
    """Both answers, each under its handbook, and the legend of the marks."""
    if pair.a.state == pair.b.state == PRESENT:
        left, right = marked(pair.a.answer or "", pair.b.answer or "", MARKS[marks])
        legend = LEGEND.format(words=LEGEND_WORDS if marks == "all" else "") if marks != "none" else ""
    else:
        left, right, legend = escape(shortened(pair.a.answer or "")), escape(shortened(pair.b.answer or "")), ""
    sides = _side_html(pair.a, names, left) + _side_html(pair.b, names, right)
    return f'{legend}<div class="sides">{sides}</div>{_usage_html(pair.judgement)}'


def _badges(judgement: Judgement) -> str:
    if judgement.status == NOT_IN_RELEASE:
        return _badge("not asked", LABEL_COLOURS["not asked"])
    label = judgement.label or "unscored"
    badges = _badge(LABEL_WORDS[label], LABEL_COLOURS[label])
    if judgement.significance:
        grave = judgement.significance
        badges += _badge(f"{grave} significance", SIGNIFICANCE_COLOURS[grave])
    return badges


def _badge(text: str, colour: str) -> str:
    letters = f"light-dark({ink_on(colour)}, {ink_on(DARK_COLOURS[colour])})"
    edge = "var(--quiet)" if colour == LABEL_COLOURS["not asked"] else light_dark(colour)
    style = f"background:{light_dark(colour)};color:{letters};border:1px solid {edge}"
    return f'<span class="badge" style="{style}">{escape(text)}</span>'


def _side_html(side: Side, names: dict[str, str], text: str) -> str:
    silent = SILENT.get(side.state, "").format(how=HOW.get(side.absence_method or "", ""), why=side.unread_reason)
    notice = f'<div class="silent">{escape(silent)}</div>' if silent else ""
    said = f'<div class="said{" silent" if silent else ""}">{text}</div>' if text else ""
    name = escape(names.get(side.handbook_id, side.handbook_id))
    head = f'<div class="name">{name}</div><div class="faint">{escape(side.title or side.handbook_id)}</div>'
    return f'<div class="side">{head}{notice}{said}{_sources_html(side)}</div>'


def _sources_html(side: Side) -> str:
    sections = "".join(f"<li>{escape(section)}</li>" for section in side.sections)
    cited = f'<div class="faint">Written from</div><ul>{sections}</ul>' if sections else ""
    link = f'<a href="{escape(side.url)}" target="_blank" rel="noopener noreferrer">source</a>' if side.url else ""
    source = f" · {link}" if side.url and _is_web(side.url) else ""
    mode = f"retrieval: {escape(side.mode.replace('_', ' '))}" if side.mode else ""
    found = f'<div class="faint">{mode}{source}</div>' if mode or source else ""
    return cited + found


def _is_web(url: str) -> bool:
    return url.lower().startswith(("http://", "https://"))


def _usage_html(judgement: Judgement) -> str:
    told = [
        f"{judgement.input_tokens:,} tokens read" if judgement.input_tokens is not None else "",
        f"{judgement.output_tokens:,} written" if judgement.output_tokens is not None else "",
        f"{judgement.latency_s:.1f} s" if judgement.latency_s is not None else "",
    ]
    used = ", ".join(part for part in told if part)
    return f'<div class="faint">The judge: {used}.</div>' if used else ""


LONGEST = 20_000
"""Characters of an answer that are compared and shown; no handbook answer comes near, a broken release may."""
TITLES = {
    DifferenceKind.NUMBER: "an amount that the other answer does not state",
    DifferenceKind.NEGATION: "a denial that the other answer does not make",
    DifferenceKind.WORD: "a word that the other answer does not use",
}


def marked(a: str, b: str, kinds: Collection[DifferenceKind] = tuple(DifferenceKind)) -> tuple[str, str]:
    """HTML of both texts, the differences of these kinds in `<mark>`."""
    texts = (shortened(a), shortened(b))
    left, right = differences(*texts)
    return with_marks(texts[0], _of(left, kinds)), with_marks(texts[1], _of(right, kinds))


def shortened(text: str) -> str:
    """`text`, cut with a notice when it is longer than any answer."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ... (cut after {LONGEST:,} of {len(text):,} characters)"


def with_marks(text: str, spans: Iterable[DifferenceSpan]) -> str:
    """HTML of `text`, ordered spans that do not overlap in `<mark class="kind">`."""
    return "".join(_pieces(text, spans))


def _pieces(text: str, spans: Iterable[DifferenceSpan]) -> Iterator[str]:
    done = 0
    for span in spans:
        yield escape(text[done : span.start])
        yield f'<mark class="{span.kind}" title="{TITLES[span.kind]}">{escape(text[span.start : span.end])}</mark>'
        done = span.end
    yield escape(text[done:])


def _of(spans: list[DifferenceSpan], kinds: Collection[DifferenceKind]) -> list[DifferenceSpan]:
    return [span for span in spans if span.kind in kinds]
