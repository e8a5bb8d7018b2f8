"""Building a taxonomy: from phrases to named themes on a map."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
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
    MIN_PHRASES,
    WORDS_CUT,
    ThemeBuildOptions,
    given_parents,
    parents_of,
    principal_layout,
    umap_layout,
)
from audit.pipeline.themes.draft import Draft
from audit.pipeline.themes.linkage import NO_THEME, Labels
from audit.pipeline.themes.naming import Namer
from audit.pipeline.themes.phrases import sharing_a_phrase
from audit.release.taxonomy import LEXICAL, Taxonomy, Theme, by_plain_phrase, near_duplicates

UMAP, PRINCIPAL = "umap", "principal"
BASE = ("numpy", "scipy")
FOR_UMAP = ("umap-learn", "numba", "faiss-cpu")
FOR_HDBSCAN = (*FOR_UMAP, "hdbscan", "scikit-learn")
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
    with fixed_threads(options.threads):
        vectors = unit_rows(encoder.encode(list(written), progress))
        labels = _labels(written, vectors, encoder, options, progress)
        draft = _draft(written, vectors, labels, groups or {})
        positions = umap_layout(vectors, options.seed, progress=progress) if options.layout == UMAP else principal_layout(vectors)
        themes = draft.themes(namer, earlier)
        provenance = _provenance(counts, encoder, options) | {"reach": draft.reach()}
    points = _points(draft, themes, positions, counts)
    no_theme = tuple(points.phrase[points.theme_id.isna()].sort_values())
    return Taxonomy(themes, no_theme, provenance, summary(points, themes)), points


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
    written: Mapping[str, Sequence[str]], vectors: Vectors, encoder: Encoder, options: ThemeBuildOptions, progress: Progress
) -> Labels:
    if len(vectors) < MIN_PHRASES:
        return np.full(len(vectors), NO_THEME, dtype=np.int64)
    labels = METHODS[options.method](vectors, options, progress)
    # A model recognises synonyms without shared words; without a model, shared words are the only evidence.
    return sharing_a_phrase(list(written), labels) if encoder.name == LEXICAL else labels


def _draft(written: Mapping[str, Sequence[str]], vectors: Vectors, labels: Labels, groups: Mapping[str, str]) -> Draft:
    subjects = [_commonest([groups[topic] for topic in topics if topic in groups]) for topics in written.values()]
    parents, names = given_parents(subjects, labels)
    return Draft(written, vectors, labels, parents if names else parents_of(vectors, labels), names)


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
