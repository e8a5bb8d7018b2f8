"""One instance of a stress test as safe HTML: the question, what each system replied, and each document with the truth about it.

Every character of a release is escaped before a tag is put around it.
"""

from __future__ import annotations

from html import escape

from audit.formatting import fixed
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
    StressReplyView,
)
from audit.vocabulary import DocumentCall, StressTest

STATES = {
    RIGHT: "right", WRONG: "wrong", OPEN: "answered", INSUFFICIENT: "says that the documents do not suffice",
    UNREAD: "could not be read", NOT_ASKED: "was not asked",
}  # fmt: skip
CLASSES = {RIGHT: "good", WRONG: "bad", INSUFFICIENT: "hold"}
CALL_WORDS = {
    DocumentCall.RELEVANT: "relevant", DocumentCall.NOISE: "noise", DocumentCall.FACTUAL: "correct",
    DocumentCall.WRONG: "in error",
}  # fmt: skip
NO_DOCUMENTS = "The systems were shown no documents: they answered from what they know."
UNPLACED = "The altered words cannot be found in the text."


def question_html(item: StressItemView) -> str:
    """The question with its options, the right one marked."""
    if not item.options:
        answer = f'<div class="gold">Right answer: {escape(item.gold)}</div>'
    else:
        answer = "".join(_option_html(letter, text, letter == item.gold) for letter, text in item.options.items())
        answer = f'<ul class="options">{answer}</ul>'
    return f'<div class="stress"><h2>{escape(item.text)}</h2>{answer}</div>'


def _option_html(letter: str, text: str, is_gold: bool) -> str:
    mark = ' <span class="badge good">right</span>' if is_gold else ""
    return f"<li><b>{escape(letter)}</b> {escape(text)}{mark}</li>"


def replies_html(item: StressItemView) -> str:
    """What each system chose, with its reasoning on demand."""
    cards = "".join(_reply_html(item, reply) for reply in item.replies if reply.state != NOT_ASKED)
    others = ", ".join(reply.name for reply in item.replies if reply.state == NOT_ASKED)
    missing = f'<div class="faint">Not asked: {escape(others)}.</div>' if others else ""
    return f'<div class="stress"><div class="replies">{cards}</div>{missing}</div>'


def _reply_html(item: StressItemView, reply: StressReplyView) -> str:
    model = f'<div class="faint">{escape(reply.model)}</div>' if reply.model else ""
    chosen = ""
    if reply.choice is not None:
        text = item.options.get(reply.choice, "")
        chosen = f'<div class="choice">{escape(" ".join(filter(None, (reply.choice, text))))}</div>'
    words = STATES[reply.state] + (f" ({reply.unread_reason or 'no reason stated'})" if reply.state == UNREAD else "")
    badge = f'<span class="badge {CLASSES.get(reply.state, "")}">{escape(words)}</span>'
    reasoning = (
        f'<details><summary>Its reasoning</summary><div class="reasoning">{escape(reply.reasoning)}</div></details>'
        if reply.reasoning
        else '<div class="faint">It gives no reasoning.</div>'
    )
    return f'<div class="reply"><div class="name">{escape(reply.name)}</div>{model}{chosen}{badge}{reasoning}</div>'


def documents_html(item: StressItemView) -> str:
    """Each document in the order in which it was shown: the truth about it, its text, and each system's call on it."""
    if not item.documents:
        return f'<div class="stress"><div class="faint">{NO_DOCUMENTS}</div></div>'
    cards = "".join(_document_html(item, index, document) for index, document in enumerate(item.documents))
    return f'<div class="stress">{cards}</div>'


def _document_html(item: StressItemView, index: int, document: ShownDocument) -> str:
    truth, kind = ("signal", "good") if document.is_signal else ("noise", "hold")
    badges = f'<span class="badge {kind}">{truth}</span>'
    if not document.is_factual:
        badges += '<span class="badge bad">altered: it has a planted error</span>'
    head = f'<div class="head"><b>Document {index + 1}</b>{badges}</div>'
    text = f'<div class="text">{marked_text(document)}</div>'
    parts = (_edit_html(document), text, _sub_question_html(document), _table_html(item, index, document))
    return f'<div class="document">{head}{"".join(parts)}<div class="faint">{escape(document.document_id)}</div></div>'


def marked_text(document: ShownDocument) -> str:
    """The text of a document as HTML, with a planted edit marked."""
    start = _place_of(document.text, document.edit)
    if document.edit is None or not document.edit.after or start is None:
        return escape(document.text)
    end = start + len(document.edit.after)
    before, edited, after = document.text[:start], document.text[start:end], document.text[end:]
    return f"{escape(before)}<mark>{escape(edited)}</mark>{escape(after)}"


def _place_of(text: str, edit: PlantedEdit | None) -> int | None:
    """Where the words of an edit are; None where they are at no certain place."""
    if edit is None or not edit.after:
        return None
    if edit.start is not None and text.startswith(edit.after, edit.start):
        return edit.start
    return text.index(edit.after) if text.count(edit.after) == 1 else None


def _edit_html(document: ShownDocument) -> str:
    edit = document.edit
    if document.is_factual or edit is None:
        return ""
    removed = "" if edit.after else " The words were removed."
    unplaced = f" {UNPLACED}" if edit.after and _place_of(document.text, edit) is None else ""
    change = f"<del>{escape(edit.before or '')}</del> became <mark>{escape(edit.after or '')}</mark>."
    kind = f" ({escape(edit.kind)})" if edit.kind else ""
    return f'<div class="edit">Planted error{kind}: {change}{removed}{unplaced}</div>'


def _sub_question_html(document: ShownDocument) -> str:
    if not document.sub_question:
        return ""
    right = f" Right: <b>{escape(document.sub_answer)}</b>." if document.sub_answer else ""
    false = f" The altered text says: <b>{escape(document.false_answer)}</b>." if document.false_answer else ""
    return f'<div class="sub">Sub-question: {escape(document.sub_question)}{right}{false}</div>'


def _table_html(item: StressItemView, index: int, document: ShownDocument) -> str:
    """What each system takes a document for, and its answer to the sub-question, where it was asked for either."""
    asked = [reply for reply in item.replies if reply.state != NOT_ASKED]
    with_calls, with_answers = any(reply.calls for reply in asked), bool(document.sub_question)
    if not (with_calls or with_answers):
        return ""
    heads = ["System", *(["Takes it for"] if with_calls else []), *(["Answer to the sub-question"] if with_answers else [])]
    lines = [
        [f"{escape(reply.name)}", *([_call_html(item.test, reply, index, document)] if with_calls else []),
         *([_sub_answer_html(reply, index)] if with_answers else [])]
        for reply in asked
    ]  # fmt: skip
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in line)}</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _sub_answer_html(reply: StressReplyView, index: int) -> str:
    if index not in reply.sub_answers:
        return '<span class="faint">no answer to it</span>'
    answer, score = reply.sub_answers[index]
    graded = f" (graded {fixed(score, 1)})" if score is not None else ""
    return f"<b>{escape(answer)}</b>{graded}"


def _call_html(test: str, reply: StressReplyView, index: int, document: ShownDocument) -> str:
    if index not in reply.calls:
        return '<span class="faint">it does not say</span>'
    call = reply.calls[index]
    sound = document.is_factual if test == StressTest.ROBUSTNESS else document.is_signal
    is_right = sound == (call in (DocumentCall.RELEVANT, DocumentCall.FACTUAL))
    words = CALL_WORDS.get(DocumentCall(call), call)
    return f'<b>{escape(words)}</b> <span class="badge {"good" if is_right else "bad"}">{"right" if is_right else "wrong"}</span>'
