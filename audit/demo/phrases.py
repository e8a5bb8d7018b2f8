"""The wordings of audit/demo/phrases.toml."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any


@cache
def phrases() -> dict[str, Any]:
    """Circumstances, openings, closings, silences and reasonings, as they stand in the file."""
    return tomllib.loads((Path(__file__).parent / "phrases.toml").read_text(encoding="utf-8"))
