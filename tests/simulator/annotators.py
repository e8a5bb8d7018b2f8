"""Simulated annotators of the demo's studies: they report its known truth with errors, at rates that are written here."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from annotation.label_store.engine import StudyError, open_label_store
from annotation.studies.adjudication import DisputedItem
from annotation.studies.demo_studies import (
    ADJUDICATOR,
    DEMO_ACCOUNTS,
    DEMO_STUDIES,
    DONE_SO_FAR,
    Readers,
    Reading,
    create_demo_studies,
)
from audit.release.write import write_jsonl
from audit.settings import Settings
from audit.store.runs import Run
from audit.vocabulary import DISAGREEING, LABELS, SIGNIFICANCES, Label

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
DECISION_SECONDS = 60.0

Truth = tuple[Label, str]
"""The true label of a pair, and how much disagreements on its question tend to matter: low, medium or high."""
Relation = Callable[[str, str, str], Truth]
"""(question id, handbook id, handbook id) -> the truth about the pair."""


@dataclass(frozen=True)
class SimulatedAnnotator:
    """A simulated annotator in one study. chosen: the label that the annotator chose, by item."""

    rng: np.random.Generator
    chosen: dict[str, Label] = field(default_factory=dict)

    def choose(self, truth: Truth, item_id: str, repeat_of: str | None) -> tuple[Label, str | None, bool, float]:
        """Label, significance, whether unsure, and the seconds it took."""
        label = self._choose_label(truth[0], item_id, repeat_of)
        significance = self._grade(truth[1], repeat_of or item_id) if label in DISAGREEING else None
        seconds = MEDIAN_SECONDS.get(label, OTHER_MEDIAN_SECONDS) * float(np.exp(self.rng.normal(0, LOG_SECONDS_SD)))
        return label, significance, bool(self.rng.random() < UNSURE_SHARE), seconds

    def _grade(self, severity: str, item_id: str) -> str:
        # What an item suggests is the same for everybody, whoever grades it and when
        everybody = np.random.default_rng(list(item_id.encode()))
        rng = everybody if self.rng.random() < SIGNIFICANCE_SHARED else self.rng
        return SIGNIFICANCES[int(rng.choice(len(SIGNIFICANCES), p=SIGNIFICANCE_SHARES[severity]))]

    def _choose_label(self, true: Label, item_id: str, repeat_of: str | None) -> Label:
        if repeat_of in self.chosen and self.rng.random() < REPEAT_CONSISTENCY:
            return self.chosen[str(repeat_of)]
        self.chosen[item_id] = LABELS[int(self.rng.choice(len(LABELS), p=CONFUSION[true]))]
        return self.chosen[item_id]


class SimulatedReaders:
    """The people of the demo's studies, each with a random stream of their own, and all that they read, in order."""

    def __init__(self, relation: Relation) -> None:
        self.readings: list[Reading] = []
        self._relation = relation
        self._truth: dict[str, Truth] = {}
        self._annotators = {
            # A generator for each, so the choices of one do not depend on how many items the other has rated.
            (study_id, name): SimulatedAnnotator(np.random.default_rng([study.plan.seed, n]))
            for study_id, study in DEMO_STUDIES.items()
            for n, name in enumerate(DONE_SO_FAR)
        }

    def rate(self, study_id: str, annotator: str, item: Mapping[str, Any]) -> Reading:
        item_id = item["item_id"]
        truth = self._truth[item_id] = self._relation(item["question_id"], item["handbook_a"], item["handbook_b"])
        person = self._annotators[study_id, annotator]
        label, significance, unsure, seconds = person.choose(truth, item_id, item["repeat_of"])
        rounded = timedelta(seconds=seconds).total_seconds()
        return self._noted(Reading(study_id, annotator, item_id, label, rounded, significance, unsure))

    def decide(self, study_id: str, dispute: DisputedItem) -> Reading:
        # The simulated adjudicator knows the truth.
        label, _ = self._truth[dispute.item_id]
        default = SIGNIFICANCES[1] if label in DISAGREEING else None
        significance = next((r.significance for r in dispute.ratings if r.label == label and r.significance), default)
        reason = REASONS[label.code]
        reading = Reading(study_id, ADJUDICATOR, dispute.item_id, label, DECISION_SECONDS, significance, reason=reason)
        return self._noted(reading)

    def _noted(self, reading: Reading) -> Reading:
        self.readings.append(reading)
        return reading


def write_readings(run: Run, settings: Settings, path: Path) -> None:
    """Write what the simulated annotators make of the demo's studies on a run, for `RecordedReaders`.

    Raises StudyError when `run` is not a demo run with a truth.jsonl next to its release.
    """
    readers = SimulatedReaders(_true_relation(run, settings))
    play_studies(run, readers)
    write_jsonl(path, (_record(reading) for reading in readers.readings))


def _record(reading: Reading) -> dict[str, Any]:
    return {one.name: value for one in fields(Reading) if (value := getattr(reading, one.name)) != one.default}


def play_studies(run: Run, readers: Readers) -> None:
    """Let people read the demo's studies on a run, in a label store that is thrown away."""
    with tempfile.TemporaryDirectory() as scratch:
        store = open_label_store(f"sqlite:///{Path(scratch) / 'studies.db'}")
        create_demo_studies(store, run, readers, datetime.now(UTC), dict.fromkeys(DEMO_ACCOUNTS, "never used again"))
        store.close()


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
