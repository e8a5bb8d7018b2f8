"""Clustered phrases on their way to themes: groups, exemplars, names and ids."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from audit.pipeline.embedding.vectors import Vectors
from audit.pipeline.themes.clusters import sums_by
from audit.pipeline.themes.linkage import Labels
from audit.pipeline.themes.naming import Card, Namer, exemplars_by, named, terms_by
from audit.pipeline.themes.phrases import shared_phrase
from audit.release.taxonomy import Taxonomy, Theme, plain_phrase, shown_phrase

THEME_PREFIX, PARENT_PREFIX = "t-", "p-"
ID_DIGITS = 10
# Share of the members that lie within the reach of an exemplar of their own theme.
REACH_QUANTILE = 0.95


@dataclass(frozen=True)
class Draft:
    """Plain phrases with their vectors and theme numbers, and a parent number per theme (-1: none).

    written       plain phrase -> the phrases, as the release has them, that have this plain form
    parent_names  the names of the parents by number, if the caller chose them; else they are generated
    """

    written: Mapping[str, Sequence[str]]
    vectors: Vectors
    labels: Labels
    parents: Labels
    parent_names: Sequence[str] = ()

    @cached_property
    def plain(self) -> list[str]:
        """The plain phrases, in the order of the vectors."""
        return list(self.written)

    @cached_property
    def groups(self) -> list[list[str]]:
        """The plain phrases of each theme."""
        return [[self.plain[i] for i in np.flatnonzero(self.labels == theme)] for theme in range(len(self.parents))]

    @cached_property
    def families(self) -> list[list[int]]:
        """The numbers of the themes of each parent."""
        return [np.flatnonzero(self.parents == parent).tolist() for parent in range(int(self.parents.max(initial=-1)) + 1)]

    @cached_property
    def exemplars(self) -> list[list[int]]:
        """Rows of the exemplars of each theme, the medoid first."""
        return exemplars_by(self.plain, self.vectors, self.labels)

    def cards(self) -> list[Card]:
        """The naming data of each theme."""
        terms = terms_by(self.plain, self.labels.tolist(), len(self.groups))
        phrases = [tuple(self._display(row) for row in rows) for rows in self.exemplars]
        shared = [
            shared_phrase([exemplars[0], *self._other_phrases(rows)])
            for exemplars, rows in zip(phrases, self.exemplars, strict=True)
        ]
        return [
            Card(words, exemplars[0], exemplars, common) for words, exemplars, common in zip(terms, phrases, shared, strict=True)
        ]

    def _other_phrases(self, exemplars: Sequence[int]) -> list[str]:
        """All phrases of a theme but its medoid, as people read them."""
        members = np.flatnonzero(self.labels == self.labels[exemplars[0]])
        return [self._display(int(row)) for row in members if row != exemplars[0]]

    def _display(self, row: int) -> str:
        """A plain phrase as people read it: spelled as the shortest of its wordings."""
        return shown_phrase(min(self.written[self.plain[row]], key=lambda phrase: (len(phrase), phrase)))

    def parent_cards(self, cards: Sequence[Card], names: Sequence[str]) -> list[Card]:
        """The naming data of each parent; its medoid is the name of the theme nearest to the parent's mean."""
        family_of = [int(self.parents[label]) if label >= 0 else -1 for label in self.labels]
        terms = terms_by(self.plain, family_of, len(self.families))
        sums = sums_by(self.vectors, self.labels)
        parent_cards = []
        for words, family in zip(terms, self.families, strict=True):
            medoids = [cards[theme].medoid for theme in family]
            middle = int((sums[family] @ sums[family].sum(axis=0) / np.linalg.norm(sums[family], axis=1)).argmax())
            below = tuple(names[theme] for theme in family)
            parent_cards.append(Card(words, below[middle], tuple(medoids), shared_phrase(below), below))
        return parent_cards

    def themes(self, namer: Namer | None, earlier: Taxonomy | None) -> tuple[Theme, ...]:
        """Parents first, then the themes in the order of their numbers."""
        cards = self.cards()
        names = named(cards, namer)
        parent_cards = self.parent_cards(cards, [name for name, _ in names])
        ids = kept_ids(self.groups, _phrases_of(earlier), THEME_PREFIX)
        members = [[phrase for theme in family for phrase in self.groups[theme]] for family in self.families]
        parent_ids = kept_ids(members, _phrases_of_parents(earlier), PARENT_PREFIX)
        parents = [
            Theme(own_id, name, None, (), card.terms, card.medoid, (), source)
            for own_id, card, (name, source) in zip(
                parent_ids, parent_cards, self._named_parents(parent_cards, namer), strict=True
            )
        ]
        above = dict(enumerate(parent_ids))
        leaves = [
            Theme(own_id, name, above.get(int(parent)), self._topics(group), card.terms, card.medoid, card.exemplars, source)
            for own_id, parent, group, card, (name, source) in zip(ids, self.parents, self.groups, cards, names, strict=True)
        ]
        return (*parents, *leaves)

    def _named_parents(self, cards: Sequence[Card], namer: Namer | None) -> list[tuple[str, str]]:
        return [(name, "given") for name in self.parent_names] if self.parent_names else named(cards, namer)

    def _topics(self, group: Sequence[str]) -> tuple[str, ...]:
        return tuple(sorted(topic for phrase in group for topic in self.written[phrase]))

    def reach(self) -> float:
        """The cosine distance within which 95 % of members have another exemplar of their theme; 0 without themes."""
        distances = [self._distances(theme, rows) for theme, rows in enumerate(self.exemplars)]
        # Rounded, because the last bits differ between processors and would change the digest of the file.
        return round(float(np.quantile(np.concatenate(distances), REACH_QUANTILE)), 4) if distances else 0.0

    def _distances(self, theme: int, rows: Sequence[int]) -> Vectors:
        members = np.flatnonzero(self.labels == theme)
        similar = self.vectors[members] @ self.vectors[rows].T
        similar[members[:, None] == np.array(rows)] = -1  # the distance of an exemplar to itself says nothing about new phrases
        return np.asarray(1 - similar.max(axis=1))


def _phrases_of(earlier: Taxonomy | None) -> dict[str, list[str]]:
    leaves = earlier.leaves if earlier else ()
    return {theme.theme_id: [plain_phrase(topic) for topic in theme.topics] for theme in leaves}


def _phrases_of_parents(earlier: Taxonomy | None) -> dict[str, list[str]]:
    phrases: dict[str, list[str]] = {}
    for theme in earlier.leaves if earlier else ():
        if theme.parent_id is not None:
            phrases.setdefault(theme.parent_id, []).extend(plain_phrase(topic) for topic in theme.topics)
    return phrases


def theme_id(phrases: Sequence[str], prefix: str) -> str:
    """The smallest hash among the plain phrases of a theme.

    Two builds give a theme the same id with a probability equal to the share of phrases that its two versions have in common
    (of all phrases in either: min-hash, Broder 1997); the medoid of a theme would change more easily.
    """
    return prefix + min(hashlib.sha256(phrase.encode()).hexdigest() for phrase in phrases)[:ID_DIGITS]


def kept_ids(groups: Sequence[Sequence[str]], earlier: Mapping[str, Sequence[str]], prefix: str) -> list[str]:
    """An id per group of phrases: that of the earlier theme with which it shares most, where each is the other's closest.

    groups   the phrases of each new theme
    earlier  id of an earlier theme -> its phrases; empty: every id comes from the phrases alone

    Groups that share nothing with an earlier theme, or less than another group does, get the id of their own phrases.
    """
    owner = {phrase: name for name, phrases in earlier.items() for phrase in phrases}
    shared = [Counter(owner[phrase] for phrase in group if phrase in owner) for group in groups]
    heirs: dict[str, tuple[int, int]] = {}
    for number, counter in enumerate(shared):
        for name, count in sorted(counter.items(), key=lambda item: (-item[1], item[0]))[:1]:
            # The first group wins a tie, so the same build gives the same ids.
            heirs[name] = max(heirs.get(name, (0, 0)), (count, -number))
    inherited = {-number: name for name, (_, number) in heirs.items()}
    taken = set(inherited.values())
    return [inherited.get(number) or _unused_id(theme_id(group, prefix), taken) for number, group in enumerate(groups)]


def _unused_id(name: str, taken: set[str]) -> str:
    """`name`, or `name` with letters appended where an inherited id is already in use."""
    while name in taken:
        name += "x"
    taken.add(name)
    return name
