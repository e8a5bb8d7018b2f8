"""Records of planted changes on the tiny release of `tests.support.loading.BASE`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Record = dict[str, Any]


def planted_item(
    number: int, kind: str, before: str | None, after: str | None, expected: Sequence[str] = (), **others: Any
) -> Record:
    """One record of planted.jsonl about question q1 and the handbooks a and b: the judge's labels before and after."""
    return {
        "item_id": f"{kind}-{number}", "question_id": "q1", "handbook_a": "a", "handbook_b": "b", "kind": kind,
        "expected": list(expected), "change": {"before": "3", "after": "9", "start": 5, "side": "a"},
        "answer_a": "Wait 9 months.", "answer_b": "Wait 3 months.", "label_before": before, "label": after, "judge": "judge-1",
        **others,
    }  # fmt: skip


def write_planted(folder: Path, records: Sequence[Record]) -> Path:
    """Put planted.jsonl into the folder of a release, and return the folder."""
    (folder / "planted.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return folder
