"""The amounts that a judge's verdict on two answers is about, and which of them each answer states. Texts in, amounts out."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from audit.text.agreement import without_counterpart
from audit.text.position_quotes import sentences_of
from audit.text.quantity import Quantity, find_quantities
from audit.text.tokens import stems, without_citations

FIGURES = re.compile(r"\d+(?:[.,]\d+)*")


class CitedAmounts(NamedTuple):
    """Amounts that a verdict on two answers cites.

    first, second  those of one kind that the one answer states and the other does not: the amounts in which they differ
    shared         whether both state one: they then differ in something else, or in nothing
    topic          stems of what the verdict is about
    """

    first: tuple[Quantity, ...]
    second: tuple[Quantity, ...]
    shared: bool
    topic: frozenset[str]

    @property
    def amounts(self) -> str:
        """The amounts in words, those of the first before those of the second."""
        return " / ".join(", ".join(amount.text for amount in amounts) for amounts in (self.first, self.second))

    def side(self, answer: str) -> int | None:
        """0 for an answer that states the first's amount in its text on `topic`, 1 for the second's, None for neither."""
        stated = [(_overlap(sentence.quoted, self.topic), self._side_of(sentence.quoted)) for sentence in sentences_of(answer)]
        sides = [(overlap, side) for overlap, side in stated if side is not None]
        best = {side for overlap, side in sides if overlap == max(sides)[0]}
        return best.pop() if len(best) == 1 else None

    def _side_of(self, sentence: str) -> int | None:
        stated = [
            any(amount.agrees(own) for amount in amounts for own in _amounts(sentence)) for amounts in (self.first, self.second)
        ]
        return None if stated[0] == stated[1] else stated.index(True)


def _overlap(sentence: str, topic: frozenset[str]) -> int:
    return len(topic & set(stems(sentence)))


def cited_amounts(a: str, b: str, reasoning: str, topic: str) -> CitedAmounts:
    """The amounts that the judge's verdict cites, by which of two answers states them."""
    cited = _amounts(f"{topic}. {reasoning}")
    strange = {text: set(without_counterpart(_amounts(text), cited)) for text in (a, b)}
    own, other = ([amount for amount in _amounts(text) if amount not in strange[text]] for text in (a, b))
    first, second = without_counterpart(own, other), without_counterpart(other, own)
    kinds = {amount.kind for amount in first} & {amount.kind for amount in second}
    return CitedAmounts(
        tuple(amount for amount in first if amount.kind in kinds),
        tuple(amount for amount in second if amount.kind in kinds),
        not kinds and any(_states(a, amount) and _states(b, amount) for amount in cited),
        frozenset(stems(topic)),
    )


def _states(text: str, cited: Quantity) -> bool:
    # "45 minutes" is in "45 minutes a day", which as a rate is of another kind
    figures = set(FIGURES.findall(cited.text))
    return any(map(cited.agrees, _amounts(text))) or (bool(figures) and figures <= set(FIGURES.findall(text)))


@lru_cache(maxsize=4096)  # every answer is compared with several others
def _amounts(text: str) -> tuple[Quantity, ...]:
    return tuple(find_quantities(without_citations(text)))
