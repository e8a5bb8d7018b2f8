"""Keeps the session's token in a cookie: the only proof of who somebody is, and nothing in the state of the page.

The cookie is HttpOnly, so no script in the browser can read it. A Streamlit page cannot set such a cookie, but a response to a
request can: the page gets a ticket for one use within TICKET_S, exchanges it for the cookie (`routes`, which app.py passes to
the server), and loads again, so that the browser sends the cookie when it connects. The cookie is sent to this server only
(SameSite=Strict), appears in no URL and no message, and is worthless once the session has ended, because the store has only its
hash.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import gc
import secrets
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from streamlit import runtime
from streamlit.runtime.memory_session_storage import MemorySessionStorage

from annotation.studies.accounts import SESSION_LENGTH

NAME = "handbook_session"
SECURE_NAME = f"__Host-{NAME}"
"""Under https: a browser lets no other host of the same domain set a cookie of this name."""
ADDRESS = "/session"
TICKET_S = 60
JSON = "application/json"
DELETE_COOKIE = ""  # instead of a ticket, after signing out
SCRIPT = """
let handled = null
export default function (component) {
  const { address, ticket, next } = component.data
  if (ticket === handled) return
  handled = ticket
  const body = ticket ? JSON.stringify({ ticket, secure: location.protocol === "https:" }) : undefined
  fetch(address, { method: ticket ? "POST" : "DELETE", headers: { "Content-Type": "application/json" }, body, keepalive: true })
    .finally(() => next ? location.replace(next) : location.reload())
}
"""

_cookie_component = st.components.v2.component("session_cookie", js=SCRIPT)
_tickets: dict[str, tuple[str, float]] = {}  # ticket -> (token, expiry by the monotonic clock)


def cookie_token() -> str | None:
    """The token in the cookie that the browser sent when it opened the page."""
    token = st.context.cookies.get(name_of_cookie(st.context.headers.get("Origin") or ""))
    return token if isinstance(token, str) else None  # without a browser, as in tests, it is not a text


def name_of_cookie(origin: str) -> str:
    """The only cookie that is believed of a page of this origin: under https a neighbour of its host could set the plain one."""
    return SECURE_NAME if origin.startswith("https:") else NAME


def keep_token(token: str, *, address_exists: bool) -> None:
    """Make the browser store the token and load the page again: at the same address where it exists, else the first page."""
    _change_and_load_again(ticket_for(token), "" if address_exists else _address(""))


def forget_token() -> None:
    """Make the browser delete the cookie and open the first page."""
    _change_and_load_again(DELETE_COOKIE, _address(""))


def _change_and_load_again(ticket: str, next_address: str) -> None:
    _cookie_component(key="session_cookie", data={"address": _address(), "ticket": ticket, "next": next_address}, height=1)


def ticket_for(token: str) -> str:
    """A ticket for the cookie with this token."""
    now = time.monotonic()
    # A copy of the items: requests change the tickets from another thread.
    for expired in [ticket for ticket, (_, until) in list(_tickets.items()) if until < now]:
        _tickets.pop(expired, None)
    ticket = secrets.token_urlsafe(32)
    _tickets[ticket] = token, now + TICKET_S
    return ticket


def redeem(ticket: str) -> str | None:
    """The token of a ticket; None for one that is unknown, used or expired."""
    token, until = _tickets.pop(ticket, (None, 0.0))
    return token if time.monotonic() <= until else None


def routes() -> list[Route]:
    """The route that sets and deletes the cookie, in addition to Streamlit's own."""
    return [Route(_address(), _change_cookie, methods=["POST", "DELETE"])]


def _address(path: str = ADDRESS) -> str:
    return "/".join(["", *filter(None, [str(st.get_option("server.baseUrlPath")).strip("/")]), path.strip("/")])


async def _change_cookie(request: Request) -> Response:
    """Set the cookie for a ticket, or delete it."""
    # CSRF: a page of another origin cannot send JSON or DELETE without a preflight request, which is never granted.
    response = Response(status_code=204, headers={"Cache-Control": "no-store"})
    if request.method == "DELETE":
        response.delete_cookie(NAME, httponly=True, samesite="strict")
        response.delete_cookie(SECURE_NAME, httponly=True, samesite="strict", secure=True)
        return response
    body = await _json_body(request)
    # Streamlit reimports an edited file while the routes stay, so the tickets are in the module as it is now.
    token = sys.modules[__name__].redeem(str(body.get("ticket")))
    if token is None:
        return Response(status_code=403)
    # Behind a proxy that ends TLS the request looks like plain HTTP, so the browser also reports the protocol that it uses.
    secure = bool(body.get("secure")) or request.url.scheme == "https"
    name, length = SECURE_NAME if secure else NAME, int(SESSION_LENGTH.total_seconds())
    response.set_cookie(name, token, max_age=length, httponly=True, samesite="strict", secure=secure)
    return response


async def _json_body(request: Request) -> dict[str, Any]:
    """The body of a request as JSON; empty where it is anything else."""
    try:
        body = await request.json() if request.headers.get("content-type") == JSON else None
    except (ValueError, RecursionError):  # the second: a thousand brackets within each other
        body = None
    return body if isinstance(body, dict) else {}


# -- Ends the sessions of visitors who have left, and gives their memory back to the operating system --------
# Streamlit keeps a session for `server.disconnectedSessionTTL` seconds (two minutes) after its connection was lost, so that a
# visitor with a poor network continues where they were. After that it only ends a session when the next visitor leaves: what was
# on the screens of twenty visitors would stay in memory until somebody else comes and goes.

SWEEP_S = 30
"""How often sessions that are over are looked for. One such look costs nothing where there are none."""


@asynccontextmanager
async def sweeping(_: Any) -> AsyncIterator[None]:
    """Sweep every SWEEP_S seconds for as long as the server runs."""
    # Modules stay for as long as the process: without them, a collection has half as many objects to look at.
    gc.freeze()
    sweeper = asyncio.create_task(_sweep())
    try:
        yield
    finally:
        sweeper.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await sweeper


async def _sweep() -> None:
    while True:
        await asyncio.sleep(SWEEP_S)
        if end_sessions(_storage()):
            free_memory()


def _storage() -> MemorySessionStorage:
    manager = cast(Any, runtime.get_instance())._session_mgr
    return cast(MemorySessionStorage, manager._session_storage)


def end_sessions(storage: MemorySessionStorage) -> int:
    """End the sessions that were left longer ago than Streamlit keeps them; returns how many. On the server's own thread."""
    over = cast(Any, storage._cache).expire()
    for _, info in over:
        info.session.shutdown()  # forgets what the visitor uploaded, and the files that were offered
    return len(over)


def free_memory() -> None:
    """Collect cycles, and give free pages back to the operating system where its C library can (glibc)."""
    gc.collect()
    if sys.platform == "linux" and hasattr(library := ctypes.CDLL(None), "malloc_trim"):
        library.malloc_trim(0)
