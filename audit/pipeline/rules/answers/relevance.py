"""The words of one handbook and their rarity in it, and its statements that can be quoted, with their vectors."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence, Set

import numpy as np

from audit.pipeline.answers.evidence import NumberedPassage
from audit.pipeline.embedding.encoders import Encoder
from audit.pipeline.embedding.vectors import Vectors, no_progress
from audit.pipeline.rules.answers.candidates import Candidate, candidates_of
from audit.pipeline.rules.answers.questions import content_stems, read_question, stated_stems
from audit.text.documents import Document, Section

FEW_WORDS = 6
"""The subject of a statement this short is only in its heading: "For six weeks", "You can also: Exercise"."""


def stem_set(text: str) -> frozenset[str]:
    """The stems of a text's content words."""
    return frozenset(content_stems(text))


class Relevance:
    """The words of one handbook and their rarity in it. Create one per handbook, because it reads all of the text."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.order = {section.section_id: number for number, section in enumerate(document.sections)}
        self._stems = {section.section_id: stem_set(f"{section.title}\n{section.text}") for section in document.sections}
        self._section_counts = Counter(stem for stems in self._stems.values() for stem in stems)
        self._candidates: dict[str, tuple[Candidate, ...]] = {}
        self._headings: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
        self._vectors: dict[str, Vectors] = {}

    def stems(self, section: Section) -> frozenset[str]:
        """The stems in a section and in its headings."""
        return self._stems[section.section_id]

    def weight(self, stem: str) -> float:
        """Inverse document frequency over sections: log((sections + 1) / (sections with the stem + 1/2))."""
        # A stem that the handbook lacks has the weight of one in a single section.
        return math.log((len(self._stems) + 1) / (max(1, self._section_counts[stem]) + 0.5))

    def headings(self, section: Section) -> tuple[frozenset[str], frozenset[str]]:
        """The stems of a section's own heading, and of those above it."""
        if section.section_id not in self._headings:
            self._headings[section.section_id] = stated_stems(section.heading), stated_stems(" ".join(section.above))
        return self._headings[section.section_id]

    def section_candidates(self, section: Section) -> tuple[Candidate, ...]:
        """The candidate statements of a section."""
        if section.section_id not in self._candidates:
            self._candidates[section.section_id] = candidates_of(section, self.order.get(section.section_id, len(self.order)))
        return self._candidates[section.section_id]

    def candidates(self, passage: NumberedPassage) -> list[Candidate]:
        """The candidate statements of a passage: every statement of its section that overlaps it."""
        section = self.document.by_id.get(passage.section_id) or Section(passage.section_id, "", passage.text)
        start, end = (passage.start, passage.end) if section.section_id in self.order else (0, len(passage.text))
        return [
            candidate
            for candidate in self.section_candidates(section)
            if (candidate.statement.end > start and candidate.statement.start < end) or (candidate.is_heading and start == 0)
        ]

    def vectors(self, candidates: Sequence[Candidate], encoder: Encoder) -> Vectors:
        """One row per candidate, encoded at first use.

        Raises EmbeddingError and MissingLibraryError from the encoder.
        """
        texts = [_encoded_text(candidate) for candidate in candidates]
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            self._vectors |= dict(zip(new, encoder.encode(new, no_progress), strict=True))
        return np.stack([self._vectors[text] for text in texts])

    # Weighted: "travel" is more specific than "patient", which nearly every section has
    def coverage(self, question: Set[str], text: Set[str]) -> float:
        """The share in [0, 1] of a question's weight that a text covers; 0 for a question without content words."""
        total = sum(map(self.weight, question))
        return sum(map(self.weight, question & text)) / total if total else 0.0

    def similarity(self, a: Set[str], b: Set[str]) -> float:
        """Weighted Dice coefficient of two sets of stems, in [0, 1]."""
        total = sum(map(self.weight, a)) + sum(map(self.weight, b))
        return 2 * sum(map(self.weight, a & b)) / total if total else 0.0

    def ranked_sections(self, question: str) -> list[Section]:
        """The handbook's sections, those that cover most of the question first; ties in reading order."""
        stems = read_question(question).stems
        return sorted(self.document.sections, key=lambda section: -self.coverage(stems, self.stems(section)))


def _encoded_text(candidate: Candidate) -> str:
    # For longer statements, headings add noise
    quoted = candidate.statement.quoted
    return f"{candidate.section.heading}: {quoted}" if len(quoted.split()) <= FEW_WORDS else quoted
