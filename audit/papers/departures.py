"""Where the program departs from its source papers, why, and which option restores a paper's way.

departures.toml beside this module has every row; tests/papers proves of each option that it yields the paper's setting.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files


class Paper(StrEnum):
    """A source paper, by the short name that commands take."""

    S0 = "s0"
    S1 = "s1"
    S2 = "s2"
    S3 = "s3"


CITATIONS = {
    Paper.S0: "TransplantQA and HERO-QA (arXiv:2605.29084)",
    Paper.S1: "Chen et al., Traceable Cross-Source RAG for Chinese Tibetan Medicine Question Answering (2026)",
    Paper.S2: "Fensore, Carrillo-Larco, Shah and Ho, Does Domain-Specific RAG Help LLMs Answer Consumer Health Questions?",
    Paper.S3: "MedRGB, Comprehensive and Practical Evaluation of RAG Systems for Medical Question Answering (arXiv:2411.09213)",
}


PRESETS = {Paper.S0: "paper", Paper.S1: "s1", Paper.S2: "s2", Paper.S3: "medrgb"}
"""Paper -> the word after `--preset` that means its settings; their values are in `audit.pipeline.stages.presets`."""


@dataclass(frozen=True)
class Departure:
    """One departure.

    name    of the row, unique within its paper
    step    of the paper, with its section where it has one
    theirs, ours, why
    remedy  the option that restores the paper's way; empty where none does, and then `cannot` says why
    """

    paper: Paper
    name: str
    step: str
    theirs: str
    ours: str
    why: str
    remedy: str = ""
    cannot: str = ""

    @property
    def way_back(self) -> str:
        """The option, or why there is none."""
        return self.remedy or f"cannot be restored, because {self.cannot}"


@cache
def departures(paper: Paper) -> tuple[Departure, ...]:
    """The rows of a paper, in the order of its sections."""
    table = tomllib.loads((files(__package__) / "departures.toml").read_text("utf-8"))
    return tuple(Departure(paper, name, **row) for name, row in table[paper].items())
