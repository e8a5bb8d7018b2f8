"""Which passages an answer cites, and whether it was given them."""

from __future__ import annotations

import re
from typing import Any

from audit.generate.evidence import Evidence

CITED = re.compile(r"\[\s*(\d{1,4}(?:\s*(?:[,;]|-|–|and)\s*\d{1,4})*)\s*\]")
PART = re.compile(r"(\d+)(?:\s*[-–]\s*(\d+))?")
WIDEST = 20
"""A range of more passages than this is no citation of each."""


def cited(text: str) -> list[int]:
    """The numbers that a text cites, each once, in order: 1, 3, 4, 5 for `first [1], then [3-5]`."""
    numbers: list[int] = []
    for mark in CITED.finditer(text):
        for first, last in PART.findall(mark[1]):
            low, high = int(first), int(last or first)
            numbers += range(low, high + 1) if low <= high <= low + WIDEST else [low, high]
    return list(dict.fromkeys(numbers))


def citations(text: str, evidence: Evidence) -> list[dict[str, Any]]:
    """The citations of an answer as records; `known` is false where it cites what it was not given."""
    return [_citation(number, evidence) for number in cited(text)]


def _citation(number: int, evidence: Evidence) -> dict[str, Any]:
    passage = evidence.passage(number)
    return {"passage": number, "section_id": passage.section_id if passage else None, "known": passage is not None}
