"""The fictional handbooks of a simulated corpus."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from audit.demo.shape import WorldConfig, scaled
from audit.vocabulary import Phase

CENTERS = (
    "Alder", "Birch", "Blackthorn", "Catalpa", "Dogwood", "Hawthorn", "Hazel", "Hornbeam", "Juniper", "Larch", "Linden", "Medlar",
    "Mulberry", "Osier", "Quince", "Rowan", "Sassafras", "Spruce", "Sumac", "Tamarack", "Whitebeam", "Wintergreen", "Yew",
)  # fmt: skip
"""Fictional centers, all named after woody plants."""

COUPLED = 0.81
"""Share of the pre handbooks that have a post handbook of the same program beside them."""


@dataclass(frozen=True)
class Handbook:
    """One fictional handbook."""

    organ: str
    center: int
    phase: str

    @property
    def center_name(self) -> str:
        """The fictional center's name; numbered where a world has more centers than there are names."""
        lap, place = divmod(self.center, len(CENTERS))
        return CENTERS[place] + (str(lap + 1) if lap else "")

    @property
    def id(self) -> str:
        """Organ, center and phase, joined by underscores."""
        return f"{self.organ}_{self.center_name.lower()}_{self.phase}"


def draw_handbooks(config: WorldConfig, rng: np.random.Generator) -> tuple[Handbook, ...]:
    """The handbooks of a config, sorted by organ (as in the config), center and phase.

    A program is a center's work for one organ. Some programs have a pre and a post handbook, the others a single one.
    """
    if config.independent:
        return tuple(Handbook(organ, i, Phase.COMBINED) for i, organ in enumerate(_organs(config)))
    pre, post, combined = config.phases
    couples = int(min(pre, post) * COUPLED)
    singles = [Phase.PRE] * (pre - couples) + [Phase.POST] * (post - couples) + [Phase.COMBINED] * combined
    rng.shuffle(singles)
    return _fill(config, scaled(tuple(config.handbooks.values()), couples), singles, rng)


def _organs(config: WorldConfig) -> list[str]:
    return [organ for organ, count in config.handbooks.items() for _ in range(count)]


def _fill(config: WorldConfig, couples: tuple[int, ...], singles: list[Phase], rng: np.random.Generator) -> tuple[Handbook, ...]:
    # Centers are dealt from one shuffled ring, so every center gets a program before any gets many.
    ring = rng.permutation(config.n_centers).tolist()
    found: list[Handbook] = []
    dealt = 0
    for (organ, count), pairs in zip(config.handbooks.items(), couples, strict=True):
        programs = [(Phase.PRE, Phase.POST)] * pairs + [(singles.pop(),) for _ in range(count - 2 * pairs)]
        centers = [ring[(dealt + i) % len(ring)] for i in range(len(programs))]
        dealt += len(programs)
        dealt_out = sorted(zip(centers, programs, strict=True))
        found += [Handbook(organ, center, phase.value) for center, phases in dealt_out for phase in phases]
    return tuple(found)
