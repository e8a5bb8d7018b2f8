"""The two sides of the wall, each tested without the other: `pytest --side dashboard` or `--side pipeline`.

The dashboard's side runs as if audit.pipeline were not there: importing it fails.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

DASHBOARD, PIPELINE = SIDES = "dashboard", "pipeline"
NEEDS_THE_PIPELINE = (
    "browser/",
    "examples/test_consumer_health.py",
    "examples/test_tenancy.py",
    "packaging/",
    "pages/test_ask.py",
    "pages/test_previews.py",
    "pages/test_rejudge.py",
    "pipeline/",
    "published/test_criteria_judge.py",
    "simulator/",
)
"""Tests of the pipeline, and of what pages and commands start there, below tests/."""
IMPORTS_IT = ("from audit.pipeline", "import audit.pipeline", "from tests.simulator", "from tests.pipeline")


class PipelineIsAbsent:
    """A finder that refuses audit.pipeline."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name == "audit.pipeline" or name.startswith("audit.pipeline."):
            raise ModuleNotFoundError(f"{name} is on the other side of the wall", name=name)
        return None


def hide_pipeline() -> None:
    """Make every later import of audit.pipeline fail in this process."""
    sys.meta_path.insert(0, PipelineIsAbsent())


def other_side(path: Path, root: Path, side: str | None) -> bool:
    """Whether a test file belongs to the side that is not tested. What imports the pipeline, or its simulator, is of its side."""
    if side is None or path.suffix != ".py":
        return False
    of_pipeline = path.relative_to(root).as_posix().startswith(NEEDS_THE_PIPELINE)
    of_pipeline = of_pipeline or any(words in path.read_text(encoding="utf-8") for words in IMPORTS_IT)
    return of_pipeline != (side == PIPELINE)
