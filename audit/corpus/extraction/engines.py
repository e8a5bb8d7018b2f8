"""The engines: each turns a PDF into the blocks of a document. They differ in who reads the pages."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from audit.corpus.extraction import llamaparse, pdfium, plumber
from audit.corpus.extraction.layout import Blocks, Opened, Progress
from audit.corpus.extraction.structure import structured
from audit.errors import DocumentError
from audit.vocabulary import nearest

STRUCTURE = 1
"""Counts up when the same pages would give another document, so that documents are made anew."""
Open = Callable[[Path], AbstractContextManager[Opened]]


@dataclass(frozen=True)
class Engine:
    """One way to read a PDF.

    name     as `--engine` takes it
    package  the distribution whose version decides with the name whether a document is made anew
    blocks   the PDF -> its blocks; raises DocumentError with the reason as a clause: "it is encrypted and ..."
    """

    name: str
    package: str
    blocks: Callable[[Path, Progress], Blocks]

    @property
    def version(self) -> str:
        """Name, package and version: what a document says it was read with."""
        try:
            found = version(self.package)
        except PackageNotFoundError:
            found = "not installed"
        return f"{self.name} ({self.package} {found}, structure {STRUCTURE})"


def _read_with(opened: Open) -> Callable[[Path, Progress], Blocks]:
    def blocks(pdf: Path, progress: Progress) -> Blocks:
        with opened(pdf) as document:
            return structured(document, progress)

    return blocks


DEFAULT = "pdfium"
ENGINES: dict[str, Engine] = {
    engine.name: engine
    for engine in (
        Engine("pdfium", "pypdfium2", _read_with(pdfium.opened)),
        Engine("pdfplumber", "pdfplumber", _read_with(plumber.opened)),
        Engine("llamaparse", "llama-cloud", llamaparse.blocks),
    )
}


def engine_named(name: str | None) -> Engine:
    """The engine of this name; the default one for None or ''. Raises DocumentError for an unknown name."""
    if (name or DEFAULT) not in ENGINES:
        raise DocumentError(
            f"There is no engine '{name}'.{nearest(str(name), tuple(ENGINES))} Nothing was extracted. "
            f"Allowed: {', '.join(ENGINES)}."
        )
    return ENGINES[name or DEFAULT]
