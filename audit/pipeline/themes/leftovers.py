"""Coarser themes for phrases that no theme took, where these are many: by shared words, by their first noun, by the question.

In a run on many unrelated subjects hardly two phrases are about the same matter, and what their pairs have in common is the kind
of difference: "age at onset", "age of highest occurrence". Elsewhere such words connect what does not belong together, so nothing
here is done where few pairs are left over.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from audit.pipeline.embedding.encoders import lexical_vectors
from audit.pipeline.themes.clusters import LARGEST_GROUP, MIN_PAIRS, WORDS_CUT, ThemeBuildOptions, by_average
from audit.pipeline.themes.linkage import NO_THEME, Labels
from audit.pipeline.themes.phrases import leading_stem, phrase_stems, shared_stems, sharing_a_phrase

# Share of pairs without a theme up to which they are left alone.
MAX_LEFT = 0.2


def coarser_themes(
    plain: Sequence[str], weights: Labels, labels: Labels, subjects: Sequence[str | None]
) -> tuple[Labels, dict[int, str]]:
    """The themes with coarser ones added until at most a fifth of pairs has none, or nothing more is shared.

    weights   pairs that share each phrase
    subjects  per phrase: what its questions are about, where that is known

    Also the subject of each theme that was made of one, by the number of the theme.
    """
    draft = _Leftovers(plain, weights, labels.copy(), subjects)
    for step in (draft.group_by_words, draft.group_by_leading_word, draft.group_by_subject):
        if draft.share > MAX_LEFT:
            step()
    return draft.labels, draft.names


class _Leftovers:
    """Phrases with their themes so far. Every step adds themes, and takes no phrase from one."""

    def __init__(self, plain: Sequence[str], weights: Labels, labels: Labels, subjects: Sequence[str | None]) -> None:
        self.plain, self.weights, self.labels, self.subjects = plain, weights, labels, subjects
        self.stems = [phrase_stems(phrase) for phrase in plain]
        self.names: dict[int, str] = {}

    @property
    def rows(self) -> list[int]:
        """The rows of the phrases without a theme."""
        return np.flatnonzero(self.labels == NO_THEME).tolist()

    @property
    def share(self) -> float:
        """The share of pairs without a theme."""
        return float(self.weights[self.rows].sum() / self.weights.sum())

    def shared(self) -> list[frozenset[str]]:
        """What the phrases of each theme share; nothing where the theme is one phrase."""
        members: defaultdict[int, list[str]] = defaultdict(list)
        for phrase, label in zip(self.plain, self.labels.tolist(), strict=True):
            members[label].append(phrase)
        themes = (members[theme] for theme in range(int(self.labels.max(initial=NO_THEME)) + 1))
        return [shared_stems(phrases) if len(phrases) > 1 else frozenset() for phrases in themes]

    def words_of_several(self) -> set[str]:
        """The words that more than one theme shares: the kind of difference that they name is found everywhere in this run."""
        themes_of = Counter(stem for stems in self.shared() for stem in stems)
        return {word for word, count in themes_of.items() if count > 1}

    def add(self, rows: Sequence[int], theme: int | None = None) -> int:
        """Put phrases into a theme, by default a new one; its number."""
        theme = int(self.labels.max(initial=NO_THEME)) + 1 if theme is None else theme
        self.labels[list(rows)] = theme
        return theme

    def group_by_words(self) -> None:
        """Cluster what is left by words: a sentence model may find every phrase too far from all others."""
        rows = np.array(self.rows)
        phrases = [self.plain[row] for row in rows]
        options = ThemeBuildOptions(cut=WORDS_CUT)
        found = by_average(lexical_vectors(phrases, phrases), self.weights[rows], options) if len(rows) > 1 else rows * 0 - 1
        found = sharing_a_phrase(phrases, found)
        everywhere = self.words_of_several()
        for theme in range(int(found.max(initial=NO_THEME)) + 1):
            members = rows[found == theme].tolist()
            if not shared_stems([self.plain[row] for row in members]) <= everywhere:
                self.add(members)

    def group_by_leading_word(self) -> None:
        """Group by the noun before the first preposition of one of the phrases, the commonest first: "age at", "cause of"."""
        alone = {next(iter(stems)): theme for theme, stems in enumerate(self.shared()) if len(stems) == 1}
        rows = self.rows
        words = ({leading_stem(self.plain[row]) for row in rows} | alone.keys()) - {""} - self.words_of_several()
        while words:
            members = {word: [row for row in rows if word in self.stems[row]] for word in words}
            pairs = {word: int(self.weights[own].sum()) for word, own in members.items()}
            word = min(words, key=lambda word: (-pairs[word], word))
            if not members[word]:
                return
            if word in alone or pairs[word] >= MIN_PAIRS:
                self.add(members[word], alone.get(word))
                rows = [row for row in rows if row not in set(members[word])]
            words.remove(word)

    def group_by_subject(self) -> None:
        """Group by what the questions are about, unless that is the same for most: the last thing that a reader can go by."""
        pairs: Counter[str] = Counter()
        for subject, weight in zip(self.subjects, self.weights.tolist(), strict=True):
            pairs.update({subject: weight} if subject else {})
        shared = {stems: theme for theme, stems in reversed([*enumerate(self.shared())]) if stems}
        for subject in sorted(name for name, count in pairs.items() if count <= LARGEST_GROUP * self.weights.sum()):
            rows = [row for row in self.rows if self.subjects[row] == subject]
            same = shared.get(phrase_stems(subject))
            if rows and (same is not None or self.weights[rows].sum() >= MIN_PAIRS):
                self.names[self.add(rows, same)] = subject
