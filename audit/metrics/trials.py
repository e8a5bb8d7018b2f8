"""Trials of retrieval, measured one by one: what every figure on strategies is counted from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from audit.retrieval.measures import first_gold_rank, hit_at, ndcg_at, reciprocal_rank
from audit.stats.intervals import Floats
from audit.store.connection import Connection, frame

PASSAGES, WHOLE, FALLBACK = "passages", "full_document", "full_document_fallback"
MODES = (PASSAGES, WHOLE, FALLBACK)
MEASURES = ("hit_1", "hit_5", "mrr", "ndcg_5", "given")
GROUPS = ("all", "organ", "handbook")
ALL = "(all)"
BEST = 5
SQL = """
select question, q.question_id, q.text as question_text, q.organ, h.handbook_id, strategy, mode, ranked, gold, seconds
from trials join questions q using (question) join handbooks h using (handbook)
order by trials.rowid
"""


def measured(con: Connection) -> pd.DataFrame:
    """Every trial of the run with its measures, NaN where no gold is known. A section listed twice stands where it is first.

    Columns: question (int), question_id, question_text, organ, handbook_id, strategy, mode (None: not said), seconds, gold
    (number of gold sections), rank (of the first gold section from 1; NaN: not in the list), and MEASURES.
    """
    table = frame(con, SQL)
    ranked = [list(dict.fromkeys(each)) for each in table["ranked"]]
    gold = [set(each) for each in table["gold"]]
    lists = list(zip(ranked, gold, strict=True))
    mode = table["mode"].astype(object).where(table["mode"].notna(), None)
    found: dict[str, Any] = {
        "mode": mode,
        "gold": [len(known) for known in gold],
        "rank": _numbers(first_gold_rank(*each) for each in lists),
        "hit_1": _numbers(hit_at(*each, 1) for each in lists),
        "hit_5": _numbers(hit_at(*each, BEST) for each in lists),
        "mrr": _numbers(reciprocal_rank(*each) for each in lists),
        "ndcg_5": _numbers(ndcg_at(*each, BEST) for each in lists),
    }
    whole = mode.isin((WHOLE, FALLBACK)).to_numpy()
    found["given"] = np.where(np.isnan(found["hit_5"]), np.nan, np.maximum(found["hit_5"], whole))
    return table.drop(columns="ranked").assign(**found)


def _numbers(values: Any) -> Floats:
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def strategies(table: pd.DataFrame) -> list[str]:
    """The strategies in the order in which the release has them; the first is the one that others are held against."""
    return list(dict.fromkeys(table["strategy"]))


def by_cell(cells: pd.DataFrame, values: Floats) -> Floats:
    """Sums of `values` by row and question: float32, rows x questions; `cells` has columns row and question (codes from 0)."""
    rows, questions = int(cells["row"].max()) + 1, int(cells["question"].max()) + 1
    flat = np.bincount(cells["row"] * questions + cells["question"], values, rows * questions)
    return np.asarray(flat.reshape(rows, questions), dtype=np.float32)
