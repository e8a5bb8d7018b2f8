"""From verdicts on pairs of statements to findings: each disagreement of a handbook with itself once, with all its places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from audit.pipeline.rules.within.candidates import CandidatePair, Candidates, by_value, groups
from audit.pipeline.rules.within.claims import Claim
from audit.pipeline.verdict import Verdict
from audit.vocabulary import DISAGREEING, LABELS

Verdicts = Mapping[CandidatePair, Verdict]
Record = dict[str, Any]


def finding_records(handbook: str, judge: str, candidates: Candidates, verdicts: Verdicts) -> Iterator[Record]:
    """The records of within_handbook.jsonl: one for each thing that the handbook states in two or more ways."""
    disagreeing = {pair: verdict for pair, verdict in verdicts.items() if verdict.label in DISAGREEING}
    for group in groups((pair.first, pair.second) for pair in disagreeing):
        verdict = _gravest(verdict for pair, verdict in disagreeing.items() if pair.first in group)
        yield {
            "handbook_id": handbook, "question_id": None, "classification": verdict.label,
            "clinical_significance": verdict.significance, "divergence_topic": verdict.topic, "reasoning": verdict.reasoning,
            "judge": judge, "places": [*_places(candidates, group)],
        }  # fmt: skip


def count_record(handbook: str, judge: str, candidates: Candidates, verdicts: Verdicts) -> Record:
    """The record of within_handbook_counts.jsonl: what was compared. A handbook without one was not compared."""
    scored = [verdict for verdict in verdicts.values() if verdict.label is not None]
    return {
        "handbook_id": handbook, "judge": judge, "statements": candidates.statements, "agreeing": len(candidates.agreeing),
        "compared": len(scored), "disagreeing": sum(verdict.label in DISAGREEING for verdict in scored),
        "unscored": len(verdicts) - len(scored), "not_asked": len(candidates.pairs) - len(verdicts),
    }  # fmt: skip


def _gravest(verdicts: Iterator[Verdict]) -> Verdict:
    order = {label.value: label.code for label in LABELS}
    return max(verdicts, key=lambda verdict: order[verdict.label or ""])


def _places(candidates: Candidates, group: list[int]) -> Iterator[Record]:
    """Every place of a disagreement: the claims that the judge compared, and those elsewhere that say the same as one of them."""
    numbers = set(group)
    for first, second in candidates.agreeing:
        if first in group or second in group:
            numbers |= {first, second}
    for position, value in enumerate(by_value(candidates.claims, sorted(numbers)), 1):
        yield from (_place_record(candidates.claims[number], position) for number in value)


def _place_record(claim: Claim, position: int) -> Record:
    statement = claim.passage.statement
    return {
        "position": position, "value": claim.value, "section_id": claim.passage.section.section_id, "start": statement.start,
        "end": statement.end, "page": claim.passage.page, "text": claim.passage.quoted,
    }  # fmt: skip
