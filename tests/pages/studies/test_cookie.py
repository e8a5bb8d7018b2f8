"""The session cookie: set for a ticket, once and in time, so that no script in the browser can read it."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from http.cookies import Morsel, SimpleCookie
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response

from annotation.studies.accounts import SESSION_LENGTH
from pages._blinded import session_cookie


def answer(method: str, body: Any = None, content_type: str = "application/json", scheme: str = "http") -> Response:
    """The server's response to a request at the address of the cookie."""
    (route,) = session_cookie.routes()
    assert method in route.methods
    scope = {
        "type": "http", "method": method, "path": route.path, "query_string": b"", "scheme": scheme,
        "server": ("localhost", 80), "headers": [(b"content-type", content_type.encode())],
    }  # fmt: skip

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": json.dumps(body).encode()}

    with ThreadPoolExecutor(1) as elsewhere:  # a browser that other tests have started runs a loop of its own here
        return elsewhere.submit(asyncio.run, route.endpoint(Request(scope, receive))).result()


def cookie_of(response: Response) -> Morsel[str]:
    return SimpleCookie(response.headers["set-cookie"])[session_cookie.NAME]


def test_a_ticket_gets_a_cookie_that_no_script_reads_and_no_other_site_sends():
    cookie = cookie_of(answer("POST", {"ticket": session_cookie.ticket_for("the token")}))
    assert cookie.value == "the token"
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "strict", "/")
    assert int(cookie["max-age"]) == SESSION_LENGTH.total_seconds()


@pytest.mark.parametrize(
    ("scheme", "browser_secure", "secure"), [("http", False, ""), ("http", True, True), ("https", False, True)]
)
def test_the_cookie_is_secure_wherever_the_browser_or_the_server_says_https(scheme, browser_secure, secure):
    """Behind a proxy that ends TLS only the browser knows."""
    response = answer("POST", {"ticket": session_cookie.ticket_for("t"), "secure": browser_secure}, scheme=scheme)
    name = "__Host-handbook_session" if secure else "handbook_session"
    cookie = SimpleCookie(response.headers["set-cookie"])[name]
    assert (cookie["secure"], cookie["path"], cookie["domain"]) == (secure, "/", "")


def test_under_https_only_the_cookie_that_no_neighbour_can_set_is_believed():
    names = [session_cookie.name_of_cookie(origin) for origin in ("https://audit.example.org", "http://localhost:8501", "")]
    assert names == ["__Host-handbook_session", "handbook_session", "handbook_session"]


def test_a_ticket_works_once():
    ticket = session_cookie.ticket_for("the token")
    assert [answer("POST", {"ticket": ticket}).status_code for _ in range(2)] == [204, 403]


def test_a_ticket_works_for_a_minute(monkeypatch):
    ticket, issued = session_cookie.ticket_for("the token"), session_cookie.time.monotonic()
    monkeypatch.setattr(session_cookie.time, "monotonic", lambda: issued + session_cookie.TICKET_S + 1)
    assert answer("POST", {"ticket": ticket}).status_code == 403


@pytest.mark.parametrize("body", [{}, {"ticket": ""}, {"ticket": "guessed"}, {"ticket": None}, [], "x", None])
def test_a_guessed_ticket_gets_no_cookie(body):
    response = answer("POST", body)
    assert response.status_code == 403
    assert "set-cookie" not in response.headers


def test_a_form_on_another_site_gets_no_cookie():
    """A form can be sent across sites, but never as JSON."""
    assert answer("POST", {"ticket": session_cookie.ticket_for("t")}, content_type="text/plain").status_code == 403


def test_signing_out_deletes_the_cookie():
    cookie = cookie_of(answer("DELETE"))
    assert (cookie.value, cookie["max-age"]) == ("", "0")
