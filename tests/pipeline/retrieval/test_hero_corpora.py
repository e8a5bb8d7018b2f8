"""HERO-QA against plain BM25 on simulated handbooks, whose headings are seldom what patients ask."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.pipeline.retrieval.index import build_index
from audit.pipeline.retrieval.settings import RetrievalSettings
from audit.pipeline.retrieval.strategies import make_strategy
from benchmarks.retrieval_corpora import Corpus, simulated_corpus
from tests.pipeline.retrieval.handbooks import PASSAGES

HANDBOOKS = 4


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return simulated_corpus(Path())


def _hit_at_1(corpus: Corpus, name: str, settings: RetrievalSettings) -> float:
    """Share of the questions to the first handbooks whose gold section is ranked first, by words alone."""
    strategies = {
        document.handbook_id: make_strategy(name, build_index(document, settings)) for document in corpus.documents[:HANDBOOKS]
    }
    tasks = [task for task in corpus.tasks if task.handbook_id in strategies]
    ranked = [strategies[task.handbook_id].retrieve(task.question).ranked for task in tasks]
    return sum(sections[:1] == task.gold for sections, task in zip(ranked, tasks, strict=True)) / len(tasks)


def test_hero_is_not_behind_bm25_where_headings_are_seldom_what_is_asked(corpus: Corpus) -> None:
    held_out = corpus.half("held-out")
    assert _hit_at_1(held_out, "hero", PASSAGES) > _hit_at_1(held_out, "bm25", PASSAGES) - 0.02


def test_every_question_has_its_section_and_the_two_halves_share_no_question(corpus: Corpus) -> None:
    sections = {document.handbook_id: set(document.by_id) for document in corpus.documents}
    assert all(set(task.gold) <= sections[task.handbook_id] for task in corpus.tasks)
    tuning, held_out = ({task.question.question_id for task in corpus.half(half).tasks} for half in ("tuning", "held-out"))
    assert (len(tuning | held_out), tuning & held_out) == (116, set()), "no handbook answers two of the 118"
