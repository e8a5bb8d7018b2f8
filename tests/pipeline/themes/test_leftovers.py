"""Coarser themes where more than a fifth of pairs would have none."""

from __future__ import annotations

import numpy as np

from audit.pipeline.themes.leftovers import coarser_themes
from audit.pipeline.themes.linkage import NO_THEME

SHIPS = ["year of launch", "year when the mast broke", "last year at sea", "crew on deck", "colour of sails", "name on the bow"]


def grouped(plain: list[str], labels: list[int], subjects: list[str | None] | None = None) -> tuple[list[int], dict[int, str]]:
    weights = np.ones(len(plain), dtype=np.int64)
    found, names = coarser_themes(plain, weights, np.array(labels), subjects or [None] * len(plain))
    return found.tolist(), names


def test_phrases_are_grouped_by_the_noun_before_a_preposition() -> None:
    """ "year" leads the first two phrases and is in the third; no other word is in two of them."""
    labels, names = grouped(SHIPS, [NO_THEME] * 6)
    assert labels == [0, 0, 0, NO_THEME, NO_THEME, NO_THEME]
    assert names == {}


def test_nothing_is_grouped_coarsely_where_a_fifth_or_less_is_left_over() -> None:
    plain = [*SHIPS[:2], *(f"sail {number}" for number in range(8))]
    assert grouped(plain, [NO_THEME, NO_THEME, *[0] * 8])[0] == [NO_THEME, NO_THEME, *[0] * 8]


def test_a_word_that_several_themes_share_connects_nothing() -> None:
    """ "year of" is in two themes already: in this run years are named everywhere."""
    plain = ["year of launch", "the year of launch", "year of repair", "the year of repair", "year of sale", "year of loss"]
    assert grouped(plain, [0, 0, 1, 1, NO_THEME, NO_THEME])[0] == [0, 0, 1, 1, NO_THEME, NO_THEME]


def test_the_last_resort_is_what_the_questions_are_about_and_names_the_theme() -> None:
    subjects: list[str | None] = ["rigging", "rigging", "crew", "trade", "trade", "trade"]
    plain = ["mast height", "how to splice", "crew on deck", "price per ton", "who pays", "silk or wool"]
    labels, names = grouped(plain, [NO_THEME] * 6, subjects)
    assert labels == [0, 0, NO_THEME, 1, 1, 1]
    assert names == {0: "rigging", 1: "trade"}


def test_a_subject_of_most_pairs_says_nothing_about_any() -> None:
    plain = ["mast height", "how to splice", "crew on deck", "price per ton"]
    assert grouped(plain, [NO_THEME] * 4, ["ships", "ships", "ships", "trade"])[0] == [NO_THEME] * 4


def test_a_theme_that_has_the_words_of_a_subject_takes_its_phrases() -> None:
    subjects: list[str | None] = ["trade", "trade", "trade", "rigging", None, None]
    plain = ["trade with silk", "trade in wool", "who pays", "mast height", "crew on deck", "name on the bow"]
    labels, names = grouped(plain, [0, 0, *[NO_THEME] * 4], subjects)
    assert labels == [0, 0, 0, NO_THEME, NO_THEME, NO_THEME]
    assert names == {0: "trade"}
