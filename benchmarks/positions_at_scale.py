"""How long the positions behind the labels take at the published size: `python -m benchmarks.positions_at_scale [--scale paper]`.

A store of the simulated run with what these figures read: labels, the texts of disagreements and of answers. CPU seconds of one
process, as the background job after loading has it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import pandas as pd

from audit.metrics.doubted_labels import doubted_labels
from audit.metrics.likely_disputed import disputed_share_corrected, evidence_of, likely_disputed
from audit.queries.judge_errors import judge_errors
from audit.store.tables import store_schema
from tests.simulator.answers import answer_text, drawn_styles
from tests.simulator.build import CONFIGS, DEFAULT_SEED
from tests.simulator.judge import Labels, simulate_labels
from tests.simulator.verdicts import _judged
from tests.simulator.world import World, draw_world


def texts(world: World, labels: Labels) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The pairs that the judge was asked about, and the answers, as the release of this world has them."""
    ids, first, second = [book.id for book in world.handbooks], *(side.tolist() for side in world.pairs)
    pairs, answers = [], []
    for number, style in zip(range(len(world.questions)), drawn_styles(world), strict=True):
        asked = list(_judged(world, labels, number, ids, {}, None))
        columns = "classification", "reasoning", "divergence_topic"
        pairs += [(number, first[pair], second[pair], *(record[name] for name in columns)) for pair, record in asked]
        books = sorted({side[pair] for side in (first, second) for pair, _ in asked})
        answers += [(number, book, answer_text(world, number, book, style[world.handbooks[book].center])) for book in books]
    named = pd.DataFrame(pairs, columns=["question", "handbook_a", "handbook_b", "label", "reasoning", "divergence_topic"])
    return named, pd.DataFrame(answers, columns=["question", "handbook", "answer"])


def fill(con: duckdb.DuckDBPyConnection, world: World, labels: Labels) -> int:
    """Write the store; returns its pairs with an answer on either side."""
    pairs, answers = texts(world, labels)
    con.execute(store_schema())
    ids = [one.id for one in world.questions]
    questions = pd.DataFrame({"question": range(len(ids)), "question_id": ids, "text": ids, "organ": "general"})
    books = pd.DataFrame([(number, one.id, one.organ, one.center_name, "pre") for number, one in enumerate(world.handbooks)])
    books = books.set_axis(["handbook", "handbook_id", "organ", "center", "phase"], axis=1).assign(may_be_downloaded=False)
    books["aliases"] = [[""]] * len(books)
    filled = (
        ("questions", questions), ("handbooks", books), ("pairs", pairs.assign(prescreened=False)), ("answers", answers)
    )  # fmt: skip
    for table, frame in filled:
        con.register("frame", frame)
        con.execute(f"insert into {table} by name select * from frame")
    return len(pairs)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.positions_at_scale")
    parser.add_argument("--scale", choices=tuple(CONFIGS), default="paper")
    world = draw_world(CONFIGS[parser.parse_args().scale](DEFAULT_SEED))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.duckdb"
        with duckdb.connect(str(path)) as con:
            pairs = fill(con, world, simulate_labels(world))
        with duckdb.connect(str(path), read_only=True, config={"threads": 1}) as con:
            start = time.process_time()
            evidence = evidence_of(con, judge_errors(con).errors)
            positions = time.process_time() - start
            handbooks = sorted(map(len, evidence.members))
            middle, most = handbooks[len(handbooks) // 2], handbooks[-1]
            print(f"{len(handbooks):,} questions, {pairs:,} pairs; handbooks: median {middle}, most {most}")
            print(f"positions {positions:.1f} CPU s, {1000 * positions / len(handbooks):.1f} ms a question")
            for metric in (likely_disputed, disputed_share_corrected, doubted_labels):
                before = time.process_time()
                metric(con)
                print(f"{metric.name} {time.process_time() - before:.1f} CPU s more")
            print(f"together {time.process_time() - start:.1f} CPU s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
