"""Texts as BM25 counts them: stems in order, numbers and names of genes among them, without stop words."""

from __future__ import annotations

import re

from audit.text.tokens import STOP_WORDS, plain_text, stem

TOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)?")


def tokens(text: str) -> list[str]:
    """`Kidneys, 15q13.3` -> kidney, 15q13, 3."""
    return [stem(word) for word in TOKEN.findall(plain_text(text)) if word not in STOP_WORDS]
