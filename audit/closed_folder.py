"""Files that others wrote: plain files below a folder, of a bounded size, and never by way of a symbolic link."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

ON_WINDOWS_ONLY = getattr(os, "O_BINARY", 0)
PLAINLY = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | ON_WINDOWS_ONLY
"""How a file is opened: a link is refused, and a pipe that nobody writes to makes nobody wait."""


def is_inside(path: Path, root: Path) -> bool:
    """Whether `path` is a plain file below `root`, with no symbolic link on the way from the root to it."""
    try:
        return path.resolve() == root.resolve() / path.relative_to(root) and stat.S_ISREG(path.lstat().st_mode)
    except (OSError, ValueError):
        return False


def links_in(root: Path) -> Iterator[Path]:
    """The symbolic links below a folder; what they lead to is not entered."""
    for folder, folders, files in os.walk(root):
        yield from (path for name in sorted([*folders, *files]) if (path := Path(folder, name)).is_symlink())


def open_plain(path: Path, max_bytes: int | None = None) -> IO[bytes]:
    """A file for reading. Raises OSError for a link, for anything but a plain file, and for more than `max_bytes`."""
    file = os.fdopen(os.open(path, PLAINLY), "rb")
    facts = os.fstat(file.fileno())
    if not stat.S_ISREG(facts.st_mode):
        file.close()
        raise OSError(errno.EINVAL, "it is not a plain file", str(path))
    if max_bytes is not None and facts.st_size > max_bytes:
        file.close()
        raise OSError(errno.EFBIG, f"it has more than {max_bytes / 2**20:,.0f} MB", str(path))
    return file


def read_plain(path: Path, max_bytes: int | None = None) -> bytes:
    """The content of a file. Raises OSError as `open_plain` does."""
    with open_plain(path, max_bytes) as file:
        return file.read()


def refuse_links(paths: Iterable[Path], root: Path) -> list[Path]:
    """The files below `root` that may be read. Raises OSError, which names the first that leads elsewhere."""
    inside = list(paths)
    for path in inside:
        if not is_inside(path, root):
            raise OSError(
                errno.ELOOP, "it is a link, or is reached by one, and files are read from their own folder only", str(path)
            )
    return inside
