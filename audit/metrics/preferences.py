"""Head-to-head preferences between answering systems: how often each is preferred, and how strong each is among several."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from itertools import combinations

import numpy as np
import pandas as pd

from audit.evaluation.criteria import Incomplete
from audit.evaluation.preferences import EXACT, TIES_TO_A, TIES_TO_B, alignment, chosen, kappa_of, oriented, share_of, side_effect
from audit.evaluation.preferences import bradley_terry as fit_strengths
from audit.metrics import metric
from audit.metrics._systems import CHOSEN, COMPOSITE, SYSTEM, composite_values, selection_parameters
from audit.queries.lookup import require_one_of
from audit.store.connection import Connection, frame
from audit.tables import Column, IntervalNote, Population, TableSpec
from audit.vocabulary import PREFERENCES, RATER_KINDS, SIDES, Preference, RaterKind

# -- Shared by the metrics of preferences: the comparisons of a run, each with the earlier system as A, and the judge's choices


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
    "preference": "One rater's choice between the answers of two systems to one {question}: A, B, a tie, or both are bad."
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
    "strength": "How likely a system is to be preferred to others (Bradley and Terry 1952): 1 more means odds of 2.7 to 1."
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

    Raises AuditError for another `rater_kind`. Source: audit.evaluation.preferences.
    """
    require_one_of(rater_kind, tuple(RATER_KINDS), "Rater kind")
    systems = system_order(con)
    own = of_kind(comparisons(con, question_type, organ), rater_kind)
    table = fit_strengths(own, systems["system_id"].tolist())
    table.insert(1, "name", systems["name"])
    compared = table[table["comparisons"] > 0]
    return compared.sort_values("rank", kind="stable").reset_index(drop=True)


# -- Whether an answer is preferred for its position or length, whichever system wrote it --------------------


EFFECTS = {"position": "shown_first", "length": "longer"}
"""Effect -> the column with the side it favours."""
PREFERENCE_EFFECTS_TABLE = TableSpec(
    "Effect of position and length on preferences",
    (
        Column.text("effect", "Favoured answer", words={"position": "the one shown first", "length": "the longer one"}),
        RATER_KIND,
        Column.count("comparisons", "Decided", "comparisons"),
        Column.count("won", "Favoured answer preferred", "comparisons"),
        Column.share("share", "Share of decided ones"),
        Column.count("informative", "Of couples compared both ways", "comparisons"),
        Column.share("adjusted", "Apart from whose answer it is", "share"),
        Column.decimal("p_value", "p value"),
    ),
    (
        "Apart from whose answer it is: in each couple of systems, the mean of how often the favoured answer is preferred when "
        "it is the one system's and when it is the other's; 0.5: no effect. A better system that is often shown first, or writes "
        "longer answers, does not change it. Couples in which the same system was always favoured, or always "
        "preferred, carry no information and are left out.",
        "p value: exact and two-sided, given how often each system was preferred and favoured (Gart 1970).",
        "Ties and comparisons in which both are bad are left out; so are those of unknown order, or of equal length.",
        QUESTIONS_RESAMPLED,
    ),
)
PREFERENCE_EFFECTS_GLOSSARY = {
    "position effect": "An answer is preferred because it is shown first. Head-to-head studies show either side first at random.",
    "preference for length": "An answer is preferred because it is longer, whatever it says.",
}
PREFERENCE_EFFECTS_COLUMNS = (
    "effect", "rater_kind", "comparisons", "won", "share", "share_low", "share_high", "informative", "adjusted", "adjusted_low",
    "adjusted_high", "p_value",
)  # fmt: skip


@metric(sql=COMPARISONS, table=PREFERENCE_EFFECTS_TABLE, glossary=PREFERENCE_EFFECTS_GLOSSARY)
def preference_effects(con: Connection, question_type: str | None = None, organ: str | None = None) -> pd.DataFrame:
    """Whether answers are preferred because they are shown first, or because they are longer.

    question_type, organ  count only these questions; None: all

    One row per effect and kind of rater that compared anything:
        effect                                   str, position or length (in words)
        rater_kind                               str, human or judge
        comparisons, won                         int, decided comparisons with a favoured answer; those in which it is preferred
        share, share_low, share_high             float in [0, 1], won / comparisons
        informative                              int, comparisons of couples of which either system was favoured and preferred
        adjusted, adjusted_low, adjusted_high    float in [0, 1], 0.5 without an effect; see audit.evaluation.preferences
        p_value                                  float in [0, 1]
    Shares have 95 % intervals with questions resampled; NaN where unknown.
    """
    table = comparisons(con, question_type, organ)
    rows = [
        {"effect": effect, "rater_kind": kind.value, **asdict(side_effect(own, column))}
        for effect, column in EFFECTS.items()
        for kind in RATER_KINDS
        if len(own := of_kind(table, kind))
    ]
    return pd.DataFrame(rows, columns=list(PREFERENCE_EFFECTS_COLUMNS))


# -- Agreement of the judge's preferences with people's, and of people's with each other ---------------------


COMPARED = ["question", "system_a", "system_b"]
UNNAMED = "judge"
RULES = {EXACT: "a tie", TIES_TO_A: "A preferred", TIES_TO_B: "B preferred"}
PREFERENCE_JUDGE_TABLE = TableSpec(
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
PREFERENCE_JUDGE_GLOSSARY = {
    "alignment": "The share of head-to-head comparisons in which the judge prefers the same answer as people do."
}
PREFERENCE_JUDGE_COLUMNS = (
    "judge",
    "rule",
    "agreed",
    "of",
    "share",
    "share_low",
    "share_high",
    "kappa",
    "kappa_low",
    "kappa_high",
)


@metric(sql=COMPARISONS, table=PREFERENCE_JUDGE_TABLE, glossary=PREFERENCE_JUDGE_GLOSSARY)
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
    return (
        pd.concat(tables, ignore_index=True)[list(PREFERENCE_JUDGE_COLUMNS)]
        if tables
        else pd.DataFrame(columns=list(PREFERENCE_JUDGE_COLUMNS))
    )


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
