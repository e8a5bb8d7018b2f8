"""What it would cost to have a run judged that nothing has compared yet, and the way there for who may start it."""

from __future__ import annotations

from audit.queries.pair_counts import judging_cost
from audit.store.runs import Run
from pages._blinded.access import current_account, may_rejudge
from pages._shared.loaders import load
from pages._shared.widgets import counts, link

NOTHING = "No {question} has answers from two {handbooks}, so there is nothing to compare."


def cost_of_judging(run: Run, template: str, **values: object) -> None:
    """The sentence, a template of `say` with `{cost}`, and the link to *Re-judge*; a sentence where nothing can be compared."""
    cost = load(judging_cost, run)
    if not cost.calls:
        counts(run, NOTHING)
        return
    counts(run, template, cost=cost.words, **values)
    if may_rejudge(current_account()):
        link("rejudge", "Have them judged", run, icon=":material/gavel:")
