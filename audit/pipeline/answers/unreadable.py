"""When a handbook's text supports neither an answer nor an absence: it is in another language, or pages have no text.

Such an answer is unread, with the reason, and not NOT ADDRESSED: the unreadable text may address the question.
"""

from __future__ import annotations

from collections.abc import Iterable

from audit.text.documents import Document
from audit.text.language import language_name, language_of

# Shorter texts are lists and addresses, whose language cannot be detected reliably
MIN_CHARACTERS = 500
# From this share of pages without text, or of unreadable words, an absence is not reported
MAX_UNSEEN = 0.25


def asked_in(questions: Iterable[str]) -> str | None:
    """The language of the questions as ISO 639 code; None where there are too few, or several languages."""
    return language_of("\n".join(questions))


def _language(document: Document) -> str | None:
    if document.language:
        return document.language
    return language_of(document.full_text) if len(document.full_text) >= MIN_CHARACTERS else None


def other_language(document: Document, asked: str | None) -> str | None:
    """Why a handbook in another language than that of the questions cannot be searched; None where it can.

    asked  the language of the questions, from `asked_in`; None: unknown, and no answer is withheld
    """
    written = _language(document)
    if asked is None or written is None or asked == written:
        return None
    languages = f"the handbook is in {language_name(written)}, the questions in {language_name(asked)}"
    return f"{languages}: their texts cannot be compared"


def unseen_text(document: Document) -> str | None:
    """Why an absence cannot be reported: too much of the handbook is unreadable. None where nearly all of it is readable."""
    silent, pages = len(document.silent_pages), document.pages or 0
    if pages and silent >= MAX_UNSEEN * pages:
        return f"{silent:,} of {pages:,} pages of the handbook are pictures without text: the answer may be there"
    if (document.unreadable or 0) >= MAX_UNSEEN:
        return f"{document.unreadable:.0%} of the handbook's words cannot be read: the answer may be there"
    return None
