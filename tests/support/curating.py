"""A small taxonomy, and edits of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from annotation.theme_edits.edits import EditKind, ThemeChange, ThemeEdit
from audit.release.taxonomy import Taxonomy, Theme

TEETH = ("check-up before listing", "dental cleaning", "pulling teeth", "soft toothbrush")
LIFTING = ("heavy bags", "weight lifting")
BEACH = ("beach", "sunscreen")
LOOSE = ("parking",)


def small() -> Taxonomy:
    """Two parents (body, outdoors), three themes (teeth, lifting, sun), and a phrase without a theme."""
    return Taxonomy(
        (
            Theme("p-body", "body", None, ()),
            Theme("p-out", "outdoors", None, ()),
            Theme("t-teeth", "teeth", "p-body", TEETH, ("teeth",), "dental cleaning", ("dental cleaning", "pulling teeth")),
            Theme("t-lift", "lifting", "p-body", LIFTING, ("lifting",), "weight lifting", ("weight lifting", "heavy bags")),
            Theme("t-sun", "sun", "p-out", BEACH, ("sun",), "sunscreen", ("sunscreen", "beach")),
        ),
        LOOSE,
        built={"seed": 1},
        counts={"phrases": 20, "topics": 9, "themes": 3, "parents": 2, "no_theme_topics": 1, "no_theme_phrases": 4},
        sha256="ab" * 32,
    )


def change(kind: EditKind, theme: str | None = None, into: str | None = None, **other: Any) -> ThemeChange:
    names = {theme.theme_id: theme.name for theme in small().themes}
    return ThemeChange(kind, theme, into, **{"shown_names": names, **other})


def rename(theme: str, name: str) -> ThemeChange:
    return change(EditKind.RENAME, theme, name=name)


def merge(theme: str, into: str) -> ThemeChange:
    return change(EditKind.MERGE, theme, into)


def split(theme: str, phrases: Iterable[str], new: str, name: str) -> ThemeChange:
    return change(EditKind.SPLIT, theme, new, phrases=tuple(phrases), name=name)


def move(phrases: Iterable[str], theme: str | None, into: str | None) -> ThemeChange:
    return change(EditKind.MOVE_PHRASES, theme, into, phrases=tuple(phrases))


def under(theme: str, parent: str | None) -> ThemeChange:
    return change(EditKind.MOVE_THEME, theme, parent)


def undo(seq: int) -> ThemeChange:
    return change(EditKind.UNDO, undoes=seq)


def edits(*changes: ThemeChange) -> list[ThemeEdit]:
    return [
        ThemeEdit(n, change, "vera", f"2026-03-01T09:{n:02}", f"because {n}", "ab" * 32)
        for n, change in enumerate(changes, start=1)
    ]


def outline(taxonomy: Taxonomy) -> dict[str, tuple[str, str | None, list[str]]]:
    """id -> (name, parent, phrases), for a look at the whole."""
    return {theme.theme_id: (theme.name, theme.parent_id, sorted(theme.topics)) for theme in taxonomy.themes}
