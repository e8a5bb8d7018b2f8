"""Two judging protocols compared: their cost per pair, and whether they name the same topics of disagreement."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from audit.metrics import metric
from audit.metrics.themes_moved import shared_grouping
from audit.queries.aligned_runs import ALIGNED
from audit.queries.themes import GROUPING
from audit.release.taxonomy import Taxonomy
from audit.stats.clustered import share_by_question
from audit.stats.intervals import Floats
from audit.store.connection import Connection, frame
from audit.tables import Column, IntervalNote, Population, TableSpec
from audit.text.tokens import stems
from audit.vocabulary import DISAGREEING, WITH_TOPIC, sql_list

FIGURES = ("input tokens", "output tokens", "seconds")
AMOUNTS = "input_tokens", "output_tokens", "latency_s"
MEANS = ", ".join(f"count({name}) as n_{name}, avg({name}) as {name}" for name in AMOUNTS)
COST_SQL = f"""
select 'first' as run, {MEANS} from this.pairs where not prescreened
union all
select 'second', {MEANS} from other.pairs where not prescreened
"""
COST_TABLE = TableSpec(
    "Cost of a verdict in two runs",
    (
        Column.text("figure", "A pair took"),
        Column.count("n_first", "Pairs that state it", "first"),
        Column.count("n_second", "Pairs that state it", "second"),
        Column.decimal("first", "Mean", "first"),
        Column.decimal("second", "Mean", "second"),
        Column.decimal("ratio", "Second / first"),
    ),
    (
        "Over every pair put to the run's judge whose cost the release states, in both runs or in one. "
        "No intervals: these are actual costs, not a sample. Seconds depend on how many calls ran at once. A dash: not "
        "stated.",
    ),
)
COST_GLOSSARY = {"ablation": "The same data judged twice with one thing changed, such as the protocol, to see its effect."}


@metric(sql=COST_SQL, table=COST_TABLE, glossary=COST_GLOSSARY, compares=True)
def runs_cost(con: Connection) -> pd.DataFrame:
    """Tokens and seconds that a verdict took in each of two runs, and the ratio of the second to the first.

    Three rows, 'input tokens', 'output tokens' and 'seconds':
        figure             str
        n_first, n_second  int, judged pairs of each run that state it
        first, second      float, mean per such pair; NaN where none states it
        ratio              float, second / first; NaN where either is unknown or the first is 0

    Takes a connection to both runs (audit.store.connection.open_two). Source: the comparison of two judges' costs in
    arXiv:2605.29084, section 5.2.
    """
    runs = frame(con, COST_SQL).set_index("run")
    rows = [
        {
            "figure": figure,
            **{f"n_{run}": int(runs.loc[run, f"n_{name}"]) for run in runs.index},
            **{run: float(runs.loc[run, name]) for run in runs.index},
        }
        for figure, name in zip(FIGURES, AMOUNTS, strict=True)
    ]
    table = pd.DataFrame(rows)
    return table.assign(ratio=table["second"] / table["first"].where(table["first"] != 0))


TOPICS = f"""
{ALIGNED},
both_named as (
    select question, first as label, topic_first, topic_second
    from both_runs
    where first = second and first in {sql_list(WITH_TOPIC)}
      and trim(coalesce(topic_first, '')) <> '' and trim(coalesce(topic_second, '')) <> ''
)"""
TOPICS_SQL = f"with {TOPICS} select * from both_named order by all"
LIKENESS_WORDS = {"same words": "Same words", "likeness": "Shared words, of all words of both"}
LIKENESS_TABLE = TableSpec(
    "Whether two judges name the same topic",
    (
        Column.text("figure", "Figure", words=LIKENESS_WORDS),
        Column.count("of", "Of", "pairs"),
        Column.count("questions", "{Questions}"),
        Column.share("value", "Value"),
    ),
    (
        "Over pairs with the same label in both runs, other than absent and consistent, for which both judges name a topic. "
        "Words without endings and without words such as 'the'. Short topics that mean the same may share no word.",
        IntervalNote(Population.QUESTIONS_TO_THESE, "pairs on one {question} count as related"),
    ),
)
LIKENESS_GLOSSARY = {"likeness of topics": "Of the words of two topics, the share that both have (Jaccard)."}


@metric(sql=TOPICS_SQL, table=LIKENESS_TABLE, glossary=LIKENESS_GLOSSARY, compares=True)
def topic_likeness(con: Connection) -> pd.DataFrame:
    """How similar the topics are that two judges give to the pairs they label alike.

    same words: the share of pairs whose topics have the same set of stems of content words. likeness: the mean over pairs of
    the Jaccard index of those sets, shared stems over all stems of both.

    Two rows, 'same words' and 'likeness':
        figure                 str
        of, questions          int, pairs with the same label other than ABSENT and CONSISTENT and with a topic in both runs
        value                  float in [0, 1]; NaN where of is 0
        value_low, value_high  95 % interval, questions as clusters (audit.stats.clustered); NaN where it cannot be known

    Takes a connection to both runs. Source: Jaccard (1912), New Phytol. 11(2).
    """
    table = frame(con, TOPICS_SQL)
    pairs = [(set(stems(a)), set(stems(b))) for a, b in zip(table["topic_first"], table["topic_second"], strict=True)]
    jaccard = np.array([len(a & b) / len(a | b) if a | b else 1.0 for a, b in pairs])
    same = (jaccard == 1).astype(float)
    values = {"same words": (same, True), "likeness": (jaccard, False)}
    return pd.DataFrame([_share(figure, table["question"], *value) for figure, value in values.items()])


def _share(figure: str, question: pd.Series, values: Floats, events: bool) -> Mapping[str, object]:
    share = dict(zip(("value", "value_low", "value_high"), share_by_question(question, values, events=events), strict=True))
    return {"figure": figure, "of": len(values), "questions": question.nunique(), **share}


THEMES_SQL = f"""
with {TOPICS},
{GROUPING}
select question, mine.theme_id as first, theirs.theme_id as second
from both_named
join grouping mine on mine.divergence_topic = topic_first
join grouping theirs on theirs.divergence_topic = topic_second
where label in {sql_list(DISAGREEING)}
order by all
"""
SAME_THEME = "same theme"
THEMES_TABLE = TableSpec(
    "Whether two judges' topics fall into one theme",
    (
        Column.text("figure", "Figure", words={SAME_THEME: "Same theme"}),
        Column.count("of", "Of", "pairs"),
        Column.count("questions", "{Questions}"),
        Column.share("value", "Value"),
    ),
    (
        "Over pairs that both judges call divergent, or both contradictory, and whose topics both have a theme of the first run.",
        IntervalNote(Population.QUESTIONS_TO_THESE, "pairs on one {question} count as related"),
    ),
)
THEMES_GLOSSARY = {"same theme": "Both judges' topics of a pair belong to one theme, in whatever words."}


@metric(sql=THEMES_SQL, table=THEMES_TABLE, glossary=THEMES_GLOSSARY, compares=True, by_theme=True)
def topics_in_one_theme(con: Connection, taxonomy: Taxonomy, against: Taxonomy | None = None) -> pd.DataFrame:
    """The share of pairs labelled alike by two judges whose two topics belong to one theme.

    `taxonomy` is that of the first run; `against`, that of the second, must share themes with it, as for `themes_moved`.

    One row, 'same theme': figure, of, questions, value, value_low, value_high as in `topic_likeness`, over pairs that are
    divergent in both runs or contradictory in both, and whose topics are both in a theme.

    Takes a connection to both runs. Raises AuditError when the taxonomies share no theme.
    """
    table = frame(con, THEMES_SQL, shared_grouping(taxonomy, against))
    same = np.asarray(table["first"] == table["second"], dtype=float)
    return pd.DataFrame([_share(SAME_THEME, table["question"], same, events=True)])
