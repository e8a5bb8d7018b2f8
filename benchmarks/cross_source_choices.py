"""What `benchmarks.cross_source` chooses on one half of the questions: weights, calibration, budget and share of the score."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from audit.evaluation.routing_measures import RoutedQuestion, routing_measures
from audit.retrieval.across.consolidation import consolidate
from audit.retrieval.across.features import feature_matrix, source_features
from audit.retrieval.across.learning import KnownQuestion, learned_settings, typical_peaks
from audit.retrieval.across.library import ChunkHit, Library
from audit.retrieval.across.routing import route
from audit.retrieval.across.settings import FEATURES, STANDARDISED, ConsolidationSettings, DaksSettings

DRAWS, SEED = 2000, 11
BUDGETS, MINIMUMS, RETRIEVAL_SHARES = (8, 12, 20), (1, 2), (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0)
RECALL_LOSS = 0.01
LabelledQuestion = tuple[str, str, Collection[str], Collection[str]]
"""Text, primary source, required sources, gold sections."""


@dataclass(frozen=True)
class Chosen:
    """Name of a row -> its settings, and how their pools become evidence."""

    settings: Mapping[str, DaksSettings]
    consolidation: ConsolidationSettings


def choose(library: Library, questions: Sequence[LabelledQuestion]) -> Chosen:
    """All that is chosen: routing first, then budget and consolidation for the learned weights."""
    known = [KnownQuestion(library.search(text), primary) for text, primary, _, _ in questions]
    authority = {source.source_id: source.authority for source in library.sources}
    plain = DaksSettings()
    calibrated = replace(plain, typical_peak=typical_peaks(question.probes for question in known))
    learned = learned_settings(known, authority, plain)
    rows = {
        "DAKS, drawn weights": _drawn(known, authority, plain, True),
        "DAKS, drawn weights, lambda 0": _drawn(known, authority, plain, False),
        "DAKS, learned": learned,
        "DAKS, learned, lambda 0": learned_settings(known, authority, plain, False),
        "DAKS, calibrated, learned": learned_settings(known, authority, calibrated),
        "DAKS, calibrated, learned, lambda 0": learned_settings(known, authority, calibrated, False),
        "DAKS, standardised, learned": learned_settings(known, authority, replace(plain, scale=STANDARDISED)),
    }
    for feature in FEATURES:
        others = [name for name in FEATURES if name != feature]
        rows[f"DAKS, learned without {feature}"] = learned_settings(known, authority, plain, True, others)
        rows[f"DAKS, lambda 0, without {feature}"] = learned_settings(known, authority, plain, False, others)
    budget, minimum, consolidation = _budget_and_share(library, learned, questions)
    return Chosen({name: replace(row, budget=budget, minimum=minimum) for name, row in rows.items()}, consolidation)


def _drawn(
    questions: Sequence[KnownQuestion], authority: Mapping[str, float], settings: DaksSettings, with_authority: bool
) -> DaksSettings:
    """The best of many random weights by PrimaryAcc; of equals, the first drawn."""
    matrices = np.stack([feature_matrix(source_features(question.probes, settings)) for question in questions])
    sources = list(questions[0].probes)
    primary = np.array([sources.index(question.primary) for question in questions])
    generator = np.random.default_rng(SEED)
    weights = generator.normal(size=(DRAWS, len(FEATURES)))
    priors = generator.uniform(0, 1, DRAWS) if with_authority else np.zeros(DRAWS)
    scores = np.einsum("qsf,df->dqs", matrices, weights)
    scores += priors[:, None, None] * np.array([authority[source] for source in sources])
    best = int((scores.argmax(axis=2) == primary).mean(axis=1).argmax())
    return replace(
        settings, weights=dict(zip(FEATURES, weights[best].tolist(), strict=True)), authority_weight=float(priors[best])
    )


def _budget_and_share(
    library: Library, settings: DaksSettings, questions: Sequence[LabelledQuestion]
) -> tuple[int, int, ConsolidationSettings]:
    """The budget, minimum and mu of the highest CrossEv@5 among those that lose at most RECALL_LOSS of the best EvRecall@5."""
    results = []
    for budget, minimum in product(BUDGETS, MINIMUMS):
        pools = [route(library, text, replace(settings, budget=budget, minimum=minimum)).pool for text, *_ in questions]
        for share in RETRIEVAL_SHARES:
            consolidation = ConsolidationSettings(retrieval_share=share)
            results.append((*_coverage(library, questions, pools, consolidation), (budget, minimum, consolidation)))
    least = max(recall for recall, _, _ in results) - RECALL_LOSS
    return max((row for row in results if row[0] >= least), key=lambda row: row[1])[2]


def _coverage(
    library: Library,
    questions: Sequence[LabelledQuestion],
    pools: Sequence[Sequence[ChunkHit]],
    consolidation: ConsolidationSettings,
) -> tuple[float, float]:
    """EvRecall@5 and CrossEv@5 of the pools' evidence."""
    routed = {}
    for number, ((_, primary, required, gold), pool) in enumerate(zip(questions, pools, strict=True)):
        evidence = consolidate(library, pool, consolidation)
        passages = [(one.candidate.source_id, "/".join(one.candidate.chunk_id[:2])) for one in evidence]
        routed[str(number)] = RoutedQuestion((), passages, primary, required, gold)
    values = list(routing_measures(routed, "", ()).values())
    recall, cross = (float(np.nanmean([value[name] for value in values])) for name in ("EvRecall@5", "CrossEv@5"))
    return recall, cross
