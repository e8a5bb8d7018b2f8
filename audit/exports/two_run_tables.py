"""Tables that compare two runs: a metric's own table, with which run is which and how many pairs are compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pandas as pd

from audit.exports.context import ExportContext
from audit.exports.table_model import Table
from audit.metrics.editions import UPDATED
from audit.metrics.most_moved import ABSENCE, DISAGREEMENT, KIND_MEANINGS, KIND_TITLES, LABEL
from audit.metrics.runs import VERDICTS, verdict
from audit.store.runs import Run
from audit.terms import ALL


def distinct_names(first: Run, second: Run) -> tuple[str, str]:
    """The names of two runs in a chart or a heading: their ids, or their keys where both have the same id."""
    return (first.key, second.key) if first.run_id == second.run_id else (first.run_id, second.run_id)


def which_is_which(context: ExportContext) -> tuple[str, str]:
    """Which run is the first, and which the second."""
    assert context.other is not None
    return (f"First: {context.run.title} ({context.run.key}).", f"Second: {context.other.title} ({context.other.key}).")


def compared_pairs(context: ExportContext) -> str:
    """How many pairs are compared: those that both runs have and gave a verdict to."""
    return f"{context.frame('runs_change').iloc[-1]['pairs']:,} pairs with a verdict in both runs"


def _two_run_table(context: ExportContext, metric: str, n: str, stem: str = "") -> Table:
    return context.table(metric, n, stem=stem, notes=which_is_which(context))


def shared(context: ExportContext) -> Table:
    """What both runs have, and what only one of them has."""
    in_both = context.frame("shared").set_index("what")["in_both"]
    return _two_run_table(context, "shared", f"{in_both['pairs']:,} pairs in both")


def left_out(context: ExportContext) -> Table:
    """The handbooks and questions that only one of the runs has."""
    counts = context.frame("left_out")["what"].value_counts()
    kinds = [kind for kind in ("handbook", "question") if kind in counts]
    words = [f"{counts[kind]:,} {context.run.term(kind, int(counts[kind]))}" for kind in kinds]
    nothing = context.fill("nothing: both have the same {questions} and {handbooks}")
    return _two_run_table(context, "left_out", " and ".join(words) or nothing)


def editions(context: ExportContext) -> Table:
    """Which handbooks were updated, which of their answers changed, and which labels."""
    frame = context.frame("editions")
    updated = int((frame["update"] == UPDATED).sum())
    return _two_run_table(context, "editions", context.fill(f"{len(frame):,} {{handbooks}} in both, {updated:,} of them updated"))


def rates_of_two(context: ExportContext) -> Table:
    """The four rates of both runs on what they share, and the change."""
    return _two_run_table(context, "runs", compared_pairs(context), "run_rates")


def mean_over_organs(context: ExportContext) -> Table:
    """The four rates averaged over organs, each counting once."""
    return _two_run_table(context, "runs_mean", compared_pairs(context), "run_means")


def change_of_run(context: ExportContext) -> Table:
    """Changes due to newly found answers, and changes due to different verdicts."""
    table = _change_table(context, "run_change")
    summary = VERDICTS[verdict(table.frame)].format(second="The second run")
    frame, columns = table.frame[table.frame["organ"] == ALL], table.columns[1:]
    first, second, *notes = table.notes
    title = "Whether a second run reveals disagreement or creates it"
    return replace(table, title=title, frame=frame, columns=columns, notes=(first, second, summary, *notes))


def change_of_organs(context: ExportContext) -> Table:
    """The decomposition for each organ of the question."""
    return _change_table(context, "run_change_organs")


def _change_table(context: ExportContext, stem: str) -> Table:
    return _two_run_table(context, "runs_change", compared_pairs(context), stem)


def _moved(name: str, metric: str, kind: str, suffix: str = "") -> Callable[[ExportContext], Table]:
    def maker(context: ExportContext) -> Table:
        frame = context.frame(metric, kind=kind)
        meaning = f"Changed: a pair that {KIND_MEANINGS[kind]}."
        n, notes = _moved_count(context, metric, frame), (*which_is_which(context), meaning)
        table = context.table(metric, n, stem=metric + suffix, notes=notes, kind=kind)
        return replace(table, title=f"{table.title} {KIND_TITLES[kind]}")

    maker.__name__ = name
    return maker


# The questions, and the handbooks, in whose pairs disagreement, absence or the label changed most. The suffixes are older than
# the word "absence"; files keep their names.
questions_moved = _moved("questions_moved", "questions_moved", DISAGREEMENT)
questions_moved_in_absence = _moved("questions_moved_in_absence", "questions_moved", ABSENCE, "_silence")
questions_relabelled = _moved("questions_relabelled", "questions_moved", LABEL, "_label")
handbooks_moved = _moved("handbooks_moved", "handbooks_moved", DISAGREEMENT)
handbooks_moved_in_absence = _moved("handbooks_moved_in_absence", "handbooks_moved", ABSENCE, "_silence")
handbooks_relabelled = _moved("handbooks_relabelled", "handbooks_moved", LABEL, "_label")


def _moved_count(context: ExportContext, metric: str, frame: pd.DataFrame) -> str:
    if metric == "handbooks_moved":
        return context.fill(f"{len(frame):,} {{handbooks}}, {compared_pairs(context)}")
    changed = f"{frame['moved'].sum():,} of {compared_pairs(context)} changed"
    return context.fill(f"{changed}, on {len(frame):,} {{questions}}")


def transitions(context: ExportContext) -> Table:
    """How the second run labels the pairs of each label of the first."""
    frame = context.frame("transitions")
    # Most of the possible transitions never occur
    occurring = frame[frame["pairs"] > 0]
    return replace(_two_run_table(context, "transitions", f"{occurring['pairs'].sum():,} pairs"), frame=occurring)


def run_agreement(context: ExportContext) -> Table:
    """How far the judges of both runs agree."""
    asked = context.frame("run_agreement").set_index("figure")["of"]["read in both"]
    return _two_run_table(context, "run_agreement", f"{asked:,} pairs that both judges were asked about")


def runs_cost(context: ExportContext) -> Table:
    """Tokens and seconds of a verdict in both runs."""
    frame = context.frame("runs_cost")
    return _two_run_table(context, "runs_cost", f"{frame['n_first'].max():,} and {frame['n_second'].max():,} judged pairs")


def topic_likeness(context: ExportContext) -> Table:
    """Whether both judges name the same topic."""
    return _two_run_table(context, "topic_likeness", f"{context.frame('topic_likeness')['of'].max():,} pairs")


def topics_in_one_theme(context: ExportContext) -> Table:
    """Whether both judges' topics fall into one theme."""
    return _two_run_table(context, "topics_in_one_theme", f"{context.frame('topics_in_one_theme')['of'].max():,} pairs")


def themes_moved(context: ExportContext) -> Table:
    """The share of each theme in the disagreement of two runs, and whether it rises or falls."""
    frame = context.frame("themes_moved")
    first, second = (int(frame[side].sum()) for side in ("first", "second"))
    return _two_run_table(context, "themes_moved", f"{first:,} and {second:,} disagreeing pairs among those that both runs have")
