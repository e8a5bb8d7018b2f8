"""Checks edits and writes them to the ledger: who may edit, and whether the taxonomy is still what the editor saw."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from annotation.label_store.engine import LabelStore
from annotation.label_store.errors import ConflictError, StudyError
from annotation.label_store.theme_edits import ThemeEditRow, append_edit, edit_rows, list_edit_rows, lock_edit_ledger
from annotation.studies.accounts import Account, Role
from annotation.theme_edits.edits import EditKind, ThemeChange, ThemeEdit, describe_change
from annotation.theme_edits.replay import check_change, current_names
from audit.themes.taxonomy import Taxonomy

EDITOR_ROLES = (Role.VIEWER, Role.PI)
"""Annotators and adjudicators must not see verdicts, and themes are made from verdicts."""
MAX_NAME_LENGTH = 200
SPLIT_PREFIX = "c-"
"""Prefix of the ids of themes that people split off. Built ids begin differently, so no rebuild can collide with them."""


@dataclass(frozen=True)
class NewEdit:
    """An edit to be recorded.

    key   idempotency key of the click: an edit that is sent twice is stored once
    seen  number of the last edit that the page had shown; 0 for none
    """

    change: ThemeChange
    reason: str
    key: str
    seen: int = 0


def list_edits(store: LabelStore, run: str) -> list[ThemeEdit]:
    """Every edit of the themes of a run (the digest of its release), oldest first."""
    return [_edit_of(row) for row in list_edit_rows(store, run)]


def record_edit(store: LabelStore, run: str, taxonomy: Taxonomy, account: Account, new: NewEdit, now: datetime) -> ThemeEdit:
    """Write one edit to the ledger of a run; when this returns, it is on disk.

    taxonomy  as built; the edits so far are applied to it to check whether the change is possible

    Raises StudyError when the role may not edit, the reason or a name is missing, or the change is not possible; ConflictError
    when somebody changed the same themes or phrases since the editor looked.
    """
    if account.role not in EDITOR_ROLES:
        raise StudyError(f"Only clinicians (viewer) and PIs can edit themes; you are {account.role}. Nothing was saved.")
    with store.begin() as tx:
        head = lock_edit_ledger(tx, run)
        rows = edit_rows(tx, run)
        if known := [row for row in rows if row.key == new.key]:
            return _edit_of(known[0])
        edits = [_edit_of(row) for row in rows]
        change = _completed(taxonomy, edits, new)
        _refuse_conflicts(taxonomy, edits, replace(new, change=change))
        body = json.dumps(change.body(), sort_keys=True)
        row = append_edit(
            tx, head, kind=change.kind, body=body, undoes=change.undoes, author=account.username, reason=new.reason,
            taxonomy=taxonomy.sha256, key=new.key, now=now,
        )  # fmt: skip
        return _edit_of(row)


def _edit_of(row: ThemeEditRow) -> ThemeEdit:
    change = ThemeChange.from_body(row.kind, json.loads(row.body), row.undoes)
    return ThemeEdit(row.seq, change, row.author, row.made_at, row.reason, row.taxonomy)


def _completed(taxonomy: Taxonomy, edits: Sequence[ThemeEdit], new: NewEdit) -> ThemeChange:
    """The change with the current names of its themes and, for a split, the id of the new theme."""
    change = replace(new.change, name=" ".join(new.change.name.split()))
    if missing := _missing_part(change):
        raise StudyError(f"{missing} Nothing was saved.")
    if change.kind in (EditKind.RENAME, EditKind.SPLIT) and not 0 < len(change.name) <= MAX_NAME_LENGTH:
        raise StudyError(f"A theme needs a name of 1 to {MAX_NAME_LENGTH} characters. Nothing was saved.")
    names = current_names(taxonomy, edits)
    shown_names = {theme: names[theme] for theme in (change.theme, change.into) if theme in names}
    if change.kind is EditKind.SPLIT and not change.into:
        change = replace(change, into=SPLIT_PREFIX + hashlib.sha256(new.key.encode()).hexdigest()[:10])
    return replace(change, shown_names=shown_names)


def _missing_part(change: ThemeChange) -> str:
    if change.kind is EditKind.MERGE and change.into is None:
        return "Choose the theme to merge into."
    if change.kind in (EditKind.SPLIT, EditKind.MOVE_PHRASES) and not change.phrases:
        return "Choose at least one phrase."
    if change.kind not in (EditKind.MOVE_PHRASES, EditKind.UNDO) and change.theme is None:
        return "Choose a theme."
    return ""


def _refuse_conflicts(taxonomy: Taxonomy, edits: Sequence[ThemeEdit], new: NewEdit) -> None:
    for edit in edits[new.seen :]:
        if _touched(edit.change, edits) & _touched(new.change, edits):
            raise ConflictError(
                f"Since you looked, {edit.author} {describe_change(edit.change)} (edit {edit.seq}: {edit.reason}). Nothing was "
                "saved; what you typed is still there. Look at the theme as it is now, and submit again if you still want to."
            )
    if reasons := check_change(taxonomy, edits, new.change):
        raise StudyError(f"This edit is not possible: {'; '.join(reasons)}. Nothing was saved.")


def _touched(change: ThemeChange, edits: Sequence[ThemeEdit]) -> set[str]:
    """The themes and phrases that a change affects; for an undo, those of the edit it cancels."""
    if change.undoes is not None:
        return _touched(edits[change.undoes - 1].change, edits) if 0 < change.undoes <= len(edits) else set()
    return {text for text in (change.theme, change.into, *change.phrases) if text is not None}
