"""Themes and Theme: what is shown of a taxonomy, the way to the pairs, and what the process of the dashboard does without."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from annotation.label_store.engine import open_label_store
from annotation.studies.accounts import open_session, sign_out
from audit.jobs.theming import start_themes
from audit.metrics.question_positions import COLUMN_TYPES, QuestionPositions, positions_of, question_positions
from audit.queries.themes import taxonomy_path
from audit.release.taxonomy import Taxonomy, Theme, write_taxonomy
from audit.settings import Settings
from audit.store.runs import Run
from pages._blinded.access import now
from pages._blinded.session_cookie import NAME
from pages._shared import position_cards
from pages._shared.theme_building import progress_text
from tests.browser.conftest import server
from tests.pages.conftest import ROOT, lists, words_on
from tests.support.studies import people
from tests.support.visitor import opened
from tests.support.visitor import run as run_visits

TAXONOMY = Taxonomy(
    (
        Theme("p1", "Food *and* drink", None, ()),
        Theme("t1", "Salt", "p1", ("topic of ab",), ("salt", "sodium"), "topic of ab", ("topic of ab",)),
        Theme("t2", "Fluids", "p1", ("topic of ac",), ("water",)),
    ),
    ("topic of bc",),
    {"method": "average"},
)
"""On the run of conftest: t1 has q1 ab DIVERGENT/high and q2 ab CONTRADICTORY/low; t2 and no theme only complementary pairs."""
POINTS = pd.DataFrame(
    {"phrase": ["topic of ab", "topic of ac", "topic of bc"], "theme_id": ["t1", "t2", None], "x": [0.0, 1, 2], "y": [0.0, 1, 0],
     "count": 2}
)  # fmt: skip
HEAVY = ("torch", "umap", "numba", "sklearn", "sentence_transformers", "transformers", "faiss", "hdbscan", "scipy.stats")


@pytest.fixture
def themed(run: Run, data_dir: Path) -> Run:
    """The run of conftest with a taxonomy built for it."""
    write_taxonomy(TAXONOMY, POINTS, taxonomy_path(run, Settings(data_dir=data_dir).themes_dir))
    return run


def test_the_owner_of_a_run_without_themes_has_a_button_that_builds_them(run, data_dir, open_page, monkeypatch):
    started = []
    monkeypatch.setattr("pages._shared.theme_building.start_themes", lambda *arguments: started.append(arguments))
    at = open_page("themes")
    assert "disagreements of this run are not grouped into themes yet" in words_on(at)
    at.button(key="build_themes").click().run()
    assert [(wanted.digest, person, method) for _, wanted, person, method in started] == [(run.digest, "", "average")]
    assert "audit " not in words_on(at), "nobody is sent to a terminal"


def test_the_owner_can_choose_hdbscan_where_it_is_installed(run, data_dir, open_page, monkeypatch):
    started = []
    monkeypatch.setattr("pages._shared.theme_building.start_themes", lambda *arguments: started.append(arguments[-1]))
    at = open_page("themes")
    assert at.radio(key="theme_method").options == ["Average linkage", "UMAP and HDBSCAN"]
    at.radio(key="theme_method").set_value("hdbscan").run()
    at.button(key="build_themes").click().run()
    assert started == ["hdbscan"]
    monkeypatch.setattr("audit.jobs.theming.find_spec", lambda name: None)
    assert not open_page("themes").radio


def test_the_process_that_builds_gets_the_method(run, data_dir, monkeypatch):
    processes = []
    monkeypatch.setattr("audit.jobs.theming.start_process", lambda *arguments: processes.append(arguments[-1]))
    start_themes(Settings(data_dir=data_dir), run, method="hdbscan")
    assert processes[0][-2:] == ["--method", "hdbscan"]


@pytest.mark.parametrize("page", ["themes", "theme"])
def test_a_clinician_reads_that_an_investigator_can_group_the_disagreements(page, run, open_page, monkeypatch):
    monkeypatch.setattr("pages._shared.theme_building.may_rejudge", lambda account: False)
    at = open_page(page)
    assert "An investigator can do that on this page" in words_on(at)
    assert not [button for button in at.button if button.key == "build_themes"]


def test_a_run_without_disagreements_has_nothing_to_group(load_run, open_page):
    load_run("q1 kidney ab=CONSISTENT ac=COMPLEMENTARY bc=CONSISTENT", handbooks=None)
    at = open_page("themes")
    assert "so there are no themes" in words_on(at)
    assert not [button for button in at.button if button.key == "build_themes"]


def test_the_progress_of_a_job_is_said_in_words(run, data_dir, open_page):
    from audit.jobs.processes import create_job

    settings = Settings(data_dir=data_dir)
    job = create_job(settings, "themes", "themes", {"run": run.digest})
    assert progress_text(job) == "Starting ..."
    clustering = replace(job, progress={"phase": "cluster", "done": 40, "total": 1055})
    assert progress_text(clustering) == "Grouping what is about the same thing: 40 of 1,055"


def test_the_list_has_every_theme_with_its_disagreements_by_significance(themed, open_page):
    at = open_page("themes")
    assert not at.exception
    shown = lists(at)[0].value
    assert list(shown["name"]) == ["Salt", "Fluids"]
    assert list(shown["disagreeing"]) == [2, 0]
    assert list(shown[["high", "medium", "low"]].iloc[0]) == [1, 0, 1]
    assert "2** themes from 2 pairs that disagree. **0** of these pairs" in words_on(at)
    every = lists(at)[0].value
    assert list(every["share"]) == [100.0, 0.0]
    assert "severity" in every, "a theme of this release has pairs that do not disagree"


def test_where_every_pair_of_a_theme_disagrees_its_disagreement_is_no_column(load_run, data_dir, open_page):
    run = load_run("q1 kidney topics=diet ab=DIVERGENT/high ac=COMPLEMENTARY bc=CONSISTENT", handbooks=None)
    themes_path = taxonomy_path(run, Settings(data_dir=data_dir).themes_dir)
    write_taxonomy(Taxonomy((Theme("t1", "Salt", None, ("topic of ab",)),), (), {"model": "words"}), POINTS, themes_path)
    at = open_page("themes")
    assert not at.exception
    assert not {"severity", "pairs"} & set(lists(at)[0].value)
    assert "grouped by the words that they share" in words_on(at)


def test_a_theme_of_too_few_handbooks_says_why_its_shares_have_no_interval(themed, open_page):
    words = words_on(open_page("theme", theme="t1"))
    assert "needs pairs on at least two questions and four handbooks, so there is none here" in words


def test_a_taxonomy_that_is_built_while_the_dashboard_runs_appears(run, data_dir, open_page):
    at = open_page("themes")
    assert not lists(at)
    write_taxonomy(TAXONOMY, POINTS, taxonomy_path(run, Settings(data_dir=data_dir).themes_dir))
    assert list(lists(at.run())[0].value["name"]) == ["Salt", "Fluids"]


@pytest.mark.parametrize(("words", "names"), [("sodium", ["Salt"]), ("TOPIC of", ["Salt", "Fluids"]), ("of bc", []), ("%", [])])
def test_themes_are_found_by_words_of_names_terms_and_divergence_topics(words, names, themed, open_page):
    at = open_page("themes", find=words)
    assert list(lists(at)[0].value["name"]) == names


def test_the_map_is_drawn_from_the_built_positions(themed, open_page):
    at = open_page("themes", view="map")
    assert not at.exception
    assert "Each of the 3 points" in words_on(at)


def test_a_theme_shows_its_words_its_position_groups_and_its_pairs(themed, open_page):
    at = open_page("theme", theme="t1")
    assert not at.exception
    words = words_on(at)
    assert "Part of **Food *and* drink**" in words
    assert "salt, sodium" in words
    assert "2** pairs with 1 phrase of the judge, on 2 questions" in words
    assert "100.0 % of all disagreement" in words
    views = [lists(open_page("theme", theme="t1", view=view))[0].value for view in ("words", "pairs", "where")]
    assert list(views[0]["topic"]) == ["topic of ab"]
    assert list(views[1]["label"]) == ["divergent", "contradictory"]
    assert list(views[2]["name"]) == ["general", "kidney"]


def test_a_parent_counts_and_lists_the_themes_below_it(themed, open_page):
    at = open_page("theme", theme="p1")
    assert not at.exception
    assert "4** pairs with 2 phrases of the judge" in words_on(at)
    assert list(lists(at)[0].value["name"]) == ["Salt", "Fluids"]


def test_disagreements_like_no_other_can_be_opened_too(run, data_dir, open_page):
    taxonomy = Taxonomy(TAXONOMY.themes[2:], ("topic of ab",))
    without_parent = replace(taxonomy, themes=(replace(taxonomy.themes[0], parent_id=None),))
    write_taxonomy(without_parent, POINTS, taxonomy_path(run, Settings(data_dir=data_dir).themes_dir))
    at = open_page("theme", theme="-1")
    assert not at.exception
    assert "2** pairs with 1 phrase of the judge" in words_on(at)


def test_a_link_to_an_unknown_theme_opens_the_most_serious_one_with_a_warning(themed, open_page):
    at = open_page("theme", theme="gone")
    assert "theme = gone" in words_on(at)
    assert "Salt" in words_on(at)


def test_a_link_to_disagreements_with_a_theme_lists_its_pairs_only(themed, open_page):
    at = open_page("disagreements", theme="t1")
    assert "2** pairs match" in words_on(at)
    at = open_page("disagreements", theme="t2")
    assert "No pair matches" in words_on(at)
    at = open_page("disagreements", theme="t2", label=["COMPLEMENTARY"])
    assert "2** pairs match" in words_on(at)


def test_a_run_without_themes_has_no_filter_for_them(run, open_page):
    at = open_page("disagreements")
    assert "Theme" not in [box.label for box in at.selectbox]


def test_another_run_with_the_same_themes_can_be_compared_with_this_one(themed, load_run, data_dir, open_page):
    other = load_run(run_id="again")
    write_taxonomy(TAXONOMY, POINTS, taxonomy_path(other, Settings(data_dir=data_dir).themes_dir))
    at = open_page("themes", run=themed.key, against=other.key)
    assert not at.exception
    moved = lists(at)[1].value
    assert set(moved["moves"]) == {"the same"}
    assert dict(zip(moved["name"], moved["change"], strict=True))["Salt"] == 0


def test_the_dashboard_shows_themes_without_the_libraries_that_build_them(themed, data_dir):
    code = f"""
import sys
from streamlit.testing.v1 import AppTest
from pages._blinded.scripts import script_path
at = AppTest.from_file({str(ROOT / "app.py")!r}, default_timeout=60).run()
for page, view in (("themes", "areas"), ("themes", "map"), ("theme", ""), ("disagreements", "")):
    at.switch_page(script_path(page))
    at.query_params["view"] = view
    at.query_params["theme"] = "t1"
    at.run()
    assert not at.exception, at.exception
sys.exit(", ".join(name for name in {HEAVY} if name in sys.modules) or None)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-800:]


def test_the_list_of_a_theme_s_disagreements_hands_the_theme_on_to_rejudging(themed, open_page):
    at = open_page("disagreements", theme="t1", label=["DIVERGENT", "CONTRADICTORY"])
    links = {link.proto.label: link.proto.query_string for link in at.get("page_link")}
    assert "theme=t1" in links["Re-judge all of them"]
    for theme, count in (("t1", 0), ("t2", 2)):
        asked = words_on(open_page("rejudge", label=["COMPLEMENTARY"], theme=theme)).replace("*", "")
        assert f"{count} pairs." in asked, asked


def test_the_map_is_not_drawn_once_the_session_has_ended(themed: Run, data_dir: Path, monkeypatch: pytest.MonkeyPatch):
    """It is a fragment, which Streamlit runs without the page around it."""
    monkeypatch.setenv("AUDIT_BROWSING", "signed-in")
    store = open_label_store(f"sqlite:///{data_dir / 'studies.db'}")
    people(store, "vera", role="viewer")
    token = open_session(store, "vera", now())

    async def end_the_session_in_front_of_the_map(address: str) -> tuple[list[bool], list[str]]:
        async with opened(address, {"Cookie": f"{NAME}={token}"}) as tab:
            await tab.rerun(page="themes", query="view=map")
            drawn, fragment = [], re.findall(r'fragment_id: "(\w+)"', tab.text)[-1]
            for end in (False, True):
                if end:
                    sign_out(store, token, now())
                await tab.rerun(query="view=map", fragment=fragment)
                drawn.append("theme_map" in tab.text)  # its frame may come first, empty
            return drawn, tab.pages

    with server(data_dir) as address:
        drawn, pages = run_visits(end_the_session_in_front_of_the_map(address))
    store.close()
    assert drawn == [True, False]
    assert pages == ["Sign in"]


def test_positions_that_loading_kept_are_shown_without_being_found_again(monkeypatch):
    holders = [
        {"position": 1, "statement": "Wait 6 weeks.", "handbook_id": handbook, "quote": "Wait 6 weeks."} for handbook in "ab"
    ]
    tables = {"q1": pd.DataFrame(holders, columns=COLUMN_TYPES), "q2": pd.DataFrame(columns=COLUMN_TYPES)}
    found = QuestionPositions(unread="too long")
    asked = {question_positions: lambda question_id: tables[question_id], positions_of: lambda question_id: found}
    monkeypatch.setattr(position_cards, "load", lambda metric, _, question_id: asked[metric](question_id))
    (position,) = position_cards.positions_on(None, "q1").positions
    assert [holder.handbook_id for holder in position.holders] == ["a", "b"]
    # Where no position can be told apart, the clearest pair is shown, which no table has
    assert position_cards.positions_on(None, "q2") is found
