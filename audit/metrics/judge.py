"""The judge of a run: what it was asked, how its replies were read, and how far it can be trusted to say the same again."""

from __future__ import annotations

import pandas as pd

from audit.metrics import judge_checks, judge_length, judge_reading
from audit.store.connection import Connection

SQL = judge_checks.SQL
COLUMNS = ["section", "name", "figure", "count", "of", "value", "value_low", "value_high", "interval"]


def judge(con: Connection) -> pd.DataFrame:
    """Everything that is measured of a run's judge, in one table: its checks, how it was read, and the effect of length.

    The rows of `judge_checks`, `judge_reading` and `judge_length`, whose definitions say what each figure means; the SQL shown
    is that of the checks.

        section                str, 'check', 'read', 'unscored' or 'length'
        name                   str, the kind of check, the way of reading, the reason, or the fifth by difference of length
        figure                 str, 'changed', 'crossed', ..., 'share', 'disagreeing' or 'rho'
        count, of              int, checks or pairs; of is 0 where nothing was measured
        value                  float, a share in [0, 1], kappa or rho; NaN where it was not measured, which is not 0
        value_low, value_high  95 % interval, questions resampled or Wilson's; NaN where it cannot be known
        interval               str, how the interval was made

    Source: see `judge_checks` and `judge_length`.
    """
    checks = judge_checks.judge_checks(con).assign(section="check").rename(columns={"kind": "name"})
    reading = judge_reading.judge_reading(con).rename(columns={"part": "section"}).assign(figure="share")
    length = judge_length.judge_length(con).rename(columns={"fifth": "name"}).assign(section="length", figure="disagreeing")
    length.loc[length["name"] == "(rho)", ["name", "figure"]] = ["all", "rho"]
    return pd.concat([checks[COLUMNS], reading[COLUMNS], length[COLUMNS]], ignore_index=True)
