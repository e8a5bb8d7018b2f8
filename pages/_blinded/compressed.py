"""Streamlit's own scripts, styles and fonts as they cross the network: compressed once, and fonts in part.

Streamlit leaves compressing to a proxy in front of it; a browser that comes for the first time then loads three times as much.
Brotli, which browsers ask for over HTTPS and on the same machine, makes a tenth less of them than gzip.
Of its two fonts, 545 kB, pages show a sixth: those in `fonts/`, which `.ci/fonts.py` makes, have the icons that are named
anywhere, and the letters of most European languages. Other letters make a browser load the whole font, at `?whole`.
"""

from __future__ import annotations

import gzip
from collections.abc import Awaitable, Callable
from functools import lru_cache
from pathlib import Path

import pyarrow as pa
import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.responses import Response

from pages._blinded.request_guard import Receive, Scope, Send

ROOT = Path(st.__file__).parent / "static"
TYPES = {".js": "text/javascript", ".css": "text/css"}
FONTS = {path.name: path for path in Path(__file__).with_name("fonts").glob("*.woff2")}
"""By the name of Streamlit's own file, which has a digest of it: a font that is new in Streamlit is served as it is."""
KEPT = {"Cache-Control": "public, immutable, max-age=31536000"}
"""The name of such a file has a digest of what is in it, so a browser may keep it."""
BROTLI_LEVEL = 9
"""Of 11; the last two take six to ten times as long, for the first browser after a start, and save 6 % more."""
OTHER_LETTERS = (
    "@font-face{{font-family:Source Sans;font-weight:100 900;font-style:normal;"
    "src:url(../media/{name}?whole)format('woff2');unicode-range:U+180-1FFF,U+2C60-2DFF,U+A640-A7FF,U+AB30-AB6F}}"
)
"""Latin with rare marks, Greek, Cyrillic and what else the smaller font lacks."""
FIRST_PAINT = [Path(__file__).with_name(name) for name in ("first_paint.css", "frame.css", "print.css")]
CHANGED = {"Cache-Control": "public, max-age=3600"}  # of a file with something of ours, which its name does not know


class CompressedFiles:
    """ASGI middleware: answers what asks for one of these files and takes gzip; everything else is passed on."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app = app
        self.base = "/".join(["", *filter(None, [str(st.get_option("server.baseUrlPath")).strip("/")])])
        files = {f"/{path.relative_to(ROOT).as_posix()}": path for path in ROOT.rglob("*")}
        self.known = {
            url: FONTS.get(path.name, path) for url, path in files.items() if path.suffix in TYPES or path.name in FONTS
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on."""
        path = self.known.get(scope["path"].removeprefix(self.base)) if scope["type"] == "http" else None
        encoding = _encoding(Headers(scope=scope)) if path else ""
        if path is None or scope["method"] != "GET" or scope["query_string"] or not encoding:
            await self.app(scope, receive, send)
        elif path.suffix in TYPES:
            body = await run_in_threadpool(_compressed, path, encoding)
            headers = (CHANGED if path.suffix == ".css" else KEPT) | {"Content-Encoding": encoding, "Vary": "Accept-Encoding"}
            await Response(body, media_type=TYPES[path.suffix], headers=headers)(scope, receive, send)
        else:
            await Response(await run_in_threadpool(path.read_bytes), media_type="font/woff2", headers=KEPT)(scope, receive, send)


def _encoding(headers: Headers) -> str:
    """The best that a browser takes of what is made here; "" where it takes none, or wants a part of a file."""
    accepted = {one.strip() for one in headers.get("accept-encoding", "").split(",")}
    return next((one for one in ("br", "gzip") if one in accepted and "range" not in headers), "")


@lru_cache(maxsize=1_024)
def _compressed(path: Path, encoding: str) -> bytes:
    content = path.read_text(encoding="utf-8")
    whole = [OTHER_LETTERS.format(name=name) for name in FONTS if name.startswith("SourceSans") and name in content]
    ours = [*whole, *(one.read_text(encoding="utf-8") for one in FIRST_PAINT)] if path.suffix == ".css" and whole else []
    sent = "".join([content, *ours]).encode()
    if encoding == "br":
        compressed: bytes = pa.Codec("brotli", compression_level=BROTLI_LEVEL).compress(sent, asbytes=True)
        return compressed
    return gzip.compress(sent, mtime=0)
