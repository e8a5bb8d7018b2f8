"""From verdicts on pairs of passages to findings: each disagreement of a handbook with itself once, with all its places."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from audit.pipeline.judging.within.pairs import Candidates, PassagePair, QuotedPlace
from audit.pipeline.verdict import Verdict
from audit.vocabulary import DISAGREEING, LABELS, Label

Verdicts = Mapping[PassagePair, Verdict]
Record = dict[str, Any]
Place = tuple[int, int]
"""`QuotedPlace.key`"""


def finding_records(handbook: str, judge: str, verdicts: Verdicts) -> Iterator[Record]:
    """The records of within_handbook.jsonl: one for each group of places that the disagreements connect."""
    disagreeing = [pair for pair, verdict in verdicts.items() if verdict.label in DISAGREEING]
    same = {_keys(pair) for pair, verdict in verdicts.items() if verdict.label == Label.CONSISTENT}
    for group in _groups(map(_keys, disagreeing)):
        pair, verdict = _gravest((pair, verdicts[pair]) for pair in disagreeing if pair.first.key in group)
        yield {
            "handbook_id": handbook, "question_id": pair.question_id, "classification": verdict.label,
            "clinical_significance": verdict.significance, "divergence_topic": verdict.topic or pair.subject,
            "reasoning": verdict.reasoning, "judge": judge, "places": [*_places(group, disagreeing, same)],
        }  # fmt: skip


def count_record(handbook: str, judge: str, candidates: Candidates, verdicts: Verdicts) -> Record:
    """The record of within_handbook_counts.jsonl: what was compared. A handbook without one was not compared."""
    scored = [verdict for verdict in verdicts.values() if verdict.label is not None]
    return {
        "handbook_id": handbook, "judge": judge, "statements": candidates.statements, "agreeing": candidates.agreeing,
        "compared": len(scored), "disagreeing": sum(verdict.label in DISAGREEING for verdict in scored),
        "unscored": len(verdicts) - len(scored), "not_asked": len(candidates.pairs) - len(verdicts),
    }  # fmt: skip


def _keys(pair: PassagePair) -> tuple[Place, Place]:
    return pair.first.key, pair.second.key


def _gravest(judged: Iterable[tuple[PassagePair, Verdict]]) -> tuple[PassagePair, Verdict]:
    order = {label.value: label.code for label in LABELS}
    return max(judged, key=lambda entry: order[entry[1].label or ""])


def _groups(pairs: Iterable[tuple[Place, Place]]) -> list[set[Place]]:
    """The places that pairs connect, directly or through others, in reading order of their first."""
    pairs = list(pairs)
    places = sorted({place for pair in pairs for place in pair})
    if not places:
        return []
    number = {place: index for index, place in enumerate(places)}
    rows, columns = zip(*((number[a], number[b]) for a, b in pairs), strict=True)
    graph = coo_array(([1] * len(pairs), (rows, columns)), shape=(len(places), len(places)))
    groups: dict[int, set[Place]] = defaultdict(set)
    for place, group in zip(places, connected_components(graph, directed=False)[1], strict=True):
        groups[group].add(place)
    return list(groups.values())


def _places(group: set[Place], disagreeing: Iterable[PassagePair], same: set[tuple[Place, Place]]) -> Iterator[Record]:
    """The places of a group. Those that the judge found consistent share a position, unless two of them disagree."""
    quoted = {place.key: place for pair in disagreeing for place in (pair.first, pair.second) if place.key in group}
    conflicts = {_keys(pair) for pair in disagreeing}
    position_of: dict[Place, int] = {}
    for key in sorted(quoted):
        alike = (other for other in position_of if (other, key) in same)
        position = next((position_of[other] for other in alike), len(set(position_of.values())) + 1)
        if any((other, key) in conflicts for other, taken in position_of.items() if taken == position):
            position = len(set(position_of.values())) + 1
        position_of[key] = position
    for key, position in sorted(position_of.items(), key=lambda entry: (entry[1], entry[0])):
        yield _place_record(quoted[key], position)


def _place_record(place: QuotedPlace, position: int) -> Record:
    return {
        "position": position, "value": None, "section_id": place.section.section_id, "start": place.passage.start,
        "end": place.passage.end, "page": place.page, "text": place.text,
    }  # fmt: skip
