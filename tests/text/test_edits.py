"""A change to a text is recorded so that it can be found in the text and undone."""

from __future__ import annotations

import pytest

from audit.text.edits import edited


@pytest.mark.parametrize(
    ("start", "end", "after", "text"),
    [
        (5, 13, "nine months", "Wait nine months."),
        (4, 4, " at least", "Wait at least 3 months."),
        (4, 13, "", "Wait."),
    ],
)
def test_an_edit_replaces_one_stretch_and_can_be_undone(start: int, end: int, after: str, text: str) -> None:
    edit = edited("amount", "Wait 3 months.", start, end, after)
    assert edit.text == text
    assert edit.text[edit.start : edit.start + len(edit.after)] == after
    assert edit.original == "Wait 3 months."
    assert edit.record() == {"kind": "amount", "before": "Wait 3 months."[start:end], "after": after, "start": start}
