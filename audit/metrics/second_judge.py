"""A second judge: how often two judges agree, which rate changes if both must, and what changed since the run was judged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from audit.metrics import metric
from audit.metrics._shared import (
    BOOTSTRAP,
    BY_QUESTION,
    CLUSTERED,
    INTERVAL_METHOD,
    LABEL_NAMES,
    NO_INTERVAL,
    OVER_QUESTIONS,
    kappa_columns,
    share_columns,
)
from audit.stats.bootstrap import Bools, draws
from audit.stats.clustered import clustered_ratio_interval
from audit.stats.intervals import Floats
from audit.stats.paired import PairedShare, change_columns
from audit.store.connection import Connection, frame
from audit.tables import Column, IntervalNote, Population, TableSpec
from audit.vocabulary import DISAGREEING, PRESENT_LABELS, Label

WEIGHTED = (
    "The pairs that were read stand for all pairs of the run with their label. Pairs that the second judge left without a label "
    "are in none of the shares but their own."
)
FIGURE_WORDS = {
    "same label": "Both give the same label", "same side": "Both say that the answers disagree, or that they do not",
    "confirmed": "Of the disagreements, those that the second judge calls a disagreement too",
    "second only": "Of the other pairs, those that only the second judge calls a disagreement",
    **{f"same {label}": f"Of {label.lower()} pairs, the same label" for label in LABEL_NAMES},
    "kappa_quadratic": "Weighted kappa", "kappa": "Kappa", "unread": "Without a label of the second judge",
}  # fmt: skip
TWICE_SQL = """
with twice as (
    select question, label::varchar as label, second_label::varchar as second_label, second, second_judge as judge
    from pairs_read_twice
    where not prescreened and label is not null and exists (from second_verdicts)
)
select question, label, second_label, second, any_value(judge) as judge, count(*) as pairs
from twice group by question, label, second_label, second
order by question, label, second_label, second
"""
SIZE = len(LABEL_NAMES)
DISAGREE, EVERY = np.isin(LABEL_NAMES, list(map(str, DISAGREEING))), np.ones(SIZE, dtype=bool)
"""Which labels say that answers disagree, and all labels, in the order of LABEL_NAMES."""
COLUMNS = ["judge", "figure", "count", "of", "value", "value_low", "value_high", "interval"]
SECOND_TABLE = TableSpec(
    "Agreement of the run's judge with a second judge",
    (
        Column.text("judge", "Second judge"), Column.text("figure", "Figure", words=FIGURE_WORDS),
        Column.count("count", "Pairs"), Column.count("of", "Of", "pairs read"), Column.decimal("value", "Value"), INTERVAL_METHOD,
    ),
    (WEIGHTED, BY_QUESTION),
)  # fmt: skip
SECOND_GLOSSARY = {
    "second judge": "Another model that read all disagreeing and unscored pairs of a run and a random sample of the others.",
    "confirmed by two judges": "A label that the second judge gave too. A pair that it was not asked about is neither.",
}


@metric(sql=TWICE_SQL, table=SECOND_TABLE, glossary=SECOND_GLOSSARY)
def second_judge(con: Connection) -> pd.DataFrame:
    """How often a second judge agrees with the run's judge, over all pairs with a label.

    The second judge reads the disagreeing pairs and a random sample of the others, so every pair that it read counts for as many
    pairs of the run, with its label, as it stands for. One row per figure, none without a second judge:
        judge                  str, the second judge
        figure                 str, 'same label', 'same side', 'confirmed', 'second only', 'same ABSENT' ..., 'kappa_quadratic',
                               'kappa', 'unread'
        count, of              int, pairs that were read, unweighted
        value                  float, a share in [0, 1] or kappa, weighted
        value_low, value_high  95 % interval: questions as clusters, each with all its pairs; Wilson's with questions as trials
                               where none or all are; of kappas, questions resampled; NaN where it cannot be known
        interval               str, which of them

    Source: kappa: Cohen (1960).
    """
    counts = frame(con, TWICE_SQL)
    judge = counts["judge"].dropna()
    rows = [{"judge": judge.iloc[0], **row} for row in agreement_rows(counts)] if len(judge) else []
    return pd.DataFrame(rows, columns=COLUMNS)


@dataclass(frozen=True)
class LabelsOfBoth:
    """Pairs of a run by question, label of its judge, and label of the second judge.

    sizes   (questions, labels), all pairs of the run by the label of its judge
    read    (questions, labels, labels), those that the second judge gave a label
    tables  likewise, all pairs of the run by both labels, as estimated; none of a label of which no pair was read
    """

    sizes: Floats
    read: Floats
    tables: Floats

    def counts(self, outcome: Bools, labels: Bools) -> dict[str, int]:
        """Of the pairs that were read with one of `labels`, how many have the outcome, (labels, labels)."""
        read = self.read.sum(axis=0)[labels]
        return {"count": int(read[outcome[labels]].sum()), "of": int(read.sum())}

    def share(self, outcome: Bools, labels: Bools, of: Bools | None = None, sign: int = 1) -> dict[str, Any]:
        """The pairs of the run with one of `labels` and the outcome, as a share of those with a label in `of`, with its interval.

        outcome  (labels, labels), the cells that count; of: default `labels`
        """
        is_read = self.read.sum(axis=(0, 2)) > 0
        events = self.tables[:, outcome & labels[:, None]].sum(axis=1)
        pairs = self.sizes[:, (labels if of is None else of) & (is_read | ~labels)].sum(axis=1)
        (low,), (high,) = clustered_ratio_interval(events[None], pairs[None])
        value = events.sum() / pairs.sum() if is_read[labels].any() else np.nan
        method = NO_INTERVAL if np.isnan(low) else OVER_QUESTIONS if value in (0, 1) else CLUSTERED
        ends = sorted((sign * float(low), sign * float(high)))
        return {"of": int(pairs.sum()), "value": sign * value, "value_low": ends[0], "value_high": ends[1], "interval": method}


def labels_of_both(counts: pd.DataFrame) -> LabelsOfBoth:
    """From pairs counted by question, label, label of the second judge and whether it was asked.

    How many pairs have which label is known of the whole run, question by question: only what the second judge says of them is
    estimated. So each pair counts as its label's shares, and those that were read add by how much they differ from these, with
    their weight (Särndal, Swensson and Wretman 1992, section 7.6: the residuals of a post-stratified estimate). By label, and not
    by disagreeing or not: a sample should not change what is known.
    """
    question, names = pd.factorize(counts["question"])
    first, second = (pd.Index(LABEL_NAMES).get_indexer(pd.Index(counts[side])) for side in ("label", "second_label"))
    pairs, has = counts["pairs"].to_numpy(dtype=float), second >= 0
    sizes, read = np.zeros((len(names), SIZE)), np.zeros((len(names), SIZE, SIZE))
    np.add.at(sizes, (question, first), pairs)
    np.add.at(read, (question[has], first[has], second[has]), pairs[has])
    by_label = np.maximum(read.sum(axis=(0, 2)), 1)
    shares = read.sum(axis=0) / by_label[:, None]
    # Divided by n - 1, as in a variance: residuals of few pairs are too small, since the shares were fitted to them
    weight = sizes.sum(axis=0) / np.sqrt(by_label * np.maximum(by_label - 1, 1))
    residuals = (read - read.sum(axis=2, keepdims=True) * shares) * weight[:, None]
    return LabelsOfBoth(sizes, read, sizes[..., None] * shares + residuals)


def agreement_rows(counts: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """The rows of `second_judge` from pairs counted as for `labels_of_both`."""
    both, same = labels_of_both(counts), np.eye(SIZE, dtype=bool)
    says_so = np.tile(DISAGREE, (SIZE, 1))
    figures = [
        ("same label", same, EVERY), ("same side", np.equal.outer(DISAGREE, DISAGREE), EVERY), ("confirmed", says_so, DISAGREE),
        ("second only", says_so, ~DISAGREE),
        *((f"same {label}", same, one) for label, one in zip(LABEL_NAMES, same, strict=True) if both.read[:, one].any()),
    ]  # fmt: skip
    for figure, outcome, labels in figures:
        yield {"figure": figure, **both.share(outcome, labels), **both.counts(outcome, labels)}
    for figure, ordered in (("kappa_quadratic", True), ("kappa", False)):
        yield {"figure": figure, **kappa_columns(both.tables, ordered=ordered, read=both.read), **both.counts(same, EVERY)}
    asked = counts[counts["second"].notna()]
    yield {"figure": "unread", **share_columns(asked, asked["second_label"].isna(), asked["pairs"] > 0)}


# -- which rate changes if both must agree -----------------------------------------------------------------------------


BOTH_WORDS = {
    "r_div": "Disagreement (R_div), as the run's judge labels", "r_div both": "Disagreement if both judges must say so",
    "r_div change": "Change", "r_con": "Consistency (R_con), as the run's judge labels",
    "r_con both": "Consistency if both judges must say so", "r_con change": "Change",
}  # fmt: skip
BOTH_TABLE = TableSpec(
    "Rates if both judges must agree",
    (
        Column.text("figure", "Figure", words=BOTH_WORDS), Column.count("of", "Both answer", "pairs"),
        Column.share("value", "Share or change"), INTERVAL_METHOD,
    ),
    (
        "Of the pairs in which both {handbooks} answer by the run's judge: these stay the denominator. A label that the second "
        "judge did not give does not count as confirmed; that it is wrong is not known.",
        WEIGHTED, BY_QUESTION,
    ),
)  # fmt: skip
BOTH_GLOSSARY = {"both judges": "A rate that counts a label only where a second judge gave it too."}
RATES = {"r_div": tuple(map(str, DISAGREEING)), "r_con": (Label.CONSISTENT.value,)}


@metric(sql=TWICE_SQL, table=BOTH_TABLE, glossary=BOTH_GLOSSARY)
def rates_by_both(con: Connection) -> pd.DataFrame:
    """R_div and R_con of the run, if a label counts only where a second judge gave it too.

    A disagreement is confirmed where the second judge calls the pair divergent or contradictory, whichever the first said. The
    denominator stays: pairs in which both handbooks answer, by the run's judge. Six rows, none without a second judge:
        figure                 str, 'r_div', 'r_div both', 'r_div change', and the same of r_con
        of                     int, present pairs of the run
        value                  float in [0, 1]; a change is at most 0; NaN where the second judge read no pair of the kind
        value_low, value_high  95 % interval: questions as clusters, each with all its pairs; Wilson's with questions as trials
                               where none or all are; NaN where it cannot be known
        interval               str, which of the two
    """
    counts = frame(con, TWICE_SQL)
    rows = list(both_rows(counts)) if counts["second"].notna().any() else []
    return pd.DataFrame(rows, columns=["figure", "of", "value", "value_low", "value_high", "interval"])


def both_rows(counts: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """The rows of `rates_by_both` from pairs counted as for `labels_of_both`."""
    both, present = labels_of_both(counts), np.isin(LABEL_NAMES, list(map(str, PRESENT_LABELS)))
    for rate, names in RATES.items():
        labels, own = np.isin(LABEL_NAMES, names), counts[counts["label"].isin(map(str, PRESENT_LABELS))]
        kept = np.tile(labels, (SIZE, 1))
        in_run = share_columns(own, own["label"].isin(names), own["pairs"] > 0)
        yield {"figure": rate, **{name: value for name, value in in_run.items() if name != "count"}}
        yield {"figure": f"{rate} both", **both.share(kept, labels, present)}
        yield {"figure": f"{rate} change", **both.share(~kept, labels, present, sign=-1)}


# -- the judge asked again at later dates ------------------------------------------------------------------------------


DRIFT_WORDS = {
    "changed": "Another label than in the run", "repeat": "Another label when asked twice on that date",
    "beyond repeat": "Changed, more than by chance", "r_div then": "Disagreement of the panel, in the run",
    "r_div now": "Disagreement of the panel, on that date", "r_div change": "Change of the disagreement",
}  # fmt: skip
DRIFT_SQL = """
with panel as (
    select v.question, least(v.handbook_a, v.handbook_b) as handbook_a, greatest(v.handbook_a, v.handbook_b) as handbook_b,
           round, any_value(judge) as judge, any_value(revision) as revision, any_value(date) as date,
           any_value(label) filter (number = 1) as again, any_value(label) filter (number = 2) as once_more
    from further_verdicts v where kind = 'recheck' group by all
)
select question, round, judge, coalesce(revision, '') as revision, coalesce(date, '') as date, label::varchar as label,
       again::varchar as again, once_more::varchar as once_more, count(*) as pairs
from panel join pairs using (question, handbook_a, handbook_b)
group by all order by all
"""
DRIFT_COLUMNS = ["round", "date", "judge", "revision", *COLUMNS[1:]]
DRIFT_TABLE = TableSpec(
    "A frozen panel of pairs, asked again at later dates",
    (
        Column.count("round", "Time"), Column.text("date", "Date"), Column.text("judge", "Judge"),
        Column.text("revision", "Replied", "as the server says"), Column.text("figure", "Figure", words=DRIFT_WORDS),
        Column.count("count", "Pairs"), Column.count("of", "Of", "pairs of the panel"), Column.decimal("value", "Value"),
        INTERVAL_METHOD,
    ),
    (
        "Each pair is asked twice on a date. Changed, more than by chance: the share with another label than in the run, minus "
        "the share whose two labels of that date differ. Pairs that lack one of the three labels are in no share.",
        IntervalNote(
            Population.QUESTIONS_TO_THESE.as_judged, "{questions} as clusters", "Of differences, {questions} are resampled."
        ),
    ),
)  # fmt: skip
DRIFT_GLOSSARY = {"panel": "Pairs that were drawn once and are put to the judge again at later dates, to see whether it changed."}


@metric(sql=DRIFT_SQL, table=DRIFT_TABLE, glossary=DRIFT_GLOSSARY)
def judge_drift(con: Connection) -> pd.DataFrame:
    """Whether the judge labels a frozen random panel of pairs otherwise than when the run was judged, beyond chance.

    Every time, each pair of the panel is asked twice. If nothing changed, its label differs from that of the run as often as the
    two of that date differ from each other. Six rows for each time, none without a panel:
        round                  int from 1
        date, judge, revision  str, as the release records them
        figure                 str, 'changed', 'repeat', 'beyond repeat', 'r_div then', 'r_div now', 'r_div change'
        count, of              int, pairs; of those with all three labels
        value                  float, a share in [0, 1] or a difference of two
        value_low, value_high  95 % interval: questions as clusters; of differences, questions resampled; NaN where unknown
        interval               str, which of the two
    """
    counts = frame(con, DRIFT_SQL)
    rows = []
    for number, own in counts.groupby("round"):
        last = own.iloc[-1]
        about = {"round": int(str(number)), "date": last["date"], "judge": last["judge"], "revision": last["revision"]}
        rows += [about | row for row in drift_rows(own)]
    return pd.DataFrame(rows, columns=DRIFT_COLUMNS)


def drift_rows(counts: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """The six rows of one date, from pairs counted by question and by the labels of the run and of that date."""
    read = counts.dropna(subset=["label", "again", "once_more"])
    every = read["pairs"] > 0
    changed, noise = read["label"] != read["again"], read["again"] != read["once_more"]
    then, now = (read[side].isin(DISAGREEING) for side in ("label", "again"))
    # Not a rate of the run: the panel has ABSENT pairs too
    present = read["label"].isin(map(str, PRESENT_LABELS)), read["again"].isin(map(str, PRESENT_LABELS))
    yield {"figure": "changed", **share_columns(read, changed, every)}
    yield {"figure": "repeat", **share_columns(read, noise, every)}
    yield {"figure": "beyond repeat", **_difference(read, (noise, every), (changed, every))}
    yield {"figure": "r_div then", **share_columns(read, then, present[0])}
    yield {"figure": "r_div now", **share_columns(read, now, present[1])}
    yield {"figure": "r_div change", **_difference(read, (then, present[0]), (now, present[1]))}


def _difference(read: pd.DataFrame, before: tuple[pd.Series, pd.Series], after: tuple[pd.Series, pd.Series]) -> dict[str, Any]:
    """The second share minus the first, both of the same pairs; a share is its numerator and its denominator, by row."""
    by_question, questions = pd.factorize(read["question"])
    pairs = read["pairs"].to_numpy(dtype=float)

    def sums(part: pd.Series) -> Any:
        return np.bincount(by_question, pairs * part.to_numpy(dtype=float), len(questions)).astype(float)[None, :]

    first, second = (PairedShare(sums(numerator), sums(denominator)) for numerator, denominator in (before, after))
    change = change_columns("value", first, second, draws(len(questions), stream=0))
    low, high = float(change["value_low"][0]), float(change["value_high"][0])
    return {
        "count": int(second.numerator.sum()), "of": int(second.denominator.sum()), "value": float(change["value"][0]),
        "value_low": low, "value_high": high, "interval": NO_INTERVAL if np.isnan(low) else BOOTSTRAP,
    }  # fmt: skip
