"""Prevalence: how common each label is in the whole run once the judge's errors are taken out, and what more ratings buy."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from annotation.label_store.studies import Study
from annotation.planner import plan
from annotation.prevalence import DISAGREES, ROWS
from annotation.ratings import GOLD
from annotation.studies.accounts import Role
from audit.charts.rates import Rate, rate_dots
from pages._blinded.frame import study_page, synthetic_notice
from pages._shared.study_figures import current_ratings, current_shares, pick_study, rater_names, sensitivity_shares
from pages._shared.tables import table
from pages._shared.widgets import chart

LEAD = (
    "The judge errs, and no interval helps that. People's labels, weighted stratum by stratum with the exactly known sizes, "
    "say how common each label is in the whole run."
)
NONE = "There is no study yet."
HEADLINE = "corrected"
METHODS = {
    HEADLINE: "Corrected",
    "judge": "Judge's own count",
    "human only": "People alone",
    "ppi++": "PPI++",
    "inversion": "Matrix inverted",
    "sample": "Sample as drawn",
}
NOTES = {
    HEADLINE: "people's labels, weighted by stratum",
    "judge": "errors and all: no interval helps its bias",
    "human only": "the same items and weights, without knowing their strata",
    "sample": "no picture of the run, so not in the chart",
}
WHY = (
    "**Corrected** is the figure to use: its interval held the truth in 93 to 98 % of simulated studies for every label; "
    "that of PPI++ held a label of 1 to 2 % in 88 %. The checks should agree with its value."
)
SHARES = {"shown": "Label", "value": "Share of the run", "judge": "The judge's own count", "n": "Items rated", "note": "Note"}
ROADS = {"method": "Method", "value": "Share of the run", "n": "Items rated", "note": "Note"}
PLAN = {"stratum": "Stratum", "pairs": "Pairs in the run", "rated": "Rated", "wanted": "Wanted", "more": "More"}


def headline(found: pd.DataFrame) -> None:
    """The corrected share of each label, with the judge's own beside it."""
    rows, judge = (found[found["method"] == method] for method in (HEADLINE, "judge"))
    table(
        rows.assign(shown=rows["label"].str.capitalize(), judge=judge["value"].tolist()),
        "shares",
        SHARES,
        ("value", "judge"),
        digits=2,
    )


def every_method(study: Study, human: str, found: pd.DataFrame) -> None:
    """One label by every road: a chart, a table, and why one of them is the headline."""
    st.header("The same by other roads", anchor=False)
    checked, missing = sensitivity_shares(study.study_id, human)
    everything = pd.concat([found, checked], ignore_index=True)
    label = st.segmented_control("Label", ROWS, default=DISAGREES, required=True, format_func=str.capitalize, key="road")
    order = [method for method in METHODS if method in set(everything["method"])]
    rows = everything[everything["label"] == label].set_index("method").loc[order].reset_index()
    named = rows.assign(
        method=[METHODS[method] for method in order],
        note=[told or NOTES.get(method, "") for told, method in zip(rows["note"], order, strict=True)],
    )
    share = Rate("value", "Share of the run", "n", "rated items")
    drawn = named[(rows["method"] != "sample") & rows["value"].notna()]
    chart(rate_dots(drawn, "method", [share], METHODS[HEADLINE]), "roads", f"Share of {label} in the run, by method")
    table(named, "road_table", ROADS, shares=("value",), digits=2)
    st.markdown(WHY)
    if missing:
        st.info(missing)


def planner(study: Study, human: str) -> None:
    """Ratings per stratum after which an interval is narrow enough."""
    left, right = st.columns(2)
    label = left.selectbox("Share of", ROWS, index=ROWS.index(DISAGREES), format_func=str.lower, key="planned")
    points = right.number_input("Interval, percentage points to either side", 0.1, 20.0, 2.0, 0.1, key="half_width")
    found = plan(current_ratings(study.study_id), points / 100, label, human)
    table(found, "plan", PLAN)
    st.caption(f"{int(found['more'].sum()):,} more items, each rated by two.")


with study_page("Prevalence", LEAD, Role.PI):
    study = pick_study()
    if study is None:
        st.info(NONE)
    else:
        synthetic_notice(study)
        names = {GOLD: "gold: agreed or adjudicated; until then, split between the annotators", **rater_names(study.study_id)}
        people = [name for name in names if name != "judge"]
        human = st.selectbox("Whose labels are believed", people, format_func=lambda name: names[name], key="human")
        found = current_shares(study.study_id, human)
        headline(found)
        every_method(study, human, found)
        st.header("How many ratings are enough?", anchor=False)
        planner(study, human)
