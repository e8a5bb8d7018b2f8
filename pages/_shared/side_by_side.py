"""One pair: the question, the verdict, and both answers side by side with the differences marked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import streamlit as st
from markupsafe import Markup

from audit.charts.dark_mode import DARK_COLOURS, light_dark
from audit.charts.style import LABEL_COLOURS, PLAIN_LABELS, SIGNIFICANCE_COLOURS, ink_on
from audit.formatting import shortened
from audit.metrics.question_positions import Holder, QuestionPositions, positions_of
from audit.own_process import TooMuchError
from audit.queries.citations import citations
from audit.queries.pair_view import (
    ABSENT,
    CONFIRMED,
    NOT_ASKED,
    NOT_IN_RELEASE,
    PRESCREENED,
    PRESENT,
    UNKNOWN,
    UNREAD,
    UNSCORED,
    UNSUPPORTED,
    Judgement,
    Pair,
    Side,
)
from audit.queries.weak_evidence import WEAKNESSES
from audit.store.runs import Run
from audit.terms import terms
from audit.text.clashing import clashing_sentences, quoted_clash
from audit.text.comparison import DifferenceKind, DifferenceSpan, differences
from audit.text.sentences import SentenceSpan
from audit.vocabulary import DISAGREEING, Found
from pages._blinded.templates import rendered
from pages._shared.loaders import load
from pages._shared.long_texts import UNMARKED, compared
from pages._shared.pickers import choose, named_by
from pages._shared.search import hits_html, hits_in, searched_words
from pages._shared.source_links import citation_links_html, public_link_html
from pages._shared.widgets import link

CSS = Path(__file__).with_name("pair.css")
STATUS = {
    PRESCREENED: "Pre-screened: at least one {handbook} does not address the question, so the judge was not asked.",
    UNSCORED: "Unscored: the judge was asked and gave no readable verdict. The pair counts in no rate.",
    NOT_IN_RELEASE: "This pair is not in the run: no verdict on it was asked for.",
}
NOT_FOUND_IN_ONE = "Pre-screened: the search found no answer in at least one of the two {handbooks}, so the judge was not asked."
NO_ANSWER = {
    ABSENT: "Does not address the question{how}.",
    UNREAD: "The model's reply could not be read ({why}), so it is unknown whether the question is addressed.",
    NOT_ASKED: "Was not asked this question.",
    UNKNOWN: "This run came without answers.",
}
FOUND_WORDS = {
    Found.STATED: "Stated: a passage is very near to the question. No model has read it.",
    Found.PERHAPS: "Perhaps: see these passages. No model has read them.",
    Found.NOT_FOUND: "Not found: no passage is near enough to the question, which does not prove that nothing is there.",
}
ABSENCE_METHODS = {"prefix": " (its answer says so)", "check": " (found by the yes-or-no check)"}
MARKS = {"all": tuple(DifferenceKind), "numbers": (DifferenceKind.NUMBER, DifferenceKind.NEGATION), "none": ()}
MARK_WORDS = {"all": "Mark all differences", "numbers": "Mark numbers and negations", "none": "Mark nothing"}
CLASH = "clash"
CLASH_WORDS = "Mark what each says on the disputed point"
LONG_ANSWER, AROUND = 900, 250
"""Letters of an answer from which on only what is that near to the marked sentence is in sight; a click shows the rest."""
BEGINNING, BEGINNING_LINES = 350, 8  # letters and lines of an answer that are in sight among those of several systems
NO_CLASH, LONG = "no clash", "long"


class AnswerHead(NamedTuple):
    """The lines above an answer, wherever answers stand (`answer_card.html`).

    about  what it is, in a fainter line; reason  why there is none; weak  on what weak evidence it rests
    state  how surely a search found it
    """

    name: str
    about: str = ""
    reason: str = ""
    weak: str = ""
    state: str = ""


def side_by_side(run: Run, pair: Pair, names: dict[str, str], *, with_question: bool = True) -> None:
    """Draw a pair: question and verdict, a choice of what to mark (kept in the address), and both answers."""
    st.html(CSS)
    st.html(pair_html(verdict_html(run, pair), pair.question.text if with_question else ""))
    # The first is the default: where answers do not disagree, words that only one of them has are not a finding.
    options = (CLASH, *MARKS) if _may_clash(pair) else tuple(reversed(MARKS))
    words = {CLASH: CLASH_WORDS, **MARK_WORDS}
    marks = choose("Mark what differs", options, "mark", named_by(words), show_label=False)
    st.html(pair_html(answers_html(run, pair, names, marks)))
    link(
        "answer", "See the passages behind both answers", run, icon=":material/find_in_page:",
        question=pair.question.question_id, handbook=pair.a.handbook_id, other=pair.b.handbook_id,
    )  # fmt: skip


def pair_html(inside: Markup, question: str = "") -> Markup:
    """What is shown of a pair, in the style of pairs, below its question where one is given."""
    heading = Markup('<h2 dir="auto">{}</h2>').format(hits_html(question, searched_words())) if question else Markup()
    return Markup('<div class="pair">{}{}</div>').format(heading, inside)


def verdict_html(run: Run, pair: Pair) -> Markup:
    """The label and its significance, the divergence topic, and the judge's reasoning; or why there is none of it."""
    searched = pair.judgement.status == PRESCREENED and Found.NOT_FOUND in (pair.a.found, pair.b.found)
    status = NOT_FOUND_IN_ONE if searched else STATUS.get(pair.judgement.status, "")
    return judgement_html(pair.judgement, status.format(**terms(run)))


def judgement_html(judgement: Judgement, status: str = "") -> Markup:
    """The same of a verdict; `status` is a sentence on it."""
    hits = partial(hits_html, words=searched_words())
    words = PLAIN_LABELS[judgement.second_label or "unscored"]
    badges = _badges_html(judgement)
    return rendered("_shared/verdict.html", judgement=judgement, badges=badges, status=status, hits=hits, second_words=words)


def answers_html(run: Run, pair: Pair, names: dict[str, str], marks: str) -> Markup:
    """Both answers, each under its handbook, and the legend of the marks."""
    try:
        *texts, legend = _marked_html(run, pair, marks)
    except TooMuchError:
        *texts, legend = *_plain_html(pair), legend_html(LONG)
    question_id = pair.question.question_id
    cited = load(citations, run, question_id=question_id)

    def pages(side: Side) -> Markup:
        return citation_links_html(run, question_id, side.handbook_id, cited.get(side.handbook_id, ()))

    def source_link(side: Side) -> Markup:
        first = next(iter(cited.get(side.handbook_id, ())), None)
        return public_link_html(side.url or "", first.page if first else None)

    return rendered(
        "_shared/two_answers.html", legend=legend, answers=zip((pair.a, pair.b), texts, strict=True), pages=pages,
        source_link=source_link, read_words=READ_WORDS,
        head=lambda side: answer_head(side, names.get(side.handbook_id, side.handbook_id)),
    )  # fmt: skip


def _marked_html(run: Run, pair: Pair, marks: str) -> tuple[Markup, ...]:
    """Both texts with their marks, and the legend; raises TooMuchError where texts are too long to compare."""
    if not pair.a.state == pair.b.state == PRESENT:  # with one answer only, every word would be a difference
        return *_plain_html(pair), Markup()
    if marks == CLASH:
        return _clash_html(run, pair)
    marked = mark_differences(pair.a.answer or "", pair.b.answer or "", MARKS[marks], searched_words())
    return *marked, legend_html(marks)


def _plain_html(pair: Pair) -> list[Markup]:
    return [hits_html(shortened(side.answer or ""), searched_words()) for side in (pair.a, pair.b)]


def legend_html(marks: str) -> Markup:
    """What the marks of a choice mean (`MARKS`, `CLASH`, `LONG`); nothing where nothing is marked."""
    return rendered("_shared/legend.html", marks=marks, unmarked=UNMARKED) if marks != "none" else Markup()


def _may_clash(pair: Pair) -> bool:
    return pair.judgement.label in DISAGREEING and pair.a.state == pair.b.state == PRESENT


def _clash_html(run: Run, pair: Pair) -> tuple[Markup, Markup, Markup]:
    """Both answers with the words marked by which their handbooks hold their positions, and the legend."""
    texts, sides = (shortened(pair.a.answer or ""), shortened(pair.b.answer or "")), (pair.a, pair.b)
    if quoted := quoted_clash(*texts, pair.judgement.quote_a or "", pair.judgement.quote_b or ""):
        spans: list[SentenceSpan | None] = [SentenceSpan(one.start, one.end) for one in quoted]
    else:
        found: QuestionPositions = load(positions_of, run, question_id=pair.question.question_id)
        spans = [_span(found.quote_of(side.handbook_id)) for side in sides]
    if not all(spans):
        spans = _clashing_spans(pair, texts)
    left, right = (_with_sentence_html(text, span) for text, span in zip(texts, spans, strict=True))
    return left, right, legend_html(CLASH if any(spans) else NO_CLASH)


def _span(holder: Holder | None) -> SentenceSpan | None:
    return SentenceSpan(holder.start, holder.end or 0) if holder and holder.start is not None else None


def _clashing_spans(pair: Pair, texts: tuple[str, str]) -> list[SentenceSpan | None]:
    """The sentences that state what the judge says of this pair; None where none does."""
    judgement = pair.judgement
    names = tuple((side.center, side.handbook_id, side.title or "") for side in (pair.a, pair.b))
    words = (judgement.reasoning or "", judgement.divergence_topic or "")
    clash = compared(clashing_sentences, pair.question.text, *texts, *words, (names[0], names[1]))
    return [SentenceSpan(one.start, one.end) if one.stated else None for one in clash or ()] or [None, None]


def _with_sentence_html(text: str, span: SentenceSpan | None) -> Markup:
    part = hits_in(text, searched_words())
    if span is None:
        return part(0, len(text))
    mark = Markup('<mark class="clash" title="what it says on the disputed point">{}</mark>').format(part(*span))
    # A search may be for a word that is far from the mark
    first, last = 0, len(text)
    if len(text) > LONG_ANSWER and not searched_words():
        first = text.rfind(" ", 0, max(0, span.start - AROUND)) + 1
        last = text.find(" ", span.end + AROUND) % (len(text) + 1)  # -1, where no word follows, is the end
    before = _folded("The beginning of the answer", part(0, first))
    after = _folded("The rest of the answer", part(last, len(text)))
    return before + part(first, span.start) + mark + part(span.end, last) + after


def _folded(words: str, rest: Markup) -> Markup:
    return Markup('<details class="far"><summary>{}</summary>{}</details>').format(words, rest) if rest else rest


def _badges_html(judgement: Judgement) -> Markup:
    if judgement.status == NOT_IN_RELEASE:
        return _badge_html("not asked", LABEL_COLOURS["not asked"])
    badges = label_badge_html(judgement.label)
    if judgement.significance:
        badges += _badge_html(f"{judgement.significance} significance", SIGNIFICANCE_COLOURS[judgement.significance])
    if judgement.difference:
        badges += _badge_html(judgement.difference, LABEL_COLOURS["not asked"])
    if judgement.second == CONFIRMED:
        badges += _badge_html("confirmed by two judges", LABEL_COLOURS["not asked"])
    if judgement.quotes == UNSUPPORTED:
        badges += _badge_html("its quotes are not in the answers", LABEL_COLOURS["unscored"])
    return badges


def label_badge_html(label: str | None) -> Markup:
    """A label in its colour; None: unscored."""
    return _badge_html(PLAIN_LABELS[label or "unscored"], LABEL_COLOURS[label or "unscored"])


def _badge_html(text: str, colour: str) -> Markup:
    ink = f"light-dark({ink_on(colour)}, {ink_on(DARK_COLOURS[colour])})"
    # The colour of "not asked" is that of the page, so only its edge shows.
    edge = "var(--quiet)" if colour == LABEL_COLOURS["not asked"] else light_dark(colour)
    style = f"background:{light_dark(colour)};color:{ink};border:1px solid {edge}"
    return Markup('<span class="badge" style="{}">{}</span>').format(style, text)


def answer_head(side: Side, name: str) -> AnswerHead:
    """The handbook's name and title and, where it has no answer, the reason, or on what weak evidence it rests."""
    about, weak = side.title or "", "; ".join(WEAKNESSES[kind] for kind in side.weak)
    if side.found:
        return AnswerHead(name, about, weak=weak, state=FOUND_WORDS[Found(side.found)])
    reason = NO_ANSWER.get(side.state, "").format(how=ABSENCE_METHODS.get(side.absence_method or "", ""), why=side.unread_reason)
    return AnswerHead(name, about, reason, weak)


# -- marking differences -----------------------------------------------------------------------------------------------

READ_WORDS = {
    "passages": "answered from passages", "full_document": "answered from the full text",
    "full_document_fallback": "answered from the full text, because the passages were not enough",
}  # fmt: skip
"""What the generator read, by `mode` of the retrieval."""
MARK = Markup('<mark class="{}" title="{}">{}</mark>')
MARK_TITLES = {
    DifferenceKind.NUMBER: "an amount that the other answer does not state",
    DifferenceKind.NEGATION: "a negation that the other answer does not contain",
    DifferenceKind.WORD: "a word that the other answer does not use",
}


def mark_differences(a: str, b: str, kinds: Collection[DifferenceKind], words: Sequence[str] = ()) -> tuple[Markup, Markup]:
    """HTML of both texts, with the differences of these kinds in `<mark>`, and the words of a search.

    Raises TooMuchError where the texts are too long to compare.
    """
    texts = (shortened(a), shortened(b))
    left, right = compared(differences, *texts)
    marked = ([span for span in spans if span.kind in kinds] for spans in (left, right))
    first, second = (marked_html(text, spans, words) for text, spans in zip(texts, marked, strict=True))
    return first, second


def marked_html(text: str, spans: Iterable[DifferenceSpan], words: Sequence[str] = ()) -> Markup:
    """The escaped text with the spans, which are in order and do not overlap, in `<mark>`, and the words of a search."""
    return Markup().join(_html_fragments(text, spans, hits_in(text, words)))


def beginning_html(text: str, spans: Sequence[DifferenceSpan]) -> Markup:
    """The same, folded after its BEGINNING and the word or mark there; the fold says how many marks are in it."""
    lines = len("".join(text.splitlines(keepends=True)[:BEGINNING_LINES]))
    end = min(lines, text.find(" ", BEGINNING) % (len(text) + 1))
    end = max([end, *(span.end for span in spans if span.start < end)])
    if len(text) - end < BEGINNING // 3:
        return marked_html(text, spans)
    later = [span._replace(start=span.start - end, end=span.end - end) for span in spans if span.start >= end]
    marks = f" ({len(later)} marked)" if later else ""
    before = marked_html(text[:end], [span for span in spans if span.end <= end])
    return before + _folded(f"The rest of the answer{marks}", marked_html(text[end:], later))


def _html_fragments(text: str, spans: Iterable[DifferenceSpan], part: Callable[[int, int], Markup]) -> Iterator[Markup]:
    done = 0
    for span in spans:
        yield part(done, span.start)
        yield MARK.format(span.kind, MARK_TITLES[span.kind], part(span.start, span.end))
        done = span.end
    yield part(done, len(text))
