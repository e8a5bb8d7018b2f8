"""The page Retrieval: strategies compared, and the page of a run without trials."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audit.release.write import write_jsonl
from tests.metrics.test_retrieval import TRIALS, trial
from tests.metrics.test_retrieval_configurations import searched
from tests.pages.conftest import HANDBOOKS, TABLE, Open, lists, words_on
from tests.support.loading import load
from tests.support.tiny import release_from

Tried = Callable[[list[dict[str, Any]]], None]


@pytest.fixture
def tried(tmp_path: Path, data_dir: Path) -> Tried:
    """Load a run with these trials."""

    def loader(records: list[dict[str, Any]]) -> None:
        folder = release_from(tmp_path / "releases", TABLE, HANDBOOKS)
        write_jsonl(folder / "trials.jsonl", records)
        load(folder, data_dir)

    return loader


def test_without_trials_the_page_explains_how_to_create_them(tried: Tried, open_page: Open) -> None:
    tried([])
    words = words_on(open_page("retrieval"))
    assert "This run has no retrieval trials" in words
    assert "audit retrieve DOCUMENTS --questions FILE" in words


def test_strategies_are_compared_with_counts_and_against_the_first(tried: Tried, open_page: Open) -> None:
    tried(TRIALS)
    at = open_page("retrieval")
    assert not at.exception
    words = words_on(at)
    assert "Each strategy was tried on **3** searches with a known section, over 2 questions" in words
    assert ("without a known section are excluded" in words) is any(not record["gold"] for record in TRIALS)
    assert len(lists(at)) == 1
    assert "Each compared with hero, search by search" in words_on(open_page("retrieval", view="differences"))
    for view in ("where", "cost"):
        assert len(lists(open_page("retrieval", view=view))) == 1


def test_the_misses_of_the_strategy_in_the_address_are_listed(tried: Tried, open_page: Open) -> None:
    tried(TRIALS)
    at = open_page("retrieval", view="missed", strategy="bm25")
    assert "**1** searches without a gold section among the first five" in words_on(at)
    assert lists(at)[-1].value["found_by"].tolist() == ["hero"]


def test_trials_without_gold_show_only_what_the_generator_was_given(tried: Tried, open_page: Open) -> None:
    tried([trial("q1", "a", "hero", "s1", gold="")])
    at = open_page("retrieval")
    assert not at.exception
    assert "names the section that contains the answer, so only what the generator was given can be shown" in words_on(at)
    assert len(lists(at)) == 1


def test_the_name_of_a_strategy_is_not_markdown(tried: Tried, open_page: Open) -> None:
    tried([{**record, "strategy": "**x** [y](http://z)" if record["strategy"] == "hero" else "bm25"} for record in TRIALS])
    at = open_page("retrieval", view="differences")
    assert not at.exception
    assert "[y](http" not in "\n".join(str(header.value) for header in at.header)


@pytest.mark.usefixtures("every_tab")
def test_configurations_are_drawn_one_comparison_at_a_time(tmp_path: Path, data_dir: Path, open_page: Open) -> None:
    folder = release_from(tmp_path / "releases", TABLE, HANDBOOKS)
    names = {"components": ("hybrid, full", "without reranking"), "passages": ("5 passages", "1 passage")}
    records = [
        searched(question, name, "d1 d2" if number else "d2 d1", comparison=comparison)
        for comparison, own in names.items()
        for number, name in enumerate(own)
        for question in ("q1", "q2")
    ]
    write_jsonl(folder / "search_trials.jsonl", records)
    load(folder, data_dir)
    at = open_page("retrieval")
    assert not at.exception
    words = words_on(at)
    assert [each.value for each in at.header] == ["Each compared with hybrid\\, full\\, search by search"]
    assert "This run has no retrieval trials" not in words
    assert lists(at)[0].value["configuration"].tolist() == list(names["components"])
    at = open_page("retrieval", comparison="passages")
    assert lists(at)[0].value["configuration"].tolist() == list(names["passages"])
