"""The browser keeps the token of the session in a cookie, so that a reload or a restart of the server asks for no password.

The cookie is HttpOnly: no script in the browser can read it. A Streamlit page cannot set such a cookie, an answer to a
request can. So the page gets a ticket, good for one use within TICKET_S, and asks for the cookie with it (`routes`, which
app.py gives to the server). It is sent to this server alone (SameSite=Strict), stands in no address and in no frame, and
means nothing once the session has ended: the store holds only its hash.
"""

from __future__ import annotations

import secrets
import sys
import time
from typing import Any

import streamlit as st
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from annotation.studies.accounts import SESSION_LENGTH

NAME = "handbook_session"
ADDRESS = "/session"
TICKET_S = 60
JSON = "application/json"
ERRAND = "what the browser shall ask for"
FORGET = ""
"""The errand of a browser that has signed out."""
SCRIPT = """
let done = null
export default function (component) {
  const { address, ticket } = component.data
  if (ticket === done) return
  done = ticket
  const body = ticket ? JSON.stringify({ ticket, secure: location.protocol === "https:" }) : undefined
  fetch(address, { method: ticket ? "POST" : "DELETE", headers: { "Content-Type": "application/json" }, body, keepalive: true })
}
"""

_errand = st.components.v2.component("session_cookie", js=SCRIPT)
_tickets: dict[str, tuple[str, float]] = {}
"""Ticket -> the token it is for, and until when."""


def cookie_token() -> str | None:
    """The token that the browser sent when this page was opened."""
    token = st.context.cookies.get(NAME)
    return token if isinstance(token, str) else None  # a session without a browser, as in tests, has no cookies


def keep_token(token: str) -> None:
    """Have the browser keep the token until the session ends."""
    st.session_state[ERRAND] = ticket_for(token)


def forget_token() -> None:
    """Have the browser forget it."""
    st.session_state[ERRAND] = FORGET


def write_cookie() -> None:
    """Draw what asks for the cookie where this session has changed it; a later run draws it again, the first may be cut short."""
    if ERRAND in st.session_state:
        with st.sidebar:
            _errand(key="session_cookie", data={"address": _address(), "ticket": st.session_state[ERRAND]}, height=1)


def ticket_for(token: str) -> str:
    """A ticket for the cookie with this token."""
    now = time.monotonic()
    for old in [ticket for ticket, (_, until) in list(_tickets.items()) if until < now]:
        _tickets.pop(old, None)
    ticket = secrets.token_urlsafe(32)
    _tickets[ticket] = token, now + TICKET_S
    return ticket


def redeem(ticket: str) -> str | None:
    """The token of a ticket, once and in time."""
    token, until = _tickets.pop(ticket, (None, 0.0))
    return token if time.monotonic() <= until else None


def routes() -> list[Route]:
    """What the server answers besides Streamlit's own addresses."""
    return [Route(_address(), _change, methods=["POST", "DELETE"])]


def _address() -> str:
    return "/".join(["", *filter(None, [str(st.get_option("server.baseUrlPath")).strip("/")]), ADDRESS.strip("/")])


async def _change(request: Request) -> Response:
    """Set the cookie for a ticket, or take it back.

    A page of another origin cannot send JSON, nor DELETE, without asking first, and is never allowed to.
    """
    answer = Response(status_code=204, headers={"Cache-Control": "no-store"})
    if request.method == "DELETE":
        answer.delete_cookie(NAME, httponly=True, samesite="strict")
        return answer
    asked = await _asked(request)
    # An edited file is imported anew while the routes stay: the tickets are those of the module as it is now.
    token = sys.modules[__name__].redeem(str(asked.get("ticket")))
    if token is None:
        return Response(status_code=403)
    secure = bool(asked.get("secure")) or request.url.scheme == "https"
    answer.set_cookie(NAME, token, max_age=int(SESSION_LENGTH.total_seconds()), httponly=True, samesite="strict", secure=secure)
    return answer


async def _asked(request: Request) -> dict[str, Any]:
    """The body of a request; empty where it is not what our page sends."""
    try:
        body = await request.json() if request.headers.get("content-type") == JSON else None
    except ValueError:
        body = None
    return body if isinstance(body, dict) else {}
