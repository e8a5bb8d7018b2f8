"""Edits to themes on the pages about them: the curated taxonomy, who changed it, and the list of edits with undo."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from annotation.label_store.engine import ConflictError
from annotation.studies.accounts import Account
from annotation.theme_edits.edits import EditKind, ThemeChange, ThemeEdit, describe_change, undos_by_edit
from annotation.theme_edits.record import EDITOR_ROLES, NewEdit, edits_to_jsonl, history_table, list_edits, record_edit
from annotation.theme_edits.replay import CuratedTaxonomy, apply_edits
from audit.errors import AuditError
from audit.exports.text_writers import csv_bytes, file_name
from audit.store.runs import Run
from audit.themes.taxonomy import Taxonomy
from pages._blinded.access import accounts_exist, current_account, label_store, now
from pages._shared.pickers import choose
from pages._shared.tables import clicked_row
from pages._shared.terms import escaped
from pages._shared.widgets import counts

CURATED, AS_BUILT = "curated", "as built"
RESULT = "result of the last edit"
FORM, EDIT_LIST = "controls", "list"
"""The two parts of a page with buttons; each shows the result of its own."""
EDITS_SEEN = "edits that existed when somebody began to fill in the form"
PRESS_TOKEN = "idempotency key of the next edit"  # noqa: S105 - a session key, not a password
HEADINGS = {
    "act": "Edit", "when": "When (UTC)", "author": "Author", "what": "Change", "reason": "Reason", "standing": "Status",
}  # fmt: skip
NO_ACCOUNT = (
    "A clinician or a PI can rename, merge, split, move and set aside themes. Every edit needs an author, and there are no "
    "accounts here yet. Create one in a terminal, then sign in:"
)
ADD_ACCOUNT = "audit account add NAME --role viewer"
SIGN_IN = (
    "A clinician (viewer) or a PI can rename, merge, split, move and set aside themes after signing in, because every edit needs "
    "an author. To create an account, run in a terminal: `audit account add NAME --role viewer`."
)


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
    if not curated.edits:
        return ThemeView(built, built, curated, edits)
    with st.container(horizontal=True, vertical_alignment="center"):
        version = choose("Themes", (CURATED, AS_BUILT), "version", format_func=str.capitalize, show_label=False)
        _show_last_edit(run, curated)
    return ThemeView(curated.taxonomy if version == CURATED else built, built, curated, edits)


def current_taxonomy(run: Run, built: Taxonomy) -> Taxonomy:
    """The curated taxonomy, without drawing anything: for pages that are about something else."""
    return current_curation(run, built)[1].taxonomy


def edits_of_run(run: Run) -> list[ThemeEdit]:
    """Every edit to the themes of a run, first to last."""
    return list_edits(label_store(), run.digest) if accounts_exist() else []


def current_curation(run: Run, built: Taxonomy) -> tuple[list[ThemeEdit], CuratedTaxonomy]:
    """Every edit to the themes of a run, first to last, and their result."""
    edits = edits_of_run(run)
    if not edits:
        return edits, CuratedTaxonomy(built)
    return edits, _cached_curation((run.digest, built.sha256, len(edits), edits[-1].made_at), built, edits)


@st.cache_resource(show_spinner=False, max_entries=16)
def _cached_curation(cache_key: tuple[str, str, int, str], _built: Taxonomy, _edits: Sequence[ThemeEdit]) -> CuratedTaxonomy:
    return apply_edits(_built, _edits)


def _show_last_edit(run: Run, curated: CuratedTaxonomy) -> None:
    last = curated.last
    edits = "1 edit" if curated.edits == 1 else f"{curated.edits:,} edits"
    counts(
        run, "**Curated**: {edits}, the last by {author} on {day}.", edits=edits,
        author=last.author if last else "", day=last.made_at[:10] if last else "",
    )  # fmt: skip


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
        st.code(ADD_ACCOUNT, language="bash")


def save_edit(run: Run, built: Taxonomy, new_edit: NewEdit, part: str) -> bool:
    """Record an edit and keep the result for a `part` of the page; whether it was saved.

    For callbacks: Streamlit runs them before the page, with the arguments that the page had when the button was drawn.
    """
    try:
        account = signed_in_curator()
        if account is None:
            raise AuditError("Your session has ended. Nothing was saved; what you typed is still there. Sign in again.")
        edit = record_edit(label_store(), run.digest, built, account, new_edit, now())
    except AuditError as error:
        report_refusal(str(error), part)
        if isinstance(error, ConflictError):
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


# -- the list of edits ------------------------------------------------------------------------------------------------


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
    name = file_name(run, "curation")
    with st.container(horizontal=True):
        st.download_button(
            "Download edits (CSV)", data=lambda: csv_bytes(table), file_name=name, mime="text/csv", key="curation_csv",
            on_click="ignore", icon=":material/download:",
        )  # fmt: skip
        st.download_button(
            "Download edits (JSON lines)", data=lambda: edits_to_jsonl(view.edits).encode(),
            file_name=name.removesuffix("csv") + "jsonl",
            mime="application/x-ndjson", key="curation_jsonl", on_click="ignore", icon=":material/download:",
        )  # fmt: skip
