"""Each source in each system: how often it is ranked first, its budget, its share of the evidence, its coverage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from audit.evaluation.routing_measures import CUT
from audit.metrics import metric
from audit.metrics._routing import BY, INTERVALS, KIND, KINDS, by_kind, routed_questions, shares_with_intervals
from audit.metrics._systems import SYSTEM, identity, systems_of
from audit.queries.lookup import require_one_of
from audit.stats.means import mean_interval
from audit.store.connection import Connection, frame
from audit.tables import Column, TableSpec
from audit.terms import ALL

SQL = """
select question, system, source_id, budget
from routes join sources using (source) join questions using (question)
where budget is not null and ($organ is null or organ = $organ)
order by system, source, question
"""
SOURCES = """
select source_id, authority, sum(len(text))::double / nullif(sum(sum(len(text))) over (), 0) as text
from sources left join source_handbooks using (source) left join sections using (handbook)
group by source, source_id, authority order by source
"""
TABLE = TableSpec(
    "Use of each source by each system",
    (
        SYSTEM, Column.named("source_id", "Source"), KIND, Column.decimal("authority", "Authority"),
        Column.count("routed", "Routed", "{questions}"), Column.share("first", "Ranked first", "of {questions}"),
        Column.decimal("budget", "Budget", "passages"), Column.share("evidence", "Evidence", "of the first five passages"),
        Column.share("text", "Text", "of all characters"),
        Column.count("required", "Required", "{questions}"), Column.share("covered", "Covered", "where it is required"),
    ),
    (
        "Ranked first: of the {questions} that the system routed. Budget: the mean number of passages to take from it. Evidence: "
        "its mean share of the first five passages. Text: its share of the texts of all sources; where its part of the "
        "evidence is much larger, it dominates. Covered: of the {questions} that need it, those whose first five passages have "
        "one of it.",
        INTERVALS,
    ),
)  # fmt: skip
GLOSSARY = {"coverage of a source": "Of the {questions} that need a source, the share whose evidence has a passage of it."}
SHARES = ("first", "evidence", "covered")
COLUMNS = (
    "system_id", "name", "source_id", "kind", "authority", "routed", "first", "first_low", "first_high", "budget", "budget_low",
    "budget_high", "evidence", "evidence_low", "evidence_high", "text", "required", "covered", "covered_low", "covered_high",
)  # fmt: skip


@metric(sql=SQL, table=TABLE, glossary=GLOSSARY)
def source_shares(con: Connection, by: str = "all", organ: str | None = None) -> pd.DataFrame:
    """How often each system ranks each source first, how many passages it takes from it, and how much of the evidence it gets.

    by     'all', or 'kind': one row for questions that need one source, several, or an unknown number
    organ  count only these questions; None: all
    One row per system that routed, source and kind with a routed question:
        system_id, name, source_id         str
        kind                               str, '(all)', one, several, unknown
        authority                          float in [0, 1]
        routed                             int, questions that the system routed
        first, first_low, first_high       float in [0, 1], share of these whose first source it is
        budget, budget_low, budget_high    float, mean passages to take from it; NaN where the release states none
        evidence, ..._low, ..._high        float in [0, 1], its mean share of the first five passages, of questions with evidence
        text                               float in [0, 1], its share of the characters of all sources; NaN without sections
        required                           int, routed questions that need it
        covered, ..._low, ..._high         float in [0, 1], share of these whose first five passages have one of it
    Intervals are of 95 %, questions as clusters (audit.stats.clustered); of means questions resampled.

    No row where no system routed a question. Raises AuditError for another `by`. Source of dominance and coverage: as `routing`.
    """
    require_one_of(by, BY, "Group")
    sources: list[Any] = frame(con, SOURCES).to_dict("records")
    cells = pd.DataFrame(list(_cells(con, organ, sources)), columns=["question", "system", "source_id", "kind", *SHARES])
    cells = by_kind(cells.merge(frame(con, SQL, {"organ": organ}), how="left", on=["question", "system", "source_id"]), by)
    return pd.DataFrame(list(_rows(con, cells, sources)), columns=list(COLUMNS))


def _cells(con: Connection, organ: str | None, sources: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """One entry per routed question and source; NaN where a share does not apply."""
    for ids, one in routed_questions(con, organ):
        cited_sources = [source for source, _ in one.evidence[:CUT]]
        for source in (known["source_id"] for known in sources):
            yield {
                **ids,
                "source_id": source,
                "first": float(source in one.ranking[:1]),
                "evidence": cited_sources.count(source) / len(cited_sources) if cited_sources else np.nan,
                "covered": float(source in cited_sources) if source in one.required else np.nan,
            }


def _rows(con: Connection, cells: pd.DataFrame, sources: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    groups = dict(tuple(cells.groupby(["system", "kind"])))
    for system in systems_of(con).to_dict("records"):
        rows = {
            kind: _by_source(own, [source["source_id"] for source in sources])
            for kind in (ALL, *KINDS)
            if (own := groups.get((system["system"], kind))) is not None
        }
        for number, source in enumerate(sources):
            for kind, of_kind in rows.items():
                yield {**identity(system), **source, "kind": kind, **{name: column[number] for name, column in of_kind.items()}}


def _by_source(own: pd.DataFrame, sources: list[str]) -> dict[str, Any]:
    """The columns of one system and kind, each with a value for every source."""
    columns: dict[str, object] = {"routed": [own["question"].nunique()] * len(sources)}
    for name in SHARES:
        values = own.pivot(index="source_id", columns="question", values=name).loc[sources].to_numpy(dtype=float)
        columns |= dict(zip((name, f"{name}_low", f"{name}_high"), shares_with_intervals(values), strict=True))
        if name == "covered":
            columns["required"] = (~np.isnan(values)).sum(axis=1)
    by_source = own.dropna(subset=["budget"]).groupby("source_id")["budget"]
    taken = {source: budget.to_numpy(dtype=float) for source, budget in by_source}
    budgets = [mean_interval(taken.get(source, np.empty(0))) for source in sources]
    return columns | dict(zip(("budget", "budget_low", "budget_high"), zip(*budgets, strict=True), strict=True))
