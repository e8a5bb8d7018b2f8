"""As `benchmarks.interval_worlds`, for figures of two judges, or of one that is asked again later."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audit.metrics.second_judge import RATES, agreement_rows, both_rows, drift_rows
from audit.stats.intervals import Floats
from audit.stats.paired import cohen_kappa
from audit.vocabulary import DISAGREEING, LABELS, PRESENT_LABELS
from benchmarks.interval_worlds import Held

WORDS = np.array([label.value for label in LABELS])
MIXTURE = np.array([0.05, 0.15, 0.6, 0.17, 0.03])
"""Share of each label, on average over questions."""
ELSEWHERE = np.array(
    [[0, 0.1, 0.9, 0, 0], [0.1, 0, 0.9, 0, 0], [0.1, 0.3, 0, 0.6, 0], [0.05, 0.05, 0.8, 0, 0.1], [0, 0, 0.3, 0.7, 0]]
)
"""Label -> where it goes when another judge, or another day, gives another one."""
IS = {name: np.isin(WORDS, list(labels)) for name, labels in (RATES | {"present": tuple(map(str, PRESENT_LABELS))}).items()}
UNREAD = 0.02


def _drawn(rng: np.random.Generator, chances: Floats) -> np.ndarray:
    drawn: np.ndarray = (rng.random((len(chances), 1)) > chances.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return drawn


def _labelled(rng: np.random.Generator, questions: int) -> tuple[np.ndarray, np.ndarray]:
    """(question, label) of every pair; each question has its own mixture of labels."""
    question = np.repeat(np.arange(questions), rng.integers(10, 60, questions))
    return question, _drawn(rng, rng.dirichlet(8 * MIXTURE, questions)[question])


def _other(rng: np.random.Generator, labels: np.ndarray, moved: Floats) -> np.ndarray:
    """The labels of another reading, which gives another label with these chances."""
    return np.where(rng.random(len(labels)) < moved, _drawn(rng, ELSEWHERE[labels]), labels)


def second_judges(
    part: str, rng: np.random.Generator, *, questions: int = 60, others: int = 200, moved: float = 0.2, clustered: bool = True
) -> Held:
    """All disagreeing pairs and some others, read by a second judge, who differs more on some questions than on others.

    part  agreement (shares), kappas, or rates: those that change if both judges must agree
    """
    question, first = _labelled(rng, questions)
    chance = rng.beta(4 * moved, 4 * (1 - moved), questions) if clustered else np.full(questions, moved)
    second = np.where(rng.random(len(first)) < UNREAD, len(WORDS), _other(rng, first, chance[question]))
    disagrees = IS["r_div"][first]
    chosen = rng.permutation(np.flatnonzero(~disagrees))[:others]
    asked = disagrees | np.isin(np.arange(len(first)), chosen)
    named = pd.Series(np.array([*WORDS, None])[second]).where(asked)
    state = pd.Series(np.where(named.isna(), "unscored", "read")).where(asked)
    sides = {"label": WORDS[first], "second_label": named, "second": state}
    counts = pd.DataFrame({"question": question, **sides, "pairs": 1})
    joint = np.diag(MIXTURE) @ ((1 - moved) * np.eye(5) + moved * ELSEWHERE)
    rows = list(both_rows(counts)) if part == "rates" else list(agreement_rows(counts))
    truths = rate_truths(joint) if part == "rates" else agreement_truths(joint)
    for row in rows:
        if row["figure"] in truths and (part == "kappas") == row["figure"].startswith("kappa"):
            yield truths[row["figure"]], row["value_low"], row["value_high"]


def agreement_truths(joint: Floats) -> dict[str, float]:
    """Each figure of `second_judge`, of two judges whose labels have this joint distribution."""
    said, total = IS["r_div"], 1e9 * joint
    own, same = joint.sum(axis=1), np.diag(joint)
    of_own, of_others = joint[said].sum(), joint[~said].sum()
    return {
        "same label": float(same.sum()),
        "same side": float(joint[np.ix_(said, said)].sum() + joint[np.ix_(~said, ~said)].sum()),
        "confirmed": float(joint[np.ix_(said, said)].sum() / of_own),
        "second only": float(joint[np.ix_(~said, said)].sum() / of_others),
        "same DIVERGENT": float((same / own)[list(WORDS).index(DISAGREEING[0].value)]),
        "same COMPLEMENTARY": float((same / own)[2]),
        "kappa_quadratic": float(cohen_kappa(total, ordered=True)),
        "kappa": float(cohen_kappa(total)),
        "unread": UNREAD,
    }


def rate_truths(joint: Floats) -> dict[str, float]:
    """The same of `rates_by_both`."""
    truths: dict[str, float] = {}
    present = joint[IS["present"]].sum()
    for rate in RATES:
        own = joint[IS[rate]].sum() / present
        both = joint[np.ix_(IS[rate], IS[rate])].sum() / present
        truths |= {rate: own, f"{rate} both": both, f"{rate} change": both - own}
    return truths


def rechecks(rng: np.random.Generator, *, questions: int = 60, panel: int = 200, noise: float = 0.05, drift: float) -> Held:
    """A panel asked twice again: each reading differs by chance, and those of the later date also for another reason."""
    question, settled = _labelled(rng, questions)
    chosen = rng.permutation(len(settled))[:panel]
    question, settled = question[chosen], settled[chosen]
    moved = _other(rng, settled, np.full(panel, drift))
    then, again, once_more = (_other(rng, labels, np.full(panel, noise)) for labels in (settled, moved, moved))
    sides = {"label": WORDS[then], "again": WORDS[again], "once_more": WORDS[once_more]}
    figures = {row["figure"]: row for row in drift_rows(pd.DataFrame({"question": question, **sides, "pairs": 1}))}
    one = (1 - noise) * np.eye(5) + noise * ELSEWHERE
    later = ((1 - drift) * np.eye(5) + drift * ELSEWHERE) @ one
    changed = 1 - float(MIXTURE @ (one * later).sum(axis=1))
    hidden = MIXTURE @ ((1 - drift) * np.eye(5) + drift * ELSEWHERE)
    repeat = 1 - float(hidden @ (one**2).sum(axis=1))
    rate = [float(shares[IS["r_div"]].sum() / shares[IS["present"]].sum()) for shares in (MIXTURE @ one, MIXTURE @ later)]
    truths = {"changed": changed, "repeat": repeat, "beyond repeat": changed - repeat, "r_div now": rate[1]}
    for figure, true in (truths | {"r_div change": rate[1] - rate[0]}).items():
        yield true, figures[figure]["value_low"], figures[figure]["value_high"]
