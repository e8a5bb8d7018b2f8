"""One fixture: a store from a table that a person can check by eye."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audit.store.connection import Connection
from tests.support.tiny_store import store_from


@pytest.fixture
def store(tmp_path: Path) -> Callable[..., Connection]:
    def build(table: str, handbooks: list[dict[str, Any]] | None = None, *, answers: bool = True) -> Connection:
        return store_from(tmp_path, table, handbooks, answers=answers)

    return build
