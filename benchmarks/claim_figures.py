"""What `benchmarks.claims` computes without a command: figures of the documents, as functions."""

from __future__ import annotations

import csv
from math import comb
from pathlib import Path

import numpy as np

from audit.stats.case_mix import case_mix
from audit.stats.intervals import sequence_width
from benchmarks.coverage import WORLDS, coverage, total_coverage
from benchmarks.intervals import STATISTICS
from benchmarks.kappa_coverage import LABELS, expected
from benchmarks.kappa_coverage import coverage as coverage_of_kappa

ONE_LABEL = (0.95, 0.03, 0.01, 0.005, 0.005)
TENANCY = Path(__file__).parents[1] / "examples" / "tenancy"


def covered(world: str, handbooks: int, questions: int, samples: int) -> float:
    """The share of intervals of R_div that hold the true rate elsewhere."""
    return coverage(WORLDS[world], questions, handbooks, samples).covered


def width_over_oracle(world: str, handbooks: int, questions: int, samples: int) -> float:
    """Their half-width over the oracle's."""
    found = coverage(WORLDS[world], questions, handbooks, samples)
    return found.half_width / found.oracle


def total_covered(world: str, handbooks: int, questions: int, per_label: int, samples: int, which: str) -> float:
    """The same with a judge's errors: of the total interval (`covered`), the corrected one or the judge's."""
    found = total_coverage(WORLDS[world], questions, handbooks, per_label, samples)
    return float(getattr(found, which))


def kappa_covered(labels: str, right: float, neighbours: bool, items: int, samples: int) -> float:
    """The share of intervals of quadratic kappa that hold the truth."""
    return coverage_of_kappa(expected(LABELS[labels], right, neighbours), items, samples)[0]


def kappa_covered_of_one_label(right: float, items: int, samples: int) -> float:
    """The same where 95 % of the items have one label, and errors go to a neighbour."""
    return coverage_of_kappa(expected(ONE_LABEL, right, True), items, samples)[0]


def live_width(items: int) -> float:
    """How many times as wide an interval is that holds at every look."""
    return float(sequence_width(items))


def marked_by_chance(handbooks: int, questions: int, runs: int) -> float:
    """The share of runs without differences in which some handbook is marked; pairs differ by position."""
    rng, marked = np.random.default_rng(11), 0
    first, second = np.triu_indices(handbooks, 1)
    for _ in range(runs):
        answers = rng.random((handbooks, questions)) < 0.5
        rarer = rng.random((handbooks, questions)) < rng.beta(1, 8, questions)
        present = answers[first] & answers[second]
        differs = present & (rarer[first] != rarer[second])
        events, trials = (
            np.array([of[(first == one) | (second == one)].sum(axis=0) for one in range(handbooks)], dtype=float)
            for of in (differs, present)
        )
        found = case_mix(events, trials, differs.sum(axis=0).astype(float), present.sum(axis=0).astype(float))
        marked += bool(found.flagged.any())
    return marked / runs


def million_pairs(questions: int, handbooks: int) -> float:
    """Pairs of handbooks over all questions, in millions."""
    return questions * comb(handbooks, 2) / 1e6


def tenancy(of: str) -> float:
    """Handbooks or questions of the tenancy example."""
    if of == "handbooks":
        return float(len(list((TENANCY / "documents").iterdir())))
    with (TENANCY / "questions.csv").open(encoding="utf-8") as file:
        return float(len({row["question"] for row in csv.DictReader(file)}))


def statistics(of: str) -> float:
    """Statistics with an interval, or their worlds."""
    return float(len(STATISTICS) if of == "statistics" else sum(len(one.worlds) for one in STATISTICS.values()))
