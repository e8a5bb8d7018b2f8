"""Clustered phrases on their way to themes: groups, exemplars, names and ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from audit.embedding.vectors import Vectors
from audit.themes.basis import Labels
from audit.themes.clusters import sums_by
from audit.themes.ids import kept_ids
from audit.themes.naming import Card, Namer, exemplars_by, named, terms_by
from audit.themes.phrases import plain_phrase, shown_phrase
from audit.themes.taxonomy import Taxonomy, Theme

THEME, PARENT = "t-", "p-"
WITHIN_REACH = 0.95
"""Share of the members of themes that lie within reach of an exemplar of their own."""


@dataclass(frozen=True)
class Draft:
    """Plain phrases with their vectors and theme numbers, and a parent number per theme.

    written  plain phrase -> the phrases, as the release has them, that are written so
    """

    written: Mapping[str, Sequence[str]]
    vectors: Vectors
    labels: Labels
    parents: Labels

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
        """What there is to name each theme by."""
        terms = terms_by(self.plain, self.labels.tolist(), len(self.groups))
        phrases = [tuple(self._shown(row) for row in rows) for rows in self.exemplars]
        return [Card(words, mine[0], mine) for words, mine in zip(terms, phrases, strict=True)]

    def _shown(self, row: int) -> str:
        """A plain phrase as people read it: in the case of the shortest of its wordings."""
        return shown_phrase(min(self.written[self.plain[row]], key=lambda phrase: (len(phrase), phrase)))

    def parent_cards(self, cards: Sequence[Card], names: Sequence[str]) -> list[Card]:
        """What there is to name each parent by; its medoid is that of the theme nearest to the parent's mean."""
        family_of = [int(self.parents[label]) if label >= 0 else -1 for label in self.labels]
        terms = terms_by(self.plain, family_of, len(self.families))
        sums = sums_by(self.vectors, self.labels)
        found = []
        for words, family in zip(terms, self.families, strict=True):
            medoids = [cards[theme].medoid for theme in family]
            middle = int((sums[family] @ sums[family].sum(axis=0) / np.linalg.norm(sums[family], axis=1)).argmax())
            found.append(Card(words, medoids[middle], tuple(medoids), tuple(names[theme] for theme in family)))
        return found

    def themes(self, namer: Namer | None, earlier: Taxonomy | None) -> tuple[Theme, ...]:
        """Parents first, then the themes in the order of their numbers."""
        cards = self.cards()
        names = named(cards, namer)
        parent_cards = self.parent_cards(cards, [name for name, _ in names])
        ids = kept_ids(self.groups, _held(earlier), THEME)
        members = [[phrase for theme in family for phrase in self.groups[theme]] for family in self.families]
        parent_ids = kept_ids(members, _held_by_parents(earlier), PARENT)
        parents = [
            Theme(own_id, name, None, (), card.terms, card.medoid, (), source)
            for own_id, card, (name, source) in zip(parent_ids, parent_cards, named(parent_cards, namer), strict=True)
        ]
        leaves = [
            Theme(own_id, name, parent_ids[parent], self._topics(group), card.terms, card.medoid, card.exemplars, source)
            for own_id, parent, group, card, (name, source) in zip(ids, self.parents, self.groups, cards, names, strict=True)
        ]
        return (*parents, *leaves)

    def _topics(self, group: Sequence[str]) -> tuple[str, ...]:
        return tuple(sorted(topic for phrase in group for topic in self.written[phrase]))

    def reach(self) -> float:
        """Cosine distance to another exemplar of their own theme that 95 % of members keep; 0 without themes."""
        apart = [self._apart(theme, rows) for theme, rows in enumerate(self.exemplars)]
        return round(float(np.quantile(np.concatenate(apart), WITHIN_REACH)), 4) if apart else 0.0

    def _apart(self, theme: int, rows: Sequence[int]) -> Vectors:
        members = np.flatnonzero(self.labels == theme)
        similar = self.vectors[members] @ self.vectors[rows].T
        similar[members[:, None] == np.array(rows)] = -1  # an exemplar says nothing of how far new phrases may lie from it
        return np.asarray(1 - similar.max(axis=1))


def _held(earlier: Taxonomy | None) -> dict[str, list[str]]:
    leaves = earlier.leaves if earlier else ()
    return {theme.theme_id: [plain_phrase(topic) for topic in theme.topics] for theme in leaves}


def _held_by_parents(earlier: Taxonomy | None) -> dict[str, list[str]]:
    held: dict[str, list[str]] = {}
    for theme in earlier.leaves if earlier else ():
        if theme.parent_id is not None:
            held.setdefault(theme.parent_id, []).extend(plain_phrase(topic) for topic in theme.topics)
    return held
