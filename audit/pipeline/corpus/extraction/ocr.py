"""Optical character recognition (OCR) of the pages of a PDF that are pictures: by ocrmypdf, else by tesseract.

Both are programs (Debian packages ocrmypdf, tesseract-ocr), not libraries of this project. Only silent pages are recognised, so
that text which a file has is never replaced by a guess. The result is kept by the file's digest: a page takes seconds.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from audit.atomic_io import atomic_file
from audit.errors import DocumentError
from audit.optional_imports import optional

PROGRAMS = ("ocrmypdf", "tesseract")
MISSING = (
    "OCR needs the program ocrmypdf or tesseract, and neither is installed. Nothing was extracted. "
    "Install one (Debian: apt install ocrmypdf; other languages: tesseract-ocr-deu, ...), or leave OCR out."
)
# Pages are drawn for tesseract with this many dots per inch, as its manual advises
RESOLUTION = 300
SECONDS_PER_PAGE = 120
DEFAULT_LANGUAGE = "eng"


@dataclass(frozen=True)
class Ocr:
    """How pictures become text.

    folder    where recognised PDFs are kept
    language  of the text, as tesseract names it: eng, deu, spa, eng+spa
    """

    folder: Path
    language: str = DEFAULT_LANGUAGE

    @cached_property
    def program(self) -> str:
        """The program that is installed. Raises DocumentError, with what to install, where neither is installed."""
        program = next((name for name in PROGRAMS if shutil.which(name)), None)
        if program is None:
            raise DocumentError(MISSING)
        return program

    @property
    def name(self) -> str:
        """As a document records it beside its engine: `OCR by tesseract (eng)`."""
        return f"OCR by {self.program} ({self.language})"

    def with_text(self, pdf: Path, digest: str, pages: Sequence[int]) -> Path:
        """A copy of the PDF whose pages of these numbers have text that can be read, made or kept from before.

        digest  sha256 of the PDF

        Raises DocumentError, with the reason as a clause, where the program fails.
        """
        wanted = hashlib.sha256(repr((digest, self.name, tuple(pages))).encode()).hexdigest()
        result = self.folder / f"{wanted}.pdf"
        if not result.is_file():
            self.folder.mkdir(parents=True, exist_ok=True)
            with atomic_file(result) as draft:
                (_by_ocrmypdf if self.program == "ocrmypdf" else _by_tesseract)(pdf, draft, pages, self.language)
        return result


def _by_ocrmypdf(pdf: Path, result: Path, pages: Sequence[int], language: str) -> None:
    # Forced, because a scanned page may have a stamp; no other page is touched
    numbers = ",".join(map(str, pages))
    command = ["ocrmypdf", "--force-ocr", "--pages", numbers, "--language", language, "--output-type", "pdf"]
    _run([*command, "--optimize", "0", "--quiet", str(pdf), str(result)], len(pages))


def _by_tesseract(pdf: Path, result: Path, pages: Sequence[int], language: str) -> None:
    pdfium = optional("pypdfium2", "OCR", "pipeline")
    document = pdfium.PdfDocument(pdf)
    with tempfile.TemporaryDirectory() as scratch:
        try:
            for number in pages:
                _replace_page(pdfium, document, number - 1, Path(scratch) / f"page{number}", language)
            document.save(result)
        finally:
            document.close()


def _replace_page(pdfium: Any, document: Any, index: int, base: Path, language: str) -> None:
    page = document[index]
    picture = base.with_suffix(".png")
    page.render(scale=RESOLUTION / 72).to_pil().save(picture, dpi=(RESOLUTION, RESOLUTION))
    page.close()
    _run(["tesseract", str(picture), str(base), "-l", language, "pdf"], 1)
    with pdfium.PdfDocument(base.with_suffix(".pdf")) as recognised:
        document.del_page(index)
        document.import_pages(recognised, index=index)


def _run(command: list[str], pages: int) -> None:
    try:
        subprocess.run(  # noqa: S603  # the program is one of PROGRAMS, and no shell reads the names of files
            command, check=True, capture_output=True, text=True, errors="replace", timeout=SECONDS_PER_PAGE * pages
        )
    except subprocess.TimeoutExpired as error:
        raise DocumentError(f"{command[0]} took more than {SECONDS_PER_PAGE * pages:,} seconds") from error
    except subprocess.CalledProcessError as error:
        last_line = next(iter(reversed(error.stderr.strip().splitlines())), "no message")
        raise DocumentError(f"{command[0]} failed ({last_line[:160]})") from error
