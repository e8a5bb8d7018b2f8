"""An open model as the judge on one GPU: its speed, and how well it agrees with raters, in at most ten minutes.

    python -m benchmarks.gpu_judge RELEASE MODEL [--minutes 10] [--vllm "apptainer exec --nv vllm.sif vllm"]

RELEASE has pairs that two raters labelled (annotations/validation_labels.csv), such as the NIH release with 148 of 722 pairs;
MODEL is a name or a folder that vLLM serves. The server is started, every pair that needs a judge is judged by `audit judge`
until the time is up, and what was answered by then counts. Printed: calls and tokens a second with the share from the prefix
cache, then what `audit agreement` says with this model as the judge.

Prepared and never run: no GPU was at hand.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.real_vllm import ROOT, figures, unread_of
from benchmarks.vllm_server import NO_WHITE_SPACE, started

LABELS = Path("annotations") / "validation_labels.csv"
NO_THINKING = ("--default-chat-template-kwargs", '{"enable_thinking":false}')
OPTIONS = ("--max-model-len", "16384", "--gpu-memory-utilization", "0.92", *NO_THINKING, *NO_WHITE_SPACE)
RESERVE_S = 45.0
"""For writing the release and for the agreement."""


def judged(work: Path, release: Path, url: str, until: float) -> tuple[Path, float]:
    """The release of the model's labels, as far as it came until then, and the seconds that it was asked."""
    ours = {**os.environ, "AUDIT_DATA_DIR": str(work / "data"), "AUDIT_JUDGE_URL": url, "AUDIT_JUDGE_CONCURRENCY": "128"}
    audit = [sys.executable, "-m", "audit"]
    subprocess.run([*audit, "load", str(release), "--json"], env=ours, cwd=ROOT, stdout=subprocess.DEVNULL)
    run = json.loads((release / "manifest.json").read_text(encoding="utf-8"))["run_id"]
    command = [*audit, "judge", run, "--out", str(work / "judged"), "--json"]
    began = time.monotonic()
    asking = subprocess.Popen(command, env=ours, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        asking.wait(max(1.0, until - began))
    except subprocess.TimeoutExpired:
        asking.send_signal(signal.SIGINT)
        asking.wait(30)
    seconds = time.monotonic() - began
    if asking.returncode not in (0, 1):
        subprocess.run([*command, "--parse-again"], env=ours, cwd=ROOT, stdout=subprocess.DEVNULL)
    return work / "judged", seconds


def relabelled(release: Path, judged_release: Path, out: Path) -> int:
    """Write the raters' file with the model's labels as the judge's, without pairs that it gave none; how many there are."""
    labels = {
        (record["question_id"], *sorted((pair["handbook_a"], pair["handbook_b"]))): pair["classification"]
        for path in (judged_release / "comparisons").glob("*.json")
        for record in [json.loads(path.read_text(encoding="utf-8"))]
        for pair in record["pairs"]
    }
    with (release / LABELS).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    keys = [(row["question_id"], *sorted((row["handbook_a"], row["handbook_b"]))) for row in rows]
    found = [{**row, "judge": labels[key]} for row, key in zip(rows, keys, strict=True) if labels.get(key)]
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(found)
    return len(found)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("release", type=Path)
    parser.add_argument("model")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--vllm", default="vllm", help="the command of vLLM (default: %(default)s)")
    arguments = parser.parse_args()
    until = time.monotonic() + 60 * arguments.minutes - RESERVE_S
    release = arguments.release.resolve()
    with tempfile.TemporaryDirectory() as folder:
        work, command = Path(folder), [*shlex.split(arguments.vllm), "serve", arguments.model, *OPTIONS]
        with started(command, work / "server.log", dict(os.environ)) as server:
            print(f"{arguments.model}: ready after {server.ready_s:.0f} s")
            out, seconds = judged(work, release, server.url, until)
        made = figures(Path(f"{out}.journal"))
        share = made.cached / made.prompt if made.prompt else 0.0
        print(
            f"{made.keys:,} calls in {seconds:.0f} s: {made.keys / seconds:.1f} a second, {made.prompt / seconds:,.0f} prompt "
            f"tokens ({share:.0%} from the cache) and {made.written / seconds:,.0f} reply tokens a second"
        )
        manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
        print(f"without a label: {unread_of(manifest['judge_settings'])}")
        number = relabelled(release, out, work / "labels.csv")
        print(f"{number:,} of the rated pairs have its label; the raters' own column is replaced by it:")
        subprocess.run(
            [sys.executable, "-m", "audit", "agreement", "--labels", str(work / "labels.csv"), "--format", "md"], cwd=ROOT
        )


if __name__ == "__main__":
    main()
