"""Centers: what each center's handbooks leave out, and where they disagree with each other and with others."""

from audit.charts.rates import DISAGREEMENT_RATE, NOT_ADDRESSED_RATE, Rate, rate_dots
from audit.metrics.centers import centers
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.pickers import choose
from pages._shared.tables import table
from pages._shared.widgets import chart, counts, footer

LEAVES_OUT = Rate("absence", "Leaves out", "asked", "answers asked for", NOT_ADDRESSED_RATE.colour)
WITHIN = Rate("r_div_within", "Disagreement inside", "within_present", DISAGREEMENT_RATE.unit, DISAGREEMENT_RATE.colour)
BETWEEN = Rate("r_div_between", "Disagreement with others", "between_present", DISAGREEMENT_RATE.unit, DISAGREEMENT_RATE.colour)
SHOWN = (LEAVES_OUT, BETWEEN, WITHIN)
ORDERS = {
    "r_div_between": "disagreement with others", "r_div_within": "disagreement inside", "absence": "left out", "center": "name",
}  # fmt: skip

with page("By {center}", "Do {a_center}'s own {handbooks} agree with each other, and with those of other {centers}?") as run:
    everything = load(centers, run)
    inside = bool(everything["within_present"].sum())
    orders = [order for order in ORDERS if inside or order != WITHIN.column]
    order = choose("Order by", orders, "order", format_func=ORDERS.__getitem__)
    frame = everything.sort_values(order, ascending=order == "center", ignore_index=True)
    drawn = SHOWN if inside else (LEAVES_OUT, BETWEEN)
    chart(rate_dots(frame, "center", drawn), "center_rates", "Rates per center with 95 % intervals.")
    counts(run, "{n} {centers}. A pair of two {centers} counts for both. Lines are 95 % intervals.", n=len(frame))
    if not inside:
        counts(run, "No two {handbooks} of one {center} answer the same question: disagreement inside is unknown, not zero.")
    table(frame, "center_table", centers.table.pick(run))
    footer(frame, "centers", run, "centers")
