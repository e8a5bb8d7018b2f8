"""Which signal and noise documents a context has: seeded, the same for every model, and with p as its mean share.

Source of the design: MedRGB, arXiv:2411.09213. Noise documents are the signal documents of other questions.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from audit.pipeline.stress.building.draws import positions, rank
from audit.pipeline.stress.building.questions import SignalDocument, StressQuestion, same_text
from audit.vocabulary import StressTest

SHARES = (0, 20, 40, 60, 80, 100)
SIZES: dict[StressTest, tuple[int, ...]] = {
    StressTest.STANDARD: (0, 5, 20),
    StressTest.SUFFICIENCY: (5, 20),
    StressTest.INTEGRATION: (5, 10),
    StressTest.ROBUSTNESS: (5, 10),
}
"""Test -> the numbers of documents in its contexts."""

# A pool with fewer documents per document needed is ranked as a whole
SPARSE = 8


class Composition(NamedTuple):
    """How many documents of a context are signal (in robustness: correct) and how many are not."""

    signal: int
    other: int


def shares_of(test: StressTest) -> tuple[int, ...]:
    """The shares of signal, in percent, of a test: integration needs some signal, standard has only signal."""
    if test == StressTest.STANDARD:
        return (100,)
    return SHARES[1:] if test == StressTest.INTEGRATION else SHARES


def composition(size: int, share: int, available: int, draw: float) -> Composition | None:
    """The composition of a context of signal and noise; None if signal is required but not available.

    size, share  documents asked for, and percent of signal among them
    available    signal documents of the question. With too few of them the context is smaller: of the two neighbouring sizes,
                 `draw` (in [0, 1), one per question) picks one, so the mean share over questions is `share`
    """
    wanted = round(size * share / 100)
    if wanted == 0:
        return Composition(0, size)
    if available == 0:
        return None
    if available >= wanted:
        return Composition(wanted, size - wanted)
    exact = available * 100 / share
    smaller, larger = math.floor(exact), math.ceil(exact)
    if smaller == larger:
        return Composition(available, smaller - available)
    high, low = available / smaller, available / larger
    chosen = larger if draw < (high - share / 100) / (high - low) else smaller
    return Composition(available, chosen - available)


def correct_and_edited(size: int, share: int, available: int, draw: float) -> Composition | None:
    """The composition of a context of correct and edited documents, all of them signal; None without any.

    Of m documents, share x m is rarely an integer; `draw` rounds it up or down so the mean over questions is `share`.
    """
    documents = min(size, available)
    if documents == 0:
        return None
    # Rounded first: 0.6 x 5 is a little less than 3 in binary
    correct = math.floor(round(documents * share / 100, 9) + draw)
    return Composition(correct, documents - correct)


class NoisePool:
    """The signal documents of all questions, from which the noise of each question is drawn."""

    def __init__(self, questions: Sequence[StressQuestion]) -> None:
        # Sorted, so the order of the input does not change the noise
        ordered = sorted(questions, key=lambda question: question.question_id)
        distinct = {same_text(document.text): document for question in ordered for document in question.documents}
        self._documents = list(distinct.values())
        self._texts_of_topic: dict[str, set[str]] = {}
        for question in ordered:
            self._texts_of_topic.setdefault(topic_of(question), set()).update(same_text(one.text) for one in question.documents)

    def draw(self, question: StressQuestion, count: int, seed: int) -> list[SignalDocument]:
        """At most `count` documents of other questions in random order, without repeated texts or the question's own."""
        own = self._texts_of_topic.get(topic_of(question), set())
        if len(self._documents) < SPARSE * (count + len(own)):
            order = sorted(self._documents, key=lambda document: rank("noise", seed, question.question_id, document.document_id))
            return _distinct(order, count, own)
        # Ranking a large pool for every question would take minutes
        drawn = positions(len(self._documents), "noise", seed, question.question_id)
        return _distinct((self._documents[number] for number in drawn), count, own)


def _distinct(documents: Iterable[SignalDocument], count: int, own: Collection[str]) -> list[SignalDocument]:
    """The first `count` documents with distinct texts."""
    used, chosen = set(own), list[SignalDocument]()
    for document in documents:
        if len(chosen) == count:
            break
        if same_text(document.text) not in used:
            chosen.append(document)
            used.add(same_text(document.text))
    return chosen


def topic_of(question: StressQuestion) -> str:
    """A key shared by the same question asked of different handbooks."""
    return question.topic or question.question_id
