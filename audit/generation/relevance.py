"""How much of a question a text speaks of: its words, each weighted by how rare it is in the handbook."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Set

from audit.corpus.documents import Document, Section
from audit.judging.baseline.question import Asked as Question
from audit.judging.baseline.question import read_question
from audit.text.tokens import content_words


def stems_of(text: str) -> frozenset[str]:
    """The stems of a text's words."""
    return frozenset(word.stem for word in content_words(text))


class Relevance:
    """The words of one handbook: in how many of its sections each stands. Built once, since it reads the whole text."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.order = {section.section_id: place for place, section in enumerate(document.sections)}
        self._stems = {section.section_id: stems_of(f"{section.title}\n{section.text}") for section in document.sections}
        self._counts = Counter(stem for stems in self._stems.values() for stem in stems)

    def stems(self, section: Section) -> frozenset[str]:
        """The words of a section and of the headings over it."""
        return self._stems[section.section_id]

    def weight(self, stem: str) -> float:
        """The rarer, the heavier: log((sections + 1) / (sections with it + 1/2)); as if in one where the handbook lacks it."""
        return math.log((len(self._stems) + 1) / (max(1, self._counts[stem]) + 0.5))

    def cover(self, asked: Set[str], said: Set[str]) -> float:
        """The share in [0, 1] of a question's weight that stands among the words `said`; 0 for a question without words."""
        whole = sum(map(self.weight, asked))
        return sum(map(self.weight, asked & said)) / whole if whole else 0.0

    def likeness(self, asked: Set[str], said: Set[str]) -> float:
        """How far two sets of words are the same, in [0, 1]: twice the weight they share over the weight of both."""
        both = sum(map(self.weight, asked)) + sum(map(self.weight, said))
        return 2 * sum(map(self.weight, asked & said)) / both if both else 0.0

    def ranked(self, question: str) -> list[Section]:
        """The handbook's sections, those that say most of the question first, in reading order among equals."""
        asked = self.words(question)
        return sorted(self.document.sections, key=lambda section: -self.cover(asked, self.stems(section)))

    def words(self, question: str) -> frozenset[str]:
        """What a question asks about; all its words where none is left without the generic ones."""
        return self.read(question).stems or stems_of(question)

    @staticmethod
    def read(question: str) -> Question:
        """What a question asks: its words, whether yes or no would answer it, the amounts that would."""
        return read_question(question)
