"""Files that appear whole or not at all, so that whoever reads one meanwhile never has a half; and their digest."""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LONGEST = 100
"""Characters of a name that its draft repeats: a file system allows 255, and some are more than a byte."""


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A draft beside `path` that takes its place when the block ends well, and goes away otherwise.

    Drafts have names of their own, so of two who write at once the later one's file stays.
    """
    draft = path.with_name(_draft_name(path))
    try:
        yield draft
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """The same for a folder that is not there yet, or is there and empty.

    One that is there may be a volume or where somebody stands, which no other can take the place of: then the draft is
    inside, and what it holds is moved up. Raises OSError where `path` cannot be written, or was filled meanwhile.
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
    if any(each != draft for each in path.iterdir()):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    for each in list(draft.iterdir()):
        each.rename(path / each.name)


def _draft_name(path: Path) -> str:
    return f".{path.name[-LONGEST:]}.{secrets.token_hex(4)}.part"


def write_whole(path: Path, content: bytes | str) -> None:
    """Write `content`, a text as UTF-8 with its line ends as they are. Raises OSError; `path` is then as it was."""
    with whole(path) as draft:
        draft.write_bytes(content.encode() if isinstance(content, str) else content)


def sha256_of(path: Path) -> str:
    """SHA-256 (hex) of a file, which may be larger than memory. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
