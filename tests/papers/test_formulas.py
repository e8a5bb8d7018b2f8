"""Every formula of the four papers is a test with a value worked out by hand; those that no other test has are here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import floor, log

import numpy as np
import pytest

from audit.pipeline.retrieval.across.budgets import budgets
from audit.pipeline.retrieval.across.consolidation import EvidenceChunk
from audit.pipeline.retrieval.across.entities import DictionaryRecogniser, Entity
from audit.pipeline.retrieval.across.evidence import QuestionGraph, pack, passage_tokens
from audit.pipeline.retrieval.across.features import Features
from audit.pipeline.retrieval.across.graph import build_graph
from audit.pipeline.retrieval.across.library import ChunkHit, build_library
from audit.pipeline.retrieval.across.routing import source_scores
from audit.pipeline.retrieval.across.settings import DaksSettings, PackingSettings
from audit.pipeline.retrieval.across.sources import Source
from audit.pipeline.retrieval.across.support import Alignment
from audit.pipeline.retrieval.hybrid import most_relevant_and_unlike, term_statistics
from audit.pipeline.retrieval.hybrid_settings import HybridSettings
from audit.pipeline.retrieval.index import TOKEN, build_index, sentence_chunks
from audit.pipeline.retrieval.settings import RetrievalSettings
from audit.pipeline.retrieval.strategies import index_settings
from audit.pipeline.stress.building.contexts import Composition, composition, correct_and_edited
from audit.release.sourced_answers import ChunkId
from audit.text.documents import Section
from tests.papers.proofs import source_of
from tests.pipeline.retrieval.across import libraries
from tests.pipeline.retrieval.handbooks import handbook

HERE = "papers/test_formulas.py"
ACROSS, EVALUATION, PUBLISHED = "pipeline/retrieval/across", "evaluation", "published"
ROUTING, PACKING = f"{ACROSS}/test_routing.py", f"{ACROSS}/test_packing.py"
SOURCES, RETRIEVED = f"{EVALUATION}/test_routing_measures.py", f"{EVALUATION}/test_retrieval_measures.py"
HYBRID, STRESS = "pipeline/retrieval/test_hybrid.py", "metrics/test_stress.py"
PROVED_BY: Mapping[str, str] = {
    # TransplantQA and HERO-QA
    "S0 4.2 reciprocal rank fusion": "pipeline/retrieval/test_fusion.py::test_reciprocal_ranks_add_up_by_hand",
    "S0 4.2 reciprocal rank fusion, weights of the four retrievers": "pipeline/retrieval/test_hero.py::"
    "test_the_papers_fusion_is_reciprocal_ranks_with_less_weight_for_bodies_and_headings",
    "S0 5.1 agreement and kappa of two clinicians": f"{PUBLISHED}/test_validation_figures.py::test_the_paper_two_clinicians",
    "S0 5.1 accuracy, kappa, weighted, macro and five F1 of the judge": f"{PUBLISHED}/test_validation_figures.py::"
    "test_the_paper_the_judge_by_the_majority",
    # Chen et al.
    "S1 eq. 2 peak, mean of the first M, margin": f"{ROUTING}::test_features_of_three_scores_by_hand",
    "S1 eq. 3 entropy": f"{ROUTING}::test_the_entropy_of_the_source_paper_is_that_of_a_plain_softmax",
    "S1 eq. 3 coverage": f"{ROUTING}::test_the_entropy_of_the_source_paper_is_that_of_a_plain_softmax",
    "S1 eq. 4 score of a source": f"{HERE}::test_the_score_of_a_source_is_its_features_by_weight_and_its_authority",
    "S1 eq. 5 Algorithm 1, by hand": f"{ROUTING}::test_budgets_by_hand",
    "S1 eq. 5 Algorithm 1, as printed": f"{HERE}::test_budgets_are_those_of_algorithm_1",
    "S1 eq. 6 pool": f"{ROUTING}::test_the_pool_has_the_best_chunks_of_each_source_within_its_budget",
    "S1 eq. 8 base score": f"{ACROSS}/test_consolidation.py::"
    "test_the_rest_of_the_base_score_is_a_semantic_ranker_where_there_is_one",
    "S1 eq. 9 seeds": f"{ACROSS}/test_evidence.py::test_seeds_are_entities_of_the_best_consolidated_candidates",
    "S1 eq. 10 bridge, hops on a chain": f"{ACROSS}/test_graph.py::test_chunks_are_as_many_hops_away_as_entities_are_between",
    "S1 eq. 11, 12 overlap and distance on a chain": f"{HERE}::test_the_distance_of_a_chunk_is_in_edges_between_entities",
    "S1 eq. 13 support": f"{PACKING}::test_support_is_overlap_proximity_and_the_bonus_of_another_source",
    "S1 eq. 14 final score": f"{PACKING}::test_the_final_score_mixes_base_and_support_from_0_to_1",
    "S1 eq. 15 to 17 Algorithm 2, by hand": f"{PACKING}::test_each_required_source_comes_first_then_the_best",
    "S1 eq. 15 to 17 Algorithm 2, as printed": f"{HERE}::test_packing_is_that_of_algorithm_2",
    **dict.fromkeys(
        (f"S1 {name}" for name in ("PrimaryAcc", "Top2Hit", "EDR", "AuthCov", "EvRecall@5", "EvNDCG@5", "CrossEv@5")),
        f"{SOURCES}::test_measures_of_three_questions_by_hand",
    ),
    "S1 faithfulness": f"{EVALUATION}/test_evidence_measures.py::test_a_share_is_of_all_and_none_of_nothing",
    "S1 context precision": f"{EVALUATION}/test_evidence_measures.py::"
    "test_context_precision_rewards_useful_passages_that_come_first",
    # Fensore et al.
    "S2 eq. 1 composite": f"{EVALUATION}/test_criteria.py::test_the_composite_stretches_the_sum_to_0_to_10",
    "S2 eq. 1 on the published replies": f"{PUBLISHED}/test_criteria_judge.py::"
    "test_the_composites_are_those_of_the_paper_where_unreadable_criteria_count_as_0",
    "S2 eq. 2 to 4 alignment under three rules for ties": f"{EVALUATION}/test_preferences.py::"
    "test_the_judges_ties_count_as_a_tie_or_for_one_system",
    "S2 eq. 2 to 4 on the published comparisons": f"{PUBLISHED}/test_head_to_head.py::"
    "test_the_alignment_under_the_three_tie_rules_is_as_published",
    "S2 eq. 5 mutual information": f"{HYBRID}::test_mutual_information_is_that_of_counts_by_hand",
    "S2 eq. 6, 7 TF-IDF and its variance": f"{HERE}::test_the_weight_of_a_term_is_the_variance_of_its_tf_idf_by_hand",
    "S2 eq. 8 added terms": "papers/test_departures.py::all_terms_above_the_thresholds",
    "S2 eq. 9 repeats": f"{HYBRID}::test_a_word_is_repeated_one_to_four_times_by_its_weight",
    "S2 eq. 10 reciprocal rank": f"{RETRIEVED}::test_measures_of_a_list_with_one_of_two_gold_passages_at_rank_two",
    "S2 eq. 11 precision at 5": f"{RETRIEVED}::test_an_id_listed_twice_counts_at_its_first_rank_and_precision_counts_passages",
    "S2 recall and nDCG at 5": f"{RETRIEVED}::test_measures_of_a_list_with_one_of_two_gold_passages_at_rank_two",
    "S2 maximal marginal relevance": f"{HERE}::test_passages_are_taken_by_maximal_marginal_relevance_by_hand",
    "S2 chunks of 300 tokens that share 50": f"{HERE}::test_chunks_of_300_tokens_that_share_50",
    "S2 BLEU-1 and BLEU-4": f"{EVALUATION}/test_reference_metrics.py::test_bleu_counts_tokens_across_sentences_and_ignores_case",
    "S2 ROUGE-1 and ROUGE-L": f"{EVALUATION}/test_reference_metrics.py::test_rouge_compares_stems",
    # MedRGB
    "S3 composition of a context": f"{HERE}::test_a_context_has_the_documents_that_its_share_asks_for",
    "S3 composition where all are relevant": f"{HERE}::test_of_five_relevant_documents_the_share_is_correct",
    "S3 accuracy and share insufficient": f"{STRESS}::"
    "test_insufficient_is_not_right_and_an_unreadable_reply_is_in_no_denominator",
    "S3 noise detection, noise found, signal kept": f"{STRESS}::test_detection_counts_documents_that_are_called_what_they_are",
    "S3 fact detection, sub-answers exact and by shared words, graded": f"{STRESS}::"
    "test_errors_and_sub_answers_of_altered_documents",
    "S3 shared words of two short answers": f"{EVALUATION}/test_stress_measures.py::test_token_f1_is_the_published_formula",
}
"""Formula, with its place in the paper -> the test that has its value."""


@pytest.mark.parametrize("formula", PROVED_BY)
def test_the_test_that_is_named_for_a_formula_exists_and_compares_something(formula: str) -> None:
    source = source_of(PROVED_BY[formula])
    assert "assert " in source or "return " in source, PROVED_BY[formula]


# -- Chen et al. -------------------------------------------------------------------------------------------------------


def test_the_score_of_a_source_is_its_features_by_weight_and_its_authority() -> None:
    # E: .8 + .6 + .5 x .4 - .5 x .9 + .2 x .3 + .3 x 2.5 = .8 + .6 + .2 - .45 + .06 + .75; T: .7 + .5 + .1 - .25 + .2 + .825
    features = {"E": Features(0.8, 0.6, 0.4, 0.9, 0.3), "T": Features(0.7, 0.5, 0.2, 0.5, 1.0)}
    weights = {"peak": 1.0, "mean": 1.0, "margin": 0.5, "entropy": -0.5, "coverage": 0.2}
    scores = source_scores(features, [2.5, 2.75], DaksSettings(weights=weights, authority_weight=0.3))
    assert scores.tolist() == pytest.approx([1.96, 2.075])


def algorithm_1(shares: Sequence[float], total: int, minimum: int) -> list[int]:
    """Line for line: b_k = b_min + round((B - |K| b_min) p_k), then one at a time until they add up to B."""
    numbers = [minimum + floor((total - len(shares) * minimum) * share + 0.5) for share in shares]
    while sum(numbers) != total:
        if sum(numbers) > total:
            above = [k for k, number in enumerate(numbers) if number > minimum]
            numbers[max(above, key=lambda k: (numbers[k], -k))] -= 1
        else:
            numbers[max(range(len(shares)), key=lambda k: (shares[k], -k))] += 1
    return numbers


def test_budgets_are_those_of_algorithm_1() -> None:
    generator = np.random.default_rng(1)
    for _ in range(3_000):
        sources, minimum = int(generator.integers(1, 8)), int(generator.integers(0, 4))
        total = int(generator.integers(sources * minimum, 60))
        shares = generator.dirichlet(np.full(sources, 0.5)).tolist()
        assert budgets(shares, total, minimum) == algorithm_1(shares, total, minimum)


def test_the_distance_of_a_chunk_is_in_edges_between_entities() -> None:
    # one - [0] - two - [1] - three - [2] - four. From the entity `one` an entity of each chunk is 0, 2 and 4 edges away
    chain = libraries.document("chain", "one two", "two three", "three four", "nothing here")
    library = build_library([chain], [Source("chain", ("chain",))], libraries.SETTINGS)
    graph = build_graph(library, DictionaryRecogniser({"x": {name: [] for name in ("one", "two", "three", "four")}}))
    linking = graph.linking(9)
    entities = (Entity("x", "one"), Entity("x", "two"))
    seeds = (graph.column_of[entities[0]],)
    seen = QuestionGraph(graph, linking, entities, (), seeds, graph.hops_from(list(seeds), linking, 3))
    hits = [ChunkHit("chain", ChunkId("chain", f"s{n + 1}", 0), n, 0, 1) for n in range(4)]
    assert [seen.alignment(hit) for hit in hits] == [Alignment(2, 0), Alignment(1, 2), Alignment(0, 4), Alignment(0, None)]


def algorithm_2(ranked: Sequence[EvidenceChunk], required: set[str], budget: int, cap: int) -> list[EvidenceChunk]:
    """Line for line: the best passage of each required source that fits, then by score while budget and cap allow."""
    packed: list[EvidenceChunk] = []
    used, of_document = 0, Counter[str]()

    def take(passage: EvidenceChunk) -> None:
        nonlocal used
        packed.append(passage)
        used += passage_tokens(passage)
        of_document[passage.candidate.chunk_id.handbook_id] += 1

    # The paper leaves the order of the sources open: ours is that of their best passages
    for source in dict.fromkeys(passage.source_id for passage in ranked if passage.source_id in required):
        fitting = (one for one in ranked if one.source_id == source and used + passage_tokens(one) <= budget)
        if best := next(fitting, None):
            take(best)
    for passage in ranked:
        document = passage.candidate.chunk_id.handbook_id
        if passage not in packed and of_document[document] < cap and used + passage_tokens(passage) <= budget:
            take(passage)
    return packed


def random_passages(generator: np.random.Generator) -> list[EvidenceChunk]:
    """Up to twelve passages of equal length, of three sources and four handbooks, best first."""
    passages = []
    for number in range(int(generator.integers(1, 13))):
        source, book = f"source {generator.integers(3)}", f"book {generator.integers(4)}"
        hit = ChunkHit(source, ChunkId(book, f"s{number}", 0), number, 0, 1)
        passages.append(EvidenceChunk(hit, 0, 0, 40, "x" * 40, final=1 - number / 20))
    return passages


@pytest.mark.parametrize("cap", [1, 2, 99])
def test_packing_is_that_of_algorithm_2(cap: int) -> None:
    generator = np.random.default_rng(cap)
    for _ in range(1_000):
        ranked = random_passages(generator)
        required = {f"source {n}" for n in range(3) if generator.random() < 0.5}
        budget = 10 * int(generator.integers(3, 12))
        settings = PackingSettings(tokens=budget, passages=None, per_handbook=cap, as_picked=True)
        assert list(pack(ranked, required, settings).passages) == algorithm_2(ranked, required, budget, cap)


# -- Fensore et al. ----------------------------------------------------------------------------------------------------


def test_the_weight_of_a_term_is_the_variance_of_its_tf_idf_by_hand() -> None:
    # Three chunks: kidney in two of them, salt in one, water in one. IDF ln(4 / 3) + 1 and ln(4 / 2) + 1; rows of length 1
    document = handbook(*(Section(f"s{n}", "", text) for n, text in enumerate(("Kidney salt.", "Kidney.", "Water."))))
    index = build_index(document, index_settings("hybrid", RetrievalSettings(hybrid=HybridSettings())))
    statistics = term_statistics(index, 5)
    common, rare = log(4 / 3) + 1, log(4 / 2) + 1
    first = common / (common**2 + rare**2) ** 0.5
    row = statistics.tf_idf.toarray()[:, statistics.column_of["kidney"]]
    assert row.tolist() == pytest.approx([first, 1, 0])
    mean = (first + 1) / 3
    assert statistics.weights[statistics.column_of["kidney"]] == pytest.approx((first**2 + 1) / 3 - mean**2)
    assert statistics.weights[statistics.column_of["water"]] == pytest.approx(1 / 3 - 1 / 9)


def test_passages_are_taken_by_maximal_marginal_relevance_by_hand() -> None:
    # Cosines: 0 and 1 .8, 0 and 2 0, 0 and 3 .6, 1 and 2 .6, 1 and 3 .96, 2 and 3 .8. With lambda .5 and scores .9, .85, .5, .7:
    # first 0 (.9). Then .5 x .85 - .5 x .8 = .025; .5 x .5 - 0 = .25; .5 x .7 - .5 x .6 = .05: take 2. Then 1 with the most
    # alike of 0 and 2, .8: .025; and 3 with .8: .35 - .4 = -.05: take 1.
    vectors = np.array([[1, 0], [0.8, 0.6], [0, 1], [0.6, 0.8]], dtype=np.float32)
    document = handbook(*(Section(f"s{n}", "", f"Words of part {n}.") for n in range(4)))
    index = build_index(document, index_settings("hybrid", RetrievalSettings(hybrid=HybridSettings(final_k=3))))
    object.__setattr__(index, "vectors", vectors)
    scores = {0: 0.9, 1: 0.85, 2: 0.5, 3: 0.7}
    assert list(most_relevant_and_unlike(index, scores, term_statistics(index, 5))) == [0, 2, 1]


def test_chunks_of_300_tokens_that_share_50() -> None:
    # 100 sentences of ten words and a full stop. 27 of them have 297 tokens, a 28th is too much; 4 have 44, a fifth is too much.
    # So chunks begin 23 sentences apart: 0, 23, 46, and at 69 are 31 left, 341 tokens, of which the last 4 make no chunk
    text = " ".join("One two three four five six seven eight nine ten." for _ in range(100))
    spans = list(sentence_chunks(text, HybridSettings()))
    assert [len(TOKEN.findall(text[start:end])) for start, end in spans] == [297, 297, 297, 341]
    assert [len(TOKEN.findall(text[after:end])) for (_, end), (after, _) in pairwise(spans)] == [44, 44, 44]


# -- MedRGB ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "share", "expected"), [(5, 20, (1, 4)), (5, 60, (3, 2)), (20, 40, (8, 12)), (10, 80, (8, 2)), (5, 0, (0, 5))]
)
def test_a_context_has_the_documents_that_its_share_asks_for(size: int, share: int, expected: tuple[int, int]) -> None:
    assert {composition(size, share, 20, place / 100) for place in range(100)} == {Composition(*expected)}


def test_of_five_relevant_documents_the_share_is_correct() -> None:
    drawn = [{correct_and_edited(5, share, 5, place / 100) for place in range(100)} for share in (0, 20, 40, 60, 80, 100)]
    assert drawn == [{Composition(correct, 5 - correct)} for correct in range(6)]
