"""The demo's three studies, for a new user to see: drawn as any study is, then rated and decided as simulated people did."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

from annotation.label_store.assignments import Choice, next_task
from annotation.label_store.engine import LabelStore
from annotation.label_store.ratings import SIMULATED, NewRating, submit_and_next
from annotation.label_store.results import NewDecision, assignment_rows, submit_decision
from annotation.label_store.studies import StudyState, advance_study, list_studies
from annotation.studies.accounts import Role, add_account, find_account
from annotation.studies.adjudication import DisputedItem, close_study, list_disputes
from annotation.studies.sample_plan import SamplePlan
from annotation.studies.sampling import draw_study
from audit.store.runs import Run
from audit.vocabulary import LABELS

DEMO_ACCOUNTS = {
    "ana": ("Ana (simulated annotator)", Role.ANNOTATOR),
    "ben": ("Ben (simulated annotator)", Role.ANNOTATOR),
    "ada": ("Ada (simulated adjudicator)", Role.ADJUDICATOR),
    "petra": ("Petra (simulated PI)", Role.PI),
}
ADJUDICATOR = "ada"
FINISHED, DISPUTED, RUNNING = "demo-finished", "demo-disputed", "demo-running"
DONE_SO_FAR = {"ana": 0.6, "ben": 0.4}
"""Share of the running study that each annotator has rated."""


@dataclass(frozen=True)
class DemoStudy:
    """How one of the demo's studies is drawn, and how long ago it began."""

    title: str
    days_ago: int
    plan: SamplePlan


DEMO_STUDIES = {
    FINISHED: DemoStudy("Is the judge right? (finished)", 40, SamplePlan(seed=7, calibration=10)),
    DISPUTED: DemoStudy(
        "Is the judge right? (to be decided)", 20, SamplePlan(seed=9, per_label=dict.fromkeys(LABELS, 8), calibration=5)
    ),
    RUNNING: DemoStudy("Is the judge right? (under way)", 2, SamplePlan(seed=8, calibration=10)),
}


@dataclass(frozen=True)
class Reading:
    """What one person found on one item of a study.

    seconds  the time it took, to the microsecond
    reason   why the adjudicator chose the label; empty in an annotator's rating
    """

    study_id: str
    person: str
    item_id: str
    label: str
    seconds: float
    significance: str | None = None
    unsure: bool = False
    reason: str = ""


class Readers(Protocol):
    """Who rates and decides the demo's studies."""

    def rate(self, study_id: str, annotator: str, item: Mapping[str, Any]) -> Reading:
        """A rating of an item, a row of `assignment_rows`."""

    def decide(self, study_id: str, dispute: DisputedItem) -> Reading:
        """The adjudicator's decision."""


class RecordedReaders:
    """Readings from a file that the simulator wrote, one JSON object a line."""

    def __init__(self, path: Path) -> None:
        lines = path.read_text(encoding="utf-8").splitlines()
        readings = [Reading(**json.loads(line)) for line in lines]
        self._readings = {(reading.study_id, reading.person, reading.item_id): reading for reading in readings}

    def rate(self, study_id: str, annotator: str, item: Mapping[str, Any]) -> Reading:
        """The recorded rating."""
        return self._readings[study_id, annotator, item["item_id"]]

    def decide(self, study_id: str, dispute: DisputedItem) -> Reading:
        """The recorded decision."""
        return self._readings[study_id, ADJUDICATOR, dispute.item_id]


def create_demo_studies(store: LabelStore, run: Run, readers: Readers, now: datetime, passwords: Mapping[str, str]) -> list[str]:
    """Create the demo's accounts and its three studies on the demo run; the ids of the studies created now.

    FINISHED is closed, with every dispute adjudicated; DISPUTED is small, and its disputes wait for an adjudicator; RUNNING is
    half rated, after its calibration round. `passwords` has one for each of DEMO_ACCOUNTS, used for new accounts.
    """
    for username, (name, role) in DEMO_ACCOUNTS.items():
        if find_account(store, username) is None:
            add_account(store, username, role, passwords[username], now, name=name)
    existing = {study.study_id for study in list_studies(store)}
    missing = [study_id for study_id in DEMO_STUDIES if study_id not in existing]
    for study_id in missing:
        _create_demo_study(store, run, readers, study_id, now)
    return missing


def _create_demo_study(store: LabelStore, run: Run, readers: Readers, study_id: str, now: datetime) -> None:
    study = DEMO_STUDIES[study_id]
    start = now - timedelta(days=study.days_ago)
    everything = dict.fromkeys(DONE_SO_FAR, 1.0)
    draw_study(store, run, study.plan, study_id=study_id, title=study.title, annotators=tuple(DONE_SO_FAR), now=start)
    _rate(store, study_id, readers, start, everything)
    _advance(store, study_id, StudyState.CALIBRATION, start + timedelta(days=1))
    _rate(store, study_id, readers, start + timedelta(days=1), DONE_SO_FAR if study_id == RUNNING else everything)
    if study_id != RUNNING:
        _advance(store, study_id, StudyState.LABELLING, start + timedelta(days=8))
    if study_id == FINISHED:
        _adjudicate(store, study_id, readers, start + timedelta(days=8))


def _advance(store: LabelStore, study_id: str, state: StudyState, now: datetime) -> None:
    with store.begin() as tx:
        advance_study(tx, study_id, state, now)


def _rate(store: LabelStore, study_id: str, readers: Readers, start: datetime, shares: Mapping[str, float]) -> None:
    items = {row["seat_id"]: row for row in assignment_rows(store, study_id)}
    for annotator, share in shares.items():
        now, session_id = start, f"simulated/{annotator}"
        task = next_task(store, study_id, annotator, now, session_id)
        # The next task comes with the stored rating, as in the browser.
        while task is not None and task.total is not None and task.position <= share * task.total:
            reading = readers.rate(study_id, annotator, items[task.assignment_id])
            now += timedelta(seconds=reading.seconds)
            choice = Choice(reading.label, reading.significance, reading.unsure)
            rating = NewRating(task.assignment_id, choice, f"{session_id}/{task.assignment_id}", source=SIMULATED)
            _, task = submit_and_next(store, annotator, rating, now, session_id)


def _adjudicate(store: LabelStore, study_id: str, readers: Readers, now: datetime) -> None:
    for dispute in list_disputes(store, study_id):
        reading = readers.decide(study_id, dispute)
        key = f"simulated/{dispute.item_id}"
        decision = NewDecision(dispute.item_id, reading.label, reading.significance, reading.reason, key)
        submit_decision(store, ADJUDICATOR, decision, now)
        now += timedelta(seconds=reading.seconds)
    close_study(store, study_id, now)
