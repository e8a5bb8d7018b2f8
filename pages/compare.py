"""Compare: what changed between two runs, in what handbooks say and in how it is judged."""

from audit.metrics.run_overlap import shared
from pages._shared.loaders import load_two
from pages._shared.page import page
from pages._shared.pair_transitions import flows, moved_pairs
from pages._shared.run_comparison import by_organ, headline, movers, nothing_shared, pick_two, what_is_shared, why

LEAD = "What changed between two runs: what came to light or fell silent, and what is judged otherwise."

with page("Compare", LEAD) as run:
    if two := pick_two(run):
        in_common = load_two(shared, two.first, two.second)
        if nothing_shared(run, in_common):
            what_is_shared(two, in_common)
        else:
            headline(two)
            what_is_shared(two, in_common)
            why(two)
            by_organ(two)
            movers(two)
            flows(two)
            moved_pairs(two)
