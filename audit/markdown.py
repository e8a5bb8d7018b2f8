"""Tables in Markdown, and text that cannot break out of them."""

from __future__ import annotations

import re
from collections.abc import Sequence


def plain(text: str) -> str:
    """Text that cannot break out of a cell of a Markdown table."""
    return re.sub(r"([\\|`*_\[\]<>$])", r"\\\1", " ".join(text.split()))


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]], rules: Sequence[str] = ()) -> str:
    """A table of cells that are already escaped; `rules` are the dashes under the header, `---:` to align right."""
    lines = (header, rules or ["---"] * len(header), *rows)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
