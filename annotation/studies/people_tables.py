"""The tables of the page People and of `audit account`: accounts, and the access log."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from annotation.label_store.access_log import AccessEntry, Event
from annotation.studies.accounts import AccountState
from audit.tables import Column, TableSpec

ACCOUNTS_TABLE = TableSpec(
    "Accounts",
    (
        Column.text("username", "Account"),
        Column.text("name", "Name"),
        Column.text("role", "Role"),
        Column.text("state", "State"),
        Column.text("last_sign_in", "Last sign-in", "UTC"),
        Column.count("sessions", "Sessions"),
    ),
)
EVENT_WORDS: dict[str, str] = {
    Event.SIGN_IN: "signed in",
    Event.SIGN_IN_FAILED: "failed to sign in",
    Event.SIGN_OUT: "signed out",
    Event.SIGN_OUT_EVERYWHERE: "signed an account out everywhere",
    Event.EXPORT: "downloaded or exported",
    Event.ACCOUNT_ADDED: "added an account",
    Event.ACCOUNT_BOUND: "bound an account to a user of the identity provider",
    Event.ROLE_CHANGED: "changed a role",
    Event.DISABLED: "disabled an account",
    Event.ENABLED: "enabled an account",
    Event.PASSWORD_CHANGED: "changed a password",
    Event.PASSWORD_RESET: "reset a password",
    Event.SETTING_CHANGED: "changed a setting",
    Event.TEXT_CORRECTED: "corrected a handbook's text",
    Event.LOG_PRUNED: "removed old entries",
    Event.RESTORED: "restored a backup",
    Event.PAGE_REFUSED: "asked for a page of another role",
    Event.SESSION_ENDED: "ended a session",
    Event.SECOND_FACTOR: "changed the second factor",
}
"""The action of an entry's account, in words."""
LOG_TABLE = TableSpec(
    "Access log",
    (
        Column.text("at", "Time", "UTC"),
        Column.text("account", "Account"),
        Column.text("address", "Address"),
        Column.text("event", "Event", words=EVENT_WORDS),
        Column.text("detail", "Detail"),
    ),
)
NEVER = "never"


def accounts_frame(states: Sequence[AccountState]) -> pd.DataFrame:
    """One row per account, with the columns of ACCOUNTS_TABLE; times to the minute."""
    rows = [
        (
            state.account.username, state.account.name, str(state.account.role), state.state,
            readable_time(state.last_sign_in_at, "minutes"), state.sessions,
        )
        for state in states
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=[column.name for column in ACCOUNTS_TABLE.columns])


def log_frame(entries: Sequence[AccessEntry]) -> pd.DataFrame:
    """One row per entry, with the columns of LOG_TABLE; times to the second."""
    rows = [(readable_time(entry.at), entry.account, entry.address, entry.event, entry.detail) for entry in entries]
    return pd.DataFrame(rows, columns=[column.name for column in LOG_TABLE.columns])


def readable_time(at: str | None, precision: str = "seconds") -> str:
    """A stored time as `2026-03-01 09:00:00`, or without the seconds; NEVER if no time is stored."""
    return NEVER if at is None else at[: 16 if precision == "minutes" else 19].replace("T", " ")
