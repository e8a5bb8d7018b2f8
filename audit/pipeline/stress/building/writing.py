"""The files of a build: the instances, and a manifest that describes them and lists what was left out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from audit.atomic_io import atomic_folder, sha256_of
from audit.errors import AuditError, describe_error
from audit.pipeline.stress.building.builder import BuildSummary
from audit.pipeline.stress.instances import INSTANCES_FILE, StressInstance

MANIFEST_FILE = "manifest.json"


def write_build(folder: Path, instances: Iterable[StressInstance], summary: BuildSummary, about: Mapping[str, Any]) -> int:
    """Write the instances and the manifest into a new or empty folder, complete or not at all; returns how many instances.

    about  further entries of the manifest: source, data set, settings. It has no date, so the same build gives the
           same bytes

    Raises AuditError where the folder cannot be written or is not empty.
    """
    try:
        with atomic_folder(folder) as draft:
            count = _write_instances(draft / INSTANCES_FILE, instances, summary)
            digest = sha256_of(draft / INSTANCES_FILE)
            counts = {"instances": count, "instances_sha256": digest, "contexts": summary.records()}
            manifest = {**about, **counts, "left_out": summary.report.record()}
            (draft / MANIFEST_FILE).write_text(json.dumps(manifest, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise AuditError(
            f"{folder} cannot be written ({describe_error(error)}). Nothing was written. Name a new folder with --out."
        ) from error
    return count


def _write_instances(path: Path, instances: Iterable[StressInstance], summary: BuildSummary) -> int:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for instance in instances:
            summary.count(instance)
            file.write(json.dumps(instance.record(), ensure_ascii=False) + "\n")
    return sum(cell.instances for cell in summary.cells.values())


def source_record(path: Path) -> dict[str, Any]:
    """Name and digest of the source: a file, or the files of a folder by name."""
    if path.is_file():
        return {"name": path.name, "sha256": sha256_of(path)}
    digest = hashlib.sha256()
    for file in sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith(".")):
        digest.update(f"{file.relative_to(path).as_posix()} {sha256_of(file)}\n".encode())
    return {"name": path.name, "sha256": digest.hexdigest()}
