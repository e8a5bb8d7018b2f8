"""The themes of a run on its pages: which taxonomy, under which names, and what to do where there is none."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from audit.metrics.themes import REST, tops
from audit.queries.theme_pairs import NO_TOPIC
from audit.queries.theme_pairs import NO_THEME
from audit.store.runs import Run
from audit.terms import display_name
from audit.themes.taxonomy import Taxonomy
from pages._shared.curation import Themes, curated_themes, taxonomy_now
from pages._shared.loaders import built_taxonomy
from pages._shared.words import say, title_of

NONE_YET = (
    "This run has no themes yet. Its release brings none, and none were built. In a terminal, this groups what its {handbooks} "
    "disagree about; then reload this page."
)
BUILD = "audit themes build --run {key}"
STYLES = {
    "burden": "Weight",
    "share": "Of all disagreement",
    "severity": "Severity per pair",
    "r_div": "Disagreeing of its pairs",
}
COUNT_HEADINGS = {
    "pairs": "Pairs", "disagreeing": "Disagreeing", "questions": "Questions", "handbooks": "Handbooks", "centers": "Centers",
}  # fmt: skip


def involved(run: Run) -> dict[str, str]:
    """Headings in the run's own words."""
    return {name: title_of(run, name) for name in ("questions", "handbooks", "centers")}


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
