"""Sources, the library's chunk ids, and its scores on one scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import log
from pathlib import Path

import pytest

from audit.errors import RetrievalError
from audit.pipeline.embedding.vectors import Progress, Vectors
from audit.pipeline.retrieval.across.baselines import concatenated_pool, merged_pool, single_source_pool
from audit.pipeline.retrieval.across.library import BM25, DENSE, OWN_BM25, build_library, rarity
from audit.pipeline.retrieval.across.sources import Source, declared_sources, sources_by
from audit.pipeline.retrieval.bm25 import tokens
from audit.release.sourced_answers import ChunkId
from tests.pipeline.retrieval.across.libraries import ALDER, BIRCH, CEDAR, EMPTY, GUIDES, NOTHING, SETTINGS, SHORT, library
from tests.pipeline.retrieval.handbooks import meanings

HANDBOOKS = (ALDER, BIRCH, CEDAR)


def test_the_meanings_of_chunks_are_their_cosines_and_unknown_without_vectors() -> None:
    books = library(encoder=meanings())
    hits = books.search("fever", BM25)["guides"]
    dense = {hit.chunk_id: hit.score for found in books.search("my temperature", DENSE).values() for hit in found}
    cosines = books.meanings("my temperature", hits)
    assert cosines == pytest.approx([dense.get(hit.chunk_id, 0.0) for hit in hits])
    assert max(cosines or [0]) > 0
    assert library().meanings("my temperature", hits) is None


def test_sources_are_centers_organs_or_declared_groups() -> None:
    assert [source.source_id for source in sources_by(HANDBOOKS, "center")] == ["ALDER", "BIRCH", "CEDAR"]
    assert sources_by(HANDBOOKS, "organ", {"kidney": 0.25}) == (Source("kidney", ("alder", "birch", "cedar"), 0.25),)
    declared = declared_sources(HANDBOOKS, {"guides": ["alder", "BIRCH"], "short": ["cedar"]}, {"guides": 1, "short": 0})
    assert declared == (GUIDES, SHORT), "a member is named by its id or its center"


@pytest.mark.parametrize("authority", [-0.1, 1.01, float("nan")])
def test_an_authority_outside_0_to_1_is_refused(authority: float) -> None:
    with pytest.raises(RetrievalError, match="allowed: 0 to 1"):
        Source("guides", ("alder",), authority)


def test_groups_that_cannot_be_meant_are_refused() -> None:
    with pytest.raises(RetrievalError, match="'oak', which is neither a handbook nor a center"):
        declared_sources(HANDBOOKS, {"guides": ["oak"]})
    with pytest.raises(RetrievalError, match="'alder' is in more than one source"):
        declared_sources(HANDBOOKS, {"guides": ["alder"], "short": ["ALDER"]})
    with pytest.raises(RetrievalError, match="'guide', which is not a source"):
        declared_sources(HANDBOOKS, {"guides": ["alder"]}, {"guide": 1})
    with pytest.raises(RetrievalError, match="grouped by 'phase'"):
        sources_by(HANDBOOKS, "phase")
    with pytest.raises(RetrievalError, match="need oak"):
        build_library(HANDBOOKS, [Source("guides", ("oak",))], SETTINGS)
    with pytest.raises(RetrievalError, match="need any handbook"):
        build_library(HANDBOOKS, [], SETTINGS)


def test_the_scores_of_all_handbooks_are_those_of_one_index() -> None:
    # Each chunk has as many stems as the others, so that the mean length, a handbook's only own statistic, is the same
    lengths = {len(tokens(section.text)) for handbook in HANDBOOKS for section in handbook.sections}
    assert len(lengths) == 1
    for question in ("fever", "fever clinic nurses", "raw fish today"):
        found = {str(one.chunk_id): one.score for chunks in library().search(question).values() for one in chunks}
        assert found == pytest.approx({str(one.chunk_id): one.score for one in merged_pool(library(), question, 10)})


def test_a_word_is_as_rare_as_in_the_whole_library() -> None:
    own = library().search("fever", OWN_BM25)["short"][0]
    shared = library().search("fever")["short"][0]
    # 3 of 6 chunks of the library have it, and 1 of the 2 of this handbook
    assert rarity(6, 2) == pytest.approx(log(1 + 4.5 / 2.5))
    assert shared.score == pytest.approx(own.score), "half of the chunks in both"
    own, shared = (library().search("fish", name)["short"][0] for name in (OWN_BM25, "bm25"))
    assert shared.score / own.score == pytest.approx(log(1 + 5.5 / 1.5) / log(1 + 1.5 / 1.5))


def test_chunk_ids_and_order_are_the_same_in_every_run_and_from_the_cache(tmp_path: Path) -> None:
    build = [build_library((ALDER, BIRCH, CEDAR), (GUIDES, SHORT), SETTINGS, folder=tmp_path) for _ in range(2)]
    assert len(list(tmp_path.glob("*.npz"))) == 3, "one file for each handbook, read the second time"
    first, second = (one.search("fever clinic") for one in build)
    assert first == second
    assert first["guides"][0].chunk_id == ChunkId("alder", "s1", 0)
    assert [one.rank for one in first["guides"]] == [1, 2]
    assert build[0].text(first["guides"][0]) == "Call clinic nurses: fever rises tonight."


def test_a_library_is_searched_by_meaning_too() -> None:
    found = library(encoder=meanings()).search("my temperature", DENSE)
    assert {one.chunk_id.section_id for chunks in found.values() for one in chunks} == {"s1"}
    with pytest.raises(RetrievalError, match="no retriever 'splade'"):
        library().search("fever", "splade")


def test_a_question_is_encoded_once_for_all_handbooks() -> None:
    encoder, encoded = meanings(), list[str]()

    def encode(phrases: Sequence[str], progress: Progress) -> Vectors:
        encoded.extend(phrases)
        return encoder.encode(phrases, progress)

    books = library(encoder=replace(encoder, encode=encode))
    encoded.clear()
    hits = [hit for hits in books.search("my temperature", DENSE).values() for hit in hits]
    assert {str(hit.chunk_id): hit.score for hit in hits} == {
        str(hit.chunk_id): books.scores("my temperature", hit.chunk_id.handbook_id, DENSE)[hit.row] for hit in hits
    }
    assert encoded == ["my temperature"]


def test_a_source_without_text_is_known() -> None:
    assert library(GUIDES, NOTHING).without_text == {"nothing"}
    assert library(GUIDES, NOTHING).search("fever")["nothing"] == ()
    assert EMPTY.full_text == ""


def test_baselines_take_their_part_of_the_sources() -> None:
    books = library()
    assert [str(one.chunk_id) for one in single_source_pool(books, "short", "fever", 5)] == ["cedar/s1#0"]
    # 2 chunks in all: 1 of each source
    assert [one.source_id for one in concatenated_pool(books, "fever", 2)] == ["guides", "short"]
    (best,) = merged_pool(books, "fish germs", 1)
    assert (best.source_id, best.chunk_id, books.text(best)) == (
        "short",
        ChunkId("cedar", "s2", 0),
        "Raw fish carries several dangerous germs.",
    )


def test_the_match_of_an_opening_does_not_depend_on_the_order_of_its_words() -> None:
    # A set has another order in every process: a plain sum is 1e16 with the large one first, and 1e16 + 4 with it last
    rarities = {"call": 1.0, "clinic": 1.0, "nurs": 1.0, "fever": 1.0, "tonight": 1e16, "absent": 1e16}
    (hit, *_) = library().search("call clinic nurses")["guides"]
    assert library().opening_match(rarities, hit, 160) == (1e16 + 4) / (2e16 + 4) != 0.5
