"""The controls with which a clinician or a PI changes a theme."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from annotation.theme_edits.edits import EditKind, ThemeChange
from annotation.theme_edits.record import MAX_NAME_LENGTH, NewEdit
from audit.queries.theme_pairs import NO_THEME
from audit.store.runs import Run
from audit.themes.taxonomy import Taxonomy, Theme
from pages._shared.theme_edits import CONTROLS, SEEN, Themes, curator, press, refuse, save, say_who_may

RENAME, MERGE, SPLIT, MOVE, PARENT = "Rename", "Merge", "Split", "Move phrases", "Move theme"
ASIDE, BACK = "Not clinically meaningful", "Clinically meaningful"
NOWHERE, TOP = "No theme", "None: at the top"
DOES = {
    RENAME: "Another name. The theme keeps its id, its phrases and its history.",
    MERGE: "All of this theme goes into another one, and this one is no more. Links to it lead to the other.",
    SPLIT: "Some phrases become a theme of their own, under the same parent.",
    MOVE: "Some phrases go to another theme, or to none.",
    PARENT: "The theme goes under another parent, with all that is in it.",
    ASIDE: "The theme stays and is counted as before, marked as not clinically meaningful.",
    BACK: "The mark is taken away.",
}
EMPTY: dict[str, object] = {"name": "", "into": None, "phrases": [], "reason": ""}
"""Every field as it stands before anything is filled in."""


def curation_controls(run: Run, themes: Themes, theme: Theme | None) -> None:
    """Everything that can be done to one theme or, with None, to the phrases without one; closed until asked for."""
    title = "Curate this theme" if theme else "Give phrases a theme"
    theme = theme or Theme(NO_THEME, "no theme", None, themes.taxonomy.no_theme)
    with st.expander(title, icon=":material/edit:", key=f"curate_{theme.theme_id}"):
        if curator() is None:
            say_who_may()
        elif themes.original:
            st.info("These are the themes as they were built. To change them, choose the curated ones above.")
        else:
            _controls(run, themes, theme)


def _controls(run: Run, themes: Themes, theme: Theme) -> None:
    possible = _possible(themes, theme)
    action = st.segmented_control(
        "What to do", possible, key=_key(theme, "action"), default=possible[0], required=True, wrap=True
    )
    st.caption(DOES[str(action)])
    _FIELDS[str(action)](themes.taxonomy, theme)
    st.text_input("Why, in a sentence", key=_key(theme, "reason"), max_chars=4000)
    labels, seen = _labels(themes.taxonomy, theme, str(action)), _seen(theme, len(themes.acts))
    arguments = (run, themes.built, theme, str(action), labels, press(), seen)
    st.button("Save", type="primary", key=_key(theme, "save"), on_click=_save, args=arguments)


def _seen(theme: Theme, acts: int) -> int:
    """How many acts there were when somebody began to fill in the fields: the page may have been drawn anew since, unnoticed."""
    begun = any(st.session_state.get(_key(theme, field)) for field in EMPTY)
    if not begun or st.session_state.get(SEEN, ("",))[0] != theme.theme_id:
        st.session_state[SEEN] = (theme.theme_id, acts)
    seen: int = st.session_state[SEEN][1]
    return seen


def _possible(themes: Themes, theme: Theme) -> list[str]:
    if theme.theme_id == NO_THEME:
        return [MOVE]
    mark = BACK if theme.theme_id in themes.now.set_aside else ASIDE
    return [RENAME, MERGE, *([SPLIT, MOVE] if theme.topics else []), PARENT, mark]


def _key(theme: Theme, field: str) -> str:
    return f"curate_{field}_{theme.theme_id}"


# -- fields ------------------------------------------------------------------------------------------------------------


def _name(label: str, theme: Theme, placeholder: str = "") -> None:
    st.text_input(label, key=_key(theme, "name"), max_chars=MAX_NAME_LENGTH, placeholder=placeholder)


def _phrases(theme: Theme) -> None:
    st.multiselect("Phrases", theme.topics, key=_key(theme, "phrases"), placeholder="Choose one or more", select_all=False)


def _into(label: str, taxonomy: Taxonomy, theme: Theme, action: str) -> None:
    options = list(_labels(taxonomy, theme, action))
    st.selectbox(label, options, index=None, key=_key(theme, "into"), placeholder="Choose one")


def _split(_: Taxonomy, theme: Theme) -> None:
    _phrases(theme)
    _name("Name of the new theme", theme)


def _move(taxonomy: Taxonomy, theme: Theme) -> None:
    _phrases(theme)
    _into("Into the theme", taxonomy, theme, MOVE)


_FIELDS: dict[str, Callable[[Taxonomy, Theme], None]] = {
    RENAME: lambda _, theme: _name("New name", theme, theme.name),
    MERGE: lambda taxonomy, theme: _into("Merge into", taxonomy, theme, MERGE),
    SPLIT: _split,
    MOVE: _move,
    PARENT: lambda taxonomy, theme: _into("New parent", taxonomy, theme, PARENT),
    ASIDE: lambda _, __: None,
    BACK: lambda _, __: None,
}


def _labels(taxonomy: Taxonomy, theme: Theme, action: str) -> dict[str, str | None]:
    """What can be chosen -> the id it stands for. Each reads differently, also where two themes have one name."""
    parents = {each.theme_id for each in taxonomy.parents}
    alike = taxonomy.parents if theme.theme_id in parents else taxonomy.leaves
    fixed: dict[str, dict[str, str | None]] = {MOVE: {NOWHERE: None}, PARENT: {TOP: None}}
    offered: dict[str, Sequence[Theme]] = {MERGE: alike, MOVE: taxonomy.leaves, PARENT: taxonomy.parents}
    names = {each.theme_id: each.name for each in taxonomy.themes}
    found = fixed.get(action, {}) if theme.theme_id != NO_THEME else {}
    for each in sorted(offered.get(action, ()), key=lambda other: other.name.casefold()):
        if each.theme_id not in (theme.theme_id, theme.parent_id):
            label = f"{each.name} ({names[each.parent_id]})" if each.parent_id else each.name
            found[label if label not in found else f"{label} {each.theme_id}"] = each.theme_id
    return found


# -- saving ------------------------------------------------------------------------------------------------------------


def _save(run: Run, built: Taxonomy, theme: Theme, action: str, labels: dict[str, str | None], key: str, seen: int) -> None:
    """Write what is filled in; where that is refused, the fields keep it."""
    typed = {field: st.session_state.get(_key(theme, field)) for field in EMPTY}
    if action in (MERGE, MOVE, PARENT) and typed["into"] is None:
        refuse("It is not said where to. Nothing was saved. Choose from the list.", CONTROLS)
        return
    kind = {
        RENAME: EditKind.RENAME, MERGE: EditKind.MERGE, SPLIT: EditKind.SPLIT, MOVE: EditKind.MOVE_PHRASES, PARENT: EditKind.MOVE_THEME,
        ASIDE: EditKind.SET_ASIDE, BACK: EditKind.BRING_BACK,
    }[action]  # fmt: skip
    phrases = tuple(typed["phrases"] or ()) if action in (SPLIT, MOVE) else ()
    name = typed["name"] or "" if action in (RENAME, SPLIT) else ""
    change = ThemeChange(
        kind, None if theme.theme_id == NO_THEME else theme.theme_id, labels.get(str(typed["into"])), name, phrases
    )
    if save(run, built, NewEdit(change, typed["reason"] or "", key, seen), CONTROLS):
        st.session_state.update({_key(theme, field): empty for field, empty in EMPTY.items()})
