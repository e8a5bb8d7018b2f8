"""What `benchmarks.cross_source` chooses on one half of the questions: weights of routing, and how a pool becomes evidence."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from audit.evaluation.routing_measures import RoutedQuestion, routing_measures
from audit.pipeline.retrieval.across.entities import EntityRecogniser
from audit.pipeline.retrieval.across.evidence import gather
from audit.pipeline.retrieval.across.features import opening_matches
from audit.pipeline.retrieval.across.learning import KnownQuestion, Predictors, learned_settings
from audit.pipeline.retrieval.across.library import Library
from audit.pipeline.retrieval.across.settings import (
    FEATURES,
    PUBLISHED_FEATURES,
    ConsolidationSettings,
    CrossSourceSettings,
    DaksSettings,
    GraphSettings,
    PackingSettings,
)

LEARNED = "DAKS, learned"
LabelledQuestion = tuple[str, str, Collection[str], Collection[str]]
"""Text, primary source, required sources, gold sections."""


@dataclass(frozen=True)
class Chosen:
    """Name of a row -> its settings of routing, and the settings of the whole method with the learned ones."""

    routing: Mapping[str, DaksSettings]
    settings: CrossSourceSettings


def choose(
    library: Library, questions: Sequence[LabelledQuestion], recogniser: EntityRecogniser, retriever: str, densest: str
) -> Chosen:
    """All that is chosen: the weights of routing first, then the settings of evidence, one after the other."""
    routing = _routing(library, questions, retriever)
    none = ConsolidationSettings(retrieval_share=1.0, opening_share=0.0, route_share=0.0)
    score_only = CrossSourceSettings(retriever, routing[LEARNED], none, None, PackingSettings(expected_share=None))
    recall, _, dominance = _coverage(library, questions, score_only, recogniser, densest)

    def worth(settings: CrossSourceSettings) -> tuple[bool, float, float]:
        """CrossEv@5, among settings that neither lose evidence nor are dominated more than the ranking by score alone."""
        own_recall, cross, own_dominance = _coverage(library, questions, settings, recogniser, densest)
        return own_recall >= recall and own_dominance <= dominance, cross, own_recall

    best = CrossSourceSettings(retriever, routing[LEARNED], graph=None)
    for graph in (False, True):
        best = replace(best, graph=GraphSettings() if graph else None)
        value = worth(best)
        for options in _graph_options() if graph else _options():
            rivals = [(worth(rival), rival) for rival in (_changed(best, change) for change in options) if rival != best]
            # Of equals the first, and what was chosen before
            value, best = max([(value, best), *rivals], key=lambda item: item[0])
    return Chosen(routing, best)


def _options() -> Iterator[list[dict[str, dict[str, float | int | None]]]]:
    yield [{"daks": {"budget": budget, "minimum": minimum}} for budget, minimum in ((12, 2), (20, 2), (30, 4))]
    yield [{"packing": {"expected_share": share}} for share in (None, 0.05, 0.1, 0.2)]
    yield [{"consolidation": {"opening_share": share}} for share in (0.1, 0.2, 0.3, 0.4)]
    yield [{"consolidation": {"route_share": share}} for share in (0.0, 0.05, 0.1)]
    yield [{"consolidation": {"retrieval_share": share}} for share in (0.8, 0.85, 0.9, 0.95, 1.0)]


def _graph_options() -> Iterator[list[dict[str, dict[str, float | int | None]]]]:
    yield [{"graph": {"base_share": share}} for share in (0.7, 0.8, 0.9)]
    yield [{"graph": {"seeds": seeds, "proximity_weight": 0.5}} for seeds in (0, 5)]
    yield [{"graph": {"other_source_weight": 0.2}}]


def _changed(settings: CrossSourceSettings, change: dict[str, dict[str, float | int | None]]) -> CrossSourceSettings:
    return replace(settings, **{part: replace(getattr(settings, part), **values) for part, values in change.items()})


def _routing(library: Library, questions: Sequence[LabelledQuestion], retriever: str) -> dict[str, DaksSettings]:
    plain = DaksSettings()
    probes = [library.search(text, retriever) for text, *_ in questions]
    known = [
        KnownQuestion(probe, primary, opening_matches(library, text, probe, plain))
        for (text, primary, *_), probe in zip(questions, probes, strict=True)
    ]
    authority = {source.source_id: source.authority for source in library.sources}
    predictors = {
        LEARNED: Predictors(),
        "DAKS, learned, authority and no source's own": Predictors(authority=True, sources=False),
        "DAKS, learned, no prior at all": Predictors(sources=False),
        "DAKS, learned, S1's features": Predictors(PUBLISHED_FEATURES),
        "DAKS, learned, S1's features and authority": Predictors(PUBLISHED_FEATURES, authority=True, sources=False),
        **{
            f"DAKS, learned without {name}": Predictors([other for other in FEATURES if other != name])
            for name in PUBLISHED_FEATURES
        },
    }
    return {name: learned_settings(known, authority, plain, columns) for name, columns in predictors.items()}


def _coverage(
    library: Library,
    questions: Sequence[LabelledQuestion],
    settings: CrossSourceSettings,
    recogniser: EntityRecogniser,
    densest: str,
) -> tuple[float, float, float]:
    """EvRecall@5, CrossEv@5 and EDR."""
    routed = {}
    for number, (text, primary, required, gold) in enumerate(questions):
        evidence = gather(library, text, settings, recogniser=recogniser)
        passages = [(one.source_id, "/".join(one.candidate.chunk_id[:2])) for one in evidence.passages]
        routed[str(number)] = RoutedQuestion((), passages, primary, required, gold)
    values = list(routing_measures(routed, densest, ()).values())
    recall, cross, dominance = (
        float(np.nanmean([value[name] for value in values])) for name in ("EvRecall@5", "CrossEv@5", "EDR")
    )
    return recall, cross, dominance
