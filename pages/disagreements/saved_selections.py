"""Selections of disagreements that people saved under a name: to use, to save the current one, to delete one's own."""

from __future__ import annotations

from urllib.parse import parse_qs, urlencode

import streamlit as st

from annotation.label_store.selections import SavedSelection, list_selections
from annotation.studies.accounts import Account
from annotation.studies.selections import MAX_NAME, SAVING_ROLES, delete_selection, may_change, save_selection
from audit.errors import AuditError
from audit.store.runs import Run
from pages._blinded.access import accounts_exist, current_account, label_store, now
from pages._blinded.frame import escaped, explain, guarded
from pages._blinded.scripts import script_path
from pages._shared.pair_filters import FILTERS
from pages._shared.widgets import say

KEPT = (*FILTERS, "list", "sort")
"""Parameters of the address that a selection has: filters, rows and order, and neither the run nor what is open."""
SIGN_IN_TO_SAVE = "Sign in to save these filters under a name that everybody here can use."


def saved_selections(run: Run) -> None:
    """The selections behind a button, each as a link; a form to save the current one for those who are signed in."""
    account = current_account()
    with st.popover("Saved", icon=":material/bookmark:", width="stretch"):
        # Asked first, because opening the store creates its file, which a mere visit must not do.
        stored = list_selections(label_store()) if accounts_exist() else []
        for selection in sorted(stored, key=lambda selection: selection.name.casefold()):
            _line(run, selection, account)
        if not stored:
            st.caption("No selection is saved yet.")
        if account is None or account.role not in SAVING_ROLES:
            st.caption(SIGN_IN_TO_SAVE)
        else:
            _save_form(account)


def _line(run: Run, selection: SavedSelection, account: Account | None) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        params = selection_params(selection.address)
        st.page_link(script_path("disagreements"), label=escaped(selection.name), query_params={"run": run.key, **params})
        st.caption(say(run, "by {author}, {day}", author=selection.author, day=selection.saved_at[:10]))
        if account is not None and may_change(selection, account):
            st.button(
                "Delete", key=f"delete_{selection.name}", help=escaped(f"Delete {selection.name}"), icon=":material/delete:",
                on_click=_delete, args=(account, selection.name), type="tertiary",
            )  # fmt: skip


def _save_form(account: Account) -> None:
    with st.form("save_selection", border=False, clear_on_submit=True):
        name = st.text_input("Name for these filters", max_chars=MAX_NAME)
        if st.form_submit_button("Save this selection"):
            try:
                save_selection(label_store(), account, name, current_selection(), now())
            except AuditError as error:
                explain(error)
            else:
                st.rerun()


def _delete(account: Account, name: str) -> None:
    guarded(delete_selection, label_store(), account, name)


def current_selection() -> str:
    """The filters, rows and order in the address, as the query of an address."""
    return urlencode([(name, value) for name in KEPT for value in st.query_params.get_all(name)])


def selection_params(address: str) -> dict[str, list[str]]:
    """The parameters of a saved address; one that a selection does not have is left out."""
    return {name: values for name, values in parse_qs(address).items() if name in KEPT}
