"""Streamlit's own scripts and styles as they cross the network: each compressed once, and kept.

Streamlit leaves compressing to a proxy in front of it; a browser that comes for the first time then loads three times as much.
"""

from __future__ import annotations

import gzip
from collections.abc import Awaitable, Callable
from functools import lru_cache
from pathlib import Path

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.responses import Response

from pages._blinded.request_guard import Receive, Scope, Send

ROOT = Path(st.__file__).parent / "static"
TYPES = {".js": "text/javascript", ".css": "text/css"}
HEADERS = {"Content-Encoding": "gzip", "Vary": "Accept-Encoding", "Cache-Control": "public, immutable, max-age=31536000"}
"""The name of such a file has a digest of what is in it, so a browser may keep it."""


class CompressedFiles:
    """ASGI middleware: answers what asks for one of these files and takes gzip; everything else is passed on."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app = app
        self.base = "/".join(["", *filter(None, [str(st.get_option("server.baseUrlPath")).strip("/")])])
        self.known = {f"/{path.relative_to(ROOT).as_posix()}": path for path in ROOT.rglob("*") if path.suffix in TYPES}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on."""
        path = self.known.get(scope["path"].removeprefix(self.base)) if scope["type"] == "http" else None
        if path is None or scope["method"] != "GET" or not _takes_gzip(Headers(scope=scope)):
            await self.app(scope, receive, send)
            return
        body = await run_in_threadpool(_compressed, path)
        await Response(body, media_type=TYPES[path.suffix], headers=HEADERS)(scope, receive, send)


def _takes_gzip(headers: Headers) -> bool:
    return "gzip" in headers.get("accept-encoding", "") and "range" not in headers


@lru_cache(maxsize=512)
def _compressed(path: Path) -> bytes:
    return gzip.compress(path.read_bytes(), mtime=0)
