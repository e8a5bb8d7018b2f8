"""Whether a study is unaltered: its ledgers, the rows sealed by its events, and the heads sealed by an export."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.ledger import Heads, head_faults, ledger_heads, study_ledger_faults
from annotation.label_store.schema import study_events
from annotation.label_store.seals import SEALED_TABLES, seal_faults
from annotation.label_store.studies import find_study
from annotation.studies.verdict_store import VERDICT_TABLES

MANIFEST = "manifest.json"
MAX_MANIFEST_BYTES = 50 * 2**20


@dataclass(frozen=True)
class SealedHeads:
    """Where the ledgers of a study ended when an export was written."""

    study_id: str
    heads: Heads


def verify_study(store: LabelStore, study_id: str, sealed: SealedHeads | None = None) -> list[str]:
    """The alterations of a study, one sentence per fault with table and number of rows; an empty list if there are none.

    It covers ratings, decisions, events (state changes), items, assignments, strata, plan, the judge's verdicts, and whether
    names are shown. Somebody who rewrites every ledger with its head is detected only by the heads that an export sealed.

    Raises StudyError when there is no such study, or the heads are those of another one.
    """
    find_study(store, study_id)
    if sealed is not None and sealed.study_id != study_id:
        raise StudyError(f"The sealed heads are those of study '{sealed.study_id}', not of '{study_id}'. Nothing was checked.")
    with store.read() as con:
        faults = study_ledger_faults(con, study_id)
        # A seal that was altered itself says nothing about the rows.
        if not any(fault.startswith(f"{study_events.name}:") for fault in faults):
            faults += seal_faults(con, study_id, (*SEALED_TABLES, *VERDICT_TABLES))
        return faults + (head_faults(con, study_id, sealed.heads) if sealed else [])


# -- heads in files ----------------------------------------------------------------------------------------------------


def heads_record(store: LabelStore, study_id: str) -> dict[str, dict[str, Any]]:
    """`ledger_heads` as a manifest has it: ledger -> entries, last."""
    return {name: {"entries": entries, "last": last} for name, (entries, last) in ledger_heads(store, study_id).items()}


def read_sealed_heads(path: Path) -> SealedHeads:
    """The heads in an export: a manifest, or the folder or ZIP file of `audit export` that contains one.

    Raises StudyError when the file cannot be read or has no heads of a study.
    """
    try:
        study = json.loads(_manifest_text(path))["study"]
        heads = {str(name): (int(head["entries"]), str(head["last"])) for name, head in study["ledgers"].items()}
        return SealedHeads(str(study["study_id"]), heads)
    except OSError as error:
        raise StudyError(f"{path} cannot be read: {error.strerror}. Nothing was checked.") from None
    except (ValueError, KeyError, TypeError, AttributeError, zipfile.BadZipFile):
        raise StudyError(
            f"{path} has no sealed heads of a study. Nothing was checked. Name the manifest that `audit study export` writes, or "
            "a package of `audit export --study`."
        ) from None


def _manifest_text(path: Path) -> bytes:
    if path.is_dir():
        return (path / MANIFEST).read_bytes()
    if not zipfile.is_zipfile(path):
        return path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        name = min((name for name in archive.namelist() if Path(name).name == MANIFEST), key=len, default=MANIFEST)
        with archive.open(name) as member:
            return member.read(MAX_MANIFEST_BYTES)
