"""One handbook: how much of its text could be read, its language, and the topics on which others disagree with it."""

from __future__ import annotations

from typing import NamedTuple

from audit.queries.lookup import handbook_number
from audit.release.taxonomy import plain_phrase, shown_phrase
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
SUBJECTS = """
select case when a.handbook = $handbook then b.handbook_id else a.handbook_id end as other,
       divergence_topic, max(significance) as gravest, count(*) as pairs
from judged_pairs
join handbooks a on a.handbook = handbook_a
join handbooks b on b.handbook = handbook_b
where disagrees and $handbook in (handbook_a, handbook_b) and trim(divergence_topic) <> ''
group by all
order by other, gravest desc nulls last, pairs desc, divergence_topic
"""
# A few unreadable words do not change an answer
MIN_UNREADABLE = 0.01


class HandbookText(NamedTuple):
    """The text of one handbook; None: not stated in the release.

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
        """Whether enough words are unreadable to tell the reader."""
        return (self.unreadable or 0) >= MIN_UNREADABLE

    @property
    def is_in_another_language(self) -> bool:
        """Whether most handbooks of the run have another language."""
        return self.language is not None and self.language != self.usual


def handbook_text(con: Connection, handbook_id: str) -> HandbookText:
    """The quality of a handbook's text as stated in the release. Raises NotInRunError when the run has no such handbook."""
    handbook = {"handbook": handbook_number(con, handbook_id)}
    ((pages, silent, unreadable, language, usual),) = rows(con, TEXT, handbook)
    unread = tuple((reason, count) for reason, count in rows(con, UNREAD, handbook))
    return HandbookText(pages, silent, unreadable, language, usual, unread)


def disagreement_subjects(con: Connection, handbook_id: str) -> dict[str, list[str]]:
    """Handbook id of each other handbook that disagrees with this one -> what about, the gravest first, in the judge's words.

    Phrases that differ only in words such as "different advice on" are listed once. A couple whose disagreements have no
    divergence topic is not listed. Raises NotInRunError when the handbook is unknown.
    """
    subjects: dict[str, dict[str, str]] = {}
    for other, phrase, _, _ in rows(con, SUBJECTS, {"handbook": handbook_number(con, handbook_id)}):
        subjects.setdefault(other, {}).setdefault(plain_phrase(phrase), shown_phrase(phrase))
    return {other: list(phrases.values()) for other, phrases in subjects.items()}
