"""The client for models compared with plain aiohttp, against the same server.

    python -m benchmarks.judge client [--calls N] [--rounds N]

client   A trivial server in its own process answers every call after 50 ms with a verdict. 64 calls are open at once.
         ours       `run_calls`: keys, concurrency limiter, circuit breaker, stop rules, every reply stored
         aiohttp    64 workers that post the same bodies in one session and parse the JSON; no checks
         Each runs in its own process, in turn. Reported: client CPU per call, calls per second, and the ratios within a
         round (median over rounds). Target: at most 12 x the CPU, at least 95 % of the throughput.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from audit.pipeline.llm.calls import Call
from audit.release.journal_files import Reply

DELAY_S, OPEN = 0.05, 64
WORDS = "Patients should call the transplant team about a fever above 38 degrees and keep taking the medicine. "
VERDICT = json.dumps({"reasoning": "Both name the same limit. " * 12, "classification": "CONSISTENT"})
COMPLETION = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "model": "judge",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": VERDICT}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 1000, "completion_tokens": 90, "prompt_tokens_details": {"cached_tokens": 600}},
}


def bodies(count: int) -> Iterator[dict[str, Any]]:
    """Requests of about a thousand tokens, like those of the judge."""
    for number in range(count):
        text = f"Pair {number}. {WORDS * 46}"
        yield {"model": "judge", "messages": [{"role": "user", "content": text}], "temperature": 0, "max_tokens": 400}


# -- the server --------------------------------------------------------------------------------------------------------


def serve() -> None:
    """Answer every request after DELAY_S; prints the port."""
    from aiohttp import web

    raw = json.dumps(COMPLETION).encode()

    async def chat(request: web.Request) -> web.Response:
        await request.read()
        await asyncio.sleep(DELAY_S)
        return web.Response(body=raw, content_type="application/json")

    async def listen() -> None:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", chat)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        print(runner.addresses[0][1], flush=True)
        await asyncio.Event().wait()

    asyncio.run(listen())


@contextmanager
def server() -> Iterator[str]:
    """The address of a server in its own process."""
    process = subprocess.Popen([sys.executable, "-m", "benchmarks.judge", "serve"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
    finally:
        process.kill()
        process.wait()


# -- the two clients ---------------------------------------------------------------------------------------------------


async def ours(url: str, count: int) -> int:
    from audit.pipeline.llm.client import Endpoint
    from audit.pipeline.llm.limits import Limits
    from audit.pipeline.llm.runner import run_calls

    calls = (Call(body, str(number // 20), "structured") for number, body in enumerate(bodies(count)))
    replies: list[Reply] = []

    def readable(call: Call, reply: Reply) -> bool:
        return bool(json.loads(reply.text or "{}"))

    limits = Limits(concurrency=OPEN, start=OPEN)
    stats = await run_calls(calls, [Endpoint(url, "judge")], replies.append, readable=readable, limits=limits)
    return stats.answered


async def bare(url: str, count: int) -> int:
    import aiohttp

    remaining, done = bodies(count), 0

    async def worker(session: aiohttp.ClientSession) -> None:
        nonlocal done
        for body in remaining:
            async with session.post(f"{url}/chat/completions", json=body) as response:
                done += bool((await response.json())["choices"])

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=OPEN)) as session:
        await asyncio.gather(*(worker(session) for _ in range(OPEN)))
    return done


WAYS: dict[str, Callable[[str, int], Coroutine[Any, Any, int]]] = {"aiohttp": bare, "ours": ours}


def one(way: str, url: str, count: int) -> None:
    """Measure one client in this process, after a few calls to warm it up."""

    async def measured() -> tuple[int, float, float]:
        await WAYS[way](url, OPEN)
        wall, cpu = time.perf_counter(), time.process_time()
        done = await WAYS[way](url, count)
        return done, time.process_time() - cpu, time.perf_counter() - wall

    done, cpu, wall = asyncio.run(measured())
    print(json.dumps({"done": done, "cpu_us": cpu / done * 1e6, "rate": done / wall}))


def measure(way: str, url: str, count: int) -> dict[str, float]:
    """Measure one client in its own process."""
    command = [sys.executable, "-m", "benchmarks.judge", "one", "--way", way, "--url", url, "--calls", str(count)]
    ran = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    measured: dict[str, float] = json.loads(ran.stdout.splitlines()[-1])
    assert measured["done"] == count, measured
    return measured


def client(count: int, rounds: int) -> None:
    """Measure both clients in turn: medians, and ratios within a round."""
    results: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
    with server() as url:
        for number in range(rounds):
            for way, measured in results.items():
                measured.append(measure(way, url, count))
                print(f"round {number + 1}, {way}: {measured[-1]}", file=sys.stderr)
    print(
        f"{'client':<10}{'CPU us/call':>12}{'calls/s':>9}{'open':>7}   {count:,} calls x {rounds}, most {OPEN / DELAY_S:,.0f}/s"
    )
    for way, measured in results.items():
        cpu, rate = (statistics.median(m[name] for m in measured) for name in ("cpu_us", "rate"))
        print(f"{way:<10}{cpu:>12.0f}{rate:>9.0f}{rate * DELAY_S:>7.1f}")
    _ratio("CPU, ours / aiohttp", "cpu_us", results, "at most 12")
    _ratio("calls/s, ours / aiohttp", "rate", results, "at least 0.95")


def _ratio(words: str, name: str, results: dict[str, list[dict[str, float]]], target: str) -> None:
    ratios = [mine[name] / other[name] for mine, other in zip(results["ours"], results["aiohttp"], strict=True)]
    print(f"{words}: {statistics.median(ratios):.2f} (of {', '.join(f'{ratio:.2f}' for ratio in ratios)}); target {target}")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("client", "serve", "one"), nargs="?", default="client")
    parser.add_argument("--calls", type=int, default=5_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.part == "serve":
        serve()
    elif arguments.part == "one":
        one(arguments.way, arguments.url, arguments.calls)
    else:
        client(arguments.calls, arguments.rounds)


if __name__ == "__main__":
    main()
