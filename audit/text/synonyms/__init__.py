"""Groups of phrases that mean the same, for the search of the dashboard and for retrieval. Standard library only."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from pathlib import Path

MEDICAL = Path(__file__).with_name("medical.toml")


@lru_cache(maxsize=8)
def read_groups(path: Path = MEDICAL) -> tuple[tuple[str, ...], ...]:
    """The groups of a TOML file: `groups = [["kidney", "renal"], ...]`.

    Raises OSError, ValueError, KeyError or TypeError where the file cannot be read or has another form.
    """
    groups = tomllib.loads(path.read_text(encoding="utf-8"))["groups"]
    if not all(isinstance(group, list) and all(isinstance(phrase, str) for phrase in group) for group in groups):
        raise TypeError("a group is not a list of texts")
    return tuple(map(tuple, groups))
