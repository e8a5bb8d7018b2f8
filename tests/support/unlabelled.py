"""A run that a search made and nothing has compared: a release without its pairs, its answers in three states.

release = without_pairs(folder_of_a_release, tmp_path)
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from audit.vocabulary import Found

KEPT = ("handbooks.jsonl", "questions.jsonl", "sections.jsonl")
ERRORS = {
    "missed": 14,
    "answered": 100,
    "found": 20,
    "unanswered": 100,
    "source": "a made-up set of questions",
    "date": "2026-11",
}
SEARCH = "closest passages, no model"


def without_pairs(release: Path, folder: Path, **manifest: Any) -> Path:
    """Write a copy of a release without pairs and systems: what was absent was not found, every third other answer is perhaps.

    manifest  entries to change; None removes one
    """
    target = folder / f"{release.name}-unlabelled"
    target.mkdir(parents=True)
    for name in KEPT:
        if (release / name).is_file():
            shutil.copy(release / name, target / name)
    own = json.loads((release / "manifest.json").read_text(encoding="utf-8"))
    own = {name: own[name] for name in ("title", "date", "terms", "licence", "asked", "synthetic") if name in own}
    own |= {"run_id": target.name, "generator": SEARCH, "judge": None, "generator_errors": ERRORS} | manifest
    (target / "manifest.json").write_text(json.dumps({name: value for name, value in own.items() if value is not None}))
    with (release / "answers.jsonl").open(encoding="utf-8") as source, (target / "answers.jsonl").open("w") as file:
        for number, line in enumerate(source):
            answer = json.loads(line)
            answer["found"] = found_of(number, answer["absent"])
            file.write(json.dumps(answer) + "\n")
    return target


def found_of(number: int, absent: bool | None) -> str | None:
    """The state of an answer, by its number: of those that are there every third is perhaps."""
    if absent is None:
        return None
    return Found.NOT_FOUND if absent else Found.PERHAPS if number * 7919 // 16 % 3 == 0 else Found.STATED
