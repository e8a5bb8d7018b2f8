"""Loading a release at paper scale, against three ways that do less.

    python -m benchmarks.load [--release DIR] [--rounds N]

    ours     `audit load`: digest, every check, quarantine, report, store
    whole    the same with every table that the release has, such as sections, systems and stress tests: for comparison only
    pandas   a plain loop: json.load, DataFrame, concat, one DuckDB table; no checks
    arrow    orjson, pyarrow, one insert per file; no checks
    floor    DuckDB's read_json with explicit columns, unnested into a table; no checks

Each runs in a process of its own, in turn, and all but `whole` load the same answers and pairs: ours gets a folder with these,
the questions, the handbooks and the manifest. What pages show first is computed after the load, in the background, and is not
part of any. Reported: CPU seconds of all threads, wall seconds, peak memory, and the ratio to ours, pair by pair within a round
(median over rounds).
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

PAIR = (
    "STRUCT(handbook_a VARCHAR, handbook_b VARCHAR, classification VARCHAR, reasoning VARCHAR, divergence_topic VARCHAR, "
    "clinical_significance VARCHAR, judge_metadata STRUCT(input_tokens INTEGER, output_tokens INTEGER, latency_s DOUBLE))[]"
)
ANSWER = "{question_id: 'VARCHAR', handbook_id: 'VARCHAR', answer: 'VARCHAR', absent: 'BOOLEAN', absence_method: 'VARCHAR'}"
FIELDS = ("handbook_a", "handbook_b", "classification", "reasoning", "divergence_topic", "clinical_significance")
USAGE = ("input_tokens", "output_tokens", "latency_s")
TARGETS = {
    "floor": "ours / floor: CPU at most 1.6, wall at most 2",
    "pandas": "pandas / ours at least 2.5",
    "arrow": "for comparison",
}


def ours(release: Path, scratch: Path) -> int:
    from audit.settings import Settings
    from audit.store.load import load_release

    report = load_release(release, Settings(data_dir=scratch)).run.report
    return int(report["totals"]["pair"]["loaded"])


def pandas(release: Path, scratch: Path) -> int:
    import duckdb
    import pandas as pd

    frames = []
    for path in sorted((release / "comparisons").iterdir()):
        comparison = json.loads(path.read_text())
        frame = pd.json_normalize(comparison["pairs"])
        frames.append(frame.assign(question_id=comparison["question_id"]))
    pairs = pd.concat(frames, ignore_index=True)
    answers = pd.read_json(release / "answers.jsonl", lines=True)[["question_id", "handbook_id", "answer", "absent"]]
    con = duckdb.connect(str(scratch / "pandas.duckdb"))
    # DuckDB takes a column's type from a sample of its rows; one with nothing there (most topics) would get the type NULL.
    con.execute("set pandas_analyze_sample = 0")
    for name, frame in (("pairs", pairs), ("answers", answers)):
        con.register("frame", frame)
        con.execute(f"create table {name} as select * from frame")
    con.close()
    return len(pairs)


def arrow(release: Path, scratch: Path) -> int:
    import duckdb
    import orjson
    import pyarrow as pa

    con = duckdb.connect(str(scratch / "arrow.duckdb"))
    answers = [orjson.loads(line) for line in (release / "answers.jsonl").read_bytes().splitlines()]
    table = pa.table({name: [a[name] for a in answers] for name in ("question_id", "handbook_id", "answer", "absent")})
    con.register("answers_table", table)
    con.execute("create table answers as select * from answers_table")
    total = 0
    for path in sorted((release / "comparisons").iterdir()):
        batch = _arrow_batch(orjson.loads(path.read_bytes()))
        con.register("batch", batch)
        con.execute("insert into pairs select * from batch" if total else "create table pairs as select * from batch")
        total += batch.num_rows
    con.close()
    return total


def _arrow_batch(comparison):  # type: ignore[no-untyped-def]
    import pyarrow as pa

    pairs = comparison["pairs"]
    columns = {name: pa.array([pair[name] for pair in pairs], pa.string()) for name in FIELDS}
    usage = [pair["judge_metadata"] or {} for pair in pairs]
    figures = {name: pa.array([u.get(name) for u in usage], pa.float64()) for name in USAGE}
    return pa.table({"question_id": [comparison["question_id"]] * len(pairs), **columns, **figures})


def floor(release: Path, scratch: Path) -> int:
    import duckdb

    con = duckdb.connect(str(scratch / "floor.duckdb"))
    con.execute(
        f"""create table pairs as
        select question_id, p.handbook_a, p.handbook_b, p.classification, p.reasoning, p.divergence_topic,
               p.clinical_significance, p.judge_metadata.input_tokens, p.judge_metadata.output_tokens, p.judge_metadata.latency_s
        from (select question_id, unnest(pairs) as p
              from read_json($files, columns = {{question_id: 'VARCHAR', pairs: '{PAIR}'}}, format = 'unstructured',
                             maximum_object_size = 33554432))""",
        {"files": f"{release}/comparisons/*.json"},
    )
    con.execute(
        f"create table answers as select * from read_json($file, columns = {ANSWER}, format = 'newline_delimited')",
        {"file": f"{release}/answers.jsonl"},
    )
    (total,) = con.execute("select count(*) from pairs").fetchone() or (0,)
    con.close()
    return int(total)


WAYS = {"ours": ours, "floor": floor, "arrow": arrow, "pandas": pandas, "whole": ours}
COMPARED = ("manifest.json", "handbooks.jsonl", "questions.jsonl", "answers.jsonl", "comparisons")


def measure(way: str, release: Path) -> dict[str, float]:
    """Run one way in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.load", "--one", way, "--release", str(release)], stdout=subprocess.PIPE, check=True
    )
    measured: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return measured


def one(way: str, release: Path) -> None:
    """The process that is measured."""
    with tempfile.TemporaryDirectory() as scratch:
        wall, cpu = time.perf_counter(), time.process_time()
        rows = WAYS[way](release, Path(scratch))
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps({"rows": rows, "cpu_s": cpu, "wall_s": wall, "peak_gb": peak}))


def compare(release: Path, rounds: int, ways: Sequence[str]) -> None:
    """Every way in turn, `rounds` times; a table of medians and ratios."""
    results: dict[str, list[dict[str, float]]] = {way: [] for way in ways}
    with tempfile.TemporaryDirectory() as compared:
        for name in COMPARED:
            copy = shutil.copytree if (release / name).is_dir() else shutil.copy
            copy(release / name, Path(compared, name))
        for number in range(rounds):
            for way, measured in results.items():
                measured.append(measure(way, Path(compared) if way == "ours" else release))
                print(f"round {number + 1}, {way}: {measured[-1]}", file=sys.stderr)
    print(f"{'way':<8}{'rows':>12}{'CPU s':>9}{'wall s':>9}{'peak GB':>9}{'CPU / ours':>12}  target")
    for way, measured in results.items():
        ratios = [other["cpu_s"] / mine["cpu_s"] for other, mine in zip(measured, results["ours"], strict=True)]
        middle = {name: statistics.median(m[name] for m in measured) for name in measured[0]}
        figures = f"{middle['rows']:>12,.0f}{middle['cpu_s']:>9.1f}{middle['wall_s']:>9.1f}{middle['peak_gb']:>9.2f}"
        print(f"{way:<8}{figures}{statistics.median(ratios):>12.2f}  {TARGETS.get(way, 'peak memory under 1.5 GB')}")
    for name, what in (("cpu_s", "CPU"), ("wall_s", "wall")):
        against = [mine[name] / low[name] for mine, low in zip(results["ours"], results["floor"], strict=True)]
        print(f"ours / floor, {what}: {statistics.median(against):.2f} (of {', '.join(f'{ratio:.2f}' for ratio in against)})")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--release", type=Path, help="a release folder (default: a fresh demo at paper scale)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=tuple(WAYS), help="ours and floor are needed (default: all)")
    parser.add_argument("--one", choices=WAYS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        one(arguments.one, arguments.release)
    elif arguments.release:
        compare(arguments.release, arguments.rounds, arguments.ways)
    else:
        from tests.simulator.build import write_demo

        with tempfile.TemporaryDirectory() as scratch:
            compare(write_demo(Path(scratch) / "demo", "paper"), arguments.rounds, arguments.ways)


if __name__ == "__main__":
    main()
