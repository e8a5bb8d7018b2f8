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
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

from annotation.label_store.assignments import Choice, next_task
from annotation.label_store.engine import LabelStore, open_label_store
from annotation.label_store.ratings import NewRating, submit_rating
from annotation.studies.accounts import account_of_token


def client(store: LabelStore, annotator: str, out: int, token: str | None = None, again: tuple[str, str] | None = None) -> None:
    """Rate until nothing is left. `again`: (key, seat) that was under way when this annotator was killed."""
    if token is not None and account_of_token(store, token, datetime.now(UTC)) is None:
        os.write(out, b"signin\n")
    if again is not None:
        press(store, annotator, *again, out)
    while (task := next_task(store, "s", annotator, datetime.now(UTC), str(os.getpid()))) is not None:
        press(store, annotator, f"{annotator}/{os.getpid()}/{time.monotonic_ns()}", task.assignment_id, out)


def press(store: LabelStore, annotator: str, key: str, seat_id: str, out: int) -> None:
    os.write(out, f"try {key} {seat_id}\n".encode())
    submit_rating(store, annotator, NewRating(seat_id, Choice("COMPLEMENTARY"), key), datetime.now(UTC))
    os.write(out, f"ack {key} {seat_id}\n".encode())


def warm(url: str) -> LabelStore:
    """A store without a connection, whose statements are compiled once here and not in every client."""
    store = open_label_store(url)
    task = next_task(store, "s", "a1", datetime.now(UTC), "warm")
    assert task is not None
    press(store, "a1", "warm", task.assignment_id, sys.stdout.fileno())
    store.close()
    return store


def fork(work: Callable[[int], None]) -> tuple[int, int]:
    """(process that does `work`, end of its pipe to read from)."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    os.close(reading)
    code = 1
    try:
        work(writing)
        code = 0
    finally:
        if code:
            traceback.print_exc()
        os._exit(code)


def rest_of(pipe: int) -> bytes:
    told = b"".join(iter(lambda: os.read(pipe, 65_536), b""))
    os.close(pipe)
    return told


def race(store: LabelStore, clients: int) -> None:
    started = [fork(partial(client, store, f"a{n}")) for n in range(1, clients + 1)]
    for child, pipe in started:
        print(rest_of(pipe).decode(), end="")
        _, status = os.waitpid(child, 0)
        if status:
            sys.exit(f"a client ended with {status}")


def kill(store: LabelStore, rounds: int, seed: int, tokens: list[str]) -> None:
    """In each round all clients work, and when they have so many acknowledgements they are killed where they are."""
    chance = random.Random(seed)
    under_way: dict[int, tuple[str, str]] = {}
    for _ in range(rounds):
        work = [partial(client, store, f"a{n}", token=token, again=under_way.get(n)) for n, token in enumerate(tokens, start=1)]
        started = [fork(each) for each in work]
        told = until(chance.randint(2, 10), [pipe for _, pipe in started])
        time.sleep(chance.uniform(0, 0.003))
        for child, _pipe in started:
            os.kill(child, signal.SIGKILL)
        for n, (child, pipe) in enumerate(started, start=1):
            _, status = os.waitpid(child, 0)
            if not os.WIFSIGNALED(status):
                sys.exit(f"client {n} ended before it was killed, with {status}")
            lines = (told[pipe] + rest_of(pipe)).decode().splitlines()
            print("\n".join(lines))
            words = [line.split() for line in lines if line.startswith(("try", "ack"))]
            if words:
                under_way[n] = (words[-1][1], words[-1][2])


def until(acknowledged: int, pipes: list[int]) -> dict[int, bytes]:
    """What the clients told until they had so many acknowledgements together."""
    told = dict.fromkeys(pipes, b"")
    while sum(each.count(b"ack") for each in told.values()) < acknowledged:
        ready, _, _ = select.select(pipes, [], [], 60)
        if not ready:
            sys.exit("no client did anything for 60 seconds")
        for pipe in ready:
            told[pipe] += os.read(pipe, 65_536)
    return told


if __name__ == "__main__":
    if sys.argv[1] == "race":
        race(warm(sys.argv[2]), int(sys.argv[3]))
    else:
        kill(warm(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5:])
