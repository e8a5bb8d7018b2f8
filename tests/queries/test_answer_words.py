"""Words of answers: those that other questions' answers lack; what is kept is what is counted, and serves one load alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.queries import answer_words as module
from audit.queries.answer_words import answer_words
from audit.release.write import write_jsonl
from audit.result_cache import precompute_results
from audit.store.connection import open_store
from audit.store.runs import Run
from tests.support.loading import load
from tests.support.tiny import release_from

ANSWERS = [("q1", "a", "Please, no raw Sushi."), ("q1", "b", "PLEASE: sushi, crème brûlée."), ("q2", "a", "Please mind the sun.")]
WORDS = {0: {"brulee": 0.5, "creme": 0.5, "raw": 0.5, "sushi": 1.0}, 1: {"mind": 1.0, "sun": 1.0, "the": 1.0}}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run in which counting the words counts as slow."""
    monkeypatch.setattr(module, "SLOW_S", -1)
    folder = release_from(tmp_path, "q1 kidney ab=CONSISTENT\nq2 lung ab=CONSISTENT")
    answers = [{"question_id": question, "handbook_id": book, "answer": text} for question, book, text in ANSWERS]
    write_jsonl(folder / "answers.jsonl", answers)
    return load(folder, tmp_path / "data").run


def kept(run: Run) -> list[Path]:
    return sorted(run.path.with_suffix(".results").glob("answer-words-*"))


def words_of(run: Run) -> list[tuple[int, str, float]]:
    with open_store(run.path) as con:
        return answer_words(con)


def test_a_word_that_every_answer_has_tells_no_question_apart(run: Run):
    assert words_of(run) == [(question, word, share) for question, words in WORDS.items() for word, share in words.items()]


def test_who_needs_the_words_first_keeps_them_for_the_next(run: Run):
    counted = words_of(run)
    (file,) = kept(run)
    file.write_text('[[0, "read", 1.0]]')
    assert words_of(run) == [(0, "read", 1.0)]
    file.write_text("[[0, ")  # damaged: counted again
    assert words_of(run) == counted
    assert kept(run) == [file]


def test_they_are_kept_in_the_background_before_a_page_asks(run: Run):
    precompute_results(run)
    assert len(kept(run)) == 1


def test_words_of_an_earlier_load_are_not_shown(run: Run, tmp_path: Path):
    words_of(run)
    (before,) = kept(run)
    before.write_text('[[0, "earlier", 1.0]]')
    again = load(tmp_path / "tiny", tmp_path / "data", again=True).run
    assert "earlier" not in str(words_of(again))
    assert before not in kept(again)


def test_quick_words_are_not_kept_nor_where_nothing_can_be_written(run: Run, monkeypatch: pytest.MonkeyPatch):
    run.path.with_suffix(".results").write_text("a file where the folder would be")
    assert len(words_of(run)) > 1
    run.path.with_suffix(".results").unlink()
    monkeypatch.setattr(module, "SLOW_S", 60)
    words_of(run)
    assert kept(run) == []
