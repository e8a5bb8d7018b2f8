"""HERO-QA against plain BM25 on simulated handbooks, whose headings seldom say what patients ask."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.retrieval import Options, build_index, strategy
from benchmarks.retrieval_corpora import Corpus, of_demo
from tests.retrieval.handbooks import PASSAGES

FEW = 4


@pytest.fixture(scope="module")
def whole() -> Corpus:
    return of_demo(Path())


def _found_first(corpus: Corpus, name: str, options: Options) -> float:
    """Share of the questions to the first handbooks whose section comes first, by words alone."""
    asked = {each.handbook_id: strategy(name, build_index(each, options)) for each in corpus.documents[:FEW]}
    ranked = [
        (asked[task.handbook_id].retrieve(task.question).ranked, task.gold) for task in corpus.tasks if task.handbook_id in asked
    ]
    return sum(found[:1] == gold for found, gold in ranked) / len(ranked)


def test_it_is_not_behind_bm25_where_headings_are_seldom_what_is_asked(whole: Corpus) -> None:
    held_out = whole.half("held-out")
    assert _found_first(held_out, "hero", PASSAGES) > _found_first(held_out, "bm25", PASSAGES) - 0.02


def test_every_question_has_its_section_and_no_half_has_one_of_the_other(whole: Corpus) -> None:
    known = {book.handbook_id: set(book.by_id) for book in whole.documents}
    assert all(set(task.gold) <= known[task.handbook_id] for task in whole.tasks)
    one, other = ({task.question.question_id for task in whole.half(half).tasks} for half in ("tuning", "held-out"))
    assert (len(one | other), one & other) == (116, set()), "nobody answers two of the 118"
