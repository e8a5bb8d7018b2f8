"""The simulated systems as records of a release, and the truth that they were made from."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from audit.evaluation.criteria import CRITERIA, Incomplete, composites
from audit.vocabulary import Parse, Preference, RaterKind
from tests.simulator.policies import ASK, policies
from tests.simulator.retrieval import GIVEN
from tests.simulator.system_answers import Record, SystemWorld
from tests.simulator.systems import JUDGE, RETRIEVAL, SYSTEMS, Floats, expected_composite, record_ids, true_difference

JUDGE_NAME = "simulated judge"
CLINICIANS = ("clinician-1", "clinician-2")
# Questions that clinicians compare the answers to, and of which the first clinician also scores the answers
N_COMPARED = 60
# What clinicians go by besides the composites, in points of the composite: chance, and a liking for what is shown first
TASTE, FIRST, TIE, BAD = 1.2, 0.2, 0.6, 4.0
TYPES = {True: "amounts and times", False: "what is allowed"}


def system_tables(systems: SystemWorld) -> dict[str, Iterator[Record]]:
    """The tables of the release, by the names of their files."""
    return {
        "systems": _systems(), "references": _references(systems), "system_answers": _answers(systems),
        "criteria": _criteria(systems), "preferences": _preferences(systems), "measures": _measures(systems),
    }  # fmt: skip


def system_truth(systems: SystemWorld) -> Record:
    """The true values of the systems.

    composite_difference  expected composite of the system with retrieval minus that of the model alone, over all questions
                          that could be asked: as the judge scores them, and of the true scores
    expected_composites   system_id -> the same of each system
    answers               per question and system its true composite, and whether it is a refusal
    """
    true = true_composites(systems.scores.true)
    return {
        "better": RETRIEVAL.id,
        "composite_difference": {"judged": true_difference(JUDGE), "true": true_difference(None)},
        "expected_composites": {
            system.id: {"judged": expected_composite(system, JUDGE), "true": expected_composite(system)} for system in SYSTEMS
        },
        "answers": [
            {"question_id": question_id, "system_id": system.id, "composite": round(float(true[row, number]), 4),
             "refused": bool(systems.scores.refused[row, number])}
            for row, system in enumerate(SYSTEMS) for number, question_id in _questions(systems)
        ],
    }  # fmt: skip


def true_composites(scores: Floats) -> Floats:
    """The composites of scores of any shape (..., 8), with the shape (...); NaN where a score cannot be read."""
    return composites(scores.reshape(-1, len(CRITERIA)), Incomplete.EXCLUDE).reshape(scores.shape[:-1])


def _questions(systems: SystemWorld) -> Iterator[tuple[int, str]]:
    yield from enumerate(question.id for question in systems.world.questions)


def _systems() -> Iterator[Record]:
    for system in SYSTEMS:
        yield {
            "system_id": system.id, "name": system.name, "model": "demo-model", "mode": system.mode,
            "retriever": system.retriever, "settings": {"temperature": 0.1, "max_tokens": 512},
            "description": "Simulated: answers with defects at known rates.",
        }  # fmt: skip


def _references(systems: SystemWorld) -> Iterator[Record]:
    for number, question in enumerate(systems.world.questions):
        kind = TYPES[policies()[question.policy].kind == "value"] if question.aspect == ASK else "what to do"
        yield {
            "question_id": question.id, "answers": [systems.reference_answer(number)], "question_type": kind,
            "gold_sections": systems.gold(number),
        }  # fmt: skip


def _answers(systems: SystemWorld) -> Iterator[Record]:
    for number, question_id in _questions(systems):
        for row, system in enumerate(SYSTEMS):
            text, refused = systems.answer(row, number), bool(systems.scores.refused[row, number])
            evidence = list(systems.evidence(number)) if system is RETRIEVAL else []
            record = {"question_id": question_id, "system_id": system.id, "answer": text, "refused": refused}
            yield {**record, **({"evidence": evidence} if evidence else {}), "usage": _usage(text, len(evidence))}


def _usage(text: str, passages: int) -> Record:
    output = len(text) // 4
    return {"input_tokens": 60 + 110 * passages, "output_tokens": output, "latency_s": round(0.2 + 0.012 * output, 2)}


def _criteria(systems: SystemWorld) -> Iterator[Record]:
    compared = _compared(systems)
    for number, question_id in _questions(systems):
        for row, system_id in enumerate(record_ids()):
            ids = {"question_id": question_id, "system_id": system_id}
            yield ids | {"judge": JUDGE_NAME} | _judged(systems.scores.judged[row, number])
            if number in compared:
                # A person's scores are not parsed from a reply
                yield ids | {"judge": CLINICIANS[0]} | _scores(systems.scores.clinician[row, number])


def _scores(row: Floats) -> Record:
    return {name.value: None if np.isnan(score) else int(score) for name, score in zip(CRITERIA, row, strict=True)}


def _judged(row: Floats) -> Record:
    scores = _scores(row)
    unread = sum(score is None for score in scores.values())
    if unread == len(scores):
        return {**scores, "parse": Parse.NONE, "unscored_reason": "no score"}
    meanings = {
        name.value: f"{scale.heading}: {scale.meanings[score]}."
        for name, scale in CRITERIA.items() if (score := scores[name.value]) is not None
    }  # fmt: skip
    reading = {"parse": Parse.LENIENT, "unscored_reason": "no score"} if unread else {"parse": Parse.STRICT}
    return {**scores, "explanations": meanings, **reading}


def _compared(systems: SystemWorld) -> list[int]:
    n_questions = len(systems.world.questions)
    rng = np.random.default_rng([systems.world.config.seed, 14])
    chosen: list[int] = np.sort(rng.choice(n_questions, min(N_COMPARED, n_questions), replace=False)).tolist()
    return chosen


def _preferences(systems: SystemWorld) -> Iterator[Record]:
    """Both clinicians on the same questions, sides at random, and the judge by its sums where it could score both answers."""
    rng = np.random.default_rng([systems.world.config.seed, 15])
    true, judged = (true_composites(scores) for scores in (systems.scores.true, systems.scores.judged))
    for number in _compared(systems):
        pair = {"system_a": SYSTEMS[0].id, "system_b": SYSTEMS[1].id}
        shared = {"question_id": systems.world.questions[number].id, **pair}
        for clinician in CLINICIANS:
            first = Preference.A if rng.random() < 0.5 else Preference.B
            choice = _choice(float(true[0, number]), float(true[1, number]), first, float(rng.standard_normal()))
            yield shared | {"preference": choice, "rater": clinician, "rater_kind": RaterKind.HUMAN, "shown_first": first}
        if not np.isnan(judged[:2, number]).any():
            choice = _side(float(judged[0, number] - judged[1, number]), 0.0)
            yield shared | {"preference": choice, "rater": JUDGE_NAME, "rater_kind": RaterKind.JUDGE}


def _choice(a: float, b: float, first: Preference, chance: float) -> Preference:
    if max(a, b) < BAD:
        return Preference.BOTH_BAD
    return _side(a - b + TASTE * chance + (FIRST if first is Preference.A else -FIRST), TIE)


def _side(margin: float, tie: float) -> Preference:
    """Who is preferred, given by how much A is ahead; a lead of at most `tie` is a tie."""
    return Preference.TIE if abs(margin) <= tie else Preference.A if margin > 0 else Preference.B


def _measures(systems: SystemWorld) -> Iterator[Record]:
    """The measures of retrieval. One of the sections that are gold is looked for, so each follows from its rank."""
    for number, question_id in _questions(systems):
        if systems.gold(number):
            rank = int(systems.rank[number]) + 1
            is_found = rank <= GIVEN
            gold = len(systems.gold(number))
            best = sum(1 / np.log2(rank_of_gold + 1) for rank_of_gold in range(1, gold + 1))
            values = {
                "p_at_5": is_found / GIVEN, "recall_at_5": is_found / gold, "ndcg": is_found / np.log2(rank + 1) / best,
                "mrr": is_found / rank,
            }  # fmt: skip
            for measure, value in values.items():
                yield {"question_id": question_id, "system_id": RETRIEVAL.id, "measure": measure, "value": round(float(value), 6)}
