"""Folders that take seconds to make: the first worker that asks for one makes it, and all of them read it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """The folder `name` of this run of the tests, filled by `make` where no worker has done so. Tests that write take a copy."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    with FileLock(f"{folder}.lock"):
        if not (made := folder.with_suffix(".made")).exists():
            folder.mkdir()
            make(folder)
            made.touch()
    return folder
