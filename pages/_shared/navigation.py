"""The menu: which pages there are for whom, in which group, under the run's own words."""

from __future__ import annotations

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from annotation.accounts import Account
from audit.errors import AuditError
from pages._basis.frame import explain
from pages._basis.people import STUDY_PAGES, TURNING, may_browse, own_pages, who
from pages._shared.pickers import current_run
from pages._shared.words import escaped, title_of

MENU_SEEN = "the menu was drawn"
PAGES = {
    "Start": [("overview", "Overview"), ("runs", "Runs"), ("glossary", "Glossary")],
    "Disagreement": [
        ("disagreements", "Disagreements"),
        ("question", "Question"),
        ("organs", "organs"),
        ("topics", "Topics"),
        ("centers", "centers"),
    ],
    "Coverage": [("coverage", "Coverage"), ("handbook", "handbook")],
}


def menu() -> dict[str, list[StreamlitPage]]:
    """Every page that exists for whoever is signed in, by group; a page that is not here cannot be opened by its address."""
    st.session_state[MENU_SEEN] = True
    try:
        account = who()
        groups = _groups(account)
    except AuditError as error:  # the database of accounts cannot be opened: nobody is anybody, so nothing is shown
        explain(error)
        st.stop()
    return groups


def home(account: Account | None) -> str:
    """The script that opens first for somebody."""
    own = own_pages(account)
    return "pages/overview.py" if may_browse(account) or not own else f"pages/studies/{own[0]}.py"


def _groups(account: Account | None) -> dict[str, list[StreamlitPage]]:
    first = home(account)
    groups = _browsing(first) if may_browse(account) else {}
    own = [_own(script, first) for script in own_pages(account)]
    if st.session_state.get(TURNING):  # the page on which somebody turns into somebody else leads on from there
        shown = own_pages(account)
        own += [_own(script, first, hidden=True) for script in ("sign_in", "sign_out") if script not in shown]
    title = escaped(account.name) if account is not None else "Account"
    return {**groups, title: own} if own else groups


def _own(script: str, first: str, *, hidden: bool = False) -> StreamlitPage:
    path = f"pages/studies/{script}.py"
    return st.Page(path, title=STUDY_PAGES[script], default=path == first, visibility="hidden" if hidden else "visible")


def _browsing(first: str) -> dict[str, list[StreamlitPage]]:
    """Every page on a run. A small-lettered title is a word that the run may have renamed."""
    return {
        group: [st.Page(path, title=_title(title), default=path == first) for path, title in _paths(scripts)]
        for group, scripts in PAGES.items()
    }


def _paths(scripts: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(f"pages/{script}.py", title) for script, title in scripts]


def _title(title: str) -> str:
    if title[0].isupper():
        return title
    run = current_run()
    return title_of(run, title) if run else title.capitalize()
