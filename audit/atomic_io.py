"""Files and folders that appear complete or not at all, so no reader sees a partly written file; and digests of files."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Characters of a name that its draft repeats: file systems allow 255 bytes, and a character may take several.
MAX_NAME_CHARS = 100


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Yields a draft next to `path` that replaces it when the block succeeds and is deleted otherwise.

    Each draft has its own name, so when two processes write at once the later file stays.
    """
    # In the same folder, because a rename is atomic only within one file system.
    draft = path.with_name(_draft_name(path))
    try:
        yield draft
        draft.replace(path)
    finally:
        # After a success the draft has been renamed away.
        draft.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Like `atomic_file`, for a folder that does not exist yet or is empty.

    An existing folder may be a mounted volume or a working directory, which cannot be replaced: then the draft is inside it,
    and its content is moved up. Raises OSError where `path` cannot be written, or was filled in the meantime.
    """
    inside = path.is_dir()
    draft = (path if inside else path.parent) / _draft_name(path)
    try:
        draft.mkdir(parents=True)
        yield draft
        if inside:
            _move_up(draft, path)
        else:
            draft.rename(path)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _move_up(draft: Path, path: Path) -> None:
    # Another process may have written here in the meantime; files of two writers must not mix.
    if any(entry != draft for entry in path.iterdir()):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    for entry in list(draft.iterdir()):
        entry.rename(path / entry.name)


def _draft_name(path: Path) -> str:
    # The random part keeps two writers of one path apart.
    return f".{path.name[-MAX_NAME_CHARS:]}.{secrets.token_hex(4)}.part"


def write_atomic(path: Path, content: bytes | str) -> None:
    """Write `content`, a text as UTF-8 with its line ends unchanged. Raises OSError; `path` is then unchanged."""
    with atomic_file(path) as draft:
        draft.write_bytes(content.encode() if isinstance(content, str) else content)


def sha256_of(path: Path) -> str:
    """SHA-256 (hex) of a file, which may be larger than memory. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
