"""Export packages for download, built on request and cached as long as nothing in them has changed."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from itertools import count
from threading import Lock

import streamlit as st
from streamlit import runtime

from audit.exports.package import package
from audit.exports.package_files import zipped
from audit.exports.package_request import ExportRequest
from pages._shared.page import leave_if_signed_out

MAX_PACKAGES = 4  # kept in memory; each is about 15 MB
MAX_WAIT_S = 15  # a browser that was asked to download and has not started within this time never will
REQUESTED = "Starting"
DELIVERY_S = 3  # while a finished package is on its way to the browser
DELIVERING = "Sending the file"
ZIP_TYPE = "application/zip"
PackageKey = tuple[object, ...]
"""Everything that a package depends on: equal keys mean equal files."""


class PackageCache:
    """Finished packages by key, and the progress of those being built. Used by several threads at once."""

    def __init__(self) -> None:
        self._packages: OrderedDict[PackageKey, bytes] = OrderedDict()
        self._steps: dict[PackageKey, tuple[str, float]] = {}
        self._slots = count()
        self._one_at_a_time = Lock()

    def request(self, key: PackageKey) -> None:
        """Note that the button was clicked: the browser will fetch the package in a moment."""
        if key not in self._packages:
            self._steps.setdefault(key, (REQUESTED, time.monotonic()))

    def current_step(self, key: PackageKey) -> str:
        """What is being done for a package; "" where nothing is."""
        step, since = self._steps.get(key, ("", 0.0))
        limit = {REQUESTED: MAX_WAIT_S, DELIVERING: DELIVERY_S}.get(step)
        return "" if limit is not None and time.monotonic() - since > limit else step

    def size(self, key: PackageKey) -> int | None:
        """Bytes of a finished package; None where it is not built."""
        # Looked up once: another visitor's package may push it out between a check and a second look.
        package_bytes = self._packages.get(key)
        return None if package_bytes is None else len(package_bytes)

    def fetch(self, key: PackageKey, order: Callable[[], ExportRequest], name: str) -> bytes:
        """The package under a file name, built now where it is not cached. Raises AuditError as the build does."""
        with self._one_at_a_time:  # so that a second click waits for the package instead of building it again
            try:
                if key not in self._packages:
                    self._put(key, zipped(package(order(), lambda step: self._set_step(key, step))), name)
            except BaseException:
                self._steps.pop(key, None)
                raise
            # The page runs again as soon as no step is left, and Streamlit drops what it has not sent yet when a page runs: a run
            # right now could drop the answer to the click, with the address of the file, and the download would never start.
            self._set_step(key, DELIVERING)
            return self._packages[key]

    def _put(self, key: PackageKey, data: bytes, name: str) -> None:
        self._packages[key] = data
        while len(self._packages) > MAX_PACKAGES:
            self._packages.popitem(last=False)
        keep_available(data, name, next(self._slots) % MAX_PACKAGES)

    def _set_step(self, key: PackageKey, step: str) -> None:
        self._steps[key] = (step, time.monotonic())


def keep_available(data: bytes, name: str, slot: int) -> None:
    """Keep a file available for download until a later one takes its slot."""
    # Streamlit drops a file made by a click at the end of the second page run of any visitor, which may be before a slow browser
    # has started to fetch it. Streamlit identifies files by content and name, so registering the same bytes under coordinates of
    # our own adds a reference that no page run removes.
    if runtime.exists():
        files = runtime.get_instance().media_file_mgr
        files.add(data, ZIP_TYPE, f"package {slot}", file_name=name, is_for_static_download=True)


@st.cache_resource(show_spinner=False)
def package_cache() -> PackageCache:
    """The one cache of this server."""
    return PackageCache()


@st.fragment(run_every=0.5)
def show_progress(key: PackageKey) -> None:
    """Show what is being done, until it is done."""
    leave_if_signed_out()
    step = package_cache().current_step(key)
    if not step:
        st.rerun()
    st.info(f"{step} …", icon=":material/hourglass_top:")
