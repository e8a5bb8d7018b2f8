"""The work folder belongs to one config, and one process at a time works in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from audit.errors import ConfigError
from audit.pipeline.context import Workspace

OWNER, LOCK = "whose.txt", "whose.lock"
OURS = (OWNER, LOCK, "state")


@contextmanager
def taken(work: Workspace, config: Path) -> Iterator[None]:
    """Work in the folder for `config`, whose path is recorded in it. The lock ends with the process, however that ends.

    Raises ConfigError where another process works in the folder, or where it belongs to another config that still exists: the
    two would overwrite each other's files. A config that was moved finds its folder again. A folder with unrelated files, which
    would be overwritten, is refused too.
    """
    check_room(work.root)
    # the owner has a file of its own, because filelock empties the file that it locks
    lock, owner_file = FileLock(work.root / LOCK, timeout=0), work.root / OWNER
    try:
        work.root.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        raise ConfigError(f"Another `audit run` is working in {work.root}. Nothing was done. Wait for it to finish.") from None
    except OSError as error:
        raise ConfigError(f"{work.root} cannot be written ({error.strerror}). Nothing was done.") from None
    try:
        owner = owner_file.read_text(encoding="utf-8").strip() if owner_file.is_file() else ""
        if owner and Path(owner) != config and Path(owner).is_file():
            raise ConfigError(
                f"{work.root} belongs to {owner}. Nothing was done. "
                "Give this config a run_id, or a work folder, of its own in [release]."
            )
        owner_file.write_text(f"{config}\n", encoding="utf-8")
        yield
    finally:
        lock.release()


def check_room(root: Path) -> None:
    """Raise ConfigError unless the folder is ours: missing, empty, or with a build cache or an owner in it."""
    is_ours = root.is_dir() and (not any(root.iterdir()) or any((root / name).exists() for name in OURS))
    if root.exists() and not is_ours:
        raise ConfigError(
            f"{root} already exists and contains other files. Nothing was done. Name another folder as work in [release]."
        )
