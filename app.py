"""The dashboard: page configuration, sign-in and menu. Start it with `audit serve` or `streamlit run app.py`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import streamlit as st
from starlette.middleware import Middleware

from pages._blinded.compressed import CompressedFiles
from pages._blinded.first_account_code import offer_first_account
from pages._blinded.identity import TrustedProxy
from pages._blinded.request_guard import RequestGuard
from pages._blinded.session_cookie import routes, sweeping

NAME = "Handbook audit"

if __name__ == "__main__":  # a run of the script, for one visitor
    # Imported here and not by the server: the caches of the pages need a running server.
    from pages._shared.navigation import menu, page_title, script_of, tabs, tour_entry
    from pages._shared.top_bar import top_bar

    st.set_page_config(page_title=NAME, layout="wide", initial_sidebar_state=200)
    page = st.navigation(menu(), expanded=True)
    script = script_of(page)
    # So that browser tabs differ and a screen reader announces the page
    st.set_page_config(page_title=f"{page_title(script)} · {NAME}")
    tour_entry()
    top_bar(script)
    tabs(script)
    page.run()
else:  # the server, which imports this file once
    from streamlit.runtime.pages_manager import PagesManager

    from pages._shared import readiness

    # `pages/` is also the folder name of Streamlit's older kind of multi-page app, for which it would look first.
    PagesManager.uses_pages_directory = False

    @asynccontextmanager
    async def serving(server: st.App) -> AsyncIterator[None]:
        """What is done when the server starts, and for as long as it runs."""
        offer_first_account()
        async with sweeping(server):
            yield

    # The second recognises the user whom the first names
    guards = [Middleware(TrustedProxy), Middleware(RequestGuard), Middleware(CompressedFiles)]
    app = st.App(__file__, routes=[*routes(), *readiness.routes()], middleware=guards, lifespan=serving)
