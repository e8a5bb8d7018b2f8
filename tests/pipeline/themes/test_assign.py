"""New phrases in a taxonomy that is there already."""

from __future__ import annotations

import pytest

from audit.errors import ThemesError
from audit.pipeline.embedding.encoders import words_encoder
from audit.pipeline.themes.assign import assign, words_encoder_of
from audit.pipeline.themes.build import build_taxonomy
from audit.pipeline.themes.clusters import ThemeBuildOptions
from audit.release.taxonomy import Taxonomy, Theme, by_plain_phrase
from benchmarks.theme_phrases import draw_phrases
from tests.pipeline.themes.vectors import compass

DEGREES = {
    "dental work": 0, "dental visits": 5, "teeth": 2, "fever": 90, "fever threshold": 96, "hot": 99, "alcohol": 180, "cats": 270,
}  # fmt: skip
OLD = {"dental work": 3, "dental visits": 2, "fever": 5, "fever threshold": 1, "alcohol": 1}
NEW = {"Different advice on dental work": 1, "teeth": 2, "hot": 3, "cats": 4, "alcohol": 5}


def test_known_phrases_go_where_they_are_and_new_ones_to_the_nearest_exemplar_within_reach() -> None:
    """The exemplars of a theme lie 5 or 6 degrees apart: the reach is 1 - cos 6 = 0.0055. "hot" is 3 degrees off, "cats" 90."""
    taxonomy, points = build_taxonomy(OLD, compass(DEGREES), ThemeBuildOptions(layout="principal"))
    assert taxonomy.built["reach"] == pytest.approx(0.0055, abs=2e-4)
    assigned, moved = assign(taxonomy, points, NEW, compass(DEGREES))
    of = {theme.theme_id: theme.name for theme in taxonomy.leaves}
    assert {topic: of.get(name or "") for topic, name in assigned.theme_of().items()} == {
        "Different advice on dental work": "dental work", "teeth": "dental work", "hot": "fever", "cats": None, "alcohol": None,
    }  # fmt: skip
    assert [theme.theme_id for theme in assigned.themes] == [theme.theme_id for theme in taxonomy.themes]
    assert assigned.counts["phrases"] == 15
    assert (assigned.counts["no_theme_topics"], assigned.counts["no_theme_phrases"]) == (2, 9)
    kinds = [assigned.counts[name] for name in ("known_topics", "assigned_topics", "beyond_reach_topics")]
    assert kinds == [2, 2, 1], "that alcohol has no theme was known"
    place = moved.set_index("phrase")[["x", "y"]]
    assert tuple(place.loc["hot"]) == tuple(points.set_index("phrase").loc["fever threshold", ["x", "y"]].astype("float32"))


def test_the_distance_can_be_set() -> None:
    taxonomy, points = build_taxonomy(OLD, compass(DEGREES), ThemeBuildOptions(layout="principal"))
    strict, _ = assign(taxonomy, points, NEW, compass(DEGREES), max_distance=0.001)
    assert strict.counts["beyond_reach_topics"] == 2, "teeth is 2 degrees off (0.0006), hot 3 (0.0014)"


def test_another_encoder_is_refused() -> None:
    taxonomy, points = build_taxonomy(OLD, compass(DEGREES), ThemeBuildOptions(layout="principal"))
    with pytest.raises(ThemesError, match="was built with compass"):
        assign(taxonomy, points, NEW, words_encoder(list(OLD)))


def test_a_taxonomy_of_others_without_exemplars_works_by_its_phrases() -> None:
    theirs = Taxonomy((Theme("7", "Teeth", None, ("dental work",)), Theme("8", "Fever", None, ("fever",))))
    assigned, moved = assign(theirs, None, NEW, compass(DEGREES), max_distance=0.02)
    assert {theme.name: theme.topics for theme in assigned.leaves} == {
        "Teeth": ("Different advice on dental work", "teeth"), "Fever": ("hot",),
    }  # fmt: skip
    assert moved.x.isna().any()


def test_phrases_held_back_find_the_themes_of_their_like() -> None:
    """Of 900 phrases 180 are held back; what is assigned is mostly where the nearest true theme is."""
    drawn = draw_phrases(900, 40, seed=5)
    truth = dict(zip(drawn.phrases, drawn.truth.tolist(), strict=True))
    known, held_back = drawn.phrases[:720], drawn.phrases[720:]
    taxonomy, points = build_taxonomy(
        dict.fromkeys(known, 1), words_encoder(list(by_plain_phrase(known))), ThemeBuildOptions(layout="principal")
    )
    assigned, _ = assign(taxonomy, points, dict.fromkeys(held_back, 1), words_encoder_of(taxonomy))
    topics = {theme.theme_id: theme.topics for theme in taxonomy.leaves}
    placed = {topic: name for topic, name in assigned.theme_of().items() if name}
    right = sum(truth[topic] in {truth[other] for other in topics[name]} for topic, name in placed.items())
    assert len(placed) / len(held_back) > 0.7
    assert right / len(placed) > 0.8
