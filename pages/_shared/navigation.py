"""The menu: the doors that exist for an account and a run, and the tabs behind a door."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import PurePosixPath
from urllib.parse import urlsplit

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from annotation.studies.accounts import Account
from audit.errors import AuditError
from audit.queries.run_contents import run_contents
from audit.settings import Settings
from audit.store.runs import Run
from pages._blinded.access import STUDY_PAGES, current_account, may_browse, may_rejudge, note_refused_page, on_loopback, own_pages
from pages._blinded.frame import escaped, explain
from pages._blinded.scripts import script_path
from pages._blinded.tour import tour_link
from pages._shared import loaders
from pages._shared.doors import (
    ALWAYS,
    BROWSING,
    HANDBOOKS,
    LABELLING_DOORS,
    MY_ACCOUNT,
    OWNER_PAGES,
    PAIRS,
    ROUTES,
    SIGN_IN,
    SIGN_OUT,
    START,
    STRESS,
    STUDIES,
    SYSTEMS,
    TWO_RUNS,
    UNLABELLED,
    WITHOUT_HANDBOOKS,
    WITHOUT_PAIRS,
    Door,
    Tab,
    crumb_of,
    door_of,
    doors,
)
from pages._shared.pickers import current_run
from pages._shared.widgets import title_of

UNIDENTIFIED = (
    "The accounts cannot be read at this moment, so nothing is shown. Whoever runs the server finds the reason in its log."
)
log = logging.getLogger(__name__)
PAGE_NAMES = frozenset((*STUDY_PAGES, *BROWSING))


def menu() -> list[StreamlitPage]:
    """The pages for the current account; a page that is not here cannot be opened by its address either."""
    try:
        account = current_account()
        pages = list(_pages(account))
        asked = _address().removeprefix(FIRST)
        if asked in PAGE_NAMES and asked not in {page.url_path.removeprefix(FIRST) for page in pages}:
            note_refused_page(account, asked)
        return pages
    except AuditError as error:  # without the database of accounts nobody can be identified, so nothing is shown
        log.error("%s", error)
        explain(error if _is_operator() else AuditError(UNIDENTIFIED))
        st.stop()


def _is_operator() -> bool:
    """Whether somebody at the machine itself looks, who may read what is wrong with it."""
    try:
        return on_loopback() and not Settings().public_hosts
    except AuditError:  # a setting itself is wrong
        return on_loopback()


def home(account: Account | None) -> str:
    """The script that opens first for an account, or for a visitor who is not signed in."""
    own = own_pages(account)
    return START.script if may_browse(account) or not own else f"studies/{own[0]}"


def address_exists(account: Account) -> bool:
    """Whether the address in the browser is a page of this account, or the first page."""
    return _address() in {page.url_path for page in _pages(account)}


def script_of(page: StreamlitPage) -> str:
    """The script of a page of the menu in `pages/`, without `.py`: for a visitor, an address that needs an account signs in."""
    account = current_account()
    name = page.url_path.removeprefix(FIRST) or PurePosixPath(home(account)).name
    script = f"studies/{name}" if name in STUDY_PAGES else name
    is_open = account is not None or (may_browse(account) and script in BROWSING and _is_open_to(BROWSING[script], account))
    return script if is_open else SIGN_IN.script


def page_title(script: str) -> str:
    """The title of a page in the browser's tab."""
    own = STUDIES.tabs if may_browse(current_account()) else [tab for door in LABELLING_DOORS for tab in door.tabs]
    titles = {tab.script: tab.title for tab in (*BROWSING.values(), *own, SIGN_IN, SIGN_OUT, MY_ACCOUNT)}
    title = titles[script]
    return title if title[0].isupper() else _in_own_terms(title, current_run())


def tour_entry() -> None:
    """The link to the tour below the menu, for everybody whose first page has one: *Start* only where there are pairs."""
    account, run = current_account(), current_run()
    has_none = home(account) == START.script and run is not None and not run.has_pairs
    if not has_none and (account is not None or may_browse(account)):
        tour_link(script_path(home(account)))


def tabs(script: str) -> None:
    """The pages behind the same door as links in a row, or the crumb of a page that was opened from another."""
    account, run = current_account(), current_run()
    if not may_browse(account):
        return
    params: dict[str, str | list[str]] = {"run": run.key} if run else {}
    if parent := crumb_of(script, unlabelled=run is not None and not run.has_pairs, asked="ask" in st.query_params):
        # The address has the filters of the page before, and names what was opened there.
        here = {name: st.query_params.get_all(name) for name in st.query_params}
        _link(parent, f"← {page_title(parent)}", {**here, **params}, "crumb")
        return
    door = door_of(script)
    listed = (
        [tab for tab in door.tabs if _is_open_to(tab, account) and (is_listed(tab, run) or tab.script == script)] if door else []
    )
    if len(listed) > 1:
        with st.container(horizontal=True, key="tabs", gap="small"):
            for tab in listed:
                title = escaped(_in_own_terms(tab.title, run))
                label = f"**{title}**" if tab.script == script else title
                _link(tab.script, label, {} if tab.script.startswith("studies/") else {**params})


def is_listed(tab: Tab, run: Run | None) -> bool:
    """Whether the menu lists a page: one that needs what the run does not have is left out.

    The address of a page that is not listed still works, and the page says what the run lacks.
    """
    if run is None:
        return tab.needs in (ALWAYS, HANDBOOKS, PAIRS)
    if not run.has_pairs and tab.needs not in (WITHOUT_PAIRS if run.has_handbooks else WITHOUT_HANDBOOKS):
        return False
    if tab.needs == TWO_RUNS:
        return len(loaders.loaded_runs()) > 1
    flags = {
        ALWAYS: True, PAIRS: True, HANDBOOKS: run.has_handbooks, UNLABELLED: run.has_handbooks and not run.has_pairs,
        SYSTEMS: run.has_systems, ROUTES: run.has_routes, STRESS: run.has_stress,
    }  # fmt: skip
    return flags[tab.needs] if tab.needs in flags else tab.needs in _contents(run)


def _contents(run: Run) -> frozenset[str]:
    try:
        contents: frozenset[str] = loaders.load(run_contents, run)
    except AuditError:  # the page itself explains a store that cannot be read
        return frozenset()
    return contents


def _link(script: str, label: str, params: dict[str, str | list[str]], key: str = "") -> None:
    path = script_path(script)
    if key:
        with st.container(key=key):
            st.page_link(path, label=escaped(label), query_params=params)
    else:
        st.page_link(path, label=label, query_params=params, width="content")


FIRST = "first-"


def _pages(account: Account | None) -> Iterator[StreamlitPage]:
    first, browses, own = home(account), may_browse(account), own_pages(account)
    owner, run = may_rejudge(account), current_run() if browses else None
    shown = doors(account, browses=browses, owner=owner, has_handbooks=run is None or run.has_handbooks, own=own)
    in_menu = dict(_menu_entries(shown, run, first, account))
    own_tabs = [Tab(f"studies/{script}", STUDY_PAGES[script], ALWAYS) for script in own]
    known: dict[str, Tab] = {}  # in the order of the menu
    for tab in (*(tab for door in shown for tab in door.tabs), *(BROWSING.values() if browses else ()), *own_tabs):
        known.setdefault(tab.script, tab)
    for script, tab in known.items():
        if _is_open_to(tab, account):
            yield from _both(script, in_menu.get(script), _in_own_terms(tab.title, run), first)
    if account is None and own:
        exists = {PurePosixPath(script).name for script in known}
        yield from _sign_in_entries(exists)


def _menu_entries(shown: tuple[Door, ...], run: Run | None, first: str, account: Account | None) -> Iterator[tuple[str, str]]:
    """Script and title of each entry: of a door with several pages the open one, so that the entry is highlighted."""
    address = _address().removeprefix(FIRST) or PurePosixPath(first).name
    for door in shown:
        listed = [tab for tab in door.tabs if _is_open_to(tab, account) and is_listed(tab, run)]
        if listed:
            opened = next((tab for tab in listed if PurePosixPath(tab.script).name == address), listed[0])
            yield opened.script, _in_own_terms(door.title, run)


def _both(script: str, entry: str | None, title: str, first: str) -> Iterator[StreamlitPage]:
    """The page of a script, or both pages of the script that opens first; `entry` is its title in the menu."""
    # The first page exists twice, because Streamlit serves the default page at `/` only. The menu lists whichever of the two was
    # opened, so that the right entry is highlighted.
    path, name = script_path(script), PurePosixPath(script).name
    by_name = script != first or _address() == name
    yield st.Page(path, title=entry or title, visibility="visible" if entry and by_name else "hidden")
    if script == first:
        visible = entry and not by_name
        yield st.Page(
            path, title=entry or title, url_path=f"{FIRST}{name}", default=True, visibility="visible" if visible else "hidden",
        )  # fmt: skip


def _sign_in_entries(existing: set[str]) -> Iterator[StreamlitPage]:
    """The sign-in page at every address that needs an account."""
    # So that a bookmark works again after signing in.
    for script in [*STUDY_PAGES, *BROWSING]:
        if script not in existing:
            yield st.Page(script_path(SIGN_IN.script), title=SIGN_IN.title, url_path=script, visibility="hidden")


def _is_open_to(tab: Tab, account: Account | None) -> bool:
    return tab.script not in OWNER_PAGES or may_rejudge(account)


def _address() -> str:
    """The page's name in the address; empty on the first page."""
    return PurePosixPath(urlsplit(st.context.url or "").path).name


def _in_own_terms(title: str, run: Run | None) -> str:
    """A title in the run's words: one in lower case is a term that the run may have renamed."""
    if title[0].isupper():
        return title
    return title_of(run, title) if run else title.capitalize()
