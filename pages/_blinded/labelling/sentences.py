"""The sentences of an answer, for an annotator who marks those that a label rests on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from annotation.label_store.engine import StudyError
from annotation.label_store.rationales import MarkedSentence
from audit.text.sentences import sentence_spans

Ranges = tuple[tuple[int, int], ...]


@lru_cache(maxsize=256)  # a window of items is sent with every label, and each has two answers
def sentence_ranges(text: str) -> Ranges:
    """First character, and the one after the last, of each sentence and list item."""
    return tuple((start, end) for start, end in sentence_spans(text))


@lru_cache(maxsize=256)
def browser_ranges(text: str) -> Ranges:
    """The same as JavaScript counts, where a character beyond the Basic Multilingual Plane is two."""
    return tuple((_utf16_length(text[:start]), _utf16_length(text[:end])) for start, end in sentence_ranges(text))


def marks_of(rationale: Sequence[MarkedSentence], answers: tuple[str, str]) -> list[list[int]]:
    """For each of the two answers as shown, the indices of its marked sentences."""
    return [
        [index for index, span in enumerate(sentence_ranges(text)) if (side, *span) in rationale]
        for side, text in enumerate(answers)
    ]


def rationale_of(marks: Sequence[Sequence[int]], answers: tuple[str, str]) -> tuple[MarkedSentence, ...]:
    """The marked sentences, from indices that a browser sent. Raises StudyError for a sentence that an answer does not have."""
    ranges = [sentence_ranges(text) for text in answers]
    try:
        return tuple(
            MarkedSentence(side, *dict(enumerate(ranges[side]))[index])
            for side, indices in enumerate(marks)
            for index in sorted(set(indices))
        )
    except (IndexError, KeyError):
        raise StudyError("A marked sentence is not in the answers of this item. Nothing was saved. Reload the page.") from None


def _utf16_length(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
