"""Long texts are read in a process of its own that ends in time: a hostile one stops neither the server nor its visitors."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import mul
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from annotation.label_store.engine import open_label_store
from annotation.studies.accounts import open_session
from audit import own_process
from audit.formatting import MAX_TEXT_LENGTH
from audit.metrics.question_positions import positions_of
from audit.own_process import IN_PLACE_BYTES, TooMuchError, within_limits
from audit.store.connection import open_store
from pages._blinded.session_cookie import NAME
from tests.browser.conftest import ServerAddress, server
from tests.support.loading import load
from tests.support.studies import people
from tests.support.tiny import release_from
from tests.support.visitor import Visit, opened, run

LONG = "a" * IN_PLACE_BYTES
NEVER_ENDING = r"(?:a|a)*b"
AMOUNTS = "{} mg, "
SLOW = ("A", "Dr. ", AMOUNTS, "Take {} mg. ", "not {} not. ")
"""What is repeated in answers made to be read slowly: the dearest of fourteen such pieces, and capitals."""
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
        (len, (LONG * 600,), "MB; 50 are read"),
    ],
)
def test_what_cannot_be_read_ends_in_a_sentence(function: Any, arguments: Any, reason: str) -> None:
    with pytest.raises(TooMuchError, match=reason):
        within_limits(function, *arguments)


@dataclass
class Served:
    address: ServerAddress
    folder: Path
    petra: str


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A dashboard on answers made to be read slowly: of q1 500,000 letters each, of all others but q2 20,000."""
    folder = tmp_path_factory.mktemp("hostile")
    questions = ["q1", "q2", *(f"q{number}" for number in range(3, 3 + len(SLOW)))]
    release = release_from(folder, "\n".join(f"{q} kidney ab=DIVERGENT/high ac=CONTRADICTORY bc=DIVERGENT" for q in questions))
    answers = [json.loads(line) for line in (release / "answers.jsonl").read_text().splitlines()]
    for answer in answers:
        number = int(answer["question_id"][1:])
        if number != 2:
            piece, letters = (AMOUNTS, 500_000) if number == 1 else (SLOW[number - 3], MAX_TEXT_LENGTH)
            answer["answer"] = repeated(piece, letters, len(answer["handbook_id"]) + ord(answer["handbook_id"]))
    (release / "answers.jsonl").write_text("\n".join(map(json.dumps, answers)) + "\n")
    load(release, folder / "data")
    store = open_label_store(f"sqlite:///{folder / 'data' / 'studies.db'}")
    people(store, "petra", role="pi")
    token = open_session(store, "petra", datetime.now(UTC))
    store.close()
    with server(folder / "data") as address:
        yield Served(address, folder, f"{NAME}={token}")


def repeated(piece: str, letters: int, first: int = 0) -> str:
    """The piece again and again; `{}` in it counts on."""
    times = letters // len(piece.replace("{}", "00000")) + 2
    return "".join(piece.format(number) for number in range(first, first + times))[:letters]


async def usual_wait(served: Served, read: Callable[[Visit], Coroutine[Any, Any, None]]) -> tuple[float, int]:
    """CPU seconds of the server, at the median, from when another visitor asks until they have their page, while one reads.

    A machine with nothing else to do takes no longer than that; how long this one takes depends on what else it does. Also how
    many pages that visitor got.
    """
    async with opened(served.address, {"Cookie": served.petra}) as reader, opened(served.address) as other:
        await reader.rerun(page="question", query="question=q2")
        await other.rerun(page="question", query="question=q2")
        waited: list[float] = []
        reading = asyncio.create_task(read(reader))
        while not reading.done():
            before = served.address.cpu_s()
            await other.rerun(page="question", query="question=q2")
            waited.append(served.address.cpu_s() - before)
            await asyncio.sleep(0.5)
        await reading
        return median(waited), len(waited)


@pytest.mark.slow
def test_while_hostile_answers_are_read_another_visitor_gets_every_page_within_a_second(served: Served) -> None:
    async def read(reader: Visit) -> None:
        for number in range(3, 3 + len(SLOW)):
            for page in ("question", "answer", "disagreements"):
                await reader.rerun(page=page, query=f"question=q{number}&handbook=a&other=b&a=a&b=b&list=pairs")

    waited, pages = run(usual_wait(served, read), 400)
    assert pages > 1
    assert waited < OTHERS_S


@pytest.mark.slow
def test_the_server_answers_others_while_a_long_hostile_text_is_read(served: Served) -> None:
    async def read(reader: Visit) -> None:
        await reader.rerun(page="question", query="question=q1")

    waited, pages = run(usual_wait(served, read), 400)
    assert pages > 1
    assert waited < OTHERS_S


def test_positions_of_the_other_question_are_found(served: Served) -> None:
    (store,) = (served.folder / "data" / "store").glob("*.duckdb")
    with open_store(store) as con:
        assert positions_of(con, "q2").unread == ""
