"""Text in spreadsheet cells: never run as a formula, and read back unchanged."""

from __future__ import annotations

import re

FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
"""The beginning of a text that a spreadsheet may run, or that looks like the output of `safe_cell`."""
ESCAPED = re.compile(r"'+[=+\-@\t\r\n]")


def safe_cell(value: object) -> object:
    """Text that a spreadsheet would run as a formula gets a leading apostrophe; numbers stay numbers."""
    return f"'{value}" if isinstance(value, str) and FORMULA.match(value) else value


def plain_cell(text: str) -> str:
    """The inverse of `safe_cell`, for every text."""
    return text[1:] if ESCAPED.match(text) else text
