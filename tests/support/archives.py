"""Comparing archives and folders by the names of what differs."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from io import BytesIO

CONTAINER = "(the archive itself)"


def differing_files(first: Mapping[str, bytes], second: Mapping[str, bytes]) -> list[str]:
    """The names of files of which the contents differ, or that only one of both has.

    Use it instead of `assert first == second`: where megabytes differ, pytest prepares a difference of them line by line,
    which takes longer than the whole test run.
    """
    return sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))


def differing_entries(first: bytes, second: bytes) -> list[str]:
    """The names of entries that differ between two ZIP archives, or `CONTAINER` where only their order or dates do."""
    return differing_files(_entries(first), _entries(second)) or [CONTAINER] * (first != second)


def _entries(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}
