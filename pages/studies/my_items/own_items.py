"""An annotator's own items of a study as a grid: which are labelled, unsure, commented, and which one is next.

The questions of items that were not marked are not listed. Some items come twice, to measure whether an annotator labels them
alike, and a list of all questions would show which.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from annotation.label_store.assignments import LabellingTask
from annotation.schemes import Scheme
from pages._blinded.templates import component

LABELLED, BEGUN, NEXT, TO_COME = "labelled", "begun", "next", "to come"
_grid = component("studies/my_items/own_items")


@dataclass(frozen=True)
class OwnItem:
    """One item in the grid.

    state     LABELLED; BEGUN: a choice is not saved as a label; NEXT: the first without a label; TO_COME: not shown yet
    choice    what the annotator chose, in the scheme's words; empty where nothing
    unsure    whether the annotator marked it so
    question  only of an item that is begun, unsure or commented
    """

    assignment: str
    position: int
    state: str
    choice: str
    unsure: bool
    comment: str
    question: str

    @property
    def is_open(self) -> bool:
        """Whether it may be opened: items that are still to come are shown in their order."""
        return self.state != TO_COME

    @property
    def is_marked(self) -> bool:
        """Whether its annotator may want to come back to it."""
        return self.unsure or bool(self.comment) or self.state == BEGUN


def own_items(tasks: Sequence[LabellingTask], scheme: Scheme) -> list[OwnItem]:
    """The items of an annotator, in the annotator's own order."""
    first = next((task.assignment_id for task in tasks if not task.revision), None)
    return [_own_item(task, scheme, task.assignment_id == first) for task in tasks]


def _own_item(task: LabellingTask, scheme: Scheme, is_next: bool) -> OwnItem:
    chosen = task.choice
    state = BEGUN if task.draft else LABELLED if task.revision else NEXT if is_next else TO_COME
    words = [scheme.names[chosen.label] if chosen.label else "", chosen.significance or ""]
    choice = ", ".join(word for word in words if word)
    item = OwnItem(task.assignment_id, task.position, state, choice, chosen.flagged, chosen.comment, task.question)
    return item if item.is_marked else OwnItem(**{**asdict(item), "question": ""})


def item_grid(items: Sequence[OwnItem]) -> OwnItem | None:
    """Draw the grid, and below it the marked items with their comments; the item that was clicked."""
    data = [{**asdict(item), "open": item.is_open, "marked": item.is_marked} for item in items]
    event = _grid(key="own_items", data={"items": data}, on_open_change=lambda: None)
    clicked = getattr(event, "open", None)
    # What a browser sends is not believed: another tab may show an older grid.
    return next((item for item in items if item.is_open and item.assignment == clicked), None)
