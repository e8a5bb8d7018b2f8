"""Names made of a theme's own words in their own order: what most of its phrases share, quoted from one of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

from audit.pipeline.themes.linkage import NO_THEME, Labels, renumbered
from audit.text.tokens import STOP_WORDS, plain_text, stem

WORD = re.compile(r"\w+(?:'\w+)?")
# A name may be quoted from any of the first few phrases, and is compared with the first two dozen: enough to know what most
# share, and seconds instead of minutes for a thousand themes.
MAX_QUOTED, MAX_COMPARED = 4, 24
# A cut in the middle of brackets or quotation marks leaves half of them.
LOOSE_MARKS = re.compile(r"[()\[\]\"“”]")
# Words that open a phrase like "whether it is a cancer" and carry its meaning, although they are in every text.
OPENING = frozenset(("whether", "when", "who", "how", "which", "what", "why", "where"))
MIN_WORDS = 2


class _Word(NamedTuple):
    start: int
    end: int
    stem: str
    carries_meaning: bool


def theme_name(phrases: Sequence[str], pairs: Sequence[int]) -> str:
    """What the phrases of a theme share, if that is more than a word; else one of them, before a single shared word.

    pairs  how many pairs have each phrase

    A phrase that more than half of the pairs have is the name, or else the shortest with all words that most phrases have.
    """
    shared = shared_phrase(phrases) if len(phrases) > 1 else ""
    if len(phrase_stems(shared)) >= MIN_WORDS:
        return shared
    commonest = max(range(len(phrases)), key=lambda number: pairs[number])
    if 2 * pairs[commonest] > sum(pairs):
        return phrases[commonest]
    times = Counter(stem for phrase in phrases for stem in phrase_stems(phrase))
    frequent = {stem for stem, count in times.items() if 2 * count > len(phrases)}
    complete = [phrase for phrase in phrases if frequent <= phrase_stems(phrase)] if len(frequent) >= MIN_WORDS else []
    return min(complete, key=lambda phrase: len(_words(phrase)), default=shared or phrases[commonest])


def shared_phrase(phrases: Sequence[str]) -> str:
    """The words that more than half of `phrases` have in the same order, quoted from one of them; "" where that is not a phrase.

    "number of lupus types" and "number of Gaucher types" share "number of types": a word that only describes the next one may be
    left out. Where anything else is between the shared words, they would say something else, and there is no name. Words are
    compared by their stems. A single word is enough only where a preposition follows it, as in "prevalence at birth" and
    "prevalence in children": elsewhere it is mostly an adjective, which names nothing.
    """
    return _quoted(*_best_shared(phrases))


def shared_stems(phrases: Sequence[str]) -> frozenset[str]:
    """The stems of the words that more than half of `phrases` have in the same order; none where these name nothing."""
    shared, *_ = _best_shared(phrases)
    return frozenset(word.stem for _, word in shared if word.carries_meaning)


def _best_shared(phrases: Sequence[str]) -> tuple[Sequence[tuple[int, _Word]], Sequence[_Word], str]:
    """The shared words with their places in the phrase that has most of them, all words of that phrase, and the phrase."""
    compared = [_words(phrase) for phrase in phrases[:MAX_COMPARED]]
    quotable = (
        (_shared_words(words, compared), words, phrase) for words, phrase in zip(compared[:MAX_QUOTED], phrases, strict=False)
    )
    return max(quotable, key=lambda quoted: sum(word.carries_meaning for _, word in quoted[0]), default=([], [], ""))


def leading_stem(phrase: str) -> str:
    """The stem of the word before the first preposition or the like: "age" in "usual age at onset"; "" without one."""
    words = _words(phrase)
    before = (word.stem for word, after in pairwise(words) if word.carries_meaning and not after.carries_meaning)
    return next(before, "")


def phrase_stems(phrase: str) -> frozenset[str]:
    """The stems of the words that carry the meaning of a phrase."""
    return frozenset(word.stem for word in _words(phrase) if word.carries_meaning)


def sharing_a_phrase(plain: Sequence[str], labels: Labels) -> Labels:
    """The themes without phrases that only share letters, for phrases that were compared by their words alone.

    A phrase without any of the words that most of its theme share is removed, and a theme that shares nothing is dissolved:
    by letters, "length of remissions" is close to "transmission of infections".
    """
    cleaned = labels.copy()
    for theme in range(int(labels.max(initial=NO_THEME)) + 1):
        rows = (labels == theme).nonzero()[0].tolist()
        stems = shared_stems([plain[row] for row in rows])
        outside = [row for row in rows if not stems & phrase_stems(plain[row])]
        # A single remaining phrase is not a theme either.
        cleaned[rows if len(outside) > len(rows) - MIN_WORDS else outside] = NO_THEME
    return renumbered(cleaned)


def _words(phrase: str) -> list[_Word]:
    matches = ((match.span(), match.group()) for match in WORD.finditer(plain_text(phrase)))
    return [_Word(*span, stem(word), word not in STOP_WORDS) for span, word in matches]


def _shared_words(words: Sequence[_Word], compared: Sequence[Sequence[_Word]]) -> list[tuple[int, _Word]]:
    """The words, with their places, that more than half of the compared phrases have in this order."""
    stems, times = [word.stem for word in words], [0] * len(words)
    for other in compared:
        for start, _, length in SequenceMatcher(None, stems, [word.stem for word in other], autojunk=False).get_matching_blocks():
            for index in range(start, start + length):
                times[index] += 1
    shared = [(index, word) for index, word in enumerate(words) if 2 * times[index] > len(compared)]
    return _trimmed(_cut_at_first_gap(shared)) if _names_something(shared, words) else []


def _names_something(shared: Sequence[tuple[int, _Word]], words: Sequence[_Word]) -> bool:
    meaning = [index for index, word in shared if word.carries_meaning]
    if len(meaning) == 1:
        following = words[meaning[0] + 1 : meaning[0] + 2]
        return len(words) == 1 or any(not word.carries_meaning for word in following)
    return len(meaning) >= MIN_WORDS


def _cut_at_first_gap(shared: Sequence[tuple[int, _Word]]) -> Sequence[tuple[int, _Word]]:
    """The words up to the first gap after which the subject is clear: more gaps would make the name unreadable."""
    meanings = 0
    for number, (index, word) in enumerate(shared):
        if number and index > shared[number - 1][0] + 1 and meanings >= MIN_WORDS:
            return shared[:number]
        meanings += word.carries_meaning
    return shared


def _trimmed(shared: Sequence[tuple[int, _Word]]) -> list[tuple[int, _Word]]:
    first = next(i for i, (_, word) in enumerate(shared) if word.carries_meaning or word.stem in OPENING)
    last = max(i for i, (_, word) in enumerate(shared) if word.carries_meaning)
    return list(shared[first : last + 1])


def _quoted(shared: Sequence[tuple[int, _Word]], words: Sequence[_Word], phrase: str) -> str:
    """The words as they are written in the phrase; "" where more is left out than words that describe the next one."""
    text = ""
    for number, (index, word) in enumerate(shared):
        before, previous = shared[number - 1] if number else (index - 1, word)
        if index > before + 1 and not all(near.carries_meaning for near in words[before + 1 : index + 1]):
            return ""
        between = " " if index > before + 1 else phrase[previous.end : word.start] if number else ""
        text += between + phrase[word.start : word.end]
    return " ".join(LOOSE_MARKS.sub(" ", text).split())
