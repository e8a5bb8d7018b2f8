"""Centers: what each center's handbooks leave out, and where they disagree with each other and with others."""

import streamlit as st

from audit.charts.rates import Rate, rate_dots
from audit.metrics.centers import centers
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.pickers import choose
from pages._shared.rates import DISAGREE
from pages._shared.widgets import chart, counts, footer, table
from pages._shared.words import title_of

LEAVES_OUT = Rate("absence", "Leaves out", "asked", "questions put to its handbooks", "#6b7280")
WITHIN = Rate("r_div_within", "Disagree inside", "within_present", "pairs inside the center", DISAGREE.colour)
BETWEEN = Rate("r_div_between", "Disagree with others", "between_present", "pairs with others", DISAGREE.colour)
SHOWN = (LEAVES_OUT, BETWEEN, WITHIN)
ORDERS = {"r_div_between": "disagreement with others", "r_div_within": "disagreement inside", "absence": "left out", "center": "name"}
COUNTS = {"handbooks": "Handbooks", "asked": "Asked", "absent": "Left out", "present": "Both answer", "disagreeing": "Disagreeing"}
HEADINGS = {f"{rate.column}{end}": f"{rate.title}{word}" for rate in SHOWN for end, word in (("", ""), ("_low", ", from"), ("_high", ", to"))}

with page("By {center}", "Do {a_center}'s own {handbooks} agree with each other, and with those of other {centers}?") as run:
    order = choose("Order by", list(ORDERS), "order", format_func=ORDERS.__getitem__)
    frame = load(centers, run).sort_values(order, ascending=order == "center", ignore_index=True)
    drawn = SHOWN if frame["within_present"].sum() else (LEAVES_OUT, BETWEEN)
    chart(rate_dots(frame, "center", drawn), "center_rates", "Rates per center with 95 % intervals.")
    counts(run, "{n} {centers}. A pair of two {centers} counts for both. Lines are 95 % intervals.", n=len(frame))
    if len(drawn) < len(SHOWN):
        st.caption("No two handbooks of one center answer the same question here, so disagreement inside a center is unknown, not zero.")
    headings = {"center": title_of(run, "center"), **COUNTS, "handbooks": title_of(run, "handbooks"), **HEADINGS}
    table(frame, "center_table", headings, shares=list(HEADINGS))
    footer(frame, "centers", run, "centers")
