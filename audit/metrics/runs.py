"""How two runs differ: the four rates by organ, and the parts of the change due to answers and to verdicts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import numpy as np
import pandas as pd

from audit.metrics import metric
from audit.metrics._shared import DIRECTION, MANY_INTERVALS, ORGAN, TWO_RUNS, UNSCORED
from audit.queries.aligned_runs import PAIRED_SQL, PairedRuns, group_totals, paired_runs
from audit.queries.lookup import require_one_of
from audit.queries.pair_counts import SCOPES, default_scope
from audit.stats.clustered import clustered_ratio_interval
from audit.stats.intervals import Floats
from audit.stats.paired import FALLS, RISES, PairedShare, change_columns, change_interval, direction, marked_change_columns
from audit.store.connection import Connection
from audit.tables import Column, IntervalNote, Population, Row, TableSpec
from audit.terms import ALL, RATE_MEANINGS, RATE_TITLES
from audit.vocabulary import Label

ANY = "pct_any_div"
RATES = ("r_abs", "r_div", "r_con", ANY)
RATES_TABLE = TableSpec(
    "The four rates in two runs, by {organ}, on the pairs that both have",
    (
        ORGAN,
        Column.text("rate", "Rate", words=RATE_TITLES),
        Column.count("count_first", "Count", "first run"),
        Column.count("of_first", "Of", "first run"),
        Column.share("first", "First run"),
        Column.count("count_second", "Count", "second run"),
        Column.count("of_second", "Of", "second run"),
        Column.share("second", "Second run"),
        Column.share("change", "Change"),
        DIRECTION,
    ),
    (
        *(f"{RATE_TITLES[name]}: {RATE_MEANINGS[name]}" for name in RATES),
        UNSCORED,
        "Change: the second run minus the first.",
        MANY_INTERVALS,
        IntervalNote(
            Population.QUESTIONS_TO_THESE.as_judged_twice,
            "they are resampled, one draw for both runs (of shares of {questions}: Newcombe's, for trials made twice)",
        ),
        TWO_RUNS,
    ),
)
RATES_GLOSSARY = {
    "paired interval": "The 95 % interval of a change. Both runs have the same {questions}, so differences between "
    "{questions} cancel."
}


@metric(sql=PAIRED_SQL, table=RATES_TABLE, glossary=RATES_GLOSSARY, compares=True)
def runs(con: Connection, scope: str | None = None) -> pd.DataFrame:
    """How much more or less often handbooks omit a question, disagree and agree in a second run than in the first.

    Only pairs that both runs have, with a verdict in both, are compared: the same question and the same two handbooks,
    by their ids. So the rates of a run here may differ from its own, which are of all its pairs; `shared` and `left_out` say what
    is compared and what is not. Of these pairs, in each run: r_abs, the share that is absent; r_div and r_con, of those that are
    present in that run, the share that disagrees (divergent or contradictory), the share that is consistent; pct_any_div, of the
    questions, the share with at least one disagreeing pair. change is the second run minus the first.

    Intervals of a change are paired: questions are resampled, each with all its pairs, and one draw serves both runs. So what
    makes questions unlike each other, being the same in both, does not widen them. The handbooks are fixed. For
    pct_any_div, which counts questions, Wilson's interval for trials that were made twice is used.

    `scope` is 'matching' (pairs of the handbooks of the question's organ) or 'all'; None: matching where the first run's manifest
    says that questions go to the handbooks of their organ, as in `organs`. One row per organ of the question (by name, 'general'
    after the others, '(all)' last) and rate:
        organ, rate                 str; r_abs, r_div, r_con, pct_any_div
        count_first, of_first       int, pairs (pct_any_div: questions); count_second, of_second the same in the second run
        first, second               float in [0, 1]; NaN where `of` is 0
        change                      float in [-1, 1]; NaN where either is. change_low, change_high: its 95 % interval; NaN where
                                    fewer than five questions contribute to the change (never so for pct_any_div)
        questions                   int, that contribute: their counts differ between the runs
        moves                       str, 'rises', 'falls', 'not clear' (0 lies within), 'the same' (no count differs) or
                                    'too few questions'

    Takes a connection to both runs (audit.store.connection.open_two). Source: rates as in arXiv:2605.29084, section 6.4;
    intervals: Davison and Hinkley (1997), clusters resampled; Newcombe (1998), Stat. Med. 17, 2635, method 10.
    """
    both = paired_runs(con, scope_of_first(con, scope))
    parts = [_compared(both, rate, rate_in(both, rate, "first"), rate_in(both, rate, "second")) for rate in RATES]
    # Computed rate by rate for all organs, displayed organ by organ.
    order = pd.MultiIndex.from_product([both.organs, RATES], names=["organ", "rate"])
    return pd.concat(parts).set_index(["organ", "rate"]).reindex(order).reset_index()


ASKED_FIRST = "select manifest ->> 'asked' from this.run"


def scope_of_first(con: Connection, scope: str | None) -> str:
    """The scope of the comparison: the requested one, else the first run's own. Raises AuditError for an unknown one."""
    return require_one_of(scope or default_scope(con, ASKED_FIRST), SCOPES, "Scope")


def rate_in(both: PairedRuns, rate: str, side: str) -> PairedShare:
    """One rate in one of the runs."""
    scored, absent = both.counts(both.cells["pairs"] > 0), both.counts(both.absent(side))
    disagreeing = both.counts(both.disagreeing(side))
    return {
        "r_abs": PairedShare(absent, scored),
        "r_div": PairedShare(disagreeing, scored - absent),
        "r_con": PairedShare(both.counts(both.labelled(side, Label.CONSISTENT)), scored - absent),
        # A question counts once, however many of its pairs disagree.
        ANY: PairedShare(np.sign(disagreeing), np.sign(scored)),
    }[rate]


def _compared(both: PairedRuns, rate: str, first: PairedShare, second: PairedShare) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "organ": both.organs,
            "rate": rate,
            "count_first": group_totals(first.numerator),
            "of_first": group_totals(first.denominator),
            "first": first.value,
            "count_second": group_totals(second.numerator),
            "of_second": group_totals(second.denominator),
            "second": second.value,
            # A share of questions has an interval in closed form, even if few of them change.
            **(
                marked_change_columns("change", first, second)
                if rate == ANY
                else change_columns("change", first, second, both.draws)
            ),
        }
    )


REVEALED, LOST, BOTH, NEITHER, IN_ALL = "revealed", "lost", "present in both", "absent in both", "in all"
JUDGES, REVEALS, HIDES, NOTHING = "judges", "reveals", "hides", "nothing"
PARTS = (REVEALED, LOST, BOTH, NEITHER, IN_ALL)
VERDICTS = {
    REVEALS: "{second} finds answers that {first} did not, and so shows disagreement that was there before.",
    HIDES: "{second} finds fewer answers, and so hides disagreement rather than resolving it.",
    JUDGES: "Verdicts changed although both runs have both answers: another judge, or answers in other words.",
    NOTHING: "No change beyond what chance could produce.",
}
"""The outcomes of `verdict`, in a sentence; `second` is the name of the second run."""
STEPS = {REVEALED: "newly found answers", LOST: "answers no longer found", BOTH: "changed verdicts"}
"""The bars between the disagreeing pairs of two runs."""
CHANGE_TABLE = TableSpec(
    "Whether a second run reveals disagreement or creates it, by {organ} of the {question}",
    (
        ORGAN,
        Column.text("part", "Part"),
        Column.count("pairs", "Pairs"),
        Column.count("relabelled", "Relabelled", "pairs"),
        Column.count("disagreeing_first", "Disagreeing", "first"),
        Column.count("disagreeing_second", "Disagreeing", "second"),
        Column.count("change", "Change", "disagreeing"),
        Column.share("r_div_first", "R_div", "first"),
        Column.share("r_div_second", "R_div", "second"),
        Column.share("effect", "Effect", "on R_div"),
        DIRECTION,
    ),
    (
        TWO_RUNS,
        "Revealed: absent in the first run, present in the second; lost: the other way round. The effects add up to the change "
        "of R_div; that of the pairs present in both is judgement alone: about 0 where retrieval reveals disagreement and does "
        "not create it (Melitz and Polanec 2015).",
        IntervalNote(
            Population.QUESTIONS_TO_THESE.as_judged_twice,
            "they are resampled, one draw for both runs; none where fewer than five contribute",
            "R_div of a part: {questions} as clusters.",
        ),
    ),
)
CHANGE_GLOSSARY = {"changed verdict": "A pair present in both runs that disagrees in only one of them."}


@metric(sql=PAIRED_SQL, table=CHANGE_TABLE, glossary=CHANGE_GLOSSARY, compares=True)
def runs_change(con: Connection) -> pd.DataFrame:
    """Changes in absence and changes in judgement: does a second run reveal disagreement, or create it?

    A run that finds more answers in the handbooks has more pairs in which both answer, and so more that disagree. That reveals
    disagreement. A run may also judge the same two answers differently. Every pair that both runs have and to which both gave a
    verdict is therefore one of four: revealed, absent in the first run and present in the second; lost, present in the first and
    absent in the second; present in both; absent in both. The disagreeing pairs of the parts add up to those of the runs.

    r_div, the share of present pairs that disagree, changes by the sum of three effects. Of the pairs present in both: r_div
    among them in the second run less in the first, so judgement alone. Of revealed pairs: r_div of the second run less that of
    its pairs present in both; above 0 where revealed pairs disagree more often than those. Of lost pairs: r_div of the first
    run's pairs present in both less that of the first run. If retrieval reveals disagreement and does not create it, the
    effect of the pairs present in both is about 0.

    One row per organ of the question ('general' after the others, '(all)' last) and part (the four, then 'in all'):
        organ, part                            str
        pairs                                  int; the four add up to 'in all'
        relabelled                             int, pairs with another label in the second run; absent is a label
        disagreeing_first, disagreeing_second  int, pairs divergent or contradictory in that run
        change                                 int, the second less the first; the four add up to 'in all'
        change_low, change_high                its 95 % interval, in pairs
        r_div_first, r_div_second              float in [0, 1], of the pairs of this part that are present in that run; NaN
                                               without such pairs; ..._low, ..._high: 95 % interval
        effect                                 float in [-1, 1], on r_div; the four add up to 'in all', the change of r_div;
                                               NaN where no pair is present in both; ..._low, ..._high: 95 % interval
        questions                              int, that contribute to the effect
        moves                                  str, what the effect does: 'rises', 'falls', 'not clear' (0 lies within),
                                               'the same' (nothing differs) or 'too few questions'

    Intervals: questions resampled, each with all its pairs, one draw for both runs; NaN where fewer than five
    questions contribute to the change. r_div_first and r_div_second are intervals of one run each: Wilson's over
    questions where rare, NaN with fewer than two. Takes a connection to both runs (audit.store.connection.open_two).
    Source: the three effects are those of survivors, entrants and leavers in Melitz and Polanec (2015), RAND J. Econ.
    46(2).
    """
    both = paired_runs(con)
    table = pd.concat([_part_rows(both, part) for part in PARTS])
    order = pd.MultiIndex.from_product([both.organs, PARTS], names=["organ", "part"])
    return table.set_index(["organ", "part"]).reindex(order).reset_index()


def verdict(table: pd.DataFrame, organ: str = ALL) -> str:
    """A summary of the changes of one organ in one word.

    JUDGES where the effect of the pairs present in both has an interval on one side of 0. Else REVEALS where more disagreeing
    pairs were newly found than lost, even by the low ends of both intervals; HIDES the other way round. Else NOTHING: the
    change is no larger than chance could produce, or too small to tell.
    """
    rows: Mapping[Hashable, Row] = table[table["organ"] == organ].set_index("part").to_dict("index")
    if rows[BOTH]["moves"] in (RISES, FALLS):
        return JUDGES
    (up_low, up_high), (down_low, down_high) = (_ends(rows[part]) for part in (REVEALED, LOST))
    # Without an interval a count cannot show a direction, but it still counts against the other.
    known_up, known_down = (not np.isnan(rows[part]["change_low"]) for part in (REVEALED, LOST))
    if known_up and up_low > 0 and up_low + down_low > 0:
        return REVEALS
    return HIDES if known_down and down_high < 0 and up_high + down_high < 0 else NOTHING


def _ends(row: Row) -> tuple[float, float]:
    """The interval of a part's change; the change itself, twice, where none is known."""
    low, high, change = (float(row[name]) for name in ("change_low", "change_high", "change"))
    return (change, change) if np.isnan(low) else (low, high)


def _cells_of(both: PairedRuns, part: str) -> pd.Series:
    """Which cells belong to a part."""
    was, now = both.absent("first"), both.absent("second")
    return {REVEALED: was & ~now, LOST: ~was & now, BOTH: ~was & ~now, NEITHER: was & now, IN_ALL: was | True}[part]


def _r_div(both: PairedRuns, part: str, side: str) -> PairedShare:
    cells = _cells_of(both, part)
    return PairedShare(both.counts(cells & both.disagreeing(side)), both.counts(cells & ~both.absent(side)))


def _part_rows(both: PairedRuns, part: str) -> pd.DataFrame:
    cells = _cells_of(both, part)
    first, second = (_r_div(both, part, side) for side in ("first", "second"))
    change = second.numerator - first.numerator
    ends = change_interval(change @ both.draws, np.count_nonzero(change, axis=1))
    return pd.DataFrame(
        {
            "organ": both.organs,
            "part": part,
            "pairs": group_totals(both.counts(cells)),
            "relabelled": group_totals(both.counts(cells & (both.cells["first"] != both.cells["second"]))),
            "disagreeing_first": group_totals(first.numerator),
            "disagreeing_second": group_totals(second.numerator),
            "change": group_totals(change),
            "change_low": ends[0],
            "change_high": ends[1],
            **_with_ends("r_div_first", first),
            **_with_ends("r_div_second", second),
            **_effect(both, part),
        }
    )


def _with_ends(name: str, share: PairedShare) -> dict[str, Floats]:
    low, high = clustered_ratio_interval(share.numerator.astype(np.float32), share.denominator.astype(np.float32))
    return {name: share.value, f"{name}_low": low, f"{name}_high": high}


def _effect(both: PairedRuns, part: str) -> dict[str, object]:
    """The effect of a part on r_div, with its interval: the second of two shares minus the first."""
    wanted = {
        REVEALED: ((BOTH, "second"), (IN_ALL, "second")),
        LOST: ((IN_ALL, "first"), (BOTH, "first")),
        BOTH: ((BOTH, "first"), (BOTH, "second")),
        # Absent in both runs: the same share twice, so the effect is exactly 0.
        NEITHER: ((BOTH, "first"), (BOTH, "first")),
        IN_ALL: ((IN_ALL, "first"), (IN_ALL, "second")),
    }
    first, second = (_r_div(both, *which) for which in wanted[part])
    return change_columns("effect", first, second, both.draws)


# -- How two runs differ on average over organs, each organ counting once ------------------------------------


MEAN_TABLE = TableSpec(
    "The four rates in two runs, averaged over {organs}",
    (
        Column.text("rate", "Rate", words=RATE_TITLES),
        Column.count("organs", "{Organs}"),
        Column.share("first", "First run"),
        Column.share("second", "Second run"),
        Column.share("change", "Change"),
        DIRECTION,
    ),
    (
        "Each {organ} of the {questions} counts once, general questions among them, however many pairs it has.",
        "Change: the second run minus the first, on these {organs}.",
        IntervalNote(Population.QUESTIONS_TO_THESE.as_judged_twice, "they are resampled, one draw for both runs"),
        TWO_RUNS,
    ),
)
MEAN_GLOSSARY = {"unweighted mean": "The average of the {organs}' own figures: a small {organ} counts as much as a large one."}


@metric(sql=PAIRED_SQL, table=MEAN_TABLE, glossary=MEAN_GLOSSARY, compares=True)
def runs_mean(con: Connection, scope: str | None = None) -> pd.DataFrame:
    """The four rates of two runs averaged over organs, each organ counting once, and how much the average changes.

    The rates are those of `runs`, in the same scope and on the same pairs. An organ without a rate in one of the runs is left out
    of that rate's average in both.

    One row per rate:
        rate                            str; r_abs, r_div, r_con, pct_any_div
        organs                          int, that have the rate in both runs
        first, second                   float in [0, 1], means over these organs; NaN without one
        change                          float in [-1, 1]; change_low, change_high: its 95 % interval, questions resampled, each
                                        with all its pairs, one draw for both runs; NaN where fewer than five questions differ
        questions                       int, whose counts differ between the runs
        moves                           str, as in `runs`

    Raises AuditError for another scope. Takes a connection to both runs (audit.store.connection.open_two). Source:
    arXiv:2605.29084, section 6.4; intervals: Davison and Hinkley (1997), section 3.8.
    """
    both = paired_runs(con, scope_of_first(con, scope))
    # The last row is the whole run
    shares = {rate: [_without_last(rate_in(both, rate, side)) for side in ("first", "second")] for rate in RATES}
    return pd.DataFrame([{"rate": rate, **_mean_change(first, second, both.draws)} for rate, (first, second) in shares.items()])


def _without_last(share: PairedShare) -> PairedShare:
    return PairedShare(share.numerator[:-1], share.denominator[:-1])


def _mean_change(first: PairedShare, second: PairedShare, weights: Floats) -> dict[str, object]:
    known = ~np.isnan(first.value) & ~np.isnan(second.value)
    if not known.any():
        nothing = dict.fromkeys(("first", "second", "change", "change_low", "change_high"), np.nan)
        return {"organs": 0, **nothing, "questions": 0, "moves": direction(np.nan, np.nan, False)}
    first, second = (PairedShare(share.numerator[known], share.denominator[known]) for share in (first, second))
    differing = int(np.any((first.numerator != second.numerator) | (first.denominator != second.denominator), axis=0).sum())
    # A draw in which an organ keeps too few pairs has no mean
    replicates = (second.replicates(weights) - first.replicates(weights)).mean(axis=0, keepdims=True)
    (low,), (high,) = change_interval(replicates, np.array([differing]))
    change = float((second.value - first.value).mean())
    return {
        "organs": int(known.sum()), "first": float(first.value.mean()), "second": float(second.value.mean()),
        "change": change, "change_low": low, "change_high": high, "questions": differing,
        "moves": direction(low, high, differing == 0),
    }  # fmt: skip
