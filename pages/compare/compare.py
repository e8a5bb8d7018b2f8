"""Compare: what changed between two runs, in the answers found and in how they were judged."""

from audit.metrics.records import shared
from pages._shared.loaders import load_two
from pages._shared.page import page
from pages.compare.pair_transitions import ablation_section, changed_pairs_section, transitions_section
from pages.compare.run_comparison import (
    causes_section,
    common_data,
    headline,
    moved_section,
    nothing_in_common,
    organ_section,
    pick_two_runs,
)

LEAD = "What changed between two runs: which answers were newly found or lost, and which pairs got another label."

with page("Compare", LEAD) as run:
    if compared := pick_two_runs(run):
        in_common = load_two(shared, compared.first, compared.second)
        if nothing_in_common(run, in_common):
            common_data(compared, in_common)
        else:
            headline(compared)
            common_data(compared, in_common)
            causes_section(compared)
            organ_section(compared)
            moved_section(compared)
            transitions_section(compared)
            ablation_section(compared)
            changed_pairs_section(compared)
