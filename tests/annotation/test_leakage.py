"""What style gives away, on texts whose truth is known: a habit of words is found, authors at random give chance."""

from __future__ import annotations

import numpy as np
import pytest

from annotation.label_store.engine import LabelStore, StudyError
from annotation.studies.leakage import Shown, leakage, record_leakage, recorded_leakage
from annotation.studies.verification import verify_study
from audit.vocabulary import NOTHING_SAID
from tests.support.studies import NOW, study_of

WORDS = ["liver", "heart", "kidney", "lung", "blood", "dose", "meal", "walk", "sleep", "rest", "water", "week", "day", "test"]


def items(habits: tuple[str, str, str], questions: int = 60, seed: int = 4) -> list[Shown]:
    """Two of three authors answer each question with random words; each author ends with its habit."""
    rng = np.random.default_rng(seed)
    found = []
    for number in range(questions):
        first, second = (int(n) for n in rng.choice(3, size=2, replace=False))
        texts = [f"{' '.join(rng.choice(WORDS, size=12))} {habits[n]}".strip() for n in (first, second)]
        found.append(Shown(f"q{number}", "abc"[first], "abc"[second], texts[0], texts[1]))
    return found


def test_a_planted_habit_is_found_and_named() -> None:
    found = leakage(items(("as we always say", "ask your own team", "see the next page")), "whole answers")
    assert (found.named[0], found.told[0], found.answers, found.items) == (1.0, 1.0, 120, 60)
    assert "always" in next(phrases for whose, *_, phrases in found.by_handbook if whose == "a")
    assert "So raters who know" in found.sentence()


def test_authors_without_habits_are_told_as_by_chance() -> None:
    tried = [leakage(items(("", "", ""), seed=seed), "whole answers") for seed in range(100, 108)]
    assert np.mean([found.told[0] for found in tried]) == pytest.approx(0.5, abs=0.06)
    assert np.mean([found.named[0] for found in tried]) == pytest.approx(1 / 3, abs=0.06)
    assert sum("do not tell more than guessing" in found.sentence() for found in tried) >= 6


def test_an_answer_is_never_learned_from_its_own_question() -> None:
    # Each answer ends with a word of its own: known to the classifier only where it was trained on the very answer
    rng = np.random.default_rng(5)
    marks = ["".join(rng.choice(list("bcdfghjklmnpqrstvwxz"), size=9)) for _ in range(120)]
    said = [" ".join(rng.choice(WORDS, size=8)) for _ in range(120)]
    texts = [f"{words} {mark} {mark}" for words, mark in zip(said, marks, strict=True)]
    own = [Shown(f"q{n}", "a", "b", texts[2 * n], texts[2 * n + 1]) for n in range(60)]
    training = [(item.question, whose, text) for item in own for whose, text in (("a", item.answer_a), ("b", item.answer_b))]
    assert leakage(own, "whole answers", training).told[1] < 0.55


def test_the_same_texts_give_the_same_figures() -> None:
    assert leakage(items(("now then", "", "")), "x") == leakage(items(("now then", "", "")), "x")


def test_too_few_answers_are_refused_in_one_sentence() -> None:
    absent = [item._replace(answer_b=NOTHING_SAID) for item in items(("", "", ""))]
    with pytest.raises(StudyError, match="only 0 questions"):
        leakage(absent, "whole answers")


def test_a_figure_is_kept_in_the_ledger_of_its_study(store: LabelStore) -> None:
    study_of(store, 2)
    assert recorded_leakage(store, "s") is None
    measured = leakage(items(("now then", "", "")), "whole answers")
    record_leakage(store, "s", measured, NOW)
    assert recorded_leakage(store, "s") == measured
    assert verify_study(store, "s") == []
