"""The texts of a run: its handbooks as documents, as far as its release brings their sections."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from audit.store.connection import Connection, frame, rows
from audit.text.documents import Document, Section

if TYPE_CHECKING:
    import pandas as pd  # the process that searches the texts has no use for it

HANDBOOKS = """
select handbook, handbook_id, organ, center, phase, title, language, unreadable from handbooks
where handbook in (select handbook from sections) order by handbook
"""
SECTIONS = """
select handbook, section_id, heading, text, above, pages, page_starts, url, part from sections order by handbook, place
"""
ASKABLE = "select handbook_id, organ, center from handbooks where handbook in (select handbook from sections) order by handbook"


def run_documents(con: Connection) -> tuple[Document, ...]:
    """The handbooks whose texts the run has, in release order; () if the release has none."""
    sections: dict[int, list[Section]] = defaultdict(list)
    for handbook, section_id, heading, text, above, pages, page_starts, url, part in rows(con, SECTIONS):
        starts = tuple((page, start) for page, start in page_starts)
        sections[handbook].append(Section(section_id, heading, text, tuple(above), tuple(pages), url, starts, tuple(part)))
    return tuple(
        Document(handbook_id, organ, center, phase, tuple(sections[number]), title, language=language, unreadable=unreadable)
        for number, handbook_id, organ, center, phase, title, language, unreadable in rows(con, HANDBOOKS)
    )


def has_texts(con: Connection) -> bool:
    """Whether the run has the text of at least one handbook."""
    return section_count(con) > 0


def section_count(con: Connection) -> int:
    """The number of sections whose text the run has."""
    ((count,),) = rows(con, "select count(*) from sections")
    return int(count)


def handbooks_with_texts(con: Connection) -> pd.DataFrame:
    """The handbooks whose texts the run has, in release order: handbook_id, organ, center (str)."""
    return frame(con, ASKABLE)
