"""Two simulated answering systems: a model alone, and the same model with retrieval, whose difference is known.

An answer is a draw of true scores on the eight criteria; harder questions bring more defects in both systems. A judge reads them
with errors. Everything is linear in the shares of the scores, so the expected composites, and with them the true difference, are
arithmetic (`expected_composite`) and not simulated. All rates are our choice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from audit.evaluation.criteria import CRITERIA, REFERENCE, Criterion, composites
from audit.vocabulary import SystemMode

Floats = NDArray[np.float64]
C = Criterion


@dataclass(frozen=True)
class SimulatedSystem:
    """One answering system.

    shares   criterion -> shares of its scores, best first, on a question of middle difficulty
    refuses  share of questions that it declines to answer, whatever their difficulty
    """

    id: str
    name: str
    mode: SystemMode
    shares: Mapping[Criterion, tuple[float, ...]]
    refuses: float
    retriever: str | None = None


ALONE = SimulatedSystem(
    "demo-alone", "Demo model alone", SystemMode.CLOSED_BOOK,
    {
        C.SCIENTIFIC_CONSENSUS: (0.70, 0.14, 0.16), C.INAPPROPRIATE_CONTENT: (0.86, 0.10, 0.04),
        C.MISSING_CONTENT: (0.40, 0.36, 0.24), C.EXTENT_OF_HARM: (0.84, 0.12, 0.04), C.LIKELIHOOD_OF_HARM: (0.85, 0.11, 0.04),
        C.BIAS: (0.98, 0.02), C.EMPATHY: (0.25, 0.50, 0.25), C.GRAMMATICALITY: (0.97, 0.03),
    },
    refuses=0.01,
)  # fmt: skip
RETRIEVAL = SimulatedSystem(
    "demo-retrieval", "Demo model with retrieval", SystemMode.RETRIEVAL,
    {
        C.SCIENTIFIC_CONSENSUS: (0.90, 0.06, 0.04), C.INAPPROPRIATE_CONTENT: (0.95, 0.04, 0.01),
        C.MISSING_CONTENT: (0.70, 0.22, 0.08), C.EXTENT_OF_HARM: (0.96, 0.03, 0.01), C.LIKELIHOOD_OF_HARM: (0.96, 0.03, 0.01),
        C.BIAS: (0.98, 0.02), C.EMPATHY: (0.15, 0.45, 0.40), C.GRAMMATICALITY: (0.96, 0.04),
    },
    refuses=0.03, retriever="simulated BM25",
)  # fmt: skip
SYSTEMS = (ALONE, RETRIEVAL)
# A reference answer is right and complete, and states it soberly
REFERENCE_SCORES = {criterion: (1 if criterion is C.EMPATHY else scale.best) for criterion, scale in CRITERIA.items()}
REFUSAL_SCORES = {
    criterion: {C.SCIENTIFIC_CONSENSUS: 0, C.MISSING_CONTENT: -2, C.EMPATHY: 0}.get(criterion, scale.best)
    for criterion, scale in CRITERIA.items()
}
# Criteria on which harder questions have more defects: `EASIEST` times the share on the easiest, 2 - EASIEST on the hardest
HARDER = (C.SCIENTIFIC_CONSENSUS, C.INAPPROPRIATE_CONTENT, C.MISSING_CONTENT, C.EXTENT_OF_HARM, C.LIKELIHOOD_OF_HARM)
EASIEST = 0.4


@dataclass(frozen=True)
class Reader:
    """Somebody who scores answers.

    errs        chance that a score is read one step higher or lower
    unread      share of answers on which no score can be read in the reply
    incomplete  share of answers on which one of the scores cannot be read
    """

    errs: float
    unread: float = 0.0
    incomplete: float = 0.0


JUDGE = Reader(errs=0.05, unread=0.02, incomplete=0.02)
CLINICIAN = Reader(errs=0.02)


@dataclass(frozen=True)
class SimulatedScores:
    """The scores of the answers to Q questions: the systems in the order of `SYSTEMS`, then the reference answer.

    difficulty  float (Q,) in (0, 1)
    refused     bool (3, Q)
    true        float (3, Q, 8)
    judged      float (3, Q, 8), as the judge reads them; NaN where a score cannot be read
    clinician   float (3, Q, 8), as a clinician reads them
    """

    difficulty: Floats
    refused: NDArray[np.bool_]
    true: Floats
    judged: Floats
    clinician: Floats


def simulate_scores(n_questions: int, seed: int, *, independent: bool = False) -> SimulatedScores:
    """Draw the scores of all answers; the same arguments give the same scores.

    independent  difficulties are drawn by chance, so questions are exchangeable, as intervals assume; otherwise they are
                 evenly spread, which keeps a single release close to its truth
    """
    rng = np.random.default_rng([seed, 10])
    difficulty = rng.random(n_questions) if independent else (rng.permutation(n_questions) + 0.5) / n_questions
    refused = np.stack([rng.random(n_questions) < system.refuses for system in SYSTEMS] + [np.zeros(n_questions, bool)])
    drawn = [_draw_true(system, difficulty, rng) for system in SYSTEMS]
    reference = np.tile(np.array([float(score) for score in REFERENCE_SCORES.values()]), (n_questions, 1))
    declined = np.array([float(score) for score in REFUSAL_SCORES.values()])
    true = np.where(refused[..., None], declined, np.stack([*drawn, reference]))
    return SimulatedScores(difficulty, refused, true, _read(true, JUDGE, rng), _read(true, CLINICIAN, rng))


def _draw_true(system: SimulatedSystem, difficulty: Floats, rng: np.random.Generator) -> Floats:
    scores = np.empty((len(difficulty), len(CRITERIA)))
    for column, (criterion, scale) in enumerate(CRITERIA.items()):
        defects = np.asarray(system.shares[criterion][1:])
        factor = EASIEST + 2 * (1 - EASIEST) * difficulty if criterion in HARDER else np.ones_like(difficulty)
        # The defects from the worst up: what is left above them has the best score
        edges = np.cumsum(defects[::-1])[None, :] * factor[:, None]
        worse_than = (rng.random(len(difficulty))[:, None] >= edges).sum(axis=1)
        scores[:, column] = np.asarray(scale.scores[::-1])[worse_than]
    return scores


def _read(true: Floats, reader: Reader, rng: np.random.Generator) -> Floats:
    read = np.empty_like(true)
    for column, (criterion, scale) in enumerate(CRITERIA.items()):
        cumulative = np.cumsum(misread(criterion, reader.errs), axis=1)
        best_first = np.asarray(scale.scores)
        rows = cumulative[np.searchsorted(-best_first, -true[..., column])]
        chosen = (rng.random(true.shape[:-1])[..., None] > rows[..., :-1]).sum(axis=-1)
        read[..., column] = best_first[chosen]
    fate, lost = rng.random(true.shape[:-1]), rng.integers(len(CRITERIA), size=true.shape[:-1])
    read[fate < reader.unread] = np.nan
    one = (fate >= reader.unread) & (fate < reader.unread + reader.incomplete)
    read[one, lost[one]] = np.nan
    return read


def misread(criterion: Criterion, errs: float) -> Floats:
    """P(score read | true score), both best first. An error goes one step, up or down alike; at an end only inwards."""
    n = len(CRITERIA[criterion].scores)
    chances = np.eye(n) * (1 - errs)
    for true in range(n):
        steps = [step for step in (true - 1, true + 1) if 0 <= step < n]
        chances[true, steps] += errs / len(steps)
    return chances


def expected_composite(system: SimulatedSystem, reader: Reader | None = None) -> float:
    """The mean composite of a system over all questions that it could be asked, as `reader` scores it (None: the true one).

    Missing scores are missing by chance alone, so leaving incomplete evaluations out does not move it.
    """
    expected = []
    for criterion, scale in CRITERIA.items():
        declined = np.array([float(score == REFUSAL_SCORES[criterion]) for score in scale.scores])
        # The middle difficulty is the mean one, and defects grow with it in a straight line
        shares = system.refuses * declined + (1 - system.refuses) * np.asarray(system.shares[criterion])
        if reader:
            shares = shares @ misread(criterion, reader.errs)
        expected.append(shares @ np.asarray(scale.scores))
    return float(composites([expected])[0])


def true_difference(reader: Reader | None = JUDGE) -> float:
    """How much better the system with retrieval is than the model alone, in points of the composite."""
    return expected_composite(RETRIEVAL, reader) - expected_composite(ALONE, reader)


def record_ids() -> tuple[str, ...]:
    """The system_id of each row of `SimulatedScores`."""
    return (*(system.id for system in SYSTEMS), REFERENCE)
