"""Small handbooks written for tests, and an encoder that knows a handful of words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from audit.pipeline.embedding.encoders import Encoder
from audit.pipeline.embedding.vectors import Progress, Vectors, unit_rows
from audit.pipeline.retrieval.index import build_index
from audit.pipeline.retrieval.model import Query, Retrieval
from audit.pipeline.retrieval.retrievers import Reranker
from audit.pipeline.retrieval.settings import RetrievalSettings
from audit.pipeline.retrieval.strategies import Strategy, index_settings, make_strategy
from audit.text.documents import Document, Section

SECTIONS = (
    Section("s1", "Contents", "Travel 4\nFever 7\nDental work 9\nVaccines 12\n"),
    Section("s2", "When you travel", "Wait three months after surgery before you fly. Carry your medicines.", ("Life",)),
    Section("s3", "Fever", "Call the clinic at once when your temperature is above 38 degrees."),
    Section("s4", "Dental work", "See a dentist only after six months. Take antibiotics before every visit."),
    Section("s5", "", "Raw fish and unpasteurised cheese are not safe."),
    Section("s6", "Vaccines", "No live vaccines after transplant. The flu shot is given every autumn."),
    Section("s7", "Part two", ""),
)
ALDER = Document("kidney_alder_post", "kidney", "Alder", "post", SECTIONS)
PASSAGES = RetrievalSettings(whole_characters=0)
FLY = Query("q1", "When may I fly?")
MEANINGS = (("travel", "fly", "trip"), ("fever", "temperature"), ("dental", "dentist", "teeth"), ("fish", "cheese", "eat"))


def meanings() -> Encoder:
    """One dimension per meaning: texts are similar when they mention the same meaning, in whatever word."""

    def encode(texts: Sequence[str], _progress: Progress) -> Vectors:
        rows = [[sum(word in text.lower() for word in words) for words in MEANINGS] for text in texts]
        return unit_rows(np.array(rows, dtype=np.float32).reshape(len(rows), len(MEANINGS)))

    return Encoder("meanings", "m" * 64, encode)


def handbook(*sections: Section) -> Document:
    """A handbook of these sections."""
    return Document("heart_birch_pre", "heart", "Birch", "pre", sections)


def build_strategy(
    name: str,
    document: Document,
    settings: RetrievalSettings,
    encoder: Encoder | None = None,
    reranker: Reranker | None = None,
) -> Strategy:
    """The strategy `name` over one handbook."""
    return make_strategy(name, build_index(document, index_settings(name, settings), encoder), reranker)


def hero(
    text: str, settings: RetrievalSettings = PASSAGES, document: Document = ALDER, reranker: Reranker | None = None
) -> Retrieval:
    """What HERO-QA retrieves for a question, with the encoder of meanings."""
    return build_strategy("hero", document, settings, meanings(), reranker).retrieve(Query("q", text))
