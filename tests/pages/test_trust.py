"""Trust in the judge: in sentences, from whoever has rated pairs of the run, and for nobody who still rates them."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.store.runs import Run
from pages._shared import rating_sources
from pages._shared.rating_sources import RATERS_UNKNOWN, RELEASE_TITLE, headline_pair
from tests.store.test_load_ratings import ITEM, with_ratings
from tests.support.loading import load

SECOND = ITEM | {
    "item_id": "i2",
    "handbook_a": "c",
    "handbook_b": "a",
    "stratum": "COMPLEMENTARY",
    "annotator_a": "COMPLEMENTARY",
}


@pytest.fixture
def rated(release: Path, data_dir: Path) -> Run:
    """A run whose release brings ratings of two pairs: the first of two raters confirms both, adjudication too."""
    return load(with_ratings(release, [ITEM, SECOND | {"gold": "COMPLEMENTARY", "design_weight": "2"}]), data_dir).run


@pytest.fixture
def unknown_visitor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rating_sources, "current_account", lambda: None)


@pytest.mark.usefixtures("unknown_visitor")
def test_the_headline_is_the_judges_rate_beside_the_corrected_one(rated: Run) -> None:
    headline = headline_pair(rated)
    assert headline is not None
    assert (headline.source, headline.final, headline.rate.n, headline.rate.pairs) == (RELEASE_TITLE, True, 2, 4)
    assert (headline.rate.judge, headline.rate.value) == pytest.approx((1.5 / 3.5, 1.5 / 3.5))
    (source,) = rating_sources.rating_sources(rated)
    assert source.raters == RATERS_UNKNOWN


@pytest.mark.usefixtures("unknown_visitor")
def test_without_ratings_or_without_their_design_there_is_no_corrected_rate(release: Path, data_dir: Path) -> None:
    assert headline_pair(load(release, data_dir).run) is None
    undesigned = [{name: value for name, value in ITEM.items() if name != "design_weight"}]
    run = load(with_ratings(release, undesigned), data_dir).run
    assert headline_pair(run) is None
    assert [source.rated for source in rating_sources.rating_sources(run)] == [1]
