"""Text in the cells of a spreadsheet: never a formula, and read back as it was."""

from __future__ import annotations

import re

FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
"""How a text begins that a spreadsheet may run, or that would look like one of those made safe."""
MADE_SAFE = re.compile(r"'+[=+\-@\t\r\n]")


def safe_cell(value: object) -> object:
    """Text that a spreadsheet would run as a formula gets a leading apostrophe; numbers stay numbers."""
    return f"'{value}" if isinstance(value, str) and FORMULA.match(value) else value


def plain_cell(text: str) -> str:
    """The text that `safe_cell` made safe; every text comes back as it was."""
    return text[1:] if MADE_SAFE.match(text) else text
