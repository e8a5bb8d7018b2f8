"""The text that a run has of one handbook: how much of it could be read, and in which language."""

from __future__ import annotations

from typing import NamedTuple

from audit.queries.lookup import handbook_number
from audit.store.connection import Connection, rows

TEXT = """
select pages, silent_pages, unreadable, language,
       (select mode(language) from handbooks) as usual
from handbooks
where handbook = $handbook
"""
UNREAD = """
select unread_reason, count(*)::integer
from answers
where handbook = $handbook and unread_reason is not null
group by unread_reason
order by 2 desc, 1
"""
# Single words that cannot be read change no answer
MIN_UNREADABLE = 0.01


class HandbookText(NamedTuple):
    """The text of one handbook; None: the release does not tell.

    silent_pages     pages that are pictures without text
    unreadable       share in [0, 1] of its words that are not readable text
    language, usual  ISO 639 codes of its language and of the one that most handbooks of the run have
    unread           (reason, questions) for each reason why questions have neither an answer nor an absence
    """

    pages: int | None
    silent_pages: int | None
    unreadable: float | None
    language: str | None
    usual: str | None
    unread: tuple[tuple[str, int], ...] = ()

    @property
    def is_noticeably_unreadable(self) -> bool:
        """Whether a reader should know how many words could not be read."""
        return (self.unreadable or 0) >= MIN_UNREADABLE

    @property
    def is_in_another_language(self) -> bool:
        """Whether most handbooks of the run have another language."""
        return self.language is not None and self.language != self.usual


def handbook_text(con: Connection, handbook_id: str) -> HandbookText:
    """What the release tells of a handbook's text. Raises NotInRunError when the run has no such handbook."""
    handbook = {"handbook": handbook_number(con, handbook_id)}
    ((pages, silent, unreadable, language, usual),) = rows(con, TEXT, handbook)
    unread = tuple((reason, count) for reason, count in rows(con, UNREAD, handbook))
    return HandbookText(pages, silent, unreadable, language, usual, unread)
