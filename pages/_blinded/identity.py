"""Who a connection says it is: the proxy's user, the token of the cookie, or the user of the identity provider."""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import Any

import streamlit as st

from annotation.studies.accounts import SESSION_LENGTH
from audit.settings import Network, Settings
from pages._blinded.session_cookie import cookie_token


@dataclass(frozen=True)
class ProviderSignIn:
    """What the identity provider says of a user: subject and time of the sign-in (seconds since 1970) identify it."""

    issuer: str
    subject: str
    issued_at: float
    email: str
    verified: bool

    @property
    def key(self) -> str:
        """The sign-in in the list of those that have ended."""
        return f"{self.subject} {self.issued_at:.0f}"

    @property
    def user(self) -> str:
        """Issuer and subject, which stay the same while an e-mail address may pass to somebody else; empty without both."""
        return f"{self.issuer} {self.subject}" if self.issuer and self.subject else ""

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
    issuer, subject, email = (str(st.user.get(claim) or "") for claim in ("iss", "sub", "email"))
    # Some providers omit the claim that the address is verified, and of those some let others write it; some send it as text.
    verified = str(st.user.get("email_verified", issuer in Settings().trusted_issuers)).casefold() == "true"
    return ProviderSignIn(issuer, subject, float(str(st.user.get("iat") or 0)), email, verified)


# -- Single sign-on by a reverse proxy: it authenticates people and names them in a header, which is believed from nobody else
# A browser can send any header, so `TrustedProxy` removes the header from every request that does not come from the proxy
# itself. What a page can read was therefore set by the proxy. Every doubt ends in nobody being signed in.

Scope = MutableMapping[str, Any]
Headers = list[tuple[bytes, bytes]]
USER, SIGNED_IN_AT = b"x-handbook-user", b"x-handbook-signed-in-at"
FORWARDED_FOR = b"x-forwarded-for"
PEER_SETTING = "FORWARDED_ALLOW_IPS"
"""From these peers uvicorn takes X-Forwarded-For for the peer itself, by default from all of this machine."""


class TrustedProxy:
    """ASGI middleware: what the trusted proxy says of a visitor becomes headers of our own, and anybody else's is removed."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app = app
        self.settings = Settings()

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        """Pass on the request with its headers checked."""
        await self.app(self._checked_scope(scope) if scope["type"] in ("http", "websocket") else scope, receive, send)

    def _checked_scope(self, scope: Scope) -> Scope:
        peer = (scope.get("client") or ("", 0))[0]
        trusted = _peers_are_known() and is_trusted(peer, self.settings.trusted_proxies)
        headers = checked_headers(scope["headers"], self.settings.trusted_user_header, trusted)
        client = forwarded_client(headers) if trusted else ""
        return {**scope, "headers": headers, **({"client": (client, 0)} if client else {})}


def _peers_are_known() -> bool:
    """Whether uvicorn reports the real peer. `audit serve` makes it do so; plain `streamlit run` does not."""
    return os.environ.get(PEER_SETTING) == ""


def is_trusted(peer: str, proxies: Iterable[Network]) -> bool:
    """Whether a connection from this address comes from the proxy."""
    try:
        address = ip_address(peer)
    except ValueError:
        return False
    return any(address in network for network in proxies)


def checked_headers(headers: Iterable[tuple[bytes, bytes]], user_header: str, trusted: bool) -> Headers:
    """The headers of a request, with USER and SIGNED_IN_AT only where the proxy named exactly one user."""
    name = user_header.casefold().encode()
    users = [value.strip() for key, value in headers if name and key == name]
    checked = [(key, value) for key, value in headers if key not in (name, USER, SIGNED_IN_AT)]
    if trusted and len(users) == 1 and users[0]:
        checked += [(USER, users[0]), (SIGNED_IN_AT, str(int(time.time())).encode())]
    return checked


def forwarded_client(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The address that the proxy saw: the last one of X-Forwarded-For, as a client may have sent the ones before it."""
    chain = ",".join(value.decode("latin-1") for key, value in headers if key == FORWARDED_FOR)
    last = chain.rpartition(",")[2].strip()
    try:
        return str(ip_address(last))
    except ValueError:
        return ""


def proxy_user() -> str:
    """The user whom the trusted proxy named when this tab connected; empty if it named nobody.

    A connection lasts as long as its tab is open, so the name is believed for the length of a session only.
    """
    if not Settings().trusted_user_header:
        return ""
    expired = time.time() >= proxy_signed_in_at() + SESSION_LENGTH.total_seconds()
    return "" if expired else st.context.headers.get(USER.decode(), "")


def proxy_signed_in_at() -> int:
    """When the proxy named the user of this tab, in seconds since 1970; 0 where it named nobody."""
    return int(st.context.headers.get(SIGNED_IN_AT.decode(), "0"))
