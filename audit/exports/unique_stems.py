"""Names of files and sheets from names of a release, which may be alike once they are short and plain."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import count


def unique_stems(
    names: Iterable[str], other: re.Pattern[str], instead: str, max_length: int, taken: Iterable[str] = ()
) -> list[str]:
    """Each name with `instead` for what matches `other`, cut to `max_length`; one that is taken already ends in a number.

    Upper and lower case count as equal, as in the files of Windows and macOS and in the sheets of a workbook.

    taken  names that none of these may have
    """
    used, stems = {name.casefold() for name in taken}, list[str]()
    for name in names:
        stem = other.sub(instead, name)
        numbered = (stem[: max_length - len(ending)] + ending for ending in _endings())
        stems.append(next(text for text in numbered if text and text.casefold() not in used))
        used.add(stems[-1].casefold())
    return stems


def _endings() -> Iterable[str]:
    yield ""
    yield from (f"-{number}" for number in count(2))
