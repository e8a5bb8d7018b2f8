"""Files that appear whole or not at all: whoever reads one meanwhile has what was there before, never a half."""

from __future__ import annotations

import secrets
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
    draft = path.with_name(f".{path.name[-LONGEST:]}.{secrets.token_hex(4)}.part")
    try:
        yield draft
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes | str) -> None:
    """Write `content`, a text as UTF-8 with its line ends as they are. Raises OSError; `path` is then as it was."""
    with whole(path) as draft:
        draft.write_bytes(content.encode() if isinstance(content, str) else content)
