"""Two answers with what differs marked, as safe HTML: every character of a release is escaped before a tag goes round it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from html import escape

from audit.text.comparison import DifferenceKind, DifferenceSpan, differences

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
