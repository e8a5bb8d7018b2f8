"""The size of a theme is its pairs, not the number of different phrases."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.pipeline.embedding.encoders import words_encoder
from audit.pipeline.themes.build import build_taxonomy
from audit.pipeline.themes.clusters import ThemeBuildOptions
from audit.release.taxonomy import Taxonomy, by_plain_phrase
from tests.pipeline.themes.vectors import compass

BELLS = {"hours before the bell": 31, "colour of the door": 14, "lamp oil": 9, "rope length": 1}


def built(counts: dict[str, int], method: str = "average", target: int | None = None) -> Taxonomy:
    options = ThemeBuildOptions(method=method, target=target, layout="principal")
    return build_taxonomy(counts, words_encoder(list(by_plain_phrase(counts))), options)[0]


def named(taxonomy: Taxonomy) -> dict[str, int]:
    """The name of each theme, and how many different phrases it has."""
    return {theme.name: len(theme.topics) for theme in taxonomy.leaves}


@pytest.mark.parametrize("method", ["average", "hdbscan"])
def test_a_phrase_that_many_pairs_share_is_a_theme_by_itself(method: str) -> None:
    pytest.importorskip("hdbscan")
    taxonomy = built(BELLS, method)
    assert named(taxonomy) == {"hours before the bell": 1, "colour of the door": 1, "lamp oil": 1}
    assert taxonomy.no_theme == ("rope length",)
    assert (taxonomy.counts["no_theme_phrases"], taxonomy.counts["phrases"]) == (1, 31 + 14 + 9 + 1)


@pytest.mark.parametrize("method", ["average", "hdbscan"])
def test_where_all_pairs_have_one_phrase_that_is_the_theme(method: str) -> None:
    taxonomy = built({"lamp oil": 20}, method)
    assert named(taxonomy) == {"lamp oil": 1}
    assert taxonomy.no_theme == ()


def test_a_phrase_of_a_single_pair_is_no_theme() -> None:
    assert built({"lamp oil": 1}).no_theme == ("lamp oil",)


def test_spellings_of_a_phrase_are_one_theme_in_the_spelling_of_most_pairs() -> None:
    taxonomy = built({"LAMP OIL": 1, "Lamp oil": 5, "lamp oil.": 2, "lamp oils": 1, "rope length": 3})
    assert named(taxonomy) == {"Lamp oil": 4, "rope length": 1}


def test_a_given_number_of_themes_counts_those_of_a_single_phrase() -> None:
    """Three phrases are large enough by themselves; more than three themes there cannot be."""
    for target in (3, 9):
        assert len(built(BELLS, target=target).leaves) == 3


def test_the_reach_of_a_taxonomy_comes_from_themes_of_several_phrases() -> None:
    """bell and bells lie 4 degrees apart: 1 - cos 4 = 0.0024. A theme of one phrase has no distance."""
    degrees = {"bell": 0, "bells": 4, "oil": 120, "door": 240}
    taxonomy, _ = build_taxonomy(dict.fromkeys(degrees, 7), compass(degrees), ThemeBuildOptions(layout="principal"))
    assert taxonomy.counts["themes"] == 3
    assert taxonomy.built["reach"] == pytest.approx(0.0024, abs=1e-4)


WORDS = st.sampled_from(["bell", "door", "lamp", "rope", "oil", "time", "of", "the", "Uhr", "鐘", "?"])
PHRASES = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(PHRASES, st.integers(1, 5), min_size=1, max_size=14))
def test_every_pair_is_in_one_theme_or_counted_without_and_no_repeated_phrase_is_left_out(counts: dict[str, int]) -> None:
    taxonomy = built(counts)
    assert sorted([*taxonomy.no_theme, *(topic for theme in taxonomy.leaves for topic in theme.topics)]) == sorted(counts)
    assert taxonomy.counts["no_theme_phrases"] == sum(counts[topic] for topic in taxonomy.no_theme)
    assert all(counts[topic] == 1 for topic in taxonomy.no_theme)
    assert Counter(theme.theme_id for theme in taxonomy.themes).most_common(1)[0][1] == 1 if taxonomy.themes else True
    assert taxonomy == built(dict(reversed(counts.items())))
