"""Random draws that depend only on names: the same on every machine and for every order of the input."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator


def rank(*names: object) -> int:
    """A pseudo-random number from 0 to 2**256 - 1; sorting by it gives a random order."""
    return int(hashlib.sha256("\n".join(map(str, names)).encode()).hexdigest(), 16)


def positions(count: int, *names: object) -> Iterator[int]:
    """An endless stream of independent draws from 0 to `count` - 1."""
    number = 0
    while count:
        yield rank(*names, number) % count
        number += 1
