"""Worlds of any size, for tests that draw many."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from tests.simulator.config import Coverage, Variety, WorldConfig, paper_config, scaled

ORGANS = ("kidney", "liver", "heart", "lung", "pancreas")


def config_of_size(n_questions: int, n_handbooks: int, seed: int, *, independent: bool = False) -> WorldConfig:
    """The paper's proportions at any size, every question put to every handbook."""
    paper = paper_config(seed)
    return replace(
        paper,
        handbooks=_scaled_counts(paper.handbooks, n_handbooks),
        questions=_scaled_counts(paper.questions, n_questions),
        n_centers=max(3, math.ceil(n_handbooks * paper.n_centers / paper.n_handbooks)),
        phases=scaled(paper.phases, n_handbooks),
        independent=independent,
        asked="all",
        matters=0,
        topics=0,
        coverage=Coverage(),
        variety=Variety(),
    )


def _scaled_counts(counts: Mapping[str, int], total: int) -> dict[str, int]:
    return dict(zip(counts, scaled(tuple(counts.values()), total), strict=True))
