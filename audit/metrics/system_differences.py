"""How much better or worse each answering system does than a baseline, on the same questions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from audit.metrics import metric
from audit.metrics._systems import (
    COMPOSITE_NOTE,
    MEASURE,
    READ,
    REFUSAL,
    SYSTEM,
    TEXT_MEASURES,
    VALUES,
    answer_values,
    composite_values,
    identity,
    in_order,
    selection_parameters,
    system_number,
    systems_of,
)
from audit.stats.means import mean_change
from audit.store.connection import Connection, frame
from audit.tables import Column, IntervalNote, Population, TableSpec

REFUSALS = f"""
select question, system, refused::integer as value, '{REFUSAL}' as measure
from system_answers join questions using (question) left join question_types using (question)
where refused is not null
  and ($question_type is null or question_type = $question_type) and ($organ is null or organ = $organ)
order by system, question
"""
DIRECTIONS = {"rises": "higher", "falls": "lower"}
TABLE = TableSpec(
    "Each answering system compared with a baseline, on the {questions} that both have",
    (
        SYSTEM, Column.text("against", "Baseline"), MEASURE, Column.count("of", "{Questions}", "that both have"),
        Column.decimal("value", "System's mean"), Column.decimal("first", "Baseline's mean"),
        Column.decimal("change", "Difference"), Column.text("moves", "Direction", words=DIRECTIONS),
        Column.count("questions", "{Questions}", "that differ"),
    ),
    (
        "Difference: the system's value minus the baseline's on the same {question}, on average, so what makes one {question} "
        "harder than another drops out. Only {questions} for which both have a value count.",
        "Higher, lower: the interval of the difference excludes 0. Too few {questions}: the two differ on fewer than five.",
        TEXT_MEASURES, COMPOSITE_NOTE, READ,
        IntervalNote(Population.QUESTIONS, "{questions} are resampled"),
    ),
)  # fmt: skip
GLOSSARY = {"paired difference": "The mean of differences on the same {questions}: what makes {a_question} hard drops out."}
COLUMNS = (
    "system_id", "name", "against", "measure", "of", "value", "first", "change", "change_low", "change_high", "moves",
    "questions",
)  # fmt: skip


@metric(sql=VALUES, table=TABLE, glossary=GLOSSARY)
def system_differences(
    con: Connection, baseline: str | None = None, question_type: str | None = None, organ: str | None = None,
    incomplete: str = "exclude", weights: str = "",
) -> pd.DataFrame:  # fmt: skip
    """The difference of every measure between each system and a baseline, over the questions for which both have a value.

    baseline              the id of a system; None: the first of the release
    question_type, organ  count only these questions; None: all
    incomplete, weights   how the composite counts, as in the metric `composite`
    Refusals are a measure of 0 or 1 over the replies of both that could be read.

    One row per other system, in release order, and measure:
        system_id, name, against               str, the system, and the name of the baseline
        measure                                str, those of `system_measures`, composite, refusal
        of                                     int, questions for which both have a value
        value, first                           float, the means of the system and of the baseline over these
        change, change_low, change_high        float, value - first; 95 % interval with questions resampled, NaN where fewer
                                               than five questions differ
        moves                                  str, rises, falls, not clear, the same, or too few questions
        questions                              int, questions on which the two differ

    No row where the run has fewer than two systems. Raises NotInRunError for an unknown baseline, AuditError for wrong weights.
    Source of the interval: audit.stats.means.
    """
    systems = systems_of(con)
    if baseline is None and systems.empty:
        return pd.DataFrame(columns=list(COLUMNS))
    first = system_number(systems, systems["system_id"].iloc[0] if baseline is None else baseline)
    values = pd.concat(
        [
            answer_values(con, question_type, organ),
            composite_values(con, question_type, organ, incomplete, weights),
            frame(con, REFUSALS, selection_parameters(question_type, organ)),
        ]
    )
    return pd.DataFrame(list(_rows(systems.to_dict("records"), first, values)), columns=list(COLUMNS))


def _rows(systems: list[Any], first: int, values: pd.DataFrame) -> Iterator[dict[str, Any]]:
    by_system = {
        system: table.pivot(index="question", columns="measure", values="value") for system, table in values.groupby("system")
    }
    names = {system["system"]: system["name"] for system in systems}
    for system in systems:
        own, baseline = by_system.get(system["system"]), by_system.get(first)
        if system["system"] == first or own is None or baseline is None:
            continue
        for measure in in_order(values["measure"]):
            yield from _compared({**identity(system), "against": names[first], "measure": measure}, own, baseline)


def _compared(row: dict[str, Any], own: pd.DataFrame, baseline: pd.DataFrame) -> Iterator[dict[str, Any]]:
    if not (row["measure"] in own and row["measure"] in baseline):
        return
    both = pd.concat([own[row["measure"]], baseline[row["measure"]]], axis=1, join="inner", keys=["own", "first"]).dropna()
    if len(both):
        value, first = both["own"].to_numpy(dtype=float), both["first"].to_numpy(dtype=float)
        yield row | {"of": len(both), "value": value.mean(), "first": first.mean(), **mean_change(value - first)}
