"""Phrases that only one author's texts have, learned from how often each phrase occurs in whose texts: no list of any language.

    phrases = telling_phrases([("alder", "q1", "Key points: ..."), ...])
    left_out = phrases.spans(text)

For studies whose raters must not learn whose an answer is: an opening, a closing or a run of words that comes back in answers to
different questions, and in one handbook's answers only, says whose answer it is and little about the question.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from audit.text.comparison import find_negations
from audit.text.quantity import find_quantities

WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
MOST_WORDS = 12
"""Words of an opening or closing, at most."""
LEAST_ENDS, LEAST_INSIDE = 3, 5
"""Different questions whose answers must have an opening or closing, and a run of words inside."""
RUN = 5
"""Words in a row, inside a text, that count as one phrase; a longer one is several that overlap."""
OPENING, CLOSING, INSIDE = "opening", "closing", "phrase"
Gram = tuple[str, ...]
Owned = tuple[str, str, str]
"""(whose text it is, which question it answers, the text)."""


@dataclass(frozen=True)
class TellingPhrases:
    """The phrases of one author only: words as folded, in order. Each of `openings`, `closings` and `inside` is a set of them."""

    openings: frozenset[Gram] = frozenset()
    closings: frozenset[Gram] = frozenset()
    inside: frozenset[Gram] = frozenset()

    def spans(self, text: str) -> list[tuple[int, int, str]]:
        """(start, end, OPENING, CLOSING or INSIDE) of what tells whose the text is, in order and apart; never all words."""
        places = [match.span() for match in WORD.finditer(text)]
        words = [text[start:end].casefold() for start, end in places]
        first = next((n for n in range(min(MOST_WORDS, len(words) - 1), 0, -1) if tuple(words[:n]) in self.openings), 0)
        rest = len(words) - first
        last = next((n for n in range(min(MOST_WORDS, rest - 1), 0, -1) if tuple(words[-n:]) in self.closings), 0)
        spans = [(0, places[first][0], OPENING)] if first else []
        for start, end in self._runs(words, first, len(words) - last):
            if end - start < len(words):
                spans.append((places[start][0], places[end - 1][1], INSIDE))
        return [*spans, (places[-last][0], len(text), CLOSING)] if last else spans

    def _runs(self, words: list[str], first: int, last: int) -> Iterator[tuple[int, int]]:
        start = end = -1
        for n in range(first, last - RUN + 1):
            if tuple(words[n : n + RUN]) not in self.inside:
                continue
            if n > end:
                if end > 0:
                    yield start, end
                start = n
            end = n + RUN
        if end > 0:
            yield start, end


def telling_phrases(texts: Iterable[Owned]) -> TellingPhrases:
    """The phrases of these texts that tell whose a text is.

    An opening or closing counts in answers to LEAST_ENDS questions or more, a run of words inside in LEAST_INSIDE or more, of
    one author, where no other author has the words anywhere. A phrase with a digit never counts: amounts stay.
    """
    read = [(owner, question, [word.casefold() for word in WORD.findall(text)]) for owner, question, text in texts]
    ends: dict[str, dict[Gram, set[str]]] = {OPENING: defaultdict(set), CLOSING: defaultdict(set)}
    inside: dict[Gram, set[str]] = defaultdict(set)
    for _, question, words in read:
        for n in range(1, min(MOST_WORDS, len(words) - 1) + 1):
            ends[OPENING][tuple(words[:n])].add(question)
            ends[CLOSING][tuple(words[-n:])].add(question)
        for gram in _grams(words, RUN):
            inside[gram].add(question)
    often = {kind: {gram for gram, questions in own.items() if len(questions) >= LEAST_ENDS} for kind, own in ends.items()}
    runs = {gram for gram, questions in inside.items() if len(questions) >= LEAST_INSIDE}
    owners = _owners(read, set().union(*often.values(), runs))

    def telling(grams: Iterable[Gram]) -> set[Gram]:
        return {gram for gram in grams if len(owners[gram]) == 1 and not _states_a_fact(" ".join(gram))}

    openings, closings = (_whole(telling(often[kind]), ends[kind], kind) for kind in (OPENING, CLOSING))
    return TellingPhrases(openings, closings, frozenset(telling(runs)))


def _states_a_fact(phrase: str) -> bool:
    return any(map(str.isdigit, phrase)) or bool(find_quantities(phrase) or find_negations(phrase))


def _grams(words: list[str], length: int) -> Iterator[Gram]:
    return (tuple(words[n : n + length]) for n in range(len(words) - length + 1))


def _owners(read: Iterable[tuple[str, str, list[str]]], wanted: set[Gram]) -> dict[Gram, set[str]]:
    owners: dict[Gram, set[str]] = defaultdict(set)
    lengths = sorted({len(gram) for gram in wanted})
    for owner, _, words in read:
        for length in lengths:
            for gram in _grams(words, length):
                if gram in wanted:
                    owners[gram].add(owner)
    return owners


def _whole(grams: set[Gram], questions: dict[Gram, set[str]], kind: str) -> frozenset[Gram]:
    """Those that do not go on in the same way in all of their texts, and of the rest none that has a shorter one of its own.

    "Key points" that 30 answers begin with is left out alone, and not with the words that 6 of them have next.
    """
    kept = set()
    for gram in sorted(grams, key=len):
        shorter = next((n for n in range(1, len(gram)) if (gram[:n] if kind == OPENING else gram[-n:]) in kept), 0)
        if not shorter:
            kept.add(gram)
            continue
        own = gram[:shorter] if kind == OPENING else gram[-shorter:]
        if len(questions[gram]) == len(questions[own]):
            kept.remove(own)
            kept.add(gram)
    return frozenset(kept)
