"""Documents on disk: one JSON file each, plain or gzipped."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path, PureWindowsPath
from typing import Any

from audit.atomic_io import write_atomic
from audit.corpus.documents.model import Document, Section
from audit.errors import DocumentError
from audit.vocabulary import PHASES

FIELDS = ("handbook_id", "organ", "center", "phase", "title", "source", "digest", "pages", "url", "engine")
ENDINGS = (".json", ".json.gz")
GENERAL, COMBINED = "general", "combined"


def write_document(document: Document, path: Path) -> Path:
    """Write `document` as JSON (gzipped where the name ends in .gz), whole or not at all, and return `path`.

    Its full text stands beside the sections, for readers that want only that; `read_document` makes it anew.
    """
    text = json.dumps(_record(document), ensure_ascii=False, indent=1) + "\n"
    write_atomic(path, gzip.compress(text.encode(), mtime=0) if path.suffix == ".gz" else text)
    return path


def _record(document: Document) -> dict[str, Any]:
    sections = [
        {
            "section_id": section.section_id,
            "heading": section.heading,
            "above": list(section.above),
            "text": section.text,
            "pages": list(section.pages),
            "url": section.url,
        }
        for section in document.sections
    ]
    return {**{name: getattr(document, name) for name in FIELDS}, "sections": sections, "full_text": document.full_text}


def read_document(path: Path) -> Document:
    """The document in `path`. `institution` is taken for `center`; organ and phase may be missing (general, combined).

    Raises DocumentError with one sentence where the file cannot be read or is not a document.
    """
    try:
        blob = path.read_bytes()
        return _document(json.loads(gzip.decompress(blob) if path.suffix == ".gz" else blob))
    except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError) as error:
        told = f"field {error} is missing" if isinstance(error, KeyError) else str(error)
        raise DocumentError(f"{path}: not a document that can be read ({told}). See data/README.md for its fields.") from error


def _document(raw: Mapping[str, Any]) -> Document:
    phase = raw.get("phase") or COMBINED
    if phase not in PHASES:
        raise ValueError(f"phase {phase!r} is not one of {', '.join(PHASES)}")
    sections = tuple(_section(each, place) for place, each in enumerate(raw["sections"], start=1))
    known = {name: raw.get(name) for name in ("title", "source", "digest", "pages", "url", "engine")}
    center = raw["center"] if "center" in raw else raw["institution"]
    return Document(_as_file_name(raw["handbook_id"]), raw.get("organ") or GENERAL, center, phase, sections, **known)


def _as_file_name(handbook_id: str) -> str:
    """The id, after which files of later stages are called: a document may come from anybody, and leads into no other folder."""
    if handbook_id.startswith(".") or not handbook_id or PureWindowsPath(handbook_id).name != handbook_id:
        raise ValueError(f"handbook id '{handbook_id}' cannot name a file")
    return handbook_id


def _section(raw: Mapping[str, Any], place: int) -> Section:
    pages = raw.get("pages") or ([raw["page"]] if raw.get("page") else [])
    return Section(
        section_id=raw.get("section_id") or f"s{place:05}",
        heading=raw.get("heading") or "",
        text=raw["text"],
        above=tuple(raw.get("above") or ()),
        pages=tuple(pages),
        url=raw.get("url"),
    )


def read_documents(folder: Path) -> list[Document]:
    """Every document of `folder`, by handbook id; or the one of a file.

    Raises DocumentError where there is none, or two go by one id.
    """
    return [document for document, _ in documents_and_files(folder)]


def documents_and_files(folder: Path) -> list[tuple[Document, Path]]:
    """The same, each with the file that it is in."""
    paths = [folder] if folder.is_file() else sorted(path for path in folder.glob("*") if path.name.endswith(ENDINGS))
    found = {document.handbook_id: (document, path) for document, path in zip(map(read_document, paths), paths, strict=True)}
    if not paths:
        raise DocumentError(f"{folder}: no documents (*.json, *.json.gz) there. `audit extract` makes them from PDF files.")
    if len(found) < len(paths):
        raise DocumentError(f"{folder}: {len(paths)} files hold only {len(found)} different handbook ids; nothing was read.")
    return [found[handbook_id] for handbook_id in sorted(found)]
