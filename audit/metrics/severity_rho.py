"""Whether the severity-weighted ranking is the plain ranking: Spearman's rho, per level."""

from __future__ import annotations

import pandas as pd

from audit.metrics.severity import SQL, severity
from audit.store.connection import Connection

LEVELS = ("question", "topic", "handbook")

__all__ = ["LEVELS", "SQL", "severity_rho"]


def severity_rho(con: Connection) -> pd.DataFrame:
    """Spearman's rho between severity-weighted and unweighted disagreement."""
    records = []
    for level in LEVELS:
        table = severity(con, level).dropna(subset=["severity"])
        rho = table["severity"].rank().corr(table["r_div"].rank())
        records.append({"level": level, "units": len(table), "rho": rho, "rho_low": float("nan"), "rho_high": float("nan")})
    return pd.DataFrame(records)
