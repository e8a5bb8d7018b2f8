"""Starts Streamlit on app.py: `python pages/_blinded/serve.py run app.py [--server.port ...]`, which is what `audit serve` does.

Two things have to be so before the first visit, and Streamlit has no setting for them.

Streamlit takes a folder called `pages` beside the script for its older kind of multi-page app until `st.navigation` is
called for the first time. The first visitor after a start, when a link brings him to one of our pages, would be told that
there is no such page.

Streamlit binds its socket in a way in which asyncio leaves TCP_NODELAY unset. An answer goes out in several small frames, and
each waited for the browser to acknowledge the one before, which it does after 40 ms: most of the time from key to next item.
"""

from __future__ import annotations

import socket

import uvicorn
from streamlit.runtime.pages_manager import PagesManager
from streamlit.web.cli import main

TCP = (socket.AF_INET, socket.AF_INET6)


def prepare() -> None:
    """Make both so, for a server that starts in this process."""
    PagesManager.uses_pages_directory = False
    startup = uvicorn.Server.startup

    async def without_delay(self: uvicorn.Server, sockets: list[socket.socket] | None = None) -> None:
        for listening in sockets or []:
            if listening.family in TCP:  # a connection inherits it
                listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await startup(self, sockets)

    uvicorn.Server.startup = without_delay  # type: ignore[method-assign]


if __name__ == "__main__":
    prepare()
    main()
