"""An act of curation: what somebody changed about a taxonomy, when, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any


class EditKind(StrEnum):
    """What an act does."""

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
    """What an act changes. Themes go by their ids, which stay; `told` keeps the names that the curator saw, for reading only.

    rename        theme, name
    merge         theme goes into another theme, with its phrases and the themes below it
    split         some phrases of theme become a theme of their own: its id `into`, its name
    move phrases  phrases of theme (None: without a theme) go to the theme `into` (None: to no theme)
    move theme    theme goes under the parent `into` (None: to the top)
    set aside     theme is not clinically meaningful; bring back: it is after all
    undo          the act with the number `undoes` counts no longer; undoing an undo lets it count again
    """

    kind: EditKind
    theme: str | None = None
    into: str | None = None
    name: str = ""
    phrases: tuple[str, ...] = ()
    undoes: int | None = None
    told: Mapping[str, str] = field(default_factory=dict)

    def body(self) -> dict[str, Any]:
        """The change as JSON, without what is empty; `kind` and `undoes` stand beside it in the ledger."""
        return {name: value for name, value in asdict(self).items() if value and name not in ("kind", "undoes")}

    @classmethod
    def of(cls, kind: str, body: Mapping[str, Any], undoes: int | None = None) -> ThemeChange:
        """The change that `body` was made from."""
        return cls(EditKind(kind), **{**body, "phrases": tuple(body.get("phrases", ()))}, undoes=undoes)

    def called(self, theme_id: str | None) -> str:
        """A theme by the name that it had for the curator."""
        return "no theme" if theme_id is None else f"'{self.told.get(theme_id, theme_id)}'"


@dataclass(frozen=True)
class ThemeEdit:
    """A change with its number (from 1), author, time and reason.

    taxonomy  sha256 of the taxonomy as built that the curator had before them
    """

    seq: int
    change: ThemeChange
    author: str
    made_at: str
    reason: str
    taxonomy: str = ""


def effective_edits(acts: Iterable[ThemeEdit]) -> list[ThemeEdit]:
    """The acts that count, first to last: neither undone nor an undo. An undo may itself be undone."""
    undone: set[int] = set()
    found = []
    for act in sorted(acts, key=lambda act: act.seq, reverse=True):
        if act.seq in undone:
            continue
        if act.change.undoes is not None:
            undone.add(act.change.undoes)
        else:
            found.append(act)
    return found[::-1]


def undos_by_edit(acts: Sequence[ThemeEdit]) -> dict[int, ThemeEdit]:
    """Number of an act that counts no longer -> the undo that took it back."""
    void: dict[int, ThemeEdit] = {}
    for act in sorted(acts, key=lambda act: act.seq, reverse=True):
        if act.change.undoes is not None and act.seq not in void:
            void[act.change.undoes] = act
    return void


def describe_change(change: ThemeChange) -> str:
    """The change in words, with the names that the curator saw."""
    one, other = change.called(change.theme), change.called(change.into)
    count = f"{len(change.phrases):,} phrase{'' if len(change.phrases) == 1 else 's'}"
    return {
        EditKind.RENAME: f"renamed {one} to '{change.name}'",
        EditKind.MERGE: f"merged {one} into {other}",
        EditKind.SPLIT: f"split {count} off {one} as '{change.name}'",
        EditKind.MOVE_PHRASES: f"moved {count} from {one} to {other}",
        EditKind.MOVE_THEME: f"moved {one} " + ("to the top" if change.into is None else f"under {other}"),
        EditKind.SET_ASIDE: f"set {one} aside as not clinically meaningful",
        EditKind.BRING_BACK: f"brought {one} back as clinically meaningful",
        EditKind.UNDO: f"undid act {change.undoes}",
    }[change.kind]
