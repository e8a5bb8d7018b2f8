"""How well retrieval finds the answers of a run: by strategy, cost, organ and handbook, and what was missed."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from audit.charts.rates import Rate, rate_dots
from audit.charts.style import Figure, handbook_names
from audit.errors import NotInRunError
from audit.exports.context import ExportContext
from audit.exports.sections.model import Drawing, SectionSpec, TableMaker, if_empty, listed_as, most_of, own_table, picture_of
from audit.exports.table_model import Table
from audit.metrics import Metric
from audit.metrics.retrieval import (
    COST_TABLE,
    MEANINGS,
    MEANS,
    MEASURE_TITLES,
    MODE_TITLES,
    TABLE,
    retrieval,
    retrieval_answers,
    retrieval_missed,
    retrieval_paired,
)
from audit.metrics.retrieval_configurations import MEANINGS as CONFIGURATION_MEANINGS
from audit.metrics.retrieval_configurations import MEASURE_TITLES as CONFIGURATION_TITLES
from audit.metrics.retrieval_configurations import retrieval_changes, retrieval_configurations
from audit.queries.lookup import handbook_list
from audit.tables import Column

NO_TRIALS = (
    "Run {key} has no trials of retrieval: the quality of its retrieval is unknown, not zero. A release has "
    "them in trials.jsonl; `audit run` and `audit retrieve` write them."
)
NO_GOLD = "No trial of run {key} names the section that contains the answer, so retrieval cannot be scored."
ONE_STRATEGY = "Only one strategy was tried on the searches of run {key}: it cannot be compared with another."
NO_ANSWER = "No answer of run {key} belongs to a search with a known section, so it is unknown whether answers are based on it."
RATES = tuple(Rate(name, title, "trials", "searches", index=name in MEANS) for name, title in MEASURE_TITLES.items())


def _strategies(frame: pd.DataFrame) -> Figure:
    return rate_dots(frame, "strategy", RATES)


STRATEGIES = SectionSpec(
    retrieval,
    key="measures",
    drawing=Drawing(
        "retrieval",
        "How well each strategy of retrieval finds the section that contains the answer, with 95 % intervals",
        _strategies,
        "How well each strategy finds the section that contains the answer, with 95 % intervals.",
        key="measures",
    ),
    reading=MEANINGS + " Lines are 95 % intervals for other {questions}.",
)


def _search_by_search(metric: Metric[...], what: str, searches: str) -> SectionSpec:
    """Each strategy or configuration (`what`) beside the first one, over the searches that both made."""
    return SectionSpec(
        metric,
        key=metric.name,
        columns=(what, "measure", "change", "moves", "questions", searches),
        sentence="Both made the same searches, so differences in difficulty between {questions} cancel out.",
        rows=15,
    )


STRATEGY_CHANGES = _search_by_search(retrieval_paired, "strategy", "trials")
CONFIGURATION_CHANGES = _search_by_search(retrieval_changes, "configuration", "searches")
CITING = SectionSpec(
    retrieval_answers,
    key="answered",
    heading="Answers that cite the known section",
    empty="No answer of this run comes from a search with a known section.",
)
BY_GROUP = SectionSpec(
    retrieval,
    key="by",
    heading="Where the section is harder to find",
    columns=("strategy", "trials", "hit_5", "hit_1", "mrr"),
    sentence="With few searches the intervals are wide: read each share together with its interval.",
)
MISSED = SectionSpec(
    retrieval_missed,
    key="missed",
    heading="Searches that a strategy missed",
    empty="This strategy found the known section in every search.",
    columns=("question_text", "handbook", "place", "found_by"),
)
COST_HEADING = "What the generator was given, and at what cost"


CONFIGURATION_RATES = tuple(Rate(name, title, "searches", "searches", index=True) for name, title in CONFIGURATION_TITLES.items())
NO_CONFIGURATIONS = (
    "Run {key} has no search trials: how configurations of retrieval compare is unknown, not zero. A release has them in "
    "search_trials.jsonl; `audit retrieve --ablate` writes them."
)


def _configurations(frame: pd.DataFrame) -> Figure:
    rows = frame.assign(row=frame["comparison"] + ": " + frame["configuration"])
    return rate_dots(rows, "row", CONFIGURATION_RATES, called="configuration")


CONFIGURATIONS = SectionSpec(
    retrieval_configurations,
    key="configurations",
    drawing=Drawing(
        "retrieval_configurations",
        "How well each configuration of retrieval finds what contains the answer, with 95 % intervals",
        _configurations,
        "Precision, recall, nDCG and MRR of each configuration, with 95 % intervals.",
    ),
    reading=CONFIGURATION_MEANINGS,
    columns=("configuration", "passages", "precision", "recall", "ndcg", "mrr", "searches", "seconds"),
    decimals=3,
)


def with_totals(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The costs of strategies with the column `total`, and the ways of handing over passages that a strategy used."""
    used = [name for name in MODE_TITLES if frame[name].sum()]
    return frame.assign(total=frame[list(MODE_TITLES)].sum(axis=1).astype(int)), used


# -- export ------------------------------------------------------------------------------------------------------------


def _no_trials(context: ExportContext) -> str:
    return NO_TRIALS.format(key=context.run.key) if context.frame("retrieval").empty else ""


def _no_gold(context: ExportContext) -> str:
    return _no_trials(context) or ("" if context.frame("retrieval")["trials"].sum() else NO_GOLD.format(key=context.run.key))


def _no_answer(context: ExportContext, frame: pd.DataFrame) -> str:
    return "" if frame["of"].iloc[0] else NO_ANSWER.format(key=context.run.key)


def _searches(context: ExportContext, frame: pd.DataFrame) -> str:
    tried = context.frame("retrieval")
    max_trials, unknown = int(tried["trials"].max()), int(tried["no_gold"].max())
    searches = f"{max_trials:,} searches with a known section on {tried['questions'].max():,} {{questions}}"
    more = f"; {unknown:,} more without one" if unknown else ""
    return context.fill(("" if tried["trials"].nunique() == 1 else "up to ") + searches + more)


def _costs(context: ExportContext, table: Table) -> Table:
    frame, used = with_totals(table.frame)
    columns = tuple(column for column in table.columns if column.name not in MODE_TITLES or column.name in used)
    return replace(table, frame=frame, columns=columns)


def _costed(context: ExportContext, frame: pd.DataFrame) -> str:
    return f"{with_totals(frame)[0]['total'].max():,} searches of a strategy at most"


def _by(group: str, suffix: str) -> TableMaker:
    """What makes the table of the measures of each strategy by organ of the question, or by handbook."""
    first = Column.named("name", f"{{{group.capitalize()}}}")
    columns = (first, *(column for column in TABLE.columns if column.name != "no_gold"))
    notes = (*TABLE.notes, "Few searches make wide intervals.")
    spec = replace(TABLE, title=TABLE.title + suffix, columns=columns, notes=notes, printed_rows=30)

    def named(context: ExportContext, table: Table) -> Table:
        names = handbook_names(handbook_list(context.con)) if group == "handbook" else {}
        return replace(table, frame=table.frame.assign(name=table.frame["name"].map(lambda name: names.get(name, name))))

    return own_table(retrieval, _searches, stem=f"retrieval_{group}s", spec=spec, needs=_no_gold, finish=named, by=group)


@listed_as("retrieval_missed")
def missed(context: ExportContext) -> Table:
    """The searches without a gold section among the first five, strategy by strategy."""
    if reason := _no_gold(context):
        raise NotInRunError(reason)
    known = context.frame("retrieval")
    strategies = list(known["strategy"][known["trials"] > 0])
    frame = pd.concat([context.frame("retrieval_missed", strategy=name).assign(strategy=name) for name in strategies])
    names = handbook_names(handbook_list(context.con))
    # Where no other strategy made the search, none could have found the section: unknown, not "nobody".
    found_by = frame["found_by"].where(frame["others"] > 0, None)
    n = f"{len(frame):,} of {known['trials'].sum():,} searches of a strategy with a known section"
    table = context.table("retrieval_missed", n, strategy=strategies[0])
    return replace(table, frame=frame.assign(handbook=frame["handbook_id"].map(names), found_by=found_by))


def _answers(context: ExportContext, frame: pd.DataFrame) -> str:
    return f"{int(frame['of'].iloc[0]):,} answers whose section is known"


RETRIEVAL_TABLES: tuple[TableMaker, ...] = (
    own_table(retrieval, _searches, needs=_no_trials),
    own_table(
        retrieval_paired,
        _searches,
        needs=_no_trials,
        missing=if_empty(ONE_STRATEGY),
        notes=lambda context, frame: (f"The first strategy: {frame['against'].iloc[0]}.",),
    ),
    own_table(retrieval, _costed, stem="retrieval_cost", spec=COST_TABLE, needs=_no_trials, finish=_costs),
    own_table(retrieval_answers, _answers, needs=_no_gold, missing=_no_answer),
    _by("organ", ", by {organ} of the {question}"),
    _by("handbook", ", by {handbook}"),
    missed,
    own_table(
        retrieval_configurations, most_of("searches", "searches whose answer is known"), missing=if_empty(NO_CONFIGURATIONS)
    ),
    own_table(retrieval_changes, most_of("searches", "searches made by both"), missing=if_empty(NO_CONFIGURATIONS)),
)
"""Every table of retrieval, in order."""
RETRIEVAL_PICTURES = (
    picture_of(STRATEGIES, lambda context, frame: _no_gold(context), called="strategies"),
    picture_of(CONFIGURATIONS, if_empty(NO_CONFIGURATIONS)),
)
"""Its figures."""
