"""The build cache: a task is identified by the digests of its inputs, its results by theirs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import audit
from audit.atomic_io import sha256_of, write_atomic


@dataclass(frozen=True)
class Task:
    """The smallest unit of work, nearly always one file.

    inputs    what it is made from, by name: digests, settings, versions; None for what does not exist yet
    outputs   the files it leaves
    handbook  the handbook it is about; "" where it concerns all of them
    """

    stage: str
    name: str
    inputs: Mapping[str, Any]
    outputs: tuple[Path, ...] = ()
    handbook: str = ""

    @property
    def fingerprint(self) -> str | None:
        """The digest of everything that goes into the task; None while an input is missing."""
        return None if None in self.inputs.values() else digest_of({"stage": self.stage, **self.inputs})


@dataclass(frozen=True)
class BuildCache:
    """One small JSON file per task below `folder`, each replaced atomically."""

    folder: Path
    _digests: dict[Path, str | None] = field(default_factory=dict, compare=False)

    def done(self, task: Task) -> bool:
        """Whether the task was done from exactly these inputs and its outputs are unchanged."""
        entry = self.entry(task)
        if not entry or task.fingerprint is None or entry.get("fingerprint") != task.fingerprint:
            return False
        outputs = entry.get("outputs", {})
        # Also the outputs: a file that somebody edited or deleted is made again.
        unchanged = all(self.digest(Path(path)) == digest for path, digest in outputs.items())
        return unchanged and set(outputs) == {str(path) for path in task.outputs}

    def store(self, task: Task, figures: Mapping[str, Any]) -> None:
        """Record that the task is done; `figures` (seconds, counts, a message) are reported again by later runs."""
        # The task has just written them, so digests from before are stale.
        for path in task.outputs:
            self._digests.pop(path, None)
        outputs = {str(path): self.digest(path) for path in task.outputs}
        entry = {"fingerprint": task.fingerprint, "outputs": outputs, "figures": dict(figures), "inputs": dict(task.inputs)}
        path = self._path(task)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, json.dumps(entry, indent=1, default=str) + "\n")

    def entry(self, task: Task) -> dict[str, Any]:
        """The record of the task's last run; empty if there is none or it is unreadable."""
        try:
            return dict(json.loads(self._path(task).read_text(encoding="utf-8")))
        except (OSError, ValueError):
            # An unreadable entry repeats one task; an error here would stop the run.
            return {}

    def figures(self, task: Task) -> dict[str, Any]:
        """The figures that were recorded with the task."""
        return dict(self.entry(task).get("figures", {}))

    def digest(self, path: Path) -> str | None:
        """The digest of a file or a folder; None where it does not exist. Read once per run, unless this run wrote it."""
        if path not in self._digests:
            self._digests[path] = digest_of_path(path)
        return self._digests[path]

    def _path(self, task: Task) -> Path:
        # Handbook ids may contain characters that a file name may not.
        return self.folder / task.stage / f"{quote(task.name, safe=' ')[:200]}.json"


def write_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> int:
    """Write one JSON object a line, the whole file or nothing, and return how many."""
    lines = [json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n" for record in records]
    path.parent.mkdir(parents=True, exist_ok=True)
    # An interrupted run must not leave half a file that looks complete.
    write_atomic(path, "".join(lines))
    return len(lines)


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a file that `write_lines` wrote, one at a time."""
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def digest_of(value: Any) -> str:
    """The sha256 (hex) of plain values, the same in every process."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=True, default=str).encode()).hexdigest()


def digest_of_path(path: Path) -> str | None:
    """The sha256 (hex) of a file, or of all names and files below a folder; None where it does not exist."""
    if path.is_dir():
        # Files with a leading dot are drafts and the system's own.
        files = sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith("."))
        return digest_of([[file.relative_to(path).as_posix(), sha256_of(file)] for file in files])
    return sha256_of(path) if path.is_file() else None


@lru_cache
def code_digest(*places: str) -> str:
    """The digest of the source of some packages and modules of `audit`, so a stage whose code changed runs again.

    The bytes count, not a version number that an author must remember to raise. Raises LookupError for an entry without source:
    a renamed module would otherwise silently drop out of the digest.
    """
    root = Path(audit.__file__).parent
    files: list[Path] = []
    for entry in places:
        sources = [path for path in (root / entry, *sorted((root / entry).rglob("*"))) if is_source(path)]
        if not sources:
            raise LookupError(f"audit/{entry} has no source files.")
        files += sources
    return digest_of([[file.relative_to(root).as_posix(), sha256_of(file)] for file in files])


def is_source(path: Path) -> bool:
    """Whether a change of this file can change what the program does."""
    return path.is_file() and path.suffix != ".pyc" and not path.name.startswith(".")
