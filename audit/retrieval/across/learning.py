"""Settings of DAKS chosen on questions whose primary source is known: calibrated scores, and weights by logistic regression."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mean

import numpy as np

from audit.optional_imports import optional
from audit.retrieval.across.features import feature_matrix, source_features
from audit.retrieval.across.library import ChunkHit
from audit.retrieval.across.settings import FEATURES, DaksSettings

Probes = Mapping[str, Sequence[ChunkHit]]


@dataclass(frozen=True)
class KnownQuestion:
    """The probes of a question, source -> chunks, and the source that should be asked first."""

    probes: Probes
    primary: str


def typical_peaks(probes: Iterable[Probes]) -> dict[str, float]:
    """Source -> its mean best score over the questions; a source that found nothing for any of them is left out."""
    peaks: dict[str, list[float]] = defaultdict(list)
    for of_question in probes:
        for source, chunks in of_question.items():
            peaks[source] += [chunks[0].score] if chunks else []
    return {source: mean(values) for source, values in peaks.items() if values}


def learned_settings(
    questions: Sequence[KnownQuestion],
    authority: Mapping[str, float],
    settings: DaksSettings,
    with_authority: bool = True,
    names: Sequence[str] = FEATURES,
) -> DaksSettings:
    """The settings with the weights of a logistic regression of "is the primary source" on features and authority.

    with_authority  False: lambda is 0 and the authority is no predictor
    names           the features used; the others get weight 0

    Raises MissingLibraryError without scikit-learn, and its ValueError where one source is primary for every question of one.
    """
    library = optional("sklearn.linear_model", "Learned weights of routing", "models")
    columns = [FEATURES.index(name) for name in names]
    rows, labels = [], []
    for question in questions:
        matrix = feature_matrix(source_features(question.probes, settings))[:, columns]
        priors = np.array([[authority[source]] for source in question.probes])
        rows.append(np.hstack([matrix, priors]) if with_authority else matrix)
        labels += [source == question.primary for source in question.probes]
    coefficients = library.LogisticRegression(max_iter=1000).fit(np.vstack(rows), labels).coef_[0].tolist()
    weights = dict(zip(names, coefficients[: len(names)], strict=True))
    prior_weight = coefficients[-1] if with_authority else 0.0
    # S is a log odds now, so that its softmax needs no other temperature
    return replace(settings, weights=weights, authority_weight=prior_weight, share_temperature=1.0)
