"""Letters in, letters out: what a reader leaves out of a document, and what is missing without its knowledge."""

from __future__ import annotations

import unicodedata
from collections import Counter

from audit.text.documents import UNREAD, Loss

# The example of a loss
MAX_EXAMPLE = 80


def loss(kind: str, text: str, page: int | None = None) -> Loss | None:
    """Left-out text as a loss; None where it has no letters or digits."""
    letters = sum(letters_of(text).values())
    words = " ".join(text.split())
    return (
        Loss(kind, letters, page, words if len(words) <= MAX_EXAMPLE else f"{words[: MAX_EXAMPLE - 1].rstrip()}…")
        if letters
        else None
    )


def letters_of(text: str) -> Counter[str]:
    """How often each letter and digit occurs, in any case; a ligature is its letters, and a raised digit is a digit."""
    return Counter(character for character in unicodedata.normalize("NFKD", text.casefold()) if character.isalnum())


def unread(source: str, kept: str, left_out: str, page: int | None = None, least: int = 1) -> Loss | None:
    """The letters of `source` that are neither in the document (`kept`) nor known to be left out; None for fewer than `least`.

    Letters that a reader adds, such as the heads of a table's columns in each of its cells, do not hide others of their kind only
    where they are the same: this counts at least so many missing letters as there are, never more.
    """
    missing = letters_of(source) - letters_of(kept) - letters_of(left_out)
    number = sum(missing.values())
    return Loss(UNREAD, number, page, "".join(missing)[:MAX_EXAMPLE]) if number >= least else None
