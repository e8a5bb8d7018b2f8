"""The two sides of the wall, each tested without the other: `pytest --side dashboard` or `--side pipeline`.

The dashboard's side runs as if audit.pipeline were not there: a module above the wall that imports it fails. A test that starts
something of the pipeline, by name as commands and pages do, or by its own import, is skipped there and belongs to the other side.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest

DASHBOARD, PIPELINE = SIDES = "dashboard", "pipeline"
ROOT = Path(__file__).resolve().parents[2]
OF_THE_PIPELINE = ("browser/", "examples/", "packaging/", "pipeline/", "simulator/")
"""Tests of the pipeline, and tests that start whole programs, below tests/."""
STARTED_BY_NAME = ROOT / "audit" / "commands.py"


class PipelineIsAbsent:
    """A finder that refuses audit.pipeline. `skip`: a test that asks for it itself, or by name, is skipped."""

    def __init__(self, *, skip: bool = False) -> None:
        self.skip = skip

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name == "audit.pipeline" or name.startswith("audit.pipeline."):
            importer = _importer()
            if self.skip and (importer == STARTED_BY_NAME or importer.is_relative_to(ROOT / "tests")):
                pytest.skip(f"starts the pipeline: {name}", allow_module_level=True)
            raise ModuleNotFoundError(f"{name} is on the other side of the wall", name=name)
        return None


def _importer() -> Path:
    """The file whose import is being carried out."""
    frame = sys._getframe(2)
    while "importlib" in frame.f_code.co_filename and frame.f_back is not None:
        frame = frame.f_back
    return Path(frame.f_code.co_filename)


def hide_pipeline() -> None:
    """Make every later import of audit.pipeline fail in this process, or skip the test that asks for it."""
    sys.meta_path.insert(0, PipelineIsAbsent(skip=True))


def other_side(path: Path, root: Path, side: str | None) -> bool:
    """Whether a test file belongs to the side that is not tested."""
    return side is not None and path.relative_to(root).as_posix().startswith(OF_THE_PIPELINE) != (side == PIPELINE)
