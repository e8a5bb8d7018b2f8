"""The identity of a handbook (organ, center, phase) from its file's name, from options, or from a catalog."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from audit.errors import DocumentError
from audit.people_tables import PeopleTable, Source, read_csv, trimmed
from audit.release.values import Reject, boolean, texts
from audit.text.documents import DEFAULT_PHASE
from audit.vocabulary import GENERAL, PHASES, composed

CATALOG_COLUMNS = (
    "file", "handbook_id", "organ", "center", "phase", "title", "url", "aliases", "licence", "may_be_downloaded", "language",
)  # fmt: skip
REQUIRED_COLUMNS = ("file", "center")
# It becomes the name of a file, so it has no slash and no dot at its beginning
HANDBOOK_ID = re.compile(r"[\w][\w.-]*")
LANGUAGE = re.compile(r"[a-z]{2,3}")
NO_CENTER = (
    "its name does not tell its center: rename it to organ_center_phase.pdf, such as heart_alder_combined.pdf, "
    "or name the center with --center or with a row in --catalog"
)


@dataclass(frozen=True)
class Identity:
    """The fields of a document that its file does not tell: which handbook it is, and what its licence allows.

    language  ISO 639 code; None: found from the text
    """

    handbook_id: str
    organ: str
    center: str
    phase: str
    title: str | None = None
    url: str | None = None
    aliases: tuple[str, ...] = ()
    licence: str | None = None
    may_be_downloaded: bool = False
    language: str | None = None


@dataclass(frozen=True)
class IdentityOptions:
    """Options that apply to every PDF; None: not given."""

    organ: str | None = None
    center: str | None = None
    phase: str | None = None


def identity_of(pdf: Path, options: IdentityOptions, catalog: Mapping[str, Mapping[str, str]] | None) -> Identity:
    """The identity of the handbook in a PDF.

    catalog  file name -> row, from `read_catalog`. A field comes from the row, else from the options; without a catalog
             from the options, else from the file's name

    Raises DocumentError, with the file and the reason, where the identity is unknown or invalid.
    """
    try:
        return _from_catalog(pdf, options, catalog) if catalog is not None else _from_file_name(pdf, options)
    except DocumentError as error:
        raise DocumentError(f"{pdf}: {error}. No document was made of it.") from error


def _from_file_name(pdf: Path, options: IdentityOptions) -> Identity:
    name = fields_of_file_name(pdf)
    center = options.center or name.get("center")
    if not center:
        raise DocumentError(NO_CENTER)
    return _checked_identity(options.organ or name.get("organ"), center, options.phase or name.get("phase"), {})


def fields_of_file_name(pdf: Path) -> dict[str, str]:
    """Organ, center and phase of a name in that form; the center may contain underscores."""
    organ, _, rest = pdf.stem.partition("_")
    center, _, phase = rest.rpartition("_")
    if phase.casefold() in PHASES and organ and center:
        return {"organ": organ, "center": center, "phase": phase.casefold()}
    return {}


def file_name_part(words: str) -> str:
    """Words in the form in which a handbook id has them: `Alder-Clinic`."""
    return re.sub(r"[^\w.-]+", "-", words)


def _from_catalog(pdf: Path, options: IdentityOptions, catalog: Mapping[str, Mapping[str, str]]) -> Identity:
    row = catalog.get(catalog_key(pdf.name))
    if row is None:
        raise DocumentError("the catalog has no row for it")
    center = row.get("center") or options.center
    if not center:
        raise DocumentError("its row in the catalog has no center")
    return _checked_identity(row.get("organ") or options.organ, center, row.get("phase") or options.phase, row)


def _checked_identity(organ: str | None, center: str, phase: str | None, row: Mapping[str, str]) -> Identity:
    organ, center, phase = composed(organ or GENERAL), composed(center), (phase or DEFAULT_PHASE).casefold()
    if phase not in PHASES:
        raise DocumentError(f"phase '{phase}' is not one of {', '.join(PHASES)}")
    handbook_id = composed(row.get("handbook_id") or "") or "_".join(map(file_name_part, (organ, center, phase)))
    if not HANDBOOK_ID.fullmatch(handbook_id):
        raise DocumentError(
            f"handbook id '{handbook_id}' cannot be used as a file name: letters, digits, '_', '-' and '.' are allowed"
        )
    aliases = tuple(texts(row.get("aliases"), "aliases"))
    return Identity(
        handbook_id, organ, center, phase, row.get("title") or None, row.get("url") or None, aliases,
        row.get("licence") or None, _may_be_downloaded(row.get("may_be_downloaded")),
        _language(row.get("language")),
    )  # fmt: skip


def _may_be_downloaded(cell: str | None) -> bool:
    try:
        return boolean(cell or None, "may_be_downloaded") or False
    except Reject:
        raise DocumentError(f"may_be_downloaded is '{cell}'. Allowed: yes, no, or empty for no") from None


def _language(cell: str | None) -> str | None:
    if cell and not LANGUAGE.fullmatch(cell.casefold()):
        raise DocumentError(f"language is '{cell}'. Allowed: an ISO 639 code such as en or es, or empty to find it in the text")
    return cell.casefold() if cell else None


def read_catalog(path: Path) -> dict[str, dict[str, str]]:
    """File name as `catalog_key` has it -> its row. Raises DocumentError where the catalog cannot be used as a whole."""
    table = read_csv(path, Source(str(path), "Nothing was extracted.", DocumentError), CATALOG_COLUMNS.__contains__)
    _check_columns(path, tuple(table.columns))
    return _rows_by_file(path, table)


def catalog_key(name: str) -> str:
    """The name by which a file is found in a catalog: without folders, which Windows writes with backslashes, and composed."""
    return composed(name.replace("\\", "/").rpartition("/")[2])


def _check_columns(path: Path, columns: tuple[str, ...]) -> None:
    unknown = [name for name in columns if name not in CATALOG_COLUMNS]
    missing = [name for name in REQUIRED_COLUMNS if name not in columns]
    if unknown or missing:
        problem = f"column '{unknown[0]}' is unknown" if unknown else f"column '{missing[0]}' is missing"
        allowed = f"Allowed: {', '.join(CATALOG_COLUMNS)} (required: {', '.join(REQUIRED_COLUMNS)})."
        raise DocumentError(f"{path}: {problem}. {allowed} Nothing was extracted.")


def _rows_by_file(path: Path, table: PeopleTable) -> dict[str, dict[str, str]]:
    by_file: dict[str, dict[str, str]] = {}
    for row in table.rows:
        cells = {name: trimmed(cell) for name, cell in row.cells.items()}
        name = catalog_key(cells["file"])
        if not name or name in by_file:
            fault = f"file '{cells['file']}' is listed twice" if name else "it names no file"
            raise DocumentError(f"{path}, {row.place}: {fault}. Nothing was extracted. Remove or correct this row.")
        by_file[name] = cells
    return by_file
