"""What every page does: shows its run, says what to do without one, ignores an invalid link, escapes a release's text."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

import pytest
from streamlit.testing.v1 import AppTest

from audit.store.runs import Run
from pages._shared.doors import BROWSING, WITHOUT_HANDBOOKS
from tests.pages.conftest import HANDBOOKS, ROOT, TABLE, opened, words_on
from tests.support.loading import load
from tests.support.systems import systems_release
from tests.support.tiny import release_from

MODELS = {"generator": "Qwen3-32B", "judge": "Llama-3.3-70B"}
TENANCY = {"handbook": "state code", "organ": "kind of tenancy", "center": "state", "patient": "tenant"}
OURS = re.compile(r"\b(?:handbook|organ|center|patient)s?\b", re.IGNORECASE)
PROSE = ("title", "header", "markdown", "caption", "info", "warning", "error")
WIDGETS = ("metric", "selectbox", "multiselect", "text_input", "button")
SCRIPTS = list(BROWSING)
SOME = ("start", "question", "runs")
"""For what one place does for every page, and what others show not to be bypassed."""


@pytest.fixture(scope="module")
def one_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run that no test changes."""
    folder = tmp_path_factory.mktemp("one-run")
    return load(release_from(folder, TABLE, HANDBOOKS, **MODELS), folder / "data").run


@pytest.fixture(scope="module")
def on_one_run(one_run: Run) -> Callable[[str], AppTest]:
    """Opens a page on that run, once for all tests that only read what is on it."""

    @cache
    def open_once(page: str) -> AppTest:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("AUDIT_DATA_DIR", str(one_run.path.parents[1]))
            return opened(page)

    return open_once


def test_every_page_is_in_the_menu():
    assert sorted(SCRIPTS) == sorted(path.stem for path in (ROOT / "pages").glob("*/*.py") if path.stem == path.parent.name)


@pytest.mark.parametrize("page", SCRIPTS)
def test_a_page_opens_on_a_run_and_writes_the_run_into_the_address(page, one_run, on_one_run):
    at = on_one_run(page)
    assert not at.exception
    assert not at.error
    assert at.query_params["run"] in (one_run.key, [one_run.key])


@pytest.mark.parametrize("page", SCRIPTS)
def test_every_page_has_the_bar_that_names_its_run_and_copies_its_link(page, on_one_run):
    components = [component.proto.component_name for component in on_one_run(page).get("bidi_component")]
    assert any(name.endswith("top_bar") for name in components)


@pytest.mark.parametrize("page", SCRIPTS)
def test_without_any_run_a_page_says_which_commands_load_one(page, open_page):
    at = open_page(page)
    assert not at.exception
    assert "audit demo" in words_on(at)
    assert "audit load PATH" in words_on(at)


@pytest.mark.parametrize("page", SCRIPTS)
def test_a_link_to_a_run_that_is_not_loaded_asks_which_run_and_shows_no_other(page, run, open_page):
    at = open_page(page, run="gone@00000000")
    assert not at.exception
    assert "The run **gone@00000000** is not loaded" in words_on(at)
    assert not at.error
    assert at.query_params["run"] in ("gone@00000000", ["gone@00000000"])
    if page in SOME:
        at.button(key=f"choose_{run.key}").click().run()
        assert at.query_params["run"] in (run.key, [run.key])
        assert "is not loaded" not in words_on(at)


@pytest.mark.parametrize("page", SCRIPTS)
def test_no_page_interprets_the_title_of_a_release_as_markdown(page, load_run, open_page):
    """On the same visit: a synthetic run is marked, only its terms are used, a damaged store file beside it breaks nothing."""
    run = load_run(synthetic=True, terms=TENANCY, title="# **bold** [x](http://evil.test) $a$ <b>")
    run.path.with_name("broken.duckdb").write_bytes(b"no database")
    at = open_page(page)
    assert not at.exception
    assert "Synthetic data" in words_on(at)
    assert ("cannot be read" in words_on(at)) == (page == "runs")
    raw = "\n".join(str(element.value) for kind in ("title", "markdown", "caption") for element in at.get(kind))
    assert "[x](http" not in raw
    assert "**bold**" not in raw
    texts = [str(element.value) for kind in PROSE for element in at.get(kind)] + [
        str(getattr(element, name)) for kind in WIDGETS for element in at.get(kind) for name in ("label", "help")
    ]
    assert [text for text in texts if OURS.search(text)] == []


@pytest.mark.parametrize("page", SCRIPTS)
def test_a_real_run_by_models_is_called_neither_synthetic_nor_a_preview_and_says_what_it_is_for(page, on_one_run):
    words = words_on(on_one_run(page))
    assert "Synthetic data" not in words
    assert "not a finding" not in words
    assert "preliminary" not in words
    assert "Not for ranking" in words


@pytest.mark.parametrize("page", SOME)
def test_where_every_store_file_is_damaged_each_page_says_so(page, run, open_page):
    run.path.write_bytes(b"no database")
    at = open_page(page)
    assert not at.exception
    assert "cannot be read" in words_on(at)
    assert "No run is loaded yet" in words_on(at)


def test_menu_texts_and_labels_use_the_release_s_own_terms(load_run, open_page):
    load_run(terms={"handbook": "institute", "organ": "topic area"})
    assert "institutes" in words_on(open_page("coverage"))
    assert "By topic area" in words_on(open_page("organs"))
    assert [box.label for box in open_page("handbook").selectbox] == ["Institute"]


def test_an_unexpected_error_keeps_its_details_in_the_log(run, open_page, monkeypatch, caplog):
    def fail(_: object) -> None:
        raise ValueError("the password of the database is rosebud")

    monkeypatch.setattr("pages._shared.page.remember_run", fail)
    (shown,) = open_page("start").exception
    assert "rosebud" not in str(shown.proto)
    assert list(shown.stack_trace) == []
    assert "rosebud" in caplog.text


NEED_NO_PAIRS = {script for script, tab in BROWSING.items() if tab.needs in WITHOUT_HANDBOOKS}


@pytest.mark.parametrize("page", SCRIPTS)
def test_on_a_run_of_answering_systems_alone_a_page_about_pairs_says_that_there_are_none(page, data_dir, tmp_path, open_page):
    load(systems_release(tmp_path / "systems"), data_dir)
    at = open_page(page)
    assert not at.exception
    assert not at.error
    assert ("This run has no pairs of handbooks to compare, and this page is about such pairs." in words_on(at)) == (
        page not in NEED_NO_PAIRS
    )
