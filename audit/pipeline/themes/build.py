"""Building a taxonomy: from phrases to named themes on a map."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd

from audit import __version__
from audit.errors import ThemesError
from audit.pipeline.embedding.encoders import Encoder
from audit.pipeline.embedding.vectors import Progress, Vectors, fixed_threads, no_progress, unit_rows
from audit.pipeline.themes.clusters import (
    CUT,
    METHODS,
    WORDS_CUT,
    ThemeBuildOptions,
    given_parents,
    parents_of,
    principal_layout,
    sums_by,
    umap_layout,
    with_frequent,
)
from audit.pipeline.themes.leftovers import coarser_themes
from audit.pipeline.themes.linkage import NO_THEME, Labels
from audit.pipeline.themes.naming import Card, Namer, exemplars_by, named, terms_by
from audit.pipeline.themes.phrases import shared_phrase, sharing_a_phrase, theme_name
from audit.release.taxonomy import LEXICAL, Taxonomy, Theme, by_plain_phrase, near_duplicates, plain_phrase, shown_phrase

UMAP, PRINCIPAL = "umap", "principal"
BASE = ("numpy", "scipy")
FOR_UMAP = ("umap-learn", "numba", "faiss-cpu")
FOR_HDBSCAN = (*FOR_UMAP, "hdbscan", "scikit-learn")
MIN_VECTORS = 2
FOR_MODELS = ("sentence-transformers", "transformers", "torch")


def build_taxonomy(
    counts: Mapping[str, int],
    encoder: Encoder,
    options: ThemeBuildOptions | None = None,
    *,
    groups: Mapping[str, str] | None = None,
    namer: Namer | None = None,
    earlier: Taxonomy | None = None,
    progress: Progress = no_progress,
) -> tuple[Taxonomy, pd.DataFrame]:
    """The taxonomy of some phrases, and the map: phrase, theme_id, x, y, count, one row per distinct phrase.

    counts   phrase, as the release has it -> how often it occurs there
    encoder  called once, with every distinct plain phrase (see `audit.release.taxonomy`)
    groups   phrase -> a subject that people know, such as the topic of its questions: parents are those, unless they are
    uninformative
    namer    names themes and parents; without one they are called by what their phrases share, or by one of these
    earlier  an earlier taxonomy: a theme keeps the id of the one there with which it shares most phrases

    Phrases without a theme are listed and counted, not hidden. Raises ThemesError when there are no phrases, the
    method is unknown, or a library it needs is missing.
    """
    options = _resolved(counts, encoder, options or ThemeBuildOptions())
    written = by_plain_phrase(counts)
    groups = groups or {}
    with fixed_threads(options.threads):
        vectors = unit_rows(encoder.encode(list(written), progress))
        weights = np.array([sum(counts[topic] for topic in topics) for topics in written.values()], dtype=np.int64)
        fine = _labels(list(written), vectors, weights, encoder, options, progress)
        subjects = [_commonest([groups[topic] for topic in topics if topic in groups]) for topics in written.values()]
        # A given number of themes already says how coarse they are.
        labels, names = fine, dict[int, str]()
        if options.target is None:
            labels, names = coarser_themes(list(written), weights, fine, subjects, by_words=encoder.name == LEXICAL)
        draft = _draft(written, counts, vectors, labels, subjects, names)
        positions = umap_layout(vectors, options.seed, progress=progress) if options.layout == UMAP else principal_layout(vectors)
        themes = draft.themes(namer, earlier)
        provenance = _provenance(counts, encoder, options) | {"reach": _reach(list(written), vectors, fine)}
    points = _points(draft, themes, positions, counts)
    no_theme = tuple(points.phrase[points.theme_id.isna()].sort_values())
    coarse = {"coarse_themes": len(np.unique(labels[(labels != NO_THEME) & (fine == NO_THEME)]))}
    return Taxonomy(themes, no_theme, provenance, summary(points, themes) | coarse), points


def _resolved(counts: Mapping[str, int], encoder: Encoder, options: ThemeBuildOptions) -> ThemeBuildOptions:
    """The options with every choice made, so the artefact shows what was used."""
    if not counts:
        raise ThemesError(
            "There are no phrases to group into themes. Nothing was built. Choose a run whose pairs have divergence topics."
        )
    if options.method not in METHODS:
        raise ThemesError(f"Method '{options.method}' is unknown. Nothing was built. Allowed: {', '.join(METHODS)}.")
    installed = UMAP if find_spec("umap") and find_spec("faiss") else PRINCIPAL
    cut = options.cut if options.cut is not None else WORDS_CUT if encoder.name == LEXICAL else CUT
    return replace(options, layout=options.layout or installed, cut=cut)


def _labels(
    plain: Sequence[str], vectors: Vectors, weights: Labels, encoder: Encoder, options: ThemeBuildOptions, progress: Progress
) -> Labels:
    def finished(labels: Labels) -> Labels:
        # A model recognises synonyms without shared words; without a model, shared words are the only evidence.
        return with_frequent(sharing_a_phrase(plain, labels) if encoder.name == LEXICAL else labels, weights)

    method, alone = METHODS[options.method], np.full(len(vectors), NO_THEME, dtype=np.int64)
    return method(vectors, weights, options, progress, finished) if len(vectors) >= MIN_VECTORS else finished(alone)


def _draft(
    written: Mapping[str, Sequence[str]],
    counts: Mapping[str, int],
    vectors: Vectors,
    labels: Labels,
    subjects: Sequence[str | None],
    names: Mapping[int, str],
) -> Draft:
    parents, parent_names = given_parents(subjects, labels)
    return Draft(written, counts, vectors, labels, parents if parent_names else parents_of(vectors, labels), parent_names, names)


def _commonest(names: Sequence[str]) -> str | None:
    return min(names, key=lambda name: (-names.count(name), name)) if names else None


def _points(draft: Draft, themes: Sequence[Theme], positions: Vectors, counts: Mapping[str, int]) -> pd.DataFrame:
    theme_of = {topic: theme.theme_id for theme in themes for topic in theme.topics}
    rows = [(topic, row) for row, plain in enumerate(draft.plain) for topic in draft.written[plain]]
    phrases, order = [topic for topic, _ in rows], [row for _, row in rows]
    frame = pd.DataFrame({"phrase": phrases, "theme_id": [theme_of.get(topic) for topic in phrases]}, dtype="str")
    return frame.assign(
        x=positions[order, 0], y=positions[order, 1], count=np.array([counts[topic] for topic in phrases], dtype=np.int32)
    )


def summary(points: pd.DataFrame, themes: Sequence[Theme]) -> dict[str, Any]:
    """The size of a taxonomy, in numbers; `points` as `build_taxonomy` returns them.

    phrases, topics                        occurrences, and distinct phrases
    themes, parents                        counts
    no_theme_phrases, no_theme_topics      the same of phrases without a theme
    near_duplicate_names                   share of themes with nearly the same name as another, in [0, 1]
    """
    leaves = Taxonomy(tuple(themes)).leaves
    without = points.theme_id.isna()
    similar = {number for pair in near_duplicates([theme.name for theme in leaves]) for number in pair}
    return {
        "phrases": int(points["count"].sum()),
        "topics": len(points),
        "themes": len(leaves),
        "parents": len(themes) - len(leaves),
        "no_theme_phrases": int(points["count"][without].sum()),
        "no_theme_topics": int(without.sum()),
        "near_duplicate_names": round(len(similar) / len(leaves), 4) if leaves else 0.0,
    }


def _provenance(counts: Mapping[str, int], encoder: Encoder, options: ThemeBuildOptions) -> dict[str, object]:
    """How the taxonomy was built; without a date, so the same build gives the same bytes."""
    digest = hashlib.sha256(json.dumps(sorted(counts.items()), ensure_ascii=False).encode("utf-8", "surrogatepass")).hexdigest()
    libraries = {
        *BASE,
        *(FOR_UMAP if options.layout == UMAP else ()),
        *(FOR_HDBSCAN if options.method == "hdbscan" else ()),
        *(FOR_MODELS if encoder.name != LEXICAL else ()),
    }
    return {
        **asdict(options),
        "model": encoder.name,
        "model_sha256": encoder.digest,
        "input_sha256": digest,
        "versions": {"audit": __version__, **{name: installed for name in sorted(libraries) if (installed := _version(name))}},
    }


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


# -- clustered phrases on their way to themes: groups, exemplars, names and ids ------------------------------

THEME_PREFIX, PARENT_PREFIX = "t-", "p-"
ID_DIGITS = 10
# Share of the members that lie within the reach of an exemplar of their own theme.
REACH_QUANTILE = 0.95


@dataclass(frozen=True)
class Draft:
    """Plain phrases with their vectors and theme numbers, and a parent number per theme (-1: none).

    written       plain phrase -> the phrases, as the release has them, that have this plain form
    counts        phrase, as the release has it -> its pairs
    parent_names  the names of the parents by number, if the caller chose them; else they are generated
    names         theme number -> its name, of themes that were made of a subject
    """

    written: Mapping[str, Sequence[str]]
    counts: Mapping[str, int]
    vectors: Vectors
    labels: Labels
    parents: Labels
    parent_names: Sequence[str] = ()
    names: Mapping[int, str] = field(default_factory=dict)

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
        return [
            Card(words, self._display(rows[0]), tuple(map(self._display, rows)), self._name(theme, rows))
            for theme, (words, rows) in enumerate(zip(terms, self.exemplars, strict=True))
        ]

    def _name(self, theme: int, exemplars: Sequence[int]) -> str:
        """The subject that a theme was made of, or what its phrases say, the medoid first."""
        rows = [exemplars[0], *(row for row in np.flatnonzero(self.labels == theme).tolist() if row != exemplars[0])]
        pairs = [sum(self.counts[phrase] for phrase in self.written[self.plain[row]]) for row in rows]
        return self.names.get(theme) or theme_name([self._display(row) for row in rows], pairs)

    def _display(self, row: int) -> str:
        """A plain phrase as people read it: spelled as most of its pairs have it."""
        wordings = self.written[self.plain[row]]
        return shown_phrase(min(wordings, key=lambda phrase: (-self.counts[phrase], len(phrase), phrase)))

    def parent_cards(self, cards: Sequence[Card], names: Sequence[str]) -> list[Card]:
        """The naming data of each parent; its medoid is the name of the theme nearest to the parent's mean."""
        family_of = [int(self.parents[label]) if label >= 0 else -1 for label in self.labels]
        terms = terms_by(self.plain, family_of, len(self.families))
        sums = sums_by(self.vectors, self.labels)
        parent_cards = []
        for words, family in zip(terms, self.families, strict=True):
            medoids = [cards[theme].medoid for theme in family]
            # A theme of words that are in every phrase has no direction: it is never in the middle
            lengths = np.maximum(np.linalg.norm(sums[family], axis=1), np.finfo(np.float32).tiny)
            middle = int((sums[family] @ sums[family].sum(axis=0) / lengths).argmax())
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


def _reach(plain: Sequence[str], vectors: Vectors, labels: Labels) -> float:
    """The cosine distance within which 95 % of members have another exemplar of their theme; 0 where no theme has several.

    labels   before coarser themes are added: how far their phrases are apart says nothing about a new phrase
    """
    distances = [_distances(vectors, labels, rows) for rows in exemplars_by(plain, vectors, labels) if len(rows) > 1]
    # Rounded, because the last bits differ between processors and would change the digest of the file.
    return round(float(np.quantile(np.concatenate(distances), REACH_QUANTILE)), 4) if distances else 0.0


def _distances(vectors: Vectors, labels: Labels, exemplars: Sequence[int]) -> Vectors:
    members = np.flatnonzero(labels == labels[exemplars[0]])
    similar = vectors[members] @ vectors[exemplars].T
    similar[members[:, None] == np.array(exemplars)] = -1  # the distance of an exemplar to itself says nothing about new phrases
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
