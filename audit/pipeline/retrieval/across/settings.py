"""The settings of routing, consolidation, graph and packing; a trace lists them all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from audit.pipeline.retrieval.across.library import BM25

PUBLISHED_FEATURES = ("peak", "mean", "margin", "entropy", "coverage")
"""Those of S1; `opening` is ours."""
FEATURES = (*PUBLISHED_FEATURES, "opening")
BEST, STANDARDISED = "best", "standardised"
SCALES = (BEST, STANDARDISED)
PLACE, SEMANTIC = "place", "semantic"
RANKERS = (PLACE, SEMANTIC)
POOLS = DAKS, UNIFORM, MERGED, CONCATENATED, SINGLE = "daks", "uniform", "merged", "concatenated", "single"
"""How the pool of a question comes about: DAKS, or one of the baselines of S1 (see `baselines`)."""
PAPER_WEIGHTS = {"peak": 1.0, "mean": 1.0, "margin": 0.5, "entropy": -0.5, "coverage": 0.5}
CHOSEN_WEIGHTS = {"peak": 4.9, "mean": 0.5, "margin": 0.5, "entropy": 0.9, "coverage": -1.0, "opening": 4.3}
"""Learned on one half of 500 questions over nine NIH handbooks (benchmarks/cross_source.md); S is then a log odds."""


@dataclass(frozen=True)
class DaksSettings:
    """Density-aware source selection: S1's Algorithm 1, with one feature more. S1 publishes the steps and not the values.

    probe              chunks that each source shows (L)
    top                the best chunks that mean and margin are of (M)
    scale              `best`: all scores as shares of the best one of the question, for scores that one retriever made on one
                       scale. `standardised`: as shares of the best of their source, and each feature then with mean 0 and
                       deviation 1 across the sources of the question, for scores of different retrievers
    entropy_temperature, share_temperature  temperatures of the softmax over a probe and over the sources: lower is sharper
    raw_entropy        the entropy itself, as in S1; else over the logarithm of the probe's length, so that it is at most 1
    weights            feature -> its weight (w)
    opening_characters what of a section counts as its opening
    authority_weight   lambda: what the authority of a source adds to its score
    source_weights     source -> what is added to its score in every question, as `learning` finds it; empty: nothing
    budget, minimum    chunks taken in all (B), and from each source that has text (b_min)
    typical_peak       source -> best score of a usual question, which its scores are divided by; empty: scores as they are

    Raises ValueError, with a clause that names the fault.
    """

    probe: int = 20
    top: int = 5
    scale: str = BEST
    entropy_temperature: float = 0.2
    raw_entropy: bool = False
    share_temperature: float = 1.0
    weights: Mapping[str, float] = field(default_factory=lambda: dict(CHOSEN_WEIGHTS))
    opening_characters: int = 160
    authority_weight: float = 1.5
    source_weights: Mapping[str, float] = field(default_factory=dict)
    budget: int = 20
    minimum: int = 1
    typical_peak: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if problem := next(self._invalid_settings(), None):
            raise ValueError(problem)

    def _invalid_settings(self) -> Iterator[str]:
        if not 1 <= self.top <= self.probe:
            yield f"the best {self.top} of a probe of {self.probe} cannot be taken; top must be from 1 to the probe"
        if self.scale not in SCALES:
            yield f"scale cannot be '{self.scale}'; allowed: {', '.join(SCALES)}"
        if min(self.entropy_temperature, self.share_temperature) <= 0:
            yield "temperatures must be above 0"
        if unknown := self.weights.keys() - set(FEATURES):
            yield f"weights has the unknown feature {', '.join(sorted(unknown))}; allowed: {', '.join(FEATURES)}"
        if self.opening_characters < 1:
            yield "opening_characters must be at least 1"
        if self.budget < 1 or self.minimum < 0:
            yield f"a budget of {self.budget} with at least {self.minimum} a source is not possible; allowed: from 1, and from 0"
        if any(peak <= 0 for peak in self.typical_peak.values()):
            yield "typical peaks must be above 0"

    @classmethod
    def paper(cls) -> DaksSettings:
        """The five features of S1 alone, the entropy of a plain softmax among them, with weights as set."""
        return cls(
            weights=dict(PAPER_WEIGHTS), authority_weight=0.3, share_temperature=0.2, entropy_temperature=1.0, raw_entropy=True
        )

    def record(self) -> dict[str, Any]:
        """Every setting as a JSON value."""
        return asdict(self)


@dataclass(frozen=True)
class ConsolidationSettings:
    """How a pool becomes evidence.

    neighbours       chunks before and after in the same section that widen a passage
    near_duplicate   passages that share this part of their words (Jaccard) are one; 1: only the same words
    per_section, per_handbook  passages kept of one section and of one handbook; None: any number
    retrieval_share  mu: the part of S1's base score that is the retrieval score; the rest is the score of the ranker
    ranker           `semantic`, as in S1: the cosine with the question, where the indexes have vectors. `place`: one over the
                     place in its source
    opening_share    the part of the base score that is the opening of the passage's section (see `features`): a section names its
    subject at once; 0 in S1
    route_share      the part of the base score that is the share which routing gives to the passage's source; 0 in S1
    opening_characters  what of a section counts as its opening
    passages         length of the evidence (K)

    Raises ValueError, with a clause that names the fault.
    """

    neighbours: int = 1
    near_duplicate: float = 0.9
    per_section: int = 1
    per_handbook: int | None = None
    retrieval_share: float = 0.9
    ranker: str = PLACE
    opening_share: float = 0.3
    route_share: float = 0.05
    opening_characters: int = 160
    passages: int = 5

    def __post_init__(self) -> None:
        if min(self.opening_share, self.route_share) < 0 or self.opening_share + self.route_share > 1:
            raise ValueError("opening_share and route_share must be at least 0, and together at most 1")
        if self.ranker not in RANKERS:
            raise ValueError(f"ranker cannot be '{self.ranker}'; allowed: {', '.join(RANKERS)}")
        if not (0 <= self.retrieval_share <= 1 and 0 < self.near_duplicate <= 1):
            raise ValueError("retrieval_share must be from 0 to 1, and near_duplicate above 0 and at most 1")
        if (
            min(self.per_section, self.passages, self.opening_characters) < 1
            or self.neighbours < 0
            or (self.per_handbook is not None and self.per_handbook < 1)
        ):
            raise ValueError(
                "per_section, per_handbook, opening_characters and passages must be at least 1, and neighbours at least 0"
            )

    def record(self) -> dict[str, Any]:
        """Every setting as a JSON value."""
        return asdict(self)


@dataclass(frozen=True)
class GraphSettings:
    """Settings of the alignment graph. S1 publishes the steps and not the values.

    seeds            the best candidates (S) by base score whose entities are seeds, with those of the question; 0: the question's
                     alone
    hops             how far from a seed a chunk may be (h): 1 names a seed, 2 shares an entity with such a chunk
    bridged          chunks that bridging adds at most; 0: the graph adds none
    degree_share     an entity named by a larger share of the chunks links nothing
    degree_minimum   so many chunks may name an entity in any case, however small the library
    overlap_weight, proximity_weight, other_source_weight  eta1, eta2 and eta3 of the support score
    base_share       alpha: the part of the final score that is the base score; the rest is the support

    Raises ValueError, with a clause that names the fault.
    """

    seeds: int = 0
    hops: int = 1
    bridged: int = 10
    degree_share: float = 0.02
    degree_minimum: int = 20
    overlap_weight: float = 1.0
    proximity_weight: float = 0.0
    other_source_weight: float = 0.0
    base_share: float = 0.8

    def __post_init__(self) -> None:
        if min(self.seeds, self.bridged) < 0 or min(self.hops, self.degree_minimum) < 1:
            raise ValueError("seeds and bridged must be at least 0, hops and degree_minimum at least 1")
        if not (0 <= self.base_share <= 1 and 0 < self.degree_share <= 1):
            raise ValueError("base_share must be from 0 to 1, and degree_share above 0 and at most 1")
        if min(self.overlap_weight, self.proximity_weight, self.other_source_weight) < 0:
            raise ValueError("overlap_weight, proximity_weight and other_source_weight must be at least 0")


@dataclass(frozen=True)
class PackingSettings:
    """How much evidence is kept.

    tokens        of all passages together (T_max), by a rule of thumb of four characters each
    passages      number of passages at most; None: as many as the tokens allow
    per_handbook  passages of one handbook; None: any number. A required source is covered before it counts
    as_picked     passages stay in the order in which they were kept, as in S1; else best first
    expected_share  a source with at least this share of the routing is covered like a required one; None: no source is

    Raises ValueError, with a clause that names the fault.
    """

    tokens: int = 4000
    passages: int | None = 5
    per_handbook: int | None = None
    expected_share: float | None = 0.1
    as_picked: bool = False

    def __post_init__(self) -> None:
        if self.expected_share is not None and not 0 < self.expected_share <= 1:
            raise ValueError("expected_share must be above 0 and at most 1")
        if min(number for number in (self.tokens, self.passages, self.per_handbook) if number is not None) < 1:
            raise ValueError("tokens, passages and per_handbook must be at least 1")


@dataclass(frozen=True)
class CrossSourceSettings:
    """All settings from a question to its packed evidence. `graph` None: routing and consolidation alone.

    candidates  passages that consolidation leaves for graph and packing; its own `passages` is not used
    pool        how the pool comes about: `daks`, or a baseline that scores no source: `uniform` (equal budgets), `merged` (one
                index of all handbooks), `concatenated` (an equal part of each source's own list), `single` (the source `only`)
    only        the source of a `single` pool

    Raises ValueError, with a clause that names the fault.
    """

    retriever: str = BM25
    daks: DaksSettings = field(default_factory=DaksSettings)
    consolidation: ConsolidationSettings = field(default_factory=ConsolidationSettings)
    graph: GraphSettings | None = field(default_factory=GraphSettings)
    packing: PackingSettings = field(default_factory=PackingSettings)
    candidates: int = 30
    pool: str = DAKS
    only: str = ""

    def __post_init__(self) -> None:
        if self.candidates < 1:
            raise ValueError("candidates must be at least 1")
        if self.pool not in POOLS:
            raise ValueError(f"pool cannot be '{self.pool}'; allowed: {', '.join(POOLS)}")
        if (self.pool == SINGLE) != bool(self.only):
            raise ValueError(f'only names the source of pool = "{SINGLE}": the two go together')

    @classmethod
    def for_sources(cls, sources: int) -> CrossSourceSettings:
        """The defaults with a budget that gives two chunks to each of many sources, so no source is probed in vain."""
        return cls(daks=DaksSettings(budget=max(DaksSettings.budget, 2 * sources)))

    @classmethod
    def paper(cls) -> CrossSourceSettings:
        """The method of S1, with values as set where S1 publishes none."""
        return cls(
            daks=DaksSettings.paper(),
            consolidation=ConsolidationSettings(retrieval_share=0.8, ranker=SEMANTIC, opening_share=0.0, route_share=0.0),
            graph=GraphSettings(5, 2, proximity_weight=1.0, other_source_weight=0.5, base_share=0.7),
            packing=PackingSettings(expected_share=None, as_picked=True),
        )

    def record(self) -> dict[str, Any]:
        """Every setting as a JSON value."""
        return asdict(self)
