"""One small change to a text, recorded so that a page can mark it and a reader can check it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TextEdit:
    """A text in which one stretch was replaced.

    kind    what kind of change it is, such as "amount"
    text    the whole text after the change
    before  the stretch as it was; empty where something was added
    after   what is there now, from character `start` of `text`; empty where something was removed
    """

    kind: str
    text: str
    before: str
    after: str
    start: int

    @property
    def original(self) -> str:
        """The text as it was before the change."""
        return self.text[: self.start] + self.before + self.text[self.start + len(self.after) :]

    def record(self) -> dict[str, Any]:
        """The change without the text: kind, before, after, start."""
        return {"kind": self.kind, "before": self.before, "after": self.after, "start": self.start}


def edited(kind: str, text: str, start: int, end: int, after: str) -> TextEdit:
    """The edit that puts `after` in place of the characters `start` to `end` of `text`."""
    return TextEdit(kind, text[:start] + after + text[end:], text[start:end], after, start)
