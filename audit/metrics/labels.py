"""How the judge labelled all pairs: the distribution of labels."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audit.metrics import metric
from audit.metrics._shared import PAIRS, TWO_WAY, UNSEEN
from audit.queries.lookup import question_number_or_all
from audit.queries.pair_counts import BY_QUESTION, LABEL_COUNTS, read_pairs
from audit.stats.clustered import clustered_ratio_interval
from audit.stats.intervals import Floats, with_interval
from audit.stats.pair_table import ALL, JUDGED, PRESCREENED, RATES, UNSCORED, Outcomes, Rate, one_group, rate_intervals
from audit.store.connection import Connection, frame
from audit.tables import Column, Population, TableSpec
from audit.vocabulary import LABELS, PRESENT_LABELS, Label

# Every outcome has a row, even if no pair has it.
OUTCOMES = ((Label.ABSENT, "pre-screened"), *((label, "judged") for label in LABELS), ("UNSCORED", "unscored"))
SQL = f"""
with outcomes(sort_key, label, how) as (
    values {", ".join(f"({place}, '{label}', '{how}')" for place, (label, how) in enumerate(OUTCOMES))}
),
counted as (
    select coalesce(label::varchar, 'UNSCORED') as label,
           case when label is null then 'unscored' when prescreened then 'pre-screened' else 'judged' end as how,
           count(*) as pairs
    from pairs
    group by all
)
select label, how,
       coalesce(pairs, 0)                                         as pairs,
       coalesce(pairs, 0) / nullif(sum(pairs) over (), 0)         as share,
       case when how = 'judged' then coalesce(pairs, 0)
            / nullif(sum(pairs) filter (how = 'judged') over (), 0) end as share_of_judged
from outcomes left join counted using (label, how)
order by sort_key
"""
OUTCOME_CODES = {"pre-screened": PRESCREENED, **{label.value: label.code for label in LABELS}, "unscored": UNSCORED}
"""The outcome that each row of SQL counts."""
# For an outcome that is not in the denominator, such as unscored among the judged.
UNKNOWN = (np.array([np.nan]), np.array([np.nan]))
TABLE = TableSpec(
    "How pairs were labelled",
    (
        Column.text("how", "Judged"),
        Column.text("label", "Label", words={**{label.value: label.value.lower() for label in LABELS}, "UNSCORED": "unscored"}),
        PAIRS,
        Column.share("share", "Share", "of all pairs"),
        Column.share("share_of_judged", "Share", "of judged pairs"),
    ),
    (
        "Pre-screened: one of the two answers is absent, so the judge was not asked.",
        "Unscored: the judge was asked and gave no readable verdict; unscored is not a label.",
        TWO_WAY,
    ),
)
GLOSSARY = {
    "pre-screened": "Labelled absent without asking the judge, because one of the two answers is absent.",
    "judged": "Both answers were read by the judge which gave a label and its reasons.",
}


@metric(sql=SQL, table=TABLE, glossary=GLOSSARY)
def labels(con: Connection) -> pd.DataFrame:
    """How many pairs have each label, with pre-screened, judged and unscored pairs kept apart.

    A pair is pre-screened when an answer is absent: it is ABSENT without asking the judge. A pair is judged when the
    judge gave a verdict, ABSENT among them. A pair is unscored when the judge was asked and gave no readable verdict:
    it is not a label and is counted separately.

    Seven rows, in the order pre-screened, the five labels as judged, unscored:
        label            str, a label or UNSCORED
        how              str, 'pre-screened', 'judged' or 'unscored'
        pairs            int
        share            float in [0, 1], of all pairs; NaN in a run without pairs
        share_of_judged  float in [0, 1], of the judged pairs; NaN for pre-screened and unscored
        ..._low, _high   95 % interval for other questions and handbooks (audit.stats.clustered); NaN where fewer than two
                         questions or four handbooks are in the denominator

    Source: the labels are those of arXiv:2605.29084, section 4.
    """
    table, pairs = frame(con, SQL), read_pairs(con)
    everything = one_group(pairs)
    intervals = rate_intervals(pairs, everything, {**_outcome_ratios("share", ALL), **_outcome_ratios("share_of_judged", JUDGED)})
    for share in ("share", "share_of_judged"):
        ends = [intervals.get(f"{share} {name}", UNKNOWN) for name in OUTCOME_CODES]
        table = with_interval(table, share, [low[0] for low, _ in ends], [high[0] for _, high in ends])
    return table


def _outcome_ratios(share: str, denominator: Outcomes) -> dict[str, Rate]:
    return {f"{share} {name}": (frozenset((code,)), denominator) for name, code in OUTCOME_CODES.items() if code in denominator}


# -- How mixed the labels of each question are: the Shannon entropy of its present pairs ---------------------


LABEL_ENTROPY_SQL = f"""
select question, question_id, text, q.organ, count(*) filter (present) as present,
{LABEL_COUNTS}
from questions q left join judged_pairs using (question)
where $question is null or question = $question
group by question, question_id, text, q.organ
order by question
"""
LABEL_ENTROPY_TABLE = TableSpec(
    "How mixed the labels of each {question} are",
    (
        Column.text("text", "{Question}"),
        Column.named("organ", "{Organ}"),
        Column.count("present", "Both answer", "pairs"),
        *(Column.count(label.value.lower(), label.value.capitalize(), "pairs") for label in PRESENT_LABELS),
        Column.decimal("entropy", "Label entropy", "bits"),
        Column.decimal("evenness", "Evenness"),
    ),
    (
        "Label entropy: 0 where all pairs in which both answer have one label, 2 bits where its four labels are equally common. "
        "Evenness: entropy over its maximum, from 0 to 1. Both describe these {handbooks}: no interval "
        "for others is known to hold.",
    ),
    printed_rows=30,
)
LABEL_ENTROPY_GLOSSARY = {
    "label entropy": "How mixed the labels of {a_question} are, in bits: 0 one label only, 2 four equally common ones."
}


@metric(sql=LABEL_ENTROPY_SQL, table=LABEL_ENTROPY_TABLE, glossary=LABEL_ENTROPY_GLOSSARY)
def label_entropy(con: Connection, question_id: str | None = None) -> pd.DataFrame:
    """How mixed the labels of each question are, over the pairs in which both handbooks answer.

    entropy: the Shannon entropy of the four labels that a present pair can have, -sum p log2 p. It is 0 where every pair has
    the same label, whichever, and 2 where the four are equally common: a measure of variety, not of disagreement. Absent and
    unscored pairs are in no count.

    One row per question, in release order; of one question only with `question_id`:
        question                     int, number; question_id, text, organ  str
        present                      int, pairs; consistent + complementary + divergent + contradictory
        entropy                      float in [0, 2] bits; NaN where present is 0
        evenness                     float in [0, 1], entropy / 2

    It has no interval for other handbooks: where handbooks take two positions, the pairs' entropy is nearly flat around its
    value, and every interval tried held the true one in fewer than half of the samples, with 4 handbooks as with 24.
    Raises NotInRunError for another question. Source: Shannon (1948), Bell Syst. Tech. J. 27.
    """
    question = question_number_or_all(con, question_id)
    table = frame(con, LABEL_ENTROPY_SQL, {"question": question})
    counts = table[[label.value.lower() for label in PRESENT_LABELS]].to_numpy(dtype=float)
    table["entropy"] = entropy_bits(counts)
    table["evenness"] = table["entropy"] / np.log2(len(PRESENT_LABELS))
    return table


def entropy_bits(counts: Floats) -> Floats:
    """The Shannon entropy of counts along their last axis, in bits; NaN without any."""
    with np.errstate(invalid="ignore", divide="ignore"):
        share = counts / counts.sum(axis=-1, keepdims=True)
        bits: Floats = -np.where(share > 0, share * np.log2(share), np.where(np.isnan(share), np.nan, 0)).sum(axis=-1)
    # The sum may be -0.0, which would be printed as a negative entropy.
    return np.abs(bits)


# -- Sensitivity of a run's disagreement rate to unscored pairs and to questions with many pairs -------------


POOLED, ALL_AGREE, ALL_DISAGREE, BY_MEAN = "pooled", "unscored agree", "unscored disagree", "mean over questions"
FIGURES = {
    POOLED: "all pairs counted alike (R_div)",
    ALL_AGREE: "if every pair without a verdict agreed",
    ALL_DISAGREE: "if every pair without a verdict disagreed",
    BY_MEAN: "mean over {questions}",
}
OTHERS, THESE, OTHER_QUESTIONS = "others", "these", "other questions"
POPULATIONS = {
    OTHERS: Population.QUESTIONS_AND_HANDBOOKS.as_judged,
    THESE: "these pairs; no interval",
    OTHER_QUESTIONS: Population.QUESTIONS_TO_THESE.as_judged,
}
DISAGREEMENT_BOUNDS_SQL = f"""
with {BY_QUESTION}
select question, present, disagreeing, unscored from tallies order by question
"""
DISAGREEMENT_BOUNDS_TABLE = TableSpec(
    "How the disagreement rate depends on the way it is counted",
    (
        Column.text("figure", "Counted", words=FIGURES),
        Column.count("of", "Of", "pairs or {questions}"),
        Column.share("value", "Disagreement"),
        Column.text("population", "Interval speaks of", words=POPULATIONS),
    ),
    (
        "Unscored pairs have no readable verdict and are in no rate. The two bounds count them as pairs in which both answer: "
        "with a verdict on every pair, and the others unchanged, the rate would lie between them.",
        "Pooled, {a_question} with many pairs has more weight; in the mean, every {question} with a pair in which both answer "
        "counts "
        f"the same. {UNSEEN}",
    ),
)
DISAGREEMENT_BOUNDS_GLOSSARY = {
    "bounds for unscored pairs": "The disagreement rate if all unscored pairs agreed, or if all disagreed."
}


@metric(sql=DISAGREEMENT_BOUNDS_SQL, table=DISAGREEMENT_BOUNDS_TABLE, glossary=DISAGREEMENT_BOUNDS_GLOSSARY)
def disagreement_bounds(con: Connection) -> pd.DataFrame:
    """R_div of the run, its bounds for unscored pairs, and the mean of the questions' own rates.

    Four rows:
        figure                  str: pooled (disagreeing / present); unscored agree: disagreeing / (present + unscored); unscored
                                disagree: (disagreeing + unscored) / (present + unscored); mean over questions: of disagreeing /
                                present of each question with a present pair
        of                      int, pairs in the denominator; questions in the last row
        value                   float in [0, 1]; NaN where the denominator is 0
        value_low, value_high   95 % interval; NaN for the bounds, which describe these pairs exactly
        population              str, 'others', 'these' or 'other questions': the population of the interval

    Sources: Manski (1989), J. Hum. Resour. 24 (bounds); R_div as in arXiv:2605.29084, section 6.2; intervals:
    audit.stats.clustered.
    """
    counts = frame(con, DISAGREEMENT_BOUNDS_SQL)
    present, disagreeing, unscored = (counts[name].to_numpy(dtype=float) for name in ("present", "disagreeing", "unscored"))
    everything = present.sum() + unscored.sum()
    low, high = rate_intervals(read_pairs(con), np.ones((1, len(counts)), dtype=np.float32), {"r_div": RATES["r_div"]})["r_div"]
    answered = present > 0
    rates = disagreeing[answered] / present[answered]
    mean_low, mean_high = clustered_ratio_interval(rates[None], np.ones((1, len(rates))), events=False)
    rows = [
        (POOLED, present.sum(), disagreeing.sum(), low[0], high[0], OTHERS),
        (ALL_AGREE, everything, disagreeing.sum(), np.nan, np.nan, THESE),
        (ALL_DISAGREE, everything, disagreeing.sum() + unscored.sum(), np.nan, np.nan, THESE),
        (BY_MEAN, len(rates), rates.sum(), mean_low[0], mean_high[0], OTHER_QUESTIONS),
    ]
    table = pd.DataFrame(rows, columns=["figure", "of", "events", "value_low", "value_high", "population"])
    table["value"] = table["events"] / table["of"].replace(0, np.nan)
    return table.astype({"of": int})[["figure", "of", "value", "value_low", "value_high", "population"]]
