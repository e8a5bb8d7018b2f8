"""Organs: label shares and the four rates, by the organ of the question. Every dot and row opens its pairs."""

from functools import partial

import streamlit as st

from audit.charts.rates import BOTH_ANSWER, rate_dots
from audit.exports.sections.pairs import named_organs
from audit.metrics.questions import SCOPE_NOTE, organs
from audit.queries.pair_counts import ALL_HANDBOOKS, MATCHING
from audit.terms import fill
from audit.vocabulary import LABELS, PRESENT_LABELS, Label
from pages._shared.disagreement_rate import disagreement_rate
from pages._shared.disputed_share import disputed_share
from pages._shared.explore import RowFilter, corrected_groups, rates_frame
from pages._shared.findings import MOST_DISAGREEMENT, NONE_STANDS_OUT, rate_finding
from pages._shared.found_states import UNLABELLED, shown_rates, shown_titles, where_silence_is, without_labels
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.pickers import choose
from pages._shared.widgets import counts, say
from pages.organs.label_bars import label_bars

ALL = "(all)"
FEW = ("r_div", "pct_any_div", "r_abs", "questions")
"""Columns that fit beside the name."""
COUNTS = ("questions", "pairs", "present", "disagreeing", "unscored")
"""Columns after the rates."""
SCOPE_WORDS = {MATCHING: "{handbooks} of the same {organ}", ALL_HANDBOOKS: "all {handbooks}"}
BASES: dict[str, tuple[str, list[Label]]] = {
    "present": (BOTH_ANSWER, list(PRESENT_LABELS)),
    "scored": ("all pairs with a verdict", list(LABELS)),
}

LEAD = "Does advice differ more for one {organ} than for another? Each row is {a_organ} of the question."

with page("By {organ}", LEAD, unlabelled=UNLABELLED) as run:
    if not run.has_pairs:
        without_labels(run, "organ")
        st.stop()
    scope = choose("Pairs of", (MATCHING, ALL_HANDBOOKS), "pairs_of", format_func=lambda name: fill(run, SCOPE_WORDS[name]))
    frame = load(organs, run, scope=scope)
    shown_frame = named_organs(run, frame)

    st.header(say(run, "How often {handbooks} disagree"), anchor=False)
    disagreement_rate(run, frame.iloc[-1])
    disputed_share(run)
    rows = RowFilter("organ_id", "organ", whole=ALL)
    figure = partial(rate_dots, shown_frame, "organ_id", shown_rates(run), overall=ALL, opens="organ_id", called="organ")
    own = shown_frame[shown_frame["organ_id"] != ALL]
    title = rate_finding(run, own, own["organ"], "r_div", frame["r_div"].iloc[-1], MOST_DISAGREEMENT, NONE_STANDS_OUT)
    few = organs.table.pick(run, "organ", *(column for column in FEW if column in (*shown_titles(run), "questions")))
    every = organs.table.pick(run, "organ", *shown_titles(run), *COUNTS)
    drawing = (figure, fill(run, "Rates per {organ}, with 95 % intervals."))
    files = ("organs", "organs", "disputed_share_corrected")
    rates_frame(run, shown_frame, "organ", title, drawing, rows, (few, every), *files)
    counts(
        run,
        "Shares as the judge labels, with 95 % intervals; one wider than 50 points is given in numbers alone. In the chart "
        "the dashed line marks the whole run, and each panel has its own scale.",
    )

    st.caption(say(run, SCOPE_NOTE))
    where_silence_is(run)
    with st.expander("How the judge labelled them", key="labelled"):
        base = choose("Shares of", list(BASES), "shares_of", format_func=lambda name: BASES[name][0])
        base_words, shown_labels = BASES[base]
        label_bars(list(shown_frame["organ"]), shown_frame, shown_labels, base_words)
        counts(
            run,
            "Both {handbooks} answer in {present} of {scored} pairs with a verdict. {unscored} unscored pairs are not counted.",
            **{name: f"{frame[name].iloc[-1]:,}" for name in ("present", "scored", "unscored")},
        )
    corrected_groups(run, "organ")
