"""Two thousand tabs of one address take no place from another address, and idle strangers make room."""

from __future__ import annotations

import asyncio
import resource
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import AsyncExitStack

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.protocol import State

from pages._blinded import request_guard
from pages._blinded.limits import TABS_IN_ALL, TABS_OF_AN_ADDRESS, TOO_MANY_HERE, OpenTabs, raise_open_files, tabs_within
from tests.browser.conftest import server

CROWD, OTHER = "192.0.2.7", "192.0.2.8"
ASKED = 2_000


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("limits")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUDIT_TRUSTED_PROXY", "127.0.0.1,::1")
        with server(folder, folder / "log") as started:
            yield started


def page(address: str, visitor: str) -> tuple[int, str]:
    """Status and text of the first page for a visitor whom the proxy has seen at this address."""
    request = urllib.request.Request(address, headers={"Accept": "text/html", "X-Forwarded-For": visitor})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_hundreds_of_tabs_of_one_address_leave_the_server_to_others(address: str) -> None:
    async def crowd() -> tuple[int, int]:
        stream = f"{address.replace('http', 'ws')}/_stcore/stream"
        opened, refused = [], 0
        async with AsyncExitStack() as stack:
            for _ in range(ASKED):
                try:
                    opened.append(await stack.enter_async_context(connect(stream, additional_headers={"X-Forwarded-For": CROWD})))
                except InvalidStatus:
                    refused += 1
            assert await asyncio.to_thread(page, address, CROWD) == (503, TOO_MANY_HERE)
            assert (await asyncio.to_thread(page, address, OTHER))[0] == 200
            await stack.enter_async_context(connect(stream, additional_headers={"X-Forwarded-For": OTHER}))
            # Idle ones end after a minute, in which a busy machine has not asked for all
            return sum(one.state is State.OPEN for one in opened), len(opened) + refused

    here, asked = asyncio.run(crowd())
    assert here <= TABS_OF_AN_ADDRESS
    assert asked == ASKED
    assert page(address, CROWD)[0] == 200


def test_the_places_in_all_are_kept_within_the_open_files() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        assert raise_open_files() == before[1] == resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert [tabs_within(files) for files in (1_024, 65_536, 64)] == [192, TABS_IN_ALL, 1]


def test_a_person_who_signed_in_is_not_counted_with_the_strangers_of_their_address() -> None:
    tabs = OpenTabs()
    tabs.most = TABS_OF_AN_ADDRESS + 2
    with Strangers(tabs, TABS_OF_AN_ADDRESS, CROWD):
        assert tabs.refusal(CROWD, signed_in=False) == TOO_MANY_HERE
        assert not tabs.refusal(CROWD, signed_in=True)
        assert not tabs.refusal("", signed_in=False)
        with tabs.tab(CROWD, signed_in=True), tabs.tab(CROWD, signed_in=True):
            assert "as many visitors" in tabs.refusal(OTHER, signed_in=True)
    assert tabs.all == 0
    assert not tabs.strangers


class Strangers:
    """So many tabs of strangers."""

    def __init__(self, tabs: OpenTabs, count: int, address: str) -> None:
        self.opened = [tabs.tab(address, signed_in=False) for _ in range(count)]

    def __enter__(self) -> None:
        for tab in self.opened:
            tab.__enter__()

    def __exit__(self, *_: object) -> None:
        for tab in self.opened:
            tab.__exit__(None, None, None)


@pytest.mark.parametrize("crowded", [True, False])
def test_an_idle_stranger_gives_way_only_where_it_is_crowded(crowded: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_guard, "IDLE_S", 0.02)

    async def received() -> dict[str, object]:
        async def receive() -> dict[str, object]:
            await asyncio.sleep(0.2)
            return {"type": "websocket.receive", "bytes": b"late"}

        return dict(await request_guard._until_idle(receive, lambda: crowded)())

    assert asyncio.run(received())["type"] == ("websocket.disconnect" if crowded else "websocket.receive")
