"""The files of a release: opening a folder or an archive, which file contains which part, and the digest that identifies it."""

from __future__ import annotations

import hashlib
import lzma
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from audit.atomic_io import sha256_of
from audit.closed_folder import is_inside, links_in
from audit.errors import ReleaseError
from audit.release.report import QUARANTINED, WHOLE_FILE, Finding
from audit.release.schema import MANIFEST, TABLES
from audit.vocabulary import composed

CHUNK = 2**20
FORMATS = (".json", ".jsonl", ".ndjson", ".csv", ".parquet")
PARTS: dict[str, tuple[str, ...]] = {kind.name: kind.files for kind in (MANIFEST, *TABLES)}
"""Kind of record -> the names, without ending, that a file or a folder of such records may have.

Files called `sources` contain handbooks in a release that has neither `handbooks` nor `systems`, and sources in any other.
"""
RATED, FURTHER = "human_rating", "further_verdict"
REQUIRED_PARTS = ("handbook", "question", "pair")
SYSTEM_PARTS, ROUTE_PARTS, STRESS_PARTS = (
    tuple(kind.name for kind in TABLES if kind.group == group) for group in ("systems", "routes", "stress")
)
"""The kinds of a release about answering systems; with `system` and `question` it needs no handbooks and no pairs."""


@dataclass(frozen=True)
class ArchiveMember:
    """One member of an archive: its name, declared size, and what opens it (None: not a plain file)."""

    name: str
    size: int
    open: object


@contextmanager
def open_release(path: Path, max_bytes: int) -> Iterator[tuple[Path, list[Finding]]]:
    """The folder of the release at `path`, with findings on members and links that were refused.

    An archive is unpacked into a temporary folder that goes away afterwards.
    Raises ReleaseError when there is nothing at `path`, when it is not an archive, or when it unpacks to more than `max_bytes` or
    half of the space that is free for temporary files.
    """
    if path.is_dir():
        yield path, [_refused_member(path, link.relative_to(path).as_posix(), "/") for link in links_in(path)]
        return
    if not path.is_file():
        raise ReleaseError(
            f"{path}: there is no such file or folder. Nothing was loaded. Give the path of a release folder, .zip or .tar.gz."
        )
    with tempfile.TemporaryDirectory(prefix="audit-release-") as scratch:
        findings = _unpack(path, Path(scratch), max_bytes)
        yield _content_root(Path(scratch)), findings


def _unpack(path: Path, target: Path, max_bytes: int) -> list[Finding]:
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                return _extract(path, _zip_entries(archive), target, max_bytes)
        if tarfile.is_tarfile(path):
            with tarfile.open(path) as archive:
                return _extract(path, _tar_entries(archive), target, max_bytes)
    except RuntimeError as error:  # a password, or a compression method that Python does not support
        raise ReleaseError(
            f"{path}: the archive cannot be unpacked ({error}). Nothing was loaded. Pack it without a password."
        ) from error
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError) as error:
        raise ReleaseError(f"{path}: the archive is damaged ({error}). Nothing was loaded. Download or pack it again.") from error
    raise ReleaseError(
        f"{path}: neither a folder nor an archive. Nothing was loaded. Allowed: a release folder, .zip, .tar, .tar.gz."
    )


def _zip_entries(archive: zipfile.ZipFile) -> Iterator[ArchiveMember]:
    for info in archive.infolist():
        if not info.is_dir():
            # Archives made on Unix keep the file type in the upper half of external_attr.
            symlink = (info.external_attr >> 16) & 0o170000 == 0o120000
            yield ArchiveMember(info.filename, info.file_size, None if symlink else lambda info=info: archive.open(info))


def _tar_entries(archive: tarfile.TarFile) -> Iterator[ArchiveMember]:
    for info in archive:
        if not info.isdir():
            yield ArchiveMember(info.name, info.size, (lambda info=info: archive.extractfile(info)) if info.isfile() else None)


def _extract(path: Path, entries: Iterator[ArchiveMember], target: Path, max_bytes: int) -> list[Finding]:
    allowed = min(max_bytes, shutil.disk_usage(target).free // 2)
    findings, left = [], allowed
    for entry in entries:
        name = PurePosixPath(entry.name.replace("\\", "/"))
        # On Windows a backslash separates folders and a colon names a drive; both would lead out of `target`.
        if entry.open is None or not name.parts or name.is_absolute() or ".." in name.parts or ":" in name.parts[0]:
            findings.append(_refused_member(path, entry.name, "!"))
            continue
        left -= _copy(entry, target.joinpath(*name.parts), left, path, allowed)
    return findings


def _copy(entry: ArchiveMember, target: Path, left: int, path: Path, allowed: int) -> int:
    """Write one member and return its real size: the size declared in an archive may be false."""
    target.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    source: IO[bytes]
    with entry.open() as source, target.open("wb") as file:  # type: ignore[operator]
        while chunk := source.read(CHUNK):
            written += len(chunk)
            if written > left:
                raise ReleaseError(
                    f"{path}: the archive unpacks to more than {allowed / 2**20:,.0f} MB (at {entry.name!r}): a zip bomb? "
                    "Nothing was loaded. If the release is that large, unpack it yourself or raise AUDIT_MAX_ARCHIVE_MB; at most "
                    f"half of what is free in {tempfile.gettempdir()} is used."
                )
            file.write(chunk)
    return written


def _refused_member(path: Path, name: str, mark: str) -> Finding:
    return Finding(
        readable_name(f"{path.name}{mark}{name}"),
        WHOLE_FILE,
        QUARANTINED,
        "unsafe_path",
        "this member is a link or leads out of the release's folder; it was not read, the others were.",
    )


def _content_root(folder: Path) -> Path:
    """The folder itself, or the single folder in it: many archives wrap their content."""
    # macOS adds this folder of resource forks, which would hide the single folder of the content.
    shutil.rmtree(folder / "__MACOSX", ignore_errors=True)
    # A release may consist of its comparisons alone; their folder is not a wrapper.
    inside = list(folder.iterdir())
    return inside[0] if len(inside) == 1 and inside[0].is_dir() and inside[0].name != "comparisons" else folder


# -- parts -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Layout:
    """The files of a release by kind of record, each list in the order of its names."""

    root: Path
    parts: dict[str, list[Path]]

    def name(self, path: Path) -> str:
        """`path` as the report shows it: below the release's folder, with forward slashes."""
        return readable_name(path.relative_to(self.root).as_posix())

    def files(self) -> Iterator[Path]:
        """Every file that is read, except ratings and further verdicts of its pairs, which may be added at any time."""
        for kind, paths in self.parts.items():
            if kind not in (RATED, FURTHER):
                yield from paths


def find_layout(root: Path, source: Path) -> Layout:
    """The release in `root`; unknown files are ignored. `given` is the path shown in errors, such as an archive.

    Raises ReleaseError when there are no handbooks, no questions, or neither pairs nor answers; a release of answering systems
    needs only systems and questions, one of stress instances alone only questions.
    """
    parts = _parts(root)
    required = _required_parts(parts)
    if missing := [PARTS[kind][0] for kind in required if not parts[kind]]:
        raise ReleaseError(
            f"{source}: this is not a release: it has no {' and no '.join(missing)}. Nothing was loaded. "
            f"Expected in one folder: {', '.join(PARTS[kind][0] for kind in required)}, "
            f"each a file ending in {', '.join(FORMATS)} or a folder of them."
        )
    return Layout(root, parts)


def _parts(root: Path) -> dict[str, list[Path]]:
    parts = {kind: _files_of_part(root, names) for kind, names in PARTS.items()}
    handbooks = _files_of_part(root, PARTS["handbook"][:1])
    # "Sources" was another name of the handbooks before it was the name of groups of them
    if handbooks or parts["system"]:
        parts["handbook"] = handbooks
    else:
        parts["source"] = []
    return parts


def _required_parts(parts: dict[str, list[Path]]) -> tuple[str, ...]:
    if parts["pair"] or not any(parts[kind] for kind in (*SYSTEM_PARTS, "route", *STRESS_PARTS)):
        # Answers that nothing has compared yet are a release as well
        return tuple(kind for kind in REQUIRED_PARTS if kind != "pair" or not parts["answer"])
    # Stress instances alone, before any system has replied, are a valid release
    return ("system", "question") if any(parts[kind] for kind in (*SYSTEM_PARTS, "route", "stress_reply")) else ("question",)


def _files_of_part(root: Path, names: tuple[str, ...]) -> list[Path]:
    named = (path for name in names for path in root.glob(f"{name}.*") if stem(path) == PurePosixPath(name).name)
    inside = (path for name in names if (root / name).is_dir() for path in (root / name).rglob("*"))
    return sorted({path for path in (*named, *inside) if is_data(path) and is_inside(path, root)})


def is_data(path: Path) -> bool:
    """Whether `path` is a file in one of the accepted formats."""
    return path.is_file() and not path.name.startswith(".") and format_suffix(path) in FORMATS


def format_suffix(path: Path) -> str:
    """The format's ending, without a `.gz` behind it."""
    return Path(path.name.removesuffix(".gz")).suffix.lower()


def stem(path: Path) -> str:
    """The file's name without its ending and without `.gz`."""
    return composed(Path(readable_name(path.name).removesuffix(".gz")).stem)


def readable_name(name: str) -> str:
    r"""A file's name with `\udcff` for a byte FF that is no UTF-8: the name itself can be neither printed, stored nor hashed."""
    return name.encode(errors="backslashreplace").decode()


def digest(layout: Layout, salt: str) -> str:
    """sha256 (hex) over the name and content of every file of the run; `salt` changes every digest."""
    return _digest_of(layout, list(layout.files()), salt)


def later_digests(layout: Layout, salt: str) -> dict[str, str]:
    """ratings_digest and further_digest: those of the ratings and of the further verdicts in the release; "" if it has none."""
    # Separate from the digest of the run, by which studies refer to it: what is added later must not orphan them
    later = {"ratings_digest": layout.parts[RATED], "further_digest": layout.parts[FURTHER]}
    return {name: _digest_of(layout, files, salt) if files else "" for name, files in later.items()}


def _digest_of(layout: Layout, files: list[Path], salt: str) -> str:
    with ThreadPoolExecutor(2) as pool:  # hashing releases the GIL, so two cores help
        hashes = list(pool.map(sha256_of, files))
    total = hashlib.sha256(salt.encode())
    for path, value in zip(files, hashes, strict=True):
        total.update(f"\n{layout.name(path)} {value}".encode())
    return total.hexdigest()
