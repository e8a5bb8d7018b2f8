"""Which questions of a study a judge may learn from, and which prove what it learnt: divided once, and sealed in its ledger.

Versions of a judge's prompt are entries of the same ledger, with their full text and the questions that they have learnt from.
Labels of these questions prove nothing about a judge any more: `annotation.studies.study_tables.labels_table` leaves them out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from annotation.label_store.engine import LabelStore, StudyError
from annotation.label_store.ledger import lock_study_head
from annotation.label_store.schema import study_events
from annotation.label_store.seals import events_of, last_event, record_study_event
from annotation.label_store.studies import StudyState, find_study, list_studies, question_of_items
from annotation.schemes import PAIRS
from annotation.studies.adjudication import gold_labels
from annotation.studies.verdict_store import sample_digest
from audit.store.runs import STRUCTURED

SPLIT, VERSION, JUDGED, JUDGED_WITH = "split", "version", "judged by version", "judged with"
"""Kinds of events: how the questions are divided; a version of the prompt; what a version labelled the items; the prompts that
judged the run of a study."""
MIN_LEARN, MIN_PROVE = 10, 20
"""Questions with gold labels that each part needs: with fewer to prove on, hardly any difference could be shown."""
LEARN_SHARE = 1 / 3
LEAVES_OUT = (
    "{items:,} of {all:,} items are left out: judge versions {versions} have learnt from the labels of their {questions:,} "
    "questions, so these labels prove nothing about a judge."
)
NOT_PROOF = (
    "{items:,} of the items are of questions that judge versions of study '{study}' have learnt from, such as item '{example}': "
    "their labels prove nothing about a judge. Nothing was computed. Leave them out, or name the study: it leaves them out."
)


@dataclass(frozen=True)
class Split:
    """The questions of a study to learn from and to prove on; a question is in one part only."""

    seed: int
    learn: tuple[str, ...]
    prove: tuple[str, ...]


@dataclass(frozen=True)
class Version:
    """A version of the judge's prompt.

    name, digest  its name, and the digest that releases name it by
    prompt, text  the title of the prompt, and its template in full
    examples      ids of the items that it shows as examples
    learnt        questions that it has learnt from
    by            the account that added it
    protocol      how the judge is asked with it
    """

    name: str
    digest: str
    prompt: str
    text: str
    examples: tuple[str, ...] = ()
    learnt: tuple[str, ...] = ()
    by: str = ""
    protocol: str = STRUCTURED


@dataclass(frozen=True)
class Judged:
    """What a version labelled the items of a study: item id -> label, None where it gave none."""

    version: str
    model: str
    release: str
    labels: Mapping[str, str | None]


def split_of(store: LabelStore, study_id: str) -> Split | None:
    """How a study is divided; None while it is not."""
    body = last_event(store, study_id, SPLIT)
    return None if body is None else Split(int(body["seed"]), tuple(body["learn"]), tuple(body["prove"]))


def split_study(store: LabelStore, study_id: str, seed: int | None, now: datetime) -> Split:
    """Divide a study once, at random by question, and seal that; a study that is divided already keeps its parts.

    Raises StudyError for a study that is not closed, compares systems, was not drawn from a run, has too few questions with a
    gold label, or was divided with another seed.
    """
    study, before = find_study(store, study_id), split_of(store, study_id)
    if before is not None:
        if seed not in (None, before.seed):
            raise StudyError(
                f"Study '{study_id}' was divided with the seed {before.seed}, which is sealed. Nothing was changed: "
                "to draw until the parts please would make the proof worthless."
            )
        return before
    if study.scheme is not PAIRS or sample_digest(store, study_id) is None:
        raise StudyError(
            f"Study '{study_id}' has no labels of pairs of a run, so no judge can be aligned to it. Nothing was done."
        )
    if study.state is not StudyState.CLOSED:
        raise StudyError(
            f"Study '{study_id}' is in the state {study.state}, and its labels may still change. Nothing was divided. "
            "Close it first."
        )
    seed = 1 if seed is None else seed
    questions = sorted(_questions_with_gold(store, study_id), key=lambda name: _place(study_id, name, seed))
    needed = max(round(MIN_LEARN / LEARN_SHARE), round(MIN_PROVE / (1 - LEARN_SHARE)))
    if len(questions) < needed:
        raise StudyError(
            f"Study '{study_id}' has {len(questions):,} questions with a gold label, and {needed} are needed: {MIN_LEARN} to "
            f"learn from and {MIN_PROVE} to prove on. Nothing was divided. Label more: audit study create NEW --after {study_id}"
        )
    cut = round(LEARN_SHARE * len(questions))
    split = Split(seed, tuple(sorted(questions[:cut])), tuple(sorted(questions[cut:])))
    with store.begin() as tx:
        lock_study_head(tx, study_events, study_id)
        if not events_of(tx, study_id, SPLIT):  # two commands at once
            record_study_event(tx, study_id, SPLIT, asdict(split), now)
    return split_of(store, study_id) or split


def _questions_with_gold(store: LabelStore, study_id: str) -> set[str]:
    gold = gold_labels(store, study_id)
    return {question for item, question in question_of_items(store, study_id).items() if item in gold}


def _place(study_id: str, question: str, seed: int) -> str:
    return hashlib.sha256(f"{study_id}/{question}/{seed}".encode()).hexdigest()


# -- versions ----------------------------------------------------------------------------------------------------------


def versions_of(store: LabelStore, study_id: str) -> list[Version]:
    """The versions of a study, in the order in which they were added."""
    with store.read() as con:
        bodies = events_of(con, study_id, VERSION)
    return [Version(**{**body, "examples": tuple(body["examples"]), "learnt": tuple(body["learnt"])}) for body in bodies]


def record_version(store: LabelStore, study_id: str, version: Version, now: datetime) -> None:
    """Seal a version. Raises StudyError where another one has its name or its text."""
    with store.begin() as tx:
        lock_study_head(tx, study_events, study_id)
        for body in events_of(tx, study_id, VERSION):
            if body["name"] == version.name or body["digest"] == version.digest:
                same = "this name" if body["name"] == version.name else f"these words: {body['name']}"
                raise StudyError(f"Study '{study_id}' has a version with {same}. Nothing was added. Versions never change.")
        record_study_event(tx, study_id, VERSION, asdict(version), now)


def judged_by(store: LabelStore, study_id: str) -> dict[str, Judged]:
    """Digest of a version -> what it labelled the items, for the versions that have judged them."""
    with store.read() as con:
        return {body["version"]: Judged(**body) for body in events_of(con, study_id, JUDGED)}


def record_judged(store: LabelStore, study_id: str, judged: Judged, now: datetime) -> None:
    """Seal what a version labelled the items of a study."""
    with store.begin() as tx:
        record_study_event(tx, study_id, JUDGED, asdict(judged), now)


# -- labels that prove nothing -----------------------------------------------------------------------------------------


def prompts_in(manifest: Mapping[str, Any]) -> list[str]:
    """The titles of the prompts that made a release, for an event JUDGED_WITH of a study that is drawn from it."""
    records = manifest.get("prompts")
    return [str(one.get("prompt")) for one in records if isinstance(one, Mapping)] if isinstance(records, list) else []


def learnt_from(store: LabelStore, study_id: str) -> dict[str, list[str]]:
    """Question -> the versions that have learnt from it: in a study of the same run, or of another one if they judged this."""
    digest = sample_digest(store, study_id)
    if digest is None:
        return {}
    judged_with = (last_event(store, study_id, JUDGED_WITH) or {}).get("prompts", ())
    found: dict[str, list[str]] = {}
    for study in list_studies(store):
        same_run = study.study_id == study_id or sample_digest(store, study.study_id) == digest
        for version in versions_of(store, study.study_id):
            if same_run or version.prompt in judged_with:
                for question in version.learnt:
                    found.setdefault(question, []).append(version.name)
    return found


def left_out_note(store: LabelStore, study_ids: Sequence[str]) -> str:
    """How many items of these studies are left out, and why; "" where none is."""
    items: dict[str, str] = {}
    learnt: dict[str, list[str]] = {}
    for study_id in study_ids:
        learnt |= learnt_from(store, study_id)
        items |= question_of_items(store, study_id)
    left = [question for question in items.values() if question in learnt]
    if not left:
        return ""
    names = ", ".join(dict.fromkeys(name for question in left for name in learnt[question]))
    return LEAVES_OUT.format(items=len(left), all=len(items), versions=names, questions=len(set(left)))


def refuse_learnt_items(store: LabelStore, item_ids: Iterable[str]) -> None:
    """Raise StudyError where some of these items, such as those of a file, are of questions that a version has learnt from."""
    asked = set(item_ids)
    for study in list_studies(store):
        if not versions_of(store, study.study_id):
            continue
        learnt = learnt_from(store, study.study_id)
        items = question_of_items(store, study.study_id)
        if left := sorted(item for item, question in items.items() if item in asked and question in learnt):
            raise StudyError(NOT_PROOF.format(items=len(left), study=study.study_id, example=left[0]))
