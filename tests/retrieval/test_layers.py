"""Each layer of HERO-QA on its own: what it does, by hand, and the trace that it leaves."""

from __future__ import annotations

from dataclasses import replace
from math import log
from pathlib import Path

import pytest

from audit.corpus.documents import Document, Section
from audit.errors import RetrievalError
from audit.retrieval import Options, Query, build, build_index, strategy
from audit.retrieval.chunks import chunks
from audit.retrieval.expansion import expand, read_groups
from audit.retrieval.fusion import combined, fused
from audit.retrieval.model import Retrieval
from audit.retrieval.navigation import navigates
from audit.retrieval.options import LAYERS
from audit.retrieval.reranking import Reranker
from audit.retrieval.scales import from_lowest, from_none, likeness
from tests.retrieval.handbooks import ALDER, PASSAGES, meanings

FLY = Query("q1", "When may I fly?")


def _hero(text: str, options: Options = PASSAGES, document: Document = ALDER, reranker: Reranker | None = None) -> Retrieval:
    return build("hero", document, options, meanings(), reranker).retrieve(Query("q", text))


def _book(*sections: Section) -> Document:
    return Document("heart_birch_pre", "heart", "Birch", "pre", sections)


def test_reciprocal_ranks_add_up_by_hand() -> None:
    first, second = {7: 1, 8: 2}, {8: 1, 9: 2}
    assert fused([(first, 1.0), (second, 1.0)], 60) == pytest.approx({8: 1 / 62 + 1 / 61, 7: 1 / 61, 9: 1 / 62})
    assert list(fused([(first, 1.0), (second, 3.0)], 60)) == [8, 9, 7], "3/62 is more than 1/61"
    assert list(fused([(first, 1.0), (second, 1.0)], 60, {8: 0.3})) == [7, 9, 8], "0.3 (1/62 + 1/61) is less than 1/62"


def test_equal_sums_stay_in_reading_order() -> None:
    assert list(fused([({5: 1}, 1.0), ({2: 1}, 1.0)], 60)) == [2, 5]


def test_scores_add_up_by_hand() -> None:
    first, second = {7: 1.0, 8: 0.5}, {8: 1.0, 9: 0.25}
    assert combined([(first, 1.0), (second, 0.3)]) == pytest.approx({7: 1.0, 8: 0.8, 9: 0.075})
    assert list(combined([(first, 1.0), (second, 0.6)])) == [8, 7, 9], "0.5 + 0.6 is more than 1"
    assert list(combined([(first, 1.0), (second, 0.6)], {8: 0.3})) == [7, 8, 9], "0.3 of 1.1 is less than 1"


def test_cosines_go_from_the_lowest_found_and_scores_of_words_from_none() -> None:
    index = build_index(ALDER, PASSAGES)
    assert from_lowest(index, {3: 0.8, 1: 0.7, 2: 0.6}, "") == pytest.approx({3: 1.0, 1: 0.5, 2: 0.0})
    assert from_none(index, {3: 8.0, 1: 6.0}, "") == pytest.approx({3: 1.0, 1: 0.75})
    assert from_lowest(index, {3: 0.6}, "") == {3: 1.0}, "the only one found is the nearest"
    assert (from_lowest(index, {}, ""), from_none(index, {}, "")) == ({}, {})


def test_a_heading_is_like_a_question_by_what_each_holds_of_the_other() -> None:
    # Three headings; "deposit" stands in two of them, the other words in one: rarity log(1 + 3/2.5) and log(1 + 3/1.5).
    book = _book(Section("s1", "Deposit limit", "a"), Section("s2", "Deposit return", "b"), Section("s3", "Pets", "c"))
    index = build_index(book, PASSAGES)
    common, rare = log(1 + 3 / 2.5), log(1 + 3 / 1.5)
    limit = index.title_words[0]
    assert likeness(index, limit, limit) == pytest.approx(1)
    assert likeness(index, limit & index.title_words[1], limit) == pytest.approx(common / (common + rare))
    assert likeness(index, index.title_words[1], limit) == pytest.approx((common / (common + rare)) ** 2)
    assert likeness(index, index.title_words[2], limit) == 0


RENT = _book(
    Section("s1", "Rent and receipts", "Rent is due on the first day."),
    Section("s2", "Moving in", "Keys are handed over at noon."),
    Section("s3", "Money matters", "Whoever pays in cash gets a receipt in writing from the landlord."),
)
CASH = "Must the landlord give me a written receipt for cash?"


def test_a_heading_that_shares_one_word_does_not_outweigh_the_text_that_answers() -> None:
    assert _hero(CASH, document=RENT).ranked[0] == "s3"
    best = {layer["layer"]: layer["top"][0] for layer in _hero(CASH, document=RENT).record()["layers"] if layer.get("top")}
    assert best["bm25_headings"]["section_id"] == "s1", "of poor headings it is the best"


def test_a_heading_that_repeats_the_question_comes_first() -> None:
    repeated = replace(RENT, sections=(*RENT.sections, Section("s4", "When do I get a receipt for cash?", "See the office.")))
    assert _hero("When do I get a receipt for cash?", document=repeated).ranked[0] == "s4"


def test_the_papers_fusion_is_reciprocal_ranks_that_count_alike() -> None:
    found = build("hero", ALDER, replace(PASSAGES, fusion="ranks"), meanings()).retrieve(FLY)
    first = next(layer for layer in found.layers if layer.name == "fused").hits[0]
    assert (first.section_id, first.score) == ("s2", pytest.approx(4 / 61)), "first in all four"


def test_weights_that_fusion_by_ranks_would_not_heed_are_refused() -> None:
    with pytest.raises(ValueError, match="counts all retrievers alike, and takes no dense_weight"):
        Options(fusion="ranks", dense_weight=2)
    with pytest.raises(ValueError, match="no fusion by chance; allowed: scores, ranks"):
        Options(fusion="chance")


def test_chunks_of_160_words_share_32_with_the_one_before() -> None:
    words = [f"w{number}" for number in range(300)]
    text = " ".join(words)
    found = [text[chunk.start : chunk.end].split() for chunk in chunks(_book(Section("s1", "Long", text)), Options())]
    assert [(each[0], each[-1]) for each in found] == [("w0", "w159"), ("w128", "w287"), ("w256", "w299")]


def test_a_section_of_160_words_is_one_chunk_and_an_empty_one_too() -> None:
    book = _book(Section("s1", "Full", "word " * 160), Section("s2", "Empty", ""))
    assert [(chunk.section, chunk.start) for chunk in chunks(book, Options())] == [(0, 0), (1, 0)]


def test_a_patients_word_finds_the_handbooks_word() -> None:
    groups = read_groups()
    asked = expand("Is kidney disease common?", groups, 0.3)
    assert asked.weights["renal"] == 0.3
    assert asked.weights["kidney"] == 1
    assert asked.queries[0] == "Is kidney disease common?"
    assert "renal" in asked.queries[1]


def test_own_words_that_mean_the_same_replace_the_shipped_ones(tmp_path: Path) -> None:
    table = tmp_path / "tenancy.toml"
    table.write_text('groups = [["landlord", "lessor"]]', encoding="utf-8")
    book = _book(Section("s1", "", "The lessor keeps the deposit."), Section("s2", "", "Rent is due."))
    found = build("hero", book, replace(PASSAGES, expansion=table)).retrieve(Query("q", "May the landlord enter?"))
    assert found.ranked == ("s1",)
    assert build("hero", book, PASSAGES).retrieve(Query("q", "May the landlord enter?")).ranked == ()


def test_a_table_that_is_none_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("groups = 3", encoding="utf-8")
    with pytest.raises(RetrievalError, match="no table of words that mean the same"):
        read_groups(tmp_path / "bad.toml")


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        (Section("s", "Table of Contents", "anything"), True),
        (Section("s", "", "Travel .... 4\nFever .... 7\nTeeth .... 9\nFish .... 12"), True),
        (Section("s", "Fever", "Call us above 38.\nAt night too."), False),
    ],
)
def test_contents_are_known_by_their_heading_or_by_their_page_numbers(section: Section, expected: bool) -> None:
    assert navigates(section) is expected


def test_contents_hold_every_word_and_still_come_last() -> None:
    book = _book(
        Section("s1", "Contents", "Travel and flights 4"),
        Section("s2", "", "You may travel after three months, flights included."),
    )
    weighed = build("hero", book, PASSAGES).retrieve(Query("q", "travel flights"))
    unweighed = build("hero", book, replace(PASSAGES, leave_out=frozenset({"navigation"}))).retrieve(Query("q", "travel flights"))
    assert (weighed.ranked[0], unweighed.ranked[0]) == ("s2", "s1")


def test_the_trace_names_every_layer_and_why_one_did_nothing() -> None:
    layers = {layer["layer"]: layer for layer in _hero("When may I fly?").record()["layers"]}
    assert list(layers) == ["dense", "bm25_chunks", "bm25_bodies", "bm25_headings", "fused", "reranked", "expanded"]
    assert layers["reranked"] == {"layer": "reranked", "skipped": "no reranker was given"}
    assert layers["dense"]["top"][0]["section_id"] == "s2"
    bare = build("hero", ALDER, PASSAGES).retrieve(FLY).record()["layers"][0]
    assert bare == {"layer": "dense", "skipped": "no sentence model was given"}


def test_a_passage_says_where_each_retriever_had_it() -> None:
    first = _hero("When may I fly?").record()["passages"][0]
    ranks = {name: found["rank"] for name, found in first["retrievers"].items()}
    assert ranks == {"dense": 1, "bm25_chunks": 1, "bm25_bodies": 1, "bm25_headings": 1}, (
        "the heading says travel, which is to fly"
    )


@pytest.mark.parametrize("name", LAYERS)
def test_any_layer_can_be_left_out(name: str) -> None:
    found = _hero("What temperature is a fever?", replace(PASSAGES, leave_out=frozenset({name})))
    assert found.ranked[0] == "s3"


def test_the_reranker_has_the_last_word_and_reads_whole_questions() -> None:
    read: list[tuple[str, str]] = []

    def prefers_fish(pairs: object) -> list[float]:
        read.extend(pairs)  # type: ignore[arg-type]
        return [float("fish" in text) for _, text in read]

    found = _hero("fish or fever or dental work", reranker=Reranker("fish first", prefers_fish))
    assert found.ranked[0] == "s5"
    assert read[0][0] == "fish or fever or dental work"


def test_a_short_section_is_given_whole_and_a_long_one_with_its_neighbours() -> None:
    words = [f"w{number}" for number in range(1000)]
    words[500] = "needle"
    book = _book(Section("s1", "Long", " ".join(words)), Section("s2", "Short", "A needle in one line."))
    given = {passage.section_id: passage for passage in build("hero", book, PASSAGES).retrieve(Query("q", "needle")).passages}
    assert (given["s2"].origin, given["s2"].text) == ("parent", "A needle in one line.")
    assert given["s1"].origin == "neighbour"
    # The needle is in the chunk of words 384 to 543; its neighbours are 256 to 415 and 512 to 671.
    assert given["s1"].text.split()[0] == "w256"
    assert given["s1"].text.split()[-1] == "w671"
    assert given["s1"].text == book.sections[0].text[given["s1"].start : given["s1"].end]


def test_a_short_handbook_goes_whole_in_reading_order() -> None:
    found = _hero("What temperature is a fever?", Options())
    assert (found.mode, found.reason) == ("full_document", None)
    assert [passage.section_id for passage in found.passages] == ["s1", "s2", "s3", "s4", "s5", "s6"], "s7 has no text"
    assert [passage.section_id for passage in found.passages if passage.rank == 1] == ["s3"]
    assert all("text" not in passage for passage in found.record()["passages"])


def test_thin_evidence_falls_back_to_the_whole_handbook_and_says_why() -> None:
    found = _hero("Does insurance cover parking fees?")
    assert found.mode == "full_document_fallback"
    assert found.reason == "the passages hold 0% of the question's weighty words, under 50%: the handbook went whole"


def test_a_handbook_too_long_to_go_whole_gives_its_passages_and_says_so() -> None:
    found = _hero("Does insurance cover parking fees?", replace(PASSAGES, fallback_characters=100))
    assert found.mode == "passages"
    assert found.reason is not None
    assert found.reason.endswith("characters are too many to go whole (limit 100)")


def test_a_question_of_stop_words_and_an_empty_handbook_find_nothing_and_fail_nothing() -> None:
    assert _hero("What is it?").ranked == ()
    empty = build("hero", _book(Section("s1", "", "")), PASSAGES).retrieve(FLY)
    assert (empty.passages, empty.ranked) == ((), ())
    assert build("hero", _book(), PASSAGES).retrieve(FLY).ranked == ()


def test_a_handbook_of_one_section_with_a_strange_heading_is_searched() -> None:
    book = _book(Section("s1", "✈ Reisen <b>&amp;</b> Flüge\u200b | 100 %", "Fly after three months."))
    found = build("hero", book, PASSAGES).retrieve(Query("q", "FLÜGE?"))
    assert found.ranked == ("s1",)
    assert found.record()["sections"] == ["✈ Reisen <b>&amp;</b> Flüge\u200b | 100 %"]


def test_the_same_question_gives_the_same_record_from_a_kept_index(tmp_path: Path) -> None:
    fresh = strategy("hero", build_index(ALDER, PASSAGES, meanings(), tmp_path)).retrieve(FLY)
    (kept,) = tmp_path.iterdir()
    before = kept.stat().st_mtime_ns
    again = strategy("hero", build_index(ALDER, PASSAGES, meanings(), tmp_path)).retrieve(FLY)
    assert kept.stat().st_mtime_ns == before, "it was read, not made"
    assert replace(fresh, seconds=0.0) == replace(again, seconds=0.0)


def test_another_text_or_another_way_of_cutting_it_is_another_index(tmp_path: Path) -> None:
    build_index(ALDER, PASSAGES, None, tmp_path)
    build_index(replace(ALDER, sections=ALDER.sections[:3]), PASSAGES, None, tmp_path)
    build_index(ALDER, replace(PASSAGES, chunk_words=100), None, tmp_path)
    build_index(ALDER, PASSAGES, meanings(), tmp_path)
    assert len(list(tmp_path.iterdir())) == 4


def test_dense_without_a_model_is_refused_in_a_sentence() -> None:
    with pytest.raises(RetrievalError, match="'dense' needs a sentence model"):
        build("dense", ALDER, PASSAGES)
