"""Themes: what the handbooks disagree about, as areas, as a map and as a ranked list. A click opens a theme."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from audit.charts.style import percent
from audit.charts.themes import SEVERITY, SHARE, map_data, theme_treemap
from audit.metrics.theme import theme_search
from audit.metrics.themes import themes
from audit.queries.themes import NO_THEME
from audit.store.runs import Run
from audit.tables import Column
from pages._shared.loaders import load, theme_map_points
from pages._shared.page import leave_if_signed_out, page
from pages._shared.pickers import choose, named_by, type_words
from pages._shared.theme_edits import edit_list
from pages._shared.themes import (
    ThemeView,
    find_by_meaning,
    is_theme,
    meaning_search_available,
    moved_section,
    theme_map,
    themes_or_stop,
    with_shown_names,
    with_top,
)
from pages._shared.widgets import chart, clicked_row, counts, footer, go_to

LEAD = (
    "What do the {handbooks} disagree about? What the judge wrote about each pair is grouped into themes. "
    "Click a theme to see who says what."
)
AREAS, MAP = "areas", "map"
VIEWS = {AREAS: "Areas", MAP: "Map"}
MEANING = "meaning"
SEARCH_MODES = {"words": "By words", MEANING: "By meaning"}
COLOURS = {SEVERITY: "severity per pair", SHARE: "share that disagrees"}
COLUMNS = (
    "rank", "burden", "share", "severity", "r_div", "contradictory", "high", "pairs", "disagreeing", "questions", "handbooks",
    "centers", "parent",
)  # fmt: skip
FOUND = {
    "found": Column.count("found", "Found in", "divergence topics"),
    "similarity": Column.decimal("similarity", "Similarity"),
}
HOVERED = "phrase under the pointer"
MAP_ALT = "Every divergence topic as a point, close to topics with similar wording, coloured by the group of its theme."

MAP_NOTE = (
    "{n} different divergence topics. Rest the pointer on a point to read what the judge wrote; drag to move, scroll to zoom, "
    "click to open the theme."
)


def summary(run: Run, frame: pd.DataFrame, parents: pd.DataFrame) -> None:
    """How much is grouped, and how much has no theme."""
    rest = frame[frame["theme_id"] == NO_THEME]
    without = int(rest["pairs"].sum())
    named = frame["theme_id"].map(is_theme)
    counts(
        run,
        "**{themes}** themes in **{parents}** groups, from {pairs} pairs with a divergence topic; {disagreeing} of them "
        "disagree. **{without}** of the pairs ({share}) have no theme; they are counted and listed last.",
        themes=f"{named.sum():,}", parents=f"{parents['theme_id'].map(is_theme).sum():,}", pairs=f"{frame['pairs'].sum():,}",
        disagreeing=f"{frame['disagreeing'].sum():,}", without=f"{without:,}",
        share=percent(without / frame["pairs"].sum() if frame["pairs"].sum() else None),
    )  # fmt: skip


def areas(run: Run, frame: pd.DataFrame, parents: pd.DataFrame) -> None:
    """The treemap."""
    colour = choose("Colour", tuple(COLOURS), "colour", format_func=COLOURS.__getitem__, show_label=False)
    chart(
        theme_treemap(frame, parents, colour),
        f"areas_{colour}",
        "Treemap of themes. Area: pairs of each theme. Colour: how serious they are.",
    )
    counts(
        run,
        "Area is the number of pairs, colour the {colour}. Click a group to zoom in; open a theme in the table below.",
        colour=COLOURS[colour],
    )


@st.fragment  # so that moving the pointer does not redraw the page
def point_map(run: Run, view: ThemeView, frame: pd.DataFrame) -> None:
    """The map; a click on a point opens its theme, and the phrase under the pointer is shown below."""
    leave_if_signed_out()
    points = theme_map_points(run)
    if points.empty:
        counts(run, "These themes came without a map. Themes that are built here have one: `audit themes build`.")
        return
    theme_of = view.taxonomy.theme_of()
    named = frame[frame["theme_id"].map(is_theme)]
    hovered, opened = theme_map(map_data(points.assign(theme_id=points["phrase"].map(theme_of)), named, MAP_ALT), "theme_map")
    if opened is not None:
        go_to("theme", run, theme=str(named["theme_id"].iloc[opened]) if opened >= 0 else NO_THEME)
    if hovered is not None and 0 <= hovered < len(points):
        st.session_state[HOVERED] = (run.digest, str(points["phrase"].iloc[hovered]))
    if st.session_state.get(HOVERED, ("",))[0] == run.digest:
        counts(run, "“{phrase}”", phrase=st.session_state[HOVERED][1])
    counts(run, MAP_NOTE, n=f"{len(points):,}")


def search(run: Run, view: ThemeView, frame: pd.DataFrame) -> pd.DataFrame:
    """The search field; the themes that match, or all of them where nothing was typed."""
    words = type_words("Find themes", "find", placeholder="words in a name or in what the judge wrote")
    if not words:
        return frame
    if (
        meaning_search_available(view.built)
        and choose("Find by", tuple(SEARCH_MODES), "by", named_by(SEARCH_MODES), show_label=False) == MEANING
    ):
        return search_by_meaning(run, view, frame, words)
    hits = load(theme_search, run, taxonomy=view.taxonomy, words=words)
    matches = frame.merge(hits, on="theme_id")
    counts(
        run, "**{themes}** themes contain all of these words, in their name or in {topics} divergence topics.",
        themes=f"{len(matches):,}", topics=f"{matches['found'].sum():,}",
    )  # fmt: skip
    return matches


def search_by_meaning(run: Run, view: ThemeView, frame: pd.DataFrame, words: str) -> pd.DataFrame:
    """The themes closest to the words in meaning, closest first."""
    nearest = find_by_meaning(run.key, view.built.sha256, words)
    current = nearest.assign(theme_id=nearest["theme_id"].map(view.current_id))
    counts(run, "The **{n}** themes closest in meaning, closest first; each is ranked by its closest phrase.", n=len(current))
    return current[["theme_id", "similarity"]].drop_duplicates("theme_id").merge(frame, on="theme_id")


with page("Themes", LEAD) as run:
    view = themes_or_stop(run)
    taxonomy = view.taxonomy
    frame = with_top(with_shown_names(load(themes, run, taxonomy=taxonomy), view.curated.set_aside), taxonomy)
    parents = load(themes, run, taxonomy=taxonomy, level="parent")
    summary(run, frame, parents)
    drawing = choose("View", tuple(VIEWS), "view", format_func=named_by(VIEWS), show_label=False)
    if drawing == MAP:
        point_map(run, view, frame)
    else:
        areas(run, frame, parents)
    st.header("Themes, the most serious first", anchor=False)
    matches = search(run, view, frame)
    name, *others = themes.table.pick(run, "name", *COLUMNS)
    found_columns = [column for column in FOUND.values() if column.name in matches]
    picked = clicked_row(matches, "theme_table", (name, *found_columns, *others))
    if picked is not None and picked["theme_id"]:
        go_to("theme", run, theme=str(picked["theme_id"]))
    counts(
        run, "Click a row to open the theme. Weight adds 1, 2 or 3 for each disagreeing pair, by its clinical significance (low, "
        "medium, high). Intervals speak of other {questions} and other {handbooks}; a theme on a single question tells "
        "little about others.",
    )  # fmt: skip
    footer(frame.drop(columns=["top", "top_name"]), "themes", run, "themes")
    moved_section(run, taxonomy)
    edit_list(run, view)
