"""Edits to themes: the form with which a clinician or a PI makes one, saving it, and the list of edits with undo."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from annotation.label_store.engine import ConflictError
from annotation.studies.accounts import Account
from annotation.theme_edits.edits import EditKind, ThemeChange, ThemeEdit, describe_change, undos_by_edit
from annotation.theme_edits.record import EDITOR_ROLES, MAX_NAME_LENGTH, NewEdit, edits_to_jsonl, history_table, record_edit
from annotation.theme_edits.replay import CuratedTaxonomy
from audit.errors import AuditError
from audit.exports.text_writers import csv_bytes, file_name
from audit.queries.themes import NO_THEME
from audit.release.taxonomy import Taxonomy, Theme
from audit.store.runs import Run
from pages._blinded.access import accounts_exist, current_account, label_store, now
from pages._blinded.file_widgets import download_button
from pages._blinded.frame import escaped
from pages._shared.previews import current_notice
from pages._shared.themes import ThemeView
from pages._shared.widgets import clicked_row, counts, server_commands

RESULT = "result of the last edit"
FORM, EDIT_LIST = "controls", "list"
"""The two parts of a page that can save an edit; each shows the result of its own."""
EDITS_SEEN = "edits that existed when somebody began to fill in the form"
PRESS_TOKEN = "idempotency key of the next edit"  # noqa: S105 - a session key, not a password
HEADINGS = {
    "act": "Edit", "when": "When (UTC)", "author": "Author", "what": "Change", "reason": "Reason", "standing": "Status",
}  # fmt: skip
NO_ACCOUNT = (
    "A viewer or a PI can rename, merge, split, move and set aside themes. Every edit needs an author, and there are no "
    "accounts here yet. Create one in a terminal, then sign in:"
)
ADD_ACCOUNT = "audit account add NAME --role viewer"
SIGN_IN = (
    "A viewer or a PI can rename, merge, split, move and set aside themes after signing in, because every edit needs "
    "an author. To create an account, run in a terminal: `audit account add NAME --role viewer`."
)


def signed_in_curator() -> Account | None:
    """The signed-in account if it may edit themes, else None."""
    account = current_account()
    return account if account is not None and account.role in EDITOR_ROLES else None


def explain_who_may_edit() -> None:
    """Explain how to get permission to edit themes."""
    if accounts_exist():
        st.info(SIGN_IN)
    else:
        st.info(NO_ACCOUNT)
        server_commands(ADD_ACCOUNT)


def save_edit(run: Run, built: Taxonomy, new_edit: NewEdit, part: str) -> bool:
    """Record an edit and keep the result for a `part` of the page; whether it was saved. For callbacks."""
    # Streamlit runs a callback before the page, with arguments from when the button was drawn, so it checks the sign-in again.
    try:
        account = signed_in_curator()
        if account is None:
            raise AuditError("Your session has ended. Nothing was saved; what you typed is still there. Sign in again.")
        edit = record_edit(label_store(), run.digest, built, account, new_edit, now())
    except AuditError as error:
        report_refusal(str(error), part)
        if isinstance(error, ConflictError):  # the page now shows the other edits, so the next attempt knows them
            st.session_state.pop(EDITS_SEEN, None)
        return False
    st.session_state.pop(EDITS_SEEN, None)
    st.session_state[RESULT] = (part, True, f"Saved as edit {edit.seq}: {edit.author} {describe_change(edit.change)}.")
    st.session_state[PRESS_TOKEN] = secrets.token_hex(8)
    return True


def report_refusal(reason: str, part: str) -> None:
    """Have a `part` of the page show why nothing was saved."""
    st.session_state[RESULT] = (part, False, reason)


def press_token() -> str:
    """An idempotency key for the next click of a button, so that a double click saves one edit."""
    token: str = st.session_state.setdefault(PRESS_TOKEN, secrets.token_hex(8))
    return token


def show_result(part: str) -> None:
    """Show the result of the last click in a `part` of the page, once."""
    if st.session_state.get(RESULT, ("",))[0] == part:
        _, saved, message = st.session_state.pop(RESULT)
        (st.success if saved else st.error)(escaped(message))


RENAME, MERGE, SPLIT, MOVE, PARENT = "Rename", "Merge", "Split", "Move phrases", "Move theme"
ASIDE, BACK = "Not meaningful in practice", "Meaningful in practice"
NOWHERE, TOP = "No theme", "None (top level)"
EFFECTS = {
    RENAME: "Gives this theme another name. It keeps its id, its phrases and its history.",
    MERGE: "Merges this theme into another and retires it. Links to it lead to the other theme.",
    SPLIT: "Makes some of the phrases a new theme under the same parent.",
    MOVE: "Moves some of the phrases to another theme, or out of all themes.",
    PARENT: "Moves this theme, with everything in it, under another parent.",
    ASIDE: "Marks this theme as not meaningful in practice. It is kept and still counted.",
    BACK: "Removes the mark.",
}
KINDS = {
    RENAME: EditKind.RENAME, MERGE: EditKind.MERGE, SPLIT: EditKind.SPLIT, MOVE: EditKind.MOVE_PHRASES,
    PARENT: EditKind.MOVE_THEME, ASIDE: EditKind.SET_ASIDE, BACK: EditKind.BRING_BACK,
}  # fmt: skip
PHRASE_ACTIONS = (SPLIT, MOVE)
NAME_LABELS = {RENAME: "New name", SPLIT: "Name of the new theme"}
TARGET_LABELS = {MERGE: "Merge into", MOVE: "Move to theme", PARENT: "New parent"}
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
    action = str(
        st.segmented_control("What to do", possible, key=_key(theme, "action"), default=possible[0], required=True, wrap=True)
    )
    st.caption(EFFECTS[action])
    targets = _targets(view.taxonomy, theme, action)
    if action in PHRASE_ACTIONS:
        st.multiselect("Phrases", theme.topics, key=_key(theme, "phrases"), placeholder="Choose one or more", select_all=False)
    if action in NAME_LABELS:
        placeholder = theme.name if action == RENAME else ""
        st.text_input(NAME_LABELS[action], key=_key(theme, "name"), max_chars=MAX_NAME_LENGTH, placeholder=placeholder)
    if action in TARGET_LABELS:
        st.selectbox(TARGET_LABELS[action], list(targets), index=None, key=_key(theme, "into"), placeholder="Choose one")
    st.text_input("Reason, in a sentence", key=_key(theme, "reason"), max_chars=4000)
    arguments = (run, view.built, theme, action, targets, press_token(), _edits_seen(theme, len(view.edits)))
    st.button("Save", type="primary", key=_key(theme, "save"), on_click=_save, args=arguments)


def _edits_seen(theme: Theme, edits: int) -> int:
    """How many edits existed when somebody began to fill in the form."""
    # Counted then and not now: the page may have been redrawn since, with another person's edits, without anybody noticing.
    begun = any(st.session_state.get(_key(theme, field)) for field in EMPTY_FIELDS)
    if not begun or st.session_state.get(EDITS_SEEN, ("",))[0] != theme.theme_id:
        st.session_state[EDITS_SEEN] = (theme.theme_id, edits)
    seen: int = st.session_state[EDITS_SEEN][1]
    return seen


def _possible_actions(view: ThemeView, theme: Theme) -> list[str]:
    if theme.theme_id == NO_THEME:
        return [MOVE]
    mark = BACK if theme.theme_id in view.curated.set_aside else ASIDE
    return [RENAME, MERGE, *(PHRASE_ACTIONS if theme.topics else ()), PARENT, mark]


def _key(theme: Theme, field: str) -> str:
    return f"curate_{field}_{theme.theme_id}"


def _targets(taxonomy: Taxonomy, theme: Theme, action: str) -> dict[str, str | None]:
    """Label of each theme that can be chosen -> its id. All labels differ, even where two themes have the same name."""
    # A merge stays on its level: a parent goes into a parent, a theme with phrases into another one.
    same_level = taxonomy.parents if theme in taxonomy.parents else taxonomy.leaves
    fixed: dict[str, dict[str, str | None]] = {MOVE: {NOWHERE: None}, PARENT: {TOP: None}}
    offered: dict[str, Sequence[Theme]] = {MERGE: same_level, MOVE: taxonomy.leaves, PARENT: taxonomy.parents}
    names = {other.theme_id: other.name for other in taxonomy.themes}
    targets = fixed.get(action, {}) if theme.theme_id != NO_THEME else {}
    for other in sorted(offered.get(action, ()), key=lambda other: other.name.casefold()):
        if other.theme_id not in (theme.theme_id, theme.parent_id):
            label = f"{other.name} ({names[other.parent_id]})" if other.parent_id else other.name
            targets[label if label not in targets else f"{label} {other.theme_id}"] = other.theme_id
    return targets


def _save(run: Run, built: Taxonomy, theme: Theme, action: str, targets: dict[str, str | None], key: str, seen: int) -> None:
    """Save what was filled in; where the edit is refused, the fields keep their content."""
    typed = {field: st.session_state.get(_key(theme, field)) for field in EMPTY_FIELDS}
    if action in TARGET_LABELS and typed["into"] is None:
        report_refusal("Choose a target theme from the list. Nothing was saved.", FORM)
        return
    # A field keeps what was typed for another action, so only the fields of this one are used.
    phrases = tuple(typed["phrases"] or ()) if action in PHRASE_ACTIONS else ()
    name = typed["name"] or "" if action in NAME_LABELS else ""
    theme_id = None if theme.theme_id == NO_THEME else theme.theme_id
    change = ThemeChange(KINDS[action], theme_id, targets.get(str(typed["into"])), name, phrases)
    if save_edit(run, built, NewEdit(change, typed["reason"] or "", key, seen), FORM):
        st.session_state.update({_key(theme, field): empty for field, empty in EMPTY_FIELDS.items()})


def edit_list(run: Run, view: ThemeView, theme_id: str | None = None) -> None:
    """All edits, or those to one theme, newest first: undo, export, and edits that no longer fit the taxonomy."""
    st.header("Edits to the themes", anchor=False)
    show_result(EDIT_LIST)
    if not view.edits:
        counts(run, "Nobody has edited these themes: they are as they were built.")
        return
    _show_conflicts(view.curated)
    shown = [edit for edit in view.edits if theme_id is None or theme_id in themes_concerned(edit, view)]
    if shown:
        _history(run, view, shown)
    else:
        counts(run, "Nobody has edited this theme. There are {n} edits to other themes of the run.", n=len(view.edits))
    _export_buttons(run, view)


def themes_concerned(edit: ThemeEdit, view: ThemeView) -> set[str]:
    """The current ids of the themes that an edit changes; an undo concerns the themes of the edit that it undoes."""
    change = edit.change if edit.change.undoes is None else view.edits[edit.change.undoes - 1].change
    return {view.curated.merged.get(theme, theme) for theme in (change.theme, change.into) if theme is not None}


def _show_conflicts(curated: CuratedTaxonomy) -> None:
    if not curated.conflicts:
        return
    fit = "1 edit no longer fits" if len(curated.conflicts) == 1 else f"{len(curated.conflicts):,} edits no longer fit"
    st.warning(f"{fit} these themes, because the themes have been rebuilt. The other edits still apply.")
    with st.expander("Edits that no longer fit", expanded=len(curated.conflicts) < 4):
        for conflict in curated.conflicts:
            st.markdown(escaped(conflict.sentence))


def _history(run: Run, view: ThemeView, shown: Sequence[ThemeEdit]) -> None:
    table = history_table(view.edits, view.curated.conflicts)
    table = table[table["act"].isin([edit.seq for edit in shown])].reset_index(drop=True)
    table = table.assign(when=table["made_at"].str[:16].str.replace("T", " "))
    # A new edit moves the rows, and a selection must not move to another edit, so the key changes with the number of edits.
    picked = clicked_row(table, f"curation_{len(view.edits)}", HEADINGS, rows=8)
    if picked is None:
        counts(run, "Click an edit to read it in full or to undo it.")
    else:
        _edit_details(run, view, picked)


def _edit_details(run: Run, view: ThemeView, row: pd.Series) -> None:
    """One edit in full, and its undo button."""
    seq = int(row["act"])
    st.markdown(escaped(f"Edit {seq}, {row['when']}: {row['author']} {row['what']}. Reason: {row['reason']}"))
    if row["phrases"]:
        st.text(row["phrases"])
    if seq in undos_by_edit(view.edits):
        return
    if signed_in_curator() is None:
        explain_who_may_edit()
        return
    st.text_input("Reason for the undo, in a sentence", key=f"undo_reason_{seq}", max_chars=4000)
    st.button(f"Undo edit {seq}", key=f"undo_{seq}", on_click=_undo, args=(run, view.built, seq, press_token(), len(view.edits)))


def _undo(run: Run, built: Taxonomy, seq: int, key: str, seen: int) -> None:
    reason = st.session_state.get(f"undo_reason_{seq}", "")
    save_edit(run, built, NewEdit(ThemeChange(EditKind.UNDO, undoes=seq), reason, key, seen), EDIT_LIST)


def _export_buttons(run: Run, view: ThemeView) -> None:
    """Download all edits of the run, as a table and as JSON lines that can be replayed."""
    table = history_table(view.edits, view.curated.conflicts)
    name, notice = file_name(run, "curation"), current_notice()
    with st.container(horizontal=True):
        download_button(
            "Download edits (CSV)", data=lambda: csv_bytes(table, notice), file_name=name, mime="text/csv", key="curation_csv",
            icon=":material/download:",
        )  # fmt: skip
        download_button(
            "Download edits (JSON lines)", data=lambda: edits_to_jsonl(view.edits).encode(),
            file_name=name.removesuffix("csv") + "jsonl", mime="application/x-ndjson", key="curation_jsonl",
            icon=":material/download:",
        )  # fmt: skip
