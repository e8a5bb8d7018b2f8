"""Readiness: whether this server can answer with data, for a load balancer or a monitor. `/_stcore/health` says that it runs."""

from __future__ import annotations

import logging
import time
from functools import lru_cache

import streamlit as st
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from audit.errors import AuditError
from audit.settings import Settings
from audit.store.runs import read_stores

ADDRESS = "ready"
KEPT_S = 5
"""How long a result is given again, as anybody may ask."""
READY, EMPTY, FAILED = "ready", "empty", "not ready"

log = logging.getLogger(__name__)


def routes() -> list[Route]:
    """The route of the readiness check, in addition to Streamlit's own."""
    base = str(st.get_option("server.baseUrlPath")).strip("/")
    return [Route("/".join(["", *filter(None, [base]), ADDRESS]), _ready)]


def _ready(_: Request) -> JSONResponse:
    """200 with the state of both stores, or 503 where one does not answer. The reason is in the log only."""
    states = _states(int(time.monotonic() // KEPT_S))
    return JSONResponse(states, 503 if FAILED in states.values() else 200, {"Cache-Control": "no-store"})


@lru_cache(maxsize=1)
def _states(_: int) -> dict[str, str]:
    return {"store": store_state(Settings()), "label_store": label_store_state()}


def store_state(settings: Settings) -> str:
    """READY if a loaded run can be read, EMPTY where none is loaded, FAILED where none of them can be read."""
    runs, damaged = read_stores(settings.store_dir)
    if runs:
        return READY
    for path, reason in damaged.items():
        log.error("%s cannot be read: %s", path, reason)
    return FAILED if damaged else EMPTY


def label_store_state() -> str:
    """READY where the database of studies answers, EMPTY where it has not been created yet, FAILED where it does not answer."""
    from pages._blinded.access import accounts_exist, database_exists  # its caches need a running server

    if not database_exists():
        return EMPTY
    try:
        accounts_exist()  # reads a table
    except AuditError as error:
        log.error("%s", error)
        return FAILED
    return READY
