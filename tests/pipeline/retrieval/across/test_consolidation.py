"""From a pool to evidence, by hand: base scores, near-duplicates, caps, and the neighbours of a chunk."""

from __future__ import annotations

import pytest

from audit.pipeline.retrieval.across.consolidation import Routed, base_scores, consolidate, overlap, paper_scores
from audit.pipeline.retrieval.across.library import ChunkHit, Library, build_library
from audit.pipeline.retrieval.across.settings import ConsolidationSettings
from audit.pipeline.retrieval.across.sources import Source
from audit.release.sourced_answers import ChunkId
from tests.pipeline.retrieval.across.libraries import SETTINGS, document

LONG = document(
    "long", "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen", "fever clinic"
)
COPY = document("copy", "Clinic, fever!", "fish")
BOOKS = (Source("a", ("long",)), Source("b", ("copy",)))


def books() -> Library:
    return build_library((LONG, COPY), BOOKS, SETTINGS)


def candidate(library: Library, source: str, handbook: str, row: int, score: float, rank: int) -> ChunkHit:
    index = library.indexes[handbook]
    chunk = index.chunks[row]
    return ChunkHit(source, ChunkId(handbook, index.document.sections[chunk.section].section_id, chunk.start), row, score, rank)


def pool(library: Library) -> list[ChunkHit]:
    """Rows 0 to 2 of long are its first section; 3 is "fever clinic", and row 0 of copy says the same."""
    return [
        candidate(library, "a", "long", 1, 10, 1),
        candidate(library, "a", "long", 0, 8, 2),
        candidate(library, "a", "long", 3, 4, 4),
        candidate(library, "b", "copy", 0, 6, 1),
        candidate(library, "b", "copy", 1, 0, 2),
    ]


def test_the_base_score_mixes_score_and_rank_within_the_pool() -> None:
    # Scores 10, 8, 4, 6, 0 from 0 to 1: 1, .8, .4, .6, 0; one over rank 1, 1/2, 1/4, 1, 1/2: 1, 1/3, 0, 1, 1/3
    expected = [0.75 * 1 + 0.25, 0.75 * 0.8 + 0.25 / 3, 0.75 * 0.4, 0.75 * 0.6 + 0.25, 0.25 / 3]
    assert paper_scores(pool(books()), 0.75) == pytest.approx(expected)
    assert paper_scores(pool(books())[:1], 0.75) == [1.0]
    assert paper_scores([], 0.75) == []


def test_the_rest_of_the_base_score_is_a_semantic_ranker_where_there_is_one() -> None:
    # Scores 3, 2, 1 from 0 to 1: 1, .5, 0; the ranker's .3, .7, .1: 1/3, 1, 0. Places 1, 2, 3 would give 1, 1/4, 0
    hits = [candidate(books(), "a", "long", 0, score, rank) for rank, score in enumerate((3, 2, 1), start=1)]
    assert paper_scores(hits, 0.4, [0.3, 0.7, 0.1]) == pytest.approx([0.4 + 0.6 / 3, 0.4 * 0.5 + 0.6, 0])
    assert paper_scores(hits, 0.4) == pytest.approx([1, 0.4 * 0.5 + 0.6 / 4, 0])


def test_opening_and_route_take_their_shares_of_the_base_score() -> None:
    library = books()
    settings = ConsolidationSettings(retrieval_share=1.0, opening_share=0.25, route_share=0.25, opening_characters=12)
    routed = Routed({"fever": 3.0, "six": 1.0}, {"a": 0.8})
    # Scores 1, .8, .4, .6, 0. "one two thre" has neither word; "fever clinic" and "Clinic, feve" have 3 of 4 and none
    scores = base_scores(library, pool(library), settings, routed)
    assert scores == pytest.approx([0.5 + 0.2, 0.4 + 0.2, 0.2 + 0.25 * 3 / 4 + 0.2, 0.3, 0])
    assert base_scores(library, pool(library), settings) == pytest.approx([0.5, 0.4, 0.2, 0.3, 0])


def test_evidence_has_one_passage_of_a_section_and_none_twice() -> None:
    library = books()
    evidence = consolidate(library, pool(library), ConsolidationSettings(retrieval_share=0.75, neighbours=0))
    assert [str(one.candidate.chunk_id) for one in evidence] == ["long/s1#28", "copy/s1#0", "copy/s2#0"]
    assert [one.duplicates for one in evidence] == [(), (ChunkId("long", "s2", 0),), ()]
    assert evidence[0].text == LONG.sections[0].text[evidence[0].start : evidence[0].end] == "seven eight nine ten eleven twelve"


def test_caps_of_section_handbook_and_length() -> None:
    library = books()
    two = consolidate(library, pool(library), ConsolidationSettings(per_section=2, retrieval_share=1.0))
    assert [one.candidate.row for one in two if one.candidate.source_id == "a"] == [1, 0]
    each = consolidate(library, pool(library), ConsolidationSettings(per_handbook=1, retrieval_share=1.0))
    assert [one.candidate.chunk_id.handbook_id for one in each] == ["long", "copy"]
    assert len(consolidate(library, pool(library), ConsolidationSettings(passages=1))) == 1
    assert consolidate(library, []) == []


def test_a_passage_is_widened_within_its_section() -> None:
    library = books()
    first, *_ = consolidate(library, pool(library), ConsolidationSettings(neighbours=1))
    assert first.text == LONG.sections[0].text, "one chunk before and one after are all of this section"
    (edge,) = consolidate(library, [candidate(library, "a", "long", 0, 1, 1)], ConsolidationSettings(neighbours=1))
    assert edge.text == "one two three four five six seven eight nine ten eleven twelve"


def test_overlap_is_jaccard() -> None:
    assert overlap(frozenset("abc"), frozenset("bcd")) == 2 / 4
    assert overlap(frozenset(), frozenset()) == 1
    assert overlap(frozenset("a"), frozenset()) == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"retrieval_share": 1.1},
        {"near_duplicate": 0},
        {"passages": 0},
        {"per_handbook": 0},
        {"opening_share": 0.7, "route_share": 0.4},
    ],
)
def test_settings_outside_their_range_are_refused(changes: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must be"):
        ConsolidationSettings(**changes)  # type: ignore[arg-type]
