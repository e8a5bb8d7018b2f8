"""Prevalence: how common each label is in the whole run once the judge's errors are taken out, and what more ratings buy."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from annotation.accounts import Role
from annotation.label_store.studies import Study
from annotation.planner import plan
from annotation.prevalence import DISAGREES, ROWS, prevalence
from annotation.ratings import GOLD
from pages._basis.frame import notice, study_page
from pages._basis.text import escaped
from pages._shared.study_figures import current_ratings, pick_study, seat_names
from pages._shared.tables import table

LEAD = (
    "The judge errs, and no interval helps that. People's labels, weighted stratum by stratum with the exactly known sizes, "
    "say how common each label is in the whole run."
)
NONE = "There is no study yet."
METHODS = {
    "corrected": "**Corrected**, the figure to use",
    "judge": "The judge's own count, errors and all",
    "human only": "People alone, without the judge's strata",
    "sample": "The sample as drawn, which is no picture of the run",
}
SHARES = {"label": "Label", "value": "Share of the run", "n": "Items rated", "note": "Note"}
PLAN = {"stratum": "Stratum", "pairs": "Pairs in the run", "rated": "Rated", "wanted": "Wanted", "more": "More"}


def shares(study: Study, human: str) -> None:
    """Each method's shares with their intervals."""
    found = prevalence(current_ratings(study.study_id), human).rename(columns={"low": "value_low", "high": "value_high"})
    for method, rows in found.groupby("method", sort=False):
        st.markdown(METHODS.get(str(method), escaped(method)))
        table(pd.DataFrame(rows), f"shares_{method}", SHARES, shares=("value",), digits=2)


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
        notice(study)
        names = {GOLD: "gold: agreed or adjudicated; until then, split between the annotators", **seat_names(study.study_id)}
        people = [name for name in names if name != "judge"]
        human = st.selectbox("Whose labels are believed", people, format_func=lambda name: names[name], key="human")
        shares(study, human)
        st.subheader("How many ratings are enough?", anchor=False)
        planner(study, human)
