"""Shared by the metrics of preferences: the comparisons of a run, each with the earlier system as A, and the judge's choices."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audit.evaluation.preferences import oriented
from audit.metrics._systems import CHOSEN, composite_values, selection_parameters
from audit.store.connection import Connection, frame
from audit.tables import Column, IntervalNote, Population
from audit.vocabulary import Preference, RaterKind

# The longer of two answers, in words, if both have a text.
COMPARISONS = f"""
with {CHOSEN.strip()},
words as (
    select question, system, len(regexp_extract_all(answer, '\\S+')) as words from system_answers where answer is not null
)
select question, a.system_id as system_a, b.system_id as system_b, preference, rater, rater_kind, shown_first,
       case when wa.words > wb.words then 'A' when wb.words > wa.words then 'B' end as longer
from preferences p join chosen using (question)
join systems a on a.system = p.system_a join systems b on b.system = p.system_b
left join words wa on (wa.question, wa.system) = (p.question, p.system_a)
left join words wb on (wb.question, wb.system) = (p.question, p.system_b)
order by question, p.system_a, p.system_b, rater_kind, rater
"""
# Without retrieval first, so system A is the baseline of most readers; then as the release lists them.
ORDER = """
select system_id, coalesce(name, system_id) as name, system::integer as system
from systems order by mode is distinct from 'closed_book', system
"""
SYSTEM_A, SYSTEM_B = Column.text("name_a", "System A"), Column.text("name_b", "System B")
RATER_KIND = Column.text("rater_kind", "Compared by", words={RaterKind.HUMAN: "people", RaterKind.JUDGE: "judge"})
SIDES_NOTE = "System A of a couple is the one without retrieval, else the one that the release lists first."
QUESTIONS_RESAMPLED = IntervalNote(Population.QUESTIONS, "they are resampled, each with all its comparisons")


def system_order(con: Connection) -> pd.DataFrame:
    """The systems in the order in which they are system A: system_id, name, system (number)."""
    return frame(con, ORDER)


def comparisons(con: Connection, question_type: str | None = None, organ: str | None = None) -> pd.DataFrame:
    """The comparisons of a run as `audit.evaluation.preferences` has them, the system that is first in `system_order` as A.

    question (number), system_a, system_b (ids), preference, rater, rater_kind, shown_first, longer (A, B, or None).
    """
    return oriented(frame(con, COMPARISONS, selection_parameters(question_type, organ)), system_order(con)["system_id"].tolist())


def of_kind(table: pd.DataFrame, rater_kind: str) -> pd.DataFrame:
    """The comparisons by people, or those by judges."""
    return table[table["rater_kind"] == rater_kind].reset_index(drop=True)


def couple_names(con: Connection) -> dict[str, str]:
    """System id -> its display name."""
    systems = system_order(con)
    return dict(zip(systems["system_id"], systems["name"], strict=True))


def choices_by_composite(
    con: Connection, couples: pd.DataFrame, incomplete: str, weights: str, question_type: str | None = None,
    organ: str | None = None,
) -> pd.DataFrame:  # fmt: skip
    """The judge's choice by the composites of two answers: question, system_a, system_b, choice (A, B, tie).

    `couples` has the columns system_a and system_b; the other options are those of `composite_values`.
    Questions without both composites have no row.
    """
    numbers = system_order(con).set_index("system_id")["system"]
    values = composite_values(con, incomplete=incomplete, weights=weights).pivot(
        index="question", columns="system", values="value"
    )
    tables = []
    for a, b in couples[["system_a", "system_b"]].drop_duplicates().itertuples(index=False):
        if {numbers[a], numbers[b]} <= set(values.columns):
            difference = (values[numbers[a]] - values[numbers[b]]).dropna()
            choice = np.select([difference > 0, difference < 0], [Preference.A, Preference.B], Preference.TIE)
            tables.append(pd.DataFrame({"question": difference.index, "system_a": a, "system_b": b, "choice": choice}))
    return (
        pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=["question", "system_a", "system_b", "choice"])
    )
