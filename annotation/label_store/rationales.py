"""Rationales: the sentences of the two answers that an annotator marked as the basis of a label."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from annotation.label_store.engine import StudyError


class MarkedSentence(NamedTuple):
    """A marked sentence.

    side        0: the first answer, 1: the second; as shown in a Choice, answers a and b of the item where it is stored
    start, end  its position in that answer, in characters from 0
    """

    side: int
    start: int
    end: int

    def turned(self) -> MarkedSentence:
        """The same sentence after the two answers swapped sides."""
        return self._replace(side=1 - self.side)


def stored_rationale(rationale: Iterable[MarkedSentence], swapped: bool) -> str | None:
    """A rationale as shown to an annotator, as JSON about answers a and b; None where nothing is marked."""
    marked = sorted(sentence.turned() if swapped else sentence for sentence in rationale)
    return json.dumps(marked, separators=(",", ":")) if marked else None


def rationale_from(stored: str | None, swapped: bool = False) -> tuple[MarkedSentence, ...]:
    """A stored rationale about answers a and b; with `swapped`, as an annotator sees it who has b first."""
    marked = [MarkedSentence(*values) for values in json.loads(stored or "[]")]
    return tuple(sorted(sentence.turned() if swapped else sentence for sentence in marked))


def check_rationale(rationale: Sequence[MarkedSentence], answers: Sequence[str]) -> None:
    """Raise StudyError when a marked sentence is not a part of its answer, or overlaps another one.

    answers  in the order to which the rationale refers
    """
    ordered = sorted(rationale)
    inside = all(
        sentence.side in (0, 1) and 0 <= sentence.start < sentence.end <= len(answers[sentence.side]) for sentence in ordered
    )
    apart = all(before.side != after.side or before.end <= after.start for before, after in pairwise(ordered))
    if not (inside and apart):
        raise StudyError("A marked sentence is not in the answers of this item. Nothing was saved. Reload the page.")


def marked_texts(stored: str | None, answers: Sequence[str], side: int) -> str:
    """The marked sentences of one answer (0: a, 1: b), one a line; empty where none is marked."""
    marked = (sentence for sentence in rationale_from(stored) if sentence.side == side)
    return "\n".join(answers[side][sentence.start : sentence.end] for sentence in marked)
