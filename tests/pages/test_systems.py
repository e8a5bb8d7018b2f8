"""The page Systems: every figure with its count, filters in the address, and runs that lack systems or parts of them."""

from __future__ import annotations

import pytest

from audit.errors import MissingLibraryError
from audit.store.runs import Run
from pages._shared.doors import BROWSING, SYSTEMS
from pages._shared.navigation import is_listed
from tests.pages.conftest import LoadSystems, Open, lists, words_on

pytestmark = pytest.mark.usefixtures("every_tab")
SYSTEM_PAGES = [tab.script for tab in BROWSING.values() if tab.needs == SYSTEMS]


def table_with(at, *columns: str):
    return next(table.value for table in lists(at) if set(columns) <= set(table.value))


def test_refused_and_unreadable_replies_are_counted_apart(load_systems: LoadSystems, open_page: Open) -> None:
    load_systems()
    at = open_page("systems", view="replies")
    assert not at.exception
    assert not at.error
    replies = table_with(at, "asked", "refused").set_index("name")
    assert replies.loc["Model alone", ["asked", "answered", "refused", "unread"]].tolist() == [3, 2, 0, 1]
    assert replies.loc["Model with retrieval", ["asked", "answered", "refused", "unread"]].tolist() == [3, 2, 1, 0]
    assert replies.loc["Model with retrieval", "refusal"] == pytest.approx(100 / 3)
    assert "Questions that match: 3." in words_on(at)


def test_composites_of_systems_and_reference_with_the_evaluations_behind_them(load_systems: LoadSystems, open_page: Open) -> None:
    load_systems()
    at = open_page("systems")
    composites = table_with(at, "mean", "evaluations").set_index("name")
    # Sums of 3 and 0 of at most 4 and at least -10: (13/14 + 10/14) / 2 x 10
    assert composites.loc["Model alone", "mean"] == pytest.approx((13 + 10) / 2 / 14 * 10)
    assert composites.loc["Reference answer", "evaluations"] == 2
    assert "6 evaluations; 6 have all eight scores. The reference answer was judged like the others." in words_on(at)


def test_the_baseline_in_the_address_turns_the_difference_around(load_systems: LoadSystems, open_page: Open) -> None:
    load_systems()
    difference = {}
    for baseline in ("alone", "rag"):
        at = open_page("systems", view="differences", baseline=baseline)
        rows = table_with(at, "change", "of").set_index("measure")
        difference[baseline] = rows.loc["Composite", "change"]
    assert difference["alone"] == pytest.approx(-difference["rag"])
    assert difference["alone"] > 0


def test_a_question_type_in_the_address_counts_only_its_questions(load_systems: LoadSystems, open_page: Open) -> None:
    load_systems()
    at = open_page("systems", view="replies", type="treatment")
    assert "Questions that match: 1." in words_on(at)
    assert table_with(at, "asked", "refused").set_index("name").loc["Model alone", "asked"] == 1


def test_without_scores_and_measures_the_page_says_what_is_not_measured(load_systems: LoadSystems, open_page: Open) -> None:
    load_systems(criteria=[], measures=[], preferences=[])
    sentences = {
        "all": "their quality is not measured, which is not a composite of 0", "criteria": "their quality is not measured",
        "differences": "Each compared with Model alone", "references": "audit systems score RELEASE",
        "preferences": "The release has no preferences", "trust": "Not measured: the judge scored no reference answer",
    }  # fmt: skip
    for view, sentence in sentences.items():
        at = open_page("systems", view=view)
        assert not at.exception
        assert sentence in words_on(at), view


def test_when_to_retrieve_is_answered_in_a_sentence(load_systems: LoadSystems, open_page: Open) -> None:
    load_systems()
    assert "No rule: the two answers differ on fewer than" in words_on(open_page("systems", view="when"))


def test_without_its_library_the_rule_alone_is_missing(
    load_systems: LoadSystems, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise MissingLibraryError("scikit-learn is not installed.")

    monkeypatch.setattr("audit.metrics.when_to_retrieve.learn_when_to_retrieve", fail)
    load_systems()
    at = open_page("systems", view="when")
    assert not at.error
    assert "scikit-learn is not installed." in words_on(at)


def test_no_name_of_a_release_is_interpreted(load_systems: LoadSystems, open_page: Open) -> None:
    named = [{"system_id": name, "name": f"<b>{name}</b> **x** [y](http://z)"} for name in ("alone", "rag")]
    load_systems(systems=named)
    for name in SYSTEM_PAGES:
        at = open_page(name)
        assert not at.exception
        raw = "\n".join(str(element.value) for kind in ("header", "subheader", "markdown", "caption") for element in at.get(kind))
        assert "[y](http" not in raw
        assert "<b>alone" not in raw + "\n".join(block.proto.body for block in at.get("html"))


@pytest.mark.parametrize("name", SYSTEM_PAGES)
def test_a_run_without_systems_says_how_it_gets_them(run: Run, open_page: Open, name: str) -> None:
    at = open_page(name)
    assert not at.exception
    assert "This run has no answering systems" in words_on(at)
    assert "audit systems score" in words_on(at)


def test_the_menu_lists_only_pages_for_which_the_run_has_data(run: Run, load_systems: LoadSystems) -> None:
    assert not is_listed(BROWSING["systems"], run)
    assert is_listed(BROWSING["disagreements"], run)
    systems_alone = load_systems()
    assert is_listed(BROWSING["systems"], systems_alone)
    assert is_listed(BROWSING["runs"], systems_alone)
    assert not is_listed(BROWSING["disagreements"], systems_alone)
    assert is_listed(BROWSING["disagreements"], None)
