"""What changed from one run to another, in a sentence, as steps, by organ, and where most."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from audit.charts.audit_rates import DISAGREE, RATES
from audit.charts.changes import change_dots, points, points_interval
from audit.charts.names import handbook_names
from audit.charts.rates import rate_dots
from audit.charts.steps import change_steps
from audit.charts.style import percent
from audit.exports.changed import STEPS, VERDICTS, disagreement_of_parts
from audit.metrics.most_moved import handbooks_moved
from audit.metrics.paired import ALL, SAME, UNKNOWN
from audit.metrics.most_moved import questions_moved
from audit.metrics.most_moved import LABEL
from audit.metrics.most_moved import DISAGREEMENT
from audit.metrics.most_moved import ABSENCE
from audit.metrics.runs import runs
from audit.metrics.runs_change import BOTH, IN_ALL, LOST, REVEALED, runs_change, verdict
from audit.number_format import signed
from audit.queries.picker_options import handbook_list
from audit.terms import display_name
from pages._shared.loaders import load, load_two
from pages._shared.pickers import choose
from pages._shared.tables import clicked_row, table
from pages._shared.two_runs import COMMAND, Two
from pages._shared.widgets import chart, counts, footer, link
from pages._shared.words import fill, say, title_of

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
MOVED = {
    "moved": "Moved", "compared": "Of", "share": "Share", "revealed": "Came to light", "lost": "Fell silent",
    "judged_new": "Judged to disagree", "judged_gone": "Judged to agree", "change": "Change",
}  # fmt: skip
RATE_HEADINGS = {
    "name": "Rate", "first": "Before", "second": "After", "change": "Change", "span": "95 % interval", "moves": "It",
    "count_first": "Count before", "of_first": "Of", "count_second": "Count after", "of_second": "Of ",
}  # fmt: skip


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
    figure = rate_dots(disagreement_of_parts(rows, *two.names), "name", (DISAGREE,))
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
        change_dots(named, "organ", RATES, everything),
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
    titles = {rate.column: rate.title for rate in RATES}
    rows = named.assign(
        name=named["rate"].map(titles), change=named["change"].map(points),
        span=[points_interval(*ends) or "too few" for ends in zip(named["change_low"], named["change_high"], strict=True)],
        **{side: named[side].map(percent) for side in ("first", "second")},
    )  # fmt: skip
    table(rows, f"rates_{two.id}", {"organ": title_of(two.run, "organ"), **RATE_HEADINGS}, rows=14)


def movers(two: Two) -> None:
    """The questions and handbooks that moved most, each with the way to its page."""
    st.header("Where it moved most", anchor=False)
    kind = choose("Moved in", list(KINDS), "moved_in", format_func=lambda name: KINDS[name])
    questions = load_two(questions_moved, two.first, two.second, kind=kind)
    if questions.empty:
        counts(two.run, "No pair moved in this.")
        return
    picked = clicked_row(questions, f"questions_{two.id}_{kind}", {"text": title_of(two.run, "question"), **MOVED}, ("share",), 8)
    if picked is not None:
        link("question", "Open this {question}", two.second, icon=":material/open_in_new:", question=str(picked["question_id"]))
    footer(questions, "questions-moved", two.run, "questions_moved")
    names = handbook_names(load(handbook_list, two.second))
    handbooks = load_two(handbooks_moved, two.first, two.second, kind=kind)
    rows = handbooks.assign(name=handbooks["handbook_id"].map(names))
    picked = clicked_row(rows, f"handbooks_{two.id}_{kind}", {"name": title_of(two.run, "handbook"), **MOVED}, ("share",), 8)
    if picked is not None:
        link("handbook", "Open this {handbook}", two.second, icon=":material/open_in_new:", handbook=str(picked["handbook_id"]))
    counts(
        two.run,
        "In the order of the lower end of the interval, so that a few pairs do not lead by chance. Click a row to open it. Came "
        "to light, fell silent, judged: disagreeing pairs. A pair counts for both its {handbooks}.",
    )
    footer(handbooks, "handbooks-moved", two.run, "handbooks_moved")
