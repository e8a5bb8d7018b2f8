"""The Agreement page: figures with intervals and counts, as they stand, for those who may see them."""

from __future__ import annotations

import pytest

from annotation.label_store.studies import State
from annotation.verdict_store import Design, Stratum, Verdict, keep
from tests.pages.conftest import words_on
from tests.pages.studies.conftest import SignIn
from tests.support.studies import rate, step, study_of

ITEMS = 10


@pytest.fixture
def judged(folk):
    """Ten items; the judge says CONSISTENT of each. Ana agrees on all, ben on the first eight."""
    study_of(folk, ITEMS)
    said = [Verdict(f"i{n:03}", "CONSISTENT", "CONSISTENT", None, None, "Both say it.") for n in range(1, ITEMS + 1)]
    with folk.begin() as tx:
        keep(tx, "s", Design("run", "0" * 64, 100, 0, {}), [Stratum("CONSISTENT", "CONSISTENT", None, 100, ITEMS)], said)
    for number in range(1, ITEMS + 1):
        rate(folk, "ana", number, "CONSISTENT")
        rate(folk, "ben", number, "CONSISTENT" if number <= 8 else "COMPLEMENTARY")
    return folk


def figures_on(at) -> dict[str, object]:
    table = next(frame.value for frame in at.dataframe if "figure" in frame.value)
    return dict(zip(table["figure"], zip(table["value"], table["n"], strict=True), strict=True))


@pytest.mark.parametrize("name", ["petra", "ada"])
def test_raw_agreement_is_eight_of_ten_with_its_interval(name, judged, as_user: SignIn):
    at = as_user(name, "agreement")
    assert not at.exception
    assert figures_on(at)["raw agreement"] == ("0.800", 10)
    assert "State: labelling" in words_on(at)
    assert "95 % interval" in words_on(at)


def test_a_rating_that_comes_in_moves_the_figures(judged, as_user: SignIn):
    at = as_user("petra", "agreement")
    rate(judged, "ben", 9, "CONSISTENT")
    assert figures_on(at.run())["raw agreement"] == ("0.900", 10)


def test_what_is_undefined_says_why(folk, as_user: SignIn):
    study_of(folk, 3)
    said = [Verdict(f"i{n:03}", "ABSENT", "ABSENT", None, None, None) for n in (1, 2, 3)]
    with folk.begin() as tx:
        keep(tx, "s", Design("run", "0" * 64, 9, 0, {}), [Stratum("ABSENT", "ABSENT", None, 9, 3)], said)
    at = as_user("petra", "agreement")
    assert not at.exception
    assert figures_on(at)["raw agreement"] == ("undefined", 0)


def test_the_items_behind_an_error_of_the_judge_are_one_click_away(judged, as_user: SignIn):
    at = as_user("petra", "agreement")
    at.session_state["errors"] = {"selection": {"rows": [0], "columns": [], "cells": []}}
    at = at.run()
    assert not at.exception
    assert "Birch says" in words_on(at)
    assert "the judge: consistent. Both say it." in words_on(at)


def test_an_adjudicator_is_shown_no_verdict_on_what_is_still_to_be_decided(judged, as_user: SignIn):
    step(judged, State.LABELLING)
    at = as_user("ada", "agreement")
    assert not at.exception
    assert not any("right" in frame.value for frame in at.dataframe)
    assert any("right" in frame.value for frame in as_user("petra", "agreement").dataframe)


def test_without_a_study_the_page_says_so(folk, as_user: SignIn):
    assert "There is no study yet" in words_on(as_user("petra", "agreement"))
