"""The form with which a clinician or a PI edits a theme."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from annotation.theme_edits.edits import EditKind, ThemeChange
from annotation.theme_edits.record import MAX_NAME_LENGTH, NewEdit
from audit.queries.themes import NO_THEME
from audit.store.runs import Run
from audit.themes.taxonomy import Taxonomy, Theme
from pages._shared.theme_edits import (
    EDITS_SEEN,
    FORM,
    ThemeView,
    explain_who_may_edit,
    press_token,
    report_refusal,
    save_edit,
    signed_in_curator,
)

RENAME, MERGE, SPLIT, MOVE, PARENT = "Rename", "Merge", "Split", "Move phrases", "Move theme"
ASIDE, BACK = "Not clinically meaningful", "Clinically meaningful"
NOWHERE, TOP = "No theme", "None (top level)"
EFFECTS = {
    RENAME: "Gives this theme another name. It keeps its id, its phrases and its history.",
    MERGE: "Merges this theme into another and retires it. Links to it lead to the other theme.",
    SPLIT: "Makes some of the phrases a new theme under the same parent.",
    MOVE: "Moves some of the phrases to another theme, or out of all themes.",
    PARENT: "Moves this theme, with everything in it, under another parent.",
    ASIDE: "Marks this theme as not clinically meaningful. It is kept and still counted.",
    BACK: "Removes the mark.",
}
EMPTY_FIELDS: dict[str, object] = {"name": "", "into": None, "phrases": [], "reason": ""}


def edit_form(run: Run, view: ThemeView, theme: Theme | None) -> None:
    """Every edit that is possible for one theme or, with None, for the phrases without a theme; collapsed at first."""
    title = "Edit this theme" if theme else "Assign phrases to a theme"
    theme = theme or Theme(NO_THEME, "no theme", None, view.taxonomy.no_theme)
    with st.expander(title, icon=":material/edit:", key=f"curate_{theme.theme_id}"):
        if signed_in_curator() is None:
            explain_who_may_edit()
        elif view.shows_original:
            st.info("These are the original themes. To edit themes, choose the curated version above.")
        else:
            _fields_and_save(run, view, theme)


def _fields_and_save(run: Run, view: ThemeView, theme: Theme) -> None:
    possible = _possible_actions(view, theme)
    action = st.segmented_control(
        "What to do", possible, key=_key(theme, "action"), default=possible[0], required=True, wrap=True
    )
    st.caption(EFFECTS[str(action)])
    _FIELDS[str(action)](view.taxonomy, theme)
    st.text_input("Reason, in a sentence", key=_key(theme, "reason"), max_chars=4000)
    targets, seen = _targets(view.taxonomy, theme, str(action)), _edits_seen(theme, len(view.edits))
    arguments = (run, view.built, theme, str(action), targets, press_token(), seen)
    st.button("Save", type="primary", key=_key(theme, "save"), on_click=_save, args=arguments)


def _edits_seen(theme: Theme, edits: int) -> int:
    """How many edits existed when somebody began to fill in the form; the page may have been redrawn since without notice."""
    begun = any(st.session_state.get(_key(theme, field)) for field in EMPTY_FIELDS)
    if not begun or st.session_state.get(EDITS_SEEN, ("",))[0] != theme.theme_id:
        st.session_state[EDITS_SEEN] = (theme.theme_id, edits)
    seen: int = st.session_state[EDITS_SEEN][1]
    return seen


def _possible_actions(view: ThemeView, theme: Theme) -> list[str]:
    if theme.theme_id == NO_THEME:
        return [MOVE]
    mark = BACK if theme.theme_id in view.curated.set_aside else ASIDE
    return [RENAME, MERGE, *([SPLIT, MOVE] if theme.topics else []), PARENT, mark]


def _key(theme: Theme, field: str) -> str:
    return f"curate_{field}_{theme.theme_id}"


# -- fields ------------------------------------------------------------------------------------------------------------


def _name_field(label: str, theme: Theme, placeholder: str = "") -> None:
    st.text_input(label, key=_key(theme, "name"), max_chars=MAX_NAME_LENGTH, placeholder=placeholder)


def _phrase_field(theme: Theme) -> None:
    st.multiselect("Phrases", theme.topics, key=_key(theme, "phrases"), placeholder="Choose one or more", select_all=False)


def _target_field(label: str, taxonomy: Taxonomy, theme: Theme, action: str) -> None:
    options = list(_targets(taxonomy, theme, action))
    st.selectbox(label, options, index=None, key=_key(theme, "into"), placeholder="Choose one")


def _split_fields(_: Taxonomy, theme: Theme) -> None:
    _phrase_field(theme)
    _name_field("Name of the new theme", theme)


def _move_fields(taxonomy: Taxonomy, theme: Theme) -> None:
    _phrase_field(theme)
    _target_field("Move to theme", taxonomy, theme, MOVE)


_FIELDS: dict[str, Callable[[Taxonomy, Theme], None]] = {
    RENAME: lambda _, theme: _name_field("New name", theme, theme.name),
    MERGE: lambda taxonomy, theme: _target_field("Merge into", taxonomy, theme, MERGE),
    SPLIT: _split_fields,
    MOVE: _move_fields,
    PARENT: lambda taxonomy, theme: _target_field("New parent", taxonomy, theme, PARENT),
    ASIDE: lambda _, __: None,
    BACK: lambda _, __: None,
}


def _targets(taxonomy: Taxonomy, theme: Theme, action: str) -> dict[str, str | None]:
    """Label of each theme that can be chosen -> its id. All labels differ, even where two themes have the same name."""
    parents = {parent.theme_id for parent in taxonomy.parents}
    alike = taxonomy.parents if theme.theme_id in parents else taxonomy.leaves
    fixed: dict[str, dict[str, str | None]] = {MOVE: {NOWHERE: None}, PARENT: {TOP: None}}
    offered: dict[str, Sequence[Theme]] = {MERGE: alike, MOVE: taxonomy.leaves, PARENT: taxonomy.parents}
    names = {other.theme_id: other.name for other in taxonomy.themes}
    targets = fixed.get(action, {}) if theme.theme_id != NO_THEME else {}
    for other in sorted(offered.get(action, ()), key=lambda other: other.name.casefold()):
        if other.theme_id not in (theme.theme_id, theme.parent_id):
            label = f"{other.name} ({names[other.parent_id]})" if other.parent_id else other.name
            targets[label if label not in targets else f"{label} {other.theme_id}"] = other.theme_id
    return targets


# -- saving ------------------------------------------------------------------------------------------------------------


def _save(run: Run, built: Taxonomy, theme: Theme, action: str, targets: dict[str, str | None], key: str, seen: int) -> None:
    """Save what was filled in; where the edit is refused, the fields keep their content."""
    typed = {field: st.session_state.get(_key(theme, field)) for field in EMPTY_FIELDS}
    if action in (MERGE, MOVE, PARENT) and typed["into"] is None:
        report_refusal("Choose a target theme from the list. Nothing was saved.", FORM)
        return
    kind = {
        RENAME: EditKind.RENAME, MERGE: EditKind.MERGE, SPLIT: EditKind.SPLIT, MOVE: EditKind.MOVE_PHRASES,
        PARENT: EditKind.MOVE_THEME, ASIDE: EditKind.SET_ASIDE, BACK: EditKind.BRING_BACK,
    }[action]  # fmt: skip
    phrases = tuple(typed["phrases"] or ()) if action in (SPLIT, MOVE) else ()
    name = typed["name"] or "" if action in (RENAME, SPLIT) else ""
    change = ThemeChange(
        kind, None if theme.theme_id == NO_THEME else theme.theme_id, targets.get(str(typed["into"])), name, phrases
    )
    if save_edit(run, built, NewEdit(change, typed["reason"] or "", key, seen), FORM):
        st.session_state.update({_key(theme, field): empty for field, empty in EMPTY_FIELDS.items()})
