"""Themes: what the sources disagree about, as areas, as a map and as a ranked list. A click opens a theme."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from audit.charts.style import percent
from audit.charts.theme_map import map_data
from audit.charts.treemap import SEVERITY, SHARE, theme_treemap
from audit.metrics.theme import theme_search
from audit.metrics.themes import themes
from audit.queries.theme_pairs import NO_THEME
from audit.store.runs import Run
from audit.terms import display_name
from pages._shared.loaders import load, places
from pages._shared.page import page
from pages._shared.pickers import choose, type_words
from pages._shared.tables import clicked_row
from pages._shared.theme_edits import Themes, curation_list
from pages._shared.theme_map import theme_map
from pages._shared.themes import (
    COUNT_HEADINGS,
    STYLES,
    by_meaning,
    involved,
    is_theme,
    marked,
    moved_section,
    offered,
    themes_or_stop,
    with_top,
)
from pages._shared.widgets import chart, counts, footer, go_to

LEAD = (
    "What do the {handbooks} disagree about? What the judge wrote on each pair is grouped into themes. "
    "Click one to see who says what."
)
AREAS, MAP = "areas", "map"
VIEWS = {AREAS: "Areas", MAP: "Map"}
MEANING = "meaning"
WAYS = {"words": "These words", MEANING: "What they mean"}
COLOURS = {SEVERITY: "severity per pair", SHARE: "share that disagrees"}
HEADINGS = {
    "rank": "Rank", **STYLES, "contradictory": "Contradictory", "high": "High significance", **COUNT_HEADINGS, "parent": "Under",
}  # fmt: skip
FOUND = {"found": "Found in", "similarity": "Nearness"}
SHARES = ("share", "r_div")
TOLD = "phrase under the pointer"
MAP_ALT = "Every divergence topic as a point, near to those that read alike, coloured by the group that its theme belongs to."


def summary(run: Run, frame: pd.DataFrame, parents: pd.DataFrame) -> None:
    """How much is grouped, and how much has no theme."""
    rest = frame[frame["theme_id"] == NO_THEME]
    without = int(rest["pairs"].sum())
    named = frame["theme_id"].map(is_theme)
    counts(
        run,
        "**{themes}** themes in **{parents}** groups, from {pairs} pairs that have a divergence topic; {disagreeing} disagree. "
        "**{without}** of the pairs ({share}) have no theme: they are counted, and listed last.",
        themes=f"{named.sum():,}", parents=f"{parents['theme_id'].map(is_theme).sum():,}", pairs=f"{frame['pairs'].sum():,}",
        disagreeing=f"{frame['disagreeing'].sum():,}", without=f"{without:,}",
        share=percent(without / frame["pairs"].sum() if frame["pairs"].sum() else None),
    )  # fmt: skip


def areas(run: Run, frame: pd.DataFrame, parents: pd.DataFrame) -> None:
    """The treemap."""
    colour = choose("Colour", tuple(COLOURS), "colour", format_func=COLOURS.__getitem__, show_label=False)
    chart(theme_treemap(frame, parents, colour), f"areas_{colour}", "Area: pairs of each theme. Colour: how grave they are.")
    counts(
        run,
        "Area is the number of pairs, colour the {colour}. Click a group to look into it; open a theme below.",
        colour=COLOURS[colour],
    )


@st.fragment
def point_map(run: Run, shown_themes: Themes, frame: pd.DataFrame) -> None:
    """The map; a click on a point opens its theme, and what the pointer rests on is said below."""
    points = places(run)
    if points.empty:
        counts(run, "These themes came without a map. One that is built here has one: `audit themes build`.")
        return
    of = shown_themes.taxonomy.theme_of()
    known = frame[frame["theme_id"].map(is_theme)]
    asked, opened = theme_map(map_data(points.assign(theme_id=points["phrase"].map(of)), known, MAP_ALT), "theme_map")
    if opened is not None:
        go_to("theme", run, theme=str(known["theme_id"].iloc[opened]) if opened >= 0 else NO_THEME)
    told = "Rest on a point to read what the judge wrote; drag to move, turn the wheel to zoom, click to open the theme."
    if asked is not None and 0 <= asked < len(points):
        st.session_state[TOLD] = (run.digest, str(points["phrase"].iloc[asked]))
    if st.session_state.get(TOLD, ("",))[0] == run.digest:
        counts(run, "“{phrase}”", phrase=st.session_state[TOLD][1])
    counts(run, "{n} distinct divergence topics. {told}", n=f"{len(points):,}", told=told)


def search(run: Run, shown_themes: Themes, frame: pd.DataFrame) -> pd.DataFrame:
    """The words a person looks for, and the themes in which they are found."""
    words = type_words("Find themes", "find", placeholder="words of a name or of what the judge wrote")
    if not words:
        return frame
    if offered(shown_themes.built) and choose("Find by", tuple(WAYS), "by", WAYS.__getitem__, show_label=False) == MEANING:
        return near(run, shown_themes, frame, words)
    found = load(theme_search, run, taxonomy=shown_themes.taxonomy, words=words)
    kept = frame.merge(found, on="theme_id")
    counts(
        run, "**{themes}** themes hold every one of these words, in their name or in {topics} divergence topics.",
        themes=f"{len(kept):,}", topics=f"{kept['found'].sum():,}",
    )  # fmt: skip
    return kept


def near(run: Run, shown_themes: Themes, frame: pd.DataFrame, words: str) -> pd.DataFrame:
    """The themes that come nearest to the words by meaning, nearest first."""
    found = by_meaning(run, shown_themes.built, words)
    known = found.assign(theme_id=found["theme_id"].map(shown_themes.find))
    counts(
        run, "The **{n}** themes that come nearest by meaning, nearest first; each stands for its nearest phrase.", n=len(known)
    )
    return known[["theme_id", "similarity"]].drop_duplicates("theme_id").merge(frame, on="theme_id")


with page("Themes", LEAD) as run:
    shown_themes = themes_or_stop(run)
    taxonomy = shown_themes.taxonomy
    frame = with_top(marked(load(themes, run, taxonomy=taxonomy), shown_themes.now.set_aside), taxonomy)
    parents = load(themes, run, taxonomy=taxonomy, level="parent")
    summary(run, frame, parents)
    view = choose("View", tuple(VIEWS), "view", format_func=VIEWS.__getitem__, show_label=False)
    if view == MAP:
        point_map(run, shown_themes, frame)
    else:
        areas(run, frame, parents)
    st.header("Themes, the gravest first", anchor=False)
    kept = search(run, shown_themes, frame)
    headings = {"name": "Theme", **{name: words for name, words in FOUND.items() if name in kept}, **HEADINGS, **involved(run)}
    picked = clicked_row(
        kept.assign(parent=kept["parent"].map(display_name, na_action="ignore")), "theme_table", headings, SHARES
    )
    if picked is not None and picked["theme_id"]:
        go_to("theme", run, theme=str(picked["theme_id"]))
    counts(
        run, "Click a row to open the theme. Weight adds 1, 2 or 3 for every disagreeing pair by its clinical significance (low, "
        "medium, high). Intervals resample questions and {handbooks}: a theme on one question says little of others.",
    )  # fmt: skip
    footer(frame.drop(columns=["top", "top_name"]), "themes", run, "themes")
    moved_section(run, taxonomy)
    curation_list(run, shown_themes)
