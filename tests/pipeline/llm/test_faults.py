"""Every fault that can happen on the way to an answer, and how the call ends."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from audit.pipeline.llm.client import Endpoint
from audit.pipeline.llm.limits import Limits, StoppedError
from audit.pipeline.llm.runner import run_calls
from tests.pipeline.llm.helpers import QUICK, call, limits_for, questions, readable, run
from tests.support.llm.fault_server import fault_server
from tests.support.llm.faults import CONNECTION_FAULTS, FAULTS

# fault, how the call ends, how many replies are stored, how often the server was asked
EVERY_FAULT = """
    none            answered    1  1
    control         answered    1  1
    thinking        answered    1  1
    no-usage        answered    1  1
    surrogate       answered    1  1
    500*1           answered    2  2
    500             failed      3  3
    502             failed      3  3
    abort           failed      3  3
    cut-body*2      answered    3  3
    cut-body        failed      3  3
    reset           failed      3  3
    slow            failed      3  3
    silent          failed      3  3
    huge            failed      3  3
    bad-json        failed      3  3
    nested          failed      3  3
    no-choices      failed      3  3
    list            failed      3  3
    not-utf8        failed      3  3
    error-200       failed      3  3
    prose*1         answered    2  2
    prose           unreadable  2  2
    declines        unreadable  2  2
    reasoning       unreadable  2  2
    blank           unreadable  2  2
    null            unreadable  2  2
    length*1        answered    2  2
    length          cut         2  2
    flood           cut         2  2
    400             refused     1  1
    422             refused     1  1
    503*2           answered    1  3
    429*2           answered    1  3
    503-after*1     answered    1  2
    503             stopped     0  -
    429             stopped     0  -
    429-day         stopped     0  1
    large-200       failed      3  3
    large-400       refused     1  1
    large-500       failed      3  3
    large-429       stopped     0  -
    large-503       stopped     0  -
    bomb-200        failed      3  3
    bomb-400        refused     1  1
    bomb-500        failed      3  3
    bomb-429        stopped     0  -
    bomb-503        stopped     0  -
    401             stopped     0  1
    403             stopped     0  1
    404             stopped     0  1
    redirect        stopped     0  1
"""


def run_one(text: str, limits: Limits) -> tuple[str, int, int]:
    """(how the one call ended, replies stored, times asked)."""
    with fault_server() as server:
        stored: list = []
        try:
            stats = asyncio.run(
                run_calls([call(text)], [Endpoint(server.url, "judge")], stored.append, readable=readable, limits=limits)
            )
        except StoppedError:
            return "stopped", len(stored), server.asked
        (column,) = [name for name in ("answered", "unreadable", "cut", "refused", "failed") if getattr(stats, name)]
        assert stats.done == 1
        return column, len(stored), server.asked


@pytest.mark.parametrize("line", EVERY_FAULT.strip().splitlines(), ids=lambda line: line.split()[0])
def test_every_fault_has_its_outcome(line):
    fault, outcome, stored, asked = line.split()
    result = run_one(
        f"fault:{fault}" if fault != "none" else "well", replace(QUICK, busy_s=0.3) if asked == "-" else limits_for(fault)
    )
    assert result[:2] == (outcome, int(stored))
    assert asked == "-" or result[2] == int(asked)


def test_the_table_names_every_fault():
    assert {line.split()[0].partition("*")[0] for line in EVERY_FAULT.strip().splitlines()} == {
        "none",
        *FAULTS,
        *CONNECTION_FAULTS,
    }


@pytest.mark.parametrize("retry_after", ["0", "-5", "1 Jan 1 00:00:00 +2359", "Sat, 21 Nov 2020 10:00:30 GMT", "nan", "0.0001"])
def test_a_retry_after_that_asks_for_no_wait_does_not_remove_the_pauses(retry_after):
    with fault_server(always="fault:503", retry_after=retry_after) as server:
        with pytest.raises(StoppedError, match="because it is busy"):
            run(server, questions(2, 20), replace(QUICK, busy_s=1.0))
        # pauses of 0.02, 0.04, ... 0.64 s, and at most the 8 open calls, fewer with each episode, after each of them
        assert server.asked <= 8 * 7


def test_a_retry_after_of_ages_stops_the_run_at_once():
    with fault_server(always="fault:503", retry_after="1e18") as server:
        with pytest.raises(StoppedError, match="asks to wait"):
            run(server, questions(2, 20), QUICK)
        assert server.asked <= 8


def test_stored_texts_can_be_written_as_utf8():
    with fault_server() as server:
        _, replies = run(server, [call("fault:surrogate"), call("fault:control"), call("fault:not-utf8")])
    for reply in replies:
        json.dumps(reply.text, ensure_ascii=False).encode()
        json.dumps(reply.error, ensure_ascii=False).encode()
