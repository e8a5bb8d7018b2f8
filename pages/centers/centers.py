"""Centers: what each center's handbooks do not address, and how often they disagree with each other and with others.

Every dot and row opens its pairs.
"""

from functools import partial

import pandas as pd
import streamlit as st

from audit.charts.rates import DISAGREEMENT_RATE, NOT_ADDRESSED_RATE, Rate, rate_dots
from audit.charts.style import percent
from audit.metrics.case_mix import center_case_mix
from audit.metrics.handbooks import centers
from audit.store.runs import Run
from audit.terms import fill
from pages._shared.explore import RowFilter, case_mix_section, corrected_groups, rates_frame
from pages._shared.found_states import errors_of, where_silence_is
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.widgets import counts, say

LEAVES_OUT = Rate("absence", "Not addressed", "asked", "questions asked", NOT_ADDRESSED_RATE.colour)
WITHIN = Rate("r_div_within", "Disagreement within", "within_present", DISAGREEMENT_RATE.unit, DISAGREEMENT_RATE.colour)
BETWEEN = Rate("r_div_between", "Disagreement with others", "between_present", DISAGREEMENT_RATE.unit, DISAGREEMENT_RATE.colour)
SHOWN = (LEAVES_OUT, BETWEEN, WITHIN)
FEW = ("r_div_between", "disagreeing", "present", "handbooks")
"""Columns that fit beside the name."""
COUNTS = ("handbooks", "asked", "absent", "present", "disagreeing")
"""Columns after the rates."""
ONE_EACH = (
    "Each {center} of this run has one {handbook}, so the figures of this page are those of *Coverage*. "
    "Disagreement within {a_center} cannot be measured."
)

TITLE = (
    "{Handbooks} of one {center} disagree with those of others in {low} to {high} of pairs; different {questions}, so no ranking."
)
UNKNOWN = "How often {handbooks} of one {center} disagree with those of others"


def spread(run: Run, rates: pd.Series) -> str:
    """The lowest and the highest rate, in a sentence."""
    known = rates.dropna()
    return fill(run, TITLE, low=percent(known.min()), high=percent(known.max())) if len(known) else fill(run, UNKNOWN)


with page("By {center}", "Do the {handbooks} of {a_center} agree with each other, and with those of other {centers}?") as run:
    everything = load(centers, run)
    any_within = bool(everything["within_present"].sum())
    # What a search did not find is no absence
    shown = [
        rate for rate in SHOWN if (any_within or rate is not WITHIN) and not (rate is LEAVES_OUT and errors_of(run).searched)
    ]
    if (everything["handbooks"] == 1).all():
        st.info(say(run, ONE_EACH))
    # By name only: rates on different questions are not a ranking, so none is drawn
    frame = everything.sort_values("center", ignore_index=True)
    rows = RowFilter("center", "center")
    title = spread(run, frame["r_div_between"])
    few = centers.table.pick(run, "center", *FEW)
    hidden = {"absence", "absent"} if errors_of(run).searched else set()
    columns = [name for name in (*(rate.column for rate in SHOWN), *COUNTS) if name not in hidden]
    every = centers.table.pick(run, "center", *columns)
    drawing = (partial(rate_dots, frame, "center", tuple(shown), opens="center"), "Rates per center with 95 % intervals.")
    rates_frame(run, frame, "center", title, drawing, rows, (few, every), "centers", "centers")
    counts(
        run,
        "{n} {centers}. A pair of {handbooks} from two {centers} counts for both {centers}. Lines are 95 % intervals; one wider "
        "than 50 points is given in numbers alone.",
        n=len(frame),
    )
    if not any_within:
        counts(
            run,
            "No two {handbooks} of the same {center} answer the same question, so disagreement within {a_center} is "
            "unknown, not zero.",
        )
    where_silence_is(run)
    corrected_groups(run, "center")
    mix = load(center_case_mix, run)
    case_mix_section(run, center_case_mix, mix, mix["center"], rows, "center")
