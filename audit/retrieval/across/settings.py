"""The settings of routing and consolidation; a trace lists them all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

FEATURES = ("peak", "mean", "margin", "entropy", "coverage")
BEST, STANDARDISED = "best", "standardised"
SCALES = (BEST, STANDARDISED)
PAPER_WEIGHTS = {"peak": 1.0, "mean": 1.0, "margin": 0.5, "entropy": -0.5, "coverage": 0.0}


@dataclass(frozen=True)
class DaksSettings:
    """Density-aware source selection: S1's Algorithm 1. S1 publishes the steps and not the values; these are ours.

    probe              chunks that each source shows (L)
    top                the best chunks that mean and margin are of (M)
    scale              `best`: all scores as shares of the best one of the question, for scores that one retriever made on one
                       scale. `standardised`: as shares of the best of their source, and each feature then with mean 0 and
                       deviation 1 across the sources of the question, for scores of different retrievers
    entropy_temperature, share_temperature  temperatures of the softmax over a probe and over the sources: lower is sharper
    weights            feature -> its weight (w)
    authority_weight   lambda: what the authority of a source adds to its score
    budget, minimum    chunks taken in all (B), and from each source that has text (b_min)
    typical_peak       source -> best score of a usual question, which its scores are divided by; empty: scores as they are

    Raises ValueError, with a clause that names the fault.
    """

    probe: int = 20
    top: int = 5
    scale: str = BEST
    entropy_temperature: float = 0.2
    share_temperature: float = 0.2
    weights: Mapping[str, float] = field(default_factory=lambda: dict(PAPER_WEIGHTS))
    authority_weight: float = 0.3
    budget: int = 20
    minimum: int = 1
    typical_peak: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if problem := next(self._problems(), None):
            raise ValueError(problem)

    def _problems(self) -> Iterator[str]:
        if not 1 <= self.top <= self.probe:
            yield f"the best {self.top} of a probe of {self.probe} cannot be taken; top must be from 1 to the probe"
        if self.scale not in SCALES:
            yield f"scale cannot be '{self.scale}'; allowed: {', '.join(SCALES)}"
        if min(self.entropy_temperature, self.share_temperature) <= 0:
            yield "temperatures must be above 0"
        if unknown := self.weights.keys() - set(FEATURES):
            yield f"weights has the unknown feature {', '.join(sorted(unknown))}; allowed: {', '.join(FEATURES)}"
        if self.budget < 1 or self.minimum < 0:
            yield f"a budget of {self.budget} with at least {self.minimum} a source is not possible; allowed: from 1, and from 0"
        if any(peak <= 0 for peak in self.typical_peak.values()):
            yield "typical peaks must be above 0"

    def record(self) -> dict[str, Any]:
        """Every setting as a JSON value."""
        return asdict(self)


@dataclass(frozen=True)
class ConsolidationSettings:
    """How a pool becomes evidence.

    neighbours       chunks before and after in the same section that widen a passage
    near_duplicate   passages that share this part of their words (Jaccard) are one; 1: only the same words
    per_section, per_handbook  passages kept of one section and of one handbook; None: any number
    retrieval_share  mu: the part of the base score that is the retrieval score; the rest is the rank in its source
    passages         length of the evidence (K)

    Raises ValueError, with a clause that names the fault.
    """

    neighbours: int = 1
    near_duplicate: float = 0.9
    per_section: int = 1
    per_handbook: int | None = None
    retrieval_share: float = 0.8
    passages: int = 5

    def __post_init__(self) -> None:
        if not (0 <= self.retrieval_share <= 1 and 0 < self.near_duplicate <= 1):
            raise ValueError("retrieval_share must be from 0 to 1, and near_duplicate above 0 and at most 1")
        if (
            min(self.per_section, self.passages) < 1
            or self.neighbours < 0
            or (self.per_handbook is not None and self.per_handbook < 1)
        ):
            raise ValueError("per_section, per_handbook and passages must be at least 1, and neighbours at least 0")

    def record(self) -> dict[str, Any]:
        """Every setting as a JSON value."""
        return asdict(self)
