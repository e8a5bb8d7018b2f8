"""A small library of three handbooks in two sources, and a source without text."""

from __future__ import annotations

from audit.pipeline.embedding.encoders import Encoder
from audit.pipeline.retrieval.across.library import Library, build_library
from audit.pipeline.retrieval.across.sources import Source
from audit.pipeline.retrieval.settings import RetrievalSettings
from audit.text.documents import Document, Section

SETTINGS = RetrievalSettings(heading_prefix=False, chunk_words=6, overlap_words=0)


def document(handbook_id: str, *texts: str) -> Document:
    """A handbook of these sections, s1, s2 and so on."""
    sections = tuple(Section(f"s{number}", "", text) for number, text in enumerate(texts, start=1))
    return Document(handbook_id, "kidney", handbook_id.upper(), "post", sections)


ALDER = document("alder", "Call clinic nurses: fever rises tonight.", "Wear gloves whenever gardening outdoors today.")
BIRCH = document("birch", "Fever means infection following surgery sometimes.", "Swimming delays deep wounds healing completely.")
CEDAR = document("cedar", "Fever fever fever needs doctors quickly.", "Raw fish carries several dangerous germs.")
EMPTY = document("empty", "")
GUIDES = Source("guides", ("alder", "birch"), 1.0)
SHORT = Source("short", ("cedar",), 0.0)
NOTHING = Source("nothing", ("empty",), 0.5)


def library(*sources: Source, encoder: Encoder | None = None) -> Library:
    """The library of these sources; all handbooks have chunks of six words."""
    return build_library((ALDER, BIRCH, CEDAR, EMPTY), sources or (GUIDES, SHORT), SETTINGS, encoder)
