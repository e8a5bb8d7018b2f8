"""The history of theme edits for people to keep: a table, JSON lines that can be replayed, and a part of an export."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

import pandas as pd

from annotation.label_store.errors import StudyError
from annotation.label_store.schema import storable_text
from annotation.theme_edits.edits import ThemeChange, ThemeEdit, describe_change, undos_by_edit
from annotation.theme_edits.replay import CuratedTaxonomy, EditConflict
from audit.exports.context import CurationPart

COLUMNS = (
    "act", "what", "author", "made_at", "reason", "standing", "kind", "theme", "into", "name", "phrases", "undoes", "taxonomy",
)  # fmt: skip
EXPORTED_COLUMNS = ["act", "made_at", "what", "reason", "standing"]
"""Without the author: the package is shared with others, and the authors were not asked."""
IN_EFFECT, UNDONE, PARTIAL, NOT_APPLIED = "in effect", "undone by edit", "in part", "not applied"


def history_table(edits: Sequence[ThemeEdit], conflicts: Sequence[EditConflict] = ()) -> pd.DataFrame:
    """Every edit, newest first.

    act             int, number of the edit
    what            str, the change in words
    author, made_at, reason  str; made_at in UTC
    standing        str: in effect; undone by edit N; or, where it no longer fits the taxonomy: in part, not applied
    kind, theme, into, name, undoes, taxonomy  as in `ThemeEdit` and `ThemeChange`; empty where the kind has none
    phrases         str, one phrase a line
    """
    undos = undos_by_edit(edits)
    faulty = {conflict.edit.seq: PARTIAL if conflict.partial else NOT_APPLIED for conflict in conflicts}
    rows = [_history_row(edit) | {"standing": _status(edit, undos, faulty)} for edit in reversed(edits)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _status(edit: ThemeEdit, undos: dict[int, ThemeEdit], faulty: dict[int, str]) -> str:
    return f"{UNDONE} {undos[edit.seq].seq}" if edit.seq in undos else faulty.get(edit.seq, IN_EFFECT)


def _history_row(edit: ThemeEdit) -> dict[str, Any]:
    change = edit.change
    return {
        "act": edit.seq, "what": describe_change(change), "author": edit.author, "made_at": edit.made_at, "reason": edit.reason,
        "kind": str(change.kind), "theme": change.theme or "", "into": change.into or "", "name": change.name,
        "phrases": storable_text("\n".join(change.phrases)), "undoes": str(change.undoes or ""), "taxonomy": edit.taxonomy,
    }  # fmt: skip


def edits_to_jsonl(edits: Sequence[ThemeEdit]) -> str:
    """One complete edit a line, oldest first."""
    return "".join(json.dumps(_json_record(edit)) + "\n" for edit in edits)


def _json_record(edit: ThemeEdit) -> dict[str, Any]:
    # The key `act` is part of files that people keep, so it stays.
    values = {"act": edit.seq, "author": edit.author, "made_at": edit.made_at, "reason": edit.reason, "taxonomy": edit.taxonomy}
    undoes = {"undoes": edit.change.undoes} if edit.change.undoes is not None else {}
    return {**values, "kind": str(edit.change.kind), **undoes, "change": edit.change.body()}


def edits_from_jsonl(text: str) -> list[ThemeEdit]:
    """The edits that `edits_to_jsonl` wrote.

    Raises StudyError, naming the line, when one is not a theme edit.
    """
    return [_edit_from_line(line, number) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]


def _edit_from_line(line: str, number: int) -> ThemeEdit:
    try:
        record = json.loads(line)
        change = ThemeChange.from_body(record["kind"], record["change"], record.get("undoes"))
        return ThemeEdit(int(record["act"]), change, record["author"], record["made_at"], record["reason"], record["taxonomy"])
    except (ValueError, KeyError, TypeError):
        raise StudyError(
            f"Line {number} is not a theme edit. Nothing was done. "
            "Use a file that was written by: audit themes history --out FILE.jsonl"
        ) from None


def curation_part(edits: Sequence[ThemeEdit], curated: CuratedTaxonomy) -> CurationPart | None:
    """What curation adds to an export: the curated themes and the history; None without effective edits.

    curated  the result of replaying the edits (annotation.theme_edits.replay.apply_edits)
    """
    if not curated.edits:
        return None
    facts = {
        "acts": len(edits), "counting": curated.edits, "fitting_no_longer": len(curated.conflicts),
        "acts_sha256": hashlib.sha256(edits_to_jsonl(edits).encode()).hexdigest(), "curated_sha256": curated.taxonomy.sha256,
    }  # fmt: skip
    history = history_table(edits, curated.conflicts)[EXPORTED_COLUMNS].iloc[::-1].reset_index(drop=True)
    return CurationPart(curated.taxonomy, curated.set_aside, history, facts)
