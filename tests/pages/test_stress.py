"""The page Stress: curves with their counts, selective answering, and one instance with what is true and what was said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audit.store.runs import Run
from pages._shared.doors import BROWSING
from pages._shared.navigation import is_listed
from pages.stress.item import marked_text
from tests.pages.conftest import Open, pick_row, words_on
from tests.pages.test_system_answers import html_on
from tests.pages.test_systems import table_with
from tests.support.loading import load
from tests.support.stress import document, instance, replied, stress_release, stress_tables

pytestmark = pytest.mark.usefixtures("every_tab")
LoadStress = Callable[..., Run]


@pytest.fixture
def load_stress(data_dir: Path, tmp_path: Path) -> LoadStress:
    """Load a run of stress tests; tables given here replace those of the small release."""

    def loader(**tables: list[dict[str, Any]]) -> Run:
        return load(stress_release(tmp_path / "stress", {**stress_tables(), **tables}), data_dir).run

    return loader


def test_a_reply_that_says_insufficient_is_not_right_and_one_that_cannot_be_read_counts_nowhere(
    load_stress: LoadStress, open_page: Open
) -> None:
    load_stress()
    at = open_page("stress", test="sufficiency")
    assert not at.exception
    assert not at.error
    values = table_with(at, "value", "unread").set_index("name")
    assert values.loc["good", ["value", "of"]].tolist() == [100.0, 1]
    assert values.loc["weak", ["value", "of"]].tolist() == [0.0, 1]
    at = open_page("stress", test="robustness", measure="accuracy")
    assert table_with(at, "value", "unread")["name"].tolist() == ["good"]
    at = open_page("stress", test="robustness", measure="unread")
    assert table_with(at, "value", "unread").set_index("name").loc["weak", "value"] == 100
    assert "1 reply, document or sub-question could not be read" in words_on(at)


def test_the_standard_test_goes_by_the_number_of_documents_and_has_no_selective_curve(
    load_stress: LoadStress, open_page: Open
) -> None:
    alone = instance("q2", "standard", 100, size=0)
    load_stress(stress_instances=[*stress_tables()["stress_instances"], alone], stress_replies=[
        *stress_tables()["stress_replies"], replied("q2-standard-100", "good", "B")
    ])  # fmt: skip
    at = open_page("stress", test="standard")
    assert not at.exception
    values = table_with(at, "value", "unread").set_index(["name", "size"])
    assert values.loc[("good", 0), "value"] == 0
    assert values.loc[("good", 1), "value"] == 100
    assert "each answered every question" in words_on(open_page("stress", view="selective", test="standard"))


def test_differences_are_on_the_same_instances(load_stress: LoadStress, open_page: Open) -> None:
    load_stress()
    at = open_page("stress", view="differences", test="standard", baseline="weak")
    assert not at.exception
    row = table_with(at, "change", "of").set_index(["measure", "name"]).loc[("Accuracy", "good")]
    assert row[["change", "of", "value", "first"]].tolist() == [1.0, 1, 1.0, 0.0]
    at = open_page("stress", view="contexts", test="standard")
    assert table_with(at, "instances", "smaller")["instances"].tolist() == [1]


def test_sizes_are_chosen_where_there_are_several(load_stress: LoadStress, open_page: Open) -> None:
    tables = stress_tables()
    larger = instance(
        "q2", "sufficiency", 50, document("c"), document("d"), document("x", signal=False), document("y", signal=False)
    )
    tables["stress_instances"].append(larger)
    load_stress(
        **tables,
    )
    assert set(table_with(open_page("stress", test="sufficiency"), "value", "unread")["size"]) == {2}
    at = open_page("stress", test="sufficiency", size="4")
    assert "No system has taken this test." in words_on(at)


def test_one_instance_has_what_is_true_of_each_document_and_what_each_system_said(
    load_stress: LoadStress, open_page: Open
) -> None:
    tables = stress_tables()
    altered = tables["stress_instances"][2]["documents"][1]
    altered |= {"text": "Wait <b>9 days</b>.", "edit": {"kind": "amount", "before": "3 days", "after": "9 days", "start": 8}}
    load_stress(**tables)
    at = open_page("stress", view="one", instance="q1-robustness-50")
    assert not at.exception
    html = html_on(at)
    assert "Robustness; 50 % correct asked for, 1 of 2 documents here." in words_on(at)
    assert "Wait &lt;b&gt;<mark>9 days</mark>&lt;/b&gt;." in html
    assert "<del>3 days</del> became <mark>9 days</mark>" in html
    assert '<b>in error</b> <span class="badge good">right</span>' in html
    assert "Right: <b>3 days</b>. The altered text says: <b>9 days</b>." in html
    assert "could not be read (cut)" in html
    assert "it does not say" in html
    assert "no answer to it" in html


def test_a_click_on_an_instance_opens_it(load_stress: LoadStress, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    load_stress()
    at = open_page("stress", view="instances", test="standard")
    pick_row(monkeypatch, at, "instances_standard_None", 0)
    assert dict(at.query_params) | {"view": "one", "instance": "q1-standard-100"} == dict(at.query_params)
    assert "Document 1" in html_on(at)


def test_right_insufficient_and_not_asked_are_three_things(load_stress: LoadStress, open_page: Open) -> None:
    load_stress()
    html = html_on(open_page("stress", view="one", instance="q1-sufficiency-50"))
    assert '<span class="badge good">right</span>' in html
    assert "says that the documents do not suffice" in html
    html = html_on(open_page("stress", view="one", instance="q2-integration-100"))
    assert "Not asked: weak." in html
    # An open question is compared by words: an answer to it is neither right nor wrong
    assert '<div class="choice">2 mg</div>\n<span class="badge ">answered</span>' in html
    assert "Right answer: 2 mg" in html


def test_an_instance_that_the_run_does_not_have_is_said(load_stress: LoadStress, open_page: Open) -> None:
    load_stress()
    at = open_page("stress", view="one", instance="q1-robustness-5")
    assert not at.exception
    assert "Did you mean 'q1-robustness-50'?" in words_on(at)


def test_tests_that_nobody_has_taken_are_said(load_stress: LoadStress, open_page: Open) -> None:
    load_stress(stress_replies=[])
    at = open_page("stress")
    assert not at.exception
    assert "No system has taken this test." in words_on(at)


def test_published_figures_are_behind_the_curves_of_the_same_questions_only(load_stress: LoadStress, open_page: Open) -> None:
    load_stress()
    assert "Grey: the figures that MedRGB prints" not in words_on(open_page("stress", test="sufficiency"))
    five = [document(name, signal=name == "a") for name in "abcde"]
    load_stress(stress_instances=[instance("q1", "sufficiency", 20, *five, dataset="PubMedQA")], stress_replies=[
        replied("q1-sufficiency-20", "good")
    ])  # fmt: skip
    assert "Grey: the figures that MedRGB prints" in words_on(open_page("stress", test="sufficiency"))


def test_a_run_without_stress_tests_says_so_and_the_menu_leaves_the_page_out(
    run: Run, load_stress: LoadStress, open_page: Open
) -> None:
    at = open_page("stress", run=run.key)
    assert "This run has no stress tests" in words_on(at)
    assert "audit stress build" in words_on(at)
    assert not is_listed(BROWSING["stress"], run)
    assert is_listed(BROWSING["stress"], load_stress())


@pytest.mark.parametrize(
    ("text", "edit", "marked"),
    [
        ("a 9 b 9", {"start": 6}, "a 9 b <mark>9</mark>"),
        ("a 9 b 9", {"start": None}, "a 9 b 9"),
        ("a 9 b", {"start": 77}, "a <mark>9</mark> b"),
        ("a b", {"start": 0}, "a b"),
    ],
)
def test_an_edit_is_marked_only_where_its_place_is_certain(text: str, edit: dict[str, Any], marked: str) -> None:
    from audit.queries.stress import PlantedEdit, ShownDocument

    planted = PlantedEdit("amount", "3", "9", edit["start"])
    assert marked_text(ShownDocument("d", text, True, False, None, planted, None, None, None)) == marked
