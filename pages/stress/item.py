"""One instance of a stress test as HTML: the question, what each system replied, and each document with the truth about it."""

from __future__ import annotations

from markupsafe import Markup, escape

from audit.queries.stress import (
    INSUFFICIENT,
    NOT_ASKED,
    OPEN,
    RIGHT,
    UNREAD,
    WRONG,
    PlantedEdit,
    ShownDocument,
    StressItemView,
)
from audit.vocabulary import DocumentCall, StressTest
from pages._blinded.templates import marked, rendered

STATES = {
    RIGHT: "right", WRONG: "wrong", OPEN: "answered", INSUFFICIENT: "says that the documents do not suffice",
    UNREAD: "could not be read", NOT_ASKED: "was not asked",
}  # fmt: skip
CLASSES = {RIGHT: "good", WRONG: "bad", INSUFFICIENT: "hold"}
CALL_WORDS = {
    DocumentCall.RELEVANT: "relevant", DocumentCall.NOISE: "noise", DocumentCall.FACTUAL: "correct",
    DocumentCall.WRONG: "in error",
}  # fmt: skip


def question_html(item: StressItemView) -> Markup:
    """The question with its options, the right one marked."""
    return rendered("stress/question.html", item=item)


def replies_html(item: StressItemView) -> Markup:
    """What each system chose, with its reasoning on demand."""
    return rendered(
        "stress/replies.html", item=item, not_asked=NOT_ASKED, unread=UNREAD, states=STATES, classes=CLASSES,
    )  # fmt: skip


def documents_html(item: StressItemView) -> Markup:
    """Each document in the order in which it was shown: the truth about it, its text, and what each system takes it for."""

    def is_right_call(call: str, document: ShownDocument) -> bool:
        sound = document.is_factual if item.test == StressTest.ROBUSTNESS else document.is_signal
        return sound == (call in (DocumentCall.RELEVANT, DocumentCall.FACTUAL))

    return rendered(
        "stress/documents.html", item=item, not_asked=NOT_ASKED, place_of=_place_of, marked_text=marked_text,
        call_words=CALL_WORDS, is_right_call=is_right_call,
    )  # fmt: skip


def marked_text(document: ShownDocument) -> Markup:
    """The text of a document as HTML, with a planted edit marked."""
    start = _place_of(document.text, document.edit)
    if document.edit is None or not document.edit.after or start is None:
        return escape(document.text)
    return marked(document.text, start, start + len(document.edit.after))


def _place_of(text: str, edit: PlantedEdit | None) -> int | None:
    """Where the words of an edit are; None where they are at no certain place."""
    if edit is None or not edit.after:
        return None
    if edit.start is not None and text.startswith(edit.after, edit.start):
        return edit.start
    return text.index(edit.after) if text.count(edit.after) == 1 else None
