"""The same pairs in two runs: how far the judges agree, how labels changed, on which pairs, and the re-judged pairs."""

from __future__ import annotations

import pandas as pd

from audit.metrics import metric
from audit.metrics._shared import INTERVAL_METHOD, LABEL_NAMES, kappa_columns, label_tables, share_columns
from audit.queries.aligned_runs import ALIGNED, NOT_THERE, PRESCREENED, STATE_WORDS, STATES
from audit.queries.lookup import require_one_of
from audit.store.connection import Connection, frame
from audit.tables import Column, IntervalNote, Population, TableSpec
from audit.vocabulary import DISAGREEING, SIGNIFICANCES, Label, sql_list

ANY = "any"
ALL, CHANGED, SAME = "all", "changed", "same"
TRANSITIONS_SQL = f"""
with {ALIGNED}
select first, second, count(*) as pairs
from both_runs
group by all
"""
# Questions take turns, so one heavily disputed question does not fill the list.
CHANGED_PAIRS_SQL = f"""
with {ALIGNED},
wanted as (
    from both_runs
    where case when $first = 'any' then first <> 'NOT IN THE RUN' and first <> second else first = $first end
      and case when $second = 'any' then second <> 'NOT IN THE RUN' else second = $second end
),
turns as (
    select *, count(*) over () as total,
           row_number() over (partition by question order by handbook_a, handbook_b) as turn
    from wanted
)
select total, first, second, q.question_id, q.text as question_text, q.organ,
       a.handbook_id as handbook_a, b.handbook_id as handbook_b
from turns
join this.questions q using (question)
join this.handbooks a on a.handbook = handbook_a
join this.handbooks b on b.handbook = handbook_b
order by turn, question, handbook_a, handbook_b
limit $limit
"""
REJUDGED_SQL = f"""
with {ALIGNED},
wanted as (
    from both_runs
    where second <> 'NOT IN THE RUN'
      and case $which when 'changed' then first <> second when 'same' then first = second else true end
),
now as (
    select asked.own as question, least(a.own, b.own) as handbook_a, greatest(a.own, b.own) as handbook_b,
           p.reasoning, p.divergence_topic, unscored_reason
    from other.pairs p
    join asked on asked.their = p.question
    join books a on a.their = p.handbook_a
    join books b on b.their = p.handbook_b
    left join other.readings r on r.question = p.question and r.handbook_a = p.handbook_a and r.handbook_b = p.handbook_b
)
select count(*) over () as total, first, second, significance_first, significance_second,
       was.reasoning as reasoning_first, now.reasoning as reasoning_second,
       was.divergence_topic as topic_first, now.divergence_topic as topic_second, now.unscored_reason,
       q.question_id, q.text as question_text, a.handbook_id as handbook_a, b.handbook_id as handbook_b
from wanted w
join now using (question, handbook_a, handbook_b)
left join this.pairs was using (question, handbook_a, handbook_b)
join this.questions q using (question)
join this.handbooks a on a.handbook = w.handbook_a
join this.handbooks b on b.handbook = w.handbook_b
order by question, w.handbook_a, w.handbook_b
limit $limit offset $offset
"""
FIRST_RUN = Column.text("first", "First run", words=STATE_WORDS)
SECOND_RUN = Column.text("second", "Second run", words=STATE_WORDS)
TRANSITIONS_TABLE = TableSpec(
    "How two runs label the same pairs",
    (FIRST_RUN, SECOND_RUN, Column.count("pairs", "Pairs"), Column.share("share", "Share", "of the first's")),
    ("Combinations without a pair are left out. Pre-screened, unscored and not in the run are not labels.",),
)
PAIR_COLUMNS = (
    Column.text("question_text", "{Question}"),
    Column.text("handbook_a", "{Handbook}"),
    Column.text("handbook_b", "Other {handbook}"),
)
CHANGED_PAIRS_TABLE = TableSpec("Pairs that two runs label differently", (*PAIR_COLUMNS, FIRST_RUN, SECOND_RUN), printed_rows=30)
REJUDGED_TABLE = TableSpec(
    "Re-judged pairs with both verdicts",
    (
        *PAIR_COLUMNS, FIRST_RUN, SECOND_RUN, Column.text("significance_first", "Significance", "first"),
        Column.text("significance_second", "Significance", "second"), Column.text("topic_first", "Divergence topic", "first"),
        Column.text("topic_second", "Divergence topic", "second"),
    ),
    printed_rows=30,
)  # fmt: skip


@metric(
    sql=TRANSITIONS_SQL,
    table=TRANSITIONS_TABLE,
    glossary={"transition": "What happened to the label of a pair from one run to another."},
    compares=True,
)
def transitions(con: Connection) -> pd.DataFrame:
    """How the first run labels each pair against how the second run labels the same pair.

    The same pair is the same question and the same two handbooks, by their ids, in whatever order each run lists them. Only
    questions and handbooks that both runs have are compared; what is not shared is counted by `shared`. A run may have for a
    pair one of the five labels as judged; the note that it was pre-screened (ABSENT without asking the judge); that
    it is unscored (the judge gave no readable verdict); or nothing, because the pair is not in that run. The last
    three are not labels.

    One row per combination, also of those that do not occur, in label order:
        first, second  str, PRE-SCREENED, a label, UNSCORED or NOT IN THE RUN; not both NOT IN THE RUN
        pairs          int
        share          float in [0, 1], of the pairs of this `first`; NaN without such pairs

    Takes a connection to both runs (audit.store.connection.open_two). Source: the confusion of two judges of the same pairs,
    as in arXiv:2605.29084, section 5.2.
    """
    counted = frame(con, TRANSITIONS_SQL).set_index(["first", "second"])["pairs"]
    # Combinations that do not occur are also cells of the matrix.
    every = pd.MultiIndex.from_product([STATES, STATES], names=["first", "second"]).drop((NOT_THERE, NOT_THERE))
    table = counted.reindex(every, fill_value=0).astype(int).reset_index()
    row_total = table.groupby("first")["pairs"].transform("sum")
    return table.assign(share=table["pairs"] / row_total.where(row_total > 0))


@metric(
    sql=CHANGED_PAIRS_SQL,
    table=CHANGED_PAIRS_TABLE,
    glossary={"changed pair": "A pair that two runs label differently."},
    compares=True,
)
def changed_pairs(con: Connection, first: str = ANY, second: str = ANY, limit: int = 100) -> pd.DataFrame:
    """The pairs that the first run labels one way and the second run another.

    `first` and `second` are states as in `transitions`, or 'any': every state but not having the pair. With 'any' for the
    first, pairs with the same state in both runs are left out. Every question gives its first pair before any question gives
    its second.

    One row per pair, at most `limit`:
        total                              int, pairs that match, the same in every row
        first, second                      str, PRE-SCREENED, a label, UNSCORED or NOT IN THE RUN
        question_id, question_text, organ  str
        handbook_a, handbook_b             str

    No row where nothing matches. Takes a connection to both runs. Raises AuditError for another state.
    """
    for state in (first, second):
        require_one_of(state, (ANY, *STATES), "State")
    return frame(con, CHANGED_PAIRS_SQL, {"first": first, "second": second, "limit": limit})


@metric(
    sql=REJUDGED_SQL,
    table=REJUDGED_TABLE,
    glossary={"re-judged": "A pair that was judged again. Its new label is in a separate run; the old one is kept."},
    compares=True,
)
def rejudged(con: Connection, which: str = ALL, limit: int = 100, offset: int = 0) -> pd.DataFrame:
    """The pairs of a second run, each with its verdict in the first run: the two verdicts side by side.

    A pair has changed when its state (pre-screened, one of the five labels, unscored, not in the run) differs. Another
    significance, topic or reasoning under the same label is shown, but does not count as a change.

    One row per pair of the second run that the first knows the question and handbooks of, in release order:
        total                                    int, pairs that match `which` (all, changed, same), the same in every row
        first, second                            str, the state in each run, as in `transitions`
        significance_first, significance_second  str; missing where not stated
        reasoning_first, reasoning_second        str; missing where not stated
        topic_first, topic_second                str; missing where not stated
        unscored_reason                          str, why the second run has no label; missing where it has one
        question_id, question_text               str
        handbook_a, handbook_b                   str

    Takes a connection to both runs (audit.store.connection.open_two). Raises AuditError for another `which`.
    """
    require_one_of(which, (ALL, CHANGED, SAME), "Choice of pairs")
    return frame(con, REJUDGED_SQL, {"which": which, "limit": limit, "offset": offset})


NOT_ASKED = sql_list((PRESCREENED, NOT_THERE))
AGREEMENT_SQL = f"""
with {ALIGNED}
select question, first, second, significance_first, significance_second, count(*) as pairs
from both_runs
where first not in {NOT_ASKED} and second not in {NOT_ASKED}
group by all
order by all
"""
FIGURE_WORDS = {
    "kappa": "Kappa",
    "same label": "Same label",
    "DIVERGENT kept": "Divergent in both, of those divergent in the first",
    "disagreement kept": "Disagreeing in both, of those disagreeing in the first",
    "disagreement new": "Disagreement only in the second",
    "significance stated": "Significance stated in both",
    "significance the same": "Same significance in both",
    "significance kappa": "Kappa of the significance, where both state one",
    "read in both": "Readable in both",
}
AGREEMENT_TABLE = TableSpec(
    "Agreement of the judges of two runs",
    (
        Column.text("figure", "Figure", words=FIGURE_WORDS),
        Column.count("count", "Pairs"),
        Column.count("of", "Of", "pairs"),
        Column.decimal("value", "Value"),
        INTERVAL_METHOD,
    ),
    ("Over pairs that both judges were asked about.", IntervalNote(Population.PAIRS)),
)
AGREEMENT_GLOSSARY = {
    "kappa": "Agreement of two verdicts beyond chance: 1 always, 0 as often as two blind labellers would agree."
}


@metric(sql=AGREEMENT_SQL, table=AGREEMENT_TABLE, glossary=AGREEMENT_GLOSSARY, compares=True)
def run_agreement(con: Connection) -> pd.DataFrame:
    """Agreement of the judges of two runs on the pairs that both were asked about.

    Pairs that one of the runs pre-screened, or does not have, are in no figure here; `transitions` counts them. kappa: agreement
    on the five labels beyond chance. same label: the share with the same label. DIVERGENT kept: of the pairs that the
    first calls divergent, those that the second does too; disagreement kept: the same for divergent or contradictory.
    disagreement new: of the pairs without disagreement in the first, those with one in the second. significance stated:
    of the pairs that disagree in both and have a clinical significance in the first, those that have one in the second;
    significance the same: with the same one; significance kappa: agreement on low, medium and high beyond chance, of the pairs
    that disagree in both and have one in both. read in both: of all these pairs, those with a label in both.

    One row per figure:
        figure                 str, as above
        count, of              int, pairs; of is 0 where nothing was measured
        value                  float, a share in [0, 1] or kappa; NaN where of is 0
        value_low, value_high  95 % interval: questions as clusters, each with all its pairs; Wilson's with questions as
                               trials where none or all are; NaN where it cannot be known
        interval               str, which of the two

    Takes a connection to both runs. Source: kappa: Cohen (1960); arXiv:2605.29084, section 5.2.
    """
    counts = frame(con, AGREEMENT_SQL)
    read = counts["first"].isin(LABEL_NAMES) & counts["second"].isin(LABEL_NAMES)
    split, again = (counts[side].isin(DISAGREEING) & read for side in ("first", "second"))
    divergent = (counts["first"] == Label.DIVERGENT) & read
    both_significant = split & again & counts["significance_first"].isin(SIGNIFICANCES)
    figures = {
        "same label": (counts["first"] == counts["second"], read),
        "DIVERGENT kept": (counts["second"] == Label.DIVERGENT, divergent),
        "disagreement kept": (again, split),
        "disagreement new": (again, read & ~split),
        "significance stated": (counts["significance_second"].isin(SIGNIFICANCES), both_significant),
        "significance the same": (counts["significance_second"] == counts["significance_first"], both_significant),
        # `| True`: every pair is in the denominator.
        "read in both": (read, read | True),
    }
    shares = {figure: share_columns(counts, *which) for figure, which in figures.items()}
    graded = label_tables(counts[split & again], "significance_first", "significance_second", SIGNIFICANCES)
    kappas = {"kappa": kappa_columns(label_tables(counts, "first", "second")), "significance kappa": kappa_columns(graded)}
    return pd.DataFrame([{"figure": figure, **(kappas | shares)[figure]} for figure in FIGURE_WORDS])
