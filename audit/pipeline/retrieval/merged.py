"""Several handbooks as one document, so that one index ranks the passages of all of them.

A word is then as rare as it is in the whole corpus, scores of different handbooks are on one scale, and the five best passages
may be of one handbook. The same strategies search it as search a handbook.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from audit.pipeline.retrieval.settings import RetrievalSettings
from audit.text.documents import Document

# In no id: ids are single lines
SEPARATOR = "\n"


def merged_document(documents: Iterable[Document]) -> Document:
    """All handbooks as one, in the language that they share; its section ids name the handbook too (`home_of`)."""
    documents = tuple(documents)
    languages = {document.language for document in documents}
    sections = [
        replace(section, section_id=merged_id(document.handbook_id, section.section_id))
        for document in documents
        for section in document.sections
    ]
    language = languages.pop() if len(languages) == 1 else None
    return Document("merged", "general", "all", "combined", tuple(sections), language=language)


def merged_id(handbook_id: str, section_id: str) -> str:
    """The id of a handbook's section in the merged document."""
    return f"{handbook_id}{SEPARATOR}{section_id}"


def home_of(merged: str) -> tuple[str, str]:
    """The handbook and the section that an id of the merged document names; ("", id) of a single handbook."""
    handbook_id, separator, section_id = merged.partition(SEPARATOR)
    return (handbook_id, section_id) if separator else ("", merged)


def corpus_settings(settings: RetrievalSettings) -> RetrievalSettings:
    """The settings without what only a single handbook has: its use in full, where it is short or passages do not suffice."""
    return replace(settings, whole_characters=0, leave_out=settings.leave_out | {"sufficiency"})
