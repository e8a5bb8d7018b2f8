"""Questions that people ask and leave take no turn from those who wait."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from audit.jobs import asking
from audit.jobs.asking import AskScope, Worker, ask_run


class LeftError(Exception):
    """The page was left."""


def left(*_: object) -> None:
    raise LeftError


def test_a_question_that_was_left_while_it_waited_is_withdrawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, go_on, worker = [], threading.Event(), Worker()

    def ask(request: Any, limit_s: float = 0) -> str:
        asked.append(request.question)
        go_on.wait(10)
        return f"answer to {request.question}"

    monkeypatch.setattr(worker, "ask", ask)
    monkeypatch.setattr(asking, "_worker_of", lambda digest: worker)
    run: Any = SimpleNamespace(path=tmp_path, digest="d")
    for number in range(320):
        with pytest.raises(LeftError):
            ask_run(run, f"question {number}", AskScope(), tmp_path, left)
    go_on.set()
    assert ask_run(run, "the next visitor's", AskScope(), tmp_path) == "answer to the next visitor's"
    assert asked == ["question 0", "the next visitor's"]
    assert worker.open <= 1
