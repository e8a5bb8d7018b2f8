"""What the judge's verdicts rest on: whether the words that it quotes stand in the answers, and why advice differs."""

from __future__ import annotations

import pandas as pd

from audit.metrics import metric
from audit.metrics._shared import BY_QUESTION, INTERVAL_METHOD, LABEL_NAMES, share_columns
from audit.store.connection import Connection, frame
from audit.tables import Column, TableSpec
from audit.vocabulary import DIFFERENCES, FOLLOW_BOTH

NOT_STATED = "not stated"
QUOTES_SQL = """
select question, label::varchar as label, quotes, count(*) as pairs
from quoted_pairs where label is not null and not prescreened and quotes <> 'none'
group by all order by all
"""
QUOTES_TABLE = TableSpec(
    "Whether the words that the judge quotes stand in the answers",
    (
        Column.text("label", "Label", words={"(all)": "all labels"}), Column.count("count", "Supported", "pairs"),
        Column.count("of", "With quotes", "pairs"), Column.share("value", "Supported", "share"), INTERVAL_METHOD,
    ),
    (
        "Supported: every word of the quotes stands in the answers, one after the other; white space, case and signs between "
        "words do not matter. Where both answer, both must be quoted. Pairs without any quote are not counted.",
        BY_QUESTION,
    ),
)  # fmt: skip
QUOTES_GLOSSARY = {"supported verdict": "A verdict of the judge whose quotes stand word for word in the two answers."}


@metric(sql=QUOTES_SQL, table=QUOTES_TABLE, glossary=QUOTES_GLOSSARY)
def judge_quotes(con: Connection) -> pd.DataFrame:
    """How often the quotes on which a verdict rests stand word for word in the answers.

    One row for all labels, then one per label with quoted pairs, in the order of the labels; none where no verdict has quotes:
        label                  str, '(all)' or a label
        count, of              int, pairs whose quotes stand in the answers; pairs with quotes
        value                  float in [0, 1], count / of
        value_low, value_high  95 % interval: questions as clusters, each with all its pairs; Wilson's with questions as trials
                               where none or all are
        interval               str, which of the two
    """
    counts = frame(con, QUOTES_SQL)
    if counts.empty:
        return pd.DataFrame(columns=["label", "count", "of", "value", "value_low", "value_high", "interval"])
    supported, every = counts["quotes"] == "supported", counts["pairs"] > 0
    labels = [label for label in LABEL_NAMES if (counts["label"] == label).any()]
    rows = [{"label": "(all)", **share_columns(counts, supported, every)}]
    rows += [{"label": label, **share_columns(counts, supported, counts["label"] == label)} for label in labels]
    return pd.DataFrame(rows)


DIFFERENCES_SQL = f"""
select question, coalesce(difference, '{NOT_STATED}') as difference, coalesce(follow_both, '{NOT_STATED}') as follow_both,
       count(*) as pairs
from judged_pairs
where disagrees and exists (from pairs where difference is not null or follow_both is not null)
group by all order by all
"""
PARTS = {"difference": "Why the advice differs", "follow_both": "Can one {patient} follow both?"}
DIFFERENCES_TABLE = TableSpec(
    "Why advice differs, in the judge's words",
    (
        Column.text("part", "Asked", words=PARTS), Column.text("name", "Answer"), Column.count("count", "Pairs"),
        Column.count("of", "Of", "disagreeing pairs"), Column.share("value", "Share"), INTERVAL_METHOD,
    ),
    ("Of the pairs that the judge calls divergent or contradictory. Not stated: it gave no answer.", BY_QUESTION),
)  # fmt: skip
DIFFERENCES_GLOSSARY = {
    "difference": "Why two answers differ in advice: other {patients}, another amount, time, edition, scope, or opposite advice."
}


@metric(sql=DIFFERENCES_SQL, table=DIFFERENCES_TABLE, glossary=DIFFERENCES_GLOSSARY)
def differences(con: Connection) -> pd.DataFrame:
    """Why two answers differ, and whether one patient can follow both, as the judge says of its disagreements.

    One row per part and answer, in the order of the vocabulary, 'not stated' last; none where the judge said neither:
        part                   str, 'difference' or 'follow_both'
        name                   str, a term of `audit.vocabulary`, or 'not stated'
        count, of              int, disagreeing pairs
        value                  float in [0, 1], count / of
        value_low, value_high  95 % interval: questions as clusters, each with all its pairs; Wilson's with questions as trials
                               where none or all are
        interval               str, which of the two
    """
    counts = frame(con, DIFFERENCES_SQL)
    every = counts["pairs"] > 0
    rows = [
        {"part": part, "name": name, **share_columns(counts, counts[part] == name, every)}
        for part, terms in (("difference", DIFFERENCES), ("follow_both", FOLLOW_BOTH))
        for name in (*map(str, terms), NOT_STATED)
        if len(counts)
    ]
    columns = ["part", "name", "count", "of", "value", "value_low", "value_high", "interval"]
    return pd.DataFrame(rows, columns=columns)
