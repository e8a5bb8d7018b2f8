"""Acts of curation as people take them away: a table, and JSON lines that say everything and can be replayed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pandas as pd

from annotation.label_store.errors import StudyError
from annotation.label_store.texts import storable_text
from annotation.theme_edits.edits import ThemeChange, ThemeEdit, describe_change, undos_by_edit
from annotation.theme_edits.replay import EditConflict

COLUMNS = (
    "act", "what", "author", "made_at", "reason", "standing", "kind", "theme", "into", "name", "phrases", "undoes", "taxonomy",
)  # fmt: skip
COUNTS, UNDONE, PART, NOT = "counts", "undone by act", "in part", "not applied"


def history_table(acts: Sequence[ThemeEdit], conflicts: Sequence[EditConflict] = ()) -> pd.DataFrame:
    """Every act, newest first.

    act             int, its number
    what            str, in words
    author, made_at, reason  str; made_at in UTC
    standing        str: counts; undone by act N; or, where it fits the taxonomy no longer: in part, not applied
    kind, theme, into, name, undoes, taxonomy  as in `acts.Act` and `acts.Change`; empty where the kind has none
    phrases         str, one phrase a line
    """
    void = undos_by_edit(acts)
    faulty = {conflict.act.seq: PART if conflict.in_part else NOT for conflict in conflicts}
    rows = [_row(act) | {"standing": _standing(act, void, faulty)} for act in reversed(acts)]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _standing(act: ThemeEdit, void: dict[int, ThemeEdit], faulty: dict[int, str]) -> str:
    return f"{UNDONE} {void[act.seq].seq}" if act.seq in void else faulty.get(act.seq, COUNTS)


def _row(act: ThemeEdit) -> dict[str, Any]:
    change = act.change
    return {
        "act": act.seq, "what": describe_change(change), "author": act.author, "made_at": act.made_at, "reason": act.reason,
        "kind": str(change.kind), "theme": change.theme or "", "into": change.into or "", "name": change.name,
        "phrases": storable_text("\n".join(change.phrases)), "undoes": str(change.undoes or ""), "taxonomy": act.taxonomy,
    }  # fmt: skip


def edits_to_jsonl(acts: Sequence[ThemeEdit]) -> str:
    """One act a line, first to last, with all that it says."""
    return "".join(json.dumps(_record(act)) + "\n" for act in acts)


def _record(act: ThemeEdit) -> dict[str, Any]:
    own = {"act": act.seq, "author": act.author, "made_at": act.made_at, "reason": act.reason, "taxonomy": act.taxonomy}
    undoes = {"undoes": act.change.undoes} if act.change.undoes is not None else {}
    return {**own, "kind": str(act.change.kind), **undoes, "change": act.change.body()}


def edits_from_jsonl(text: str) -> list[ThemeEdit]:
    """The acts that `edits_to_jsonl` wrote.

    Raises StudyError, naming the line, when one is no act.
    """
    return [_read(line, number) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]


def _read(line: str, number: int) -> ThemeEdit:
    try:
        told = json.loads(line)
        change = ThemeChange.of(told["kind"], told["change"], told.get("undoes"))
        return ThemeEdit(int(told["act"]), change, told["author"], told["made_at"], told["reason"], told["taxonomy"])
    except (ValueError, KeyError, TypeError):
        raise StudyError(
            f"Line {number} is no act of curation. Nothing was done. "
            "Give a file that was written by: annotation themes export --out FILE.jsonl"
        ) from None
