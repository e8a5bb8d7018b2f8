"""Trials of retrieval with their measures, one row each: every figure on strategies is counted from these."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from audit.retrieval.measures import first_gold_rank, hit_at, ndcg_at, reciprocal_rank
from audit.stats.intervals import Floats
from audit.store.connection import Connection, frame

PASSAGES, FULL_DOCUMENT, FALLBACK = "passages", "full_document", "full_document_fallback"
MODES = (PASSAGES, FULL_DOCUMENT, FALLBACK)
MEASURES = ("hit_1", "hit_5", "mrr", "ndcg_5", "given")
GROUPS = ("all", "organ", "handbook")
CUTOFF = 5
"""Sections at the head of a list that the generator is given."""
SQL = """
select question, q.question_id, q.text as question_text, q.organ, h.handbook_id, strategy, mode, ranked, gold, seconds
from trials join questions q using (question) join handbooks h using (handbook)
order by trials.rowid
"""


def trials_with_measures(con: Connection) -> pd.DataFrame:
    """Every trial of the run with its measures, NaN where no gold is known. A section listed twice counts at its first rank.

    Columns: question (int), question_id, question_text, organ, handbook_id, strategy, mode (None: not reported), seconds, gold
    (number of gold sections), rank (of the first gold section from 1; NaN: not in the list), and MEASURES.
    """
    table = frame(con, SQL)
    # `fromkeys` drops repeats and keeps the order, so a section counts at its first rank.
    ranked = [list(dict.fromkeys(sections)) for sections in table["ranked"]]
    gold = [set(sections) for sections in table["gold"]]
    lists = list(zip(ranked, gold, strict=True))
    mode = table["mode"].astype(object).where(table["mode"].notna(), None)
    measures: dict[str, Any] = {
        "mode": mode,
        "gold": [len(sections) for sections in gold],
        "rank": _as_floats(first_gold_rank(*trial) for trial in lists),
        "hit_1": _as_floats(hit_at(*trial, 1) for trial in lists),
        "hit_5": _as_floats(hit_at(*trial, CUTOFF) for trial in lists),
        "mrr": _as_floats(reciprocal_rank(*trial) for trial in lists),
        "ndcg_5": _as_floats(ndcg_at(*trial, CUTOFF) for trial in lists),
    }
    full_document = mode.isin((FULL_DOCUMENT, FALLBACK)).to_numpy()
    # Whoever was given the full document was given the gold section, wherever the search ranked it.
    measures["given"] = np.where(np.isnan(measures["hit_5"]), np.nan, np.maximum(measures["hit_5"], full_document))
    return table.drop(columns="ranked").assign(**measures)


def _as_floats(values: Any) -> Floats:
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def strategies(table: pd.DataFrame) -> list[str]:
    """The strategies in the order of the release; the first is the comparator of the others."""
    return list(dict.fromkeys(table["strategy"]))


def by_cell(cells: pd.DataFrame, values: Floats) -> Floats:
    """Sums of `values` by row and question: float32, rows x questions; `cells` has columns row and question (codes from 0)."""
    rows, questions = int(cells["row"].max()) + 1, int(cells["question"].max()) + 1
    flat = np.bincount(cells["row"] * questions + cells["question"], values, rows * questions)
    return np.asarray(flat.reshape(rows, questions), dtype=np.float32)
