"""The positions that labels give, against the truth of simulated runs.

    python -m benchmarks.demo_positions [SEED ...] [--list]

Every sentence of a simulated answer is known: it states the handbook's value, advice that all share, or one of five details. Of
each seed QUESTIONS questions with a position are drawn. A position is *true* where every holder's quote states the same of these,
which for a value is the value that the handbook holds; *inverted* where somebody stands under another value than its own; *beside
the point* where the question turns on a value on which handbooks differ, and the position is about something else.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from pathlib import Path

import duckdb
import numpy as np

from audit.metrics.question_positions import Position, positions_of
from benchmarks.disputed_list import Run, simulated
from benchmarks.positions_at_scale import fill
from tests.simulator.policies import policies

QUESTIONS = 30
SEEDS = tuple(range(9101, 9111))
Item = tuple[str, int]
TRUE, INVERTED, MIXED, BESIDE = "true", "inverted", "mixed", "beside the point"


def stated(quote: str, policy: int) -> Item:
    """What a quote states: ("value", number), ("advice", 0), ("detail", number), or ("frame", 0) for a center's own phrases."""
    one = policies()[policy]
    known: list[tuple[Item, tuple[str, ...]]] = [(("value", number), ways) for number, ways in enumerate(one.says)]
    known += [(("advice", 0), one.guidance)]
    known += [(("detail", number), (detail.sentence,)) for number, detail in enumerate(one.details)]
    return next((item for item, ways in known if any(quote in way or way in quote for way in ways)), ("frame", 0))


def verdict(run: Run, number: int, position: Position) -> str:
    """TRUE, INVERTED, MIXED (holders state different things) or BESIDE (the question turns on something else)."""
    world = run.world
    places = {book.id: place for place, book in enumerate(world.handbooks)}
    row, asked = world.row[number], world.questions[number]
    items = {holder.handbook_id: stated(holder.quote, asked.policy) for holder in position.holders}
    values = [(value, int(world.value[row, places[name]])) for name, (kind, value) in items.items() if kind == "value"]
    if any(shown != own for shown, own in values):
        return INVERTED
    if len(set(items.values())) > 1:
        return MIXED
    differ = len({int(world.value[row, place]) for place in np.flatnonzero(world.present[number])}) > 1
    return BESIDE if asked.contested and differ and not values else TRUE


def of_seed(seed: int, listed: bool) -> Counter[str]:
    """How many positions of the drawn questions have each verdict."""
    run, counts = simulated(seed), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.duckdb"
        with duckdb.connect(str(path)) as con:
            fill(con, run.world, run.labels)
        with duckdb.connect(str(path), read_only=True) as con:
            drawn = 0
            for number in np.random.default_rng(seed).permutation(len(run.world.questions)):
                question = run.world.questions[number]
                found = positions_of(con, question.id)
                for position in found.positions:
                    what = verdict(run, int(number), position)
                    counts[what] += 1
                    if listed and what != TRUE:
                        quotes = [f"{one.handbook_id}: {one.quote}" for one in position.holders[:4]]
                        print(f"{seed} {question.id} {what} | {question.text} | {position.aspect} | {' / '.join(quotes)}")
                drawn += bool(found.positions)
                if drawn == QUESTIONS:
                    break
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seeds", nargs="*", type=int, default=SEEDS)
    parser.add_argument("--list", action="store_true", help="print every position that is not true")
    arguments = parser.parse_args()
    together = Counter[str]()
    for seed in arguments.seeds:
        counts = of_seed(seed, arguments.list)
        together += counts
        print(f"{seed}: {dict(counts)}", flush=True)
    print(f"together: {dict(together)}, {together[TRUE] / together.total():.3f} of {together.total()} true")


if __name__ == "__main__":
    main()
