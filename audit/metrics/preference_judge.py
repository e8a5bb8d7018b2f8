"""Agreement of the judge's preferences with people's, and of people's with each other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import pandas as pd

from audit.evaluation.criteria import Incomplete
from audit.evaluation.preferences import EXACT, TIES_TO_A, TIES_TO_B, alignment, chosen, kappa_of, share_of
from audit.metrics import metric
from audit.metrics._preferences import (
    COMPARISONS,
    QUESTIONS_RESAMPLED,
    SIDES_NOTE,
    choices_by_composite,
    comparisons,
    of_kind,
)
from audit.metrics._systems import COMPOSITE
from audit.queries.lookup import require_one_of
from audit.store.connection import Connection
from audit.tables import Column, TableSpec
from audit.vocabulary import PREFERENCES, RaterKind

COMPARED = ["question", "system_a", "system_b"]
UNNAMED = "judge"
RULES = {EXACT: "a tie", TIES_TO_A: "A preferred", TIES_TO_B: "B preferred"}
TABLE = TableSpec(
    "How often the judge prefers the answer that people prefer",
    (
        Column.text("judge", "Judge", words={COMPOSITE: "composite of the eight criteria"}),
        Column.text("rule", "Judge's tie counts as", words=RULES),
        Column.count("agreed", "Agreed", "comparisons"),
        Column.count("of", "Compared", "comparisons"),
        Column.share("share", "Alignment", "share"),
        Column.decimal("kappa", "Cohen's kappa"),
    ),
    (
        "Compared: people's choices between answers that the judge compared too, by its stated preference or by the higher "
        "composite of the eight criteria; equal composites are a tie. A choice by people that both are bad counts as a tie.",
        "If one system is nearly always preferred, an uninformed judge agrees often by chance: kappa is agreement beyond chance. "
        "Over several couples of systems it does not depend on which one is called A.",
        SIDES_NOTE,
        QUESTIONS_RESAMPLED,
    ),
)
GLOSSARY = {
    "alignment": "The share of head-to-head comparisons in which the judge prefers the same answer as people do.",
}
COLUMNS = ("judge", "rule", "agreed", "of", "share", "share_low", "share_high", "kappa", "kappa_low", "kappa_high")


@metric(sql=COMPARISONS, table=TABLE, glossary=GLOSSARY)
def preference_alignment(
    con: Connection,
    incomplete: str = Incomplete.EXCLUDE,
    weights: str = "",
    question_type: str | None = None,
    organ: str | None = None,
) -> pd.DataFrame:
    """How often the judge prefers the same answer as people, under three rules for the judge's ties.

    incomplete, weights   how the composite counts, as in the metric `composite`
    question_type, organ  count only these questions; None: all

    One row per judge and rule, over all couples of systems. A judge is one whose own preferences the release has, or `composite`:
    the higher composite of the eight criteria, for comparisons made by people in which both composites are known:
        judge                           str
        rule                            str, what the judge's tie counts as: exact (a tie), ties_to_a, ties_to_b
        agreed, of                      int, comparisons; several people on one comparison are several
        share, share_low, share_high    float in [0, 1], 95 % interval with questions resampled
        kappa, kappa_low, kappa_high    float, Cohen's, likewise; NaN where undefined

    Raises AuditError for another `incomplete`. Source: audit.evaluation.preferences.
    """
    require_one_of(incomplete, tuple(Incomplete), "Incomplete")
    table = comparisons(con, question_type, organ)
    people, tables = of_kind(table, RaterKind.HUMAN), []
    for judge, choices in _judges(con, table, people, incomplete, weights):
        both = people.merge(choices, on=COMPARED)
        if len(both):
            tables.append(alignment(both["question"], chosen(both), both["choice"], couples_in(both)).assign(judge=judge))
    return pd.concat(tables, ignore_index=True)[list(COLUMNS)] if tables else pd.DataFrame(columns=list(COLUMNS))


def couples_in(comparisons: pd.DataFrame) -> int:
    """How many couples of systems the comparisons are of."""
    return len(comparisons[["system_a", "system_b"]].drop_duplicates())


def _judges(
    con: Connection, table: pd.DataFrame, people: pd.DataFrame, incomplete: str, weights: str
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each judge with its choices, one per comparison: question, system_a, system_b, choice."""
    own = of_kind(table, RaterKind.JUDGE)
    own = own.assign(rater=own["rater"].fillna(UNNAMED), choice=chosen(own))
    for judge, rows in own.groupby("rater"):
        yield str(judge), rows.drop_duplicates(COMPARED)[[*COMPARED, "choice"]]
    yield COMPOSITE, choices_by_composite(con, people, incomplete, weights)


RATERS_TABLE = TableSpec(
    "Agreement of two people who compared the same answers",
    (
        Column.text("rater_a", "Rater", "first"),
        Column.text("rater_b", "Rater", "second"),
        Column.count("agreed", "Agreed", "comparisons"),
        Column.count("of", "Compared by both", "comparisons"),
        Column.share("share", "Agreement", "share"),
        Column.decimal("kappa", "Cohen's kappa"),
    ),
    ("The choices are A, B, a tie, and both are bad; two people agree if they made the same one.", QUESTIONS_RESAMPLED),
)
RATERS_GLOSSARY = {"rater": "A person, or a judge, who chose between the answers of two systems."}
RATERS_COLUMNS = ("rater_a", "rater_b", "agreed", "of", "share", "share_low", "share_high", "kappa", "kappa_low", "kappa_high")


@metric(sql=COMPARISONS, table=RATERS_TABLE, glossary=RATERS_GLOSSARY)
def preference_raters(con: Connection, question_type: str | None = None, organ: str | None = None) -> pd.DataFrame:
    """Agreement of every two people who compared the same answers.

    question_type, organ  count only these questions; None: all

    One row per two named people with a comparison in common:
        rater_a, rater_b                str
        agreed, of                      int, comparisons that both made
        share, share_low, share_high    float in [0, 1], agreed / of, 95 % interval with questions resampled
        kappa, kappa_low, kappa_high    float, Cohen's over the four choices, likewise; NaN where undefined
    """
    people = of_kind(comparisons(con, question_type, organ), RaterKind.HUMAN).dropna(subset=["rater"])
    choices = people.drop_duplicates([*COMPARED, "rater"]).pivot(index=COMPARED, columns="rater", values="preference")
    rows = []
    for first, second in combinations(sorted(choices.columns), 2):
        both = choices[[first, second]].dropna()
        if len(both):
            question = both.index.get_level_values("question").to_series(index=both.index)
            share = share_of(question, both[first] == both[second], pd.Series(True, index=both.index))
            kappa = kappa_of(question, both[first], both[second], PREFERENCES, couples_in(both.index.to_frame()))
            rows.append([first, second, share.count, share.of, share.value, share.low, share.high, *kappa])
    return pd.DataFrame(rows, columns=list(RATERS_COLUMNS))
