"""Each layer of HERO-QA on its own: what it does, by hand, and the trace that it leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from audit.errors import RetrievalError
from audit.pipeline.retrieval.model import Query
from audit.pipeline.retrieval.retrievers import Reranker, expand_query, read_synonym_groups
from audit.pipeline.retrieval.settings import LAYERS, RetrievalSettings
from audit.text.documents import Section
from tests.pipeline.retrieval.handbooks import ALDER, FLY, PASSAGES, build_strategy, handbook, hero, meanings

RENT = handbook(
    Section("s1", "Rent and receipts", "Rent is due on the first day."),
    Section("s2", "Moving in", "Keys are handed over at noon."),
    Section("s3", "Money matters", "Whoever pays in cash gets a receipt in writing from the landlord."),
)
CASH = "Must the landlord give me a written receipt for cash?"


def test_a_heading_that_shares_one_word_does_not_outweigh_the_text_that_answers() -> None:
    assert hero(CASH, document=RENT).ranked[0] == "s3"
    best = {layer["layer"]: layer["top"][0] for layer in hero(CASH, document=RENT).record()["layers"] if layer.get("top")}
    assert best["bm25_headings"]["section_id"] == "s1", "it is the best of the poor headings"


def test_a_heading_that_repeats_the_question_comes_first() -> None:
    repeated = replace(RENT, sections=(*RENT.sections, Section("s4", "When do I get a receipt for cash?", "See the office.")))
    assert hero("When do I get a receipt for cash?", document=repeated).ranked[0] == "s4"


def test_the_papers_fusion_is_reciprocal_ranks_with_less_weight_for_bodies_and_headings() -> None:
    def best(**weights: float) -> tuple[str, float]:
        settings = replace(PASSAGES, fusion="ranks", **weights)
        fused = build_strategy("hero", ALDER, settings, meanings()).retrieve(FLY).layers
        first = next(layer for layer in fused if layer.name == "fused").hits[0]
        return first.section_id, first.score

    assert best() == ("s2", pytest.approx((1 + 1 + 0.5 + 0.5) / 61)), "first in all four"
    assert best(bodies_weight=1.0, headings_weight=1.0) == ("s2", pytest.approx(4 / 61))
    assert best(dense_weight=2.0, headings_weight=0.0) == ("s2", pytest.approx((2 + 1 + 0.5) / 61))


def test_weights_below_zero_and_an_unknown_fusion_are_refused() -> None:
    with pytest.raises(ValueError, match="a retriever cannot weigh -1; allowed: 0 or more"):
        RetrievalSettings(fusion="ranks", dense_weight=-1)
    with pytest.raises(ValueError, match="fusion cannot be 'chance'; allowed: scores, ranks"):
        RetrievalSettings(fusion="chance")
    with pytest.raises(ValueError, match="neighbour_sections cannot be -1"):
        RetrievalSettings(neighbour_sections=-1)


def test_a_trace_lists_the_weights_that_were_used() -> None:
    names = ("dense_weight", "chunks_weight", "bodies_weight", "headings_weight")
    used = {fusion: RetrievalSettings(fusion=fusion).record() for fusion in ("scores", "ranks")}
    assert [used["scores"][name] for name in names] == [1, 0.3, 0.05, 1]
    assert [used["ranks"][name] for name in names] == [1, 1, 0.5, 0.5]


def test_the_expanded_question_reaches_the_vectors_where_that_is_asked_for() -> None:
    searched: list[list[str]] = []
    encoder = meanings()
    listening = replace(
        encoder, encode=lambda texts, progress: (searched.append(list(texts)), encoder.encode(texts, progress))[1]
    )
    for expand_dense in (False, True):
        build_strategy("hero", ALDER, replace(PASSAGES, expand_dense=expand_dense), listening).retrieve(
            Query("q", "Is kidney pain usual?", "kidney", ())
        )
    questions = [texts for texts in searched if any("kidney pain" in text for text in texts)]
    assert [len(texts) for texts in questions] == [1, 2]
    assert "renal" in questions[1][1]


def test_sections_next_to_a_hit_are_added_after_the_hits_once_and_only_with_text() -> None:
    sections = [Section(f"s{n}", f"Heading {n}", "Rent is due." if n == 3 else f"Text {n}." if n != 2 else " ") for n in range(6)]
    settings = replace(PASSAGES, passages=1, neighbour_sections=1)
    near = hero("When is rent due?", settings, handbook(*sections))
    assert [(p.section_id, p.origin, p.rank) for p in near.passages] == [("s3", "parent", 1), ("s4", "neighbour", 2)]
    wider = hero("When is rent due?", replace(settings, neighbour_sections=2), handbook(*sections))
    assert [p.section_id for p in wider.passages] == ["s3", "s1", "s4", "s5"]


def test_a_patients_word_is_expanded_to_the_handbooks_word() -> None:
    groups = read_synonym_groups()
    query = expand_query("Is kidney disease common?", groups, 0.3)
    assert query.weights["renal"] == 0.3
    assert query.weights["kidney"] == 1
    assert query.texts[0] == "Is kidney disease common?"
    assert "renal" in query.texts[1]


def test_a_table_of_ones_own_replaces_the_medical_synonyms(tmp_path: Path) -> None:
    table = tmp_path / "tenancy.toml"
    table.write_text('groups = [["landlord", "lessor"]]', encoding="utf-8")
    document = handbook(Section("s1", "", "The lessor keeps the deposit."), Section("s2", "", "Rent is due."))
    retrieval = build_strategy("hero", document, replace(PASSAGES, expansion=table)).retrieve(
        Query("q", "May the landlord enter?")
    )
    assert retrieval.ranked == ("s1",)
    assert build_strategy("hero", document, PASSAGES).retrieve(Query("q", "May the landlord enter?")).ranked == ()


def test_a_file_that_is_not_a_table_of_synonyms_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("groups = 3", encoding="utf-8")
    with pytest.raises(RetrievalError, match="is not a table of synonyms"):
        read_synonym_groups(tmp_path / "bad.toml")


def test_a_table_of_contents_has_every_word_and_still_comes_last() -> None:
    document = handbook(
        Section("s1", "Contents", "Travel and flights 4"),
        Section("s2", "", "You may travel after three months, flights included."),
    )
    weighted = build_strategy("hero", document, PASSAGES).retrieve(Query("q", "travel flights"))
    unweighted = build_strategy("hero", document, replace(PASSAGES, leave_out=frozenset({"navigation"}))).retrieve(
        Query("q", "travel flights")
    )
    assert (weighted.ranked[0], unweighted.ranked[0]) == ("s2", "s1")


def test_the_trace_names_every_layer_and_why_one_was_skipped() -> None:
    layers = {layer["layer"]: layer for layer in hero("When may I fly?").record()["layers"]}
    assert list(layers) == ["dense", "bm25_chunks", "bm25_bodies", "bm25_headings", "fused", "reranked", "expanded"]
    assert layers["reranked"] == {"layer": "reranked", "skipped": "no reranker was given"}
    assert layers["dense"]["top"][0]["section_id"] == "s2"
    bare = build_strategy("hero", ALDER, PASSAGES).retrieve(FLY).record()["layers"][0]
    assert bare == {"layer": "dense", "skipped": "no sentence model was given"}


def test_a_passage_records_its_rank_in_each_retriever() -> None:
    first = hero("When may I fly?").record()["passages"][0]
    ranks = {name: place["rank"] for name, place in first["retrievers"].items()}
    assert ranks == {"dense": 1, "bm25_chunks": 1, "bm25_bodies": 1, "bm25_headings": 1}, (
        "the heading has travel, a synonym of fly"
    )


@pytest.mark.parametrize("name", LAYERS)
def test_any_layer_can_be_left_out(name: str) -> None:
    retrieval = hero("What temperature is a fever?", replace(PASSAGES, leave_out=frozenset({name})))
    assert retrieval.ranked[0] == "s3"


def test_the_reranker_decides_the_order_and_reads_the_full_question() -> None:
    scored: list[tuple[str, str]] = []

    def prefers_fish(pairs: Sequence[tuple[str, str]]) -> list[float]:
        scored.extend(pairs)
        return [float("fish" in text) for _, text in pairs]

    retrieval = hero("fish or fever or dental work", reranker=Reranker("fish first", prefers_fish))
    assert retrieval.ranked[0] == "s5"
    assert scored[0][0] == "fish or fever or dental work"


def test_a_hit_in_a_short_section_becomes_the_section_and_in_a_long_one_its_neighbourhood() -> None:
    words = [f"w{number}" for number in range(1000)]
    words[500] = "needle"
    document = handbook(Section("s1", "Long", " ".join(words)), Section("s2", "Short", "A needle in one line."))
    passages = build_strategy("hero", document, PASSAGES).retrieve(Query("q", "needle")).passages
    context = {passage.section_id: passage for passage in passages}
    assert (context["s2"].origin, context["s2"].text) == ("parent", "A needle in one line.")
    assert context["s1"].origin == "neighbour"
    # The needle is in the chunk of words 384 to 543; its neighbours are 256 to 415 and 512 to 671.
    assert context["s1"].text.split()[0] == "w256"
    assert context["s1"].text.split()[-1] == "w671"
    assert context["s1"].text == document.sections[0].text[context["s1"].start : context["s1"].end]


def test_a_short_handbook_is_used_in_full_in_reading_order() -> None:
    retrieval = hero("What temperature is a fever?", RetrievalSettings())
    assert (retrieval.mode, retrieval.reason) == ("full_document", None)
    assert [passage.section_id for passage in retrieval.passages] == ["s1", "s2", "s3", "s4", "s5", "s6"], "s7 has no text"
    assert [passage.section_id for passage in retrieval.passages if passage.rank == 1] == ["s3"]
    assert all("text" not in passage for passage in retrieval.record()["passages"])


def test_passages_that_do_not_suffice_fall_back_to_the_full_document_with_a_reason() -> None:
    retrieval = hero("Does insurance cover parking fees?")
    assert retrieval.mode == "full_document_fallback"
    assert retrieval.reason == (
        "the passages contain 0% of the question's words, weighted by rarity; 50% are needed: the full document was used"
    )


def test_a_handbook_too_long_for_the_fallback_keeps_its_passages_with_a_reason() -> None:
    retrieval = hero("Does insurance cover parking fees?", replace(PASSAGES, fallback_characters=100))
    assert retrieval.mode == "passages"
    assert retrieval.reason is not None
    assert retrieval.reason.endswith("characters are too many to use the full document (limit 100)")


def test_a_question_of_stop_words_and_an_empty_handbook_find_nothing_without_failing() -> None:
    assert hero("What is it?").ranked == ()
    empty = build_strategy("hero", handbook(Section("s1", "", "")), PASSAGES).retrieve(FLY)
    assert (empty.passages, empty.ranked) == ((), ())
    assert build_strategy("hero", handbook(), PASSAGES).retrieve(FLY).ranked == ()


def test_a_handbook_of_one_section_with_a_strange_heading_is_searched() -> None:
    document = handbook(Section("s1", "✈ Reisen <b>&amp;</b> Flüge\u200b | 100 %", "Fly after three months."))
    retrieval = build_strategy("hero", document, PASSAGES).retrieve(Query("q", "FLÜGE?"))
    assert retrieval.ranked == ("s1",)
    assert retrieval.record()["sections"] == ["✈ Reisen <b>&amp;</b> Flüge\u200b | 100 %"]
