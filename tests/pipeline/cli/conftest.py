"""What the tests of commands that call a model share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.llm.fault_server import FaultServer, fault_server


@pytest.fixture
def model_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultServer]:
    """A server with the model judge-2, set as the endpoint of every command."""
    with fault_server(models=("judge-2",)) as server:
        for name, value in {"DATA_DIR": tmp_path / "data", "JUDGE_URL": server.url, "JUDGE_CONCURRENCY": 4}.items():
            monkeypatch.setenv(f"AUDIT_{name}", str(value))
        monkeypatch.delenv("AUDIT_JUDGE_MODEL", raising=False)
        yield server
