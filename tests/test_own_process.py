"""Long texts are read in a process of its own that ends in time: a hostile one stops neither the server nor its visitors."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from operator import mul
from pathlib import Path
from typing import Any

import pytest

from audit import own_process
from audit.metrics.question_positions import positions_of
from audit.own_process import IN_PLACE_BYTES, MAX_SECONDS, TooMuchError, within_limits
from audit.store.connection import open_store
from tests.browser.conftest import server
from tests.support.loading import load
from tests.support.tiny import release_from
from tests.support.visitor import opened

LONG = "a" * IN_PLACE_BYTES
NEVER_ENDING = r"(?:a|a)*b"
HOSTILE = "{} mg, "
OTHERS_S = 1.0


def test_short_texts_are_read_here_and_long_ones_elsewhere_with_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[object] = []
    real = subprocess.run

    def spied(*arguments: Any, **named: Any) -> Any:
        started.append(arguments)
        return real(*arguments, **named)

    monkeypatch.setattr(own_process.subprocess, "run", spied)  # type: ignore[attr-defined]
    assert (within_limits(len, "a"), len(started)) == (1, 0)
    assert (within_limits(len, LONG), len(started)) == (len(LONG), 1)


def test_a_text_that_takes_too_long_is_given_up_while_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_process, "MAX_SECONDS", 2)
    waited, done = [0.0], threading.Event()

    def others() -> None:
        while not done.is_set():
            before = time.monotonic()
            time.sleep(0.01)
            waited.append(time.monotonic() - before)

    meanwhile = threading.Thread(target=others)
    meanwhile.start()
    with pytest.raises(TooMuchError, match="more than 2 seconds"):
        within_limits(re.fullmatch, NEVER_ENDING, LONG)  # which here would hold the interpreter for ever
    done.set()
    meanwhile.join()
    assert max(waited) < OTHERS_S


@pytest.mark.parametrize(
    ("function", "arguments", "reason"),
    [
        (mul, (LONG, 10**6), "GB of memory"),
        (int, (LONG,), "what reads them failed"),
        (len, (LONG * 200,), "MB; 50 are read"),
    ],
)
def test_what_cannot_be_read_ends_in_a_sentence(function: Any, arguments: Any, reason: str) -> None:
    with pytest.raises(TooMuchError, match=reason):
        within_limits(function, *arguments)


@dataclass
class Served:
    address: str
    folder: Path


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A dashboard on a run whose first question has three long answers made to be read slowly."""
    folder = tmp_path_factory.mktemp("hostile")
    release = release_from(folder, "q1 kidney ab=DIVERGENT/high ac=CONTRADICTORY\nq2 kidney ab=DIVERGENT ac=CONSISTENT")
    answers = [json.loads(line) for line in (release / "answers.jsonl").read_text().splitlines()]
    for answer in (a for a in answers if a["question_id"] == "q1"):
        answer["answer"] = "".join(HOSTILE.format(number) for number in range(len(answer["handbook_id"]), 50_000))
    (release / "answers.jsonl").write_text("\n".join(map(json.dumps, answers)) + "\n")
    load(release, folder / "data")
    with server(folder / "data") as address:
        yield Served(address, folder)


@pytest.mark.slow
def test_the_server_answers_others_while_a_hostile_text_is_given_up(served: Served) -> None:
    async def visits() -> tuple[str, float, list[float]]:
        async with opened(served.address) as reader, opened(served.address) as other:
            await other.rerun(page="glossary")
            await other.rerun(page="question", query="question=q2")
            waited: list[float] = []
            began = time.monotonic()
            for _ in range(3):
                await other.rerun(page="question", query="question=q2")
            alone = (time.monotonic() - began) / 3
            reading = asyncio.create_task(reader.rerun(page="question", query="question=q1"))
            while not reading.done():
                asked = time.monotonic()
                await other.rerun(page="question", query="question=q2")
                waited.append(time.monotonic() - asked)
                await asyncio.sleep(0.1)
            await reading
            return reader.text, alone, waited

    shown, alone, waited = asyncio.run(visits())
    assert f"more than {MAX_SECONDS} seconds" in shown
    assert len(waited) > 3
    # A busy machine takes longer without it too
    assert sorted(waited)[len(waited) // 2] < max(OTHERS_S, 2 * alone)


def test_positions_of_the_other_question_are_found(served: Served) -> None:
    (store,) = (served.folder / "data" / "store").glob("*.duckdb")
    with open_store(store) as con:
        assert positions_of(con, "q2").unread == ""
