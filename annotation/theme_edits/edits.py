"""A theme edit: a change of a taxonomy, with its author, time and reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any


class EditKind(StrEnum):
    """The kind of an edit."""

    RENAME = "rename"
    MERGE = "merge"
    SPLIT = "split"
    MOVE_PHRASES = "move phrases"
    MOVE_THEME = "move theme"
    SET_ASIDE = "set aside"
    BRING_BACK = "bring back"
    UNDO = "undo"


@dataclass(frozen=True)
class ThemeChange:
    """The change made by an edit. Themes are identified by their ids, which never change.

    rename        gives theme a new name
    merge         moves the phrases of theme, and the themes below it, into the theme `into`
    split         moves some phrases of theme into a new theme with the id `into` and a name
    move phrases  moves phrases of theme (None: phrases without a theme) to the theme `into` (None: to no theme)
    move theme    puts theme under the parent `into` (None: at the top)
    set aside     marks theme as not meaningful; bring back reverses that
    undo          cancels edit number `undoes`; undoing an undo restores the edit

    shown_names   theme_id -> name that the editor saw, for reading only
    """

    kind: EditKind
    theme: str | None = None
    into: str | None = None
    name: str = ""
    phrases: tuple[str, ...] = ()
    undoes: int | None = None
    shown_names: Mapping[str, str] = field(default_factory=dict)

    def body(self) -> dict[str, Any]:
        """The change as JSON, without empty fields; `kind` and `undoes` have columns of their own in the ledger.

        The key `told` is part of every stored hash chain, so it keeps its old name.
        """
        values = {name: value for name, value in asdict(self).items() if value and name not in ("kind", "undoes", "shown_names")}
        return {**values, "told": dict(self.shown_names)} if self.shown_names else values

    @classmethod
    def from_body(cls, kind: str, body: Mapping[str, Any], undoes: int | None = None) -> ThemeChange:
        """The change that `body` was made from."""
        values = {name: value for name, value in body.items() if name != "told"}
        phrases, shown_names = tuple(body.get("phrases", ())), body.get("told", {})
        return cls(EditKind(kind), **{**values, "phrases": phrases}, undoes=undoes, shown_names=shown_names)

    def shown_name(self, theme_id: str | None) -> str:
        """The name under which the editor saw a theme, in quotes."""
        return "no theme" if theme_id is None else f"'{self.shown_names.get(theme_id, theme_id)}'"


@dataclass(frozen=True)
class ThemeEdit:
    """A change with its number (from 1), author, time and reason.

    taxonomy  sha256 of the built taxonomy that the editor was looking at
    """

    seq: int
    change: ThemeChange
    author: str
    made_at: str
    reason: str
    taxonomy: str = ""


def effective_edits(edits: Iterable[ThemeEdit]) -> list[ThemeEdit]:
    """The edits in effect, oldest first: neither undone nor an undo. An undo may itself be undone."""
    undone: set[int] = set()
    effective = []
    # Newest first: an undo is known before the edit it cancels, and the undo of an undo before both.
    for edit in sorted(edits, key=lambda edit: edit.seq, reverse=True):
        if edit.seq in undone:
            continue
        if edit.change.undoes is not None:
            undone.add(edit.change.undoes)
        else:
            effective.append(edit)
    return effective[::-1]


def undos_by_edit(edits: Sequence[ThemeEdit]) -> dict[int, ThemeEdit]:
    """Number of an undone edit -> the undo that cancelled it."""
    undos: dict[int, ThemeEdit] = {}
    for edit in sorted(edits, key=lambda edit: edit.seq, reverse=True):
        # An undo that was undone cancels nothing.
        if edit.change.undoes is not None and edit.seq not in undos:
            undos[edit.change.undoes] = edit
    return undos


def describe_change(change: ThemeChange) -> str:
    """The change in words, with the names that the editor saw."""
    theme, target = change.shown_name(change.theme), change.shown_name(change.into)
    count = f"{len(change.phrases):,} phrase{'' if len(change.phrases) == 1 else 's'}"
    return {
        EditKind.RENAME: f"renamed {theme} to '{change.name}'",
        EditKind.MERGE: f"merged {theme} into {target}",
        EditKind.SPLIT: f"split {count} off {theme} as '{change.name}'",
        EditKind.MOVE_PHRASES: f"moved {count} from {theme} to {target}",
        EditKind.MOVE_THEME: f"moved {theme} " + ("to the top" if change.into is None else f"under {target}"),
        EditKind.SET_ASIDE: f"set {theme} aside as not meaningful",
        EditKind.BRING_BACK: f"brought {theme} back as meaningful",
        EditKind.UNDO: f"undid edit {change.undoes}",
    }[change.kind]
