"""How much of the server one visitor, and all visitors together, may take: open files, and tabs that are connected."""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from annotation.studies.signing_in import network_of

TABS_OF_AN_ADDRESS, TABS_IN_ALL = 40, 400
"""Tabs in which nobody has signed in, by address; and all tabs."""
FILES_OF_A_TAB, FILES_OF_THE_SERVER = 4, 256
IDLE_S = 60.0
TOO_MANY_HERE = "Too many tabs are open at your address. Close some, or wait a minute, then load this page again."
TOO_MANY = "The server has as many visitors as it can serve. Wait a minute, then load this page again."

log = logging.getLogger(__name__)


def raise_open_files() -> int:
    """Raise the number of files that this process may have open as far as the system allows, and say so; the number."""
    if sys.platform == "win32":  # it has no such limit
        return FILES_OF_THE_SERVER + FILES_OF_A_TAB * TABS_IN_ALL
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    tabs = tabs_within(hard)
    log.info("Up to %s open files, so up to %s tabs, %s of an address where nobody signed in.", hard, tabs, TABS_OF_AN_ADDRESS)
    return hard


def tabs_within(files: int) -> int:
    """How many tabs this many open files are enough for, at most TABS_IN_ALL."""
    return max(1, min(TABS_IN_ALL, (files - FILES_OF_THE_SERVER) // FILES_OF_A_TAB))


def _tabs_now() -> int:
    if sys.platform == "win32":
        return TABS_IN_ALL
    import resource

    return tabs_within(resource.getrlimit(resource.RLIMIT_NOFILE)[0])


class OpenTabs:
    """The tabs that are connected now. Only the thread of the server's requests uses it."""

    def __init__(self) -> None:
        self.most = _tabs_now()
        self.all = 0
        self.strangers: Counter[str] = Counter()

    def refusal(self, address: str, *, signed_in: bool) -> str:
        """Why another tab of this address cannot be served; "" where it can.

        address  "" where it is not known: behind a proxy that is not trusted everybody has the address of the proxy
        """
        if self.all >= self.most:
            return TOO_MANY
        return "" if signed_in or not address or self.strangers[network_of(address)] < TABS_OF_AN_ADDRESS else TOO_MANY_HERE

    @contextmanager
    def tab(self, address: str, *, signed_in: bool) -> Iterator[None]:
        """Count a tab while it is connected."""
        place = "" if signed_in or not address else network_of(address)
        self.all += 1
        self.strangers[place] += 1
        try:
            yield
        finally:
            self.all -= 1
            self.strangers[place] -= 1
            self.strangers += Counter()  # forgets who is gone

    def is_crowded(self, address: str) -> bool:
        """Whether more than half of the places are taken, in all or of this address, so that idle strangers have to make room."""
        here = self.strangers[network_of(address)] if address else 0
        return self.all > self.most // 2 or here > TABS_OF_AN_ADDRESS // 2
