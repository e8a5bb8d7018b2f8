"""The searches in which a strategy of retrieval missed the section that holds the answer."""

from __future__ import annotations

import pandas as pd

from audit.errors import NotInRunError
from audit.metrics.trials import SQL, measured, strategies
from audit.store.connection import Connection
from audit.vocabulary import nearest

__all__ = ["SQL", "retrieval_missed"]


def retrieval_missed(con: Connection, strategy: str) -> pd.DataFrame:
    """The searches of one strategy that have no gold section among the first five, and which other strategies had one.

    Ordered by how many of the others found it: what only this strategy misses comes first, what nobody finds last.

    One row per question and handbook:
        question_id, question_text, organ, handbook_id  str
        place          Int64, of the first gold section in the list, from 1; <NA>: not in the list
        found_by       str, the other strategies with a gold section among the first five, joined by commas
        others, found  int, other strategies that made the same search, and those of them that found it

    Trials without gold are left out: nobody knows whether they missed. Raises NotInRunError when the run has no trial of it.
    """
    table = measured(con)
    known = table[table["gold"] > 0]
    if strategy not in strategies(table):
        names = tuple(strategies(table))
        there_are = f"It has {', '.join(names) or 'none'}."
        raise NotInRunError(f"No trial of strategy '{strategy}' is in this run.{nearest(strategy, names)} {there_are}")
    key = ["question_id", "handbook_id"]
    missed = known[(known["strategy"] == strategy) & (known["hit_5"] == 0)]
    others = known[known["strategy"] != strategy]
    found = others[others["hit_5"] == 1].groupby(key)["strategy"].agg(list)
    told = missed.set_index(key).join(found.rename("found_by")).join(others.groupby(key).size().rename("others")).reset_index()
    lists = [each if isinstance(each, list) else [] for each in told["found_by"]]
    return (
        told.assign(
            found_by=[", ".join(each) for each in lists], found=[len(each) for each in lists],
            others=told["others"].fillna(0).astype(int), place=told["rank"].astype("Int64"),
        )[["question_id", "question_text", "organ", "handbook_id", "place", "found_by", "others", "found"]]
        .sort_values("found", ascending=False, kind="stable", ignore_index=True)
    )  # fmt: skip
