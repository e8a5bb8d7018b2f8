"""A library of four handbooks that agree and disagree on how long not to lift, for the tests of answers from several sources."""

from __future__ import annotations

from functools import lru_cache

from audit.pipeline.retrieval.across.library import Library, build_library
from audit.pipeline.retrieval.across.sources import sources_by
from audit.pipeline.retrieval.settings import RetrievalSettings
from audit.text.documents import Document, Section

LIFT = "How long should I avoid lifting after surgery?"
SIX = "Lifting: Avoid lifting anything over 10 pounds for 6 weeks after surgery."
TWELVE = "Lifting: Avoid lifting anything over 10 pounds for 12 weeks after surgery."
DIET = "Food: Eat fresh vegetables every day."


def handbook(center: str, *texts: str) -> Document:
    """A handbook with a section for each text, its heading before the colon."""
    sections = tuple(Section(f"s{n}", heading, text) for n, (heading, _, text) in enumerate(t.partition(": ") for t in texts))
    return Document(f"heart_{center}_post", "heart", center, "post", sections)


def library_of(*documents: Document) -> Library:
    """Their library, each center a source."""
    return build_library(documents, sources_by(documents, "center"), RetrievalSettings(whole_characters=0))


@lru_cache(maxsize=1)
def lifting_library() -> Library:
    """Alder and Birch say six weeks, Cedar twelve, Dogwood nothing."""
    return library_of(
        handbook("alder", SIX, DIET), handbook("birch", SIX, DIET), handbook("cedar", TWELVE), handbook("dogwood", DIET)
    )
