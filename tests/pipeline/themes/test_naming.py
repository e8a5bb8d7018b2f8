"""What a theme is called."""

import numpy as np
import pytest

from audit.pipeline.embedding.vectors import unit_rows
from audit.pipeline.themes.naming import Card, exemplars_by, named, terms_by
from audit.pipeline.themes.phrases import shared_phrase, sharing_a_phrase
from audit.release.taxonomy import near_duplicates

DENTAL = ["time before dental work", "dental cleaning", "dental work"]
FEVER = ["time before calling about fever", "fever threshold"]


def test_terms_set_a_theme_apart_from_the_others() -> None:
    dental, fever = terms_by(DENTAL + FEVER, [0, 0, 0, 1, 1], 2)
    assert dental[0] in ("dental", "dental work")
    assert "fever" in fever[0]


def test_a_phrase_without_a_theme_gives_it_no_terms() -> None:
    assert "alcohol" not in " ".join(terms_by([*DENTAL, "alcohol"], [0, 0, 0, -1], 1)[0])


def test_the_medoid_stands_first_and_the_farthest_next() -> None:
    angle = np.radians([0, 10, 20, 21, 50])
    vectors = unit_rows(np.column_stack([np.cos(angle), np.sin(angle)]))
    phrases = ["a" * 9, "b" * 9, "c", "d" * 9, "e"]
    (rows,) = exemplars_by(phrases, vectors, np.zeros(5, dtype=np.int64))
    assert rows == [2, 4, 0, 1, 3], "20 degrees is nearest to the mean; then always the one farthest from all chosen"


def test_a_namer_names_and_where_it_has_no_name_the_medoid_does() -> None:
    cards = [Card(("dental",), "dental work", ("dental work",)), Card(("fever",), "fever threshold", ("fever threshold",))]
    assert named(cards, lambda asked: ["Dental care  timing", None][: len(asked)]) == [
        ("Dental care timing", "namer"),
        ("fever threshold", "terms"),
    ]


def test_a_parent_is_called_by_what_its_themes_share_else_after_one_of_them_and_never_by_a_list_of_words() -> None:
    terms, children = ("teeth", "gums", "floss", "jaw"), ("fever", "dental work", "raw fish")
    assert named([Card(terms, "dental work", (), "routine dental work", children)], None) == [("routine dental work", "terms")]
    assert named([Card(terms, "dental work", (), "", children)], None) == [("dental work, and 2 more", "terms")]


@pytest.mark.parametrize(
    ("phrases", "shared"),
    [
        (["time before dental work", "time before routine dental work", "wait before dental work"], "time before dental work"),
        (["number of lupus types", "number of Gaucher types (at birth)", "number of porphyria types"], "number of types"),
        (["limit of salt in the diet", "limit of sugar in the diet"], ""),
        (["prevalence at birth", "prevalence in children"], "prevalence"),
        (["first-line drug (chelator vs zinc)", "first-line drug: aspirin"], "first-line drug"),
        (["dental cleaning", "dental fillings"], ""),
        (["length of remissions", "transmission of infections"], ""),
        (["time between dose and draw", "time between dose and blood draw, nurse", "time between dose and draw"],
         "time between dose and draw"),
        (["fever"], "fever"),
    ],
)  # fmt: skip
def test_a_name_has_the_words_that_more_than_half_of_the_phrases_share_in_their_order(phrases: list[str], shared: str) -> None:
    assert shared_phrase(phrases) == shared


def test_by_words_a_theme_loses_what_shares_no_word_with_it_and_is_dissolved_where_nothing_is_shared() -> None:
    plain = ["age at onset", "age at onset of symptoms", "packages", "length of remissions", "transmission of infections"]
    assert sharing_a_phrase(plain, np.array([0, 0, 0, 1, 1])).tolist() == [0, 0, -1, -1, -1]


def test_near_duplicates_share_three_quarters_of_their_words() -> None:
    names = ["time before dental work", "dental work: the time", "time before routine dental work", "fever", "raw fish"]
    assert near_duplicates(names) == [(0, 1), (0, 2), (1, 2)], "time, dental, work: 3 of 3, and 3 of 4 with routine"
