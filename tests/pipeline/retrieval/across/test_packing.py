"""Support and packing by hand."""

from __future__ import annotations

from math import log

import pytest

from audit.pipeline.retrieval.across.consolidation import EvidenceChunk
from audit.pipeline.retrieval.across.evidence import pack, passage_tokens
from audit.pipeline.retrieval.across.library import ChunkHit
from audit.pipeline.retrieval.across.settings import CrossSourceSettings, GraphSettings, PackingSettings
from audit.pipeline.retrieval.across.support import Alignment, fused, support
from audit.release.sourced_answers import ChunkId


def passage(source: str, section: str, base: float, tokens: int = 10, handbook: str = "") -> EvidenceChunk:
    hit = ChunkHit(source, ChunkId(handbook or source, section, 0), 0, base, 1)
    return EvidenceChunk(hit, base, 0, 4 * tokens, "x" * 4 * tokens, final=base)


def sections(passages: tuple[EvidenceChunk, ...] | list[EvidenceChunk]) -> list[str]:
    return [one.candidate.chunk_id.section_id for one in passages]


def test_support_is_overlap_proximity_and_the_bonus_of_another_source() -> None:
    settings = GraphSettings(overlap_weight=2, proximity_weight=3, other_source_weight=0.5)
    assert support(Alignment(2, 0), False, settings) == pytest.approx(2 * log(3) + 3)
    assert support(Alignment(0, 2), True, settings) == pytest.approx(3 / 3 + 0.5)
    assert support(Alignment(0, None), False, settings) == 0


def test_the_final_score_mixes_base_and_support_from_0_to_1() -> None:
    settings = GraphSettings(overlap_weight=1, proximity_weight=0, other_source_weight=0, base_share=0.75)
    evidence = [passage("a", "a1", 0.8), passage("a", "a2", 0.6), passage("b", "b1", 0.0)]
    alignments = [Alignment(0, None), Alignment(3, None), Alignment(1, None)]
    # Base 1, .75, 0; support 0, log 4, log 2 = half of log 4
    ordered = fused(evidence, alignments, "a", settings)
    assert {one.candidate.chunk_id.section_id: one.final for one in ordered} == pytest.approx(
        {"a1": 0.75, "a2": 0.75 * 0.75 + 0.25, "b1": 0.25 / 2}
    )
    assert sections(ordered) == ["a2", "a1", "b1"]
    assert ordered[0].support == pytest.approx(log(4))


def test_a_graph_that_shows_nothing_changes_no_order() -> None:
    evidence = [passage("a", "a1", 0.8), passage("a", "a2", 0.6)]
    ordered = fused(evidence, [Alignment(0, None)] * 2, "a", GraphSettings(base_share=0.1))
    assert sections(ordered) == ["a1", "a2"]
    assert fused([], [], "a", GraphSettings()) == []


def test_each_required_source_comes_first_then_the_best() -> None:
    ranked = [passage("a", "a1", 1.0), passage("a", "a2", 0.9), passage("a", "a3", 0.8), passage("b", "b1", 0.1)]
    assert sections(pack(ranked, [], PackingSettings(passages=2)).passages) == ["a1", "a2"]
    packing = pack(ranked, ["b"], PackingSettings(passages=2))
    assert sections(packing.passages) == ["a1", "b1"], "in the order of their scores, whatever was kept first"
    assert {step.passage.candidate.chunk_id.section_id: step.decision for step in packing.steps} == {
        "b1": "required", "a1": "ranked", "a2": "enough passages", "a3": "enough passages",
    }  # fmt: skip


def test_a_required_source_is_covered_before_the_share_of_a_handbook_counts() -> None:
    # One handbook holds two sources: with one passage of a handbook at most, the second source would be left out
    ranked = [
        passage("a", "a1", 1.0, handbook="one"),
        passage("b", "b1", 0.5, handbook="one"),
        passage("a", "a2", 0.4, handbook="two"),
    ]
    settings = PackingSettings(passages=None, per_handbook=1, as_picked=True)
    packing = pack(ranked, ["b", "a"], settings)
    assert (sections(packing.passages), packing.notes) == (["a1", "b1", "a2"], ())
    assert sections(pack(ranked, ["b"], settings).passages) == ["b1", "a2"]


def test_passages_stay_in_the_order_of_picking_where_that_is_asked_for() -> None:
    ranked = [passage("a", "a1", 1.0), passage("a", "a2", 0.9), passage("b", "b1", 0.1)]
    assert sections(pack(ranked, ["b"], PackingSettings(as_picked=True)).passages) == ["b1", "a1", "a2"]
    assert sections(pack(ranked, ["b"], PackingSettings()).passages) == ["a1", "a2", "b1"]


def test_expected_sources_come_after_the_required_ones() -> None:
    ranked = [passage("a", "a1", 1.0), passage("a", "a2", 0.9), passage("b", "b1", 0.2), passage("c", "c1", 0.1)]
    assert sections(pack(ranked, ["c"], PackingSettings(passages=2), ["b", "c"]).passages) == ["b1", "c1"]
    packing = pack(ranked, ["c"], PackingSettings(passages=1), ["b"])
    assert (sections(packing.passages), packing.notes) == (["c1"], ()), "only what is required is missed"


def test_tokens_and_the_share_of_a_handbook_limit_what_is_kept() -> None:
    ranked = [passage("a", "a1", 1.0, 30), passage("a", "a2", 0.9, 80), passage("a", "a3", 0.8, 10), passage("b", "b1", 0.1, 10)]
    assert passage_tokens(ranked[0]) == 30
    packing = pack(ranked, [], PackingSettings(tokens=100, passages=None))
    assert (sections(packing.passages), packing.tokens) == (["a1", "a3", "b1"], 50)
    assert [step.decision for step in packing.steps] == ["ranked", "does not fit", "ranked", "ranked"]
    packing = pack(ranked, [], PackingSettings(tokens=200, passages=None, per_handbook=1))
    assert sections(packing.passages) == ["a1", "b1"]


def test_a_required_passage_that_does_not_fit_gives_way_to_the_next_of_its_source() -> None:
    ranked = [passage("a", "a1", 1.0, 50), passage("b", "b1", 0.5, 120), passage("b", "b2", 0.4, 40)]
    packing = pack(ranked, ["b"], PackingSettings(tokens=100))
    assert (sections(packing.passages), packing.notes) == (["a1", "b2"], ())
    packing = pack(ranked[:2], ["b"], PackingSettings(tokens=100))
    assert sections(packing.passages) == ["a1"]
    assert packing.notes == (
        "No passage of the required source 'b' fits within 100 tokens and the other limits. The evidence does not cover it.",
    )


def test_too_few_tokens_for_any_passage_are_said_to_be() -> None:
    packing = pack([passage("a", "a1", 1.0, 50), passage("a", "a2", 1.0, 40)], ["a"], PackingSettings(tokens=10))
    assert packing.passages == ()
    assert packing.notes == (
        "10 tokens are too few for any passage: the shortest of 2 has about 40. No passage was kept; allow more tokens.",
    )
    assert pack([], ["a"], PackingSettings()).notes == (), "what a source lacks is routing's to say"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GraphSettings(hops=0), "hops and degree_minimum at least 1"),
        (lambda: GraphSettings(base_share=1.1), "base_share must be from 0 to 1"),
        (lambda: GraphSettings(overlap_weight=-1), "must be at least 0"),
        (lambda: PackingSettings(tokens=0), "must be at least 1"),
        (lambda: PackingSettings(expected_share=0), "expected_share must be above 0"),
        (lambda: CrossSourceSettings(candidates=0), "candidates must be at least 1"),
    ],
)
def test_settings_outside_their_range_are_refused(make: type, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
