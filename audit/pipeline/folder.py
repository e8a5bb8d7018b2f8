"""The work folder belongs to one config, and one process at a time works in it."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from audit.errors import ConfigError
from audit.pipeline.context import Workspace

LOCK = "whose.txt"
OURS = (LOCK, "state")


@contextmanager
def taken(work: Workspace, config: Path) -> Iterator[None]:
    """Workspace in the folder for `config`, whose path stands in it. The lock ends with the process, however that ends.

    Raises ConfigError where another process is at work in it, or where it is another config's that is still there: the two
    would write over each other. A config that was moved finds its folder again. A folder that holds something else, which
    this would write over, is refused too.
    """
    check_room(work.root)
    try:
        work.root.mkdir(parents=True, exist_ok=True)
        file = (work.root / LOCK).open("a+", encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{work.root} cannot be written ({error.strerror}). Nothing was done.") from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError(f"Another `audit run` is at work in {work.root}. Nothing was done. Wait for it.") from None
        file.seek(0)
        owner = file.read().strip()
        if owner and Path(owner) != config and Path(owner).is_file():
            raise ConfigError(
                f"{work.root} holds the work of {owner}. Nothing was done. "
                "Give this config a run_id, or a work folder, of its own in [release]."
            )
        file.truncate(0)
        file.write(f"{config}\n")
        file.flush()
        yield


def check_room(root: Path) -> None:
    """Raise ConfigError where it is no folder of ours: one that is empty, or has a cache or a lock in it."""
    theirs = root.exists() and (not root.is_dir() or (any(root.iterdir()) and not any((root / name).exists() for name in OURS)))
    if theirs:
        raise ConfigError(
            f"{root} is there and holds something else. Nothing was done. Name another folder as work in [release]."
        )
