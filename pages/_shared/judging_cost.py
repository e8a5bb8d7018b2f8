"""What it would cost to have a run judged that nothing has compared yet, and the way there for who may start it."""

from __future__ import annotations

from audit.queries.pair_counts import judging_cost
from audit.store.runs import Run
from pages._blinded.access import current_account, may_rejudge
from pages._shared.loaders import load
from pages._shared.widgets import counts, link


def cost_of_judging(run: Run, template: str, **values: object) -> None:
    """The sentence, a template of `say` with `{cost}`, and the link to *Re-judge*."""
    counts(run, template, cost=load(judging_cost, run).words, **values)
    if may_rejudge(current_account()):
        link("rejudge", "Have them judged", run, icon=":material/gavel:")
