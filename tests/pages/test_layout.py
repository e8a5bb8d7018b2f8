"""Where the files of the pages lie: the parts of one page in its folder, in `_shared` what two or more pages use."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from tests.pages.conftest import ROOT

MODULES = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in sorted((ROOT / "pages").rglob("*.py"))}
SHARED = [name for name in MODULES if name.startswith("pages._shared.") and not name.endswith("__init__")]
APP = "app"
"""Whatever the frame around every page uses serves every page."""


def imported_by(path: Path) -> set[str]:
    """The modules of the pages that a file imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names & MODULES.keys()


IMPORTS = {APP: imported_by(ROOT / "app.py"), **{name: imported_by(path) for name, path in MODULES.items()}}


def page_of(module: str) -> str:
    """The page that a module is or belongs to: `pages.ask` of `pages.ask.form`, `pages.studies.study` of its parts."""
    parts = module.split(".")
    return ".".join(parts[: 3 if parts[1:2] == ["studies"] else 2])


@cache
def pages_using(module: str) -> frozenset[str]:
    """The pages that a module serves, directly or through what is shared."""
    users = [name for name, imported in IMPORTS.items() if module in imported]
    through = [pages_using(name) if name in SHARED else {page_of(name)} for name in users]
    return frozenset().union(*through)


@pytest.mark.parametrize("module", SHARED)
def test_what_is_shared_serves_two_pages_or_more(module):
    pages = pages_using(module)
    assert APP in pages or len(pages) >= 2, f"{module} serves {', '.join(pages) or 'no page'}: it belongs in its folder"
