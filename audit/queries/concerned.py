"""Which handbooks a question concerns, in SQL: those that should answer it, and so are silent where they do not."""

from __future__ import annotations

from audit.vocabulary import GENERAL


def concerned(question: str, handbook: str) -> str:
    """Whether a row of `questions` concerns a row of `handbooks`, both by their aliases: `audit.vocabulary.concerns` in SQL."""
    return f"({question}.organ = '{GENERAL}' or {handbook}.organ in ({question}.organ, '{GENERAL}'))"
