"""Centers: what each center's handbooks do not address, and how often they disagree with each other and with others."""

from audit.charts.rates import DISAGREEMENT_RATE, NOT_ADDRESSED_RATE, Rate, rate_dots
from audit.metrics.handbooks import centers
from pages._shared.loaders import load
from pages._shared.page import page
from pages._shared.pickers import choose
from pages._shared.widgets import chart, counts, footer, table

LEAVES_OUT = Rate("absence", "Not addressed", "asked", "questions asked", NOT_ADDRESSED_RATE.colour)
WITHIN = Rate("r_div_within", "Disagreement within", "within_present", DISAGREEMENT_RATE.unit, DISAGREEMENT_RATE.colour)
BETWEEN = Rate("r_div_between", "Disagreement with others", "between_present", DISAGREEMENT_RATE.unit, DISAGREEMENT_RATE.colour)
SHOWN = (LEAVES_OUT, BETWEEN, WITHIN)
COUNTS = ("handbooks", "asked", "absent", "present", "disagreeing")
"""Columns after the rates."""
# The alphabet first: figures that differ in their questions are no ranking.
ORDERS = {
    "center": "name", "absence": "not addressed", "r_div_between": "disagreement with others",
    "r_div_within": "disagreement within",
}  # fmt: skip
NO_RANKING = (
    "This order is no ranking: {centers} were asked different {questions}, and many of the lines overlap. Read it to find "
    "where to look."
)

with page("By {center}", "Do the {handbooks} of {a_center} agree with each other, and with those of other {centers}?") as run:
    everything = load(centers, run)
    any_within = bool(everything["within_present"].sum())
    orders = [order for order in ORDERS if any_within or order != WITHIN.column]
    order = choose("Order by", orders, "order", format_func=ORDERS.__getitem__)
    frame = everything.sort_values(order, ascending=order == "center", ignore_index=True)
    if order != "center":
        counts(run, NO_RANKING)
    drawn = SHOWN if any_within else (LEAVES_OUT, BETWEEN)
    chart(rate_dots(frame, "center", drawn), "center_rates", "Rates per center with 95 % intervals.")
    counts(
        run,
        "{n} {centers}. A pair of {handbooks} from two {centers} counts for both {centers}. Lines are 95 % intervals.",
        n=len(frame),
    )
    if not any_within:
        counts(
            run,
            "No two {handbooks} of the same {center} answer the same question, so disagreement within {a_center} is "
            "unknown, not zero.",
        )
    table(frame, "center_table", centers.table.pick(run, "center", *(rate.column for rate in SHOWN), *COUNTS))
    footer(frame, "centers", run, "centers")
