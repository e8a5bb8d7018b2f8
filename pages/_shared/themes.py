"""The themes of a run on its pages: which taxonomy, under which names, and what to do where there is none."""

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
from audit.queries.theme_pairs import NO_THEME, NO_TOPIC, REST, tops
from audit.store.runs import Run
from audit.terms import display_name
from audit.themes.taxonomy import Taxonomy
from pages._shared.loaders import built_taxonomy, load_two, loaded_runs
from pages._shared.pickers import pick_one
from pages._shared.tables import table
from pages._shared.terms import say
from pages._shared.theme_edits import Themes, curated_themes, taxonomy_now
from pages._shared.widgets import counts, footer

NONE_YET = (
    "This run has no themes yet. Its release brings none, and none were built. In a terminal, this groups what its {handbooks} "
    "disagree about; then reload this page."
)
BUILD = "audit themes build --run {key}"


def themes_or_stop(run: Run) -> Themes:
    """The themes of a run as they are shown; without any, the page says how to come by some, and ends."""
    built = built_taxonomy(run)
    if built is None:
        st.info(say(run, NONE_YET))
        st.code(BUILD.format(key=run.key), language="bash")
        st.stop()
    return curated_themes(run, built)


def quiet_taxonomy(run: Run) -> Taxonomy | None:
    """The same for a page that is about something else: as curated, and nothing is drawn."""
    built = built_taxonomy(run)
    return None if built is None else taxonomy_now(run, built)


def theme_names(taxonomy: Taxonomy) -> dict[str, str]:
    """theme_id -> name, parents first and `no theme` last; of two that share a name, each with its parent's or its id."""
    own = {theme.theme_id: theme.name for theme in taxonomy.themes}
    twice = pd.Series(own).duplicated(keep=False) if own else pd.Series(dtype=bool)
    names = {theme_id: f"{name} ({theme_id})" if twice[theme_id] else name for theme_id, name in own.items()}
    return {**names, NO_THEME: REST[NO_THEME]}


def with_top(frame: pd.DataFrame, taxonomy: Taxonomy) -> pd.DataFrame:
    """A frame of `themes` with the theme at the top of each, which may be itself: top (id), top_name."""
    of, names = tops(taxonomy), {theme.theme_id: theme.name for theme in taxonomy.themes} | REST
    top = frame["theme_id"].map(lambda theme_id: of.get(theme_id, theme_id))
    return frame.assign(top=top, top_name=top.map(names))


def marked(frame: pd.DataFrame, aside: frozenset[str]) -> pd.DataFrame:
    """A frame of `themes` under names as a person reads them; a theme set aside says so."""
    words = [
        display_name(name) + (" (set aside: not clinically meaningful)" if theme_id in aside else "")
        for theme_id, name in zip(frame["theme_id"], frame["name"], strict=True)
    ]
    return frame.assign(name=words)


def is_theme(theme_id: str) -> bool:
    """Whether an id is that of a theme rather than of a row that counts the rest."""
    return theme_id not in (NO_THEME, NO_TOPIC)


def moved_section(run: Run, taxonomy: Taxonomy) -> None:
    """What rises and falls, where another run shares themes with this one; nothing where none does."""
    ids = {theme.theme_id for theme in taxonomy.themes}
    others = {other.key: other for other in loaded_runs() if other.key != run.key and _shares(other, ids)}
    if not others:
        return
    st.header("Rising or falling in another run", anchor=False)
    key = pick_one(
        "Compare with", list(others), "against", format_func=lambda name: f"{others[name].title} ({name})", placeholder="A run"
    )
    if key is None:
        return
    other = others[key]
    frame = load_two(themes_moved, run, other, taxonomy=taxonomy, against=built_taxonomy(other))
    if frame.empty:
        counts(run, "The two runs have no disagreeing pair in common.")
        return
    table(frame, "moved_table", themes_moved.table.pick(run))
    counts(run, "Only pairs that both runs have. A theme rises or falls where the 95 % interval of its change leaves out 0.")
    footer(frame, "themes-moved", run, "themes_moved")


def _shares(other: Run, ids: set[str]) -> bool:
    taxonomy = built_taxonomy(other)
    return taxonomy is not None and any(theme.theme_id in ids for theme in taxonomy.themes)


PATIENCE_S = 120


def offered(taxonomy: Taxonomy) -> bool:
    """Whether the themes were built with a sentence model, and what runs it is installed."""
    return taxonomy.built.get("model") not in (None, LEXICAL) and find_spec("sentence_transformers") is not None


def by_meaning(run: Run, taxonomy: Taxonomy, words: str) -> pd.DataFrame:
    """The themes nearest to the words: theme_id, similarity, phrase, name. Raises ThemesError, saying why it cannot tell."""
    return _searched(run.key, taxonomy.sha256, words)


@st.cache_data(show_spinner="Reading what the phrases mean: some seconds ...", max_entries=100)
def _searched(run: str, themes: str, words: str) -> pd.DataFrame:
    command = [sys.executable, "-m", "audit", "themes", "search", "--run", run, "--json", "--", words]
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=PATIENCE_S)  # noqa: S603 - no shell
    except subprocess.TimeoutExpired:
        raise ThemesError(f"The model did not answer within {PATIENCE_S} seconds. Nothing was found by meaning.") from None
    if done.returncode:
        raise ThemesError(done.stderr.strip().removeprefix("audit: ") or "The search by meaning failed.")
    return pd.DataFrame(json.loads(done.stdout), columns=["theme_id", "similarity", "phrase", "name"])
