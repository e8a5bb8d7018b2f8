"""Saved selections of disagreements: who may save, replace and delete one. Everybody who may browse may use them."""

from __future__ import annotations

from datetime import datetime

from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.selections import SavedSelection, find_selection, put_selection, remove_selection
from annotation.label_store.stored_values import storable_text
from annotation.studies.accounts import Account, Role

SAVING_ROLES = (Role.VIEWER, Role.PI)
"""Annotators and adjudicators do not see disagreements."""
MAX_NAME, MAX_ADDRESS = 80, 4_000


def save_selection(store: LabelStore, account: Account, name: str, address: str, now: datetime) -> None:
    """Save an address under a name; the author's own selection of that name is replaced.

    Raises StudyError when the role may not save, the name is empty or too long or belongs to somebody else's selection, or the
    address is empty or too long.
    """
    _require_role(account)
    name = " ".join(storable_text(name).split())
    if not 0 < len(name) <= MAX_NAME:
        raise StudyError(f"A selection needs a name of 1 to {MAX_NAME} characters. Nothing was saved.")
    if not 0 < len(address) <= MAX_ADDRESS:
        raise StudyError("Choose at least one filter, and not hundreds of them. Nothing was saved.")
    with store.begin() as tx:
        _require_own(find_selection(tx, name), account, "saved. Choose another name")
        put_selection(tx, name, address, account.username, now)


def delete_selection(store: LabelStore, account: Account, name: str) -> None:
    """Delete a selection. Raises StudyError when it is neither the account's own nor the account a PI's."""
    _require_role(account)
    with store.begin() as tx:
        _require_own(find_selection(tx, name), account, "deleted")
        remove_selection(tx, name)


def may_change(selection: SavedSelection, account: Account) -> bool:
    """Whether an account may replace or delete a selection: its author, or a PI."""
    return account.role is Role.PI or selection.author == account.username


def _require_role(account: Account) -> None:
    if account.role not in SAVING_ROLES:
        raise StudyError(f"Only clinicians (viewer) and PIs keep selections; you are {account.role}. Nothing was changed.")


def _require_own(selection: SavedSelection | None, account: Account, done: str) -> None:
    if selection is not None and not may_change(selection, account):
        raise StudyError(f"The selection '{selection.name}' is {selection.author}'s. Nothing was {done}.")
