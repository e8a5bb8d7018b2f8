"""The bar on every page: search, the run and the others to choose from, copy link, and who is signed in."""

from __future__ import annotations

from collections import Counter
from typing import Any

import streamlit as st

from annotation.studies.accounts import Account
from audit.store.runs import Run
from pages._blinded.access import current_account, may_browse, own_pages
from pages._blinded.frame import guarded
from pages._blinded.scripts import script_path
from pages._blinded.templates import component
from pages._shared import loaders
from pages._shared.doors import MY_ACCOUNT, SIGN_IN, SIGN_OUT, START
from pages._shared.pickers import current_run, real_runs_first, remember_run, run_label
from pages._shared.search import search

_bar = component("_shared/top_bar")


def top_bar(script: str) -> None:
    """Draw the bar of a page. Who may not browse runs gets nothing of them: no name, no picker, no search."""
    account = current_account()
    browses = may_browse(account)
    run = current_run() if browses else None
    with st.container(key="top_bar", horizontal=True):
        if run and script != START.script:  # the start page has a larger one
            guarded(search, run, "search")  # of a store that cannot be read the page is still drawn
        _draw_bar(account, run, browses=browses)


def _draw_bar(account: Account | None, run: Run | None, *, browses: bool) -> None:
    event = _bar(
        key="bar", data={"account": _entry(account), **(_choice(run) if browses else {})}, on_run_change=lambda: None,
        on_account_change=lambda: None,
    )  # fmt: skip
    chosen = getattr(event, "run", None)
    if chosen in {run.key for run in loaders.loaded_runs()}:
        remember_run(str(chosen))
        st.rerun()
    if asked := getattr(event, "account", None):
        st.switch_page(script_path((MY_ACCOUNT if account and asked == "own" else SIGN_OUT if account else SIGN_IN).script))


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
