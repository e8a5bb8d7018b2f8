"""Local copies of handbooks: the PDF in a folder whose sha256 is the one in the release."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from audit.errors import AuditError

# Nobody's collection has more; a folder that was named by mistake may
MAX_FILES = 10_000


PDF = (".pdf",)
TEXTS = (".html", ".htm", ".xhtml", ".docx", ".md", ".markdown", ".txt")


def find_source(digest: str | None, folder: Path, suffixes: tuple[str, ...] = PDF) -> Path | None:
    """The file in `folder` (subfolders included) with this sha256; None where the folder does not have it.

    A release names no path that is opened: only files of the folder are looked at, and only their content decides.
    """
    if not digest or not folder.is_dir():
        return None
    return next((path for path in _files(folder, suffixes) if _digest_of(path) == digest), None)


def read_source(path: Path, digest: str) -> bytes:
    """The file's content. Raises AuditError where it no longer has this sha256."""
    content = path.read_bytes() if path.is_file() else b""
    if hashlib.sha256(content).hexdigest() != digest:
        raise AuditError("The file of this handbook has changed or is gone. Nothing was downloaded. Reload the page.")
    return content


def _files(folder: Path, suffixes: tuple[str, ...]) -> Iterator[Path]:
    for number, path in enumerate(sorted(folder.rglob("*"))):
        if number == MAX_FILES:
            return
        if path.suffix.casefold() in suffixes and path.is_file():
            yield path


def _digest_of(path: Path) -> str | None:
    try:
        facts = path.stat()
        return _digest(path, facts.st_size, facts.st_mtime_ns)
    except OSError:  # removed meanwhile, or not readable: as if it were not there
        return None


# A collection of gigabytes is read once, not for every page that is shown
@lru_cache(MAX_FILES)
def _digest(path: Path, size: int, changed_ns: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
