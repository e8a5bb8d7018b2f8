"""Files that leave and files that come in: each for the one browser whose page offered it, while that page's session goes on.

Streamlit gives a file that it made on a click an address that anybody may fetch, and takes uploads from anybody who is
connected. So the widgets of `file_widgets` offer a file to their browser, and `RequestGuard` asks `may_fetch` and `may_upload`
before Streamlit answers.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable
from typing import Any

from starlette.requests import cookie_parser
from streamlit.runtime.memory_media_file_storage import _calculate_file_id
from streamlit.web.server.server_util import AUTH_COOKIE_NAME
from streamlit.web.server.starlette.starlette_app_utils import decode_xsrf_token_string
from streamlit.web.server.starlette.starlette_server_config import XSRF_COOKIE_NAME

from annotation.studies.accounts import SESSION_LENGTH
from audit.errors import AuditError
from pages._blinded.identity import USER
from pages._blinded.session_cookie import NAME, SECURE_NAME

BROWSER = b"x-handbook-browser"
"""Header by which the server itself says which browser sends a request. `.streamlit/config.toml` has Streamlit compare it."""
FETCH_WITHIN_S = 60
MAX_UPLOAD_MB = 20

_downloads: dict[tuple[str, str], float] = {}  # (file, browser) -> expiry by the monotonic clock
_uploads: dict[str, tuple[Callable[[], None], float]] = {}  # browser -> (session check, expiry)


def browser_of(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """A hash of everything in a request's headers by which a browser and who is signed in there are recognised.

    A browser in which nobody is signed in is known by its XSRF token, which Streamlit gives to each: what is typed on the sign-in
    page is nobody else's. The token stays the same while Streamlit writes it differently into each cookie.
    """
    cookies = [cookie_parser(value.decode("latin-1")) for key, value in headers if key == b"cookie"]
    known = sorted(
        (name, value)
        for sent in cookies
        for name, value in sent.items()
        if name.startswith((NAME, SECURE_NAME, AUTH_COOKIE_NAME))
    )
    tokens = [decode_xsrf_token_string(sent[XSRF_COOKIE_NAME])[0] for sent in cookies if XSRF_COOKIE_NAME in sent]
    users = [value for key, value in headers if key == USER]
    return hashlib.sha256(repr((known, tokens, users)).encode()).hexdigest()


def offer_download(content: bytes, mime: str, file_name: str, browser: str) -> None:
    """Let a browser fetch a file that was made for it, for FETCH_WITHIN_S."""
    _expire(_downloads)
    _downloads[_calculate_file_id(content, mime, file_name), browser] = time.monotonic() + FETCH_WITHIN_S


def may_fetch(file_id: str, browser: str) -> bool:
    """Whether this browser has just been offered the file."""
    return time.monotonic() <= _downloads.get((file_id, browser), 0.0)


def offer_upload(browser: str, check: Callable[[], None]) -> None:
    """Let a browser upload files while `check`, which raises AuditError, finds that its session goes on."""
    _expire(_uploads, at=lambda entry: entry[1])
    _uploads[browser] = check, time.monotonic() + SESSION_LENGTH.total_seconds()


def may_upload(browser: str) -> bool:
    """Whether a page has shown this browser a field for a file, and its session goes on."""
    check, expiry = _uploads.get(browser, (None, 0.0))
    if check is None or time.monotonic() > expiry:
        return False
    try:
        check()
    except AuditError:
        _uploads.pop(browser, None)
        return False
    return True


def _expire(entries: dict[Any, Any], at: Callable[[Any], float] = float) -> None:
    # A copy of the items: pages and downloads change them from several threads.
    for key, entry in list(entries.items()):
        if at(entry) < time.monotonic():
            entries.pop(key, None)
