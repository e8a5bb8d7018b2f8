"""What the sign-in page says to somebody whom the trusted proxy has named and who cannot enter."""

from __future__ import annotations

from annotation.studies import vouched_sign_in
from pages._blinded.access import account_of, database_exists, label_store, now, visitor_address
from pages._blinded.identity import current_identity


def proxy_refusal() -> str:
    """Why somebody whom the trusted proxy has signed in cannot enter; empty where they can, or where it named nobody."""
    identity = current_identity()
    user = identity.proxy_user
    if not user or account_of(identity) is not None:
        return ""
    at = identity.proxy_sign_in
    refusal = vouched_sign_in.vouched_refusal(label_store(), user, at, renewed=True) if database_exists() else ""
    return refusal or f"You are signed in as {user}, but no account of that name can be used here. Ask an investigator for one."


def proxy_user_to_continue() -> str:
    """The user whom the proxy names and whose sessions were ended, where a button may let them in again; else empty."""
    identity = current_identity()
    user, at = identity.proxy_user, identity.proxy_sign_in
    if not user or not database_exists():
        return ""
    refusal = vouched_sign_in.vouched_refusal(label_store(), user, at, renewed=True)
    return user if refusal == vouched_sign_in.SESSIONS_ENDED_HERE else ""


def continue_by_proxy() -> None:
    """Let the user whom the proxy names in again after their sessions were ended."""
    identity = current_identity()
    vouched_sign_in.continue_vouched(label_store(), identity.proxy_user, identity.proxy_sign_in, now(), address=visitor_address())
