"""Starts Streamlit on app.py: `python pages/_blinded/serve.py run app.py [--server.port ...]`; `audit serve` runs it.

Four things have to be changed before the first visit, and Streamlit has no setting for them.
"""

from __future__ import annotations

import logging
import os
import socket
import sys

import streamlit.logger
import uvicorn
from streamlit.runtime.pages_manager import PagesManager
from streamlit.web.cli import main
from uvicorn.config import LOGGING_CONFIG

from annotation.label_store.engine import lock_for_serving
from audit.errors import AuditError
from audit.logs import start_logging
from audit.settings import Settings
from pages._blinded.limits import raise_open_files

TCP_FAMILIES = (socket.AF_INET, socket.AF_INET6)
# Connections that are still open then are closed
STOPPING_S = 5


def patch_server() -> None:
    """Apply the first three changes to the server that starts in this process."""
    # Uvicorn takes a visitor's address from X-Forwarded-For wherever a connection comes from this machine. `TrustedProxy` has to
    # know the real peer, and itself decides whom to believe.
    os.environ["FORWARDED_ALLOW_IPS"] = ""
    # Streamlit treats a folder called `pages` next to the script as its older kind of multi-page app until `st.navigation` is
    # called for the first time: the first visitor after a start who follows a link to a page would get "Page not found".
    PagesManager.uses_pages_directory = False
    # Streamlit binds its socket in a way that makes asyncio leave TCP_NODELAY unset. A reply is sent in several small frames, and
    # each then waits for the browser to acknowledge the one before, which takes 40 ms (Nagle's algorithm and delayed ACKs): most
    # of the time from key press to next item.
    startup = uvicorn.Server.startup

    async def startup_without_delay(self: uvicorn.Server, sockets: list[socket.socket] | None = None) -> None:
        # A tab that holds a download open, as one that a browser may not store, would keep the server from stopping for ever
        self.config.timeout_graceful_shutdown = STOPPING_S
        for listener in sockets or []:
            if listener.family in TCP_FAMILIES:  # accepted connections inherit the option
                listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await startup(self, sockets)

    uvicorn.Server.startup = startup_without_delay  # type: ignore[method-assign]


def log_through_one_handler(settings: Settings) -> None:
    """Make every logger of Streamlit and uvicorn pass its lines on to the root logger, which writes them as set."""
    # Streamlit and uvicorn format their own logs; through `audit.logs`, AUDIT_LOG=json leaves no other line.
    start_logging(settings.log_format, settings.log_level)
    streamlit.logger.setup_formatter = _pass_on
    streamlit.logger.update_formatter()
    # Below this level uvicorn logs every header that it receives, and so the cookies that sign people in.
    level = max(logging.INFO, logging.getLevelName(settings.log_level.upper()))
    for logger in LOGGING_CONFIG["loggers"].values():
        logger.update(handlers=[], level=level, propagate=True)


def _pass_on(logger: logging.Logger) -> None:
    logger.handlers.clear()
    logger.propagate = True


def start() -> None:
    """Start the dashboard, unless another one serves the same SQLite store."""
    settings = Settings()
    os.umask(0o077)  # what the server writes is for its own account
    patch_server()
    log_through_one_handler(settings)
    raise_open_files()
    try:
        held = lock_for_serving(settings.studies_url)
    except AuditError as error:
        logging.getLogger("audit.serve").error(error)
        sys.exit(2)
    try:
        main()
    finally:
        if held:
            held.release()


if __name__ == "__main__":
    start()
