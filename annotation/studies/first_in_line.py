"""Pairs that people read first: each reason to doubt the judge makes strata of its own, drawn in full as far as a plan allows.

Their weights are those of any stratum, so figures of the run stay unbiased: a stratum that is drawn in full adds no uncertainty.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from audit.metrics.doubted_labels import doubted_labels
from audit.result_cache import cached_or_computed
from audit.store.connection import Connection, rows
from audit.vocabulary import ABSTAINED


class Reason(NamedTuple):
    """One reason to read a pair first.

    name      as strata are called: `DIVERGENT/doubted label`
    sentence  for whoever plans a study
    holds     SQL, whether it applies to `p`, a row of `quoted_pairs`, with `q`, `a` and `b` its question and handbooks, and
              `r` how the reply was read; the table `doubted` has question_id, first and other
    """

    name: str
    sentence: str
    holds: str


REASONS = (
    Reason(
        "doubted label",
        "the other labels of its question contradict the label",
        "(q.question_id, a.handbook_id, b.handbook_id) in (select (question_id, first, other) from doubted)",
    ),
    Reason(
        "judge cannot tell",
        "the judge replied that it cannot tell",
        f"p.label is null and starts_with(r.unscored_reason, '{ABSTAINED}')",
    ),
    Reason(
        "quote not found",
        "the verdict rests on words that do not stand in the answer",
        "p.label is not null and p.quotes = 'unsupported'",
    ),
    Reason(
        "two judges differ",
        "a second judge gives another label",
        "(p.question, p.handbook_a, p.handbook_b) in (select (question, handbook_a, handbook_b) from pairs_read_twice "
        "where second = 'another label')",
    ),
)
"""In the order in which items are given to them; a pair is in the stratum of the first reason that applies."""
NAMES = tuple(reason.name for reason in REASONS)
_WHICH = " ".join(f"when {reason.holds} then '{reason.name}'" for reason in REASONS)
FIRST_IN_LINE = f"""
doubted as (
    select unnest($doubted::varchar[]) as question_id, unnest($doubted_firsts::varchar[]) as first,
           unnest($doubted_others::varchar[]) as other
), first_in_line as (
    select question, handbook_a, handbook_b, case {_WHICH} end as reason
    from quoted_pairs p join questions q using (question)
    left join readings r using (question, handbook_a, handbook_b)
    join handbooks a on a.handbook = p.handbook_a join handbooks b on b.handbook = p.handbook_b
    where $first and reason is not null
)
"""
"""Common table expressions: the pairs to read first, by reason; empty unless $first."""
Values = Mapping[str, object]


def values_of(con: Connection, *, first: bool) -> Values:
    """The parameters of FIRST_IN_LINE; `first`: whether a plan has such strata."""
    names = {"doubted": "question_id", "doubted_firsts": "first", "doubted_others": "second"}
    if not first:
        return {"first": False, **{name: [] for name in names}}
    ((path,),) = rows(con, "select path from duckdb_databases() where database_name = current_database()")
    table = cached_or_computed(doubted_labels, con, Path(path), {})
    assert isinstance(table, pd.DataFrame)
    return {"first": True, **{name: table[column].tolist() for name, column in names.items()}}
