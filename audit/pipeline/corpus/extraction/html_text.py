"""Text of a page's elements on one line: what stands between two words, and what is raised or lowered."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from audit.pipeline.corpus.extraction.characters import RAISED, lowered, plain_text, raised

# What stands in the middle of a sentence; every other element ends a paragraph
INLINE = {
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "button", "cite", "code", "data", "del", "dfn", "em", "font", "i",
    "img", "input", "ins", "kbd", "label", "mark", "meter", "nobr", "output", "picture", "progress", "q", "rb", "rp", "rt",
    "ruby", "s", "samp", "select", "small", "source", "span", "strike", "strong", "sub", "sup", "textarea", "time", "tt",
    "u", "var", "wbr", "math", "mrow", "mi", "mn", "mo", "mtext", "ms", "mspace", "mstyle", "mfrac", "msub", "msup",
    "msubsup", "msqrt", "mroot", "mfenced", "munder", "mover", "munderover", "mpadded", "semantics",
}  # fmt: skip
PLACES = {"sup": "raised", "sub": "lowered"}
# Stands where struck text was; no page has it, because `html_content` takes it out of the markup
GAP = "\U0010fffd"
# A sentence, or what introduces something, that ends where an element ends
ENDS_WORD = re.compile(r"(?:\w[!?;:,]|\w{2}\.)[\"”’)\]]?$")
# How much of the text before decides how raised text is written
MAX_BEFORE = 40


class Words:
    """Text while the elements go by. `replaced` are letters that became signs: the raised o of a degree."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.replaced = ""
        # Where raised and lowered text began that goes on
        self._open: list[int] = []
        # The last piece as it was raised, while nothing is behind it
        self._note: str | None = None
        self._at_edge = False

    def add(self, text: str) -> None:
        """Text of the page, with a line feed where a line ends."""
        if not text:
            return
        before = self.pieces[-1][-4:] if self.pieces else ""
        if self._note is not None:
            self._add_behind_note(self._note, text)
        elif self._at_edge and text[0].isalpha() and ENDS_WORD.search(before) and (before[-1] != "." or text[0].isupper()):
            # Most pages place such elements apart by their styles
            self.pieces.append(" ")
        self._note, self._at_edge = None, False
        self.pieces.append(text)

    def _add_behind_note(self, note: str, text: str) -> None:
        before = "".join(self.pieces[-4:-1])[-1:]
        is_apart = self.pieces[-1].endswith("]")
        if is_apart and text.lstrip()[:1] in ("/", "⁄") and re.fullmatch(r"\d{1,2}", note) and not before.isalpha():
            self.pieces[-1] = f" {note.translate(RAISED)}"  # the upper number of a fraction
        elif is_apart and text[0].isalnum():
            self.pieces.append(" ")

    def edge(self) -> None:
        """An element within a sentence begins or ends here."""
        self._at_edge = True

    def open(self) -> None:
        """Raised or lowered text begins here."""
        self._open.append(len(self.pieces))

    def close(self, place: str) -> None:
        """Raised or lowered text ends here."""
        start = min(self._open.pop(), len(self.pieces))
        text = "".join(self.pieces[start:])
        del self.pieces[start:]
        inner = plain_text(text)
        if inner:
            written = raised(inner, self._before()) if place == "raised" else lowered(inner)
            self.replaced += inner if written == "⁰" else ""
            self.pieces.append(written)
        if text[-1:].isspace():
            self.pieces.append(" ")
        self._note = inner if inner and place == "raised" and not text[-1:].isspace() else None

    def _before(self) -> str:
        before = ""
        for piece in reversed(self.pieces):
            before = piece + before
            if len(before) >= MAX_BEFORE:
                break
        return before.replace(GAP, "")

    def take(self) -> str:
        """The text so far, which begins again with nothing."""
        text = "".join(self.pieces)
        self.pieces, self._open, self._note, self._at_edge = [], [0] * len(self._open), None, False
        # Struck text between two words keeps them apart
        return re.sub(rf"(?<=\w){GAP}+(?=\w)", " ", text).replace(GAP, "")


def text_of(element: Any) -> str:
    """The text in an element on one line, with a space between its paragraphs."""
    words = Words()
    for event, node in events(element):
        if event == "start":
            _start(words, node)
        else:
            _end(words, node, is_last=node is element)
    return plain_text(words.take())


def _start(words: Words, node: Any) -> None:
    if node.tag not in INLINE:
        words.add(" ")
    if node.tag in PLACES:
        words.open()
    words.edge()
    words.add(node.text or "")


def _end(words: Words, node: Any, is_last: bool) -> None:
    if node.tag in PLACES:
        words.close(PLACES[node.tag])
    if node.tag not in INLINE:
        words.add(" ")
    words.edge()
    if not is_last:
        words.add(node.tail or "")


def events(element: Any) -> Iterator[tuple[str, Any]]:
    """The beginning and end of each element in reading order. Without recursion, because pages may be nested deeply."""
    stack = [(element, iter(element))]
    yield "start", element
    while stack:
        node, children = stack[-1]
        child = next(children, None)
        if child is None:
            stack.pop()
            yield "end", node
        else:
            stack.append((child, iter(child)))
            yield "start", child
