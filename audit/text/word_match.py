"""Entries of a list by the words that somebody typed: forms of a word, slips of the keys and unfinished words count too.

`pages/_shared/search.js` has the same ranking, because a browser that asked for every letter would answer too late.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import log

from audit.text.tokens import STOP_WORDS, stem
from audit.text.words import IS_ALONE, search_words

WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
# Chosen on 60 questions in patients' words about three runs, checked on 60 others; halving or doubling one changes two of them.
STOP_WEIGHT = 0.2
"""Of a word such as "how", where a word of the same rarity that has a meaning weighs 1."""
NAME_SHARE = 0.15
"""How much it counts that an entry's own name is typed in full: of two entries that have all words, the shorter one is first."""
UNFINISHED, SAME_BEGINNING, SLIP, PART = 0.85, 0.6, 0.75, 0.5
"""How alike two words are: `transpl` and transplant, pregnant and pregnancy, `vacine` and vaccine, sunscreen and sun."""
MIN_BEGINNING, MIN_PART, MIN_REST = 4, 3, 3  # letters
LONG_WORD = 8  # letters: two slips are forgiven in it, one in a shorter one

Terms = Mapping[str, float]
"""Stem -> weight above 0: 1 for a word of the entry's own name, less for what stands behind it."""


def words_of(text: str) -> list[str]:
    """The words and numbers of a text, in lower case and without accents; letters of a script without spaces in pairs."""
    plain = unicodedata.normalize("NFD", text.replace("’", "'").lower())
    words = WORD.findall("".join(letter for letter in plain if unicodedata.category(letter) != "Mn"))
    return [part for word in words for part in (search_words(word) if IS_ALONE.search(word) else (word,))]


def stems_of(text: str) -> list[str]:
    """The stems of all words of a text, of stop words too."""
    return [stem(word) for word in words_of(text)]


STOP_STEMS = STOP_WORDS | {stem(word) for word in STOP_WORDS}


class WordIndex:
    """Entries by their terms. The rarer a word is among the entries, the more it counts."""

    def __init__(self, entries: Sequence[Terms]) -> None:
        self.size = len(entries)
        self._entries: dict[str, dict[int, float]] = defaultdict(dict)
        for number, terms in enumerate(entries):
            for term, weight in terms.items():
                self._entries[term][number] = weight
        self._by_beginning: dict[str, list[str]] = defaultdict(list)
        for term in self._entries:
            self._by_beginning[term[:MIN_BEGINNING]].append(term)
        self._name_weights = [sum(self._rarity(term) for term, weight in terms.items() if weight == 1) for terms in entries]

    def scores(self, typed: str, *, unfinished: bool = False) -> dict[int, float]:
        """Entry -> score in (0, 1], for those that have a word of the text or one like it; 1: all words, and its whole name.

        unfinished  the last word is still being typed
        """
        words = list(dict.fromkeys(self._joined(words_of(typed))))
        total = sum(self._rarity(stem(word)) for word in words) or 1
        scores: dict[int, float] = defaultdict(float)
        named: dict[int, dict[str, float]] = defaultdict(dict)
        meant = set[int]()  # have more of the text than a word such as "how"
        for position, word in enumerate(words):
            best: dict[int, float] = {}
            for term, likeness in self._terms_like(word, unfinished and position == len(words) - 1):
                for number, weight in self._entries[term].items():
                    best[number] = max(best.get(number, 0), likeness * weight)
                    if weight == 1:
                        named[number][term] = max(named[number].get(term, 0), likeness)
            meant |= best.keys() if stem(word) not in STOP_STEMS else set()
            for number, share in best.items():
                scores[number] += (1 - NAME_SHARE) * self._rarity(stem(word)) * share / total
        for number, terms in named.items():
            said = sum(likeness * self._rarity(term) for term, likeness in terms.items())
            scores[number] += NAME_SHARE * said / self._name_weights[number]
        only_stop_words = all(stem(word) in STOP_STEMS for word in words)
        return {number: score for number, score in scores.items() if only_stop_words or number in meant}

    def _joined(self, words: Sequence[str]) -> Iterator[str]:
        """The words, with "sub let" as "sublet" where the entries have that."""
        left = list(words)
        while left:
            word = left.pop(0)
            if left and stem(word + left[0]) in self._entries and not {stem(word), stem(left[0])} <= self._entries.keys():
                word += left.pop(0)
            yield word

    def _rarity(self, term: str) -> float:
        return log(1 + self.size / max(len(self._entries.get(term, ())), 1)) * (STOP_WEIGHT if term in STOP_STEMS else 1)

    def _terms_like(self, word: str, unfinished: bool) -> Iterator[tuple[str, float]]:
        """The terms of the entries that are the word or like it, with how alike they are."""
        typed = stem(word)
        known = typed in self._entries
        if known:
            yield typed, 1
        if typed in STOP_STEMS and not unfinished:
            return
        # What the entries have is no slip and no part, so only its own beginning is looked for
        candidates = self._by_beginning.get(typed[:MIN_BEGINNING], ()) if known and not unfinished else self._entries
        for term in candidates:
            if term != typed and term not in STOP_STEMS and (likeness := _likeness(word, typed, term, known, unfinished)):
                yield term, likeness


def _likeness(word: str, typed: str, term: str, known: bool, unfinished: bool) -> float:
    """How alike a typed word (its stem: `typed`) and a term are; 0: not. A word that the entries have is no slip of the keys."""
    if unfinished and len(word) > 1 and term.startswith(word):
        return UNFINISHED
    shared, shorter = _shared_beginning(typed, term), min(len(typed), len(term))
    if shared >= MIN_BEGINNING and shared >= 0.75 * shorter:
        return SAME_BEGINNING
    if known:
        return 0
    if len(typed) >= MIN_BEGINNING and _slips(typed, term, 1 if len(typed) < LONG_WORD else 2):
        return SLIP
    rest = len(word) - len(term)
    is_part = (len(term) >= MIN_PART and word.startswith(term)) or (len(term) > MIN_PART and word.endswith(term))
    return PART if is_part and rest >= MIN_REST else 0


def _shared_beginning(one: str, other: str) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _slips(one: str, other: str, most: int) -> bool:
    """Whether at most this many letters are missing, added, wrong or exchanged with the next (Damerau-Levenshtein)."""
    # Comparing letters takes a fiftieth of the time, and nearly all words differ in too many of them
    if abs(len(one) - len(other)) > most or len(set(one) ^ set(other)) > 2 * most:
        return False
    before, row = list[int](), list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        earlier, before, row = before, row, [at]
        for to, wanted in enumerate(other, 1):
            steps = min(before[to] + 1, row[to - 1] + 1, before[to - 1] + (letter != wanted))
            if at > 1 and to > 1 and letter == other[to - 2] and one[at - 2] == wanted:
                steps = min(steps, earlier[to - 2] + 1)
            row.append(steps)
    return row[-1] <= most
