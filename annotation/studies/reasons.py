"""Why the advice differs, as annotators chose it: with each other and with the judge. For PIs, and readers of a closed study."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import pandas as pd

from annotation.label_store.engine import LabelStore
from annotation.label_store.results import RatedRow, rated_study_items
from audit.stats.clustered import share_by_question
from audit.store.connection import Connection, rows
from audit.tables import Column, IntervalNote, Population, TableSpec

RATERS, JUDGE = "raters", "judge"
Rated = Iterable[Sequence[RatedRow]]
Reasons = Iterator[tuple[str, str, str]]
"""Question, and the reasons of both sides."""
REASONS_TABLE = TableSpec(
    "Why the advice differs: the same reason",
    (
        Column.text("who", "Compared", words={RATERS: "raters with each other", JUDGE: "raters with the judge"}),
        Column.count("count", "Same reason", "items"), Column.count("n", "Both stated one", "items"),
        Column.share("value", "Same reason"),
    ),
    (
        "A reason is optional: items of which one side stated none are not counted, and never as different.",
        IntervalNote(Population.ITEMS, "questions as clusters; Wilson's with questions as trials where none or all agree"),
    ),
)  # fmt: skip
OF_JUDGE = """
select question_id, a.handbook_id, b.handbook_id, difference
from pairs join questions using (question)
join handbooks a on a.handbook = handbook_a join handbooks b on b.handbook = handbook_b
where difference is not null and list_contains($questions, question_id)
"""


def reason_agreement(store: LabelStore, study_id: str, con: Connection) -> pd.DataFrame:
    """How often two raters, and a rater and the judge, give the same reason, of the study items of which both state one.

    con  of the run that the study was drawn from

    who              str, RATERS or JUDGE
    count, n         int, items (a pair of raters each) with the same reason; with two reasons
    value, value_low, value_high  float in [0, 1], count / n with its 95 % interval; NaN where not known
    """
    rated = rated_study_items(store, study_id)
    questions = sorted({row["question_id"] for own in rated.values() for row in own})
    judge = {(question, frozenset((a, b))): reason for question, a, b, reason in rows(con, OF_JUDGE, {"questions": questions})}
    both = {RATERS: list(_of_raters(rated.values())), JUDGE: list(_with_judge(rated.values(), judge))}
    table = []
    for who, found in both.items():
        same = pd.Series([first == second for _, first, second in found], dtype=float)
        value, low, high = share_by_question(pd.Series([question for question, *_ in found]), same.to_numpy())
        table.append((who, int(same.sum()), len(found), value, low, high))
    return pd.DataFrame(table, columns=["who", "count", "n", "value", "value_low", "value_high"])


def _of_raters(rated: Rated) -> Reasons:
    for own in rated:
        for first, second in combinations(own, 2):
            if first["difference"] and second["difference"]:
                yield first["question_id"], first["difference"], second["difference"]


def _with_judge(
    rated: Iterable[Sequence[RatedRow]], judge: dict[tuple[str, frozenset[str]], str]
) -> Iterator[tuple[str, str, str]]:
    for own in rated:
        for row in own:
            reason = judge.get((row["question_id"], frozenset((row["handbook_a"], row["handbook_b"]))))
            if row["difference"] and reason:
                yield row["question_id"], row["difference"], reason
