"""Features of a source's probe: peak, mean of the best, margin, entropy, coverage and opening.

Source of all but the opening: S1, DAKS, Algorithm 1. S1 is "Traceable Cross-Source RAG for Chinese Tibetan Medicine Question
Answering" (Chen et al., 2026).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import log

import numpy as np
from numpy.typing import NDArray

from audit.pipeline.retrieval.across.budgets import softmax
from audit.pipeline.retrieval.across.library import ChunkHit, Library
from audit.pipeline.retrieval.across.settings import FEATURES, STANDARDISED, DaksSettings

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Features:
    """One source's features for one question.

    peak      the best score
    mean      mean of the best `top` scores; a chunk that is missing counts 0
    margin    best score less that of place `top`, 0 where the probe is shorter
    entropy   of the softmax of the scores; lower is more concentrated. Over the logarithm of the probe's length it is in [0, 1]
    coverage  different sections among the chunks, as a share of the probe's length
    opening   the part of the question's words, by rarity, that the first characters of one of the best sections have, at most:
              a section about a subject names it at once, one that only mentions it does not
    """

    peak: float
    mean: float
    margin: float
    entropy: float
    coverage: float
    opening: float = 0.0


NOTHING_FOUND = Features(0.0, 0.0, 0.0, 1.0, 0.0)
"""Of a source without a hit: no score at all, and no concentration either."""


def probe_features(scores: Sequence[float], sections: int, settings: DaksSettings) -> Features:
    """The features of scores, best first; `sections`: how many sections they are from."""
    if not scores:
        return replace(NOTHING_FOUND, entropy=log(settings.probe)) if settings.raw_entropy else NOTHING_FOUND
    best = np.zeros(settings.top)
    best[: len(scores)] = scores[: settings.top]
    shares = softmax(np.asarray(scores, dtype=float), settings.entropy_temperature)
    # 0 times log 0 is 0
    positive = shares[shares > 0]
    # A raw entropy is a share of nothing, and that of a probe of one is 0
    most = 1.0 if settings.raw_entropy or settings.probe == 1 else log(settings.probe)
    entropy = abs(float((positive * np.log(positive)).sum())) / most
    return Features(float(best[0]), float(best.mean()), float(best[0] - best[-1]), entropy, sections / settings.probe)


def source_features(
    probes: Mapping[str, Sequence[ChunkHit]], settings: DaksSettings, openings: Mapping[str, float] | None = None
) -> dict[str, Features]:
    """Source -> its features, on one scale (`DaksSettings.scale`). `openings`: source -> its feature of that name, else 0."""
    scores = {source: _calibrated(source, probe, settings) for source, probe in probes.items()}
    best = max((values[0] for values in scores.values() if values), default=1.0)
    features = {}
    for source, probe in probes.items():
        divisor = (scores[source] or [1.0])[0] if settings.scale == STANDARDISED else best
        sections = len({candidate.chunk_id[:2] for candidate in probe[: settings.probe]})
        of_scores = probe_features([score / divisor for score in scores[source]], sections, settings)
        features[source] = replace(of_scores, opening=(openings or {}).get(source, 0.0))
    return standardised(features) if settings.scale == STANDARDISED else features


def opening_matches(
    library: Library, question: str, probes: Mapping[str, Sequence[ChunkHit]], settings: DaksSettings
) -> dict[str, float]:
    """Source -> its feature `opening`, of the sections of its best `top` chunks."""
    rarities, characters = library.rarities(question), settings.opening_characters
    return {
        source: max((library.opening_match(rarities, hit, characters) for hit in probe[: settings.top]), default=0.0)
        for source, probe in probes.items()
    }


def _calibrated(source: str, probe: Sequence[ChunkHit], settings: DaksSettings) -> list[float]:
    divisor = settings.typical_peak.get(source, 1.0)
    return [candidate.score / divisor for candidate in probe[: settings.probe]]


def feature_matrix(features: Mapping[str, Features]) -> Floats:
    """Sources x features, in the order of `FEATURES`."""
    return np.array([[asdict(values)[name] for name in FEATURES] for values in features.values()]).reshape(-1, len(FEATURES))


def standardised(features: Mapping[str, Features]) -> dict[str, Features]:
    """Each feature less its mean over the sources, over its deviation; 0 where all sources have the same."""
    if not features:
        return {}
    matrix = feature_matrix(features)
    deviation = matrix.std(axis=0)
    # A feature that varies only by rounding carries no information, and must not be amplified
    same = deviation < 1e-9
    z = np.where(same, 0.0, (matrix - matrix.mean(axis=0)) / np.where(same, 1.0, deviation))
    return {source: Features(*row) for source, row in zip(features, z.tolist(), strict=True)}
