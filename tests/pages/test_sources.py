"""The page Sources: all questions with their counts, and one question's way, with what is not known said apart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audit.store.runs import Run
from pages._shared.doors import BROWSING
from pages._shared.navigation import is_listed
from tests.pages.conftest import Open, words_on
from tests.pages.test_system_answers import html_on
from tests.pages.test_systems import table_with
from tests.support.loading import load
from tests.support.routes import passage, route_tables, routed, routes_release

LoadRoutes = Callable[..., Run]
PRIMARY = "Right source first (PrimaryAcc)"


@pytest.fixture
def load_routes(data_dir: Path, tmp_path: Path) -> LoadRoutes:
    """Load a run whose systems routed questions; tables given here replace those of the small release."""

    def loader(**tables: list[dict[str, Any]]) -> Run:
        return load(routes_release(tmp_path / "routes", {**route_tables(), **tables}), data_dir).run

    return loader


@pytest.mark.usefixtures("every_tab")
def test_measures_dominance_and_budgets_have_their_counts(load_routes: LoadRoutes, open_page: Open) -> None:
    load_routes()
    at = open_page("sources")
    assert not at.exception
    assert not at.error
    assert "Questions that were routed: 3. Sources: 2." in words_on(at)
    primary = table_with(at, "measure", "measured").set_index(["name", "measure"])
    assert primary.loc[("daks", PRIMARY), ["measured", "mean"]].tolist() == [3, 1.0]
    assert primary.loc[("all", PRIMARY), ["measured", "mean"]].tolist() == [2, 0.0]
    at = open_page("sources", view="shares")
    shares = table_with(at, "authority", "evidence").set_index(["name", "source_id"])
    # One handbook of three, all of the same length; of `all`: 2/3 of the passages of q1 and all of q2
    assert shares.loc[("all", "Dense"), "text"] == pytest.approx(100 / 3)
    assert shares.loc[("all", "Dense"), "evidence"] == pytest.approx(100 * (2 / 3 + 1) / 2)


def test_kinds_and_differences_have_a_view_of_their_own(load_routes: LoadRoutes, open_page: Open) -> None:
    load_routes()
    at = open_page("sources", view="details")
    assert not at.exception
    kinds = table_with(at, "kind", "budget").set_index(["kind", "name", "source_id"])
    # q1 and q3 need one source; `daks` takes 14 of 20 passages from the one that it ranks first
    assert kinds.loc[("one source", "daks", "Long"), ["routed", "budget"]].tolist() == [2, (14 + 6) / 2]
    at = open_page("sources", view="differences")
    changes = table_with(at, "change", "of").set_index("measure")
    assert changes.loc[PRIMARY, ["change", "of"]].tolist() == [1.0, 2]


def test_one_question_shows_sources_evidence_and_notes(load_routes: LoadRoutes, open_page: Open) -> None:
    edges = [{"chunk": f"{name}#0", "kind": "drug", "name": "<b>cola</b>"} for name in ("long-2/s2", "dense-1/s1")]
    evidence = [passage("long-2/s2", text="Call <i>us</i>.", bridged=True), passage("dense-1/s1")]
    trace = {"edges": edges, "notes": ["Source 'x' has no *text*."]}
    load_routes(routes=[routed("q2", "daks", ["Long", "Dense"], []) | {"evidence": evidence, "trace": trace}])
    at = open_page("sources", view="one", question="q2")
    assert not at.exception
    html = html_on(at)
    assert "It needs: Long, Dense." in words_on(at)
    assert "Source 'x' has no *text*." in words_on(at)
    assert html.count("<details>") == 2
    assert "Long · Long · long-2 · s2 · bridged" in html
    assert "Call &lt;i&gt;us&lt;/i&gt;." in html
    assert html.count("Names: &lt;b&gt;cola&lt;/b&gt;") == 2
    assert len(at.get("plotly_chart")) == 1


def test_the_system_is_chosen_in_the_address(load_routes: LoadRoutes, open_page: Open) -> None:
    load_routes()
    assert html_on(open_page("sources", view="one", question="q1", system="daks")).count("<details>") == 2
    assert html_on(open_page("sources", view="one", question="q1", system="all")).count("<details>") == 3
    assert "system = all" in words_on(open_page("sources", view="one", question="q3", system="all"))


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ({"answer": "Call **us**."}, "Call **us**."),
        ({"answer": "No.", "refused": True}, "The system declined to answer."),
        ({"answer": None, "unread_reason": "cut"}, "could not be read (cut)"),
        (None, "its evidence was gathered, and nothing was written from it"),
    ],
)
def test_answered_declined_unreadable_and_not_written_are_four_things(
    load_routes: LoadRoutes, open_page: Open, answer: dict[str, Any] | None, words: str
) -> None:
    answers = [{"question_id": "q1", "system_id": "daks", **answer}] if answer else []
    load_routes(system_answers=answers)
    assert words in html_on(open_page("sources", view="one", question="q1", system="daks"))


def test_each_statement_has_who_makes_it_and_who_says_otherwise(load_routes: LoadRoutes, open_page: Open) -> None:
    otherwise = [{"handbook_id": "long-1", "quote": "Wait <b>a year</b>."}]
    statements = [
        {"text": "Call us.", "supported_by": ["Long", "Dense"]},
        {"text": "Wait 6 months.", "supported_by": ["Dense"], "contradicted_by": otherwise},
        {"text": "Rest."},
    ]
    route = routed("q1", "daks", ["Long", "Dense"], ["long-1/s1"]) | {"trace": {"statements": statements}}
    load_routes(routes=[route], system_answers=[{"question_id": "q1", "system_id": "daks", "answer": "Call us. Wait 6 months."}])
    html = html_on(open_page("sources", view="one", question="q1"))
    assert "2 sources say so: Long, Dense" in html
    assert "1 source says so: Dense" in html
    assert "says otherwise: “Wait &lt;b&gt;a year&lt;/b&gt;.”" in html
    assert html.count("No quote for it was found in the passages.") == 1


def test_what_nobody_knows_is_said_and_is_not_zero(load_routes: LoadRoutes, open_page: Open) -> None:
    routes = [{"question_id": "q1", "system_id": "all", "evidence": [passage("dense-1/s1")]}]
    load_routes(routes=routes, references=[])
    at = open_page("sources", view="details")
    assert not at.exception
    assert "The release does not say how many passages each system takes from each source." in words_on(at)
    assert "The sources that it needs are not stated." in words_on(open_page("sources", view="one", question="q1"))


def test_evidence_outside_all_sources_is_kept(load_routes: LoadRoutes, open_page: Open) -> None:
    load_routes(sources=[{"source_id": "Long", "handbook_ids": ["long-1", "long-2"]}], references=[], routes=[
        {"question_id": "q1", "system_id": "all", "evidence": [passage("dense-1/s1")]}
    ])  # fmt: skip
    at = open_page("sources", view="one", question="q1")
    assert not at.exception
    assert "of no source · Dense · s1" in html_on(at)


def test_a_run_without_routes_says_so_and_the_menu_leaves_the_page_out(
    run: Run, load_routes: LoadRoutes, open_page: Open
) -> None:
    assert "In this run no system chose between sources" in words_on(open_page("sources", run=run.key))
    assert not is_listed(BROWSING["sources"], run)
    assert is_listed(BROWSING["sources"], load_routes())
