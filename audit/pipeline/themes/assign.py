"""Assigns new phrases to an existing taxonomy without rebuilding it, so a re-judged run can be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from audit.errors import ThemesError
from audit.pipeline.embedding.encoders import Encoder, words_encoder
from audit.pipeline.embedding.vectors import Progress, Vectors, fixed_threads, nearest, no_progress, unit_rows
from audit.pipeline.themes.build import summary
from audit.pipeline.themes.clusters import CUT
from audit.pipeline.themes.linkage import Labels
from audit.release.taxonomy import MAX_EXEMPLARS, Taxonomy, Theme, by_plain_phrase, plain_phrase


def words_encoder_of(taxonomy: Taxonomy) -> Encoder:
    """The encoder without a model that `taxonomy` was built with: rare words are those that were rare there."""
    return words_encoder(list(by_plain_phrase(taxonomy.theme_of())))


def assign(
    taxonomy: Taxonomy,
    points: pd.DataFrame | None,
    counts: Mapping[str, int],
    encoder: Encoder,
    *,
    max_distance: float | None = None,
    threads: int = 1,
    progress: Progress = no_progress,
) -> tuple[Taxonomy, pd.DataFrame]:
    """The same themes with the phrases of `counts` instead of their own, and their map.

    A phrase that the taxonomy knows, in any wording with the same plain form, keeps its theme, or keeps having none. Any other
    goes to the theme of the nearest exemplar, if that lies within `max_distance` (cosine; by
    default the taxonomy's own reach), else to none. On the map it is placed at its nearest exemplar.

    points  the map of the taxonomy; without one, new phrases are at NaN
    The counts gain `known_topics`, `assigned_topics` and `beyond_reach_topics`: distinct phrases of each kind.

    Raises ThemesError when the taxonomy was built with another encoder, there is nothing to assign, or FAISS is missing.
    """
    _check_same_encoder(taxonomy, counts, encoder)
    known = {plain_phrase(topic): theme for topic, theme in taxonomy.theme_of().items()}
    written = by_plain_phrase(counts)
    new = [phrase for phrase in written if phrase not in known]
    exemplars = [(phrase, theme.theme_id) for theme in taxonomy.leaves for phrase in _exemplars(theme)]
    # A taxonomy from elsewhere has no reach; the distance up to which we cluster is the next best.
    limit = float(taxonomy.built.get("reach", CUT)) if max_distance is None else max_distance
    with fixed_threads(threads):
        closest, distances = _closest(new, [phrase for phrase, _ in exemplars], encoder, progress)
    assigned = {
        phrase: exemplars[row] for phrase, row, distance in zip(new, closest, distances, strict=True) if distance <= limit
    }
    theme_of = known | {phrase: theme for phrase, (_, theme) in assigned.items()}
    # UMAP's model is not stored with the map, so a new phrase takes the position of its nearest exemplar.
    anchors = {phrase: exemplars[row][0] for phrase, row in zip(new, closest, strict=True)}
    moved = _points(written, theme_of, anchors, points, counts)
    kinds = {"known_topics": 0, "assigned_topics": 0, "beyond_reach_topics": 0}
    for phrase, topics in written.items():
        kind = "known_topics" if phrase in known else "assigned_topics" if phrase in assigned else "beyond_reach_topics"
        kinds[kind] += len(topics)
    return _with_topics(taxonomy, moved, kinds, limit), moved


def _check_same_encoder(taxonomy: Taxonomy, counts: Mapping[str, int], encoder: Encoder) -> None:
    if not counts or not taxonomy.leaves:
        raise ThemesError(f"There is no {'theme' if counts else 'phrase'} to assign. Nothing was written.")
    # Cosines of different models are not comparable.
    built_with = taxonomy.built.get("model_sha256")
    if built_with and built_with != encoder.digest:
        raise ThemesError(
            f"The taxonomy was built with {taxonomy.built.get('model')} ({built_with[:12]}...), not with {encoder.name} "
            f"({encoder.digest[:12]}...); the distances are not comparable. Nothing was written. Name that model with --model."
        )


def _exemplars(theme: Theme) -> Sequence[str]:
    """A theme from elsewhere may have no exemplars; its first phrases then serve as exemplars."""
    return theme.exemplars or [plain_phrase(topic) for topic in theme.topics[:MAX_EXEMPLARS]] or [plain_phrase(theme.name)]


def _closest(new: Sequence[str], exemplars: Sequence[str], encoder: Encoder, progress: Progress) -> tuple[Labels, Vectors]:
    """Row of the nearest exemplar of each new phrase, and the cosine distance to it."""
    if not new:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32)
    distinct = list(dict.fromkeys([*exemplars, *new]))
    row = {phrase: number for number, phrase in enumerate(distinct)}
    vectors = unit_rows(encoder.encode(distinct, progress))
    similarity, rows = nearest(vectors[[row[phrase] for phrase in exemplars]], vectors[[row[phrase] for phrase in new]], 1)
    return rows[:, 0], 1 - similarity[:, 0]


def _points(
    written: Mapping[str, Sequence[str]],
    theme_of: Mapping[str, str | None],
    anchors: Mapping[str, str],
    points: pd.DataFrame | None,
    counts: Mapping[str, int],
) -> pd.DataFrame:
    positions: dict[str, tuple[float, float]] = {}
    if points is not None:
        positions = {plain_phrase(phrase): (x, y) for phrase, x, y in zip(points.phrase, points.x, points.y, strict=True)}
    rows = [
        (topic, theme_of.get(plain), *positions.get(anchors.get(plain, plain), (np.nan, np.nan)), counts[topic])
        for plain, topics in written.items()
        for topic in topics
    ]
    frame = pd.DataFrame(rows, columns=["phrase", "theme_id", "x", "y", "count"])
    return frame.astype({"phrase": "str", "theme_id": "str", "x": "float32", "y": "float32", "count": "int32"})


def _with_topics(taxonomy: Taxonomy, points: pd.DataFrame, kinds: Mapping[str, int], limit: float) -> Taxonomy:
    topics = {str(name): tuple(sorted(group)) for name, group in points.groupby("theme_id").phrase}
    themes = tuple(replace(theme, topics=topics.get(theme.theme_id, ())) for theme in taxonomy.themes)
    return replace(
        taxonomy,
        themes=themes,
        no_theme=tuple(sorted(points.phrase[points.theme_id.isna()])),
        built={**taxonomy.built, "assigned_from": taxonomy.sha256, "max_distance": limit},
        counts={**summary(points, themes), **kinds},
        map={},
    )
