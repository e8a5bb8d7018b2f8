"""The bar on every page: search, the run and the others to choose from, copy link, and who is signed in."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import streamlit as st

from annotation.studies.accounts import Account
from audit.errors import AuditError
from audit.store.runs import Run
from pages._blinded.access import current_account, may_browse, own_pages
from pages._blinded.frame import explain
from pages._blinded.scripts import script_path
from pages._shared import loaders
from pages._shared.doors import SIGN_IN, SIGN_OUT, START
from pages._shared.pickers import current_run, real_runs_first, remember_run, run_label
from pages._shared.search import search

HERE = Path(__file__).parent
HTML = """
<div class="bar">
<label class="run" hidden><span>Run</span><select aria-label="Run"></select></label>
<span class="synthetic" hidden title="Not for clinical use.">Synthetic data</span>
<button type="button" class="copy"><span>Copy link</span></button>
<span class="name" hidden></span>
<a class="account" hidden></a>
</div>
"""
# One line: the search takes what is left. On a phone it moves below the rest. Streamlit's header, with the settings at its right
# end, lies over the same line, so clicks have to pass through it everywhere else.
STYLE = """<style>
.st-key-top_bar { flex-wrap: nowrap; align-items: center; gap: 0.6rem; padding-right: 2.4rem; min-height: 2.1rem; }
.st-key-top_bar > div:has(.st-key-search), .st-key-top_bar > .st-key-search { flex: 1 1 16rem; max-width: 34rem; }
.st-key-top_bar > .st-key-bar { margin-left: auto; width: auto; flex: 0 1 auto; min-width: 0; }
.stApp [data-testid="stHeader"] { background: none; height: 3rem; min-height: 3rem; }
.stApp [data-testid="stHeader"], .stApp [data-testid="stHeader"] * { pointer-events: none; }
.stApp [data-testid="stHeader"] :is(button, button *, a, [role="button"]) { pointer-events: auto; }
@media (min-width: 641px) and (max-width: 1100px) { /* the run's name before the words in the empty search box */
  .st-key-top_bar > div:has(.st-key-search), .st-key-top_bar > .st-key-search { flex-basis: 8.5rem; }
}
@media (max-width: 640px) {
  .st-key-top_bar { flex-wrap: wrap; padding: 2.2rem 0 0; }
  .st-key-top_bar > .st-key-search { flex-basis: 100%; max-width: none; }
  .st-key-top_bar > .st-key-bar { width: 100%; order: -1; }
}
</style>"""
_bar = st.components.v2.component(
    "top_bar",
    html=HTML,
    css=(HERE / "top_bar.css").read_text(encoding="utf-8"),
    js=(HERE / "top_bar.js").read_text(encoding="utf-8"),
)


def top_bar(script: str) -> None:
    """Draw the bar of a page. Who may not browse runs gets nothing of them: no name, no picker, no search."""
    st.html(STYLE)
    account = current_account()
    browses = may_browse(account)
    run = current_run() if browses else None
    with st.container(key="top_bar", horizontal=True):
        if run and script != START.script:  # the start page has a larger one
            _draw_search(run)
        _draw_bar(account, run, browses=browses)


def _draw_search(run: Run) -> None:
    try:
        search(run, "search")
    except AuditError as error:  # a store that cannot be read; the page is still drawn
        explain(error)


def _draw_bar(account: Account | None, run: Run | None, *, browses: bool) -> None:
    event = _bar(
        key="bar", data={"account": _entry(account), **(_choice(run) if browses else {})},
        on_run_change=lambda: None, on_account_change=lambda: None,
    )  # fmt: skip
    chosen = getattr(event, "run", None)
    if chosen in {run.key for run in loaders.loaded_runs()}:
        remember_run(str(chosen))
        st.rerun()
    if getattr(event, "account", None):
        st.switch_page(script_path((SIGN_OUT if account else SIGN_IN).script))


def _entry(account: Account | None) -> dict[str, str] | None:
    """The name of an account, and the link to sign in or out; None where there are no accounts."""
    if account is not None:
        return {"name": account.name, "label": SIGN_OUT.title, "page": "sign_out"}
    return {"name": "", "label": SIGN_IN.title, "page": "sign_in"} if own_pages(account) else None


def _choice(run: Run | None) -> dict[str, Any]:
    """The runs to choose from, and the one that is shown; none is where the run of the address is not loaded."""
    runs = real_runs_first(loaders.loaded_runs())
    titles = Counter(loaded.title for loaded in runs)
    return {
        "runs": [
            {"key": loaded.key, "name": loaded.title if titles[loaded.title] == 1 else run_label(loaded)} for loaded in runs
        ],
        "run": run.key if run else "",
        "synthetic": bool(run and run.synthetic),
    }
