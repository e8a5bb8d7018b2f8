"""The themes of a run as pages show them: curated or as built, named, as a map, found by meaning, compared with another run."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from annotation.theme_edits.edits import ThemeEdit
from annotation.theme_edits.record import list_edits
from annotation.theme_edits.replay import CuratedTaxonomy, apply_edits
from audit.charts.themes import map_script, map_style
from audit.errors import ThemesError
from audit.metrics.themes_moved import themes_moved
from audit.queries.themes import NO_THEME, NO_TOPIC, REST, tops
from audit.release.taxonomy import LEXICAL, Taxonomy
from audit.store.runs import Run
from audit.terms import display_name
from pages._blinded.access import accounts_exist, label_store
from pages._shared.loaders import built_taxonomy, load_two, loaded_runs
from pages._shared.pickers import choose, pick_one, run_label
from pages._shared.theme_building import explain_no_themes
from pages._shared.widgets import counts, footer, table

CURATED, AS_BUILT = "curated", "as built"


@dataclass(frozen=True)
class ThemeView:
    """The themes of a run as a page shows them.

    taxonomy  what to count and draw: the curated taxonomy or, at the reader's choice, the original one
    built     the original taxonomy, as it was built or released
    curated   the result of all edits
    edits     all of them, first to last
    """

    taxonomy: Taxonomy
    built: Taxonomy
    curated: CuratedTaxonomy
    edits: Sequence[ThemeEdit]

    @property
    def shows_original(self) -> bool:
        """Whether the reader looks at the original themes although people have edited them."""
        return self.taxonomy is self.built and self.curated.edits > 0

    def current_id(self, theme_id: str) -> str:
        """The id of the theme today: the id of a merged theme leads to the theme that it is now part of."""
        return theme_id if self.shows_original else self.curated.merged.get(theme_id, theme_id)


def theme_view(run: Run, built: Taxonomy) -> ThemeView:
    """The themes of a run with people's edits; draws who edited them, with the original themes one click away."""
    edits, curated = current_curation(run, built)
    if not curated.edits or curated.last is None:
        return ThemeView(built, built, curated, edits)
    number = "1 edit" if curated.edits == 1 else f"{curated.edits:,} edits"
    with st.container(horizontal=True, vertical_alignment="center"):
        version = choose("Themes", (CURATED, AS_BUILT), "version", format_func=str.capitalize, show_label=False)
        counts(
            run, "**Curated**: {edits}, the last by {author} on {day}.", edits=number, author=curated.last.author,
            day=curated.last.made_at[:10],
        )  # fmt: skip
    return ThemeView(curated.taxonomy if version == CURATED else built, built, curated, edits)


def current_curation(run: Run, built: Taxonomy) -> tuple[list[ThemeEdit], CuratedTaxonomy]:
    """Every edit to the themes of a run, first to last, and their result."""
    # Checked before the store is opened, because opening one creates the database.
    edits = list_edits(label_store(), run.digest) if accounts_exist() else []
    if not edits:
        return edits, CuratedTaxonomy(built)
    return edits, _cached_curation((run.digest, built.sha256, len(edits), edits[-1].made_at), built, edits)


@st.cache_resource(show_spinner=False, max_entries=16)
def _cached_curation(cache_key: tuple[str, str, int, str], _built: Taxonomy, _edits: Sequence[ThemeEdit]) -> CuratedTaxonomy:
    return apply_edits(_built, _edits)


def themes_or_stop(run: Run) -> ThemeView:
    """The themes of a run; without any, the page explains why, offers to build them to those who may, and stops."""
    built = built_taxonomy(run)
    if built is None:
        explain_no_themes(run)
        st.stop()
    return theme_view(run, built)


def current_taxonomy_or_none(run: Run) -> Taxonomy | None:
    """The curated taxonomy of a run, or None, without drawing anything: for pages about something else."""
    built = built_taxonomy(run)
    return None if built is None else current_curation(run, built)[1].taxonomy


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
        display_name(name) + (" (set aside: not meaningful in practice)" if theme_id in aside else "")
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


@st.cache_data(show_spinner="Searching by meaning (a few seconds) ...", max_entries=100)
def find_by_meaning(run: str, taxonomy_sha256: str, words: str) -> pd.DataFrame:
    """The themes closest to the words in meaning: theme_id, similarity, phrase, name. Raises ThemesError with the reason.

    run              its key
    taxonomy_sha256  of the themes as built; only the cache uses it
    """
    # A process of its own, so that the dashboard never loads the sentence model. Words after `--` cannot become options.
    command = [sys.executable, "-m", "audit", "themes", "search", "--run", run, "--json", "--", words]
    try:
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=MAX_WAIT_S)  # noqa: S603 - no shell
    except subprocess.TimeoutExpired:
        raise ThemesError(f"The search by meaning did not finish within {MAX_WAIT_S} seconds. Search by words instead.") from None
    if done.returncode:
        raise ThemesError(done.stderr.strip().removeprefix("audit: ") or "The search by meaning failed. Search by words instead.")
    return pd.DataFrame(json.loads(done.stdout), columns=["theme_id", "similarity", "phrase", "name"])


HEIGHT_PX = 620
COMPONENT_SCRIPT = Path(__file__).with_name("theme_map.js").read_text(encoding="utf-8")
_map = st.components.v2.component(
    "theme_map", html='<div class="theme-map"></div>', css=f"{map_style()}\n.theme-map {{ height: {HEIGHT_PX}px; }}",
    js=map_script() + COMPONENT_SCRIPT,
)  # fmt: skip


def theme_map(data: dict[str, Any], key: str) -> tuple[int | None, int | None]:
    """Draw the map of `audit.charts.themes.map_data`; the index of the hovered point and of the clicked theme, once each.

    The index of the theme is -1 where the clicked point has no theme.
    """
    # Streamlit requires a callback for each trigger; the value is read here, where the map is drawn.
    events = _map(key=key, data=data, on_asked_change=lambda: None, on_opened_change=lambda: None)
    hovered, opened = (getattr(events, event, None) for event in ("asked", "opened"))
    return None if hovered is None else int(hovered), None if opened is None else int(opened)
