"""Trust in the judge: in sentences, from whoever has rated pairs of the run, and for nobody who still rates them."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from annotation.ratings.gold import ConfirmedCalls
from audit.stats.intervals import ShareEstimate
from audit.store.runs import Run
from audit.vocabulary import PASSAGES_GENERATOR
from pages._shared import rating_sources
from pages._shared.rating_sources import RATERS_UNKNOWN, RELEASE_TITLE, headline_pair
from pages.trust.confirmed import squares
from tests.pages.conftest import lists, words_on
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


def html_of(at) -> str:
    """The HTML that a page draws, without its style sheets."""
    bodies = (block.proto.body for block in at.get("html"))
    return "\n".join(body for body in bodies if not body.startswith("<style")).replace("\N{NO-BREAK SPACE}", " ")


@pytest.fixture
def unknown_visitor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rating_sources, "current_account", lambda: None)


@pytest.mark.usefixtures("unknown_visitor")
def test_the_headline_is_the_judges_rate_beside_the_corrected_one(rated: Run) -> None:
    headline = headline_pair(rated)
    assert headline is not None
    assert (headline.source, headline.final, headline.rate.n, headline.rate.pairs) == (RELEASE_TITLE, True, 2, 4)
    assert (headline.rate.judge, headline.rate.value) == pytest.approx((1.5 / 3.5, 1.5 / 3.5))
    # Two rated pairs of four handbooks on three questions: what is known is wide, and contains the corrected rate
    assert math.isnan(headline.low) or headline.low <= headline.rate.low < headline.rate.high <= headline.high
    (source,) = rating_sources.rating_sources(rated)
    assert source.raters == f"{RATERS_UNKNOWN}."


@pytest.mark.usefixtures("unknown_visitor")
def test_without_ratings_or_without_their_design_there_is_no_corrected_rate(release: Path, data_dir: Path) -> None:
    assert headline_pair(load(release, data_dir).run) is None
    undesigned = [{name: value for name, value in ITEM.items() if name != "design_weight"}]
    run = load(with_ratings(release, undesigned), data_dir).run
    assert headline_pair(run) is None
    assert [source.rated for source in rating_sources.rating_sources(run)] == [1]


def test_the_page_says_in_sentences_what_raters_of_the_release_confirm(rated, open_page):
    at = open_page("trust", run=rated.key)
    assert not at.exception
    assert not at.error
    words, drawn = words_on(at), html_of(at)
    assert "Of the pairs in which both handbooks answer, the judge calls **42.9 %** a disagreement. Corrected by 2 rated" in words
    assert "Of the pairs called divergent, raters confirm 1 of 1 (100 %" in drawn
    assert "The judge called none of the rated pairs contradictory. Raters called none contradictory" in drawn
    assert drawn.count('class="yes"') == 2
    assert "The judge gives the label of the raters after adjudication in 2 of 2 pairs" in words
    assert "Ratings that the release brings: who the raters are is not stated." in words
    assert "Asked again with names of centers hidden." in html_of(open_page("trust", run=rated.key, view="tests"))
    at = open_page("trust", run=rated.key, view="raters")
    assert "Annotator A and annotator B gave the same label to 1 of 2 items" in words_on(at)
    assert lists(at)[0].value.set_index("label").loc["disagrees", ["judge", "value"]].tolist() == pytest.approx([300 / 7] * 2)


def test_what_is_not_known_is_said_once_with_its_reason(run, open_page):
    at = open_page("trust", run=run.key)
    words = words_on(at)
    assert words.count("Nobody has rated pairs of this run") == 1
    assert html_of(at).count('class="state not-measured"') == 5
    assert "agree with the judge?" not in words


def test_the_raters_are_whom_the_release_names(rated, release, data_dir, open_page):
    manifest = json.loads((release / "manifest.json").read_text())
    (release / "manifest.json").write_text(json.dumps(manifest | {"raters": "two <b>nurses</b>"}))
    named = load(release, data_dir).run
    assert "Ratings that the release brings: two <b>nurses</b>." in words_on(open_page("trust", run=named.key))


def test_ratings_of_language_models_are_not_called_those_of_people(rated, release, data_dir, open_page):
    manifest = json.loads((release / "manifest.json").read_text())
    (release / "manifest.json").write_text(json.dumps(manifest | {"raters": "two models of one family", "raters_are": "models"}))
    named = load(release, data_dir).run
    at = open_page("trust", run=named.key)
    words = words_on(at) + html_of(at)
    assert "Do language models agree with the judge?" in words
    assert "Of the pairs called divergent, language models confirm 1 of 1 (100 %" in words
    assert "Ratings that the release brings: two models of one family (language models)." in words
    assert "people" not in words
    assert "Corrected by the labels of language models of 2 pairs" in words_on(open_page("start", run=named.key))


def test_the_errors_of_a_search_are_the_manifests_own(release, data_dir, open_page):
    manifest = json.loads((release / "manifest.json").read_text())
    errors = {"missed": 6, "answered": 40, "found": 11, "unanswered": 20, "source": "somewhere", "date": "2026-11-27"}
    searched = {"generator": PASSAGES_GENERATOR, "generator_errors": errors}
    (release / "manifest.json").write_text(json.dumps(manifest | searched))
    at = open_page("trust", run=load(release, data_dir).run.key, view="search")
    assert not at.exception
    words = words_on(at)
    assert (
        "Of 40 questions that a document answers, such a search called 6 “not found” (15.0 %; 95 % interval 7.1 to 29.1 %)"
        in words
    )
    assert "Of 20 questions that the document does not answer, it showed passages for 11 (55.0 %" in words


def test_squares_are_one_pair_each_or_several_where_there_are_many() -> None:
    share = ShareEstimate(np.array(0.5), np.array(0.4), np.array(0.6))
    assert Counter(squares(ConfirmedCalls(10, 6, 1, share), 1)) == {"yes": 6, "divided": 1, "no": 3}
    assert Counter(squares(ConfirmedCalls(200, 120, 20, share), 5)) == {"yes": 24, "divided": 4, "no": 12}
    assert squares(ConfirmedCalls(0, 0, 0, share), 1) == []


@pytest.mark.parametrize("errors", [None, {"missed": 7, "answered": 5}, {"missed": "6", "answered": 40}, [6, 40]])
def test_errors_that_cannot_be_counts_are_said_to_be_unmeasured(release, data_dir, open_page, errors):
    manifest = json.loads((release / "manifest.json").read_text())
    searched = {"generator": PASSAGES_GENERATOR, "generator_errors": errors}
    (release / "manifest.json").write_text(json.dumps(manifest | searched))
    at = open_page("trust", run=load(release, data_dir).run.key, view="search")
    assert not at.exception
    assert "How often such a search errs was not measured." in words_on(at)
