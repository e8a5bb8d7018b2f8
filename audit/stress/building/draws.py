"""Random draws that depend on names alone: the same on every machine and for every order of the input."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator


def rank(*names: object) -> int:
    """A number that is as good as random, from 0 to 2**256 - 1; sorting by it draws an order."""
    return int(hashlib.sha256("\n".join(map(str, names)).encode()).hexdigest(), 16)


def positions(count: int, *names: object) -> Iterator[int]:
    """Numbers from 0 to `count` - 1 without end, each drawn anew."""
    number = 0
    while count:
        yield rank(*names, number) % count
        number += 1
