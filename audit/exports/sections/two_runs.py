"""Two runs compared: a metric's own table, with which run is which and how many pairs are compared; and its figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd

from audit.charts.rates import AUDIT_RATES, DISAGREEMENT_RATE, rate_dots
from audit.charts.run_changes import change_dots, change_steps
from audit.charts.style import Figure
from audit.charts.transitions import transitions_figure
from audit.exports.context import ExportContext
from audit.exports.sections.model import TableMaker, most_of, own_table, total_of
from audit.exports.sections.pairs import named_organs
from audit.exports.table_model import Picture, Table
from audit.metrics.editions import UPDATED
from audit.metrics.most_moved import ABSENCE, DISAGREEMENT, KIND_MEANINGS, KIND_TITLES, LABEL
from audit.metrics.runs import BOTH, LOST, REVEALED, STEPS, VERDICTS, verdict
from audit.store.runs import Run
from audit.terms import ALL


def distinct_names(first: Run, second: Run) -> tuple[str, str]:
    """The names of two runs in a chart or a heading: their ids, or their keys where both have the same id."""
    return (first.key, second.key) if first.run_id == second.run_id else (first.run_id, second.run_id)


def whole_run(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of a metric of two runs that are about all organs together."""
    return frame[frame["organ"] == ALL]


# -- tables ------------------------------------------------------------------------------------------------------------


def which_is_which(context: ExportContext, frame: pd.DataFrame) -> tuple[str, str]:
    """Which run is the first, and which the second."""
    assert context.other is not None
    return (f"First: {context.run.title} ({context.run.key}).", f"Second: {context.other.title} ({context.other.key}).")


def compared_pairs(context: ExportContext, frame: pd.DataFrame | None = None) -> str:
    """How many pairs are compared: those that both runs have and gave a verdict to."""
    return f"{context.frame('runs_change').iloc[-1]['pairs']:,} pairs with a verdict in both runs"


of_two = partial(own_table, notes=which_is_which)


def _in_both(context: ExportContext, frame: pd.DataFrame) -> str:
    return f"{frame.set_index('what')['in_both']['pairs']:,} pairs in both"


def _left_out(context: ExportContext, frame: pd.DataFrame) -> str:
    counts = frame["what"].value_counts()
    kinds = [kind for kind in ("handbook", "question") if kind in counts]
    words = [f"{counts[kind]:,} {context.run.term(kind, int(counts[kind]))}" for kind in kinds]
    return " and ".join(words) or context.fill("nothing: both have the same {questions} and {handbooks}")


def _updated(context: ExportContext, frame: pd.DataFrame) -> str:
    updated = int((frame["update"] == UPDATED).sum())
    return context.fill(f"{len(frame):,} {{handbooks}} in both, {updated:,} of them updated")


def _of_the_run(context: ExportContext, table: Table) -> Table:
    summary = VERDICTS[verdict(table.frame)].format(second="The second run")
    first, second, *notes = table.notes
    return replace(table, frame=whole_run(table.frame), columns=table.columns[1:], notes=(first, second, summary, *notes))


def _moved(metric: str, kind: str, called: str, suffix: str = "") -> TableMaker:
    """The table of the questions or handbooks in whose pairs disagreement, absence or the label changed most."""

    def notes(context: ExportContext, frame: pd.DataFrame) -> tuple[str, ...]:
        return (*which_is_which(context, frame), f"Changed: a pair that {KIND_MEANINGS[kind]}.")

    def titled(context: ExportContext, table: Table) -> Table:
        return replace(table, title=f"{table.title} {KIND_TITLES[kind]}")

    n = _handbooks_moved if metric == "handbooks_moved" else _questions_moved
    return own_table(metric, n, stem=metric + suffix, notes=notes, finish=titled, called=called, kind=kind)


def _handbooks_moved(context: ExportContext, frame: pd.DataFrame) -> str:
    return context.fill(f"{len(frame):,} {{handbooks}}, {compared_pairs(context)}")


def _questions_moved(context: ExportContext, frame: pd.DataFrame) -> str:
    changed = f"{frame['moved'].sum():,} of {compared_pairs(context)} changed"
    return context.fill(f"{changed}, on {len(frame):,} {{questions}}")


def _occurring(context: ExportContext, table: Table) -> Table:
    # Most of the possible transitions never occur
    return replace(table, frame=table.frame[table.frame["pairs"] > 0])


def _asked_twice(context: ExportContext, frame: pd.DataFrame) -> str:
    return f"{frame.set_index('figure')['of']['read in both']:,} pairs that both judges were asked about"


def _judged_pairs(context: ExportContext, frame: pd.DataFrame) -> str:
    return f"{frame['n_first'].max():,} and {frame['n_second'].max():,} judged pairs"


def _disagreeing_pairs(context: ExportContext, frame: pd.DataFrame) -> str:
    first, second = (int(frame[side].sum()) for side in ("first", "second"))
    return f"{first:,} and {second:,} disagreeing pairs among those that both runs have"


TWO_RUN_TABLES: tuple[TableMaker, ...] = (
    of_two("shared", _in_both),
    of_two("left_out", _left_out),
    of_two("editions", _updated),
    of_two("runs", compared_pairs, stem="run_rates", called="rates_of_two"),
    of_two("runs_mean", compared_pairs, stem="run_means", called="mean_over_organs"),
    of_two(
        "runs_change",
        compared_pairs,
        stem="run_change",
        title="Whether a second run reveals disagreement or creates it",
        finish=_of_the_run,
        called="change_of_run",
    ),
    of_two("runs_change", compared_pairs, stem="run_change_organs", called="change_of_organs"),
    # The suffixes are older than the word "absence"; files keep their names.
    _moved("questions_moved", DISAGREEMENT, "questions_moved"),
    _moved("questions_moved", ABSENCE, "questions_moved_in_absence", "_silence"),
    _moved("questions_moved", LABEL, "questions_relabelled", "_label"),
    _moved("handbooks_moved", DISAGREEMENT, "handbooks_moved"),
    _moved("handbooks_moved", ABSENCE, "handbooks_moved_in_absence", "_silence"),
    _moved("handbooks_moved", LABEL, "handbooks_relabelled", "_label"),
    of_two("transitions", total_of("pairs", "pairs"), finish=_occurring),
    of_two("run_agreement", _asked_twice),
    of_two("topic_likeness", most_of("of", "pairs")),
    of_two("topics_in_one_theme", most_of("of", "pairs")),
    of_two("runs_cost", _judged_pairs),
    of_two("themes_moved", _disagreeing_pairs),
)
"""Every table of two runs, in order."""

# -- figures -----------------------------------------------------------------------------------------------------------


def steps_figure(frame: pd.DataFrame, first: str, second: str) -> Figure:
    """Disagreeing pairs from one run to the other, step by step; frame: the metric `runs_change`."""
    return change_steps(whole_run(frame), first, second, STEPS)


def parts_figure(frame: pd.DataFrame, first: str, second: str) -> Figure:
    """How often each part of the same frame disagrees."""
    return rate_dots(disagreement_of_parts(whole_run(frame), first, second), "name", (DISAGREEMENT_RATE,))


def changes_figure(run: Run, frame: pd.DataFrame) -> tuple[Figure, pd.DataFrame]:
    """The metric `runs` as changes of the four rates per organ with paired intervals, and its frame with readable names."""
    named = named_organs(run, frame)
    return change_dots(named, "organ_id", AUDIT_RATES, ALL, called="organ"), named


def steps(context: ExportContext) -> list[Picture]:
    """Disagreeing pairs from one run to the other, and how often each part disagrees: absence against judgement."""
    names, frame = _run_names(context), context.frame("runs_change")
    return [
        Picture(
            "run_steps",
            "Disagreeing pairs from the first run to the second: contributions of answers found or lost and of changed verdicts; "
            "lines are 95 % intervals",
            steps_figure(frame, *names),
        ),
        Picture(
            "run_parts",
            "Disagreement among pairs present in both runs, and among those found or lost",
            parts_figure(frame, *names),
        ),
    ]


def changes(context: ExportContext) -> list[Picture]:
    """The four rates per organ, as changes with paired intervals."""
    figure, _ = changes_figure(context.run, context.frame("runs"))
    title = "Change of the four rates from the first run to the second, by {organ}, in percentage points; filled: not 0"
    return [Picture("run_rates", context.fill(title), figure)]


def transitions(context: ExportContext) -> list[Picture]:
    """The label of each pair in the second run by its label in the first."""
    names, cells = _run_names(context), context.frame("transitions")
    return [Picture("transitions", "How two runs label the same pairs", transitions_figure(cells, *names))]


def _run_names(context: ExportContext) -> tuple[str, str]:
    assert context.other is not None
    return distinct_names(context.run, context.other)


def disagreement_of_parts(rows: pd.DataFrame, first: str, second: str) -> pd.DataFrame:
    """R_div of the pairs present in both runs, in either run, and of what was revealed or lost, where there is any.

    rows           one organ of audit.metrics.runs
    first, second  what the runs are called

    name (str), present (int, pairs), r_div, r_div_low, r_div_high.
    """
    parts_of_runs = [
        (BOTH, "first", f"in both, by {first}"),
        (BOTH, "second", f"in both, by {second}"),
        (REVEALED, "second", "newly found"),
        (LOST, "first", "no longer found"),
    ]
    by_part: dict[Any, dict[Any, Any]] = rows.set_index("part").to_dict("index")
    return pd.DataFrame(
        [
            _part_share(by_part[part], *side_and_name)
            for part, *side_and_name in parts_of_runs
            if part == BOTH or by_part[part]["pairs"]
        ]
    )


def _part_share(row: Mapping[Any, Any], side: str, name: str) -> dict[str, Any]:
    ends = {f"r_div{end}": row[f"r_div_{side}{end}"] for end in ("", "_low", "_high")}
    return {"name": f"{name} ({row['pairs']:,} {'pair' if row['pairs'] == 1 else 'pairs'})", "present": int(row["pairs"]), **ends}


TWO_RUN_PICTURES = (steps, changes, transitions)
"""Every figure of two runs, in order."""
