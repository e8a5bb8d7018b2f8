"""The passages of one handbook that are closest to a question, each with a score that can be compared between handbooks.

A passage is a run of consecutive statements of one kind under one lead, about 70 words, quoted whole and word for word. Its
similarity is a cosine, which knows that "sore" is near "pain", plus a BM25 score, which knows that "Imodium" is rare; each the
larger of that of the passage and of its best statement. Its score is this minus a share of what is usual in this handbook: one
that is all about potassium is similar to every question about potassium. Measured by `python -m benchmarks.closest`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit.atomic_io import atomic_file
from audit.pipeline.embedding.encoders import Encoder
from audit.pipeline.embedding.static import static_encoder
from audit.pipeline.embedding.vectors import Vectors, no_progress
from audit.pipeline.retrieval.bm25 import Bm25, tokens
from audit.pipeline.retrieval.index import is_navigation
from audit.pipeline.retrieval.places import PassagePlace, PassagePlaces
from audit.release.taxonomy import LEXICAL
from audit.text.documents import Document, Section
from audit.text.statements import ITEM, Statement, statements
from audit.text.words import PIECE

FORMAT = 3
"""Increase it when passages are cut or encoded otherwise: stored vectors are then computed again."""
WORDS = 70
# The usual similarity of a handbook is the mean of these ranks, counted from 0: the best may be answers.
USUAL = slice(4, 15)
USUAL_SHARE = 0.6
# A leaflet has no such ranks. Each that is missing counts as in longer handbooks, or anything would be close in a leaflet.
USUAL_SENTENCES, USUAL_STATIC = 0.32, 0.61
# A cosine that one unit of BM25 is worth.
BM25_WEIGHT = 1 / 20
# Otherwise a line that is one word of the question ("Diabetes" in a list) would be closer than a sentence about it.
LENGTH_COUNTS = 0.0
# The more passages, the closer the closest of them comes by chance: so much for e times as many, of documents on other subjects
# (half `tune` of benchmarks/gold), between the usual number there and the largest.
BY_CHANCE, USUAL_COUNT, MOST_COUNT = 0.0125, 30, 600
Scores = NDArray[np.float64]
NO_VECTORS: Vectors = np.zeros((0, 1), dtype=np.float32)


@dataclass(frozen=True, slots=True)
class ClosePassage:
    """A passage with its closeness to a question.

    score       similarity relative to the handbook; see `audit.pipeline.retrieval.found` for what it means
    similarity  cosine and weighted BM25 together, before what is usual is taken off
    statement   (start, end) of its best statement, in characters of the section
    """

    section: Section
    place: PassagePlace
    score: float
    similarity: float
    statement: tuple[int, int]

    @property
    def text(self) -> str:
        """The passage word for word."""
        return self.section.text[self.place.start : self.place.end]

    @property
    def page(self) -> int | None:
        """The page on which it begins, counted from 1; None where unknown."""
        return self.section.page_at(self.place.start)


def passage_places(document: Document) -> PassagePlaces:
    """Every passage of a handbook, in reading order; sections that only point elsewhere have none.

    Nor is there one where every statement is a question: "When can I drive?" is near to that question and answers nothing.
    """
    return PassagePlaces.of(
        place
        for number, section in enumerate(document.sections)
        if not is_navigation(section)
        for place in _of_section(number, section)
        if not all(section.text[start:end].rstrip().endswith(("?", ":")) for start, end in place.statements)
    )


def _of_section(number: int, section: Section) -> Iterator[PassagePlace]:
    group: list[Statement] = []
    words = 0
    for statement in statements(section.text):
        length = len(PIECE.findall(statement.text))
        # Before other items, the rest of an item would read as what introduces them
        is_rest = bool(group) and _sign(section, group[0]) is None and _sign(section, statement) is not None
        if group and (_kind(statement) != _kind(group[0]) or is_rest or words + length > WORDS):
            yield _place(section, number, group)
            group, words = [], 0
        group.append(statement)
        words += length
    if group:
        yield _place(section, number, group)


def _sign(section: Section, statement: Statement) -> int | None:
    """Where the sign of the list item stands that begins with a statement; None where it begins none."""
    item = ITEM.match(section.text, section.text.rfind("\n", 0, statement.start) + 1)
    return item.start() if item and item.start("text") == statement.start else None


def _kind(statement: Statement) -> tuple[str, tuple[str, ...]]:
    return statement.kind, statement.leads


def _place(section: Section, number: int, group: Sequence[Statement]) -> PassagePlace:
    spans, sign = tuple((statement.start, statement.end) for statement in group), _sign(section, group[0])
    return PassagePlace(number, group[0].start if sign is None else sign, group[-1].end, group[0].leads, spans)


@lru_cache(4096)
def _vector(encoder: Encoder, question: str) -> Vectors:
    # The same question is put to every handbook
    vector: Vectors = encoder.encode([question], no_progress)[0]
    return vector


class ClosestPassages:
    """The passages of one handbook, ready to be compared with questions.

    Without a sentence model, cosines are those of the static word vectors that ship.
    """

    def __init__(
        self,
        document: Document,
        encoder: Encoder | None = None,
        folder: Path | None = None,
        places: PassagePlaces | None = None,
        texts_digest: str | None = None,
    ) -> None:
        """Read the handbook. Vectors are kept in `folder`, in a file named by all that they depend on.

        places, texts_digest  as this class found them, where they are stored; None: they are found

        Raises EmbeddingError and MissingLibraryError from the encoder.
        """
        model = encoder if encoder and encoder.name != LEXICAL else None
        self.document, self.encoder = document, model or static_encoder()
        self._usual_if_missing = USUAL_SENTENCES if model else USUAL_STATIC
        self.places = passage_places(document) if places is None else places
        if texts_digest:
            self.texts_digest = texts_digest
        self._vectors = self._encoded(self.encoder, folder) if self.places else NO_VECTORS

    @cached_property
    def texts_digest(self) -> str:
        """Of all texts that have a vector."""
        return hashlib.sha256(json.dumps(self._texts, ensure_ascii=False).encode()).hexdigest()

    @cached_property
    def _texts(self) -> list[str]:
        """The passages, then the statements."""
        return [*map(self._passage_text, self.places), *self._statement_texts()]

    def _passage_text(self, place: PassagePlace) -> str:
        return self._in_front(place) + self._text(place.section, place.start, place.end)

    def _in_front(self, place: PassagePlace) -> str:
        """The heading and the leads of a passage, without which it may mean something else."""
        section = self.document.sections[place.section]
        return "".join(f"{part} " for part in (f"{section.heading}." if section.heading else "", *place.leads) if part)

    def _text(self, section: int, start: int, end: int) -> str:
        return " ".join(self.document.sections[section].text[start:end].split())

    def _statement_texts(self) -> Iterator[str]:
        for place in self.places:
            for start, end in place.statements:
                yield " ".join((*place.leads, self._text(place.section, start, end)))

    def vectors_file(self, encoder: Encoder, folder: Path) -> Path:
        """Where the vectors of this handbook by an encoder are stored, or will be."""
        named = hashlib.sha256(f"{FORMAT} {encoder.digest} {self.texts_digest}".encode()).hexdigest()
        return folder / f"closest-{named[:24]}.npy"

    def with_encoder(self, encoder: Encoder, folder: Path | None = None) -> ClosestPassages:
        """The same passages, compared by their vectors, which are computed where they are not stored."""
        other = copy(self)
        other.encoder, other._usual_if_missing = encoder, USUAL_SENTENCES
        other._vectors = self._encoded(encoder, folder) if self.places else NO_VECTORS
        return other

    def _encoded(self, encoder: Encoder, folder: Path | None) -> Vectors:
        """A row for each passage, then one for each statement."""
        path = self.vectors_file(encoder, folder) if folder else None
        if path and path.is_file():
            return np.asarray(np.load(path, allow_pickle=False), dtype=np.float32)
        texts = self._texts
        distinct = list(dict.fromkeys(texts))
        row_of = {text: row for row, text in enumerate(distinct)}
        vectors = encoder.encode(distinct, no_progress)[[row_of[text] for text in texts]]
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_file(path) as draft, draft.open("wb") as file:
                np.save(file, vectors.astype(np.float16), allow_pickle=False)
        # The same numbers whether they were stored or not
        return np.asarray(vectors.astype(np.float16), dtype=np.float32)

    @cached_property
    def word_counts(self) -> Bm25:
        """BM25 over the passages, then the statements."""
        return Bm25.build(list(map(self.tokens, self._texts)), LENGTH_COUNTS)

    def tokens(self, text: str) -> list[str]:
        """The stems of a text in the handbook's language."""
        return tokens(text, self.document.language)

    def closest(self, question: str, count: int = 5) -> list[ClosePassage]:
        """The `count` passages closest to a question, best first; ties in reading order. The whole question is read."""
        if not self.places:
            return []
        best, of_statements = self.similarities(question)
        relative = self.relative(best)
        distinct: dict[str, int] = {}
        for row in np.argsort(-relative, kind="stable"):
            # A leaflet that says a thing twice has one passage of it
            distinct.setdefault(self._passage_text(self.places[int(row)]), int(row))
            if len(distinct) == count:
                break
        return [self._close(row, float(relative[row]), float(best[row]), of_statements) for row in distinct.values()]

    def similarities(self, question: str) -> tuple[Scores, Scores]:
        """How similar each passage is to a question, and each statement."""
        cosines = np.asarray(self._vectors @ _vector(self.encoder, question), dtype=np.float64)
        words = np.asarray(self.word_counts.scores(dict.fromkeys(self.tokens(question), 1.0)), dtype=np.float64) * BM25_WEIGHT
        return self._of_passages(cosines) + self._of_passages(words), (cosines + words)[len(self.places) :]

    def relative(self, best: Scores) -> Scores:
        """The scores of passages: their similarities less what is usual among them."""
        by_chance = BY_CHANCE * np.log(np.clip(best.size, USUAL_COUNT, MOST_COUNT) / USUAL_COUNT)
        return np.asarray(best - USUAL_SHARE * self._usual(best) - by_chance)

    def _of_passages(self, scores: Scores) -> Scores:
        """One number for each passage: its own, or that of its best statement. `scores`: the passages', then the statements'."""
        best = scores[: len(self.places)].copy()
        np.maximum.at(best, self.places.owners, scores[len(self.places) :])
        return best

    def _usual(self, best: Scores) -> float:
        ranked, ranks = np.sort(best)[::-1][USUAL], USUAL.stop - USUAL.start
        return float(ranked.sum() + (ranks - ranked.size) * self._usual_if_missing) / ranks

    def _close(self, row: int, score: float, similarity: float, of_statements: Scores) -> ClosePassage:
        place = self.places[row]
        first = int(np.searchsorted(self.places.owners, row))
        own: NDArray[Any] = of_statements[first : first + len(place.statements)]
        statement = place.statements[int(own.argmax())]
        return ClosePassage(self.document.sections[place.section], place, round(score, 6), round(similarity, 6), statement)
