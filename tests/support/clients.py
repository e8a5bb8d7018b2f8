"""Clients in processes of their own, forked from one process that has imported everything and started no thread.

    python -m tests.support.clients race URL CLIENTS
    python -m tests.support.clients kill URL ROUNDS SEED TOKEN...

Every client is one annotator (`a1`, `a2`, ...) of study `s`. What a client sends goes to standard output as lines:
    try KEY SEAT   the client is about to submit
    ack KEY SEAT   the store has acknowledged it
    signin         a token that was good is not taken any more
"""

from __future__ import annotations

import os
import random
import select
import signal
import sys
import time
from datetime import UTC, datetime

from annotation.accounts import signed_in
from annotation.label_store.engine import open_label_store
from annotation.label_store.ratings import Submit, submit
from annotation.label_store.seats import Choice, next_task


def client(url: str, annotator: str, out: int, token: str | None, again: tuple[str, str] | None) -> None:
    """Rate until nothing is left. `again`: (key, seat) that was under way when this annotator was killed."""
    store = open_label_store(url)
    if token is not None and signed_in(store, token, datetime.now(UTC)) is None:
        os.write(out, b"signin\n")
    if again is not None:
        press(store, annotator, *again, out)
    number = 0
    while (task := next_task(store, "s", annotator, datetime.now(UTC), str(os.getpid()))) is not None:
        number += 1
        press(store, annotator, f"{annotator}/{os.getpid()}/{number}", task.seat_id, out)


def press(store, annotator: str, key: str, seat_id: str, out: int) -> None:
    os.write(out, f"try {key} {seat_id}\n".encode())
    submit(store, annotator, Submit(seat_id, Choice("COMPLEMENTARY"), key), datetime.now(UTC))
    os.write(out, f"ack {key} {seat_id}\n".encode())


def fork(url: str, annotator: str, token: str | None = None, again: tuple[str, str] | None = None) -> tuple[int, int]:
    """(process, end of its pipe to read from)."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    os.close(reading)
    code = 1
    try:
        client(url, annotator, writing, token, again)
        code = 0
    finally:
        os._exit(code)


def lines_of(pipe: int) -> list[str]:
    text = b"".join(iter(lambda: os.read(pipe, 65_536), b""))
    os.close(pipe)
    return text.decode().splitlines()


def race(url: str, clients: int) -> None:
    started = [fork(url, f"a{n}") for n in range(1, clients + 1)]
    for child, pipe in started:
        print("\n".join(lines_of(pipe)))
        _, status = os.waitpid(child, 0)
        if status:
            sys.exit(f"a client ended with {status}")


def kill(url: str, rounds: int, seed: int, tokens: list[str]) -> None:
    """In each round all clients work, and in the middle of it they are killed."""
    chance = random.Random(seed)
    under_way: dict[int, tuple[str, str]] = {}
    for _ in range(rounds):
        started = [fork(url, f"a{n}", token, under_way.get(n)) for n, token in enumerate(tokens, start=1)]
        at_work, _, _ = select.select([started[-1][1]], [], [], 20)  # the last one has begun, so all have
        time.sleep(chance.uniform(0.0, 0.05))
        for child, _pipe in started:
            os.kill(child, signal.SIGKILL)
        if not at_work:
            sys.exit("a client did nothing for 20 seconds")
        for n, (child, pipe) in enumerate(started, start=1):
            _, status = os.waitpid(child, 0)
            if not os.WIFSIGNALED(status):
                sys.exit(f"client {n} ended before it was killed, with {status}")
            told = lines_of(pipe)
            print("\n".join(told))
            words = [line.split() for line in told if line.startswith(("try", "ack"))]
            if words:
                under_way[n] = (words[-1][1], words[-1][2])


if __name__ == "__main__":
    if sys.argv[1] == "race":
        race(sys.argv[2], int(sys.argv[3]))
    else:
        kill(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5:])
