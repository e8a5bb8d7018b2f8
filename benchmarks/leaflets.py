"""Answers without a model to questions that were written by somebody who did not know the generator, on real leaflets.

    python -m benchmarks.leaflets DIR [--encoder MODEL] [--list]

DIR holds the twelve documents of `leaflet_questions.csv` (leaflets.md says where they are from); what is missing is skipped and
named. The questions, what the document answers, and that it does not answer, were noted before the generator was run; three of
four are answered. Counted are answers given where there is one, given though there is none, and silence though there is one.
Whether a given answer is right must be read: --list prints each beside what is expected.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

QUESTIONS = Path(__file__).with_name("leaflet_questions.csv")
CONFIG = '[corpus]\npdfs = "handbooks"\n[questions]\nfile = "questions.csv"\n[retrieval]\nencoder = "{encoder}"\n'


def main() -> None:
    """Read the command line, run, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", type=Path, metavar="DIR")
    parser.add_argument("--encoder", default="words", metavar="MODEL", help="a sentence model (default: words alone)")
    parser.add_argument("--list", action="store_true", help="print each given answer beside what is expected")
    arguments = parser.parse_args()
    with QUESTIONS.open(encoding="utf-8", newline="") as file:
        pairs = list(csv.DictReader(file))
    missing = sorted({pair["document"] for pair in pairs if not (arguments.documents / pair["document"]).is_file()})
    if missing:
        print(f"Skipped, not in {arguments.documents}: {', '.join(missing)}")
    pairs = [pair for pair in pairs if pair["document"] not in missing]
    given = answers(arguments.documents, pairs, arguments.encoder)
    for half in sorted({pair["half"] for pair in pairs}):
        counts = Counter(_outcome(pair, given) for pair in pairs if pair["half"] == half)
        print(f"half {half}: {', '.join(f'{outcome}: {count}' for outcome, count in sorted(counts.items()))}")
    if arguments.list:
        for pair in pairs:
            if answer := given[_key(pair)]:
                print(f"\n{pair['document']}: {pair['question']}\n  expected: {pair['expected'] or '(none)'}\n  given: {answer}")


def answers(documents: Path, pairs: Sequence[dict[str, str]], encoder: str) -> dict[tuple[str, str], str]:
    """Question and document -> the answer of `audit run`; empty where it is NOT ADDRESSED."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "handbooks").mkdir()
        for name in {pair["document"] for pair in pairs}:
            shutil.copy(documents / name, folder / "handbooks" / name)
        with (folder / "questions.csv").open("w", encoding="utf-8", newline="") as file:
            lines = csv.writer(file)
            lines.writerow(["question", "organ", "topics"])
            lines.writerows([question, "general", "Leaflets"] for question in dict.fromkeys(pair["question"] for pair in pairs))
        (folder / "config.toml").write_text(CONFIG.format(encoder=encoder), encoding="utf-8")
        environment = {**os.environ, "AUDIT_DATA_DIR": str(folder / "data")}
        subprocess.run([sys.executable, "-m", "audit", "run", str(folder / "config.toml")], env=environment, check=True)
        release = folder / "data" / "pipeline" / "config" / "release"
        questions = {record["question_id"]: record["question"] for record in _records(release, "questions")}
        return {
            (questions[record["question_id"]], record["handbook_id"]): "" if record["absent"] else record["answer"]
            for record in _records(release, "answers")
        }


def _records(release: Path, name: str) -> list[dict[str, Any]]:
    lines = (release / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _key(pair: dict[str, str]) -> tuple[str, str]:
    return pair["question"], Path(pair["document"]).stem


def _outcome(pair: dict[str, str], given: dict[tuple[str, str], str]) -> str:
    if given[_key(pair)]:
        return "given" if pair["expected"] else "given though there is none"
    return "silent though there is one" if pair["expected"] else "rightly silent"


if __name__ == "__main__":
    main()
