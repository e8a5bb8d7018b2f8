"""Names on figures: an axis has a place for each of them, and a name is only the text that is written there.

Plotly merges categories with equal names and takes names such as `2024`, `1E3` or `2024-05-01` for numbers and dates, so that the
values of one row are drawn in another. A row or column is therefore always a number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from itertools import count

import pandas as pd

from audit.charts.style import ELLIPSIS, cut, literal
from audit.terms import display_name

NO_NAME = "(no name)"
MAX_LENGTH = 40


def axis_of_names(texts: Sequence[str], places: Sequence[float] | None = None) -> dict[str, object]:
    """Settings of an axis on which each text has its own place: 0, 1, 2 and so on, or `places`, one for each.

    texts  as Plotly writes them, such as those of `clipped_names`; equal ones keep their own places
    """
    values = list(range(len(texts)) if places is None else places)
    assert len(values) == len(texts), f"{len(texts)} names for {len(values)} places"
    return {"type": "linear", "tickmode": "array", "tickvals": values, "ticktext": list(texts)}


def clipped_names(names: Iterable[object], max_length: int = MAX_LENGTH) -> list[str]:
    """Each name cut to `max_length` letters, safe for Plotly; names that differ still differ where they are cut.

    Names with the same beginning are cut in the middle, and numbered where that is not enough. An empty one is written NO_NAME,
    and names that are alike without their underscores keep these.
    """
    full = _readable(list(map(str, names)))
    different, texts = list(dict.fromkeys(full)), dict[str, str]()
    for shorten in (cut, _without_middle):
        short = {name: shorten(name, max_length) for name in different}
        alike, used = Counter(short.values()), set(texts.values())
        texts |= {name: text for name, text in short.items() if name not in texts and alike[text] == 1 and text not in used}
    for name in different:
        if name not in texts:
            texts[name] = _numbered(name, max_length, set(texts.values()))
    return [literal(texts[name]) for name in full]


def names_of(frame: pd.DataFrame, by: str, called: str = "") -> dict[Hashable, str]:
    """Id -> name, in the order of the frame: of the columns `by` and `called` (`by` itself where it is empty).

    A name that several ids have is followed by its id.
    """
    names = dict(zip(frame[by].tolist(), map(str, frame[called or by].tolist()), strict=True))
    shared = Counter(names.values())
    return {key: f"{name} · {key}" if shared[name] > 1 and called else name for key, name in names.items()}


def _readable(names: Sequence[str]) -> list[str]:
    alike = Counter(map(display_name, dict.fromkeys(names)))
    shown = (name if alike[display_name(name)] > 1 else display_name(name) for name in names)
    return [name.strip() or NO_NAME for name in shown]


def _without_middle(name: str, max_length: int) -> str:
    end = (max_length - 1) // 2
    return name if len(name) <= max_length else name[: max_length - 1 - end].rstrip() + ELLIPSIS + name[-end:].lstrip()


def _numbered(name: str, max_length: int, used: set[str]) -> str:
    texts = (cut(name, max_length - len(ending)) + ending for ending in (f" ({number})" for number in count(1)))
    return next(text for text in texts if text not in used)
