"""How well each system routes questions to sources, and how well its evidence covers them; and compared with a baseline."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from audit.evaluation.routing_measures import MEASURES
from audit.metrics import metric
from audit.metrics._routing import INTERVALS, KIND, KINDS, MEANINGS, MEASURE, SQL, by_kind, routing_values, shares_with_intervals
from audit.metrics._systems import SYSTEM, identity, system_number, systems_of
from audit.stats.means import mean_change
from audit.store.connection import Connection
from audit.tables import Column, IntervalNote, Population, TableSpec
from audit.terms import ALL

DIRECTIONS = {"rises": "higher", "falls": "lower"}
TABLE = TableSpec(
    "How well each system routes {questions} to sources, and how well its evidence covers them",
    (SYSTEM, KIND, MEASURE, Column.count("measured", "Measured", "{questions}"), Column.decimal("mean", "Mean")),
    (*MEANINGS, INTERVALS),
)
GLOSSARY = {
    "source": "{Handbooks} that are searched and cited as one, such as those of {a_center}; each has an authority from 0 to 1.",
    "authority": "From 0 to 1: the weight of a source before anything is searched.",
    "routing": "Which sources a system asks for {a_question}, in which order, and for how many passages each (its budget).",
    "PrimaryAcc": "The share of {questions} whose primary source, the one to ask first, a system ranks first.",
    "EDR": "The share of the evidence that is from the source with the shortest sections, which tends to dominate a search.",
    "CrossEv@5": "The share of {questions} that need several sources whose first five passages have one of each.",
}
COLUMNS = ("system_id", "name", "kind", "measure", "measured", "mean", "mean_low", "mean_high")


@metric(sql=SQL, table=TABLE, glossary=GLOSSARY)
def routing(con: Connection, by: str = "all", organ: str | None = None, densest: str | None = None) -> pd.DataFrame:
    """How often each system asks the right sources first, and how well its evidence covers them.

    PrimaryAcc and Top2Hit: the primary source is ranked first, or among the first two. EDR: the share of the first five passages
    that is from the densest source (lower is less dominated). AuthCov: the share from the sources of highest authority, of
    questions that need one of them; not measured where all have the same. EvRecall@5, EvNDCG@5: of the sections that contain the
    answer. CrossEv@5: the first five passages have one of every required source, of questions that need several.

    by       'all', or 'kind': one row for questions that need one source, several, or an unknown number
    organ    count only these questions; None: all
    densest  the source of EDR; None: the one with the shortest sections on average, in words (no sections: no EDR)
    One row per system, kind and measure that applies to at least one question:
        system_id, name, measure           str
        kind                               str, '(all)', one, several, unknown
        measured                           int, routed questions to which the measure applies
        mean, mean_low, mean_high          float in [0, 1], 95 % interval, questions as clusters (audit.stats.clustered);
                                           NaN with fewer than two questions, and where all values are
                                           one between 0 and 1

    No row where no system routed a question. Raises AuditError for another `by`, NotInRunError for an unknown source.
    Source: Chen et al. (2026), Traceable Cross-Source RAG for Chinese Tibetan Medicine Question Answering, section on metrics.
    """
    values = by_kind(routing_values(con, organ, densest), by)
    return pd.DataFrame(list(_rows(con, values)), columns=list(COLUMNS))


def _rows(con: Connection, values: pd.DataFrame) -> Iterator[dict[str, Any]]:
    groups = dict(tuple(values.groupby(["system", "kind", "measure"])["value"]))
    for system in systems_of(con).to_dict("records"):
        for kind in (ALL, *KINDS):
            for measure in MEASURES:
                if (own := groups.get((system["system"], kind, measure))) is not None:
                    ((mean,), (low,), (high,)) = shares_with_intervals(own.to_numpy(dtype=float)[None, :])
                    yield {
                        **identity(system), "kind": kind, "measure": measure, "measured": len(own), "mean": mean,
                        "mean_low": low, "mean_high": high,
                    }  # fmt: skip


DIFFERENCE_TABLE = TableSpec(
    "Each system's routing compared with a baseline, on the {questions} that both routed",
    (
        SYSTEM, Column.text("against", "Baseline"), KIND, MEASURE, Column.count("of", "{Questions}", "that both have"),
        Column.decimal("value", "System's mean"), Column.decimal("first", "Baseline's mean"),
        Column.decimal("change", "Difference"), Column.text("moves", "Direction", words=DIRECTIONS),
        Column.count("questions", "{Questions}", "that differ"),
    ),
    (
        *MEANINGS,
        "Difference: the system's value minus the baseline's on the same {question}, on average. Higher, lower: the interval of "
        "the difference excludes 0. Too few {questions}: the two differ on fewer than five.",
        IntervalNote(Population.QUESTIONS, "{questions} are resampled"),
    ),
)  # fmt: skip
DIFFERENCE_COLUMNS = (
    "system_id", "name", "against", "kind", "measure", "of", "value", "first", "change", "change_low", "change_high", "moves",
    "questions",
)  # fmt: skip
DIFFERENCE_GLOSSARY = {"budget": "How many passages a system takes from a source for {a_question}."}


@metric(sql=SQL, table=DIFFERENCE_TABLE, glossary=DIFFERENCE_GLOSSARY)
def routing_differences(
    con: Connection, baseline: str | None = None, by: str = "all", organ: str | None = None, densest: str | None = None
) -> pd.DataFrame:
    """The difference of every measure of `routing` between each system and a baseline, over the questions that both routed.

    baseline            the id of a system; None: the first of the release that routed a question
    by, organ, densest  as in `routing`
    One row per other system that routed, kind and measure:
        system_id, name, against           str, the system, and the name of the baseline
        kind, measure                      str, as in `routing`
        of                                 int, questions for which both have a value
        value, first                       float, the means of the system and of the baseline over these
        change, change_low, change_high    float, value - first; 95 % interval with questions resampled, NaN where fewer than
                                           five questions differ
        moves                              str, rises, falls, not clear, the same, or too few questions
        questions                          int, questions on which the two differ

    No row where fewer than two systems routed. Raises NotInRunError for an unknown baseline or source, AuditError for another
    `by`. Source of the interval: audit.stats.means.
    """
    values = by_kind(routing_values(con, organ, densest), by)
    systems = systems_of(con)
    if baseline is None and values.empty:
        return pd.DataFrame(columns=list(DIFFERENCE_COLUMNS))
    first = int(values["system"].min()) if baseline is None else system_number(systems, baseline)
    return pd.DataFrame(list(_difference_rows(systems, first, values)), columns=list(DIFFERENCE_COLUMNS))


def _difference_rows(systems: pd.DataFrame, first: int, values: pd.DataFrame) -> Iterator[dict[str, object]]:
    names = dict(zip(systems["system"], systems["name"], strict=True))
    series = {key: own.set_index("question")["value"] for key, own in values.groupby(["system", "kind", "measure"])}
    for system in systems[systems["system"] != first].to_dict("records"):
        for kind in (ALL, *KINDS):
            for measure in MEASURES:
                own, baseline = series.get((system["system"], kind, measure)), series.get((first, kind, measure))
                if own is None or baseline is None:
                    continue
                both = pd.concat([own, baseline], axis=1, join="inner", keys=["own", "first"]).to_numpy(dtype=float)
                if len(both):
                    yield {
                        **identity(system), "against": names[first], "kind": kind, "measure": measure, "of": len(both),
                        "value": both[:, 0].mean(), "first": both[:, 1].mean(), **mean_change(both[:, 0] - both[:, 1]),
                    }  # fmt: skip
