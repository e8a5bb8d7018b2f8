"""From a question to packed evidence: bridging, coverage, the trace, and input that cannot be used as it is meant."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from audit.errors import RetrievalError
from audit.pipeline.retrieval.across.entities import DictionaryRecogniser
from audit.pipeline.retrieval.across.evidence import GatheredEvidence, gather
from audit.pipeline.retrieval.across.library import Library, build_library
from audit.pipeline.retrieval.across.settings import CrossSourceSettings, DaksSettings, GraphSettings, PackingSettings
from audit.pipeline.retrieval.across.sources import Source
from tests.pipeline.retrieval.across.libraries import EMPTY, SETTINGS, document, library

TERMS = DictionaryRecogniser(
    {"drug": {"tacrolimus": ["Prograf"]}, "symptom": {"tremor": ["shaking"], "fever": []}, "person": {"patient": []}}
)
ALDER = document(
    "alder",
    "Patient, when is Prograf dangerous? Ask.",
    "Patient, fever needs your doctor today.",
    "Patient, gloves protect hands outdoors always.",
)
BIRCH = document(
    "birch", "Patient, tacrolimus often causes shaking hands.", "Patient, swimming delays healing wounds completely."
)
PAPER = CrossSourceSettings.paper()
assert PAPER.graph
GRAPH = replace(PAPER.graph, degree_minimum=4, degree_share=0.1)
PLAIN = replace(PAPER, graph=GRAPH)


def books() -> Library:
    sources = (Source("a", ("alder",)), Source("b", ("birch",)), Source("c", ("empty",)))
    return build_library((ALDER, BIRCH, EMPTY), sources, SETTINGS)


def ask(question: str, settings: CrossSourceSettings = PLAIN, **options: Any) -> GatheredEvidence:
    return gather(books(), question, settings, recogniser=TERMS, **options)


def kept(evidence: GatheredEvidence) -> list[tuple[str, bool]]:
    return [(str(one.candidate.chunk_id), one.bridged) for one in evidence.passages]


def test_a_passage_with_no_word_of_the_question_is_found_by_its_synonym() -> None:
    evidence = ask("When is Prograf dangerous?")
    assert kept(evidence) == [("alder/s1#0", False), ("birch/s1#0", True)]
    best, bridged = evidence.passages
    assert (bridged.source_id, bridged.candidate.score, bridged.candidate.rank) == ("b", 0.0, 21)
    # Both name the seed; the other source has a bonus of .5
    assert (best.support, bridged.support) == (pytest.approx(0.6931 + 1, abs=1e-4), pytest.approx(0.6931 + 1 + 0.5, abs=1e-4))
    assert best.final == pytest.approx(0.7)
    assert evidence.question_graph
    assert [str(entity) for entity in evidence.question_graph.entities] == ["drug: tacrolimus"]


def test_without_the_graph_only_what_was_retrieved_is_evidence() -> None:
    evidence = ask("When is Prograf dangerous?", replace(PLAIN, graph=None))
    assert kept(evidence) == [("alder/s1#0", False)]
    assert (evidence.passages[0].support, evidence.passages[0].final, evidence.question_graph) == (None, 1.0, None)
    none_added = replace(PLAIN, graph=replace(GRAPH, bridged=0))
    assert kept(ask("When is Prograf dangerous?", none_added)) == [("alder/s1#0", False)]


def test_seeds_are_entities_of_the_best_consolidated_candidates() -> None:
    # No word of the question is an entity; the best candidate names tacrolimus, which the other handbook's passage shares
    settings = replace(PLAIN, graph=replace(GRAPH, seeds=1))
    evidence = ask("dangerous", settings)
    assert kept(evidence) == [("alder/s1#0", False), ("birch/s1#0", True)]
    assert evidence.trace()["seeds"] == [{"kind": "drug", "name": "tacrolimus"}]
    assert kept(ask("dangerous", replace(settings, graph=replace(GRAPH, seeds=0)))) == [("alder/s1#0", False)]


def test_a_semantic_ranker_needs_vectors_and_says_so_where_there_are_none() -> None:
    assert any("semantic ranker" in note for note in ask("gloves").notes)
    by_place = replace(PLAIN, consolidation=replace(PLAIN.consolidation, ranker="place"))
    assert not any("semantic ranker" in note for note in ask("gloves", by_place).notes)


def test_a_required_source_is_covered_by_what_the_graph_found() -> None:
    one = replace(PLAIN, packing=PackingSettings(passages=1))
    assert kept(ask("When is Prograf dangerous?", one)) == [("alder/s1#0", False)]
    evidence = ask("When is Prograf dangerous?", one, required=["b"])
    assert kept(evidence) == [("birch/s1#0", True)]
    assert not any("Required" in note for note in evidence.notes)


def test_an_entity_of_every_chunk_bridges_nothing() -> None:
    evidence = ask("patient gloves")
    assert not any(bridged for _, bridged in kept(evidence))
    assert evidence.trace()["unknown_entities"] == [{"kind": "person", "name": "patient"}]
    assert evidence.trace()["seeds"] == [{"kind": "drug", "name": "tacrolimus"}, {"kind": "symptom", "name": "fever"},
                                         {"kind": "symptom", "name": "tremor"}]  # fmt: skip


def test_the_trace_lists_every_step_and_is_the_same_in_every_run() -> None:
    texts = [json.dumps(ask("When is Prograf dangerous?").record()) for _ in range(2)]
    assert texts[0] == texts[1]
    record = json.loads(texts[0])
    trace = record["trace"]
    assert trace["settings"]["graph"].keys() == set(GraphSettings.__dataclass_fields__)
    assert trace["settings"]["daks"].keys() == set(DaksSettings.__dataclass_fields__)
    assert {"chunk": "birch/s1#0", "kind": "symptom", "name": "tremor"} in trace["edges"]
    assert all(edge["kind"] != "person" for edge in trace["edges"])
    assert [step["decision"] for step in trace["packing"]] == ["ranked", "ranked"]
    assert record["routes"][0].keys() == {
        "source_id", "authority", "probed", "peak", "mean", "margin", "entropy", "coverage", "score", "share", "budget",
    }  # fmt: skip
    assert [(one["rank"], one["source_id"], one["bridged"]) for one in record["evidence"]] == [(1, "a", False), (2, "b", True)]
    assert record["evidence"][0]["text"] == "Patient, when is Prograf dangerous? Ask."


# -- input that cannot be used as it is meant --------------------------------------------------------------------------


def test_an_empty_question_has_no_evidence_and_a_note() -> None:
    evidence = ask("  ??")
    assert (evidence.passages, evidence.routing.routes) == ((), ())
    assert evidence.notes == ("The question has no words to search for. No source was searched; ask it in full words.",)


def test_handbooks_without_entities_are_searched_without_the_graph() -> None:
    evidence = gather(books(), "gloves", recogniser=DictionaryRecogniser({"organ": {"spleen": []}}))
    assert kept(evidence) == [("alder/s3#0", False)]
    assert evidence.notes[-1].startswith("No entity was recognised in any handbook, so the graph adds nothing.")


def test_a_question_without_entities_in_a_library_with_some_is_told_too() -> None:
    library = build_library((document("d", "gloves outdoors", "tacrolimus"),), (Source("d", ("d",)),), SETTINGS)
    evidence = gather(library, "gloves", recogniser=TERMS)
    assert evidence.notes == ("The question has no term that links passages, so they are in the order of the search alone.",)


def test_many_sources_get_a_budget_that_is_enough_for_each() -> None:
    handbooks = [document(f"h{number}", f"gloves number{number}") for number in range(25)]
    library = build_library(handbooks, [Source(one.handbook_id, (one.handbook_id,)) for one in handbooks], SETTINGS)
    evidence = gather(library, "gloves", recogniser=TERMS)
    assert sum(one.budget for one in evidence.routing.routes) == 50
    assert not any("budget" in note for note in evidence.notes)
    assert any("A budget of 20 is below 1" in note for note in gather(library, "gloves", CrossSourceSettings()).notes)


def test_a_question_in_another_language_is_searched_and_named() -> None:
    pytest.importorskip("py3langid")
    english = replace(ALDER, language="en")
    library = build_library((english,), (Source("a", ("alder",)),), SETTINGS)
    spanish = "¿Cuándo puedo volver a trabajar después de mi trasplante de riñón? ¿Y tomar Prograf?"
    evidence = gather(library, spanish, recogniser=TERMS)
    assert [str(one.candidate.chunk_id) for one in evidence.passages][:1] == ["alder/s1#0"]
    assert any(note.startswith("The question seems to be Spanish, and the handbooks are English.") for note in evidence.notes)
    assert gather(library, "When may I go back to work after my transplant, and is Prograf dangerous?").notes == ()


def test_a_required_source_without_text_or_without_anything_is_named() -> None:
    evidence = ask("gloves", required=["b", "c", "d"])
    assert [note.partition(".")[0] for note in evidence.notes if "ource" in note] == [
        "Source 'c' has no text",
        "Required source 'b' has nothing on this question",
        "Required source 'c' has nothing on this question",
        "Required source 'd' does not exist",
    ]
    assert kept(evidence)[0] == ("alder/s3#0", False)


def test_too_few_tokens_leave_no_passage_and_say_so() -> None:
    evidence = ask("gloves", replace(PLAIN, packing=PackingSettings(tokens=3)))
    assert evidence.passages == ()
    assert evidence.notes[-1].startswith("3 tokens are too few for any passage: the shortest")


def test_the_preset_of_the_paper_has_every_step() -> None:
    assert kept(ask("gloves", PAPER))[0] == ("alder/s3#0", False)
    record = PAPER.record()
    assert {name: record["daks"]["weights"].get(name, 0) for name in ("peak", "opening")} == {"peak": 1, "opening": 0}
    assert (record["consolidation"]["opening_share"], record["packing"]["expected_share"]) == (0, None)


def test_a_source_that_routing_gives_a_share_is_covered_before_the_ranking() -> None:
    both = ask("gloves swimming wounds", replace(PLAIN, packing=PackingSettings(passages=2, expected_share=0.01)))
    assert {one.source_id for one in both.passages} == {"a", "b"}
    assert {step.decision for step in both.packing.steps if step.passage in both.passages} == {"expected"}


@pytest.mark.parametrize(
    ("settings", "handbooks", "first"),
    [
        ({"pool": "merged"}, ["cedar", "alder"], "guides"),
        ({"pool": "concatenated"}, ["alder", "cedar"], None),
        ({"pool": "uniform"}, ["alder", "cedar"], None),
        ({"pool": "single", "only": "guides"}, ["alder", "birch"], "guides"),
    ],
)
def test_the_baselines_of_s1_give_their_own_pool(settings, handbooks, first) -> None:
    """Two chunks of fever: the two best wherever they are, one of each source, or two of the only source."""
    across = CrossSourceSettings(daks=DaksSettings(budget=2), graph=None, **settings)
    evidence = gather(library(), "fever tonight", across)
    assert sorted(hit.chunk_id.handbook_id for hit in evidence.routing.pool) == sorted(handbooks)
    assert sum(one.budget for one in evidence.routing.routes) == 2
    if first:
        assert evidence.routing.ranking[0] == first


def test_a_single_pool_names_its_source_and_no_other_does() -> None:
    for wrong in ({"pool": "single"}, {"only": "guides"}):
        with pytest.raises(ValueError, match="the two go together"):
            CrossSourceSettings(**wrong)
    with pytest.raises(ValueError, match="pool cannot be 'best'; allowed: daks, uniform, merged, concatenated, single"):
        CrossSourceSettings(pool="best")
    with pytest.raises(RetrievalError, match="only is 'leaflets', which is not a source; sources: guides, short"):
        gather(library(), "fever", CrossSourceSettings(pool="single", only="leaflets"))
