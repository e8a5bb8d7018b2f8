"""Workspace for other processes in the tests of the cluster: functions of a module, as a worker needs them."""

from __future__ import annotations

import os
from pathlib import Path

from audit.errors import AuditError


def length(path: str) -> tuple[int, int]:
    """How long a file is, and who looked."""
    text = Path(path).read_text()
    if text == "scan":
        raise AuditError(f"{Path(path).name} is a scan.")
    return len(text), os.getpid()
