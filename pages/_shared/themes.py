"""The themes of a run as pages show them: which version, under which names, found by meaning, compared with another run."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec

import pandas as pd
import streamlit as st

from audit.embedding.encoders import LEXICAL
from audit.errors import ThemesError
from audit.metrics.themes_moved import themes_moved
from audit.queries.themes import NO_THEME, NO_TOPIC, REST, tops
from audit.store.runs import Run
from audit.terms import display_name
from audit.themes.taxonomy import Taxonomy
from pages._shared.loaders import built_taxonomy, load_two, loaded_runs
from pages._shared.pickers import pick_one, run_label
from pages._shared.tables import table
from pages._shared.terms import say
from pages._shared.theme_edits import ThemeView, current_taxonomy, theme_view
from pages._shared.widgets import counts, footer

NO_THEMES = (
    "This run has no themes yet. To group what its {handbooks} disagree about, run the following command in a "
    "terminal and reload this page."
)
BUILD_COMMAND = "audit themes build --run {key}"


def themes_or_stop(run: Run) -> ThemeView:
    """The themes of a run; without any, the page explains how to build them, and stops."""
    built = built_taxonomy(run)
    if built is None:
        st.info(say(run, NO_THEMES))
        st.code(BUILD_COMMAND.format(key=run.key), language="bash")
        st.stop()
    return theme_view(run, built)


def current_taxonomy_or_none(run: Run) -> Taxonomy | None:
    """The curated taxonomy of a run, or None, without drawing anything: for pages about something else."""
    built = built_taxonomy(run)
    return None if built is None else current_taxonomy(run, built)


def theme_names(taxonomy: Taxonomy) -> dict[str, str]:
    """theme_id -> name, parents first and `no theme` last; where two themes share a name, each is followed by its id."""
    own = {theme.theme_id: theme.name for theme in taxonomy.themes}
    shared = pd.Series(own).duplicated(keep=False) if own else pd.Series(dtype=bool)
    names = {theme_id: f"{name} ({theme_id})" if shared[theme_id] else name for theme_id, name in own.items()}
    return {**names, NO_THEME: REST[NO_THEME]}


def with_top(frame: pd.DataFrame, taxonomy: Taxonomy) -> pd.DataFrame:
    """A frame of `themes` with the top-level theme of each, which may be itself: top (id), top_name."""
    top_of, names = tops(taxonomy), {theme.theme_id: theme.name for theme in taxonomy.themes} | REST
    top = frame["theme_id"].map(lambda theme_id: top_of.get(theme_id, theme_id))
    return frame.assign(top=top, top_name=top.map(names))


def with_shown_names(frame: pd.DataFrame, aside: frozenset[str]) -> pd.DataFrame:
    """A frame of `themes` with names for readers; a theme that was set aside is marked."""
    names = [
        display_name(name) + (" (set aside: not clinically meaningful)" if theme_id in aside else "")
        for theme_id, name in zip(frame["theme_id"], frame["name"], strict=True)
    ]
    return frame.assign(name=names)


def is_theme(theme_id: str) -> bool:
    """Whether an id belongs to a theme rather than to a row that counts the rest."""
    return theme_id not in (NO_THEME, NO_TOPIC)


def moved_section(run: Run, taxonomy: Taxonomy) -> None:
    """Which themes rise and fall in another run, where one shares themes with this run; else nothing."""
    ids = {theme.theme_id for theme in taxonomy.themes}
    others = {other.key: other for other in loaded_runs() if other.key != run.key and _has_any_theme(other, ids)}
    if not others:
        return
    st.header("Themes that rise or fall in another run", anchor=False)
    key = pick_one(
        "Compare with", list(others), "against", format_func=lambda key: run_label(others[key]), placeholder="Choose a run"
    )
    if key is None:
        return
    other = others[key]
    frame = load_two(themes_moved, run, other, taxonomy=taxonomy, against=built_taxonomy(other))
    if frame.empty:
        counts(run, "The two runs have no disagreeing pair in common.")
        return
    table(frame, "moved_table", themes_moved.table.pick(run))
    counts(
        run,
        "Only pairs that both runs have are counted. A theme rises or falls where the 95 % interval of its change excludes 0.",
    )
    footer(frame, "themes-moved", run, "themes_moved")


def _has_any_theme(other: Run, ids: set[str]) -> bool:
    taxonomy = built_taxonomy(other)
    return taxonomy is not None and any(theme.theme_id in ids for theme in taxonomy.themes)


MAX_WAIT_S = 120


def meaning_search_available(taxonomy: Taxonomy) -> bool:
    """Whether the themes were built with a sentence model and the package that runs it is installed."""
    return taxonomy.built.get("model") not in (None, LEXICAL) and find_spec("sentence_transformers") is not None


def find_by_meaning(run: Run, taxonomy: Taxonomy, words: str) -> pd.DataFrame:
    """The themes closest to the words in meaning: theme_id, similarity, phrase, name. Raises ThemesError with the reason."""
    return _cached_search(run.key, taxonomy.sha256, words)


@st.cache_data(show_spinner="Searching by meaning (a few seconds) ...", max_entries=100)
def _cached_search(run: str, taxonomy_sha256: str, words: str) -> pd.DataFrame:
    # A process of its own, so that the dashboard never loads the sentence model.
    command = [sys.executable, "-m", "audit", "themes", "search", "--run", run, "--json", "--", words]
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=MAX_WAIT_S)  # noqa: S603 - no shell
    except subprocess.TimeoutExpired:
        raise ThemesError(f"The search by meaning did not finish within {MAX_WAIT_S} seconds. Search by words instead.") from None
    if done.returncode:
        raise ThemesError(done.stderr.strip().removeprefix("audit: ") or "The search by meaning failed. Search by words instead.")
    return pd.DataFrame(json.loads(done.stdout), columns=["theme_id", "similarity", "phrase", "name"])
