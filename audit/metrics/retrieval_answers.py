"""Searches that each retrieval strategy misses, and whether answers rest on the section that contains them."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd

from audit.errors import NotInRunError
from audit.metrics import metric
from audit.metrics._shared import INTERVAL_METHOD, share_columns
from audit.metrics.retrieval import RESAMPLED, SEARCHES, SQL, STRATEGY, strategies, trials_with_measures
from audit.store.connection import Connection, frame
from audit.tables import Column, Row, TableSpec
from audit.vocabulary import nearest

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
