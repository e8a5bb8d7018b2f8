"""Which files of a folder are the release, what each is, and the digest that names it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from audit.atomic_io import sha256_of
from audit.errors import ReleaseError

FORMATS = (".json", ".jsonl", ".ndjson", ".csv", ".parquet")
PARTS: dict[str, tuple[str, ...]] = {
    "manifest": ("manifest", "run"),
    "handbook": ("handbooks", "sources"),
    "question": ("questions",),
    "answer": ("answers", "responses"),
    "pair": ("comparisons", "pairs", "judgements", "judgments"),
    "theme": ("themes",),
    "section": ("sections",),
    "trial": ("trials",),
}
"""Kind of record -> the names, without ending, that a file or a folder of such records may have."""
REQUIRED_PARTS = ("handbook", "question", "pair")


@dataclass(frozen=True)
class Layout:
    """The files of a release by kind of record, each list in the order of its names."""

    root: Path
    parts: dict[str, list[Path]]

    def name(self, path: Path) -> str:
        """`path` as the report shows it: below the release's folder, with forward slashes."""
        return path.relative_to(self.root).as_posix()

    def files(self) -> Iterator[Path]:
        """Every file that is read."""
        for paths in self.parts.values():
            yield from paths


def find_layout(root: Path, given: Path) -> Layout:
    """The release in `root`; unknown files are ignored. `given` is the path to name in errors, such as an archive.

    Raises ReleaseError when there are no handbooks, no questions or no pairs.
    """
    parts = {kind: _files_of_part(root, names) for kind, names in PARTS.items()}
    if missing := [PARTS[kind][0] for kind in REQUIRED_PARTS if not parts[kind]]:
        raise ReleaseError(
            f"{given}: this is not a release: it has no {' and no '.join(missing)}. Nothing was loaded. "
            f"Expected in one folder: {', '.join(PARTS[kind][0] for kind in REQUIRED_PARTS)}, "
            f"each a file ending in {', '.join(FORMATS)} or a folder of them."
        )
    return Layout(root, parts)


def _files_of_part(root: Path, names: tuple[str, ...]) -> list[Path]:
    return sorted({path for name in names for path in (*_files_named(root, name), *_files_inside(root / name))})


def _files_named(root: Path, name: str) -> list[Path]:
    return [path for path in root.glob(f"{name}.*") if stem(path) == name and is_data(path)]


def _files_inside(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if is_data(path)] if folder.is_dir() else []


def is_data(path: Path) -> bool:
    """Whether `path` is a file in one of the accepted formats."""
    return path.is_file() and not path.name.startswith(".") and format_suffix(path) in FORMATS


def format_suffix(path: Path) -> str:
    """The format's ending, without a `.gz` behind it."""
    return Path(path.name.removesuffix(".gz")).suffix.lower()


def stem(path: Path) -> str:
    """The file's name without its ending and without `.gz`."""
    return Path(path.name.removesuffix(".gz")).stem


def digest(layout: Layout, salt: str) -> str:
    """sha256 (hex) over the name and content of every file that is read; `salt` changes every digest."""
    files = list(layout.files())
    with ThreadPoolExecutor(2) as pool:  # hashing releases the GIL, so two cores help
        hashes = list(pool.map(sha256_of, files))
    total = hashlib.sha256(salt.encode())
    for path, value in zip(files, hashes, strict=True):
        total.update(f"\n{layout.name(path)} {value}".encode())
    return total.hexdigest()
