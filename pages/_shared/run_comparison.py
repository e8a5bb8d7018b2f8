"""Which two runs are compared, in which direction, and what they share."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pandas as pd
import streamlit as st

from audit.charts.rates import AUDIT_RATES, DISAGREEMENT_RATE, rate_dots
from audit.charts.run_changes import change_dots, change_steps, points, points_interval
from audit.charts.style import handbook_names, percent
from audit.exports.figures import disagreement_of_parts
from audit.exports.two_run_tables import distinct_names
from audit.metrics.most_moved import ABSENCE, DISAGREEMENT, LABEL, handbooks_moved, questions_moved
from audit.metrics.run_overlap import left_out
from audit.metrics.runs import runs
from audit.metrics.runs_change import BOTH, IN_ALL, LOST, REVEALED, STEPS, VERDICTS, runs_change, verdict
from audit.number_format import signed
from audit.queries.picker_options import handbook_list
from audit.stats.paired import SAME, UNKNOWN
from audit.store.runs import Run
from audit.tables import Column
from audit.terms import ALL, display_name
from pages._shared.loaders import load, load_two, loaded_runs
from pages._shared.pickers import choose, pick_one
from pages._shared.tables import clicked_row, table
from pages._shared.terms import fill, say, title_of
from pages._shared.widgets import chart, counts, footer, link

ONLY_RUN = "Only this run is loaded. Judge it again, or load another release over the same questions, to compare the two:"
AGAIN = "audit judge {run} --out rejudged --load"
COMMAND = "audit metrics runs --run {first} --against {second}"
FORWARD, BACK = "forward", "back"


@dataclass(frozen=True)
class Two:
    """Two runs, read from the first to the second; `run` is the one that the page is on, in whose words it speaks."""

    run: Run
    first: Run
    second: Run

    @property
    def names(self) -> tuple[str, str]:
        """What each is called in a chart or a heading."""
        return distinct_names(self.first, self.second)

    @property
    def id(self) -> str:
        """For the keys of widgets."""
        return f"{self.first.key}_{self.second.key}"


def pick_two(run: Run) -> Two | None:
    """The run and another one, from the one loaded earlier to the later one unless it is turned round; None without another."""
    loaded = loaded_runs()
    others = {other.key: other for other in loaded if other.key != run.key}
    if not others:
        st.info(ONLY_RUN)
        st.code(AGAIN.format(run=run.key), language="bash", wrap_lines=True)
        return None
    left, right = st.columns(2, vertical_alignment="bottom")
    with left:
        other = others[_other(loaded, run, others)]
    older, newer = sorted((run, other), key=lambda each: each.loaded_at)
    ways = {FORWARD: Two(run, older, newer), BACK: Two(run, newer, older)}
    with right:
        way = choose("Read", list(ways), "read", format_func=lambda name: "from {} to {}".format(*ways[name].names))
    return ways[way]


def _other(loaded: list[Run], run: Run, others: dict[str, Run]) -> str:
    """The key of the other run, kept in the address: the next older one to begin with, else the next newer."""
    place = [each.key for each in loaded].index(run.key)
    default = loaded[place + 1 if place + 1 < len(loaded) else place - 1].key
    key = pick_one("Compare with", list(others), "against", default, format_func=lambda name: f"{others[name].title} ({name})")
    if "against" not in st.query_params:
        st.query_params["against"] = str(key)
    return str(key) if key in others else default


def nothing_shared(run: Run, in_common: pd.DataFrame) -> bool:
    """Whether the runs have no pair in common; then it is said."""
    shares = bool(in_common.set_index("what")["in_both"]["pairs"])
    if not shares:
        st.info(say(run, "The two runs share no pair: no {question} with two {handbooks} of the same ids stands in both."))
    return not shares


def what_is_shared(two: Two, in_common: pd.DataFrame) -> None:
    """How much both runs have, and what is left out because only one has it."""
    words = {"questions": two.run.term("question", 2), "handbooks": two.run.term("handbook", 2), "pairs": "pairs"}
    told = []
    for what, both, here, there in in_common.itertuples(index=False, name=None):
        alone = [f"{count:,} only in {name}" for count, name in zip((here, there), two.names, strict=True) if count]
        told.append(", ".join([f"{both:,} {words[what]} in both", *alone]))
    counts(two.run, "{shared}. What only one run has is compared with nothing.", shared="; ".join(told))
    listed = load_two(left_out, two.first, two.second)
    if not listed.empty:
        with st.expander(f"What is left out, name by name ({len(listed):,})"):
            _list_left_out(two, listed)


def _list_left_out(two: Two, listed: pd.DataFrame) -> None:
    names = dict(zip(("first", "second"), two.names, strict=True))
    columns = [replace(column, words=names) if column.name == "run" else column for column in left_out.table.pick(two.run)]
    table(listed, f"left_out_{two.id}", columns)
    footer(listed, "left-out", two.run, "left_out", "shared")


AMOUNTS = (
    "From **{first}** to **{second}**, of {pairs} pairs that both runs scored, disagreeing pairs went from {before} to {after}: "
    "**{revealed}** where answers are newly found, **{lost}** where answers are no longer found, **{judged}** by other verdicts "
    "on pairs in which both runs have both answers."
)
WHERE_BOTH = {
    SAME: "Where both runs have both answers, every verdict on disagreement is the same ({was} of these pairs disagree).",
    UNKNOWN: "Where both runs have both answers, the share that disagrees went from {was} to {now}, too few {questions} to tell.",
}
WHERE_BOTH_ELSE = (
    "Where both runs have both answers, the share that disagrees went from {was} to {now}: {change} points "
    "(95 % interval {span})."
)  # fmt: skip
KINDS = {DISAGREEMENT: "disagreement", ABSENCE: "silence", LABEL: "any label"}
MOVED = ("moved", "compared", "share", "revealed", "lost", "judged_new", "judged_gone", "change")


def headline(two: Two) -> None:
    """What changed, in a few sentences."""
    table = load_two(runs_change, two.first, two.second)
    rows = table[table["organ"] == ALL].set_index("part")
    both, whole = rows.loc[BOTH], rows.loc[IN_ALL]
    names = dict(zip(("first", "second"), two.names, strict=True))
    amounts = say(
        two.run, AMOUNTS, **names, pairs=f"{whole['pairs']:,}", before=f"{whole['disagreeing_first']:,}",
        after=f"{whole['disagreeing_second']:,}", revealed=signed(rows.loc[REVEALED, "change"], 0),
        lost=signed(rows.loc[LOST, "change"], 0), judged=signed(both["change"], 0),
    )  # fmt: skip
    st.markdown(f"**{say(two.run, VERDICTS[verdict(table)], **names)}** {amounts} {_where_both(two, both)}")


def _where_both(two: Two, both: pd.Series) -> str:
    return say(
        two.run, WHERE_BOTH.get(both["moves"], WHERE_BOTH_ELSE),
        was=percent(both["r_div_first"]), now=percent(both["r_div_second"]),
        change=points(both["effect"]), span=points_interval(both["effect_low"], both["effect_high"]),
    )  # fmt: skip


def why(two: Two) -> None:
    """Absence against judgement: the disagreeing pairs step by step, and how often each part disagrees."""
    st.header("Found, or judged otherwise?", anchor=False)
    table = load_two(runs_change, two.first, two.second)
    rows = table[table["organ"] == ALL]
    alt = "Disagreeing pairs of the first run; what newly found answers, lost answers and other verdicts add; of the second run."
    st.markdown("**Disagreeing pairs**, from one run to the other")
    chart(change_steps(rows, *two.names, STEPS), f"steps_{two.id}", alt)
    st.markdown("**How often they disagree**: the pairs that both runs have, and those that came or went")
    figure = rate_dots(disagreement_of_parts(rows, *two.names), "name", (DISAGREEMENT_RATE,))
    chart(figure, f"shares_{two.id}", "Share of disagreeing pairs among pairs present in both runs, revealed and lost.")
    effect = rows.set_index("part")["effect"]
    counts(
        two.run,
        "Lines are 95 % intervals. The share of disagreement among present pairs changed by {all} points: {both} by judgement, "
        "{new} because newly found pairs disagree more or less often than the others, {lost} because lost ones did.",
        all=points(effect[IN_ALL], 2), both=points(effect[BOTH], 2),
        new=points(effect[REVEALED], 2), lost=points(effect[LOST], 2),
    )  # fmt: skip
    footer(table, "runs-change", two.run, "runs_change")


def by_organ(two: Two) -> None:
    """The four rates per organ, as changes with paired intervals."""
    st.header(say(two.run, "What changed, by {organ}"), anchor=False)
    frame = load_two(runs, two.first, two.second)
    everything = f"all {two.run.term('organ', 2)}"
    named = frame.assign(organ=frame["organ"].replace(ALL, everything).map(display_name))
    chart(
        change_dots(named, "organ", AUDIT_RATES, everything),
        f"changes_{two.id}",
        fill(two.run, "Change of the four rates per {organ}, in points."),
    )
    counts(
        two.run, "Percentage points from {first} to {second}, on the pairs that both scored. Filled: the 95 % interval leaves "
        "out 0. A hollow dot without a line: too few {questions} changed for an interval.",
        first=two.names[0], second=two.names[1],
    )  # fmt: skip
    with st.expander("As a table"):
        _rates_table(two, named)
    footer(frame, "runs", two.run, "runs")
    st.caption("In a terminal:")
    st.code(COMMAND.format(first=two.first.key, second=two.second.key), language="bash", wrap_lines=True)


def _rates_table(two: Two, named: pd.DataFrame) -> None:
    by_name = {column.name: column for column in runs.table.pick(two.run)}
    rows = named.assign(
        change=named["change"].map(points),
        span=[points_interval(*ends) or "too few" for ends in zip(named["change_low"], named["change_high"], strict=True)],
        **{side: named[side].map(percent) for side in ("first", "second")},
    )  # fmt: skip
    # Shares of which only the change has an interval: written here, so that no empty interval stands beside them.
    as_text = {name: Column.text(name, by_name[name].heading) for name in ("first", "second", "change")}
    order = (
        "organ",
        "rate",
        "first",
        "second",
        "change",
        "span",
        "moves",
        "count_first",
        "of_first",
        "count_second",
        "of_second",
    )
    columns = {**by_name, **as_text, "span": Column.text("span", "95 % interval")}
    table(rows, f"rates_{two.id}", [columns[name] for name in order], rows=14)


def movers(two: Two) -> None:
    """The questions and handbooks that moved most, each with the way to its page."""
    st.header("Where it moved most", anchor=False)
    kind = choose("Moved in", list(KINDS), "moved_in", format_func=lambda name: KINDS[name])
    questions = load_two(questions_moved, two.first, two.second, kind=kind)
    if questions.empty:
        counts(two.run, "No pair moved in this.")
        return
    picked = clicked_row(questions, f"questions_{two.id}_{kind}", questions_moved.table.pick(two.run, "text", *MOVED), rows=8)
    if picked is not None:
        link("question", "Open this {question}", two.second, icon=":material/open_in_new:", question=str(picked["question_id"]))
    footer(questions, "questions-moved", two.run, "questions_moved")
    names = handbook_names(load(handbook_list, two.second))
    handbooks = load_two(handbooks_moved, two.first, two.second, kind=kind)
    rows = handbooks.assign(name=handbooks["handbook_id"].map(names))
    columns = (Column.text("name", title_of(two.run, "handbook")), *handbooks_moved.table.pick(two.run, *MOVED))
    picked = clicked_row(rows, f"handbooks_{two.id}_{kind}", columns, rows=8)
    if picked is not None:
        link("handbook", "Open this {handbook}", two.second, icon=":material/open_in_new:", handbook=str(picked["handbook_id"]))
    counts(
        two.run,
        "In the order of the lower end of the interval, so that a few pairs do not lead by chance. Click a row to open it. Came "
        "to light, fell silent, judged: disagreeing pairs. A pair counts for both its {handbooks}.",
    )
    footer(handbooks, "handbooks-moved", two.run, "handbooks_moved")
