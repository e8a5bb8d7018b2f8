"""Labelling with 1, 2 and 20 annotators at the same study: server, browser, CPU, and what stored ratings cost.

    python -m benchmarks.annotate [--labels N] [--rounds N] [--only wire|stored|browser]

wire      Annotators without a browser, who speak Streamlit's protocol to the real server (`annotating.wire`). "submit to
          next": from the moment a submit is handed to the socket until the frame with the next item has been read from it.
          Of that, measured in the server: the whole run of the page's script, and within it the time with the label store
          (lock, statements, commit with WAL and synchronous=FULL). Flat out means that each submits as soon as the run that
          brought the next item has ended; a label every 3 s is quicker than anybody reads.
stored    One annotator, with so many ratings in the same study already, half of them the annotator's own: the ledger, the
          annotator's list and the assignments all grow. Ratios are to none, with labels taken in turn; of the script run and not
          of what the wire saw, for Streamlit sends in beats of 5 ms and one frame more or less in a beat is no growth.
browser   Chromium, the page's own clock: from the last key of a label until the next item is visible, and until the label is
          saved; beside a bare Streamlit page (`annotating.bare`, 36 lines) in the same run. With 20 annotators, 2 have a
          browser and 18 are on the wire with a label every 3 s each: two cores do not carry 20 browsers.

CPU is of the server's process, user and system; at a human pace its idling, 4 ms a second, is in it. Of several rounds the one
with the lowest median is shown, and the load average beside it: other work on the machine only ever adds.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.annotating import keyboard
from benchmarks.annotating.office import Office, Server, office, serving, serving_bare
from benchmarks.annotating.wire import label_together

PACE_S = 3.0
PAUSE_MS = 300
MEDIAN_MS, P95_MS, CPU_MS = 20, {1: 50, 2: 50, 20: 600}, 20
VISIBLE_MS = (100, 150)
STORED = (0, 2_000, 20_000)


@dataclass(frozen=True)
class Wired:
    """Times in ms: submit to next, whole script run, of it the label store; CPU a label; kilobytes a label; labels a second."""

    total: list[float]
    script: list[float]
    store: list[float]
    cpu: float
    kilobytes: float
    rate: float


def wired(server: Server, tokens: dict[str, str], labels: int, pace_s: float) -> Wired:
    """Everybody labels at the same time."""
    marks: list[tuple[float, int]] = []

    def mark() -> None:
        marks.append((server.cpu_ms(), len(server.script_runs())))

    work = asyncio.run(label_together(server.address, tokens, labels, pace_s, mark))
    (cpu, first), (cpu_after, last) = marks
    runs = server.script_runs()[first:last]
    cpu_per_label = (cpu_after - cpu) / len(work.times)
    return Wired(work.times, [run for run, _ in runs], [store for _, store in runs], cpu_per_label, work.kilobytes, work.rate)


def middle(values: Sequence[float]) -> float:
    return statistics.median(values)


def high(values: Sequence[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


def best(rounds: int, measure: Callable[[], Wired]) -> Wired:
    return min((measure() for _ in range(rounds)), key=lambda wired: middle(wired.total))


@contextmanager
def opened(annotators: int, labels: int, stored: int = 0) -> Iterator[tuple[Server, Office]]:
    """A server with a study that has enough items for everybody."""
    with tempfile.TemporaryDirectory() as folder:
        people = office(Path(folder), annotators, labels, stored)
        with serving(Path(folder)) as server:
            yield server, people


def on_the_wire(labels: int, rounds: int) -> None:
    """1, 2 and 20 annotators, flat out and at a human pace."""
    print(
        f"\nServer, ms (median / p95); target: {MEDIAN_MS} median, p95 {P95_MS[2]} with 2 and {P95_MS[20]} with 20, CPU {CPU_MS}"
    )
    print(f"{'annotators':<24}{'submit to next':>16}{'script run':>16}{'label store':>16}{'CPU':>7}{'KB':>6}{'labels/s':>10}")
    for annotators in (1, 2, 20):
        for pace, per_person in ((0.0, max(labels // annotators, 15)), (PACE_S, max(labels // 8, 5))):
            with opened(annotators, (per_person + 1) * rounds) as (server, people):
                figures = best(rounds, lambda s=server, p=people, n=per_person, q=pace: wired(s, p.tokens, n, q))  # type: ignore[misc]
            name = f"{annotators}, a label per {pace:.0f} s" if pace else f"{annotators}, flat out"
            print(f"{name:<24}{_figures(figures)}{_verdict(annotators, figures, pace == 0)}", flush=True)


def _figures(figures: Wired) -> str:
    parts = "".join(f"{f'{middle(v):.1f} / {high(v):.1f}':>16}" for v in (figures.total, figures.script, figures.store))
    return f"{parts}{figures.cpu:>7.1f}{figures.kilobytes:>6.0f}{figures.rate:>10.1f}"


def _verdict(annotators: int, figures: Wired, flat_out: bool) -> str:
    missed = {
        "median": annotators < 20 and middle(figures.total) > MEDIAN_MS,
        "p95": high(figures.total) > P95_MS[annotators],
        "CPU": flat_out and figures.cpu > CPU_MS,
    }
    names = [name for name, wrong in missed.items() if wrong]
    return f"  MISSED: {', '.join(names)}" if names else ""


def with_ratings_stored(labels: int, rounds: int) -> None:
    """What a label costs with more and more ratings in the study."""
    with ExitStack() as stack:
        open_ones = {stored: stack.enter_context(opened(1, (labels + 1) * rounds, stored)) for stored in STORED}
        taken: dict[int, list[Wired]] = {stored: [] for stored in STORED}
        for _ in range(rounds):
            for stored, (server, people) in open_ones.items():
                taken[stored].append(wired(server, people.tokens, labels, 0.0))
    print(f"\n{'ratings stored':<24}{'submit to next':>16}{'script run':>16}{'label store':>16}{'CPU':>7}   to none: script, CPU")
    for stored, figures in taken.items():
        quick, none = (min(tries, key=lambda wired: middle(wired.script)) for tries in (figures, taken[0]))
        cpu = min(w.cpu for w in figures) / min(w.cpu for w in taken[0])
        print(f"{stored:<24,}{_figures(quick)[:55]}{middle(quick.script) / middle(none.script):>12.2f}, {cpu:.2f}", flush=True)


def in_the_browser(labels: int, rounds: int) -> None:
    """1, 2 and 20 annotators, of whom at most two have a browser; and the bare page."""
    print(f"\nBrowser, ms (median / p95); target: {VISIBLE_MS[0]} / {VISIBLE_MS[1]} to the next item visible")
    print(f"{'annotators':<24}{'next visible':>16}{'saved':>16}{'bare page':>16}   ratio to the bare page: visible, saved")
    for annotators in (1, 2, 20):
        tries = [_typed(annotators, labels) for _ in range(rounds)]
        ours, bare = min(tries, key=lambda tried: middle(tried[0].saved))
        figures = "".join(f"{f'{middle(v):.0f} / {high(v):.0f}':>16}" for v in (ours.visible, ours.saved, bare.visible))
        ratios = [middle(v) / middle(bare.visible) for v in (ours.visible, ours.saved)]
        name = f"{annotators} (2 browsers)" if annotators > 2 else str(annotators)
        missed = middle(ours.visible) > VISIBLE_MS[0] or high(ours.visible) > VISIBLE_MS[1]
        print(f"{name:<24}{figures}{ratios[0]:>10.2f}, {ratios[1]:.2f}{'  MISSED' if missed else ''}", flush=True)


def _typed(annotators: int, labels: int) -> tuple[keyboard.Times, keyboard.Times]:
    """Ours and the bare page, with as many browsers each."""
    with opened(annotators, labels + 40) as (server, people), keyboard.chromium() as browser:
        tokens = dict(people.tokens)
        seated = [tokens.pop(name) for name in list(tokens)[:2]]
        pages = [keyboard.widget_page(browser, server.address, token) for token in seated]
        with _beside(server, tokens):
            ours = keyboard.type_labels(pages, labels, PAUSE_MS)
        with serving_bare(people.folder) as address:
            bare = [keyboard.bare(browser, address) for _ in seated]
            return ours, keyboard.type_labels(bare, labels, PAUSE_MS, one_key=True)


@contextmanager
def _beside(server: Server, tokens: dict[str, str]) -> Iterator[None]:
    """So many others, a label every 3 s each, while the block lasts."""
    if not tokens:
        yield
        return
    seated, stop = threading.Event(), threading.Event()
    work = partial(label_together, server.address, tokens, 40, PACE_S, seated.set, stop.is_set)
    others = threading.Thread(target=lambda: asyncio.run(work()))
    others.start()
    seated.wait(120)
    yield
    stop.set()
    others.join()


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labels", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=("wire", "stored", "browser"))
    arguments = parser.parse_args()
    parts = {"wire": on_the_wire, "stored": with_ratings_stored, "browser": in_the_browser}
    for name, part in parts.items():
        if arguments.only in (None, name):
            print(f"\nload average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", end="")
            part(arguments.labels if name != "browser" else arguments.labels // 2, arguments.rounds)


if __name__ == "__main__":
    main()
