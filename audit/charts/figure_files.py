"""Figures as files: interactive HTML, and SVG and PNG for print, for which Kaleido drives a Chromium.

On one machine the same figure gives the same file, byte for byte.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import os
import re
import shutil
import struct
import zlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from html import escape
from typing import Any
from xml.etree.ElementTree import canonicalize

import plotly.graph_objects as go
import plotly.io as pio
from plotly.offline import get_plotlyjs

from audit.errors import AuditError
from audit.optional_imports import install_hint

# What journals ask for; Liberation Sans, its replacement on Linux, has the same widths.
PRINT_FONT = 'Arial, Helvetica, "Liberation Sans", sans-serif'
# Two columns of a journal.
WIDTH_MM = 180
PX_PER_MM = 96 / 25.4
DPI = 300
# Named, because inside the dashboard Streamlit sets another default, full of placeholders.
TEMPLATE = "plotly"
FIGURE_TIMEOUT_S = 60
START_TIMEOUT_S, CLOSE_TIMEOUT_S = 60, 10
# Bytes of a PNG before its second chunk.
PNG_HEADER = 33
UID = re.compile(r'id="defs-([0-9a-f]{6})"')
NAMES = re.compile(r'(?:id="|#)[^"\'&)\s]*')
SIZE = re.compile(r'width="[\d.]+" height="[\d.]+"')
# A page with MathJax would take a name with two dollar signs for a formula
CONFIG = {"displaylogo": False, "responsive": True, "typesetMath": False}
NO_KALEIDO = (
    "SVG and PNG were not written: they need the package kaleido, which is not installed. The HTML figures are complete. "
    + install_hint("figures")
)
NO_CHROMIUM = (
    "SVG and PNG were not written: Kaleido found no Chromium that works ({why}). Install one (apt-get install chromium). "
    "The HTML figures are complete."
)
NOT_DRAWN = "SVG and PNG of this figure were not written: it could not be drawn ({why}). Its HTML is complete."


class NoPicturesError(AuditError):
    """No working software on this machine turns a figure into an image."""


PLOTLY_FILE = "plotly.min.js"


def plotly_script() -> str:
    """The library that draws interactive figures, for the file PLOTLY_FILE."""
    return str(get_plotlyjs())


def figure_page(figure: go.Figure, name: str, title: str) -> str:
    """A page with the figure, which needs PLOTLY_FILE next to it and no network."""
    heading, body = escape(title), fragment_html(figure, name, script=PLOTLY_FILE)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{heading}</title></head>\n'
        f'<body style="font-family:Arial,sans-serif;max-width:1100px;margin:1em auto"><p>{heading}</p>\n{body}</body></html>\n'
    )


def fragment_html(figure: go.Figure, name: str, *, script: bool | str) -> str:
    """The figure as part of a page; `script` includes plotly.js itself, which a page needs once, or names its file."""
    text = pio.to_html(
        _plain_dict(figure), validate=False, full_html=False, include_plotlyjs=script, div_id=f"figure-{name}", config=CONFIG,
        include_mathjax=False,
    )  # fmt: skip
    return str(text)


def pictures(figures: Mapping[str, go.Figure]) -> tuple[dict[str, tuple[bytes, bytes]], dict[str, str]]:
    """Each figure by name, as SVG and as PNG of 300 dpi, two journal columns wide, on white, in Arial.

    The second dictionary has a sentence for each figure that could not be drawn, which does not affect the others.

    Raises NoPicturesError, which says what to install, where Kaleido or Chromium is missing or does not work.
    """
    try:
        kaleido = importlib.import_module("kaleido")
    except ImportError:
        raise NoPicturesError(NO_KALEIDO) from None
    try:
        with ThreadPoolExecutor(1) as thread:  # a thread of its own, because the caller may be running an event loop
            return thread.submit(lambda: asyncio.run(_render(kaleido, figures))).result()
    except Exception as error:  # a browser can fail in many ways, and none of them may stop the export of tables
        raise NoPicturesError(NO_CHROMIUM.format(why=_reason(error))) from None


def _reason(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__


async def _render(kaleido: Any, figures: Mapping[str, go.Figure]) -> tuple[dict[str, tuple[bytes, bytes]], dict[str, str]]:
    figure_error = importlib.import_module("kaleido.errors").KaleidoError
    files, missing = {}, {}
    async with _camera(kaleido)(n=1, timeout=FIGURE_TIMEOUT_S, mathjax=False, path=_browser()) as camera:
        for name, figure in figures.items():
            sheet = _for_print(figure)
            size = {"width": round(WIDTH_MM * PX_PER_MM), "height": sheet["layout"].get("height")}
            try:
                svg = await camera.calc_fig(sheet, {"format": "svg", **size})
                png = await camera.calc_fig(sheet, {"format": "png", "scale": DPI / 96, **size})
            # Kaleido's own error comes from plotly.js, so Chromium works and the fault is the figure's
            except figure_error as error:
                missing[name] = NOT_DRAWN.format(why=_reason(error))
                continue
            files[name] = _deterministic_svg(svg.decode(), name, size).encode(), _with_dpi(png)
    return files, missing


def _camera(kaleido: Any) -> Any:
    """Kaleido's class, but it waits for nothing without end, and loads its page, and plotly.js in it, only once.

    Chromium can end before its answer to "close" has been read: then Kaleido would wait for that answer for ever.

    Loading again after every picture takes most of the computing time. What one picture leaves behind changes only the order of
    attributes in the next, which `_deterministic_svg` sorts. If a later Kaleido renames the method, it loads again.
    """

    class Camera(kaleido.Kaleido):  # type: ignore[misc]
        async def open(self) -> None:
            try:
                async with asyncio.timeout(START_TIMEOUT_S) as limit:
                    await super().open()
            except Exception:
                await self.close()
                if limit.expired():  # where waiting ends, Kaleido raises an error of its own
                    raise TimeoutError(f"it did not start within {START_TIMEOUT_S} seconds") from None
                raise

        async def close(self) -> None:
            # What is cancelled is the waiting: the rest of closing follows, such as to kill a browser that does not end.
            await asyncio.wait_for(super().close(), CLOSE_TIMEOUT_S)

        async def _return_kaleido_tab(self, tab: Any) -> None:
            await self.tabs_ready.put(tab)

    return Camera


def _browser() -> str | None:
    """The browser to draw with; None leaves the search to Kaleido.

    Debian's Chromium without a window gives the same bytes and takes a quarter less computing time.
    """
    return os.environ.get("BROWSER_PATH") or shutil.which("chromium-headless-shell")


def _plain_dict(figure: go.Figure) -> dict[str, Any]:
    """A copy with plotly's own template, as a dictionary: checking a figure again takes longer than writing its page."""
    plain: dict[str, Any] = figure.to_dict()
    plain["layout"]["template"] = _plain_template()
    return plain


@cache
def _plain_template() -> dict[str, Any]:
    template: dict[str, Any] = pio.templates[TEMPLATE].to_plotly_json()
    return template


def _for_print(figure: go.Figure) -> dict[str, Any]:
    """A copy on white, in a common font, with fixed trace ids; a dictionary, because a figure checks all that is put into it."""
    plain = _plain_dict(figure)
    font = {**plain["layout"].get("font", {}), "family": PRINT_FONT}
    layout = {**plain["layout"], "font": font, "paper_bgcolor": "#ffffff", "plot_bgcolor": "#ffffff"}
    # plotly.js would choose these ids at random.
    return {"data": [{**trace, "uid": f"t{number}"} for number, trace in enumerate(plain["data"])], "layout": layout}


def _deterministic_svg(svg: str, name: str, size: Mapping[str, float]) -> str:
    """The SVG with ids derived from the figure's name instead of random ones, sorted attributes, and its size in millimetres."""
    # plotly.js draws these ids at random, and the same figure must give the same file.
    uid = UID.search(svg)
    if uid is not None:
        own, stable = re.compile(rf"(?<=[A-Za-z-]){uid[1]}"), hashlib.sha256(name.encode()).hexdigest()[:6]
        svg = NAMES.sub(lambda match: own.sub(f"x{stable}", match[0]), svg)
    width, height = (f"{size[side] / PX_PER_MM:.2f}mm" for side in ("width", "height"))
    # The order of attributes depends on what plotly.js drew before.
    return canonicalize(SIZE.sub(f'width="{width}" height="{height}"', svg, count=1))


def _with_dpi(png: bytes) -> bytes:
    """The PNG with its resolution added, so it is placed at its true size in print."""
    # The chunk pHYs states pixels per metre; it must come before the image data.
    per_metre = round(DPI / 0.0254)
    chunk = b"pHYs" + struct.pack(">IIB", per_metre, per_metre, 1)
    return png[:PNG_HEADER] + struct.pack(">I", 9) + chunk + struct.pack(">I", zlib.crc32(chunk)) + png[PNG_HEADER:]
