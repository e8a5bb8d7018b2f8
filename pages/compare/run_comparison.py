"""Two runs compared: which, in which direction, what they have in common, and how the rates changed and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import pandas as pd
import streamlit as st

from audit.charts.run_changes import points, points_interval
from audit.charts.style import handbook_names, percent
from audit.exports.sections.two_runs import changes_figure, distinct_names, parts_figure, steps_figure, whole_run
from audit.formatting import signed
from audit.metrics._shared import MANY_INTERVALS
from audit.metrics.editions import UPDATED, editions
from audit.metrics.most_moved import ABSENCE, DISAGREEMENT, LABEL, handbooks_moved, questions_moved
from audit.metrics.records import left_out
from audit.metrics.runs import BOTH, IN_ALL, LOST, REVEALED, VERDICTS, runs, runs_change, runs_mean, verdict
from audit.queries.lookup import handbook_list
from audit.stats.paired import SAME, UNKNOWN
from audit.store.runs import Run
from audit.tables import Column
from audit.terms import fill
from pages._shared.loaders import load, load_two, loaded_runs
from pages._shared.pickers import choose, named_by, pick_one, run_label
from pages._shared.previews import banner_of_other_run
from pages._shared.widgets import chart, counts, footer, linked_rows, say, server_commands, table, title_of

ONLY_RUN = "Only this run is loaded. To compare two runs, judge this one again or load another release with the same questions."
REJUDGE_COMMAND = "audit judge {run} --out rejudged --load"
FORWARD, BACK = "forward", "back"


@dataclass(frozen=True)
class ComparedRuns:
    """Two runs, compared from the first to the second; `run` is the one chosen in the bar, whose terms the page uses."""

    run: Run
    first: Run
    second: Run

    @property
    def names(self) -> tuple[str, str]:
        """What each run is called in charts and headings."""
        return distinct_names(self.first, self.second)

    @property
    def id(self) -> str:
        """Identifies the comparison in the keys of widgets."""
        return f"{self.first.key}_{self.second.key}"


def pick_two_runs(run: Run) -> ComparedRuns | None:
    """The run and another, by default from the one loaded earlier to the later one; None where no other run is loaded."""
    loaded = [loaded_run for loaded_run in loaded_runs() if loaded_run.has_pairs]
    others = {other.key: other for other in loaded if other.key != run.key}
    if not others:
        st.info(ONLY_RUN)
        server_commands(REJUDGE_COMMAND.format(run=run.key))
        return None
    left, right = st.columns(2, vertical_alignment="bottom")
    with left:
        other = others[_pick_other(loaded, run, others)]
    # A run that was judged again is loaded after the one that it comes from, so the later one is read as the change.
    older, newer = sorted((run, other), key=lambda loaded_run: loaded_run.loaded_at)
    directions = {FORWARD: ComparedRuns(run, older, newer), BACK: ComparedRuns(run, newer, older)}
    with right:
        chosen = choose(
            "Direction", list(directions), "read", format_func=lambda name: "from {} to {}".format(*directions[name].names)
        )
    banner_of_other_run(run, other)
    return directions[chosen]


def _pick_other(loaded: list[Run], run: Run, others: dict[str, Run]) -> str:
    """The key of the other run, kept in the address; by default the next older run, else the next newer."""
    index = [loaded_run.key for loaded_run in loaded].index(run.key)
    default = loaded[index + 1 if index + 1 < len(loaded) else index - 1].key
    key = pick_one("Compare with", list(others), "against", default, format_func=lambda key: run_label(others[key]))
    if "against" not in st.query_params:  # written at once, so that a copied link names both runs
        st.query_params["against"] = str(key)
    return str(key) if key in others else default


def nothing_in_common(run: Run, in_common: pd.DataFrame) -> bool:
    """Whether the runs have no pair in common, in which case the page says so."""
    any_pair = bool(in_common.set_index("what")["in_both"]["pairs"])
    if not any_pair:
        st.info(say(run, "The two runs have no pair in common: no {question} with the same two {handbooks} (by id) is in both."))
    return not any_pair


def common_data(compared: ComparedRuns, in_common: pd.DataFrame) -> None:
    """How much both runs have, and what is excluded because only one has it."""
    words = {"questions": compared.run.term("question", 2), "handbooks": compared.run.term("handbook", 2), "pairs": "pairs"}
    parts = []
    for what, both, first, second in in_common.itertuples(index=False, name=None):
        only_in_one = [f"{count:,} only in {name}" for count, name in zip((first, second), compared.names, strict=True) if count]
        parts.append(", ".join([f"{both:,} {words[what]} in both", *only_in_one]))
    counts(compared.run, "{shared}. Items in only one run are excluded.", shared="; ".join(parts))
    listed = load_two(left_out, compared.first, compared.second)
    if not listed.empty:
        with st.expander(f"List of excluded items ({len(listed):,})"):
            _excluded_items(compared, listed)

    books = load_two(editions, compared.first, compared.second)
    if books.empty:
        return
    updated = int((books["update"] == UPDATED).sum())
    with st.expander(say(compared.run, "{Handbooks} in both, {updated} of them updated", updated=f"{updated:,}")):
        table(books, f"editions_{compared.id}", editions.table.pick(compared.run))
        footer(books, "editions", compared.run, "editions")


def _excluded_items(compared: ComparedRuns, listed: pd.DataFrame) -> None:
    names = dict(zip(("first", "second"), compared.names, strict=True))
    columns = [replace(column, words=names) if column.name == "run" else column for column in left_out.table.pick(compared.run)]
    table(listed, f"left_out_{compared.id}", columns)
    footer(listed, "left-out", compared.run, "left_out", "shared")


AMOUNTS = (
    "From **{first}** to **{second}**, disagreeing pairs went from {before} to {after}, out of {pairs} pairs that both runs "
    "scored: **{revealed}** where answers were newly found, **{lost}** where answers were lost, and **{judged}** from different "
    "verdicts on pairs in which both runs have both answers."
)
WHERE_BOTH = {
    SAME: "Where both runs have both answers, all verdicts on disagreement are the same ({was} of these pairs disagree).",
    UNKNOWN: "Where both runs have both answers, the share that disagrees went from {was} to {now}, but there are too few "
    "{questions} to draw a conclusion.",
}
WHERE_BOTH_CHANGED = (
    "Where both runs have both answers, the share that disagrees went from {was} to {now}: {change} points "
    "(95 % interval {span})."
)
CHANGE_KINDS = {DISAGREEMENT: "disagreement", ABSENCE: "not addressed", LABEL: "any label"}
RATE_COLUMNS = (
    "organ", "rate", "first", "second", "change", "span", "moves", "count_first", "of_first", "count_second", "of_second",
)  # fmt: skip
MOVED = ("moved", "compared", "share", "revealed", "lost", "judged_new", "judged_gone", "change")


MEANS = (
    "Averaged over {organs}, each counting once: not addressed {r_abs} points, disagreement {r_div}, same advice {r_con}, "
    "disputed {questions} {pct_any_div}."
)


def headline(compared: ComparedRuns) -> None:
    """The change in a few sentences."""
    table = load_two(runs_change, compared.first, compared.second)
    rows = whole_run(table).set_index("part")
    both, all_pairs, revealed, lost = (cast(pd.Series, rows.loc[part]) for part in (BOTH, IN_ALL, REVEALED, LOST))
    names = dict(zip(("first", "second"), compared.names, strict=True))
    amounts = say(
        compared.run, AMOUNTS, **names, pairs=f"{all_pairs['pairs']:,}", before=f"{all_pairs['disagreeing_first']:,}",
        after=f"{all_pairs['disagreeing_second']:,}", revealed=signed(revealed["change"], 0),
        lost=signed(lost["change"], 0), judged=signed(both["change"], 0),
    )  # fmt: skip
    st.markdown(f"**{say(compared.run, VERDICTS[verdict(table)], **names)}** {amounts} {_where_both(compared, both)}")


def _where_both(compared: ComparedRuns, both: pd.Series) -> str:
    return say(
        compared.run, WHERE_BOTH.get(both["moves"], WHERE_BOTH_CHANGED), was=percent(both["r_div_first"]),
        now=percent(both["r_div_second"]), change=points(both["effect"]),
        span=points_interval(both["effect_low"], both["effect_high"]),
    )  # fmt: skip


def causes_section(compared: ComparedRuns) -> None:
    """Answers found or lost against different verdicts: disagreeing pairs step by step, and how often each part disagrees."""
    st.header("Were answers found, or judged differently?", anchor=False)
    table = load_two(runs_change, compared.first, compared.second)
    rows = whole_run(table)
    alt = (
        "Disagreeing pairs of the first run, the changes by found answers, lost answers and different verdicts, "
        "and of the second."
    )
    st.markdown("**Disagreeing pairs**, from one run to the other")
    chart(steps_figure(table, *compared.names), f"steps_{compared.id}", alt)
    st.markdown("**How often answers disagree**: in pairs that both runs have, and in those found or lost")
    chart(
        parts_figure(table, *compared.names),
        f"shares_{compared.id}",
        "Share of disagreeing pairs among pairs present in both runs, revealed and lost.",
    )
    effect = rows.set_index("part")["effect"]
    counts(
        compared.run,
        "Lines are 95 % intervals. The share of disagreement among present pairs changed by {all} points: {both} from different "
        "verdicts, {new} because newly found pairs disagree more or less often than the others, and {lost} because "
        "lost pairs did.",
        all=points(effect[IN_ALL], 2), both=points(effect[BOTH], 2), new=points(effect[REVEALED], 2),
        lost=points(effect[LOST], 2),
    )  # fmt: skip
    footer(table, "runs-change", compared.run, "runs_change")


def organ_section(compared: ComparedRuns) -> None:
    """The four rates per organ, as changes with paired intervals."""
    st.header(say(compared.run, "What changed, by {organ}"), anchor=False)
    frame = load_two(runs, compared.first, compared.second)
    figure, named = changes_figure(compared.run, frame)
    chart(
        figure, f"changes_{compared.id}", fill(compared.run, "Change of the four rates per {organ}, in points."),
    )  # fmt: skip
    counts(
        compared.run,
        "Change in percentage points from {first} to {second}, on the pairs that both runs scored. A filled dot "
        "means that the 95 % interval excludes 0. A hollow dot without a line means that too few {questions} changed for an "
        f"interval. {MANY_INTERVALS}",
        first=compared.names[0],
        second=compared.names[1],
    )
    with st.expander("Show as a table"):
        _rates_table(compared, named)
    means = load_two(runs_mean, compared.first, compared.second).set_index("rate")
    counts(compared.run, MEANS, **{rate: points(means.loc[rate, "change"]) for rate in means.index})
    footer(frame, "runs", compared.run, "runs", "runs_mean")


def _rates_table(compared: ComparedRuns, named: pd.DataFrame) -> None:
    by_name = {column.name: column for column in runs.table.pick(compared.run)}
    rows = named.assign(
        change=named["change"].map(points),
        span=[points_interval(*ends) or "too few" for ends in zip(named["change_low"], named["change_high"], strict=True)],
        **{side: named[side].map(percent) for side in ("first", "second")},
    )
    # Only the change has an interval. As text, the shares do not get an empty interval column of their own.
    as_text = {name: Column.text(name, by_name[name].heading) for name in ("first", "second", "change")}
    columns = {**by_name, **as_text, "span": Column.text("span", "95 % interval")}
    table(rows, f"rates_{compared.id}", [columns[name] for name in RATE_COLUMNS], rows=14)


def moved_section(compared: ComparedRuns) -> None:
    """The questions and handbooks that changed most, with links to their pages."""
    st.header("Where most changed", anchor=False)
    kind = choose("Changes in", list(CHANGE_KINDS), "moved_in", format_func=named_by(CHANGE_KINDS))
    questions = load_two(questions_moved, compared.first, compared.second, kind=kind)
    if questions.empty:
        counts(compared.run, "No pair changed in this respect.")
        return
    _linked_rows(compared, questions, kind, "question", questions_moved.table.pick(compared.run, "text", *MOVED))
    footer(questions, "questions-moved", compared.run, "questions_moved")
    names = handbook_names(load(handbook_list, compared.second))
    handbooks = load_two(handbooks_moved, compared.first, compared.second, kind=kind)
    rows = handbooks.assign(name=handbooks["handbook_id"].map(names))
    columns = (Column.text("name", title_of(compared.run, "handbook")), *handbooks_moved.table.pick(compared.run, *MOVED))
    _linked_rows(compared, rows, kind, "handbook", columns)
    counts(
        compared.run,
        "Ranked by the lower end of the interval, so that a few pairs do not lead by chance. Click a row to open it. The "
        "columns for found, lost and judged count disagreeing pairs. A pair counts for both of its {handbooks}.",
    )
    footer(handbooks, "handbooks-moved", compared.run, "handbooks_moved")


def _linked_rows(compared: ComparedRuns, rows: pd.DataFrame, kind: str, script: str, columns: Sequence[Column]) -> None:
    """The rows as links to the page `script`, which is also the parameter for what it opens."""
    key = f"{script}s_{compared.id}_{kind}"
    linked_rows(compared.second, rows, key, columns, script, lambda row: {script: str(row[f"{script}_id"])}, rows=8)
