"""What is done already: every piece of work is known by what went into it, and what it left is known by its digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import audit
from audit.atomic_io import sha256_of, write_whole

UNKNOWN = None
"""The digest of what is not there yet."""


@dataclass(frozen=True)
class Piece:
    """The smallest piece of work that is done or not: one file, nearly always.

    inputs   what it is made from, by name: digests, settings, versions; a value of None is not there yet
    outputs  the files that it leaves
    handbook the handbook that it is about; "" where it is about all
    """

    stage: str
    name: str
    inputs: Mapping[str, Any]
    outputs: tuple[Path, ...] = ()
    handbook: str = ""

    @property
    def fingerprint(self) -> str | None:
        """Of everything that went into it; None as long as something is missing."""
        return None if UNKNOWN in self.inputs.values() else digest_of({"stage": self.stage, **self.inputs})


@dataclass(frozen=True)
class Ledger:
    """One small JSON file a piece of work, below `folder`, each replaced as a whole."""

    folder: Path
    _known: dict[Path, str | None] = field(default_factory=dict, compare=False)

    def done(self, piece: Piece) -> bool:
        """Whether it was done from just these inputs, and what it left stands there unchanged."""
        noted = self.noted(piece)
        if not noted or piece.fingerprint is None or noted.get("fingerprint") != piece.fingerprint:
            return False
        left = noted.get("outputs", {})
        return set(left) == {str(path) for path in piece.outputs} and all(
            self.digest(Path(path)) == value for path, value in left.items()
        )

    def note(self, piece: Piece, figures: Mapping[str, Any]) -> None:
        """Write down that it is done; `figures` is what is to be told of it later (seconds, counts)."""
        for path in piece.outputs:
            self._known.pop(path, None)
        left = {str(path): self.digest(path) for path in piece.outputs}
        written = {"fingerprint": piece.fingerprint, "outputs": left, "figures": dict(figures), "inputs": dict(piece.inputs)}
        path = self._path(piece)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(written, indent=1, default=str) + "\n")

    def noted(self, piece: Piece) -> dict[str, Any]:
        """What was written down of it the last time; empty where nothing was, or it cannot be read."""
        try:
            return dict(json.loads(self._path(piece).read_text(encoding="utf-8")))
        except (OSError, ValueError):
            return {}

    def digest(self, path: Path) -> str | None:
        """The digest of a file or a folder, looked at once in a run unless this run wrote it; None where it is not there."""
        if path not in self._known:
            self._known[path] = digest_of_path(path)
        return self._known[path]

    def _path(self, piece: Piece) -> Path:
        return self.folder / piece.stage / f"{quote(piece.name, safe=' ')[:200]}.json"


def write_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> int:
    """Write one JSON object a line, whole or not at all, and return how many."""
    lines = [json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n" for record in records]
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, "".join(lines))
    return len(lines)


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The records of a file that `write_lines` wrote."""
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def digest_of(told: Any) -> str:
    """sha256 (hex) of plain values, the same in every process."""
    return hashlib.sha256(json.dumps(told, sort_keys=True, ensure_ascii=True, default=str).encode()).hexdigest()


def digest_of_path(path: Path) -> str | None:
    """sha256 of a file, or of all names and files below a folder; None where there is neither."""
    if path.is_dir():
        files = sorted(each for each in path.rglob("*") if each.is_file() and not each.name.startswith("."))
        return digest_of([[each.relative_to(path).as_posix(), sha256_of(each)] for each in files])
    return sha256_of(path) if path.is_file() else None


@lru_cache
def code_of(*packages: str) -> str:
    """The digest of the source of some packages and modules of `audit`: another version of a stage does its work anew.

    By the bytes and not by a number that somebody must remember to raise.
    """
    root = Path(audit.__file__).parent
    found = [each for name in packages for each in (root / name, *sorted((root / name).rglob("*"))) if is_source(each)]
    return digest_of([[each.relative_to(root).as_posix(), sha256_of(each)] for each in found])


def is_source(path: Path) -> bool:
    """Whether what a program does may hang on this file."""
    return path.is_file() and path.suffix != ".pyc" and not path.name.startswith(".")
