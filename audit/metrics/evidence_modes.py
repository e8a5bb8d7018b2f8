"""Disagreement by the context of the two answers: passages, the full document, or the full document as a fallback."""

from __future__ import annotations

import pandas as pd

from audit.metrics import metric
from audit.metrics._shared import DISAGREEING, PRESENT, QUESTIONS, rate_columns, rate_notes
from audit.queries.lookup import require_answers
from audit.queries.pair_counts import PAIRS_SQL
from audit.stats.intervals import Interval, with_interval
from audit.stats.pair_table import RATES, Pairs, one_group, rate_intervals
from audit.store.connection import Connection, arrays, frame
from audit.tables import Column, TableSpec
from audit.vocabulary import Label

NOT_STATED = "not stated"
MODE_WORDS = {
    "passages": "passages",
    "full_document": "the whole text",
    "full_document_fallback": "the whole text, no good passage",
    NOT_STATED: NOT_STATED,
}
BY_MODES = f"""by_modes as (
    select p.question, p.handbook_a, p.handbook_b, p.label, p.prescreened, p.disagrees,
           least(coalesce(a.mode, '{NOT_STATED}'), coalesce(b.mode, '{NOT_STATED}'))      as one,
           greatest(coalesce(a.mode, '{NOT_STATED}'), coalesce(b.mode, '{NOT_STATED}'))   as other
    from judged_pairs p
    left join answers a on a.question = p.question and a.handbook = p.handbook_a
    left join answers b on b.question = p.question and b.handbook = p.handbook_b
    where p.present
)"""
SQL = f"""
with {BY_MODES}
select one, other, count(distinct question) as questions, count(*) as present,
       count(*) filter (disagrees)                                    as disagreeing,
       disagreeing / present                                          as r_div,
       count(*) filter (label = '{Label.CONSISTENT}') / present               as r_con
from by_modes
group by one, other
order by one = '{NOT_STATED}' or other = '{NOT_STATED}', present desc, one, other
"""
PAIRS_OF_MODES = PAIRS_SQL.format(scoped=f"with {BY_MODES}", pairs="by_modes where one = $one and other = $other")
SHOWN = ("r_div", "r_con")
TABLE = TableSpec(
    "Disagreement by what the two answers were written from",
    (
        Column.text("one", "One answer from", words=MODE_WORDS), Column.text("other", "The other from", words=MODE_WORDS),
        QUESTIONS, PRESENT, DISAGREEING, *rate_columns(*SHOWN),
    ),
    (
        "Short {handbooks} are given in full, long ones as passages: a difference between rows may come from the {handbooks}, "
        "not from how their answers were written.",
        *rate_notes(*SHOWN),
    ),
)  # fmt: skip
GLOSSARY = {
    "retrieval mode": "What an answer was written from: passages that were found for the {question}, the whole text of "
    "{a_handbook}, or the whole text because no passage was good enough."
}


@metric(sql=SQL, table=TABLE, glossary=GLOSSARY)
def evidence_modes(con: Connection) -> pd.DataFrame:
    """How often two answers disagree and agree, by the retrieval modes of both.

    Over present pairs (both handbooks address the question). The modes are those that the release states for its answers.

    One row per two modes, those that are not stated last, then the commonest first; no row without present pairs:
        one, other            str, 'passages', 'full_document', 'full_document_fallback', another of the release, 'not stated'
        questions             int, questions with such a pair
        present, disagreeing  int, pairs
        r_div, r_con          float in [0, 1], disagreeing / present, consistent / present; 95 % intervals ..._low, ..._high for
                              other questions and other handbooks (audit.stats.clustered), NaN where fewer than two questions or
                              four handbooks are in the row

    Raises NotInRunError when the release came without answers. Source: rates as in arXiv:2605.29084, section 6.2.
    """
    require_answers(con, "what its answers were written from")
    table = frame(con, SQL)
    ends = [_ends(con, *modes) for modes in zip(table["one"].astype(str), table["other"].astype(str), strict=True)]
    for rate in SHOWN:
        table = with_interval(table, rate, [row[rate][0][0] for row in ends], [row[rate][1][0] for row in ends])
    return table


def _ends(con: Connection, one: str, other: str) -> dict[str, Interval]:
    columns = arrays(con, f"{PAIRS_OF_MODES} order by question", {"one": one, "other": other})
    pairs = Pairs(*(columns[name] for name in ("question", "couple", "outcome")))
    return rate_intervals(pairs, one_group(pairs), {rate: RATES[rate] for rate in SHOWN})
