"""Shared by the metrics of routing: one value per routed question and measure, kinds of questions, and names of measures."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
import pandas as pd

from audit.errors import NotInRunError
from audit.evaluation.gold import ndcg_at
from audit.evaluation.routing_measures import CUT, MEASURES, RoutedQuestion, source_measures
from audit.queries.lookup import require_one_of
from audit.stats.clustered import clustered_ratio_interval
from audit.stats.intervals import Floats
from audit.store.connection import Connection, frame
from audit.tables import Column, IntervalNote, Population
from audit.terms import ALL
from audit.vocabulary import nearest

ONE, SEVERAL, UNKNOWN = "one", "several", "unknown"
KINDS = (ONE, SEVERAL, UNKNOWN)
"""Kinds of questions: how many sources a complete answer needs."""
BY = ("all", "kind")
KIND = Column.text(
    "kind",
    "{Questions}",
    "by sources needed",
    words={ALL: "all", ONE: "one source", SEVERAL: "several sources", UNKNOWN: "not known"},
)
MEASURE = Column.text("measure", "Measure")
SQL = """
with ranked as (
    select question, system, list(source_id order by rank) as ranking from routes join sources using (source) group by all
),
packed as (
    select question, system, list(source_id order by rank) as evidence_sources,
           list({'handbook': handbook_id, 'section': section_id} order by rank) as passages
    from routed_evidence join handbooks using (handbook) left join sources using (source) group by all
),
needed as (
    select question, list(source_id order by source) as required, max(source_id) filter (is_primary) as primary_source
    from question_sources join sources using (source) group by question
)
select question, question_id, system, ranking, evidence_sources, passages, primary_source, required, gold_sections
from route_traces join questions using (question) left join ranked using (question, system)
     left join packed using (question, system) left join needed using (question) left join question_types using (question)
where $organ is null or organ = $organ
order by system, question
"""
SOURCES = """
select source_id, authority, avg(len(regexp_extract_all(text, '\\S+'))) as words
from sources left join source_handbooks using (source) left join sections using (handbook)
group by source, source_id, authority order by source
"""
MEANINGS = (
    "PrimaryAcc, Top2Hit: the share of {questions} whose primary source is ranked first, or among the first two.",
    "EDR: the mean share of the first five passages that is from the densest source; lower is less dominated. AuthCov: the mean "
    "share that is from the sources of highest authority, over the {questions} that need one of them.",
    "EvRecall@5, EvNDCG@5: of the sections that contain the answer, the share among the first five passages, and how close the "
    "order is to the best one. CrossEv@5: the share of {questions} with several required sources whose evidence has all of them.",
)
INTERVALS = IntervalNote(
    Population.QUESTIONS,
    "on the logit scale; Wilson's where all are hits, or none",
    "A {question} that a system did not route, or to which a measure does not apply, is excluded; it never counts as 0.",
)


def routed_questions(con: Connection, organ: str | None = None) -> Iterator[tuple[dict[str, Any], RoutedQuestion]]:
    """Each question that a system routed: question and system (numbers), question_id, kind and the result of routing.

    A system that does not score sources is ranked by its evidence. A gold section in the evidence is named as in the
    gold list: by its id, or by handbook and id.
    """
    for row in frame(con, SQL, {"organ": organ}).to_dict("records"):
        gold = frozenset(_list(row["gold_sections"]))
        sources = [None if pd.isna(source) else source for source in _list(row["evidence_sources"])]
        names = [_gold_name(passage, gold) for passage in _list(row["passages"])]
        ranking = _list(row["ranking"]) or list(dict.fromkeys(source for source in sources if source))
        required = _list(row["required"])
        primary = None if pd.isna(row["primary_source"]) else row["primary_source"]
        kind = UNKNOWN if not required else ONE if len(required) == 1 else SEVERAL
        ids = {name: row[name] for name in ("question", "question_id", "system")}
        yield ids | {"kind": kind}, RoutedQuestion(ranking, list(zip(sources, names, strict=True)), primary, required, gold)


def _list(value: Any) -> list[Any]:
    # A missing list is None or NaN, a present one an array
    return list(value) if hasattr(value, "__len__") else []


def _gold_name(passage: dict[str, str | None], gold: Collection[str]) -> str:
    handbook, section = passage["handbook"], passage["section"]
    return section if section is not None and section in gold else f"{handbook}/{section}"


def routing_values(con: Connection, organ: str | None = None, densest: str | None = None) -> pd.DataFrame:
    """Every measure of every routed question: question, system (numbers), kind, measure, value; no row where a measure does not
    apply.

    densest  the source whose share of the evidence is EDR; None: the one with the shortest sections, on average. A release
    without sections has no EDR.

    Raises NotInRunError for an unknown source.
    """
    known = frame(con, SOURCES)
    densest = _densest(known, densest)
    authoritative = _authoritative(known)
    values = [
        {**ids, "measure": measure, "value": value}
        for ids, one in routed_questions(con, organ)
        for measure, value in measures_of(one, densest, authoritative).items()
    ]
    table = pd.DataFrame(values, columns=["question", "system", "kind", "measure", "value"])
    return table.dropna(subset=["value"]).reset_index(drop=True)


def measures_of(one: RoutedQuestion, densest: str | None, authoritative: Collection[str]) -> dict[str, float]:
    """The measures of `audit.evaluation.routing_measures` of one question, also without ir_measures."""
    ranked = list(dict.fromkeys(passage for _, passage in one.evidence[:CUT]))
    recall = len(set(ranked) & set(one.gold)) / len(one.gold) if one.gold else float("nan")
    own = source_measures(one, densest, authoritative)
    ordered = ndcg_at(ranked, set(one.gold), CUT)
    own |= {"EvRecall@5": recall, "EvNDCG@5": float("nan") if ordered is None else ordered}
    return {name: own[name] for name in MEASURES}


def _densest(known: pd.DataFrame, named: str | None) -> str | None:
    sources = known["source_id"].tolist()
    if named is not None and named not in sources:
        raise NotInRunError(
            f"Source '{named}' is not in this run.{nearest(named, tuple(sources))} Nothing was computed. "
            f"Allowed: {', '.join(sources) or 'none, because the run has no sources'}."
        )
    if named is not None or known["words"].isna().all():
        return named
    return str(sources[int(known["words"].argmin())])


def _authoritative(known: pd.DataFrame) -> frozenset[str]:
    """The sources of the highest authority; none if all have the same."""
    if known["authority"].nunique() < 2:
        return frozenset()
    return frozenset(known["source_id"][known["authority"] == known["authority"].max()])


def shares_with_intervals(values: Floats) -> tuple[Floats, Floats, Floats]:
    """The mean of each row of values in [0, 1] over its questions, and the ends of its 95 % interval, as three arrays.

    values  rows x questions, NaN where a question has none

    Questions are independent (audit.stats.clustered). The ends are NaN where all values are equal and neither 0 nor 1: equal
    values show no spread, and Wilson's interval needs counts of hits.
    """
    asked, known = ~np.isnan(values), np.nan_to_num(values)
    with np.errstate(invalid="ignore"):
        means = known.sum(axis=1) / asked.sum(axis=1)
    return means, *clustered_ratio_interval(known, asked.astype(float), events=False)


def by_kind(values: pd.DataFrame, by: str) -> pd.DataFrame:
    """The values, with a single kind if `by` is 'all'. Raises AuditError for another `by`."""
    require_one_of(by, BY, "Group")
    return values.assign(kind=ALL) if by == "all" else values
