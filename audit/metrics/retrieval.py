"""How well each strategy of retrieval finds the section that holds the answer."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audit.errors import AuditError
from audit.metrics.trials import ALL, GROUPS, MEASURES, MODES, SQL, by_cell, measured, strategies
from audit.stats.bootstrap import clustered_ratio_interval
from audit.stats.interval_columns import with_interval
from audit.store.connection import Connection

__all__ = ["SQL", "retrieval"]
COLUMN = {"organ": "organ", "handbook": "handbook_id"}


def retrieval(con: Connection, by: str = "all") -> pd.DataFrame:
    """How often each strategy of retrieval finds the section that holds the answer, and at what cost.

    A trial is one question searched for in one handbook by one strategy. Somebody who knows the handbook has named the
    sections that hold the answer (gold). hit_1 and hit_5: a gold section stands first, or among the first five. mrr: one over
    the place of the first gold section, 0 where it is not in the list, on average. ndcg_5: how much of the best possible order
    the first five are worth. given: a gold section was among what the generator was given, the first five or the whole
    document. A section listed twice takes one place. Trials without gold are in no measure: nobody knows whether they missed.

    `by` is 'all', 'organ' (of the question) or 'handbook'. One row per group and strategy, in the order of the release:
        name                        str, the organ, the handbook's id, or '(all)'
        strategy                    str
        trials, questions           int, trials with gold, and the questions in them
        no_gold                     int, trials without
        hit_1, hit_5, mrr, ndcg_5,
        given                       float in [0, 1]; NaN where trials is 0
        ..._low, ..._high           95 % interval: questions resampled, each with all its handbooks; Wilson's over questions
                                    where hits or misses are on fewer than five; NaN with fewer than two questions
        passages, full_document,
        full_document_fallback      int, trials (with gold or not) by what the generator was given
        mode_unknown                int, trials of which the release does not say
        seconds                     float, CPU seconds a search on average; NaN where none is told

    No row where the run has no trials. Raises AuditError when `by` is none of these.
    Source: the measures as in arXiv:2605.29084, appendix D; interval: audit.stats.bootstrap.
    """
    if by not in GROUPS:
        raise AuditError(f"Trials are grouped by {', '.join(GROUPS)}, not by '{by}'. Nothing was counted.")
    table = measured(con)
    table["name"] = table[COLUMN[by]] if by in COLUMN else ALL
    order = pd.MultiIndex.from_product([sorted(table["name"].unique()), strategies(table)], names=["name", "strategy"])
    rows = order[order.isin(pd.MultiIndex.from_frame(table[["name", "strategy"]]))]
    table["row"] = rows.get_indexer(pd.MultiIndex.from_frame(table[["name", "strategy"]]))
    return _with_measures(_counted(table, rows), table[table["gold"] > 0])


def _counted(table: pd.DataFrame, rows: pd.MultiIndex) -> pd.DataFrame:
    """Names, strategies and plain counts, one row each."""
    mode = table["mode"].where(table["mode"].isin(MODES), "mode_unknown")
    modes = pd.crosstab(table["row"], mode).reindex(columns=[*MODES, "mode_unknown"])
    known = table[table["gold"] > 0].groupby("row")
    counts = {
        "trials": known.size(), "questions": known["question"].nunique(),
        "no_gold": (table["gold"] == 0).groupby(table["row"]).sum(), **{str(name): column for name, column in modes.items()},
    }  # fmt: skip
    whole = pd.DataFrame(counts).reindex(range(len(rows))).fillna(0).astype(int)
    return rows.to_frame(index=False).join(whole).assign(seconds=table.groupby("row")["seconds"].mean())


def _with_measures(counted: pd.DataFrame, known: pd.DataFrame) -> pd.DataFrame:
    """The measures and their intervals after the counts of trials."""
    after = list(counted.columns).index("passages")
    cells = pd.DataFrame({"row": known["row"].to_numpy(), "question": pd.factorize(known["question"])[0]})
    for number, name in enumerate(MEASURES):
        means = known.groupby("row")[name].mean().reindex(range(len(counted)))
        counted.insert(after + number, name, means.to_numpy(dtype=float))
    if known.empty:
        return counted
    whole = by_cell(cells, np.ones(len(known)))
    for name in MEASURES:
        low, high = clustered_ratio_interval(by_cell(cells, known[name].to_numpy(dtype=float)), whole)
        ends = pd.DataFrame({"low": low, "high": high}).reindex(range(len(counted)))
        counted = with_interval(counted, name, ends["low"], ends["high"])
    return counted
