"""What the server does with an annotator's keys. Every event names its item and has a key of its own, so it counts once."""

from __future__ import annotations

import secrets
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from operator import attrgetter
from typing import Any

from annotation.label_store.assignments import Choice, LabellingTask, list_tasks, next_task, prefetch_tasks, restart_clock
from annotation.label_store.engine import LabelStore
from annotation.label_store.errors import StudyError
from annotation.label_store.ratings import NewRating, save_draft, submit_and_next
from audit.errors import AuditError
from pages._blinded.access import now

BEHIND, AHEAD = 6, 14
"""Tasks that the browser holds: rated ones to go back to, and those that come next, so that typing ahead meets its item."""

Event = Mapping[str, Any]


@dataclass
class LabellingSession:
    """One annotator's sitting at one study.

    visit    names the sitting for the clock of each task
    tasks    the annotator's own tasks by seat, in own order, as they stand now
    rated    seats that have a rating
    total    tasks in this round; None with open seats
    next     the seat of the first task without a rating; None when the round is done
    opened   the seat of a task that the annotator went back to
    handled  key of an event -> what went wrong with it, or nothing
    """

    study_id: str
    annotator: str
    visit: str = field(default_factory=lambda: secrets.token_hex(8))
    tasks: dict[str, LabellingTask] = field(default_factory=dict)
    rated: set[str] = field(default_factory=set)
    total: int | None = None
    next: str | None = None
    opened: str | None = None
    handled: dict[str, str] = field(default_factory=dict)

    def look(self, store: LabelStore) -> None:
        """Read the tasks, and start the clock of the next one.

        Raises StudyError when the annotator is not in the study.
        """
        following = next_task(store, self.study_id, self.annotator, now(), self.visit)
        if following is not None and following.total is None:
            prefetch_tasks(store, self.study_id, self.annotator, AHEAD)
        self.tasks = {task.assignment_id: task for task in list_tasks(store, self.study_id, self.annotator)}
        self.rated = {seat for seat, task in self.tasks.items() if task.revision}
        self.total = next((task.total for task in self.tasks.values()), None)
        self.next = following.assignment_id if following is not None else None

    def take(self, store: LabelStore, events: Sequence[Event]) -> None:
        """Do what the events say, in their order, each once. One that fails is told, changes nothing, and stops no other."""
        for event in events:
            key = str(event["key"])
            if key in self.handled:
                continue
            try:
                self._do(store, event)
                self.handled[key] = ""
            except AuditError as error:
                self.look(store)  # another tab or the investigator changed something: show what is so now
                self.handled[key] = str(error)

    def _do(self, store: LabelStore, event: Event) -> None:
        seat = str(event["seat"])
        if event["kind"] == "submit":
            self._submit(store, seat, event)
        elif event["kind"] == "draft":
            self._draft(store, seat, event)
        else:
            restart_clock(store, seat, self.annotator, now(), self.visit)
            self.opened = seat

    def _submit(self, store: LabelStore, seat: str, event: Event) -> None:
        press = NewRating(seat, choice_of(event), str(event["key"]), int(event["revises"]))
        rating, following = submit_and_next(store, self.annotator, press, now(), self.visit)
        self.opened = None
        self.rated.add(seat)
        if seat in self.tasks:
            self.tasks[seat] = replace(self.tasks[seat], revision=rating.revision, rated=press.choice, draft=None)
        self.next = following.assignment_id if following is not None else None
        if following is not None:
            self._hold(following)
            self._take_ahead(store, following)

    def _take_ahead(self, store: LabelStore, following: LabellingTask) -> None:
        """With open seats, have the next ones ready before the last is rated, a few at a time."""
        if following.total is None and len(self.tasks.keys() - self.rated) <= AHEAD // 2:
            self._hold(*prefetch_tasks(store, self.study_id, self.annotator, AHEAD))

    def _hold(self, *tasks: LabellingTask) -> None:
        """Put tasks among the annotator's own, which stand in their order."""
        known = all(task.assignment_id in self.tasks for task in tasks)
        self.tasks |= {task.assignment_id: task for task in tasks}
        if not known:
            self.tasks = dict(sorted(self.tasks.items(), key=lambda held: held[1].position))

    def _draft(self, store: LabelStore, seat: str, event: Event) -> None:
        known = self.tasks.get(seat)
        if known is None:
            raise StudyError(f"There is no task '{seat}' of yours. Nothing was saved.")
        if known.revision == int(event["revises"]):  # else it is an echo from before the submit
            save_draft(store, self.annotator, seat, choice_of(event), now())
            self.tasks[seat] = replace(known, draft=choice_of(event))

    def view(self, events: Sequence[Event]) -> dict[str, Any]:
        """What the browser gets: some tasks on either side of the current one, progress, and what became of its events."""
        keys = [str(event["key"]) for event in events]
        return {
            "study": self.study_id,
            "tasks": [task_view(task) for task in self._window()],
            "current": self.opened or self.next,
            "next": self.next,
            "rated": len(self.rated),
            "total": self.total,
            "handled": [key for key in keys if key in self.handled],
            "failed": {key: self.handled[key] for key in keys if self.handled.get(key)},
        }

    def _window(self) -> list[LabellingTask]:
        tasks = list(self.tasks.values())
        at = self.tasks.get(self.opened or self.next or "")
        place = bisect_left(tasks, at.position, key=attrgetter("position")) if at else len(tasks)
        ahead = islice((task for task in tasks[place:] if task is at or not task.revision), AHEAD)
        unrated = [self.tasks[self.next]] if self.next in self.tasks else []
        return list({task.assignment_id: task for task in [*tasks[max(0, place - BEHIND) : place], *ahead, *unrated]}.values())


def choice_of(event: Event) -> Choice:
    """What an event says of its item."""
    label, significance = event.get("label"), event.get("significance")
    return Choice(label or None, significance or None, bool(event.get("flagged")), str(event.get("comment") or ""))


def task_view(task: LabellingTask) -> dict[str, Any]:
    """A task as the browser gets it: what stands on the screen, and nothing else."""
    chosen = task.choice
    return {
        "seat": task.assignment_id, "position": task.position, "calibration": task.calibration, "question": task.question,
        "first": task.first, "second": task.second, "first_name": task.first_name, "second_name": task.second_name,
        "revision": task.revision, "label": chosen.label, "significance": chosen.significance,
        "flagged": chosen.flagged, "comment": chosen.comment,
    }  # fmt: skip
