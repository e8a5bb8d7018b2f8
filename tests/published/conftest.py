"""Other people's data, beside the checkout and never in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


def shared(name: str) -> Path:
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{name} is not beside the checkout (../shared/data/{name})")
    return path


@pytest.fixture(scope="session")
def paper_labels() -> Path:
    """200 items built so that every figure of arXiv:2605.29084, section 5.1, holds at once."""
    return shared("paper_validation_labels.csv")


@pytest.fixture(scope="session")
def nih_labels() -> Path:
    """148 judged pairs of the NIH release, labelled by two more raters."""
    return shared("nih_release/annotations/validation_labels.csv")


@pytest.fixture(scope="session")
def vectors() -> dict[str, Any]:
    """Published tables with their agreement coefficients."""
    found: dict[str, Any] = json.loads(shared("agreement_vectors.json").read_text())
    return found
