"""Accounts of people whom the identity provider or a reverse proxy has signed in: a third party vouches for their identity."""

from __future__ import annotations

from datetime import datetime, timedelta

from annotation.label_store import account_rows
from annotation.label_store.access_log import Actor, Event, log_event
from annotation.label_store.account_rows import UserRow
from annotation.label_store.engine import LabelStore
from annotation.label_store.stored_values import from_timestamp, to_timestamp
from annotation.studies.accounts import DISABLED, Account, account_from, normal_username

SESSIONS_ENDED_HERE = (
    "An investigator has ended your sessions. Continue only if this is your own browser: it is a new sign-in, and the access log "
    "has it."
)
SESSIONS_ENDED = "An investigator has ended your sessions. Sign in again at your institution, then reload this page."


def vouched_account(store: LabelStore, username: str, signed_in_at: datetime, *, renewed: bool = False) -> Account | None:
    """The account of somebody who was signed in at that time.

    renewed  the sign-in is renewed by every connection, as a proxy's header is: once the sessions of the account were ended, a
             new connection alone does not sign in again, but `continue_vouched`, or any other sign-in, does

    None when there is none, it is disabled, or its sessions were ended since.
    """
    user = account_rows.find_user(store, normal_username(username))
    return None if user is None or _refusal(user, signed_in_at, renewed=renewed) else account_from(user)


def vouched_refusal(store: LabelStore, username: str, signed_in_at: datetime, *, renewed: bool = False) -> str:
    """Why somebody who has an account cannot enter with this sign-in; empty where they can, or where they have no account."""
    user = account_rows.find_user(store, normal_username(username))
    return "" if user is None else _refusal(user, signed_in_at, renewed=renewed)


def continue_vouched(store: LabelStore, username: str, signed_in_at: datetime, now: datetime, *, address: str = "") -> bool:
    """Let somebody whom the proxy names in again after their sessions were ended, by their own action; whether that was possible.

    It is not from a connection that is older than the end of the sessions, nor for a disabled account.
    """
    with store.begin() as tx:
        user = account_rows.locked_user(tx, normal_username(username))
        if user is None or _refusal(user, signed_in_at, renewed=False):
            return False
        account_rows.update_user(tx, user.username, last_sign_in_at=to_timestamp(now))
        log_event(tx, Event.SIGN_IN, Actor(user.username, address), now, "by the proxy, after all sessions were ended")
    return True


def _refusal(user: UserRow, signed_in_at: datetime, *, renewed: bool) -> str:
    if user.disabled_at is not None:
        return DISABLED
    if user.signed_out_at is None:
        return ""
    ended = from_timestamp(user.signed_out_at)
    if signed_in_at <= ended:
        return SESSIONS_ENDED
    signed_in_since = user.last_sign_in_at is not None and from_timestamp(user.last_sign_in_at) > ended
    return SESSIONS_ENDED_HERE if renewed and not signed_in_since else ""


def note_vouched_sign_in(
    store: LabelStore, username: str, signed_in_at: datetime, now: datetime, *, by: str, address: str = "", gap: timedelta
) -> None:
    """Log a sign-in once, however often the person returns.

    by   who vouches, in words
    gap  a sign-in within this time of the last one is taken for the same
    """
    with store.begin() as tx:
        user = account_rows.locked_user(tx, username)
        if user is None or (user.last_sign_in_at and signed_in_at <= from_timestamp(user.last_sign_in_at) + gap):
            return
        account_rows.update_user(tx, username, last_sign_in_at=to_timestamp(signed_in_at))
        log_event(tx, Event.SIGN_IN, Actor(username, address), now, f"by {by}")
