"""Names in a text, taken out: whoever reads it shall not know whose it is."""

from __future__ import annotations

import re
from collections.abc import Iterable

HIDDEN_NAME = "[name]"
SHORTEST_NAME = 4
"""Shorter names are left: taking out every `ana` or `uw` would spoil more words than it blinds."""


def hide_names(text: str, names: Iterable[str]) -> str:
    """The text with every one of `names` that it mentions replaced by HIDDEN_NAME, case aside."""
    for name in sorted(names, key=len, reverse=True):  # a title before the center in it
        if len(name) >= SHORTEST_NAME:
            text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", HIDDEN_NAME, text, flags=re.IGNORECASE)
    return text
