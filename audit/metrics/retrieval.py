"""How well each retrieval strategy finds the section with the answer, at what cost, and compared with the first strategy."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from audit.errors import NotInRunError
from audit.evaluation.gold import first_gold_rank, hit_at, ndcg_at, reciprocal_rank
from audit.metrics import metric
from audit.metrics._shared import INTERVAL_METHOD, QUESTIONS, share_columns
from audit.queries.lookup import require_one_of
from audit.stats.clustered import clustered_ratio_interval
from audit.stats.intervals import Floats, with_interval
from audit.stats.means import mean_change
from audit.store.connection import Connection, frame
from audit.tables import Column, IntervalNote, Population, Row, TableSpec
from audit.terms import ALL
from audit.vocabulary import nearest

PASSAGES, FULL_DOCUMENT, FALLBACK = "passages", "full_document", "full_document_fallback"
MODES = (PASSAGES, FULL_DOCUMENT, FALLBACK)
MEASURES = ("hit_1", "hit_5", "mrr", "ndcg_5", "given")
GROUPS = ("all", "organ", "handbook")
CUTOFF = 5
"""Sections at the head of a list that the generator is given."""
SQL = """
select question, q.question_id, q.text as question_text, q.organ, h.handbook_id, strategy, mode, ranked, gold, seconds
from trials join questions q using (question) join handbooks h using (handbook)
order by trials.rowid
"""


def trials_with_measures(con: Connection) -> pd.DataFrame:
    """Every trial of the run with its measures, NaN where no gold is known. A section listed twice counts at its first rank.

    Columns: question (int), question_id, question_text, organ, handbook_id, strategy, mode (None: not reported), seconds, gold
    (number of gold sections), rank (of the first gold section from 1; NaN: not in the list), and MEASURES.
    """
    table = frame(con, SQL)
    # `fromkeys` drops repeats and keeps the order, so a section counts at its first rank.
    ranked = [list(dict.fromkeys(sections)) for sections in table["ranked"]]
    gold = [set(sections) for sections in table["gold"]]
    lists = list(zip(ranked, gold, strict=True))
    # None, not NaN: the release does not report it.
    mode = table["mode"].astype(object).where(table["mode"].notna(), None)
    measures: dict[str, Any] = {
        "mode": mode,
        "gold": [len(sections) for sections in gold],
        "rank": _as_floats(first_gold_rank(*trial) for trial in lists),
        "hit_1": _as_floats(hit_at(*trial, 1) for trial in lists),
        "hit_5": _as_floats(hit_at(*trial, CUTOFF) for trial in lists),
        "mrr": _as_floats(reciprocal_rank(*trial) for trial in lists),
        "ndcg_5": _as_floats(ndcg_at(*trial, CUTOFF) for trial in lists),
    }
    full_document = mode.isin((FULL_DOCUMENT, FALLBACK)).to_numpy()
    # The full document contains the gold section, wherever the search ranked it.
    measures["given"] = np.where(np.isnan(measures["hit_5"]), np.nan, np.maximum(measures["hit_5"], full_document))
    return table.drop(columns="ranked").assign(**measures)


def _as_floats(values: Any) -> Floats:
    return np.array([np.nan if value is None else value for value in values], dtype=float)


def strategies(table: pd.DataFrame) -> list[str]:
    """The strategies in the order of the release; the first is the comparator of the others."""
    return list(dict.fromkeys(table["strategy"]))


def by_cell(cells: pd.DataFrame, values: Floats) -> Floats:
    """Sums of `values` by row and question: float32, rows x questions; `cells` has columns row and question (codes from 0)."""
    rows, questions = int(cells["row"].max()) + 1, int(cells["question"].max()) + 1
    flat = np.bincount(cells["row"] * questions + cells["question"], values, rows * questions)
    return np.asarray(flat.reshape(rows, questions), dtype=np.float32)


COLUMN = {"organ": "organ", "handbook": "handbook_id"}
MEASURE_TITLES = {
    "hit_1": "Right section first (hit@1)", "hit_5": "In the first five (hit@5)", "given": "Reached the generator (given)",
    "mrr": "Place of the first (MRR)", "ndcg_5": "Order of the five (nDCG@5)",
}  # fmt: skip
"""Shares of searches first, then the means that are not shares."""
MEANS = frozenset(("mrr", "ndcg_5"))
MEANINGS = (
    "hit@k: a section that contains the answer is among the first k, as a share of searches. given: it is among the first five, "
    "or the full {handbook} was given. MRR: the mean of 1 / rank of the first such section, 0 where it is not in the list. "
    "nDCG@5: how close the order of the first five comes to the best possible order, on average."
)
MODE_TITLES = {
    "passages": "Passages",
    "full_document": "Full document, short enough",
    "full_document_fallback": "Full document, fallback",
    "mode_unknown": "Not reported",
}
SEARCHES = (
    "A search is one {question} looked up in one {handbook}. Searches without a known section are in no measure: nobody "
    "knows whether they missed."
)
RESAMPLED = IntervalNote(
    Population.QUESTIONS_TO_THESE,
    "{questions} are clusters; Wilson's with {questions} as trials where nothing, or everything, is found",
)
MEASURE_COLUMNS = tuple(
    Column.decimal(name, title, "mean") if name in MEANS else Column.share(name, title, "of searches")
    for name, title in MEASURE_TITLES.items()
)
STRATEGY = Column.text("strategy", "Strategy")
TRIALS = Column.count("trials", "Searches", "section known")
TABLE = TableSpec(
    "How well each retrieval strategy finds the section that contains the answer",
    (STRATEGY, TRIALS, QUESTIONS, Column.count("no_gold", "Searches", "section unknown"), *MEASURE_COLUMNS),
    (SEARCHES, MEANINGS, RESAMPLED),
)
COST_TABLE = TableSpec(
    "What each retrieval strategy passed to the generator, and at what cost",
    (
        STRATEGY,
        Column.count("total", "Searches"),
        *(Column.count(mode, title, "searches") for mode, title in MODE_TITLES.items()),
        Column.decimal("seconds", "CPU time", "s per search"),
    ),
    (
        "Over all searches, whether their section is known or not. Passages: the best ones were given. Full document: the entire "
        "{handbook} was given. CPU time: the mean over the searches for which the release reports it. A dash: not known.",
    ),
)
GLOSSARY = {
    "strategy": "A search method; several are run on the same {questions} to compare them.",
    "trial": "One search by one strategy: {a_question} in {a_handbook}, with the ranked results.",
    "hit@k": "The share of searches with a gold section among the first k that were found.",
    "MRR": "Mean reciprocal rank: 1 / rank of the first gold section, averaged over searches; 0 where it was not found.",
    "nDCG@5": "How close the order of the first five sections comes to the best possible one, from 0 to 1.",
}


@metric(sql=SQL, table=TABLE, glossary=GLOSSARY)
def retrieval(con: Connection, by: str = "all") -> pd.DataFrame:
    """How often each strategy of retrieval finds the section that contains the answer, and at what cost.

    A trial is one question searched for in one handbook by one strategy. A person who knows the handbook has named the
    sections that contain the answer (gold). hit_1 and hit_5: a gold section is first, or among the first five. mrr: the mean
    of 1 / rank of the first gold section, 0 where it is not in the list. ndcg_5: how close the first five come to the best
    possible order. given: a gold section was among what the generator was given, the first five or the whole
    document. A section listed twice counts at its first rank. Trials without gold are in no measure: unknown
    whether they missed.

    `by` is 'all', 'organ' (of the question) or 'handbook'. One row per group and strategy, in the order of the release:
        name                        str, the organ, the handbook's id, or '(all)'
        strategy                    str
        trials, questions           int, trials with gold, and the questions in them
        no_gold                     int, trials without
        hit_1, hit_5, mrr, ndcg_5,
        given                       float in [0, 1]; NaN where trials is 0
        ..._low, ..._high           95 % interval: questions as clusters, each with all its handbooks; NaN with fewer than
                                    two questions, and where all values are equal but not 0 or 1
        passages, full_document,
        full_document_fallback      int, trials (with gold or not) by what the generator was given
        mode_unknown                int, trials for which the release does not report it
        seconds                     float, mean CPU seconds per search; NaN where none is reported

    No row where the run has no trials. Raises AuditError for another `by`.
    Source: the measures as in Manning, Raghavan and Schuetze (2008), chapter 8, and Voorhees (1999);
    interval: audit.stats.clustered.
    """
    require_one_of(by, GROUPS, "Group")
    table = trials_with_measures(con)
    table["name"] = table[COLUMN[by]] if by in COLUMN else ALL
    order = pd.MultiIndex.from_product([sorted(table["name"].unique()), strategies(table)], names=["name", "strategy"])
    # A strategy that was not tried on a group has no row there.
    rows = order[order.isin(pd.MultiIndex.from_frame(table[["name", "strategy"]]))]
    table["row"] = rows.get_indexer(pd.MultiIndex.from_frame(table[["name", "strategy"]]))
    return _with_measures(_counted(table, rows), table[table["gold"] > 0])


def _counted(table: pd.DataFrame, rows: pd.MultiIndex) -> pd.DataFrame:
    """Names, strategies and plain counts, one row each."""
    mode = table["mode"].where(table["mode"].isin(MODES), "mode_unknown")
    modes = pd.crosstab(table["row"], mode).reindex(columns=[*MODES, "mode_unknown"])
    known = table[table["gold"] > 0].groupby("row")
    counts = {
        "trials": known.size(),
        "questions": known["question"].nunique(),
        "no_gold": (table["gold"] == 0).groupby(table["row"]).sum(),
        **{str(name): column for name, column in modes.items()},
    }
    trial_counts = pd.DataFrame(counts).reindex(range(len(rows))).fillna(0).astype(int)
    return rows.to_frame(index=False).join(trial_counts).assign(seconds=table.groupby("row")["seconds"].mean())


def _with_measures(counted: pd.DataFrame, known: pd.DataFrame) -> pd.DataFrame:
    """The measures and their intervals after the counts of trials."""
    after = list(counted.columns).index("passages")
    cells = pd.DataFrame({"row": known["row"].to_numpy(), "question": pd.factorize(known["question"])[0]})
    for number, name in enumerate(MEASURES):
        means = known.groupby("row")[name].mean().reindex(range(len(counted)))
        counted.insert(after + number, name, means.to_numpy(dtype=float))
    if known.empty:
        return counted
    denominator = by_cell(cells, np.ones(len(known)))
    for name in MEASURES:
        low, high = clustered_ratio_interval(by_cell(cells, known[name].to_numpy(dtype=float)), denominator, events=False)
        ends = pd.DataFrame({"low": low, "high": high}).reindex(range(len(counted)))
        counted = with_interval(counted, name, ends["low"], ends["high"])
    return counted


KEY = ["question", "handbook_id"]
CHANGE_COLUMNS = ("change", "change_low", "change_high", "questions", "moves")
PAIRED_COLUMNS = ("strategy", "against", "measure", "trials", "value", "first", *CHANGE_COLUMNS)
DIRECTION_WORDS = {"rises": "better", "falls": "worse"}
PAIRED_TABLE = TableSpec(
    "Each retrieval strategy compared with the first, search by search",
    (
        STRATEGY, Column.text("measure", "Measure", words=MEASURE_TITLES), Column.decimal("value", "Strategy's value"),
        Column.decimal("first", "First strategy's value"), Column.decimal("change", "Change"),
        Column.text("moves", "Direction", words=DIRECTION_WORDS), Column.count("questions", "{Questions}", "that differ"),
        Column.count("trials", "Searches", "made by both"),
    ),
    (
        "The comparator is the strategy that the release lists first. Change: a strategy's measure minus the comparator's, over "
        "the searches that both made, so what makes one search harder than another drops out.",
        "Better, worse: the interval of the change excludes 0. Too few questions: the two differ on fewer than five.",
        MEANINGS,
        IntervalNote(Population.QUESTIONS_TO_THESE, "they are resampled, each with all its {handbooks}"),
    ),
)  # fmt: skip
PAIRED_GLOSSARY = {
    "comparator": "The item that others are compared with, such as the retrieval strategy that a release lists first."
}


@metric(sql=SQL, table=PAIRED_TABLE, glossary=PAIRED_GLOSSARY)
def retrieval_paired(con: Connection) -> pd.DataFrame:
    """How much better or worse each strategy finds the section that contains the answer than the first one, search by search.

    Both were asked the same questions of the same handbooks, so what makes one question harder than another drops out, and a
    difference is more precise than either figure. The measures are those of `retrieval`.

    One row per further strategy and measure:
        strategy, against         str, the strategy, and the first one of the release
        measure                   str, hit_1, hit_5, mrr, ndcg_5 or given
        trials                    int, searches with gold that both made
        value, first              float in [0, 1], the measure of the strategy and of the first one on these
        change                    float in [-1, 1], value - first
        change_low, change_high   95 % interval: questions resampled with all their handbooks; NaN where fewer than five differ
        questions                 int, questions on which the two differ
        moves                     str, rises, falls, not clear, the same, or too few questions

    No row where fewer than two strategies were tried. Source of the interval: audit.stats.means.
    """
    table = trials_with_measures(con)
    # A search that the release lists twice would pair with itself.
    table = table[table["gold"] > 0].drop_duplicates([*KEY, "strategy"])
    # Without trials there is no first strategy, and the loop is empty.
    first, *others = strategies(table) or [""]
    rows = [row for other in others for row in _compared(table, first, other)]
    return pd.DataFrame(rows, columns=list(PAIRED_COLUMNS))


def _compared(table: pd.DataFrame, first: str, other: str) -> Iterator[dict[str, Any]]:
    sides = (table[table["strategy"] == name].set_index(KEY)[list(MEASURES)] for name in (other, first))
    both = next(sides).merge(next(sides), left_index=True, right_index=True, suffixes=("_value", "_first"))
    if both.empty:
        return
    question = pd.factorize(both.index.get_level_values("question"))[0]
    for measure in MEASURES:
        value, was = both[f"{measure}_value"].to_numpy(), both[f"{measure}_first"].to_numpy()
        row = {"strategy": other, "against": first, "measure": measure, "trials": len(both)}
        yield row | {"value": value.mean(), "first": was.mean(), **mean_change(value - was, question)}


# -- Searches that each retrieval strategy misses ------------------------------------------------------------


ANSWERS_SQL = """
with known as (
    select question, handbook, any_value(gold) as gold from trials where len(gold) > 0 group by question, handbook
)
select question, absent, unread_reason is not null as unread, gold, retrieval::varchar as retrieval
from known join answers using (question, handbook)
order by question, handbook
"""
FROM_GOLD, FROM_OTHER, NOTHING = "from gold", "from elsewhere", "cites nothing"
ANSWER_WORDS = {
    FROM_GOLD: "Cites the gold section",
    FROM_OTHER: "Cites other sections only",
    NOTHING: "Cites nothing",
    "absent": "Says that it is not addressed",
    "unread": "Could not be read",
}
NOBODY = "nobody"
"""Shown if no other strategy found the section."""
MISSED_TABLE = TableSpec(
    "What each retrieval strategy misses",
    (
        STRATEGY,
        Column.text("question_text", "{Question}"),
        Column.named("organ", "{Organ}"),
        Column.text("handbook", "{Handbook}"),
        Column.count("place", "Rank"),
        Column.text("found_by", "Found by", words={"": NOBODY}),
    ),
    (
        "Searches without a section that contains the answer among the first five. Rank: that of the first such section in the "
        "list; a dash: not in it. Found by: the other strategies that have one among their first five; empty where no other was "
        "tried. Sections that the others find come first, those that no strategy finds last.",
        SEARCHES,
    ),
    printed_rows=30,
)
ANSWERS_TABLE = TableSpec(
    "Whether answers rest on the section that contains them",
    (
        Column.text("answer", "Answer", words=ANSWER_WORDS),
        Column.count("count", "Answers"),
        Column.count("of", "Of", "answers"),
        Column.share("value", "Share"),
        INTERVAL_METHOD,
    ),
    (
        "Of the answers whose gold section is known: those that cite a passage of it, others only, or nothing; those that say "
        "that the {handbook} does not address the {question}, although it does; or could not be read.",
        RESAMPLED,
    ),
)
MISSED_GLOSSARY = {"gold section": "A section that a person who knows the {handbook} named as containing the answer."}
ANSWERS_GLOSSARY = {
    "citation": "Which passage a part of an answer rests on. A citation of a passage that was not given is flagged."
}


@metric(sql=SQL, table=MISSED_TABLE, glossary=MISSED_GLOSSARY)
def retrieval_missed(con: Connection, strategy: str) -> pd.DataFrame:
    """The searches of one strategy without a gold section among the first five, and which other strategies had one.

    Ordered by how many of the others found it: sections that only this strategy misses come first, those that no strategy finds
    last.

    One row per question and handbook:
        question_id, question_text, organ, handbook_id  str
        place          Int64, rank of the first gold section in the list, from 1; <NA>: not in the list
        found_by       str, the other strategies with a gold section among the first five, joined by commas
        others, found  int, other strategies that made the same search, and those of them that found it

    Trials without gold are left out: whether they missed is unknown. Raises NotInRunError when the run has no trial of it.
    """
    trials = trials_with_measures(con)
    known = trials[trials["gold"] > 0]
    if strategy not in strategies(trials):
        names = tuple(strategies(trials))
        available = f"It has {', '.join(names) or 'none'}."
        raise NotInRunError(f"No trial of strategy '{strategy}' is in this run.{nearest(strategy, names)} {available}")
    key = ["question_id", "handbook_id"]
    missed = known[(known["strategy"] == strategy) & (known["hit_5"] == 0)].set_index(key)
    others = known[known["strategy"] != strategy]
    finders = others[others["hit_5"] == 1].groupby(key)["strategy"].agg(list)
    missed = missed.join(finders.rename("found_by")).join(others.groupby(key).size().rename("others")).reset_index()
    lists = [names if isinstance(names, list) else [] for names in missed["found_by"]]
    return missed.assign(
        found_by=[", ".join(names) for names in lists],
        found=[len(names) for names in lists],
        others=missed["others"].fillna(0).astype(int),
        place=missed["rank"].astype("Int64"),
    )[["question_id", "question_text", "organ", "handbook_id", "place", "found_by", "others", "found"]].sort_values(
        "found", ascending=False, kind="stable", ignore_index=True
    )


@metric(sql=ANSWERS_SQL, table=ANSWERS_TABLE, glossary=ANSWERS_GLOSSARY)
def retrieval_answers(con: Connection) -> pd.DataFrame:
    """Of the questions whose answer is known to be in the handbook, the share answered from the gold section.

    Over the pairs of question and handbook for which some trial names the gold sections. from gold: the answer cites a passage of
    a gold section; from elsewhere: it cites others only; cites nothing: no citation of it is known; absent: it says that the
    handbook does not address the question, although it does; unread: the generator's reply could not be read.

    One row per kind of answer:
        answer                 str
        count, of              int, answers, and all answers with known gold
        value                  float in [0, 1], count / of; NaN where of is 0
        value_low, value_high  95 % interval, questions resampled, each with all its handbooks
        interval               str, how the interval was made

    A question that was not asked of the handbook counts nowhere.
    """
    table = frame(con, ANSWERS_SQL)
    states = pd.Series([_answer_state(row) for row in table.to_dict("records")], dtype=object, index=table.index)
    counts = table.assign(pairs=1)
    everything = pd.Series(True, index=table.index)
    return pd.DataFrame([{"answer": name, **share_columns(counts, states == name, everything)} for name in ANSWER_WORDS])


def _answer_state(row: Row) -> str:
    if row["unread"]:
        return "unread"
    if row["absent"]:
        return "absent"
    cited = _cited_sections(row["retrieval"])
    return NOTHING if not cited else FROM_GOLD if cited & set(row["gold"]) else FROM_OTHER


def _cited_sections(retrieval: Any) -> set[str]:
    """The ids of the retrieved sections that an answer cites; records in a release may have any shape."""
    record = json.loads(retrieval) if isinstance(retrieval, str) else {}
    listed = record.get("citations") if isinstance(record, dict) else None
    citations = [citation for citation in listed if isinstance(citation, dict)] if isinstance(listed, list) else []
    # An unknown citation names a passage that was not given, and supports nothing.
    cited = (
        citation["section_id"] for citation in citations if citation.get("known") is not False and citation.get("section_id")
    )
    return {str(section_id) for section_id in cited}
