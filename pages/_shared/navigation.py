"""The menu: which pages exist for whom, in which group, titled in the run's own terms."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from urllib.parse import urlsplit

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from annotation.studies.accounts import Account
from audit.errors import AuditError
from audit.queries.run_texts import has_texts
from audit.store.runs import Run
from pages._blinded.access import STUDY_PAGES, current_account, may_browse, may_rejudge, own_pages
from pages._blinded.frame import escaped, explain
from pages._blinded.tour import tour_link
from pages._shared.loaders import load
from pages._shared.pickers import current_run
from pages._shared.widgets import title_of

MENU_SEEN = "the menu was drawn"
PAGES = {
    "Start": [
        ("overview", "Overview"),
        ("ask", "Ask"),
        ("runs", "Runs"),
        ("compare", "Compare"),
        ("downloads", "Downloads"),
        ("glossary", "Glossary"),
    ],
    "Disagreement": [
        ("disagreements", "Disagreements"),
        ("question", "Question"),
        ("answer", "Answer"),
        ("themes", "Themes"),
        ("theme", "Theme"),
        ("organs", "organs"),
        ("topics", "Topics"),
        ("centers", "centers"),
    ],
    "Coverage": [("coverage", "Coverage"), ("handbook", "handbook"), ("source", "Source"), ("retrieval", "Retrieval")],
    "Answering systems": [
        ("systems", "Systems"),
        ("system_answers", "System answers"),
        ("sources", "Sources"),
        ("stress", "Stress"),
    ],
    "Judge": [("judge", "Judge"), ("rejudge", "Re-judge")],
}
SYSTEM_PAGES, ROUTE_PAGES, STRESS_PAGES = ("systems", "system_answers"), ("sources",), ("stress",)
TEXT_PAGES = ("ask",)
ALWAYS_SHOWN = ("overview", "runs", "downloads", "glossary")
OWNER_PAGES = ("rejudge",)  # using them costs money, so they are not open to everybody who browses: see `may_rejudge`


def menu() -> dict[str, list[StreamlitPage]]:
    """The pages for the current account, by group; a page that is not here cannot be opened by its address either."""
    st.session_state[MENU_SEEN] = True
    try:
        account = current_account()
        groups = _groups(account)
    except AuditError as error:  # without the database of accounts nobody can be identified, so nothing is shown
        explain(error)
        st.stop()
    return groups


def home(account: Account | None) -> str:
    """The script that opens first for an account, or for a visitor who is not signed in."""
    own = own_pages(account)
    return "pages/overview.py" if may_browse(account) or not own else f"pages/studies/{own[0]}.py"


def address_exists(account: Account) -> bool:
    """Whether the address in the browser is a page of this account, or the first page."""
    name = PurePosixPath(urlsplit(st.context.url or "").path).name
    return name in {page.url_path for pages in _groups(account).values() for page in pages}


def tour_entry() -> None:
    """The link to the tour below the menu, for everybody whose first page has one."""
    account = current_account()
    if account is not None or may_browse(account):
        tour_link(home(account))


def _groups(account: Account | None) -> dict[str, list[StreamlitPage]]:
    first = home(account)
    groups = _browsing(first, may_rejudge(account)) if may_browse(account) else {}
    own = [page for script in own_pages(account) for page in _pages(f"pages/studies/{script}.py", STUDY_PAGES[script], first)]
    if account is None and own:
        own += _sign_in_entries({page.url_path for pages in (*groups.values(), own) for page in pages})
    title = escaped(account.name) if account is not None else "Account"
    return {**groups, title: own} if own else groups


def _sign_in_entries(existing: set[str]) -> Iterator[StreamlitPage]:
    """The sign-in page at every address that needs an account."""
    # So that a bookmark works again after signing in.
    for script in [*STUDY_PAGES, *(script for scripts in PAGES.values() for script, _ in scripts)]:
        if script not in existing:
            yield st.Page("pages/studies/sign_in.py", title=STUDY_PAGES["sign_in"], url_path=script, visibility="hidden")


def _browsing(first: str, owner: bool) -> dict[str, list[StreamlitPage]]:
    """Every page about a run. A title in lower case is a term that the run may have renamed."""
    run = current_run()
    return {
        group: [
            page
            for script, title in scripts
            if owner or script not in OWNER_PAGES
            for page in _pages(f"pages/{script}.py", _title(title), first, listed=is_listed(script, run))
        ]
        for group, scripts in PAGES.items()
    }


def is_listed(script: str, run: Run | None) -> bool:
    """Whether the menu lists a page: one about pairs, texts, systems, routes or stress tests only for a run that has them.

    The address of a page that is not listed still works, and the page says what the run lacks.
    """
    if script in TEXT_PAGES:
        return run is not None and _has_texts(run)
    if script in ROUTE_PAGES:
        return run is not None and run.has_routes
    if script in STRESS_PAGES:
        return run is not None and run.has_stress
    if script in SYSTEM_PAGES:
        return run is not None and run.has_systems
    return run is None or run.has_pairs or script in ALWAYS_SHOWN


def _has_texts(run: Run) -> bool:
    try:
        return bool(load(has_texts, run))
    except AuditError:  # the page itself explains a store that cannot be read
        return False


def _pages(path: str, title: str, first: str, *, listed: bool = True) -> Iterator[StreamlitPage]:
    """The page of a script, or both pages of the script that opens first."""
    # The first page exists twice, because Streamlit serves the default page at `/` only. The menu lists whichever of the two was
    # opened, so that the right entry is highlighted.
    by_name = path != first or _address_names(path)
    yield st.Page(path, title=title, visibility="visible" if by_name and listed else "hidden")
    if path == first:
        yield st.Page(
            path, title=title, url_path=f"first-{PurePosixPath(path).stem}", default=True,
            visibility="hidden" if by_name else "visible",
        )  # fmt: skip


def _address_names(path: str) -> bool:
    """Whether the address names the script."""
    return PurePosixPath(st.context.url or "").name == PurePosixPath(path).stem


def _title(title: str) -> str:
    if title[0].isupper():
        return title
    run = current_run()
    return title_of(run, title) if run else title.capitalize()
