"""How far the judge can be trusted: repeatability checks, parse status of replies, and all figures in one table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from audit.metrics import metric
from audit.metrics._shared import (
    BOOTSTRAP,
    BY_QUESTION,
    INTERVAL_METHOD,
    LABEL_NAMES,
    NO_INTERVAL,
    kappa_columns,
    label_tables,
    share_columns,
)
from audit.stats.bootstrap import draws
from audit.stats.intervals import Floats, percentiles
from audit.stats.paired import PairedShare, change_columns
from audit.store.connection import Connection, frame
from audit.tables import Column, IntervalNote, Population, TableSpec
from audit.vocabulary import DISAGREEING, PARSES, Label

# The code for a parse status the release does not report; saved links contain it.
NOT_STATED = "not said"
CHECK_WORDS = {
    "swap": "answers in the other order",
    "blind": "names of {centers} hidden",
    "instruction": "an instruction to the judge planted",
    "repeat": "nothing changed",
}
FIGURE_WORDS = {
    "changed": "Another label", "crossed": "Agree or disagree changed", "to disagreement": "Now disagreeing",
    "to agreement": "No longer disagreeing", "kappa_quadratic": "Weighted kappa", "kappa": "Kappa",
    "unread": "Unreadable at least once", "beyond repeat": "Another label, more than when nothing is changed",
}  # fmt: skip
PARSE_WORDS = {
    "strict": "as the JSON that was requested", "lenient": "as JSON with faults", "label": "only the label, from broken JSON",
    "prose": "from prose: the label without JSON", "none": "not readable", "rules": "no model: plain rules",
    NOT_STATED: "not reported by the release", "(all)": "all unscored pairs",
}  # fmt: skip

CHECKS_SQL = """
with repeated as (
    select question, handbook_a, handbook_b, coalesce(label::varchar, 'UNSCORED') as label from checks where kind = 'repeat'
), checked as (
    select c.question, c.kind::varchar as kind, coalesce(p.label::varchar, 'UNSCORED') as first,
           coalesce(c.label::varchar, 'UNSCORED') as again, coalesce(r.label, '') as repeated
    from checks c
    join pairs p using (question, handbook_a, handbook_b)
    left join repeated r using (question, handbook_a, handbook_b)
    union all
    -- Only those of the run's own judge: a planted change may have been put to others
    select question, 'instruction', coalesce(label_before::varchar, 'UNSCORED'), coalesce(label::varchar, 'UNSCORED'), ''
    from planted where kind = 'instruction' and judge = (select manifest ->> 'judge' from run)
)
select question, kind, first, again, repeated, count(*) as pairs
from checked
group by all
order by all
"""
PARSE_SQL = """
with asked as (
    from pairs where not prescreened
)
select question, coalesce(parse::varchar, 'not said') as parse, label is null as unscored,
       case when label is null then coalesce(unscored_reason, 'not said') end as reason, count(*) as pairs
from asked left join readings using (question, handbook_a, handbook_b)
group by all
order by all
"""
COMPARED_WITH_REPEATS = ("swap", "blind")
COLUMNS = ["section", "name", "figure", "count", "of", "value", "value_low", "value_high", "interval"]
CHECKS_TABLE = TableSpec(
    "The judge's labels when the same pair is judged again",
    (
        Column.text("kind", "Check", words=CHECK_WORDS), Column.text("figure", "Figure", words=FIGURE_WORDS),
        Column.count("count", "Checks"), Column.count("of", "Of", "checks"), Column.decimal("value", "Value"), INTERVAL_METHOD,
    ),
    (
        "Agree or disagree changed: from agreeing (absent, consistent, complementary) to disagreeing (the two others), or back.",
        "The repeat row is the noise floor. More than when nothing is changed: the share with another label minus that of the "
        "repeats of the same pairs.",
        "Instructions are planted in equally many pairs of each label, not in proportion to the run's labels.",
        "0 checks: not measured, which is not zero.", IntervalNote(Population.QUESTIONS_TO_THESE),
    ),
)  # fmt: skip
PARSE_TABLE = TableSpec(
    "How the judge's replies were read",
    (
        Column.text("part", "Part"), Column.text("name", "Parse status, or reason", words=PARSE_WORDS),
        Column.count("count", "Pairs"), Column.count("of", "Of", "pairs asked"), Column.share("value", "Share"), INTERVAL_METHOD,
    ),
    ("Pre-screened pairs were not put to the judge and are in no count.", IntervalNote(Population.QUESTIONS_TO_THESE)),
)  # fmt: skip
TABLE = TableSpec(
    "All measurements of the judge",
    (
        Column.text("section", "Section"), Column.text("name", "Name"), Column.text("figure", "Figure"),
        Column.count("count", "Count"), Column.count("of", "Of"), Column.decimal("value", "Value"), INTERVAL_METHOD,
    ),
    ("0 in the column Of: not measured, which is not zero.", IntervalNote(Population.QUESTIONS_TO_THESE)),
)  # fmt: skip
CHECKS_GLOSSARY = {
    "check": "A further verdict of the same judge on the same pair. It measures the judge; the pair keeps its label.",
    "position swap": "A check with the two answers in the other order. A label that changes depended on the order.",
    "blinding": "A check with the names of {centers} hidden. A label that changes depended on who gave the advice.",
    "repeat": "A check in which nothing is changed, so every change is chance: the noise floor of the other checks.",
    "across the line": "From agreeing (absent, consistent, complementary) to disagreeing (divergent, contradictory) or back.",
}
PARSE_GLOSSARY = {"unscored": "The judge was asked about the pair and gave no readable verdict. Unscored pairs are in no rate."}
GLOSSARY = {"not measured": "The check was not made, so there is no number; it is not zero."}


def chosen_pairs_note(manifest: Mapping[str, object]) -> str:
    """A sentence if the judged and checked pairs were a selection; "" if they are all pairs or the release does not "
    "state it.
    """
    settings = manifest.get("judge_settings")
    selection = str(settings.get("pairs") or "") if isinstance(settings, dict) else ""
    if selection in ("", "all"):
        return ""
    return f"The pairs were chosen ({selection}): shares are of these pairs, unweighted, and not of the whole run."


@metric(sql=CHECKS_SQL, table=CHECKS_TABLE, glossary=CHECKS_GLOSSARY)
def judge_checks(con: Connection) -> pd.DataFrame:
    """Whether the judge gives the same label when it is asked about the same pair again.

    Checks are of four kinds. swap: the two answers are in the other order, so a label that changes depended on position.
    blind: the names of centers are hidden. instruction: one answer tells the judge to give another label
    (`planted_changes`). repeat: nothing is changed, so every change is chance: the noise floor with which the others are
    compared. changed: of the checks in which both verdicts can be read, the share with
    another label. crossed: the share that moves between agreeing (absent, consistent, complementary) and disagreeing
    (divergent, contradictory); to disagreement, to agreement: its two directions, equally common when asking
    differently makes the judge neither stricter nor milder. kappa_quadratic, kappa: agreement of both verdicts beyond chance,
    weighted by the steps between labels and not. unread: of all checks, the share in which one of the two verdicts could not be
    read; they count in nothing else. beyond repeat, of swap and blind: of the pairs that were also repeated, the share with
    another label minus the share with another label in the repeat.

    One row per kind and figure, kinds in the order swap, blind, instruction, repeat; 'changed' first:
        kind                   str
        figure                 str, 'changed', 'crossed', 'to disagreement', 'to agreement', 'unread', 'kappa_quadratic', 'kappa',
                               'beyond repeat'
        count, of              int, checks; of is 0 where nothing was measured
        value                  float, a share in [0, 1], a difference of two, or kappa; NaN where nothing was measured, not 0
        value_low, value_high  95 % interval: questions as clusters, each with all its checks; Wilson's
                               with questions as trials where none or all are; of kappas and of the difference, questions
                               resampled; NaN where it cannot be known
        interval               str, which of them

    Source: kappa: Cohen (1960). Position bias of judges: Zheng et al. (2023), arXiv:2306.05685.
    """
    counts = frame(con, CHECKS_SQL)
    return pd.DataFrame([row for kind in CHECK_WORDS for row in _check_figures(counts[counts["kind"] == kind], kind)])


def _check_figures(counts: pd.DataFrame, kind: str) -> Iterator[dict[str, Any]]:
    scored = counts["first"].isin(LABEL_NAMES) & counts["again"].isin(LABEL_NAMES)
    before, after = (counts[side].isin(DISAGREEING) for side in ("first", "again"))
    changed = counts["first"] != counts["again"]
    for figure, counted, denominator in (
        ("changed", changed, scored),
        ("crossed", before != after, scored),
        ("to disagreement", ~before & after, scored),
        ("to agreement", before & ~after, scored),
        # `| True`: every check is in the denominator.
        ("unread", ~scored, scored | True),
    ):
        yield {"kind": kind, "figure": figure, **share_columns(counts, counted, denominator)}
    tables = label_tables(counts, "first", "again")
    yield {"kind": kind, "figure": "kappa_quadratic", **kappa_columns(tables, ordered=True)}
    yield {"kind": kind, "figure": "kappa", **kappa_columns(tables)}
    if kind in COMPARED_WITH_REPEATS:
        yield {"kind": kind, "figure": "beyond repeat", **_beyond_repeat(counts[scored & counts["repeated"].isin(LABEL_NAMES)])}


def _beyond_repeat(counts: pd.DataFrame) -> dict[str, Any]:
    """How much more often the label changes than in the repeat of the same pair; `counts`: pairs readable all three times."""
    pairs = counts["pairs"].to_numpy(dtype=float)
    by_question, questions = pd.factorize(counts["question"])
    sums = [
        np.bincount(by_question, pairs * marked.to_numpy(dtype=float), len(questions)).astype(float)[None, :]
        for marked in (counts["first"] != counts["repeated"], counts["first"] != counts["again"], counts["pairs"] > 0)
    ]
    repeated, changed = PairedShare(sums[0], sums[2]), PairedShare(sums[1], sums[2])
    change = change_columns("value", repeated, changed, draws(sums[2].shape[1], stream=0))
    low, high = float(change["value_low"][0]), float(change["value_high"][0])
    return {
        "count": int(sums[1].sum()), "of": int(pairs.sum()), "value": float(change["value"][0]), "value_low": low,
        "value_high": high, "interval": NO_INTERVAL if np.isnan(low) else BOOTSTRAP,
    }  # fmt: skip


@metric(sql=PARSE_SQL, table=PARSE_TABLE, glossary=PARSE_GLOSSARY)
def judge_reading(con: Connection) -> pd.DataFrame:
    """How the judge's replies were parsed: as requested, leniently, or not at all, with the reasons.

    strict: the reply was the JSON asked for. lenient: JSON with faults. label: only the label's field of broken JSON.
    prose: no JSON, and the reply is the label or states it on a line of its own.
    none: nothing was recognised, and the pair is unscored. rules: no model was asked. not said: the release does not report
    it. The release may report why a pair is unscored. Pre-screened pairs were not put to the judge and are in no count.

    One row per parse status, then one for all unscored pairs and one per reason, most common
    first:
        part                   str, 'read' or 'unscored'
        name                   str, strict ... rules, 'not said'; '(all)' or a reason of the release
        count, of              int, pairs; of: all pairs that the judge was asked about
        value                  float in [0, 1], count / of; NaN where no pair was asked, or where the release does not report it
        value_low, value_high  95 % interval: questions as clusters, each with all its pairs; Wilson's with questions as
                               trials where none or all are; NaN where it cannot be known
        interval               str, which of the two
    """
    counts = frame(con, PARSE_SQL)
    # Every row: the statement leaves pre-screened pairs out.
    asked = counts["pairs"] >= 0
    # If no pair has a parse status the release does not report it, and shares of zero would be a false claim.
    reported = not counts.empty and bool((counts["parse"] != NOT_STATED).any())
    parsed = [
        {
            "part": "read",
            "name": name,
            **_only_if(reported or name == NOT_STATED, share_columns(counts, counts["parse"] == name, asked)),
        }
        for name in (*map(str, PARSES), NOT_STATED)
    ]
    reasons = counts[counts["unscored"]].groupby("reason")["pairs"].sum().sort_values(ascending=False, kind="stable").index
    unscored = [{"part": "unscored", "name": "(all)", **share_columns(counts, counts["unscored"], asked)}]
    unscored += [{"part": "unscored", "name": name, **share_columns(counts, counts["reason"] == name, asked)} for name in reasons]
    return pd.DataFrame(parsed + unscored)


def _only_if(reported: bool, figure: dict[str, object]) -> dict[str, object]:
    """A share that the release does not report is unknown, not zero."""
    unknown = dict.fromkeys(("value", "value_low", "value_high"), float("nan"))
    return figure if reported else figure | unknown | {"interval": NO_INTERVAL}


@metric(sql=CHECKS_SQL, table=TABLE, glossary=GLOSSARY)
def judge(con: Connection) -> pd.DataFrame:
    """All measurements of a run's judge in one table: checks, parse status, and the effect of answer length.

    The rows of `judge_checks`, `judge_reading` and `judge_length`, whose definitions say what each figure means; the SQL shown
    is that of the checks.

        section                str, 'check', 'read', 'unscored' or 'length'
        name                   str, the kind of check, the way of reading, the reason, or the fifth by difference of length
        figure                 str, 'changed', 'crossed', ..., 'share', 'disagreeing' or 'rho'
        count, of              int, checks or pairs; of is 0 where nothing was measured
        value                  float, a share in [0, 1], kappa or rho; NaN where it was not measured, which is not 0
        value_low, value_high  95 % interval, questions resampled or Wilson's; NaN where it cannot be known
        interval               str, how the interval was made

    Source: see `judge_checks` and `judge_length`.
    """
    checks = judge_checks(con).assign(section="check").rename(columns={"kind": "name"})
    reading = judge_reading(con).rename(columns={"part": "section"}).assign(figure="share")
    length = judge_length(con).rename(columns={"fifth": "name"}).assign(section="length", figure="disagreeing")
    length.loc[length["name"] == "(rho)", ["name", "figure"]] = ["all", "rho"]
    return pd.concat([checks[COLUMNS], reading[COLUMNS], length[COLUMNS]], ignore_index=True)


# -- Whether the judge's label depends on how much two answers differ in length ------------------------------


FIFTHS = 5
# With fewer questions, resampling does not show the spread of rho.
MIN_QUESTIONS = 5
# Ties share the mean of their ranks. Rho needs only sums of ranks by question, so a draw of questions weights
# these sums instead of ranking all pairs again.
SQL = f"""
with lengths as (
    select question, handbook, length(answer) as letters from answers where not absent and length(answer) > 0
),
compared as (
    select p.question, p.handbook_a, p.handbook_b, p.disagrees,
           p.label = '{Label.CONSISTENT}' as agrees,
           1 - least(a.letters, b.letters) / greatest(a.letters, b.letters) as difference
    from judged_pairs p
    join lengths a on a.question = p.question and a.handbook = p.handbook_a
    join lengths b on b.question = p.question and b.handbook = p.handbook_b
    where p.present
),
ranked as (
    select *, ntile(5) over (order by difference, question, handbook_a, handbook_b)                  as fifth,
           rank() over (order by difference) + (count(*) over (partition by difference) - 1) / 2      as mid_rank
    from compared
)
select question, fifth, count(*) as pairs,
       count(*) filter (disagrees)      as disagreeing,
       count(*) filter (agrees)         as consistent,
       min(difference)                  as least,
       max(difference)                  as most,
       sum(mid_rank)                       as rank_sum,
       sum(mid_rank * mid_rank)            as rank_squares,
       sum(mid_rank) filter (disagrees)    as rank_sum_disagreeing
from ranked
group by all
order by all
"""
FIFTH_WORDS = {
    "1": "fifth 1, most alike", "2": "fifth 2", "3": "fifth 3", "4": "fifth 4", "5": "fifth 5, most unlike",
    "(rho)": "Rank correlation within {questions}",
}  # fmt: skip
JUDGE_LENGTH_TABLE = TableSpec(
    "Disagreement by the difference in length of two answers",
    (
        Column.text("fifth", "Pairs", words=FIFTH_WORDS), Column.decimal("least", "From", "difference"),
        Column.decimal("most", "To", "difference"), Column.count("count", "Disagreeing", "pairs"),
        Column.count("of", "Both answer", "pairs"), Column.decimal("value", "Value"), INTERVAL_METHOD,
    ),
    (
        "Difference: 1 minus the shorter answer's length over the longer's. Value: the share of disagreeing pairs in that fifth; "
        "in the last row, the correlation of the rank of the difference with disagreement among pairs of one {question}. Longer "
        "answers say more: a slope is a reason to look, not a proof.",
        BY_QUESTION,
    ),
)  # fmt: skip
JUDGE_LENGTH_GLOSSARY = {"length effect": "How much more often answers that differ in length are labelled as disagreeing."}


@metric(sql=SQL, table=JUDGE_LENGTH_TABLE, glossary=JUDGE_LENGTH_GLOSSARY)
def judge_length(con: Connection) -> pd.DataFrame:
    """Whether disagreements are found more often the more two answers differ in length.

    The difference of a pair is 1 minus the shorter answer's length over the longer's, in characters: 0 where both are equally
    long, 0.5 where one is twice as long. All pairs in which both handbooks answer are cut into fifths by it. If neither the judge
    nor the content depended on length, every fifth would have the same share of disagreements. Longer
    answers do say more, so a slope is a reason to look, not a proof.

    Five rows from the most alike to the most unlike, then '(rho)', the correlation of the rank of the difference (as Spearman's)
    with disagreement within questions: some questions have both longer answers and more disagreement, which is not due to the
    judge, so each question's pairs are compared with its own mean:
        fifth                  str, '1' to '5', '(rho)'
        least, most            float in [0, 1], the differences in this fifth
        count, of              int, disagreeing pairs, and pairs
        consistent             int, pairs
        value                  float, count / of in [0, 1]; rho in [-1, 1]; NaN where nothing was measured
        value_low, value_high  95 % interval: questions resampled, each with all its pairs (ranks as in the whole run); for a
                               rare share Wilson's with questions as trials; NaN where it cannot be known
        interval               str, which of the two

    A run without answers has no row but '(rho)', unknown. Source: verbosity bias: Zheng et al. (2023), arXiv:2306.05685.
    """
    counts = frame(con, SQL)
    fifths = [_fifth(counts[counts["fifth"] == number], number) for number in range(1, FIFTHS + 1)]
    return pd.DataFrame([fifth for fifth in fifths if fifth["of"]] + [_rho(counts)])


def _fifth(counts: pd.DataFrame, number: int) -> dict[str, object]:
    split = pd.concat(
        [
            counts[["question"]].assign(pairs=counts["disagreeing"], disagrees=True),
            counts[["question"]].assign(pairs=counts["pairs"] - counts["disagreeing"], disagrees=False),
        ]
    )
    ends = {"least": counts["least"].min(), "most": counts["most"].max()}
    share = share_columns(split, split["disagrees"], split["pairs"] >= 0)
    return {"fifth": str(number), **ends, "consistent": int(counts["consistent"].sum()), **share}


def _rho(counts: pd.DataFrame) -> dict[str, object]:
    names = ["pairs", "disagreeing", "rank_sum", "rank_squares", "rank_sum_disagreeing"]
    sums = counts.fillna(0).groupby("question")[names].sum().to_numpy(dtype=float)
    products = _products_within(sums.T)
    rho = float(_correlation(products.sum(axis=1)[:, None])[0])
    low = high = np.nan
    if len(sums) >= MIN_QUESTIONS and not np.isnan(rho):
        lows, highs = percentiles(_correlation(products @ draws(len(sums), stream=0))[None, :], [len(sums)])
        low, high = float(lows[0]), float(highs[0])
    return {
        "fifth": "(rho)", "least": counts["least"].min(), "most": counts["most"].max(),
        "consistent": int(counts["consistent"].sum()), "count": int(counts["disagreeing"].sum()),
        "of": int(counts["pairs"].sum()), "value": rho, "value_low": low, "value_high": high,
        "interval": NO_INTERVAL if np.isnan(low) else BOOTSTRAP,
    }  # fmt: skip


def _products_within(sums: Floats) -> Floats:
    """Per question, around its own means: squares of ranks, squares of disagreement, their product; 3 x questions."""
    n, events, rank_sum, rank_squares, joint = sums
    # Disagreement is 0 or 1, so it equals its square.
    return np.stack([rank_squares - rank_sum**2 / n, events - events**2 / n, joint - rank_sum * events / n])


def _correlation(products: Floats) -> Floats:
    """Pearson's correlation of rank and disagreement from sums of `_products_within`, 3 x replicates."""
    ranks, events, joint = products
    spread = ranks * events
    correlation: Floats = joint / np.sqrt(np.where(spread > 1e-9, spread, np.nan))
    return correlation
