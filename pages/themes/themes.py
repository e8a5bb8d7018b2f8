"""Themes: what the handbooks disagree about, the gravest first: as bars, areas, a map and a list. A click opens pairs."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import streamlit as st

from audit.charts.style import percent
from audit.charts.themes import map_data, theme_bars, theme_treemap
from audit.metrics.theme import theme_search
from audit.metrics.themes import themes
from audit.queries.themes import NO_THEME
from audit.store.runs import Run
from audit.tables import Column
from audit.terms import fill
from pages._blinded.option_labels import distinct_labels
from pages._shared.explore import RowFilter, clickable_table
from pages._shared.loaders import load, theme_map_points
from pages._shared.page import leave_if_signed_out, page
from pages._shared.pickers import choose, named_by, type_words
from pages._shared.theme_building import how_made
from pages._shared.theme_edits import edit_list
from pages._shared.themes import (
    ThemeView,
    find_by_meaning,
    is_theme,
    meaning_search_available,
    moved_section,
    theme_map,
    theme_names,
    themes_or_stop,
    with_shown_names,
    with_top,
)
from pages._shared.widgets import chart, clicked_point, counts, footer, go_to, say

LEAD = "What do the {handbooks} disagree about? The gravest themes first."
ROWS = RowFilter("theme_id", "theme")
LIST, BARS, AREAS, MAP = "list", "bars", "areas", "map"
VIEWS = {LIST: "List", BARS: "Bars", AREAS: "Areas", MAP: "Map"}
MAX_DRAWN = 20
MEANING = "meaning"
SEARCH_MODES = {"words": "By words", MEANING: "By meaning"}
FEW = ("disagreeing", "high", "medium", "low", "questions")
"""Columns that fit beside the name."""
UNGRADED = ("disagreeing", "questions", "handbooks")
"""Where the judge graded no disagreement."""
HEADINGS = {"disagreeing": "Disagreements", "high": "High", "medium": "Medium", "low": "Low"}
MORE = ("rank", "parent", "share", "contradictory", "unstated", "burden", "handbooks", "centers", "organs")
NOT_ALL_DISAGREE = ("pairs", "severity")
"""Columns that differ only where a theme has pairs that do not disagree; built themes have none."""
FOUND = {
    "found": Column.count("found", "Found in", "divergence topics"),
    "similarity": Column.decimal("similarity", "Similarity"),
}
HOVERED = "phrase under the pointer"
MAP_ALT = "Every divergence topic as a point, close to topics with similar wording, coloured by the group of its theme."
BARS_ALT = "Themes as bars: their disagreeing pairs of high, medium and low {significance}, the gravest theme first."

GRAVEST = "The gravest theme is **{name}** (disagreements of high {significance}: {high} of {n})."
MAP_NOTE = (
    "Each of the {n} points is what the judge wrote of some pairs. Rest the pointer on one to read it; drag to move, scroll to "
    "zoom, click to open the theme."
)
ORDER_NOTE = (
    "High, medium, low: the {significance} of the disagreements. Themes with most of high significance come first, then "
    "those with most of medium significance: one grave matter outranks many trivial ones. A theme on a single question says "
    "little about others."
)


def summary(run: Run, frame: pd.DataFrame) -> None:
    """How many disagreements belong to a theme, and how many to none."""
    rest, own = frame[frame["theme_id"] == NO_THEME], frame[frame["theme_id"].map(is_theme)]
    alone, disagreeing = int(rest["disagreeing"].sum()), int(frame["disagreeing"].sum())
    counts(
        run,
        "**{themes}** themes from {disagreeing} pairs that disagree. **{alone}** of these pairs ({share}) fit no theme, "
        "**{high}** of them of high {significance}; they are counted and listed last, as *no theme*.",
        themes=f"{len(own):,}", disagreeing=f"{disagreeing:,}", alone=f"{alone:,}",
        share=percent(alone / disagreeing if disagreeing else None), high=f"{rest['high'].sum():,}",
    )  # fmt: skip
    if len(own) and own.iloc[0]["high"]:
        first = own.iloc[0]
        st.markdown(say(run, GRAVEST, name=first["name"], high=f"{first['high']:,}", n=f"{first['disagreeing']:,}"))


def bars(run: Run, frame: pd.DataFrame) -> None:
    """The gravest themes; a click on a bar opens its disagreements."""
    drawn = frame[frame["theme_id"].map(is_theme) & (frame["disagreeing"] > 0)].head(MAX_DRAWN)
    if drawn.empty:
        return
    if (clicked := clicked_point(theme_bars(drawn), "theme_bars", fill(run, BARS_ALT))) is not None:
        ROWS.open(run, str(clicked))
    counts(run, "The {n} gravest themes. Click a bar to read its disagreements.", n=len(drawn))


def areas(run: Run, frame: pd.DataFrame, parents: pd.DataFrame) -> None:
    """The treemap."""
    named, groups = (part[part["theme_id"].map(is_theme)] for part in (frame, parents))
    chart(theme_treemap(named, groups), "areas", "Treemap of themes. Area: pairs of each theme. Colour: how serious they are.")
    counts(
        run,
        "Area is the number of pairs; the darker, the higher their {significance} (low, medium, high). Click a group "
        "to zoom in; the list below opens the disagreements.",
    )


@st.fragment  # so that moving the pointer does not redraw the page
def point_map(run: Run, view: ThemeView, frame: pd.DataFrame) -> None:
    """The map; a click on a point opens its theme, and the phrase under the pointer is shown below."""
    leave_if_signed_out()
    points = theme_map_points(run)
    if points.empty:
        counts(run, "These themes came without a map.")
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
        run, "**{themes}** themes contain all of these words, in their name or in {topics} of the judge's phrases.",
        themes=f"{len(matches):,}", topics=f"{matches['found'].sum():,}",
    )  # fmt: skip
    return matches


def search_by_meaning(run: Run, view: ThemeView, frame: pd.DataFrame, words: str) -> pd.DataFrame:
    """The themes closest to the words in meaning, closest first."""
    nearest = find_by_meaning(run.key, view.built.sha256, words)
    current = nearest.assign(theme_id=nearest["theme_id"].map(view.current_id))
    counts(run, "The **{n}** themes closest in meaning, closest first; each is ranked by its closest phrase.", n=len(current))
    return current[["theme_id", "similarity"]].drop_duplicates("theme_id").merge(frame, on="theme_id")


def theme_list(run: Run, matches: pd.DataFrame) -> None:
    """The few columns that fit, with all of them one click away; and the way to the page of one theme."""
    found_columns = [column for column in FOUND.values() if column.name in matches]
    is_graded = bool(matches[["high", "medium", "low"]].to_numpy().any())
    name, *columns = themes.table.pick(run, "name", *(FEW if is_graded else UNGRADED))
    few = [replace(column, heading=HEADINGS.get(column.name, column.heading), unit="") for column in columns]
    some_agree = bool((matches["pairs"] > matches["disagreeing"]).any())
    every = themes.table.pick(run, *FEW, *MORE, *(NOT_ALL_DISAGREE if some_agree else ()))
    clickable_table(run, matches, "theme", ROWS, (name, *found_columns, *few), (name, *found_columns, *every))
    if is_graded:
        counts(run, ORDER_NOTE)


def open_theme(run: Run, view: ThemeView, matches: pd.DataFrame) -> None:
    """The page of one theme, which says who says what."""
    names = theme_names(view.taxonomy)
    ids = [theme_id for theme_id in matches["theme_id"] if theme_id in names]
    picked = st.selectbox(
        "Open one theme: who says what", ids, index=None, format_func=distinct_labels(ids, named_by(names)), key="to_open",
        placeholder="Choose a theme",
    )  # fmt: skip
    if picked:
        go_to("theme", run, theme=str(picked))


with page("Themes", LEAD) as run:
    view = themes_or_stop(run)
    taxonomy = view.taxonomy
    frame = with_top(with_shown_names(load(themes, run, taxonomy=taxonomy), view.curated.set_aside), taxonomy)
    summary(run, frame)
    drawing = choose("View", tuple(VIEWS), "view", format_func=named_by(VIEWS), show_label=False)
    if drawing == MAP:
        point_map(run, view, frame)
    elif drawing == AREAS:
        areas(run, frame, load(themes, run, taxonomy=taxonomy, level="parent"))
    elif drawing == BARS:
        bars(run, frame)
    matches = search(run, view, frame)
    theme_list(run, matches)
    open_theme(run, view, matches)
    footer(frame.drop(columns=["top", "top_name"]), "themes", run, "themes")
    how_made(run, view.built)
    moved_section(run, taxonomy)
    edit_list(run, view)
