"""What reaches Streamlit: requests under this server's own names, from its own pages, of a bounded size, and nothing else.

Streamlit takes any host name, asks an outside service for this machine's address when an origin is unknown to it, reads bodies of
any length, and lets everybody who is connected clear the caches of all.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from ipaddress import ip_address
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from streamlit.proto.BackMsg_pb2 import BackMsg

from annotation.studies.accounts import account_of_token
from audit.settings import Settings
from pages._blinded.identity import USER
from pages._blinded.limits import IDLE_S, OpenTabs
from pages._blinded.session_cookie import NAME, name_of_cookie
from pages._blinded.transfers import BROWSER, MAX_UPLOAD_MB, browser_of, may_fetch, may_upload

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

CORE, MEDIA, UPLOAD = "/_stcore/", "/media/", "/_stcore/upload_file/"
CORE_PATHS = ("health", "host-config", "stream", "upload_file/", "bidi-components/")
"""What the pages need of Streamlit's own addresses. Among the others are figures on all users and a way in for programs."""
MESSAGES = ("rerun_script", "stop_script", "file_urls_request", "app_heartbeat", "backend_operation_request")
"""What a page may ask of its session. Among the others is clearing the caches of all users."""
OPERATIONS = ("deferred_file", "dataframe_chunk")
MAX_BODY_BYTES = 4096
MAX_UPLOAD_BYTES = MAX_UPLOAD_MB * 2**20 + 65_536  # with the form around the file
INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def content_policy() -> str:
    """What a page may load and run: this server's own scripts, none that are written into a page but those of Streamlit's frame.

    Streamlit puts styles into the page, and loads the scripts of our components from a `blob:` that it makes itself.
    """
    frame = (Path(st.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in INLINE_SCRIPT.findall(frame))
    scripts = " ".join(f"'sha256-{digest}'" for digest in digests)
    return (
        f"default-src 'self'; script-src 'self' blob: {scripts}; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
        "font-src 'self' data:; worker-src 'self' blob:; frame-src 'self'; object-src 'none'; base-uri 'self'; "
        "form-action 'self'; frame-ancestors 'self'"
    )


HEADERS = {
    "Content-Security-Policy": content_policy(),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
}
WRONG_HOST = (
    "This server does not answer to the name in the address. If the name is right, whoever runs the server can add it to "
    "AUDIT_PUBLIC_HOSTS and start it again."
)
WRONG_ORIGIN = "This request comes from a page of another server. Nothing was done."
NOT_FOUND = "There is nothing at this address."
NOT_YOURS = "Only the page that made this file can fetch it, within a minute. Go back to the page and download it again."
NO_UPLOAD = "Sign in and open the page on which the file is asked for, then choose it again. Nothing was stored."
TOO_LARGE = "The request is too large. Nothing was stored."

log = logging.getLogger(__name__)


class RequestGuard:
    """ASGI middleware: refuses what no page of ours sends, and adds the headers that tell a browser what it may do with us."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app = app
        self.public_hosts, self.trusted_proxies = Settings().public_hosts, Settings().trusted_proxies
        self.tabs = OpenTabs()
        self.base = "/".join(["", *filter(None, [str(st.get_option("server.baseUrlPath")).strip("/")])])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it with a sentence."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        scope = {**scope, "headers": _with_browser(scope["headers"])}
        answer = _with_headers(send, {"Cache-Control": "no-store"} if self._path(scope).startswith(MEDIA) else {})
        if refusal := await self._refusal(scope):
            log.warning("Refused %s from %s: %s", scope["path"], (scope.get("client") or ("",))[0], _asked_as(scope))
            await _refuse(scope, receive, answer, *refusal)
        elif scope["type"] == "websocket":
            await self._serve_tab(scope, receive, answer)
        elif self._opens_a_page(scope) and (full := self.tabs.refusal(self._address(scope), signed_in=_may_be_signed_in(scope))):
            await _refuse(scope, receive, answer, 503, full)
        else:
            limit = MAX_UPLOAD_BYTES if self._path(scope).startswith(UPLOAD) else MAX_BODY_BYTES
            await self.app(_without_origin(scope), _bounded(receive, limit), answer)

    async def _serve_tab(self, scope: Scope, receive: Receive, answer: Send) -> None:
        """Connect a tab to its session, unless too many are; a stranger's tab that does nothing gives way where it is crowded."""
        address = self._address(scope)
        signed_in = _may_be_signed_in(scope) and await run_in_threadpool(_is_signed_in, scope)
        if full := self.tabs.refusal(address, signed_in=signed_in):
            await _refuse(scope, receive, answer, 503, full)
            return
        with self.tabs.tab(address, signed_in=signed_in):
            messages = receive if signed_in else _until_idle(receive, lambda: self.tabs.is_crowded(address))
            await self.app(_under_the_name_of_its_page(scope), _known_messages(messages), answer)

    def _address(self, scope: Scope) -> str:
        """The visitor's address; "" for this machine itself, where a proxy that is not trusted would bring everybody."""
        address = str((scope.get("client") or ("",))[0])
        return "" if _is_loopback(address) and not self.trusted_proxies else address

    def _opens_a_page(self, scope: Scope) -> bool:
        accepted = Headers(raw=scope["headers"]).get("accept", "")
        return scope["method"] == "GET" and "text/html" in accepted and not self._path(scope).startswith((CORE, MEDIA))

    def _path(self, scope: Scope) -> str:
        return str(scope["path"]).removeprefix(self.base)

    async def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        """Status and sentence; None for a request that may pass."""
        headers, path = Headers(raw=scope["headers"]), self._path(scope)
        browser, host = headers[BROWSER.decode()], ",".join(headers.getlist("host"))
        if not is_own_host(host, scope.get("server"), self.public_hosts):
            return 421, WRONG_HOST
        if any(not is_own_origin(origin, host, self.public_hosts) for origin in headers.getlist("origin")):
            return 403, WRONG_ORIGIN
        if path.startswith(CORE) and not path.removeprefix(CORE).startswith(CORE_PATHS):
            return 404, NOT_FOUND
        if path.startswith(MEDIA) and not may_fetch(PurePosixPath(path).stem, browser):
            return 404, NOT_YOURS
        if path.startswith(UPLOAD) and not await run_in_threadpool(may_upload, browser):
            return 403, NO_UPLOAD
        limit = MAX_UPLOAD_BYTES if path.startswith(UPLOAD) else MAX_BODY_BYTES
        return (413, TOO_LARGE) if _declared_length(headers) > limit else None


def is_own_host(host: str, server: tuple[str, int | None] | None, public_hosts: Iterable[str]) -> bool:
    """Whether a Host header names this server: this machine itself, the address that was connected to, or a public name.

    A page elsewhere can have its own name resolve to this machine (DNS rebinding), but it cannot change the name that is sent.
    """
    name = _host_name(host)
    if not name:
        return False
    return name == "localhost" or name in public_hosts or _is_loopback(name) or (server is not None and name == server[0])


def is_own_origin(origin: str, host: str, public_hosts: Iterable[str]) -> bool:
    """Whether the page that sends a request is one of this server. Another port of the same machine is another server.

    A proxy may send a Host of its own; the page then has one of the public names.
    """
    try:
        page = urlsplit(origin).netloc
    except ValueError:  # such as a bracket that is not closed
        return False
    return page.casefold() == host.casefold() or (_host_name(page) in public_hosts and _host_name(host) not in public_hosts)


def _host_name(host: str) -> str:
    """The name or address in a Host header; empty where the header is no name with or without a port."""
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port
    except ValueError:
        return ""
    return (parts.hostname or "").rstrip(".") if parts.netloc == host and "@" not in host else ""


def _is_loopback(name: str) -> bool:
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def _declared_length(headers: Headers) -> int:
    length = headers.get("content-length", "0")
    return int(length) if length.isdecimal() else 0


def _with_browser(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    others = [(key, value) for key, value in headers if key != BROWSER]
    return [*others, (BROWSER, browser_of(others).encode())]


def _without_origin(scope: Scope) -> Scope:
    # It was judged here. Streamlit would judge it again, and ask an outside service for this machine's address.
    return {**scope, "headers": [(key, value) for key, value in scope["headers"] if key != b"origin"]}


def _under_the_name_of_its_page(scope: Scope) -> Scope:
    # Streamlit asks nobody where the two are equal; behind a proxy that sends its own Host they are not.
    page = urlsplit(Headers(raw=scope["headers"]).get("origin", "")).netloc
    others = [(key, value) for key, value in scope["headers"] if key != b"host"]
    return {**scope, "headers": [*others, (b"host", page.encode("latin-1"))]} if page else scope


def _asked_as(scope: Scope) -> str:
    headers = Headers(raw=scope["headers"])
    return f"host {headers.get('host')!r}, origin {headers.get('origin')!r}"


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, sentence: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})  # before it is accepted: status 403
    else:
        await PlainTextResponse(sentence, status, {"Connection": "close"})(scope, receive, send)


def _with_headers(send: Send, others: Mapping[str, str]) -> Send:
    async def answer(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update({**HEADERS, **others})
        await send(message)

    return answer


def _may_be_signed_in(scope: Scope) -> bool:
    headers = Headers(raw=scope["headers"])
    return USER.decode() in headers or NAME in headers.get("cookie", "")


def _is_signed_in(scope: Scope) -> bool:
    """Whether the proxy names a user, or a cookie has the token of a session."""
    from pages._blinded.access import database_exists, label_store, now  # it needs a running server

    headers = Headers(raw=scope["headers"])
    if USER.decode() in headers:
        return True
    token = HTTPConnection({**scope, "type": "http"}).cookies.get(name_of_cookie(headers.get("origin", "")), "")
    return bool(token) and database_exists() and account_of_token(label_store(), token, now()) is not None


def _until_idle(receive: Receive, is_crowded: Callable[[], bool]) -> Receive:
    """The same messages, and the end of the connection where none came for IDLE_S while others wait for a place."""
    waiting: asyncio.Task[MutableMapping[str, Any]] | None = None

    async def until_idle() -> MutableMapping[str, Any]:
        nonlocal waiting
        waiting = waiting or asyncio.ensure_future(receive())
        while not (await asyncio.wait({waiting}, timeout=IDLE_S))[0]:
            if is_crowded():
                waiting.cancel()
                waiting = None
                return {"type": "websocket.disconnect", "code": 1001}
        message, waiting = waiting.result(), None
        return message

    return until_idle


def _bounded(receive: Receive, limit: int) -> Receive:
    """The same body, refused where it is longer than it said."""
    received = 0

    async def bounded() -> MutableMapping[str, Any]:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > limit:
            raise HTTPException(413, TOO_LARGE, {"Connection": "close"})
        return message

    return bounded


def _known_messages(receive: Receive) -> Receive:
    """The same messages without those that no page of ours sends."""

    async def known() -> MutableMapping[str, Any]:
        while True:
            message = await receive()
            frame = message.get("bytes")
            if frame is None or is_known(frame):
                return message
            log.warning("Ignored a message that no page of this dashboard sends.")

    return known


def is_known(frame: bytes) -> bool:
    """Whether a frame asks for something that a page may ask; what cannot be read is left to Streamlit, which hangs up."""
    try:
        message = BackMsg.FromString(frame)
    except Exception:
        return True
    kind = message.WhichOneof("type")
    if kind == "backend_operation_request":
        return message.backend_operation_request.WhichOneof("payload") in OPERATIONS
    return kind in MESSAGES
