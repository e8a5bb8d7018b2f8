"""Masking of names in a text, so that a reader cannot tell whose text it is."""

from __future__ import annotations

import re
from collections.abc import Iterable

HIDDEN_NAME = "[name]"
MIN_NAME_LENGTH = 4
"""Shorter names stay: masking every `ana` or `uw` would damage more words than it hides names."""


def hide_names(text: str, names: Iterable[str]) -> str:
    """`text` with every occurrence of one of `names` replaced by HIDDEN_NAME; upper and lower case are equal."""
    for name in sorted(names, key=len, reverse=True):  # a title before the center named inside it
        if len(name) >= MIN_NAME_LENGTH:
            text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", HIDDEN_NAME, text, flags=re.IGNORECASE)
    return text
