"""Packages to download, built when they are asked for and kept as long as nothing in them has changed."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from itertools import count
from threading import Lock

import streamlit as st
from streamlit import runtime

from audit.exports.package import ExportRequest, package
from audit.exports.zip_bytes import zipped

KEPT = 4
"""Packages that the server remembers; each is about 15 MB."""
PATIENCE_S = 15
"""A browser that has been told to fetch, and does not within this time, will not."""
ASKED = "Beginning"
ZIP = "application/zip"
Key = tuple[object, ...]


class Shelf:
    """Finished packages by what they are of, and how far the others are."""

    def __init__(self) -> None:
        self._done: OrderedDict[Key, bytes] = OrderedDict()
        self._steps: dict[Key, tuple[str, float]] = {}
        self._places = count()
        self._one_at_a_time = Lock()

    def ask(self, key: Key) -> None:
        """Somebody has pressed the button: the package will be fetched in a moment."""
        if key not in self._done:
            self._steps.setdefault(key, (ASKED, time.monotonic()))

    def step(self, key: Key) -> str:
        """What is being done for a package; empty where nothing is."""
        said, since = self._steps.get(key, ("", 0.0))
        return "" if said == ASKED and time.monotonic() - since > PATIENCE_S else said

    def size(self, key: Key) -> int | None:
        """Bytes of a finished package; None where it is not built."""
        done = self._done.get(key)  # looked up once: another visitor's package may take its place meanwhile
        return None if done is None else len(done)

    def take(self, key: Key, order: Callable[[], ExportRequest], name: str) -> bytes:
        """The package under a file name, built now where it is not there. Raises AuditError as the build does."""
        with self._one_at_a_time:
            try:
                if key not in self._done:
                    self._put(key, zipped(package(order(), lambda step: self._tell(key, step))), name)
            finally:
                self._steps.pop(key, None)
            return self._done[key]

    def _put(self, key: Key, data: bytes, name: str) -> None:
        self._done[key] = data
        while len(self._done) > KEPT:
            self._done.popitem(last=False)
        hold(data, name, next(self._places) % KEPT)

    def _tell(self, key: Key, step: str) -> None:
        self._steps[key] = (step, time.monotonic())


def hold(data: bytes, name: str, place: int) -> None:
    """Keep what a click has made on the server until KEPT others have taken its place.

    Streamlit forgets such a file at the end of the second run of anybody's page: with people at work, before a slow browser
    has begun to fetch it. The same bytes under the same name are the same file to it, and this reference no run takes away.
    """
    if runtime.exists():
        files = runtime.get_instance().media_file_mgr
        files.add(data, ZIP, f"package {place}", file_name=name, is_for_static_download=True)


@st.cache_resource(show_spinner=False)
def shelf() -> Shelf:
    """The one shelf of this server."""
    return Shelf()


@st.fragment(run_every=0.5)
def progress(key: Key) -> None:
    """What is being done, until it is done."""
    step = shelf().step(key)
    if not step:
        st.rerun()
    st.info(f"{step} …", icon=":material/hourglass_top:")
