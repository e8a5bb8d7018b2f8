"""How well each system routes questions to sources, and how well its evidence covers them; and compared with a baseline."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from audit.errors import NotInRunError
from audit.evaluation.gold import ndcg_at
from audit.evaluation.routing_measures import CUT, MEASURES, RoutedQuestion, source_measures
from audit.metrics import metric
from audit.metrics._shared import MANY_INTERVALS
from audit.metrics._systems import SYSTEM, identity, system_number, systems_of
from audit.queries.lookup import require_one_of
from audit.stats.clustered import clustered_ratio_interval
from audit.stats.intervals import Floats
from audit.stats.means import mean_change, mean_interval
from audit.store.connection import Connection, frame
from audit.tables import Column, IntervalNote, Population, TableSpec
from audit.terms import ALL
from audit.vocabulary import nearest

# -- Shared by the metrics of routing ------------------------------------------------------------------------


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
MEASURE_TITLES = {
    "PrimaryAcc": "Right source first (PrimaryAcc)", "Top2Hit": "Right source in first two (Top2Hit)",
    "EDR": "From densest source (EDR)", "AuthCov": "Authority in evidence (AuthCov)",
    "EvRecall@5": "Known sections found (EvRecall@5)", "EvNDCG@5": "Order of sections (EvNDCG@5)",
    "CrossEv@5": "All needed sources (CrossEv@5)",
}  # fmt: skip
"""Measure -> what a table calls it, with its name in S1."""
MEASURE = Column.text("measure", "Measure", words=MEASURE_TITLES)
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
    "EDR: the mean share of the first five passages that is from the densest source; lower is less dominated. AuthCov: the share "
    "of {questions} with a passage of the sources of highest authority among the first five, of those that need one of them.",
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
        MANY_INTERVALS,
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


# -- Each source in each system ------------------------------------------------------------------------------


SOURCE_SHARES_SQL = """
select question, system, source_id, budget
from routes join sources using (source) join questions using (question)
where budget is not null and ($organ is null or organ = $organ)
order by system, source, question
"""
SOURCE_SHARES_SOURCES = """
select source_id, authority, sum(len(text))::double / nullif(sum(sum(len(text))) over (), 0) as text
from sources left join source_handbooks using (source) left join sections using (handbook)
group by source, source_id, authority order by source
"""
SOURCE_SHARES_TABLE = TableSpec(
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
SOURCE_SHARES_GLOSSARY = {
    "coverage of a source": "Of the {questions} that need a source, the share whose evidence has a passage of it."
}
SHARES = ("first", "evidence", "covered")
SOURCE_SHARES_COLUMNS = (
    "system_id", "name", "source_id", "kind", "authority", "routed", "first", "first_low", "first_high", "budget", "budget_low",
    "budget_high", "evidence", "evidence_low", "evidence_high", "text", "required", "covered", "covered_low", "covered_high",
)  # fmt: skip


@metric(sql=SOURCE_SHARES_SQL, table=SOURCE_SHARES_TABLE, glossary=SOURCE_SHARES_GLOSSARY)
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
    sources: list[Any] = frame(con, SOURCE_SHARES_SOURCES).to_dict("records")
    cells = pd.DataFrame(list(_cells(con, organ, sources)), columns=["question", "system", "source_id", "kind", *SHARES])
    cells = by_kind(
        cells.merge(frame(con, SOURCE_SHARES_SQL, {"organ": organ}), how="left", on=["question", "system", "source_id"]), by
    )
    return pd.DataFrame(list(_source_shares_rows(con, cells, sources)), columns=list(SOURCE_SHARES_COLUMNS))


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


def _source_shares_rows(con: Connection, cells: pd.DataFrame, sources: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
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
