"""The pairs of passages of one handbook that may be about the same thing: by question, and by what is said in two places."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, zip_longest
from math import log
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from audit.pipeline.retrieval.bm25 import tokens
from audit.pipeline.retrieval.closest import USUAL, USUAL_SHARE, ClosestPassages
from audit.pipeline.retrieval.found import MINILM, WAYS, thresholds
from audit.pipeline.retrieval.places import PassagePlace
from audit.text.comparison import find_negations
from audit.text.documents import Section
from audit.text.quantity import find_quantities
from audit.text.tokens import content_words, plain_text
from audit.vocabulary import Found

# In one section, passages so many characters apart are two places: a page or more. A binder without headings is one section.
FAR = 2_000
# For a question, the best passages of this many places are compared, chosen among this many that are closest to it
PLACES, CLOSEST = 3, 15
# Two statements may be about one thing if each is among this many that are most similar to the other, and at least so similar
NEAREST, MIN_SIMILARITY = 2, 0.2
# "Fever" alone states nothing, and a line that occurs so often, its numbers aside, is a running head
MIN_WORDS, RUNNING_HEAD = 4, 4
MAX_SUBJECT_WORDS = 5
ROWS = 512
WORD, NUMBER = re.compile(r"\w+"), re.compile(r"\d+")
Numbers = tuple[int, int]


class AskedQuestion(Protocol):
    """A question of the run."""

    @property
    def question_id(self) -> str:
        """Its id."""

    @property
    def text(self) -> str:
        """Its words."""


@dataclass(frozen=True)
class QuotedPlace:
    """A passage of a handbook, and the statement in it for which it was found: (start, end) in the section."""

    section: Section
    passage: PassagePlace
    statement: tuple[int, int]

    @property
    def key(self) -> tuple[int, int]:
        """The number of its section and where it begins there."""
        return self.passage.section, self.passage.start

    @property
    def text(self) -> str:
        """The passage with the lines that introduce it."""
        return self._with_leads(self.passage.start, self.passage.end)

    @property
    def stated(self) -> str:
        """The statement with the lines that introduce it."""
        return self._with_leads(*self.statement)

    @property
    def page(self) -> int | None:
        """The page on which the passage begins; None where the document does not tell."""
        return self.section.page_at(self.passage.start)

    def is_apart(self, other: QuotedPlace) -> bool:
        """Whether the two are different places: of other sections, or a page apart."""
        (section, start), (other_section, other_start) = self.key, other.key
        return section != other_section or abs(start - other_start) >= FAR

    def _with_leads(self, start: int, end: int) -> str:
        return " ".join((*self.passage.leads, self.section.text[start:end]))


@dataclass(frozen=True)
class PassagePair:
    """Two passages of different places of a handbook, the earlier first.

    subject      what both may be about: the question, or words that both statements have
    question_id  None where they were found without a question
    """

    subject: str
    first: QuotedPlace
    second: QuotedPlace
    question_id: str | None = None

    @property
    def says_the_same(self) -> bool:
        """Whether both statements have the same words, in any order."""
        return _words(self.first.stated) == _words(self.second.stated)

    @property
    def differs_openly(self) -> bool:
        """Whether one statement alone denies something, or both state amounts of one kind that differ.

        That is no finding: most such pairs are about different cases. A model reads them first, because it reads only so many.
        """
        texts = self.first.stated, self.second.stated
        denials, (amounts, others) = [bool(find_negations(text)) for text in texts], map(find_quantities, texts)
        return denials[0] != denials[1] or any(
            one.comparable(other) and not one.agrees(other) for one in amounts for other in others
        )


@dataclass(frozen=True)
class Candidates:
    """What there is to compare in one handbook.

    statements  how many statements it has
    agreeing    how many pairs have statements of the same words: they are not compared
    pairs       the others, in the order in which they are compared: by a question and without one, in turn
    """

    statements: int
    agreeing: int
    pairs: Sequence[PassagePair]


def find_candidates(passages: ClosestPassages, questions: Iterable[AskedQuestion] = ()) -> Candidates:
    """The pairs of passages of a handbook, of different places each, that may be about the same thing."""
    by_question, by_statement = _of_questions(passages, questions), _of_statements(passages)
    once: dict[object, PassagePair] = {}
    for pair in chain.from_iterable(zip_longest(by_question, by_statement)):
        if pair is not None:
            once.setdefault((pair.first.key, pair.second.key), pair)
    pairs = [pair for pair in once.values() if not pair.says_the_same]
    return Candidates(sum(len(place.statements) for place in passages.places), len(once) - len(pairs), pairs)


def _of_questions(passages: ClosestPassages, questions: Iterable[AskedQuestion]) -> list[PassagePair]:
    """For each question the best passages of different places that are at least perhaps on it, each with each."""
    limits = thresholds(WAYS.get(passages.encoder.name, MINILM))
    scored: list[tuple[float, PassagePair]] = []
    for question in questions:
        chosen: list[tuple[float, QuotedPlace]] = []
        for close in passages.closest(question.text, CLOSEST):
            place = QuotedPlace(close.section, close.place, close.statement)
            if limits.found(close.score) is not Found.NOT_FOUND and all(place.is_apart(other) for _, other in chosen):
                chosen.append((close.score, place))
        scored += [
            (min(score, other_score), _pair(question.text, place, other, question.question_id))
            for (score, place), (other_score, other) in combinations(chosen[:PLACES], 2)
        ]
    return _in_order(scored)


def _of_statements(passages: ClosestPassages) -> list[PassagePair]:
    """Statements of different places that are more similar in words to each other than to what else the handbook says."""
    sections = passages.document.sections
    every = [QuotedPlace(sections[passage.section], passage, span) for passage in passages.places for span in passage.statements]
    lines = Counter(_without_numbers(place) for place in every)
    places = [
        place for place in every if len(place.stated.split()) >= MIN_WORDS and lines[_without_numbers(place)] < RUNNING_HEAD
    ]
    return _in_order(
        (similarity, _pair(_shared_words(places[a].stated, places[b].stated), places[a], places[b]))
        for (a, b), similarity in _nearest(places).items()
    )


def _in_order(scored: Iterable[tuple[float, PassagePair]]) -> list[PassagePair]:
    return [pair for _, pair in sorted(scored, key=lambda entry: (not entry[1].differs_openly, -entry[0]))]


def _pair(subject: str, place: QuotedPlace, other: QuotedPlace, question_id: str | None = None) -> PassagePair:
    first, second = sorted((place, other), key=lambda one: one.key)
    return PassagePair(subject, first, second, question_id)


def _nearest(places: Sequence[QuotedPlace]) -> Mapping[Numbers, float]:
    """The places that are each among the nearest of the other, by their numbers: how similar they are, less what is usual."""
    if len(places) <= NEAREST:
        return {}
    vectors, keys = _word_vectors([place.stated for place in places]), np.array([place.key for place in places])
    nearest: dict[int, list[tuple[int, float]]] = {}
    usual = np.zeros(len(places))
    for first in range(0, len(places), ROWS):
        alike: NDArray[np.float64] = (vectors[first : first + ROWS] @ vectors.T).toarray()
        (sections, starts), (own_sections, own_starts) = keys.T, keys[first : first + ROWS].T
        alike[(own_sections[:, None] == sections) & (np.abs(own_starts[:, None] - starts) < FAR)] = 0.0
        ranked = np.argsort(-alike, axis=1, kind="stable")[:, : USUAL.stop]
        for row, columns in enumerate(ranked):
            best = alike[row, columns]
            usual[first + row] = best[USUAL].mean() if len(best) > USUAL.start else 0.0
            nearest[first + row] = [*zip(columns[:NEAREST].tolist(), best[:NEAREST].tolist(), strict=True)]
    return {
        (a, b): similarity - USUAL_SHARE * (usual[a] + usual[b]) / 2
        for a, ranked_pairs in nearest.items()
        for b, similarity in ranked_pairs
        if a < b and similarity >= MIN_SIMILARITY and a in dict(nearest[b])
    }


def _word_vectors(texts: Sequence[str]) -> csr_array:
    """A unit vector of the stems and numbers of each text, the rarest in the handbook weighing most.

    Of two contradicting statements in a binder of 2,900, words ranked each first for the other, MiniLM third and fifth.
    """
    bags = [frozenset(tokens(text)) for text in texts]
    frequency = Counter(chain.from_iterable(bags))
    column_of = {token: column for column, token in enumerate(sorted(frequency))}
    rows = [row for row, bag in enumerate(bags) for _ in bag]
    columns = [column_of[token] for bag in bags for token in bag]
    weights = [log(1 + len(bags) / frequency[token]) for bag in bags for token in bag]
    table = csr_array((weights, (rows, columns)), shape=(len(bags), max(1, len(frequency))))
    length = np.sqrt(table.multiply(table).sum(axis=1))
    return csr_array(diags_array(1 / np.where(length > 0, length, 1)) @ table)


def _without_numbers(place: QuotedPlace) -> str:
    return NUMBER.sub("#", " ".join(place.stated.split()).lower())


def _words(text: str) -> frozenset[str]:
    return frozenset(WORD.findall(plain_text(text)))


def _shared_words(first: str, second: str) -> str:
    """The first words of one statement that the other has too."""
    shared, plain = {word.stem for word in content_words(second)}, plain_text(first)
    words = {word.stem: plain[word.start : word.end] for word in reversed(content_words(first)) if word.stem in shared}
    return " ".join([*reversed(words.values())][:MAX_SUBJECT_WORDS])
