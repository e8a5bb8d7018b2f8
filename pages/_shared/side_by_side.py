"""One pair: the question, the verdict, and both answers side by side with the differences marked.

Every character of a release is escaped before a tag is put around it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from html import escape
from pathlib import Path

import streamlit as st

from audit.charts.dark_mode import DARK_COLOURS, light_dark
from audit.charts.style import LABEL_COLOURS, LABEL_WORDS, SIGNIFICANCE_COLOURS, ink_on
from audit.queries.citations import Citation, citations
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
from audit.queries.weak_evidence import WEAKNESSES
from audit.store.runs import Run
from audit.terms import terms
from audit.text.clashing import clashing_sentences
from audit.text.comparison import DifferenceKind, DifferenceSpan, differences
from audit.text.sentences import SentenceSpan
from audit.vocabulary import DISAGREEING
from pages._shared.loaders import load
from pages._shared.pickers import choose, named_by
from pages._shared.search_hits import hits_html, hits_in, searched_words
from pages._shared.source_links import citation_links_html, public_link_html
from pages._shared.widgets import link

CSS = Path(__file__).with_name("pair.css")
STATUS = {
    PRESCREENED: "Pre-screened: at least one {handbook} does not address the question, so the judge was not asked.",
    UNSCORED: "Unscored: the judge was asked and gave no readable verdict. The pair counts in no rate.",
    NOT_IN_RELEASE: "This pair is not in the release: no verdict on it was asked for.",
}
NO_ANSWER = {
    ABSENT: "Does not address the question{how}.",
    UNREAD: "The model's reply could not be read ({why}), so it is unknown whether the question is addressed.",
    NOT_ASKED: "Was not asked this question.",
    UNKNOWN: "This release came without answers.",
}
ABSENCE_METHODS = {"prefix": " (its answer says so)", "check": " (found by the yes-or-no check)"}
MARKS = {"all": tuple(DifferenceKind), "numbers": (DifferenceKind.NUMBER, DifferenceKind.NEGATION), "none": ()}
MARK_WORDS = {"all": "Mark all differences", "numbers": "Mark numbers and negations", "none": "Mark nothing"}
CLASH = "clash"
CLASH_WORDS = "Mark the sentences that clash"
CLASH_LEGEND = (
    '<div class="legend"><span><mark class="clash">a sentence</mark> of each answer clashes with the other answer; found by '
    "rules from {evidence}. The rest of the text is paler; nothing is left out.</span></div>"
)
NO_CLASH = '<div class="legend"><span>By rules, no two sentences were found that clash.</span></div>'
LEGEND = (
    '<div class="legend"><span><mark class="number">3 months</mark> amount or duration in this answer only</span>'
    '<span><mark class="negation">do not</mark> negation in this answer only</span>{words}</div>'
)
WORD_LEGEND = '<span><mark class="word">word</mark> word in this answer only</span>'


def side_by_side(run: Run, pair: Pair, names: dict[str, str], *, with_question: bool = True) -> None:
    """Draw a pair: question and verdict, a choice of what to mark (kept in the address), and both answers."""
    st.html(CSS)
    question = f"<h2>{hits_html(pair.question.text, searched_words())}</h2>" if with_question else ""
    st.html(f'<div class="pair">{question}{verdict_html(run, pair)}</div>')
    # The first is the default: where answers do not disagree, words that only one of them has are not a finding.
    options = (CLASH, *MARKS) if _may_clash(pair) else tuple(reversed(MARKS))
    words = {CLASH: CLASH_WORDS, **MARK_WORDS}
    marks = choose("Mark what differs", options, "mark", named_by(words), show_label=False)
    st.html(f'<div class="pair">{answers_html(run, pair, names, marks)}</div>')
    link(
        "answer", "See the passages behind both answers", run, icon=":material/find_in_page:",
        question=pair.question.question_id, handbook=pair.a.handbook_id, other=pair.b.handbook_id,
    )  # fmt: skip


def verdict_html(run: Run, pair: Pair) -> str:
    """The label and its significance, the divergence topic, and the judge's reasoning."""
    judgement, searched = pair.judgement, searched_words()
    topic = f'<span class="topic">{hits_html(judgement.divergence_topic, searched)}</span>' if judgement.divergence_topic else ""
    status = STATUS.get(judgement.status, "").format(**terms(run))
    notice = f'<p class="faint">{escape(status)}</p>' if status else ""
    reasoning = f'<div class="reasoning">{hits_html(judgement.reasoning, searched)}</div>' if judgement.reasoning else ""
    return f'<div class="verdict">{_badges_html(judgement)}{topic}</div>{notice}{reasoning}'


def answers_html(run: Run, pair: Pair, names: dict[str, str], marks: str) -> str:
    """Both answers, each under its handbook, and the legend of the marks."""
    if pair.a.state == pair.b.state == PRESENT and marks == CLASH:
        left, right, legend = _clash_html(pair)
    elif pair.a.state == pair.b.state == PRESENT:  # with one answer only, every word would be a difference
        left, right = mark_differences(pair.a.answer or "", pair.b.answer or "", MARKS[marks], searched_words())
        legend = LEGEND.format(words=WORD_LEGEND if marks == "all" else "") if marks != "none" else ""
    else:
        left, right = (hits_html(shortened(side.answer or ""), searched_words()) for side in (pair.a, pair.b))
        legend = ""
    sides = _side_html(run, pair, pair.a, names, left) + _side_html(run, pair, pair.b, names, right)
    return f'{legend}<div class="sides">{sides}</div>{_usage_html(pair.judgement)}'


def _may_clash(pair: Pair) -> bool:
    return pair.judgement.label in DISAGREEING and pair.a.state == pair.b.state == PRESENT


def _clash_html(pair: Pair) -> tuple[str, str, str]:
    """Both answers with the sentences that clash marked, and the legend."""
    judgement, texts = pair.judgement, (shortened(pair.a.answer or ""), shortened(pair.b.answer or ""))
    names = ((pair.a.center, pair.a.handbook_id, pair.a.title or ""), (pair.b.center, pair.b.handbook_id, pair.b.title or ""))
    clash = clashing_sentences(pair.question.text, *texts, judgement.reasoning or "", judgement.divergence_topic or "", names)
    if clash is None:
        return hits_html(texts[0], searched_words()), hits_html(texts[1], searched_words()), NO_CLASH
    evidence = "the judge's reasoning and both texts" if judgement.reasoning or judgement.divergence_topic else "both texts"
    left, right = (_with_sentence_html(text, span) for text, span in zip(texts, clash, strict=True))
    return left, right, CLASH_LEGEND.format(evidence=evidence)


def _with_sentence_html(text: str, span: SentenceSpan) -> str:
    part = hits_in(text, searched_words())
    mark = f'<mark class="clash" title="clashes with the sentence marked in the other answer">{part(*span)}</mark>'
    return f'<span class="pale">{part(0, span.start)}</span>{mark}<span class="pale">{part(span.end, len(text))}</span>'


def _badges_html(judgement: Judgement) -> str:
    if judgement.status == NOT_IN_RELEASE:
        return _badge_html("not asked", LABEL_COLOURS["not asked"])
    badges = label_badge_html(judgement.label)
    if judgement.significance:
        badges += _badge_html(f"{judgement.significance} significance", SIGNIFICANCE_COLOURS[judgement.significance])
    return badges


def label_badge_html(label: str | None) -> str:
    """A label in its colour; None: unscored."""
    return _badge_html(LABEL_WORDS[label or "unscored"], LABEL_COLOURS[label or "unscored"])


def _badge_html(text: str, colour: str) -> str:
    ink = f"light-dark({ink_on(colour)}, {ink_on(DARK_COLOURS[colour])})"
    # The colour of "not asked" is that of the page, so only its edge shows.
    edge = "var(--quiet)" if colour == LABEL_COLOURS["not asked"] else light_dark(colour)
    style = f"background:{light_dark(colour)};color:{ink};border:1px solid {edge}"
    return f'<span class="badge" style="{style}">{escape(text)}</span>'


def _side_html(run: Run, pair: Pair, side: Side, names: dict[str, str], text: str) -> str:
    answer = f'<div class="answer-text{" no-answer" if side.state in NO_ANSWER else ""}">{text}</div>' if text else ""
    head = side_head_html(side, names.get(side.handbook_id, side.handbook_id))
    question_id = pair.question.question_id
    cited = load(citations, run, question_id=question_id).get(side.handbook_id, ())
    return f'<div class="side">{head}{answer}{_sources_html(run, question_id, side, cited)}</div>'


def side_head_html(side: Side, name: str) -> str:
    """The handbook's name and title and, where it has no answer, the reason, or on what weak evidence it rests."""
    reason = NO_ANSWER.get(side.state, "").format(how=ABSENCE_METHODS.get(side.absence_method or "", ""), why=side.unread_reason)
    notice = f'<div class="no-answer">{escape(reason)}</div>' if reason else ""
    weak = f'<div class="faint">Weak evidence: {"; ".join(WEAKNESSES[kind] for kind in side.weak)}.</div>' if side.weak else ""
    return (
        f'<div class="name">{escape(name)}</div><div class="faint">{escape(side.title or side.handbook_id)}</div>{notice}{weak}'
    )


def _sources_html(run: Run, question_id: str, side: Side, cited: Sequence[Citation]) -> str:
    pages = citation_links_html(run, question_id, side.handbook_id, cited)
    sections = "".join(f"<li>{escape(section)}</li>" for section in side.sections)
    listed = f'<div class="faint">Sections used</div><ul>{sections}</ul>' if sections else ""
    link_html = public_link_html(side.url or "", cited[0].page if cited else None)
    source = f" · {link_html}" if link_html else ""
    mode = f"retrieval: {escape(side.mode.replace('_', ' '))}" if side.mode else ""
    return pages + listed + (f'<div class="faint">{mode}{source}</div>' if mode or source else "")


def _usage_html(judgement: Judgement) -> str:
    figures = [
        f"{judgement.input_tokens:,} tokens read" if judgement.input_tokens is not None else "",
        f"{judgement.output_tokens:,} written" if judgement.output_tokens is not None else "",
        f"{judgement.latency_s:.1f} s" if judgement.latency_s is not None else "",
    ]
    used = ", ".join(part for part in figures if part)
    return f'<div class="faint">Judge: {used}.</div>' if used else ""


# -- marking differences -----------------------------------------------------------------------------------------------

MAX_ANSWER_LENGTH = 20_000  # characters that are compared and shown; no handbook answer comes near, a broken release may
MARK_TITLES = {
    DifferenceKind.NUMBER: "an amount that the other answer does not state",
    DifferenceKind.NEGATION: "a negation that the other answer does not contain",
    DifferenceKind.WORD: "a word that the other answer does not use",
}


def mark_differences(a: str, b: str, kinds: Collection[DifferenceKind], words: Sequence[str] = ()) -> tuple[str, str]:
    """HTML of both texts, with the differences of these kinds in `<mark>`, and the words of a search."""
    texts = (shortened(a), shortened(b))
    left, right = differences(*texts)
    marked = ([span for span in spans if span.kind in kinds] for spans in (left, right))
    first, second = (marked_html(text, spans, words) for text, spans in zip(texts, marked, strict=True))
    return first, second


def marked_html(text: str, spans: Iterable[DifferenceSpan], words: Sequence[str] = ()) -> str:
    """The escaped text with the spans, which are in order and do not overlap, in `<mark>`, and the words of a search."""
    return "".join(_html_fragments(text, spans, hits_in(text, words)))


def shortened(text: str) -> str:
    """`text`, cut with a notice where it is longer than any real answer."""
    if len(text) <= MAX_ANSWER_LENGTH:
        return text
    return f"{text[:MAX_ANSWER_LENGTH]} ... (cut after {MAX_ANSWER_LENGTH:,} of {len(text):,} characters)"


def _html_fragments(text: str, spans: Iterable[DifferenceSpan], part: Callable[[int, int], str]) -> Iterator[str]:
    done = 0
    for span in spans:
        yield part(done, span.start)
        yield f'<mark class="{span.kind}" title="{MARK_TITLES[span.kind]}">{part(span.start, span.end)}</mark>'
        done = span.end
    yield part(done, len(text))
