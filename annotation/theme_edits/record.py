"""The record of theme edits: permissions, checks before an edit is written to the ledger, and the history for download.

The history is a table, JSON lines that can be replayed, and a part of an export.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import pandas as pd

from annotation.label_store.engine import ConflictError, LabelStore, StudyError
from annotation.label_store.stored_values import storable_text
from annotation.label_store.theme_edits import ThemeEditRow, append_edit, edit_rows, list_edit_rows, lock_edit_ledger
from annotation.studies.accounts import Account, Role
from annotation.theme_edits.edits import EditKind, ThemeChange, ThemeEdit, describe_change, undos_by_edit
from annotation.theme_edits.replay import CuratedTaxonomy, EditConflict, check_change, current_names
from audit.exports.context import CurationPart
from audit.people_tables import strict_json, text_lines
from audit.release.taxonomy import Taxonomy
from audit.release.values import clean_json

EDITOR_ROLES = (Role.VIEWER, Role.PI)
"""Annotators and adjudicators must not see verdicts, and themes are made from verdicts."""
MAX_NAME_LENGTH = 200
SPLIT_PREFIX = "c-"
"""Prefix of the ids of themes that people split off. Built ids begin differently, so no rebuild can collide with them."""
HISTORY_COLUMNS = (
    "act", "what", "author", "made_at", "reason", "standing", "kind", "theme", "into", "name", "phrases", "undoes", "taxonomy",
)  # fmt: skip
EXPORTED_COLUMNS = ["act", "made_at", "what", "reason", "standing"]
"""Without the author: the package is shared with others, and the authors were not asked."""
IN_EFFECT, UNDONE, PARTIAL, NOT_APPLIED = "in effect", "undone by edit", "in part", "not applied"


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
        # The same click sent twice is answered with the edit that it made.
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
        # From the key of the click, so sending it twice names the same theme.
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
    # Edits of other themes do not matter: only what touches the same themes or phrases was decided on an old view.
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


# -- history -------------------------------------------------------------------------------------------------------------


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
    status = faulty | {seq: f"{UNDONE} {undo.seq}" for seq, undo in undos.items()}
    rows = [_history_row(edit) | {"standing": status.get(edit.seq, IN_EFFECT)} for edit in reversed(edits)]
    return pd.DataFrame(rows, columns=list(HISTORY_COLUMNS))


def _history_row(edit: ThemeEdit) -> dict[str, object]:
    change = edit.change
    return {
        "act": edit.seq, "what": describe_change(change), "author": edit.author, "made_at": edit.made_at, "reason": edit.reason,
        "kind": str(change.kind), "theme": change.theme or "", "into": change.into or "", "name": change.name,
        "phrases": storable_text("\n".join(change.phrases)), "undoes": str(change.undoes or ""), "taxonomy": edit.taxonomy,
    }  # fmt: skip


def edits_to_jsonl(edits: Sequence[ThemeEdit]) -> str:
    """One complete edit a line, oldest first."""
    return "".join(json.dumps(_json_record(edit)) + "\n" for edit in edits)


def _json_record(edit: ThemeEdit) -> dict[str, object]:
    # The key `act` is part of files that people keep, so it stays.
    values = {"act": edit.seq, "author": edit.author, "made_at": edit.made_at, "reason": edit.reason, "taxonomy": edit.taxonomy}
    undoes = {"undoes": edit.change.undoes} if edit.change.undoes is not None else {}
    return {**values, "kind": str(edit.change.kind), **undoes, "change": edit.change.body()}


def edits_from_jsonl(text: str) -> list[ThemeEdit]:
    """The edits that `edits_to_jsonl` wrote.

    Raises StudyError, naming the line, when one is not a theme edit.
    """
    return [_edit_from_line(line, number) for number, line in text_lines(text)]


def _edit_from_line(line: str, number: int) -> ThemeEdit:
    try:
        record = strict_json(clean_json(line)[0])
        change = ThemeChange.from_body(record["kind"], record["change"], record.get("undoes"))
        return ThemeEdit(int(record["act"]), change, record["author"], record["made_at"], record["reason"], record["taxonomy"])
    except (ValueError, KeyError, TypeError) as error:
        reason = f" ({error})" if type(error) is ValueError else ""
        raise StudyError(
            f"Line {number} is not a theme edit{reason}. Nothing was done. "
            "Use a file that was written by: audit themes history --out FILE.jsonl"
        ) from None


def curation_part(edits: Sequence[ThemeEdit], curated: CuratedTaxonomy) -> CurationPart | None:
    """The part of an export on curation: the curated themes and the history; None without effective edits.

    curated  the result of replaying the edits (annotation.theme_edits.replay.apply_edits)
    """
    if not curated.edits:
        return None
    facts = {
        "acts": len(edits),
        "counting": curated.edits,
        "fitting_no_longer": len(curated.conflicts),
        "acts_sha256": hashlib.sha256(edits_to_jsonl(edits).encode()).hexdigest(),
        "curated_sha256": curated.taxonomy.sha256,
    }
    history = history_table(edits, curated.conflicts)[EXPORTED_COLUMNS].iloc[::-1].reset_index(drop=True)
    return CurationPart(curated.taxonomy, curated.set_aside, history, facts)
