"""When a handbook's text does not allow an answer, or an absence: another language, or pages that nobody has read.

Such an answer is unread, with the reason: neither an answer nor NOT ADDRESSED. What a program cannot read is not what a handbook
leaves out.
"""

from __future__ import annotations

from collections.abc import Iterable

from audit.corpus.documents import Document
from audit.text.language import language_name, language_of

# Shorter texts of a handbook are lists and addresses, whose language is a guess
MIN_CHARACTERS = 500
# From this share on, of pages without text or of words that cannot be read, what a handbook seems to leave out is unknown
MAX_UNSEEN = 0.25


def asked_in(questions: Iterable[str]) -> str | None:
    """The language of questions, as ISO 639 code; None where they are too few or too mixed to tell."""
    return language_of("\n".join(questions))


def _language(document: Document) -> str | None:
    text = document.full_text
    return document.language or (language_of(text) if len(text) >= MIN_CHARACTERS else None)


def other_language(document: Document, asked: str | None) -> str | None:
    """Why rules cannot answer from a handbook that is in another language than the questions; None where they can.

    asked  the language of the questions, from `asked_in`; None: unknown, and nothing is withheld
    """
    written = _language(document)
    if asked is None or written is None or asked == written:
        return None
    return f"the handbook is in {language_name(written)}, the questions in {language_name(asked)}: rules cannot read it"


def unseen_text(document: Document) -> str | None:
    """Why it is unknown what a handbook does not address: too much of it could not be read. None where nearly all was."""
    silent, pages = len(document.silent_pages), document.pages or 0
    if pages and silent >= MAX_UNSEEN * pages:
        return f"{silent:,} of {pages:,} pages of the handbook are pictures without text: the answer may be there"
    if (document.unreadable or 0) >= MAX_UNSEEN:
        return f"{document.unreadable:.0%} of the handbook's words cannot be read: the answer may be there"
    return None
