"""Which passages an answer cites, and whether it was given them."""

from __future__ import annotations

from typing import Any

from audit.generation.evidence import Evidence
from audit.text.citations import cited_numbers


def citations(text: str, evidence: Evidence) -> list[dict[str, Any]]:
    """The citations of an answer as records; `known` is false where it cites what it was not given."""
    return [_citation(number, evidence) for number in cited_numbers(text)]


def _citation(number: int, evidence: Evidence) -> dict[str, Any]:
    passage = evidence.passage(number)
    return {"passage": number, "section_id": passage.section_id if passage else None, "known": passage is not None}
