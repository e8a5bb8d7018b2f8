"""Who a connection says it is: the proxy's user, the token of the cookie, or the user of the identity provider."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import streamlit as st

from annotation.studies.accounts import SESSION_LENGTH
from pages._blinded.session_cookie import cookie_token
from pages._blinded.trusted_proxy import proxy_signed_in_at, proxy_user


@dataclass(frozen=True)
class ProviderSignIn:
    """What the identity provider says of a user: subject and time of the sign-in (seconds since 1970) identify it."""

    subject: str
    issued_at: float
    email: str
    verified: bool

    @property
    def key(self) -> str:
        """The sign-in in the list of those that have ended."""
        return f"{self.subject} {self.issued_at:.0f}"

    @property
    def signed_in_at(self) -> datetime:
        """When the provider signed the user in."""
        return datetime.fromtimestamp(self.issued_at, UTC)

    @property
    def expires_at(self) -> datetime:
        """Streamlit itself trusts its cookie for 30 days, and an open tab for ever."""
        return self.signed_in_at + SESSION_LENGTH


@dataclass(frozen=True)
class ConnectionIdentity:
    """Who a connection is, by its handshake alone: the proxy's user and when it named them, a token, or the provider's user."""

    proxy_user: str = ""
    proxy_signed_in_at: float = 0.0  # seconds since 1970
    token: str = ""
    provider: ProviderSignIn | None = None

    @property
    def proxy_sign_in(self) -> datetime:
        """When the proxy named the user."""
        return datetime.fromtimestamp(self.proxy_signed_in_at, UTC)


def current_identity() -> ConnectionIdentity:
    """Who the browser of this page is, as it said when it connected; nothing that a page stores changes it."""
    if user := proxy_user():  # an older cookie in a shared browser must not make this person somebody else
        return ConnectionIdentity(proxy_user=user, proxy_signed_in_at=proxy_signed_in_at())
    return ConnectionIdentity(token=cookie_token() or "", provider=provider_sign_in())


def provider_configured() -> bool:
    """Whether secrets.toml has an identity provider for `st.login`."""
    # Streamlit raises when it looks into secrets that do not exist, so whether they do is asked first.
    return bool(st.secrets.load_if_toml_exists()) and "auth" in st.secrets


def provider_sign_in() -> ProviderSignIn | None:
    """What the identity provider said when this tab connected; None where it signed nobody in."""
    if not provider_configured() or not st.user.get("is_logged_in"):
        return None
    # Some providers omit the claim that the address is verified, some send it as text.
    verified = str(st.user.get("email_verified", True)).casefold() == "true"
    return ProviderSignIn(str(st.user.get("sub")), float(str(st.user.get("iat") or 0)), str(st.user.get("email") or ""), verified)
