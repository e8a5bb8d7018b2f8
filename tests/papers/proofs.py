"""Tests that are named as proofs of something: where they are."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@cache
def source_of(name: str) -> str:
    """The source of the test `FILE::NAME`, its file in this folder's parent; empty where there is none."""
    file, _, function = name.partition("::")
    text = (ROOT / file).read_text("utf-8") if (ROOT / file).is_file() else ""
    found = (node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == function)
    return next((ast.get_source_segment(text, node) or "" for node in found), "")
