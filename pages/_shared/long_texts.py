"""Comparisons of texts that pages show: of long ones elsewhere, because the pages of others wait while this process compares."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any

from audit.own_process import in_own_process

SHORT_LETTERS = 10_000
"""All texts together. Compared here they take .2 s of a processor at most; twice 20,000 letters made to be slow take 2.4 s."""
UNMARKED = "Nothing is marked, because comparing texts this long takes too much time."


@lru_cache(maxsize=64)
def compared(function: Callable[..., Any], *arguments: Hashable) -> Any:
    """`function(*arguments)`, a comparison of texts: kept, and made in a process of its own where they are long.

    Raises TooMuchError where that takes too long; see `audit.own_process`
    """
    letters = sum(len(one) for one in arguments if isinstance(one, str))
    return function(*arguments) if letters <= SHORT_LETTERS else in_own_process(function, *arguments)
