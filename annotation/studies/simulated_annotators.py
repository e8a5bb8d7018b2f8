"""Simulated annotators for the demo: they report its known truth with errors, so a new user sees studies with data."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from annotation.label_store.assignments import Choice, next_task
from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.ratings import SIMULATED, NewRating, submit_and_next
from annotation.label_store.results import NewDecision, assignment_rows, submit_decision
from annotation.label_store.studies import StudyState, advance_study, list_studies
from annotation.studies.accounts import Role, add_account, find_account
from annotation.studies.adjudication import close_study, list_disputes
from annotation.studies.sample_plan import SamplePlan
from annotation.studies.sampling import draw_study
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
"""Share of the running study that each annotator has rated."""

CONFUSION = {
    Label.ABSENT: (0.98, 0.00, 0.01, 0.01, 0.00),
    Label.CONSISTENT: (0.01, 0.76, 0.21, 0.02, 0.00),
    Label.COMPLEMENTARY: (0.01, 0.11, 0.77, 0.11, 0.00),
    Label.DIVERGENT: (0.01, 0.02, 0.18, 0.75, 0.04),
    Label.CONTRADICTORY: (0.00, 0.00, 0.02, 0.13, 0.85),
}
"""True label -> probability of each label, in label order. Two such annotators agree on about three quarters of a stratified
sample, like the two clinicians of arXiv:2605.29084, section 5.1 (73 %)."""

MEDIAN_SECONDS, LOG_SECONDS_SD = {Label.ABSENT: 8.0}, 0.5
OTHER_MEDIAN_SECONDS = 24.0
"""Median time for an item, and the standard deviation of its logarithm."""
SIGNIFICANCE_SHARES = {"low": (0.62, 0.32, 0.06), "medium": (0.22, 0.60, 0.18), "high": (0.06, 0.34, 0.60)}
"""How much a disagreement on the question's policy tends to matter -> probability of low, medium and high."""
SIGNIFICANCE_SHARED = 0.6
"""Probability that an annotator grades an item as its text suggests to everybody, and not by an impression of their own."""
UNSURE_SHARE = 0.06
REPEAT_CONSISTENCY = 0.85
"""Probability that an annotator who sees an item again chooses the same label."""
REASONS = (
    "Only one of them answers the question.",
    "On this point they give the patient the same advice.",
    "One gives more detail than the other; nothing in them conflicts.",
    "The two give different figures for the same thing, and a patient would act on them.",
    "They tell the patient to do opposite things.",
)
"""Why the adjudicator chose each label, in label order."""


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

Truth = tuple[Label, str]
"""The true label of a pair, and how much disagreements on its question tend to matter: low, medium or high."""
Relation = Callable[[str, str, str], Truth]
"""(question id, handbook id, handbook id) -> the truth about the pair."""


@dataclass(frozen=True)
class SimulatedAnnotator:
    """A simulated annotator in one study.

    truth   what is true, by item
    chosen  label that the annotator chose, by item
    """

    truth: Mapping[str, Truth]
    rng: np.random.Generator
    chosen: dict[str, Label]

    def choose(self, item_id: str, repeat_of: str | None) -> tuple[Choice, float]:
        """A choice, and the seconds it took."""
        label = self._choose_label(item_id, repeat_of)
        significance = None
        if label in DISAGREEING:
            significance = self._grade(repeat_of or item_id)
        seconds = MEDIAN_SECONDS.get(label, OTHER_MEDIAN_SECONDS) * float(np.exp(self.rng.normal(0, LOG_SECONDS_SD)))
        return Choice(label, significance, bool(self.rng.random() < UNSURE_SHARE)), seconds

    def _grade(self, item_id: str) -> str:
        _, severity = self.truth[item_id]
        # What an item suggests is the same for everybody, whoever grades it and when
        everybody = np.random.default_rng(list(item_id.encode()))
        rng = everybody if self.rng.random() < SIGNIFICANCE_SHARED else self.rng
        return SIGNIFICANCES[int(rng.choice(len(SIGNIFICANCES), p=SIGNIFICANCE_SHARES[severity]))]

    def _choose_label(self, item_id: str, repeat_of: str | None) -> Label:
        if repeat_of in self.chosen and self.rng.random() < REPEAT_CONSISTENCY:
            return self.chosen[str(repeat_of)]
        self.chosen[item_id] = LABELS[int(self.rng.choice(len(LABELS), p=CONFUSION[self.truth[item_id][0]]))]
        return self.chosen[item_id]


def create_demo_studies(
    store: LabelStore, run: Run, settings: Settings, now: datetime, passwords: Mapping[str, str]
) -> list[str]:
    """Create the demo's accounts and its three studies on the demo run; the ids of the studies created now.

    FINISHED is closed, with every dispute adjudicated; DISPUTED is small, and its disputes wait for an adjudicator; RUNNING is
    half rated, after its calibration round. `passwords` has one for each of DEMO_ACCOUNTS, used for new accounts.

    Raises StudyError when `run` is not a demo run with a truth.jsonl next to its release.
    """
    relation = _true_relation(run, settings)
    for username, (name, role) in DEMO_ACCOUNTS.items():
        if find_account(store, username) is None:
            add_account(store, username, role, passwords[username], now, name=name)
    existing = {study.study_id for study in list_studies(store)}
    missing = [study_id for study_id in DEMO_STUDIES if study_id not in existing]
    for study_id in missing:
        _create_demo_study(store, run, relation, study_id, now)
    return missing


def _create_demo_study(store: LabelStore, run: Run, relation: Relation, study_id: str, now: datetime) -> None:
    study = DEMO_STUDIES[study_id]
    start = now - timedelta(days=study.days_ago)
    draw_study(store, run, study.plan, study_id=study_id, title=study.title, annotators=("ana", "ben"), now=start)
    rows = assignment_rows(store, study_id)
    truth = {row["item_id"]: relation(row["question_id"], row["handbook_a"], row["handbook_b"]) for row in rows}
    people = {
        # A generator for each, so the choices of one do not depend on how many items the other has rated.
        name: SimulatedAnnotator(truth, np.random.default_rng([study.plan.seed, n]), {})
        for n, name in enumerate(DONE_SO_FAR)
    }
    _rate(store, study_id, people, start, dict.fromkeys(people, 1.0))
    _advance(store, study_id, StudyState.CALIBRATION, start + timedelta(days=1))
    shares = DONE_SO_FAR if study_id == RUNNING else dict.fromkeys(people, 1.0)
    _rate(store, study_id, people, start + timedelta(days=1), shares)
    if study_id != RUNNING:
        _advance(store, study_id, StudyState.LABELLING, start + timedelta(days=8))
    if study_id == FINISHED:
        labels = {item_id: label for item_id, (label, _) in truth.items()}
        _adjudicate(store, study_id, labels, start + timedelta(days=8))


def _advance(store: LabelStore, study_id: str, state: StudyState, now: datetime) -> None:
    with store.begin() as tx:
        advance_study(tx, study_id, state, now)


def _rate(
    store: LabelStore, study_id: str, people: Mapping[str, SimulatedAnnotator], start: datetime, shares: Mapping[str, float]
) -> None:
    item = {row["seat_id"]: (row["item_id"], row["repeat_of"]) for row in assignment_rows(store, study_id)}
    for annotator, person in people.items():
        now, session_id = start, f"simulated/{annotator}"
        task = next_task(store, study_id, annotator, now, session_id)
        # The next task comes with the stored rating, as in the browser.
        while task is not None and task.total is not None and task.position <= shares[annotator] * task.total:
            choice, seconds = person.choose(*item[task.assignment_id])
            now += timedelta(seconds=seconds)
            rating = NewRating(task.assignment_id, choice, f"{session_id}/{task.assignment_id}", source=SIMULATED)
            _, task = submit_and_next(store, annotator, rating, now, session_id)


def _adjudicate(store: LabelStore, study_id: str, truth: Mapping[str, Label], now: datetime) -> None:
    # The simulated adjudicator knows the truth.
    for dispute in list_disputes(store, study_id):
        label = truth[dispute.item_id]
        default = SIGNIFICANCES[1] if label in DISAGREEING else None
        significance = next((r.significance for r in dispute.ratings if r.label == label and r.significance), default)
        reason = REASONS[label.code]
        decision = NewDecision(dispute.item_id, label, significance, reason, f"simulated/{dispute.item_id}")
        submit_decision(store, "ada", decision, now)
        now += timedelta(seconds=60)
    close_study(store, study_id, now)


def _true_relation(run: Run, settings: Settings) -> Relation:
    """The truth about pairs, from the file that the demo writes next to its release."""
    manifest = run.manifest
    path = settings.releases_dir / f"demo-{manifest.get('scale')}-{manifest.get('seed')}" / "truth.jsonl"
    if not run.synthetic or not path.is_file():
        raise StudyError(f"Run {run.key} is not a demo run: {path} is missing. Nothing was created. Create one with: audit demo")
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    known = {record["question_id"]: (list(record["values"]), record["relation"], record["severity"]) for record in records}

    def relation(question_id: str, handbook_a: str, handbook_b: str) -> Truth:
        handbooks, codes, severity = known[question_id]
        code: int = codes[handbooks.index(handbook_a)][handbooks.index(handbook_b)]
        return LABELS[code], severity

    return relation
