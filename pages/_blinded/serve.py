"""Starts Streamlit on app.py: `python pages/_blinded/serve.py run app.py [--server.port ...]`; `audit serve` runs it.

Two things have to be changed before the first visit, and Streamlit has no setting for them.

Streamlit treats a folder called `pages` next to the script as its older kind of multi-page app until `st.navigation` is called
for the first time. The first visitor after a start who follows a link to one of our pages would get "Page not found".

Streamlit binds its socket in a way that makes asyncio leave TCP_NODELAY unset. A reply is sent in several small frames, and
each then waits for the browser to acknowledge the one before, which takes 40 ms (Nagle's algorithm and delayed ACKs): most of
the time from key press to next item.
"""

from __future__ import annotations

import socket

import uvicorn
from streamlit.runtime.pages_manager import PagesManager
from streamlit.web.cli import main

TCP_FAMILIES = (socket.AF_INET, socket.AF_INET6)


def patch_server() -> None:
    """Apply both changes to the server that starts in this process."""
    PagesManager.uses_pages_directory = False
    startup = uvicorn.Server.startup

    async def startup_without_delay(self: uvicorn.Server, sockets: list[socket.socket] | None = None) -> None:
        for listener in sockets or []:
            if listener.family in TCP_FAMILIES:  # accepted connections inherit the option
                listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await startup(self, sockets)

    uvicorn.Server.startup = startup_without_delay  # type: ignore[method-assign]


if __name__ == "__main__":
    patch_server()
    main()
