"""Untrusted text made safe."""

from __future__ import annotations

import re
import string

PUNCTUATION = re.compile(f"([{re.escape(string.punctuation)}])")


def escaped(text: object) -> str:
    """`text` on one line, so that Streamlit shows every character of it and interprets none as Markdown."""
    return PUNCTUATION.sub(r"\\\1", " ".join(str(text).split()))
