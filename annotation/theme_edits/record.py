"""Acts of curation, to and from the ledger: who may, and whether the taxonomy still is what the curator saw."""

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

CURATORS = (Role.VIEWER, Role.PI)
"""Whoever labels or adjudicates stays away from what the judge said, and a theme is made of that."""
NAME_LIMIT = 200
SPLIT_OFF = "c-"
"""How the id of a theme begins that a person made; built ones begin otherwise, so that no rebuild takes one."""


@dataclass(frozen=True)
class NewEdit:
    """A change that somebody asks for.

    reason  why, in words
    key     a name the page makes for this press of the button; the same key again changes nothing
    seen    number of the last act that the page had shown; 0 for none
    """

    change: ThemeChange
    reason: str
    key: str
    seen: int = 0


def list_edits(store: LabelStore, run: str) -> list[ThemeEdit]:
    """Every act on the themes of a run (the digest of its release), first to last."""
    return [_act(row) for row in list_edit_rows(store, run)]


def record_edit(store: LabelStore, run: str, taxonomy: Taxonomy, account: Account, wish: NewEdit, now: datetime) -> ThemeEdit:
    """Write one act to the ledger of a run; when this returns, it is on the disk.

    taxonomy  as built; the acts so far are applied to it to see whether the change can be made

    Raises StudyError when the role may not curate, the reason or a name is missing, or the change cannot be made; ConflictError
    when somebody changed the same themes or phrases since the curator looked.
    """
    if account.role not in CURATORS:
        raise StudyError(f"Themes are curated by clinicians (viewer) and PIs; you are {account.role}. Nothing was saved.")
    with store.begin() as tx:
        head = lock_edit_ledger(tx, run)
        rows = edit_rows(tx, run)
        if known := [row for row in rows if row.key == wish.key]:
            return _act(known[0])
        acts = [_act(row) for row in rows]
        change = _complete(taxonomy, acts, wish)
        _refuse(taxonomy, acts, replace(wish, change=change))
        body = json.dumps(change.body(), sort_keys=True)
        written = append_edit(
            tx, head, kind=change.kind, body=body, undoes=change.undoes, author=account.username, reason=wish.reason,
            taxonomy=taxonomy.sha256, key=wish.key, now=now,
        )  # fmt: skip
        return _act(written)


def _act(row: ThemeEditRow) -> ThemeEdit:
    return ThemeEdit(
        row.seq, ThemeChange.of(row.kind, json.loads(row.body), row.undoes), row.author, row.made_at, row.reason, row.taxonomy
    )


def _complete(taxonomy: Taxonomy, acts: Sequence[ThemeEdit], wish: NewEdit) -> ThemeChange:
    """The change with the names of its themes as they are now and, for a split, the id of the new theme."""
    change = replace(wish.change, name=" ".join(wish.change.name.split()))
    if missing := _missing(change):
        raise StudyError(f"{missing} Nothing was saved.")
    if change.kind in (EditKind.RENAME, EditKind.SPLIT) and not 0 < len(change.name) <= NAME_LIMIT:
        raise StudyError(f"A theme needs a name of 1 to {NAME_LIMIT} characters. Nothing was saved.")
    names = current_names(taxonomy, acts)
    told = {theme: names[theme] for theme in (change.theme, change.into) if theme in names}
    if change.kind is EditKind.SPLIT and not change.into:
        change = replace(change, into=SPLIT_OFF + hashlib.sha256(wish.key.encode()).hexdigest()[:10])
    return replace(change, told=told)


def _missing(change: ThemeChange) -> str:
    """What a change does not say, though its kind needs it."""
    if change.kind is EditKind.MERGE and change.into is None:
        return "It is not said which theme to merge into."
    if change.kind in (EditKind.SPLIT, EditKind.MOVE_PHRASES) and not change.phrases:
        return "No phrase is chosen."
    if change.kind not in (EditKind.MOVE_PHRASES, EditKind.UNDO) and change.theme is None:
        return "It is not said which theme."
    return ""


def _refuse(taxonomy: Taxonomy, acts: Sequence[ThemeEdit], wish: NewEdit) -> None:
    for act in acts[wish.seen :]:
        if _touched(act.change, acts) & _touched(wish.change, acts):
            raise ConflictError(
                f"Since you looked, {act.author} {describe_change(act.change)} (act {act.seq}: {act.reason}). Nothing was saved; "
                "what you typed is still there. Look at the theme as it is now, and press again if you still want it."
            )
    if why := check_change(taxonomy, acts, wish.change):
        raise StudyError(f"This cannot be done: {'; '.join(why)}. Nothing was saved.")


def _touched(change: ThemeChange, acts: Sequence[ThemeEdit]) -> set[str]:
    """The themes and phrases that a change is about; for an undo, those of the act it takes back."""
    if change.undoes is not None:
        return _touched(acts[change.undoes - 1].change, acts) if 0 < change.undoes <= len(acts) else set()
    return {text for text in (change.theme, change.into, *change.phrases) if text is not None}
