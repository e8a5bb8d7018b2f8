"""Settings of DAKS chosen on questions whose primary source is known: weights by a conditional logit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from audit.errors import RetrievalError
from audit.pipeline.retrieval.across.features import Floats, feature_matrix, opening_matches, source_features
from audit.pipeline.retrieval.across.library import ChunkHit, Library
from audit.pipeline.retrieval.across.settings import FEATURES, DaksSettings

Probes = Mapping[str, Sequence[ChunkHit]]


@dataclass(frozen=True)
class KnownQuestion:
    """The probes of a question, source -> chunks, the source that should be asked first, and the feature `opening` by source."""

    probes: Probes
    primary: str
    openings: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Predictors:
    """Options of learning the weights.

    features   names of features
    authority  whether lambda is learned too, else it is 0
    sources    whether each source gets a weight of its own: how often it is the primary one where all else is equal. Another
               library has other sources, so these weights are for the library on which they were learned
    penalty    strength of the ridge penalty on the weights of standardised predictors
    """

    features: Sequence[str] = FEATURES
    authority: bool = False
    sources: bool = True
    penalty: float = 1.0


def learned_on(library: Library, known: Sequence[tuple[str, str]], settings: DaksSettings, retriever: str) -> DaksSettings:
    """The settings learned on the questions whose primary source is in the library, with a weight for each source.

    Raises RetrievalError where there is none.
    """
    authority = {source.source_id: source.authority for source in library.sources if source.source_id not in library.without_text}
    questions = []
    for question, primary in known:
        if primary in authority:
            hits = library.search(question, retriever, settings.probe)
            probes = {source: hits[source] for source in authority}
            questions.append(KnownQuestion(probes, primary, opening_matches(library, question, probes, settings)))
    if not questions:
        raise RetrievalError(
            f"None of the {len(known):,} questions to learn from has one of these sources as primary_source: "
            f"{', '.join(authority) or 'none has text'}. Nothing was searched. Name the sources as the config does."
        )
    return learned_settings(questions, authority, settings)


def learned_settings(
    questions: Sequence[KnownQuestion],
    authority: Mapping[str, float],
    settings: DaksSettings,
    predictors: Predictors | None = None,
) -> DaksSettings:
    """The settings with the weights that make the known primary sources most likely, as S is used: by a softmax over sources.

    A conditional logit (McFadden 1974) with a ridge penalty. Every question must have the probes of the same sources.
    """
    predictors = predictors or Predictors()
    sources = list(questions[0].probes)
    table = np.stack([_columns(question, authority, settings, predictors) for question in questions])
    # Standardised, so the penalty is the same for all; a predictor that never varies gets no weight
    deviation = table.std(axis=(0, 1))
    scale = np.where(deviation > 1e-9, deviation, np.inf)
    own = np.eye(len(sources), len(sources) if predictors.sources else 0)
    design = np.concatenate([table / scale, np.broadcast_to(own, (len(table), *own.shape))], axis=2)
    primary = np.array([sources.index(question.primary) for question in questions])
    weights = conditional_logit(design, primary, predictors.penalty)
    unscaled = (weights[: len(scale)] / scale).tolist()
    return replace(
        settings,
        weights=dict(zip(predictors.features, unscaled, strict=False)),
        authority_weight=unscaled[-1] if predictors.authority else 0.0,
        source_weights=dict(zip(sources, weights[len(scale) :].tolist(), strict=False)),
        # S is a log odds now, so its softmax needs no other temperature
        share_temperature=1.0,
    )


def _columns(question: KnownQuestion, authority: Mapping[str, float], settings: DaksSettings, predictors: Predictors) -> Floats:
    matrix = feature_matrix(source_features(question.probes, settings, question.openings))
    columns = [matrix[:, [FEATURES.index(name) for name in predictors.features]]]
    if predictors.authority:
        columns.append(np.array([[authority[source]] for source in question.probes]))
    return np.hstack(columns)


def conditional_logit(design: Floats, chosen: NDArray[np.int64], penalty: float) -> Floats:
    """The weights of a choice among alternatives: P(j) is the softmax of design[i] @ weights over the alternatives of case i.

    design   cases x alternatives x predictors
    chosen   the alternative of each case
    penalty  half of it times the squared weights is added to the negative log likelihood
    """
    cases = np.arange(len(design))

    def loss(weights: Floats) -> tuple[float, Floats]:
        scores = design @ weights
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares = powers / powers.sum(axis=1, keepdims=True)
        value = -np.log(shares[cases, chosen]).sum() + penalty / 2 * (weights @ weights)
        shares[cases, chosen] -= 1
        return float(value), np.einsum("ij,ijk->k", shares, design) + penalty * weights

    weights: Floats = minimize(loss, np.zeros(design.shape[2]), jac=True, method="L-BFGS-B").x
    return weights
