"""Tables of how well retrieval finds the answers of a run: by strategy, cost, organ and handbook, and what was missed."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from audit.charts.style import handbook_names
from audit.errors import AuditError
from audit.exports.context import ExportContext
from audit.exports.table_model import Table, table_of
from audit.metrics.retrieval import COST_TABLE, MODE_TITLES, TABLE
from audit.queries.lookup import handbook_list
from audit.tables import Column, TableSpec

NO_TRIALS = (
    "Run {key} has no trials of retrieval: the quality of its retrieval is unknown, not zero. A release has "
    "them in trials.jsonl; `audit run` and `audit retrieve` write them."
)
NO_GOLD = "No trial of run {key} names the section that contains the answer, so retrieval cannot be scored."
ONE_STRATEGY = "Only one strategy was tried on the searches of run {key}: it cannot be compared with another."
NO_ANSWER = "No answer of run {key} belongs to a search with a known section, so it is unknown whether answers are based on it."


def retrieval(context: ExportContext) -> Table:
    """The measures of each strategy with intervals."""
    return context.table("retrieval", _searches(context, trials(context)))


def retrieval_cost(context: ExportContext) -> Table:
    """What each strategy passed to the generator, and its CPU time."""
    frame = trials(context)
    total = frame[list(MODE_TITLES)].sum(axis=1).astype(int)
    used = tuple(column for column in COST_TABLE.columns if column.name not in MODE_TITLES or frame[column.name].sum())
    spec = TableSpec(COST_TABLE.title, used, COST_TABLE.notes)
    n = f"{total.max():,} searches of a strategy at most"
    return table_of("retrieval_cost", spec, frame.assign(total=total), context.run, n)


def retrieval_paired(context: ExportContext) -> Table:
    """Each strategy compared with the first, on the searches that both made."""
    searches = _searches(context, trials(context))
    frame = context.frame("retrieval_paired")
    if frame.empty:
        raise AuditError(ONE_STRATEGY.format(key=context.run.key))
    return context.table("retrieval_paired", searches, notes=(f"The first strategy: {frame['against'].iloc[0]}.",))


def retrieval_answers(context: ExportContext) -> Table:
    """Answers to the questions whose answer is known to be in the handbook."""
    trials_with_gold(context)
    total = int(context.frame("retrieval_answers")["of"].iloc[0])
    if not total:
        raise AuditError(NO_ANSWER.format(key=context.run.key))
    return context.table("retrieval_answers", f"{total:,} answers whose section is known")


def retrieval_organs(context: ExportContext) -> Table:
    """The measures of each strategy by organ of the question."""
    return _retrieval_by(context, "organ", ", by {organ} of the {question}")


def retrieval_handbooks(context: ExportContext) -> Table:
    """The measures of each strategy by handbook."""
    return _retrieval_by(context, "handbook", ", by {handbook}")


def _retrieval_by(context: ExportContext, group: str, suffix: str) -> Table:
    trials_with_gold(context)
    names = handbook_names(handbook_list(context.con)) if group == "handbook" else {}
    first = Column.named("name", f"{{{group.capitalize()}}}")
    columns = (first, *(column for column in TABLE.columns if column.name != "no_gold"))
    notes = (*TABLE.notes, "Few searches make wide intervals.")
    frame = context.frame("retrieval", by=group)
    named = frame.assign(name=frame["name"].map(lambda name: names.get(name, name)))
    spec = TableSpec(TABLE.title + suffix, columns, notes, printed_rows=30)
    return table_of(f"retrieval_{group}s", spec, named, context.run, _searches(context, context.frame("retrieval")))


def retrieval_missed(context: ExportContext) -> Table:
    """The searches without a gold section among the first five, strategy by strategy."""
    known = trials_with_gold(context)
    strategies = list(known["strategy"][known["trials"] > 0])
    frame = pd.concat([context.frame("retrieval_missed", strategy=name).assign(strategy=name) for name in strategies])
    names = handbook_names(handbook_list(context.con))
    # Where no other strategy made the search, none could have found the section: unknown, not "nobody".
    found_by = frame["found_by"].where(frame["others"] > 0, None)
    n = f"{len(frame):,} of {known['trials'].sum():,} searches of a strategy with a known section"
    table = context.table("retrieval_missed", n, strategy=strategies[0])
    with_names = frame.assign(handbook=frame["handbook_id"].map(names), found_by=found_by)
    return replace(table, frame=with_names)


def trials(context: ExportContext) -> pd.DataFrame:
    """The measures of each strategy. Raises AuditError where the run has no trials."""
    frame = context.frame("retrieval")
    if frame.empty:
        raise AuditError(NO_TRIALS.format(key=context.run.key))
    return frame


def trials_with_gold(context: ExportContext) -> pd.DataFrame:
    """Like the table above. Raises AuditError where no trial names the section that contains the answer."""
    frame = trials(context)
    if not frame["trials"].sum():
        raise AuditError(NO_GOLD.format(key=context.run.key))
    return frame


def _searches(context: ExportContext, frame: pd.DataFrame) -> str:
    max_trials, unknown = int(frame["trials"].max()), int(frame["no_gold"].max())
    searches = f"{max_trials:,} searches with a known section on {frame['questions'].max():,} {{questions}}"
    more = f"; {unknown:,} more without one" if unknown else ""
    return context.fill(("" if frame["trials"].nunique() == 1 else "up to ") + searches + more)
