"""Accounts of people whom the identity provider or a reverse proxy has signed in: somebody else vouches for who they are."""

from __future__ import annotations

from datetime import datetime, timedelta

from annotation.label_store import account_rows
from annotation.label_store.access_log import Actor, Event, log_event
from annotation.label_store.account_rows import UserRow
from annotation.label_store.engine import LabelStore
from annotation.label_store.stored_values import from_timestamp, to_timestamp
from annotation.studies.accounts import DISABLED, Account, account_from, normal_username

SESSIONS_ENDED = "An investigator has ended your sessions. Sign in again at your institution, then reload this page."


def vouched_account(store: LabelStore, username: str, signed_in_at: datetime) -> Account | None:
    """The account of somebody who was signed in at that time.

    None when there is none, it is disabled, or its sessions were ended since.
    """
    user = account_rows.find_user(store, normal_username(username))
    return None if user is None or _refusal(user, signed_in_at) else account_from(user)


def vouched_refusal(store: LabelStore, username: str, signed_in_at: datetime) -> str:
    """Why somebody who has an account cannot enter with this sign-in; empty where they can, or where they have no account."""
    user = account_rows.find_user(store, normal_username(username))
    return "" if user is None else _refusal(user, signed_in_at)


def _refusal(user: UserRow, signed_in_at: datetime) -> str:
    if user.disabled_at is not None:
        return DISABLED
    ended = user.signed_out_at is not None and signed_in_at <= from_timestamp(user.signed_out_at)
    return SESSIONS_ENDED if ended else ""


def note_vouched_sign_in(
    store: LabelStore, username: str, signed_in_at: datetime, now: datetime, *, by: str, address: str = "", gap: timedelta
) -> None:
    """Log a sign-in once, however often its person comes by.

    by   who vouches, in words
    gap  a sign-in within this time of the last one is taken for the same
    """
    with store.begin() as tx:
        user = account_rows.locked_user(tx, username)
        if user is None or (user.last_sign_in_at and signed_in_at <= from_timestamp(user.last_sign_in_at) + gap):
            return
        account_rows.update_user(tx, username, last_sign_in_at=to_timestamp(signed_in_at))
        log_event(tx, Event.SIGN_IN, Actor(username, address), now, f"by {by}")
