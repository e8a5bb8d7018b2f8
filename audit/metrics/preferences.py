"""Head-to-head preferences between answering systems: how often each is preferred, and how strong each is among several."""

from __future__ import annotations

import pandas as pd

from audit.evaluation.bradley_terry import bradley_terry as fit_strengths
from audit.evaluation.preferences import share_of
from audit.metrics import metric
from audit.metrics._preferences import (
    COMPARISONS,
    QUESTIONS_RESAMPLED,
    RATER_KIND,
    SIDES_NOTE,
    SYSTEM_A,
    SYSTEM_B,
    comparisons,
    couple_names,
    of_kind,
    system_order,
)
from audit.metrics._systems import SYSTEM
from audit.queries.lookup import require_one_of
from audit.store.connection import Connection
from audit.tables import Column, TableSpec
from audit.vocabulary import RATER_KINDS, SIDES, Preference, RaterKind

TABLE = TableSpec(
    "How often each of two answering systems is preferred",
    (
        SYSTEM_A, SYSTEM_B, RATER_KIND, Column.count("questions", "{Questions}"),
        Column.count("comparisons", "Comparisons"), Column.count("a", "A preferred", "comparisons"),
        Column.count("b", "B preferred", "comparisons"), Column.count("tie", "Tie", "comparisons"),
        Column.count("both_bad", "Both bad", "comparisons"), Column.share("a_share", "A preferred", "share of decided ones"),
    ),
    (
        "A comparison is one rater's choice between two answers to the same {question}. Decided: A or B is preferred.",
        SIDES_NOTE, QUESTIONS_RESAMPLED,
    ),
)  # fmt: skip
GLOSSARY = {
    "preference": "One rater's choice between the answers of two systems to one {question}: A, B, a tie, or both are bad.",
}
COLUMNS = ("system_a", "system_b", "name_a", "name_b", "rater_kind", "questions", "comparisons", "a", "b", "tie", "both_bad")
COUNTED = {"a": Preference.A, "b": Preference.B, "tie": Preference.TIE, "both_bad": Preference.BOTH_BAD}


@metric(sql=COMPARISONS, table=TABLE, glossary=GLOSSARY)
def preferences(con: Connection, question_type: str | None = None, organ: str | None = None) -> pd.DataFrame:
    """How often each of two systems' answers is preferred to the other's.

    question_type, organ  count only these questions; None: all

    One row per couple of systems that was compared, and kind of rater:
        system_a, system_b, name_a, name_b    str, ids and names; A is the system without retrieval, else the earlier one
        rater_kind                            str, human or judge
        questions, comparisons                int; several raters of one question are several comparisons
        a, b, tie, both_bad                   int, comparisons by choice; they add up to comparisons
        a_share, a_share_low, a_share_high    float in [0, 1], a / (a + b), 95 % interval with questions resampled; NaN without
                                              a decided comparison
    """
    names, rows = couple_names(con), []
    for key, own in comparisons(con, question_type, organ).groupby(["system_a", "system_b", "rater_kind"], sort=False):
        a, b, rater_kind = map(str, key)
        share = share_of(own["question"], own["preference"] == Preference.A, own["preference"].isin(SIDES))
        counts = {name: int((own["preference"] == choice).sum()) for name, choice in COUNTED.items()}
        rows.append(
            {
                "system_a": a, "system_b": b, "name_a": names[a], "name_b": names[b], "rater_kind": rater_kind,
                "questions": own["question"].nunique(), "comparisons": len(own), **counts,
                "a_share": share.value, "a_share_low": share.low, "a_share_high": share.high,
            }
        )  # fmt: skip
    return pd.DataFrame(rows, columns=[*COLUMNS, "a_share", "a_share_low", "a_share_high"])


STRENGTHS_TABLE = TableSpec(
    "The strength of each answering system in head-to-head comparisons",
    (
        SYSTEM,
        Column.count("comparisons", "Comparisons"),
        Column.decimal("wins", "Wins", "ties as half"),
        Column.decimal("strength", "Strength"),
        Column.count("rank", "Rank"),
    ),
    (
        "Strength: Bradley and Terry (1952), on the log scale with mean 0. A system whose strength is 1 above another's is "
        "preferred at odds of 2.7 to 1. A tie, and a comparison in which both are bad, is half a win for each.",
        "Strengths are unknown if some systems won every comparison with the others, or were never compared with them.",
        QUESTIONS_RESAMPLED,
    ),
)
STRENGTHS_GLOSSARY = {
    "strength": "How likely a system is to be preferred to others (Bradley and Terry 1952): 1 more means odds of 2.7 to 1.",
}


@metric(sql=COMPARISONS, table=STRENGTHS_TABLE, glossary=STRENGTHS_GLOSSARY)
def bradley_terry(
    con: Connection, rater_kind: str = RaterKind.HUMAN, question_type: str | None = None, organ: str | None = None
) -> pd.DataFrame:
    """The strength of each system by the comparisons of all systems with each other, best for three systems and more.

    rater_kind            whose comparisons count: human or judge
    question_type, organ  count only these questions; None: all

    One row per compared system, the strongest first where strengths are known:
        system_id, name                          str
        comparisons                              int, comparisons with an answer of this system
        wins                                     float, ties counting half
        strength, strength_low, strength_high    float, log scale with mean 0, 95 % interval with questions resampled; NaN where
                                                 no finite strengths fit, and ends with fewer than five questions
        rank                                     int from 1; missing without a strength

    Raises AuditError for another `rater_kind`. Source: audit.evaluation.bradley_terry.
    """
    require_one_of(rater_kind, tuple(RATER_KINDS), "Rater kind")
    systems = system_order(con)
    own = of_kind(comparisons(con, question_type, organ), rater_kind)
    table = fit_strengths(own, systems["system_id"].tolist())
    table.insert(1, "name", systems["name"])
    compared = table[table["comparisons"] > 0]
    return compared.sort_values("rank", kind="stable").reset_index(drop=True)
