"""Whose handbook a PDF is: by its name, by options, or by a catalog."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from audit.corpus.documents.files import COMBINED, GENERAL
from audit.errors import DocumentError
from audit.release.records import delimiter_of
from audit.vocabulary import PHASES

COLUMNS = ("file", "handbook_id", "organ", "center", "phase", "title", "url")
NEEDED = ("file", "center")
SAFE = re.compile(r"[\w][\w.-]*")


@dataclass(frozen=True)
class Identity:
    """What a document says of its handbook."""

    handbook_id: str
    organ: str
    center: str
    phase: str
    title: str | None = None
    url: str | None = None


@dataclass(frozen=True)
class Said:
    """What options say of every PDF; None: they say nothing."""

    organ: str | None = None
    center: str | None = None
    phase: str | None = None


def identity(pdf: Path, said: Said, catalog: Mapping[str, Mapping[str, str]] | None = None) -> Identity:
    """Whose handbook it is: the catalog's word where there is one, else that of the options, else that of the file's name.

    Raises DocumentError, with the reason as a clause, where it cannot be known.
    """
    if catalog is not None:
        return _of_record(pdf, catalog, said)
    named = _of_name(pdf)
    center = said.center or named.get("center")
    if not center:
        raise DocumentError(
            "its name does not say whose it is: call it organ_center_phase.pdf, such as heart_alder_combined.pdf, "
            "or say it with --center, or with a row in --catalog"
        )
    fields = {"organ": said.organ or named.get("organ"), "center": center, "phase": said.phase or named.get("phase")}
    return _identity(fields, {})


def _of_name(pdf: Path) -> dict[str, str]:
    """Organ, center and phase, where the name has this form; the center may have underscores."""
    organ, _, rest = pdf.stem.partition("_")
    center, _, phase = rest.rpartition("_")
    if phase.casefold() in PHASES and organ and center:
        return {"organ": organ, "center": center, "phase": phase.casefold()}
    return {}


def _of_record(pdf: Path, catalog: Mapping[str, Mapping[str, str]], said: Said) -> Identity:
    record = catalog.get(pdf.name)
    if record is None:
        raise DocumentError("the catalog has no row for it")
    options = {"organ": said.organ, "center": said.center, "phase": said.phase}
    return _identity({name: record.get(name) or told for name, told in options.items()}, record)


def _identity(fields: Mapping[str, str | None], more: Mapping[str, str]) -> Identity:
    organ, center, phase = fields["organ"] or GENERAL, fields["center"] or "", (fields["phase"] or COMBINED).casefold()
    if not center:
        raise DocumentError("its row in the catalog names no center")
    if phase not in PHASES:
        raise DocumentError(f"phase '{phase}' is not one of {', '.join(PHASES)}")
    handbook_id = more.get("handbook_id") or "_".join(re.sub(r"[^\w.-]+", "-", part) for part in (organ, center, phase))
    if not SAFE.fullmatch(handbook_id):
        raise DocumentError(f"handbook id '{handbook_id}' cannot name a file: letters, digits, '_', '-' and '.' are allowed")
    return Identity(handbook_id, organ, center, phase, more.get("title") or None, more.get("url") or None)


def read_catalog(path: Path) -> dict[str, dict[str, str]]:
    """File name -> its row. Raises DocumentError where the catalog cannot be used as a whole."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            text = file.read()
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter_of(text))
        rows = [{name: (value or "").strip() for name, value in row.items() if isinstance(name, str)} for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DocumentError(f"{path}: the catalog cannot be read ({error}). Nothing was extracted.") from error
    columns = tuple(reader.fieldnames or ())
    wrong = [name for name in columns if name not in COLUMNS] or [name for name in NEEDED if name not in columns]
    if wrong:
        fault = f"column '{wrong[0]}' is {'not known' if wrong[0] in columns else 'missing'}"
        raise DocumentError(
            f"{path}: {fault}. Allowed: {', '.join(COLUMNS)} (needed: {', '.join(NEEDED)}). Nothing was extracted."
        )
    return _by_file(path, rows)


def _by_file(path: Path, rows: list[dict[str, str]]) -> dict[str, dict[str, str]]:
    known: dict[str, dict[str, str]] = {}
    for line, row in enumerate(rows, start=2):
        if row["file"] in known:
            raise DocumentError(
                f"{path}, line {line}: file '{row['file']}' stands there twice. Nothing was extracted. Remove one."
            )
        known[row["file"]] = row
    return known
