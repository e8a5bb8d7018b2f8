"""Stress tests on 500 questions of PubMedQA: readers whose curves are known against those curves, and a model of pure noise.

    python -m benchmarks.stress [--data ../shared/data] [--limit N] [--seed 0] [--server N]

Builds the instances by rules, replies with the five readers without a model, loads and measures. The first table has, for each
reader and measure, how many cells (test, size, share of signal) have the value that arithmetic gives inside their 95 % interval,
and the largest gap: of 100 such intervals, five miss on average. --server N puts N questions to a language model with random
weights on a real server (sufficiency): its replies are noise. It has favourite letters and calls, so chance is not 1/k: accuracy
must be what its letters and the golds give when they have nothing to do with each other, and found + kept must be 1.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from audit.cli.main import main as audit
from audit.metrics.stress import replies_of, selection_parameters, stress_curves
from audit.pipeline.stress.running.readers import READER_NAMES
from audit.settings import Settings
from audit.store.connection import Connection, open_store
from audit.store.load import load_release

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
MEASURES = ("accuracy", "insufficient", "noise_detection", "error_detection", "sub_exact")
# An interval is printed and stored as float32
ROUNDING = 1e-6


def expected_value(reader: str, test: str, measure: str, share: float, options: int, commonest: float) -> float | None:
    """The value that a reader has on average in a cell that has documents; None where it gives nothing to measure.

    share      0 to 1, of signal (in robustness: of correct documents)
    options    that a question has
    commonest  share of questions whose gold is the commonest one
    """
    declines = float(test == "sufficiency" and share == 0)
    detection = {"oracle": 1.0, "copycat": share, "insufficient": 1 - share, "coin": 0.5}
    known: dict[str, dict[str, float]] = {
        "accuracy": {
            "oracle": 1 - declines, "copycat": share, "closed_book": commonest, "insufficient": 0.0, "coin": 1 / options,
        },
        "insufficient": dict.fromkeys(READER_NAMES, 0.0) | {"oracle": declines, "insufficient": 1.0},
        "noise_detection": detection, "error_detection": detection,
        "sub_exact": {"oracle": 1.0, "copycat": share if test == "robustness" else 1.0, "coin": 0.5},
    }  # fmt: skip
    return known[measure].get(reader)


def compared(curves: pd.DataFrame, options: int, commonest: float) -> pd.DataFrame:
    """Each cell of the readers with documents: the columns of `stress_curves`, expected, inside, gap."""
    own = curves[curves["system_id"].isin(READER_NAMES) & curves["measure"].isin(MEASURES) & (curves["size"] > 0)]
    expected = [
        expected_value(row.system_id, row.test, row.measure, row.signal_share / 100, options, commonest)
        for row in own.itertuples()
    ]
    own = own.assign(expected=pd.Series(expected, index=own.index, dtype=float))
    # Where all questions have one value no interval is known; such a reader is expected to give exactly that value.
    low, high = (own[end].fillna(own["value"]) for end in ("value_low", "value_high"))
    inside = own["expected"].between(low - ROUNDING, high + ROUNDING)
    return own.assign(inside=inside, gap=(own["value"] - own["expected"]).abs())


def chance(con: Connection, system_id: str) -> Iterator[dict[str, Any]]:
    """For each share of signal in sufficiency: accuracy of a system, and what its letters and the golds give by chance."""
    replies = replies_of(con, selection_parameters("sufficiency", None))
    curves = stress_curves(con, test="sufficiency").query("system_id == @system_id")
    (number,) = {row.system for row in replies.itertuples()} & set(_numbers(con, system_id))
    for share, table in replies[(replies["system"] == number) & replies["readable"]].groupby("signal_share"):
        letters, golds = (table[name].value_counts() / len(table) for name in ("choice", "gold"))
        figures = curves[curves["signal_share"] == share].set_index("measure")
        accuracy, parts = figures.loc["accuracy"], figures["value"].reindex(["noise_found", "signal_kept"])
        yield {
            "signal": share, "replies": len(table), "accuracy": accuracy["value"], "low": accuracy["value_low"],
            "high": accuracy["value_high"], "by chance": float((letters * golds).sum()), "found + kept": parts.sum(skipna=False),
        }  # fmt: skip


def _numbers(con: Connection, system_id: str) -> list[int]:
    return [row[0] for row in con.execute("select system from systems where system_id = $1", [system_id]).fetchall()]


def _run_server(release: Path, questions: int, seed: int) -> str:
    """Replies of a model with random weights to some questions; returns its id."""
    # Here: the tests' server is no part of an installation
    from tests.support.llm.real_server import MODEL, real_server

    with real_server(seed) as url:
        os.environ.update(AUDIT_JUDGE_URL=url, AUDIT_JUDGE_MODEL=MODEL)
        audit(["stress", "run", str(release), "--tests", "sufficiency", "--sizes", "5", "--limit", str(questions)])
    return MODEL


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--limit", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--server", type=int, default=0, metavar="N")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        release = Path(scratch) / "pubmedqa"
        source = arguments.data / "stress" / "pubmedqa.jsonl.gz"
        limit, seed = ["--limit", str(arguments.limit)], ["--seed", str(arguments.seed)]
        audit(["stress", "build", str(source), "--out", str(release), *limit, *seed])
        audit(["stress", "run", str(release), "--readers", "all", *seed])
        model = _run_server(release, arguments.server, arguments.seed) if arguments.server else None
        with open_store(load_release(release, Settings(data_dir=Path(scratch))).run.path) as con:
            _print_readers(con)
            if model:
                print("\n" + pd.DataFrame(list(chance(con, model))).round(3).to_string(index=False))


def _print_readers(con: Connection) -> None:
    golds = replies_of(con, selection_parameters("standard", None)).drop_duplicates("question")["gold"].value_counts()
    cells = compared(stress_curves(con), len(golds), golds.max() / golds.sum())
    table = cells.groupby(["system_id", "measure"]).agg(cells=("inside", "size"), inside=("inside", "sum"), gap=("gap", "max"))
    print(f"\n{golds.sum():,} questions; {cells['inside'].sum():,} of {len(cells):,} cells have the analytic value inside.\n")
    print(table.round(3).to_string())
    missed = cells[~cells["inside"]]
    columns = ["test", "size", "signal_share", "system_id", "measure", "value", "value_low", "value_high", "expected"]
    print("\nOutside:\n" + (missed[columns].round(3).to_string(index=False) if len(missed) else "none"))


if __name__ == "__main__":
    main()
