"""The process that reads one page of a PDF: `python worker.py`, with a request on standard input and the page on standard output.

PDFs come from strangers and PDFium is a C library, so it runs where a crash, an endless loop or a gigabyte of memory harms
nobody. The request is a JSON object (path, digest, page, max_side, max_characters, cpu_s, memory_bytes), the answer a line of
JSON and after it the picture. Nothing of this project is imported, so the process starts fast.
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

POINTS_TO_PIXELS = 2.0
PICTURE_QUALITY = 85


def main() -> None:
    """Answer the one request."""
    request = json.load(sys.stdin)
    limit_resources(request["cpu_s"], request["memory_bytes"])
    try:
        facts, picture = read_page(request)
    except ReadError as error:
        facts, picture = {"error": str(error)}, b""
    sys.stdout.buffer.write(json.dumps(facts).encode() + b"\n" + picture)


class ReadError(Exception):
    """Why there is no picture, as a code."""


def limit_resources(cpu_s: int, memory_bytes: int) -> None:
    """Bound the processor time and the memory of this process, where the system can."""
    try:
        import resource
    except ImportError:  # Windows: the time limit of the caller remains
        return
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))


def read_page(request: dict[str, Any]) -> tuple[dict[str, object], bytes]:
    """The facts of a page and its picture: pages, width, height, text, boxes (left, top, right, bottom in [0, 1], or null)."""
    pypdfium2 = import_module("pypdfium2")
    content = Path(request["path"]).read_bytes()
    # Digest of the bytes read, so the file cannot be swapped between the check and the reading
    if hashlib.sha256(content).hexdigest() != request["digest"]:
        raise ReadError("digest")
    try:
        pdf = pypdfium2.PdfDocument(content)
        if not 1 <= request["page"] <= len(pdf):
            raise ReadError("page")
        return _picture_and_text(pdf[request["page"] - 1], len(pdf), request)
    except pypdfium2.PdfiumError as error:
        raise ReadError("password" if "password" in str(error).casefold() else "damaged") from error


def _picture_and_text(page: Any, pages: int, request: dict[str, Any]) -> tuple[dict[str, object], bytes]:
    scale = min(POINTS_TO_PIXELS, request["max_side"] / max(page.get_size()))
    bitmap = page.render(scale=scale)
    text, boxes = _characters(page, bitmap, request["max_characters"])
    picture = io.BytesIO()
    bitmap.to_pil().save(picture, "WEBP", quality=PICTURE_QUALITY)
    return {"pages": pages, "width": bitmap.width, "height": bitmap.height, "text": text, "boxes": boxes}, picture.getvalue()


def _characters(page: Any, bitmap: Any, limit: int) -> tuple[str, list[list[float] | None]]:
    """The characters of the page, and the box of each on the picture; None for spaces that PDFium adds."""
    pdfium = import_module("pypdfium2.raw")
    text_page, converter = page.get_textpage(), bitmap.get_posconv(page)
    letters, boxes = [], list[list[float] | None]()
    for index in range(min(text_page.count_chars(), limit)):
        letters.append(chr(pdfium.FPDFText_GetUnicode(text_page, index) or 32))
        boxes.append(_box(text_page.get_charbox(index), converter, bitmap))
    return "".join(letters), boxes


def _box(corners: tuple[float, float, float, float], converter: Any, bitmap: Any) -> list[float] | None:
    left, bottom, right, top = corners
    if right <= left or top <= bottom:
        return None
    # By PDFium's own conversion: it knows the crop box and the rotation of the page
    (x0, y0), (x1, y1) = converter.to_bitmap(left, top), converter.to_bitmap(right, bottom)
    width, height = bitmap.width, bitmap.height
    return [min(x0, x1) / width, min(y0, y1) / height, max(x0, x1) / width, max(y0, y1) / height]


if __name__ == "__main__":
    main()
