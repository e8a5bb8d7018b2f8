"""How pairs are counted: the SQL fragments that metrics share, the pairs for intervals, and the rates of question groups.

Each metric's statement is assembled from these fragments when its module is imported, so the SQL a page prints is complete.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from audit.queries.concerned import concerned
from audit.stats.intervals import Floats, with_interval, with_wilson
from audit.stats.pair_table import COUPLE_BASE, PRESCREENED, UNSCORED, Pairs, rate_intervals
from audit.store.connection import Connection, arrays, rows
from audit.text.words import CHARACTERS_PER_TOKEN
from audit.vocabulary import PRESENT_LABELS, SIGNIFICANCES

# Of the judge's instructions with its rubric, to which a call adds the question and both answers
INSTRUCTION_CHARACTERS = 3_700

COUNTS = (
    "pairs", "scored", "prescreened", "absent_judged", "absent", "present",
    "consistent", "complementary", "divergent", "contradictory", "unscored", "disagreeing",
)  # fmt: skip
"""The counts of a group of pairs, in the order in which every metric shows them.

scored = absent + present; absent = prescreened + absent_judged; pairs = scored + unscored;
present = consistent + complementary + divergent + contradictory; disagreeing = divergent + contradictory.
"""

LABEL_COUNTS = ",\n".join(f"           count(*) filter (label = '{label}') as {label.lower()}" for label in PRESENT_LABELS)
"""Counts pairs in which both handbooks answer, by their label."""

SIGNIFICANCE_COUNTS = ",\n".join(
    [
        *(f"           count(*) filter (disagrees and significance = '{word}') as {word}" for word in SIGNIFICANCES),
        "           count(*) filter (disagrees and significance is null) as unstated",
    ]
)
"""Counts the disagreeing pairs among rows of `judged_pairs`, by their clinical significance."""

TALLY = f"""
           count(*)                                                     as pairs,
           count(label)                                                 as scored,
           count(*) filter (prescreened)                                as prescreened,
           count(*) filter (not present and not prescreened)            as absent_judged,
           count(*) filter (not present)                                as absent,
           count(*) filter (present)                                    as present,
{LABEL_COUNTS},
           count(*) filter (label is null)                              as unscored,
           count(*) filter (disagrees)                                  as disagreeing""".lstrip("\n")
"""Counts rows of `judged_pairs`. An unscored pair has no label, so it enters `pairs` and `unscored` and nothing else."""

# DuckDB adds integers up as 128-bit ones, which pandas would read as floats: hence the cast.
SUMMED = ",\n".join(f"           coalesce(sum({count}), 0)::bigint as {count}" for count in COUNTS)
"""Adds up rows that were counted with TALLY."""

BY_QUESTION = f"""tallies as (
    select question,
{TALLY}
    from judged_pairs
    group by question
)"""

MATCHING, ALL_HANDBOOKS = "matching", "all"
SCOPES = (MATCHING, ALL_HANDBOOKS)
"""Pairs of the handbooks that a question concerns (those of its organ; for general questions, and among general handbooks, all),
or of all handbooks."""

IN_SCOPE = f"""in_scope as (
    select p.*
    from judged_pairs p
    join questions q using (question)
    join handbooks a on a.handbook = p.handbook_a
    join handbooks b on b.handbook = p.handbook_b
    where $scope = '{ALL_HANDBOOKS}' or ({concerned("q", "a")} and {concerned("q", "b")})
)"""

BY_QUESTION_IN_SCOPE = f"{IN_SCOPE},\n{BY_QUESTION.replace('from judged_pairs', 'from in_scope')}"

BY_COUPLE = f"""tallies as (
    select handbook_a, handbook_b,
{TALLY}
    from judged_pairs
    group by handbook_a, handbook_b
)"""

GROUP_COUNTS = f"""
           count(*)                                   as questions,
           count(*) filter (scored > 0)               as questions_scored,
           count(*) filter (disagreeing > 0)          as questions_any,
{SUMMED}""".lstrip("\n")
"""Counts a group of questions, each joined to its tally (null where it has no pairs)."""

# Rates are null, read as NaN, where nothing was counted: no pair is different from no disagreement.
GROUP_COLUMNS = f"""questions, {", ".join(COUNTS)},
       absent / nullif(scored, 0)                     as r_abs,
       disagreeing / nullif(present, 0)               as r_div,
       consistent / nullif(present, 0)                as r_con,
       questions_scored, questions_any,
       questions_any / nullif(questions_scored, 0)    as pct_any_div"""

PAIRS_SQL = f"""
{{scoped}}
select question,
       handbook_a::integer * {COUPLE_BASE} + handbook_b               as couple,
       case when prescreened then {PRESCREENED} when label is null then {UNSCORED}
            else enum_code(label) end::utinyint                       as outcome
from {{pairs}}
"""


COUPLES_TO_JUDGE = """
    select a.question, a.handbook as handbook_a, b.handbook as handbook_b
    from answers a join answers b on a.question = b.question and a.handbook < b.handbook
    where a.absent = false and b.absent = false
""".strip()
"""The couples of present answers to one question, which a judge would be asked about; the others need no judge."""

# The sums of each question, so the couples themselves are never listed: a run may have millions
JUDGING_COST = f"""
with by_question as (
    select question, count(*) as asked, count(*) filter (absent = false) as n,
           coalesce(sum(length(answer)) filter (absent = false), 0) as characters
    from answers group by question
)
select coalesce(sum(asked * (asked - 1) // 2), 0)::bigint,
       coalesce(sum(n * (n - 1) // 2), 0)::bigint,
       coalesce(sum((n - 1) * characters + n * (n - 1) // 2 * (length(text) + {INSTRUCTION_CHARACTERS})), 0)::bigint
from by_question join questions using (question)
"""


@dataclass(frozen=True)
class JudgingCost:
    """What it would take a language model to compare all handbooks of a run.

    pairs          all couples of handbooks that were asked one question
    calls          those of two present answers; the others are ABSENT, or unscored, without a call
    prompt_tokens  what the model would read, estimated by the lengths of the texts
    """

    pairs: int
    calls: int
    prompt_tokens: int

    @property
    def words(self) -> str:
        """Both as a phrase: `about 1,230 calls to a language model, which would read about 2.1 million tokens`."""
        calls = f"about {self.calls:,} call{'' if self.calls == 1 else 's'} to a language model"
        tokens = self.prompt_tokens
        amount = f"{tokens / 1e6:,.1f} million" if tokens >= 1e6 else f"{round(tokens, -3 if tokens >= 1e3 else 0):,}"
        return f"{calls}, which would read about {amount} tokens"


def pairs_to_judge(con: Connection) -> int:
    """How many couples of two present answers to one question a run has: a judge would be asked about each of them."""
    return judging_cost(con).calls


def judging_cost(con: Connection) -> JudgingCost:
    """What it would take to judge all couples of present answers, one call each, by the lengths of questions and answers."""
    ((pairs, calls, characters),) = rows(con, JUDGING_COST)
    return JudgingCost(int(pairs), int(calls), round(int(characters) / CHARACTERS_PER_TOKEN))


def default_scope(con: Connection, statement: str = "select manifest ->> 'asked' from run") -> str:
    """MATCHING where the manifest says that questions go to the handbooks of their organ: the others were not asked.

    `statement` reads what it says; of two runs that are open at once, one of them is named.
    """
    ((asked,),) = rows(con, statement)
    return MATCHING if asked == "organ" else ALL_HANDBOOKS


def read_pairs(con: Connection, question: int | None = None, scope: str = ALL_HANDBOOKS) -> Pairs:
    """The pairs of a run in a scope (about 9 bytes each), or all of one question."""
    if question is None:
        scoped = {"scoped": f"with {IN_SCOPE}", "pairs": "in_scope"} if scope == MATCHING else {"scoped": "", "pairs": "pairs"}
        return _by_question(arrays(con, PAIRS_SQL.format(**scoped), {"scope": scope} if scope == MATCHING else None))
    statement = PAIRS_SQL.format(scoped="", pairs="pairs where question = $question")
    return _by_question(arrays(con, statement, {"question": question}))


def _by_question(columns: Mapping[str, Any]) -> Pairs:
    # They are stored nearly in order; numpy sorts them several times as fast as DuckDB.
    order = np.argsort(columns["question"], kind="stable")
    return Pairs(*(columns[name][order] for name in ("question", "couple", "outcome")))


def question_groups(pairs: Pairs, questions: pd.Series, groups: pd.Series, names: pd.Series) -> Floats:
    """Membership of questions in groups: float32, names x pairs.questions, from one row per question and group.

    Questions without pairs are left out: they have nothing to count.
    """
    row, column = pd.Index(names).get_indexer(pd.Index(groups)), pd.Index(pairs.questions).get_indexer(pd.Index(questions))
    members = np.zeros((len(names), len(pairs.questions)), dtype=np.float32)
    # `get_indexer` gives -1 where there is no such group or the question has no pairs.
    known = (row >= 0) & (column >= 0)
    members[row[known], column[known]] = 1
    return members


def with_rate_intervals(
    con: Connection, table: pd.DataFrame, name: str, memberships: pd.DataFrame, scope: str = ALL_HANDBOOKS
) -> pd.DataFrame:
    """`table`, one row per group of questions, with the intervals of its four rates.

    `name` is the column of `table` and of `memberships` (question, name) that names the group. r_abs, r_div and r_con
    pool pairs: their intervals generalise to other questions and other handbooks. pct_any_div counts questions: its interval is
    Wilson's, for other questions put to these handbooks.
    """
    pairs = read_pairs(con, scope=scope)
    groups = question_groups(pairs, memberships["question"], memberships[name], table[name])
    for rate, (low, high) in rate_intervals(pairs, groups).items():
        table = with_interval(table, rate, low, high)
    # No interval can generalise to other handbooks here: with more of them, more questions show some disagreement.
    return with_wilson(table, "pct_any_div", "questions_any", "questions_scored")
