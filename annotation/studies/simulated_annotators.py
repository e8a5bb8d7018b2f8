"""Simulated annotators: noisy readers of the demo's known truth, so that a newcomer sees studies at work."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from annotation.label_store.assignments import Choice, next_task
from annotation.label_store.decisions import NewDecision, submit_decision
from annotation.label_store.engine import LabelStore
from annotation.label_store.errors import StudyError
from annotation.label_store.ratings import SIMULATED, NewRating, submit_and_next
from annotation.label_store.results import assignment_rows
from annotation.label_store.studies import StudyState, advance_study, list_studies
from annotation.studies.accounts import Role, add_account, find_account
from annotation.studies.adjudication import close_study, list_disputes
from annotation.studies.sampling import SamplePlan, draw_study
from audit.settings import Settings
from audit.store.runs import Run
from audit.vocabulary import DISAGREEING, LABELS, SIGNIFICANCES, Label

DEMO_ACCOUNTS = {
    "ana": ("Ana (simulated annotator)", Role.ANNOTATOR),
    "ben": ("Ben (simulated annotator)", Role.ANNOTATOR),
    "ada": ("Ada (simulated adjudicator)", Role.ADJUDICATOR),
    "petra": ("Petra (simulated PI)", Role.PI),
}
FINISHED, DISPUTED, RUNNING = "demo-finished", "demo-disputed", "demo-running"
DONE_SO_FAR = {"ana": 0.6, "ben": 0.4}
"""How much of the running study each has rated."""

READS = {
    Label.ABSENT: (0.98, 0.00, 0.01, 0.01, 0.00),
    Label.CONSISTENT: (0.01, 0.76, 0.21, 0.02, 0.00),
    Label.COMPLEMENTARY: (0.01, 0.11, 0.77, 0.11, 0.00),
    Label.DIVERGENT: (0.01, 0.02, 0.18, 0.75, 0.04),
    Label.CONTRADICTORY: (0.00, 0.00, 0.02, 0.13, 0.85),
}
"""True label -> chances of the labels in their order. Two such readers agree on about three quarters of a stratified sample,
as the two clinicians of arXiv:2605.29084, section 5.1, do (73 %)."""

SECONDS, SPREAD = {Label.ABSENT: 8.0}, 0.5
OTHER_SECONDS = 24.0
"""Median time for an item, and the standard deviation of its logarithm."""
SIGNIFICANCE = (0.35, 0.45, 0.20)
UNSURE = 0.06
STEADY = 0.85
"""Chance that somebody who meets an item again says what they said before."""
REASONS = (
    "The two name different figures for the same thing, and a patient would act on them.",
    "One says more than the other; nothing in them conflicts.",
    "On this point they tell the patient the same.",
    "Only one of them speaks to the question.",
    "They tell the patient to do opposite things.",
)


@dataclass(frozen=True)
class DemoStudy:
    """How one of the demo's studies was drawn, and how long ago it began."""

    title: str
    days_ago: int
    plan: SamplePlan


STAGES = {
    FINISHED: DemoStudy("Is the judge right? (finished)", 40, SamplePlan(seed=7, calibration=10)),
    DISPUTED: DemoStudy(
        "Is the judge right? (to be decided)", 20, SamplePlan(seed=9, per_label=dict.fromkeys(LABELS, 8), calibration=5)
    ),
    RUNNING: DemoStudy("Is the judge right? (under way)", 2, SamplePlan(seed=8, calibration=10)),
}

Relation = Callable[[str, str, str], Label]
"""(question id, handbook id, handbook id) -> true label."""


@dataclass(frozen=True)
class SimulatedAnnotator:
    """A simulated annotator in one study: the truth by item, and the luck of the draw."""

    truth: Mapping[str, Label]
    chance: np.random.Generator
    said: dict[str, Label]

    def choose(self, item_id: str, repeat_of: str | None) -> tuple[Choice, float]:
        """A choice, and the seconds that it took."""
        label = self._label(item_id, repeat_of)
        significance = None
        if label in DISAGREEING:
            significance = SIGNIFICANCES[int(self.chance.choice(len(SIGNIFICANCES), p=SIGNIFICANCE))]
        seconds = SECONDS.get(label, OTHER_SECONDS) * float(np.exp(self.chance.normal(0, SPREAD)))
        return Choice(label, significance, bool(self.chance.random() < UNSURE)), seconds

    def _label(self, item_id: str, repeat_of: str | None) -> Label:
        if repeat_of in self.said and self.chance.random() < STEADY:
            return self.said[str(repeat_of)]
        self.said[item_id] = LABELS[int(self.chance.choice(len(LABELS), p=READS[self.truth[item_id]]))]
        return self.said[item_id]


def create_demo_studies(
    store: LabelStore, run: Run, settings: Settings, now: datetime, passwords: Mapping[str, str]
) -> list[str]:
    """Make the demo's people and its three studies on the demo run, and return the ids of those that were not there yet.

    FINISHED is closed, with every difference adjudicated; DISPUTED is small, and its differences wait for an adjudicator;
    RUNNING is half rated, with the calibration round behind it.
    `passwords` has one for each of PEOPLE, given to those who have no account yet.

    Raises StudyError when `run` is not a demo run whose truth stands beside its release.
    """
    relation = _truths(run, settings)
    for username, (name, role) in DEMO_ACCOUNTS.items():
        if find_account(store, username) is None:
            add_account(store, username, role, passwords[username], now, name=name)
    there = {study.study_id for study in list_studies(store)}
    made = [study_id for study_id in STAGES if study_id not in there]
    for study_id in made:
        _make(store, run, relation, study_id, now)
    return made


def _make(store: LabelStore, run: Run, relation: Relation, study_id: str, now: datetime) -> None:
    stage = STAGES[study_id]
    start = now - timedelta(days=stage.days_ago)
    draw_study(store, run, stage.plan, study_id=study_id, title=stage.title, annotators=("ana", "ben"), now=start)
    rows = assignment_rows(store, study_id)
    truth = {row["item_id"]: relation(row["question_id"], row["handbook_a"], row["handbook_b"]) for row in rows}
    readers = {
        name: SimulatedAnnotator(truth, np.random.default_rng([stage.plan.seed, n]), {}) for n, name in enumerate(DONE_SO_FAR)
    }
    _rate(store, study_id, readers, start, dict.fromkeys(readers, 1.0))
    _move(store, study_id, StudyState.CALIBRATION)
    shares = DONE_SO_FAR if study_id == RUNNING else dict.fromkeys(readers, 1.0)
    _rate(store, study_id, readers, start + timedelta(days=1), shares)
    if study_id != RUNNING:
        _move(store, study_id, StudyState.LABELLING)
    if study_id == FINISHED:
        _adjudicate(store, study_id, truth, start + timedelta(days=8))


def _move(store: LabelStore, study_id: str, state: StudyState) -> None:
    with store.begin() as tx:
        advance_study(tx, study_id, state)


def _rate(
    store: LabelStore, study_id: str, readers: Mapping[str, SimulatedAnnotator], start: datetime, shares: Mapping[str, float]
) -> None:
    item = {row["seat_id"]: (row["item_id"], row["repeat_of"]) for row in assignment_rows(store, study_id)}
    for annotator, reader in readers.items():
        now, visit = start, f"simulated/{annotator}"
        task = next_task(store, study_id, annotator, now, visit)
        while task is not None and task.total is not None and task.position <= shares[annotator] * task.total:
            choice, seconds = reader.choose(*item[task.seat_id])
            now += timedelta(seconds=seconds)
            press = NewRating(task.seat_id, choice, f"{visit}/{task.seat_id}", source=SIMULATED)
            _, task = submit_and_next(store, annotator, press, now, visit)


def _adjudicate(store: LabelStore, study_id: str, truth: Mapping[str, Label], now: datetime) -> None:
    """The simulated adjudicator knows the truth."""
    for dispute in list_disputes(store, study_id):
        label = truth[dispute.item_id]
        significance = SIGNIFICANCES[1] if label in DISAGREEING else None
        told = next((r.significance for r in dispute.readings if r.label == label and r.significance), significance)
        reason = REASONS[(3, 2, 1, 0, 4)[label.code]]
        submit_decision(store, "ada", NewDecision(dispute.item_id, label, told, reason, f"simulated/{dispute.item_id}"), now)
        now += timedelta(seconds=60)
    close_study(store, study_id)


def _truths(run: Run, settings: Settings) -> Relation:
    """The true label of a pair, from the file that the demo writes beside its release."""
    made = run.manifest
    path = settings.releases_dir / f"demo-{made.get('scale')}-{made.get('seed')}" / "truth.jsonl"
    if not run.synthetic or not path.is_file():
        raise StudyError(f"Run {run.key} is no demo run: there is no {path}. Nothing was made. Write it with: audit demo")
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    known = {record["question_id"]: (list(record["values"]), record["relation"]) for record in records}

    def relation(question_id: str, handbook_a: str, handbook_b: str) -> Label:
        handbooks, codes = known[question_id]
        code: int = codes[handbooks.index(handbook_a)][handbooks.index(handbook_b)]
        return LABELS[code]

    return relation
