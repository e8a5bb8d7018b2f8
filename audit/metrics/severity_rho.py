"""Whether weighing disagreements by significance changes the ranking at all: Spearman's rho, per level."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audit.metrics import metric
from audit.metrics.intervals import Floats, percentiles
from audit.metrics.pigeonhole import draws
from audit.metrics.severity import LEVELS, SQL, severity
from audit.store.connection import Connection
from audit.tables import Column, TableSpec

FEWEST = 4
"""With fewer ranked units nearly every draw repeats one or two, and rho jumps between -1 and 1."""
UNKNOWN = np.full(1, np.nan), np.full(1, np.nan)
TABLE = TableSpec(
    "Whether weighting by clinical significance changes the ranking",
    (Column.text("level", "Level"), Column.count("units", "Ranked"), Column.decimal("rho", "Spearman's rho")),
    ("In brackets: 95 % intervals, the units resampled. A dash: not known.",),
)
GLOSSARY = {"Spearman's rho": "How far two rankings agree: 1 the same order, 0 no connection, -1 the reverse."}


@metric(sql=SQL, table=TABLE, glossary=GLOSSARY)
def severity_rho(con: Connection) -> pd.DataFrame:
    """How far the severity-weighted ranking is the plain one, for questions, topics and handbooks.

    Spearman's rho is the correlation of the two rankings of `severity`: 1 when weighing by clinical significance leaves
    the order as it was, 0 when the orders have nothing in common. Units without a present pair have no rank and are out.

    Three rows, level 'question', 'topic', 'handbook':
        level              str
        units              int, units that are ranked
        rho                float in [-1, 1], equal values sharing their mean rank; NaN where all units are equal
        rho_low, rho_high  95 % percentile interval with the units resampled, seeded; NaN where fewer than four are ranked

    Source: Spearman (1904); bootstrap: see audit.metrics.intervals.percentiles.
    """
    return pd.DataFrame([{"level": level, **_agreement(severity(con, level))} for level in LEVELS])


def _agreement(table: pd.DataFrame) -> dict[str, float]:
    ranked = table.dropna(subset=["severity"])
    x, y = ranked["severity"].to_numpy(), ranked["r_div"].to_numpy()
    once = np.ones((len(x), 1))
    low, high = percentiles(spearman(x, y, draws(len(x), stream=2))[None, :], [len(x)]) if len(x) >= FEWEST else UNKNOWN
    return {"units": len(x), "rho": float(spearman(x, y, once)[0]), "rho_low": float(low[0]), "rho_high": float(high[0])}


def spearman(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Spearman's rho of `x` and `y` with unit i standing weights[i, r] times, one value per column r.

    NaN where one of them does not vary. `weights` are whole numbers, units x replicates.
    """
    total = weights.sum(axis=0)
    rank_x, rank_y = (_mid_ranks(values, weights) - (total + 1) / 2 for values in (x, y))
    variance = (weights * rank_x**2).sum(axis=0) * (weights * rank_y**2).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        rho: Floats = (weights * rank_x * rank_y).sum(axis=0) / np.sqrt(np.where(variance > 0, variance, np.nan))
    return rho


def _mid_ranks(values: Floats, weights: Floats) -> Floats:
    # Equal values share the mean of the ranks they take up: those before them, plus half their own number.
    tied, group = np.unique(values, return_inverse=True)
    own = np.zeros((len(tied), weights.shape[1]))
    np.add.at(own, group, weights)
    ranks: Floats = (np.cumsum(own, axis=0) - own + (own + 1) / 2)[group]
    return ranks
