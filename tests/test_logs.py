"""The log: every line a JSON object where that is set, whoever writes it."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from pathlib import Path

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from audit.cli.main import main
from audit.logs import JsonFormatter
from tests.browser.conftest import AUDIT_SERVE, server
from tests.support.visitor import visit


def test_a_line_has_its_time_level_logger_message_and_exception():
    try:
        raise ValueError("what\nhappened")
    except ValueError:
        record = logging.LogRecord("pages.x", logging.ERROR, __file__, 1, 'said "%s"\n', ("ü",), sys.exc_info())
    record.created = 0
    line = JsonFormatter().format(record)
    assert "\n" not in line
    entry = json.loads(line)
    assert entry.pop("exception").endswith("ValueError: what\nhappened")
    assert entry == {"time": "1970-01-01T00:00:00.000+00:00", "level": "error", "logger": "pages.x", "message": 'said "ü"\n'}


def refused(address: str) -> None:
    """A handshake that Streamlit refuses, and logs as a warning."""

    async def knock() -> None:
        with pytest.raises((InvalidStatus, ConnectionClosed)):
            async with connect(address.replace("http", "ws") + "/_stcore/stream", origin="http://evil.test") as socket:  # type: ignore[arg-type]
                await socket.recv()

    asyncio.run(knock())


def test_no_level_logs_the_cookie_that_signs_somebody_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AUDIT_LOG_LEVEL", "debug")
    with server(tmp_path, tmp_path / "log") as address:
        visit(address, {"Cookie": "handbook_session=a-token"})
    log = (tmp_path / "log").read_text()
    assert "DEBUG" in log
    assert "a-token" not in log


def lines_of_a_server(folder: Path) -> list[str]:
    with server(folder, folder / "log", list(AUDIT_SERVE)) as address:  # in a Python of its own, from its first line on
        refused(address)
    return (folder / "log").read_text().splitlines()


def test_everything_that_a_server_writes_is_json_where_that_is_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AUDIT_LOG", "json")
    entries = [json.loads(line) for line in lines_of_a_server(tmp_path)]
    assert {"info", "warning"} <= {entry["level"] for entry in entries}
    assert any("dashboard opens at" in entry["message"] for entry in entries)
    assert any("startup complete" in entry["message"] for entry in entries)
    assert any("Refused /_stcore/stream" in entry["message"] for entry in entries)


def test_a_level_leaves_out_what_is_less_severe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AUDIT_LOG", "json")
    monkeypatch.setenv("AUDIT_LOG_LEVEL", "warning")
    assert {json.loads(line)["level"] for line in lines_of_a_server(tmp_path)} == {"warning"}


@pytest.mark.parametrize(("name", "allowed"), [("AUDIT_LOG", "text, json"), ("AUDIT_LOG_LEVEL", "debug, info, warning, error")])
def test_an_unknown_form_or_level_starts_no_server(monkeypatch, capsys, name, allowed):
    monkeypatch.setenv(name, "loud")
    assert main(["serve"]) == 2
    assert f"Setting {name} is 'loud'. Allowed: {allowed}." in capsys.readouterr().err
