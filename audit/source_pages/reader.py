"""One page of a local PDF as a picture with the places of its characters, read in a process of its own within limits."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from threading import BoundedSemaphore

from audit.errors import AuditError, MissingLibraryError
from audit.optional_imports import install_hint

WORKER = Path(__file__).with_name("worker.py")
LIMITS = {"max_side": 1_700, "max_characters": 40_000, "cpu_s": 20, "memory_bytes": 4 * 2**30}
"""Longest side of the picture in pixels, characters that can be marked, processor seconds, bytes of memory."""
TIMEOUT_S = 30
MAX_AT_ONCE = 2
# Half a megabyte each, with the places of its characters
MAX_KEPT = 48
REASONS = {
    "digest": "the file has changed since it was found",
    "page": "it has no such page",
    "password": "it asks for a password",
    "damaged": "it is damaged",
}
Box = tuple[float, float, float, float]
"""Left, top, right and bottom as shares of the picture's width and height, from its upper left corner."""

_turns = BoundedSemaphore(MAX_AT_ONCE)


class SourcePageError(AuditError):
    """A page cannot be shown; the message says why, in a sentence."""


@dataclass(frozen=True)
class SourcePage:
    """A page of a PDF.

    number, pages  its number, counted from 1, and how many there are
    picture        WebP, `width` by `height` pixels
    text, boxes    its characters in the PDF's own order, and the box of each; None for a space that is not printed
    """

    number: int
    pages: int
    width: int
    height: int
    text: str
    boxes: Sequence[Box | None]
    picture: bytes = field(repr=False)


def check_can_show_pages() -> None:
    """Raise MissingLibraryError, with what to install, where the library that draws pages is missing."""
    if find_spec("pypdfium2") is None:
        raise MissingLibraryError(f"Showing pages needs pypdfium2, which is not installed. {install_hint('pipeline')}")


@lru_cache(MAX_KEPT)
def read_page(pdf: Path, digest: str, number: int) -> SourcePage:
    """Page `number` (from 1) of the PDF, provided that the file has this sha256.

    Raises SourcePageError where the page cannot be shown, MissingLibraryError where pypdfium2 is missing.
    """
    check_can_show_pages()
    request = {"path": str(pdf), "digest": digest, "page": number, **LIMITS}
    facts, _, picture = _answer(json.dumps(request), number).partition(b"\n")
    try:
        page = json.loads(facts)
    except ValueError:  # killed by a limit, or crashed
        raise _error(number, "it takes more time or memory than a page may") from None
    if code := page.get("error"):
        raise _error(number, REASONS[code])
    boxes = [None if box is None else tuple(box) for box in page["boxes"]]
    return SourcePage(number, page["pages"], page["width"], page["height"], page["text"], boxes, picture)


def _answer(request: str, number: int) -> bytes:
    if not _turns.acquire(timeout=TIMEOUT_S):
        raise _error(number, "the server is busy with other pages; try again in a minute")
    try:
        # -P: no module next to the worker can take the place of one that it imports
        command = [sys.executable, "-P", str(WORKER)]
        result = subprocess.run(  # noqa: S603
            command, input=request.encode(), capture_output=True, timeout=TIMEOUT_S, check=False
        )
        return result.stdout
    except subprocess.TimeoutExpired:
        raise _error(number, "it takes too long to draw") from None
    finally:
        _turns.release()


def _error(number: int, reason: str) -> SourcePageError:
    return SourcePageError(f"Page {number} of this PDF cannot be shown: {reason}. The text below was taken from it earlier.")
