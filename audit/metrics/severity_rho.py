"""Whether weighting disagreements by significance changes the ranking at all: Spearman's rho, per level."""

from __future__ import annotations

import pandas as pd

from audit.metrics import metric
from audit.metrics.severity import LEVELS, SQL, severity
from audit.stats.ranks import spearman_interval
from audit.store.connection import Connection
from audit.tables import Column, TableSpec

TABLE = TableSpec(
    "Whether weighting by clinical significance changes the ranking",
    (Column.text("level", "Level"), Column.count("units", "Ranked"), Column.decimal("rho", "Spearman's rho")),
    ("In brackets: 95 % intervals, the units resampled. A dash: not known.",),
)
GLOSSARY = {"Spearman's rho": "How far two rankings agree: 1 the same order, 0 no connection, -1 the reverse."}


@metric(sql=SQL, table=TABLE, glossary=GLOSSARY)
def severity_rho(con: Connection) -> pd.DataFrame:
    """How far the severity-weighted ranking is the plain one, for questions, topics and handbooks.

    Spearman's rho is the correlation of the two rankings of `severity`: 1 when weighting by clinical significance leaves
    the order as it was, 0 when the orders have nothing in common. Units without a present pair have no rank and are out.

    Three rows, level 'question', 'topic', 'handbook':
        level              str
        units              int, units that are ranked
        rho                float in [-1, 1], equal values sharing their mean rank; NaN where all units are equal
        rho_low, rho_high  95 % percentile interval with the units resampled, seeded; NaN where fewer than four are ranked

    Source: Spearman (1904); interval: audit.stats.intervals.percentiles.
    """
    return pd.DataFrame([{"level": level, **_rank_correlation(severity(con, level))} for level in LEVELS])


def _rank_correlation(table: pd.DataFrame) -> dict[str, float]:
    ranked = table.dropna(subset=["severity"])
    rho, low, high = spearman_interval(ranked["severity"].to_numpy(), ranked["r_div"].to_numpy())
    return {"units": len(ranked), "rho": rho, "rho_low": low, "rho_high": high}
