"""The sentences of answers by which positions are quoted, and how much of their words two of them share. Texts in, spans out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import log

from audit.text.statements import Statement, statements
from audit.text.tokens import stems

MIN_WORDS = 2


@lru_cache(maxsize=4096)
def sentences_of(answer: str) -> tuple[Statement, ...]:
    """The statements of an answer that may be quoted as its position: all where none is left.

    They have two words or more, and do not end in a colon, as headings above a quoted passage do.
    """
    every = tuple(_with_questions(answer, (statement for statement in statements(answer) if statement.end > statement.start)))
    return tuple(one for one in every if len(stems(one.quoted)) >= MIN_WORDS and not one.text.endswith(":")) or every


def _with_questions(answer: str, every: Iterable[Statement]) -> Iterator[Statement]:
    """The statements; of an item of a list with the question before it: "No" says something only behind "Smoke?"."""
    asked: Statement | None = None
    for one in every:
        is_reply = asked is not None and asked.leads == one.leads and "\n" not in answer[asked.end : one.start]
        joined = one._replace(text=answer[asked.start : one.end], start=asked.start) if asked and is_reply else one
        if asked and not is_reply:
            yield asked
        asked = joined if one.kind == "item" and one.text.endswith("?") else None
        if asked is None:
            yield joined
    if asked:
        yield asked


def rarity_of(answers: Sequence[str]) -> Counter[str]:
    """How rare each stem is among the sentences of all answers: the logarithm of sentences over sentences that have it."""
    having = Counter(stem for answer in answers for sentence in sentences_of(answer) for stem in set(stems(sentence.text)))
    count = sum(len(sentences_of(answer)) for answer in answers)
    return Counter({stem: log((count + 1) / number) for stem, number in having.items()})


def coverage(words: frozenset[str], wanted: frozenset[str], rarity: Mapping[str, float]) -> float:
    """The share of `wanted` that is in `words`, rare words counting more."""
    total = sum(rarity[stem] for stem in wanted)
    return sum(rarity[stem] for stem in words & wanted) / total if total else 0.0


def overlap(first: frozenset[str], second: frozenset[str], rarity: Mapping[str, float]) -> float:
    """The share of the words of two sentences that both have, rare words counting more."""
    return coverage(first & second, first | second, rarity)


def most_typical(quotes: Sequence[str], scores: Sequence[float]) -> int:
    """The index of the most representative quote: a good score, and similar to the others; then the shortest."""
    words = [frozenset(stems(quote)) for quote in quotes]
    likeness = [sum(similarity(own, other) for other in words) / len(words) for own in words]
    return max(range(len(quotes)), key=lambda index: (round(scores[index] + 3 * likeness[index], 6), -len(quotes[index])))


def similarity(first: frozenset[str], second: frozenset[str]) -> float:
    """The share of the stems of two sentences that both have."""
    return len(first & second) / max(len(first | second), 1)
