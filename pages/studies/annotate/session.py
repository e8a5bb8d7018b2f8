"""The server's side of labelling: what an annotator's key presses do.

Every event names its item and has an idempotency key, so it takes effect once, on the item that was on the screen.
"""

from __future__ import annotations

import secrets
from bisect import bisect_left
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import islice
from operator import attrgetter
from statistics import median
from typing import Any

from annotation.label_store.assignments import (
    Choice,
    LabellingTask,
    list_tasks,
    next_task,
    open_reference,
    prefetch_tasks,
    restart_clock,
)
from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.ratings import NewRating, recent_seconds, save_draft, submit_and_next
from audit.errors import AuditError
from pages._blinded.access import now
from pages._blinded.labelling.open_study import opaque_id
from pages._blinded.labelling.widget import browser_ranges, marks_of, rationale_of

# -- an annotator's own pace in plain words, and when to take a break ----------------------------------------

MIN_TIMED, TIMED = 5, 20
"""Items with a time before a pace is named, and the most recent ones that it is computed from."""
PAUSE_AFTER, PAUSE_SHOWN = 50, 5
"""Items in a row after which a break is suggested, and for how many items the suggestion is shown."""
BREAK_S = 300
"""Seconds between two labels that count as a break."""
HOUR_MIN = 60


def pace_sentence(seconds: Sequence[float], left: int | None) -> str:
    """How long an item takes, and how long the rest will take, rounded; empty with fewer than MIN_TIMED timed items.

    seconds  of the most recent items; their median counts, because one interrupted item would move a mean by minutes
    left     items without a label; None where that is not known, because several annotators share them
    """
    if len(seconds) < MIN_TIMED:
        return ""
    usual = median(seconds)
    rest = f", {_rough_time(usual * left)} left" if left else ""
    return f"About {_rough_seconds(usual)} an item{rest}."


def pause_sentence(in_a_row: int) -> str:
    """A suggestion to take a break after every PAUSE_AFTER items in a row; else empty."""
    if in_a_row < PAUSE_AFTER or in_a_row % PAUSE_AFTER >= PAUSE_SHOWN:
        return ""
    done = in_a_row // PAUSE_AFTER * PAUSE_AFTER
    return f"You have labelled {done} items in a row: a good moment for a short break. Everything is saved."


def _rough_seconds(seconds: float) -> str:
    if seconds >= 55:
        return f"{_halves(seconds / 60)} min"
    return f"{max(round(seconds), 1) if seconds < 10 else round(seconds / 5) * 5} s"


def _rough_time(seconds: float) -> str:
    minutes = seconds / 60
    if minutes < 1:
        return "less than a minute"
    if minutes < 10:
        return f"about {round(minutes)} min"
    if minutes < HOUR_MIN - 2.5:
        return f"about {round(minutes / 5) * 5} min"
    hours = _halves(minutes / HOUR_MIN)
    return f"about {hours} hour{'' if hours == '1' else 's'}"


def _halves(number: float) -> str:
    """To the nearest half, as people write it: 1, 1½, 2."""
    whole, half = divmod(max(round(number * 2), 2), 2)
    return f"{whole}{'½' if half else ''}"


# Tasks kept in the browser: rated ones to go back to, and the next ones, so that fast typing meets the right item.
TASKS_BEHIND, TASKS_AHEAD = 6, 14
RECENT = 5

Event = Mapping[str, Any]


@dataclass
class LabellingSession:
    """One annotator's labelling session in one study.

    session_id  identifies the session for the clock of each task
    tasks       the annotator's tasks by assignment id, in their own order
    rated       ids of assignments with a rating
    total       tasks in this round; None where annotators claim unassigned slots
    next        id of the first task without a rating; None when the round is done
    opened      id of a task that the annotator went back to
    references  ids of tasks whose reference answer the annotator has opened in this session
    handled     key of an event -> its error message, or an empty text
    recent      ids of the assignments labelled last, the newest last; at first, those with the highest positions
    seconds     what the last timed items took
    in_a_row    items labelled since the last break; last_label: when the last one was
    """

    study_id: str
    annotator: str
    session_id: str = field(default_factory=lambda: secrets.token_hex(8))
    tasks: dict[str, LabellingTask] = field(default_factory=dict)
    rated: set[str] = field(default_factory=set)
    total: int | None = None
    next: str | None = None
    opened: str | None = None
    references: set[str] = field(default_factory=set)
    handled: dict[str, str] = field(default_factory=dict)
    recent: list[str] = field(default_factory=list)
    seconds: deque[float] = field(default_factory=lambda: deque(maxlen=TIMED))
    in_a_row: int = 0
    last_label: datetime | None = None

    def refresh(self, store: LabelStore) -> None:
        """Read the tasks, and start the clock of the next one.

        Raises StudyError when the annotator does not take part in the study.
        """
        following = next_task(store, self.study_id, self.annotator, now(), self.session_id)
        if following is not None and following.total is None:
            prefetch_tasks(store, self.study_id, self.annotator, TASKS_AHEAD)
        self.tasks = {task.assignment_id: task for task in list_tasks(store, self.study_id, self.annotator)}
        self.rated = {assignment_id for assignment_id, task in self.tasks.items() if task.revision}
        self.total = next((task.total for task in self.tasks.values()), None)
        self.next = following.assignment_id if following is not None else None
        if not self.recent:
            self.recent = [name for name, task in self.tasks.items() if task.revision][-RECENT:]
            self.seconds.extend(recent_seconds(store, self.study_id, self.annotator, TIMED))

    def open_item(self, store: LabelStore, assignment_id: str) -> None:
        """Go to an item that has been on the screen, or to the next one.

        Raises StudyError for another one: the items that are still to come keep their order.
        """
        self.refresh(store)
        task = self.tasks.get(assignment_id)
        if task is None or not (task.revision or task.draft or assignment_id == self.next):
            raise StudyError(f"You have not come to an item '{assignment_id}'. Nothing was changed. Choose another on My items.")
        restart_clock(store, assignment_id, self.annotator, now(), self.session_id)
        self.opened = assignment_id

    def handle(self, store: LabelStore, events: Sequence[Event]) -> None:
        """Handle the events in order, each once. One that fails is reported, changes nothing, and does not stop the others."""
        for event in events:
            key = str(event["key"])
            if key in self.handled:  # the browser sends an event again until it is confirmed
                continue
            try:
                self._handle_event(store, event)
                self.handled[key] = ""
            except AuditError as error:
                self.refresh(store)  # another tab or the investigator changed something: show the current state
                self.handled[key] = str(error)

    def _handle_event(self, store: LabelStore, event: Event) -> None:
        assignment_id = str(event["assignment"])
        if event["kind"] == "submit":
            self._submit(store, assignment_id, event)
        elif event["kind"] == "draft":
            self._save_draft(store, assignment_id, event)
        elif event["kind"] == "reference":
            open_reference(store, assignment_id, self.annotator, now())
            self.references.add(assignment_id)
        else:
            restart_clock(store, assignment_id, self.annotator, now(), self.session_id)
            self.opened = assignment_id

    def _submit(self, store: LabelStore, assignment_id: str, event: Event) -> None:
        choice = self._choice(store, assignment_id, event)
        new = NewRating(assignment_id, choice, str(event["key"]), int(event["revises"]))
        rating, following = submit_and_next(store, self.annotator, new, now(), self.session_id)
        self.opened = None
        self.rated.add(assignment_id)
        self._note_pace(assignment_id, rating.seconds if rating.revision == 1 else None)
        if assignment_id in self.tasks:
            task = self.tasks[assignment_id]
            self.tasks[assignment_id] = replace(task, revision=rating.revision, rated=new.choice, draft=None)
        self.next = following.assignment_id if following is not None else None
        if following is not None:
            self._add_tasks(following)
            self._prefetch(store, following)

    def _choice(self, store: LabelStore, assignment_id: str, event: Event) -> Choice:
        if assignment_id not in self.tasks:  # claimed in another tab: its sentences are needed
            self.refresh(store)
        return choice_of(event, self.tasks.get(assignment_id))

    def _note_pace(self, assignment_id: str, seconds: float | None) -> None:
        self.recent = [*(name for name in self.recent if name != assignment_id), assignment_id][-RECENT:]
        if seconds is not None:
            self.seconds.append(seconds)
        at = now()
        if self.last_label is not None and at - self.last_label > timedelta(seconds=BREAK_S):
            self.in_a_row = 0
        self.in_a_row, self.last_label = self.in_a_row + 1, at

    def _prefetch(self, store: LabelStore, following: LabellingTask) -> None:
        # Claim a few slots before the last one is rated, so that nobody waits for the database between two items.
        if following.total is None and len(self.tasks.keys() - self.rated) <= TASKS_AHEAD // 2:
            self._add_tasks(*prefetch_tasks(store, self.study_id, self.annotator, TASKS_AHEAD))

    def _add_tasks(self, *tasks: LabellingTask) -> None:
        all_known = all(task.assignment_id in self.tasks for task in tasks)
        self.tasks |= {task.assignment_id: task for task in tasks}
        if not all_known:
            self.tasks = dict(sorted(self.tasks.items(), key=lambda item: item[1].position))

    def _save_draft(self, store: LabelStore, assignment_id: str, event: Event) -> None:
        task = self.tasks.get(assignment_id)
        if task is None:
            raise StudyError(f"You have no task '{assignment_id}'. Nothing was saved.")
        if task.revision == int(event["revises"]):  # otherwise the draft was sent before the rating and arrived after it
            choice = choice_of(event, task)
            save_draft(store, self.annotator, assignment_id, choice, now())
            self.tasks[assignment_id] = replace(task, draft=choice)

    def view(self, events: Sequence[Event]) -> dict[str, Any]:
        """What the browser gets: the tasks around the current one, the progress, and the outcome of its events."""
        keys = [str(event["key"]) for event in events]
        return {
            "study": opaque_id(self.study_id),
            "tasks": [task_view(task, task.assignment_id in self.references) for task in self._window()],
            "current": self.opened or self.next,
            "next": self.next,
            "rated": len(self.rated),
            "total": self.total,
            "recent": self.recent[::-1],
            "pace": pace_sentence(self.seconds, None if self.total is None else self.total - len(self.rated)),
            "pause": pause_sentence(self.in_a_row),
            "handled": [key for key in keys if key in self.handled],
            "failed": {key: self.handled[key] for key in keys if self.handled.get(key)},
        }

    def _window(self) -> list[LabellingTask]:
        tasks = list(self.tasks.values())
        current = self.tasks.get(self.opened or self.next or "")
        index = bisect_left(tasks, current.position, key=attrgetter("position")) if current else len(tasks)
        ahead = islice((task for task in tasks[index:] if task is current or not task.revision), TASKS_AHEAD)
        unrated = [self.tasks[self.next]] if self.next in self.tasks else []
        recent = [self.tasks[name] for name in self.recent if name in self.tasks]
        window = [*tasks[max(0, index - TASKS_BEHIND) : index], *ahead, *unrated, *recent]
        return list({task.assignment_id: task for task in window}.values())


def choice_of(event: Event, task: LabellingTask | None) -> Choice:
    """The choice in an event about a task. Raises StudyError where a marked sentence is not in its answers."""
    label, significance = event.get("label"), event.get("significance")
    rationale = rationale_of(event.get("marks") or [], (task.first, task.second)) if task else ()
    comment, difference = str(event.get("comment") or ""), event.get("difference") or None
    return Choice(label or None, significance or None, bool(event.get("flagged")), comment, rationale, difference)


def task_view(task: LabellingTask, reference_opened: bool = False) -> dict[str, Any]:
    """A task as the browser gets it; the reference answer only once it has been asked for."""
    # Blinding: what is on the screen and nothing else, because a browser shows its user everything that it was sent.
    choice, answers = task.choice, (task.first, task.second)
    return {
        "assignment": task.assignment_id, "position": task.position, "calibration": task.calibration,
        "question": task.question, "first": task.first, "second": task.second, "first_name": task.first_name,
        "second_name": task.second_name, "revision": task.revision, "label": choice.label,
        "significance": choice.significance, "flagged": choice.flagged, "comment": choice.comment,
        "has_reference": task.reference is not None, "reference": task.reference if reference_opened else None,
        "sentences": [browser_ranges(text) for text in answers], "marks": marks_of(choice.rationale, answers),
        "difference": choice.difference,
    }  # fmt: skip
