"""How often the baseline judge's disagreements are right on real text.

    python -m benchmarks.baseline_judge nih [--data FOLDER]
    python -m benchmarks.baseline_judge list RELEASE > shown.csv
    python -m benchmarks.baseline_judge read shown.csv --pairs N --abstained N

nih    The pairs of the NIH release (../shared/data/nih_release) that a language model judged, and those of them that two raters
       labelled alike: in how many of the rules' disagreements the reference sees one too.
list   The disagreements in a release that the rules judged (`audit run`), with both quotations and both answers, one row a pair,
       and how many pairs were judged. Read each row against the pages, and write yes or no in the column `right`.
read   Counts those rows.

Each prints the lines of audit/pipeline/rules/labels/precision.toml, from which every page and export takes the figures.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from audit.pipeline.rules.labels.baseline import judge
from audit.vocabulary import DISAGREEING

NIH = Path("../shared/data/nih_release")
COLUMNS = (
    "question_id", "handbook_a", "handbook_b", "question", "label", "significance", "reasoning", "answer_a", "answer_b", "right",
)  # fmt: skip
JudgedPair = tuple[str | None, str]
"""The label of the rules (None: abstained), and that of the reference."""


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())


def pairs_of(release: Path) -> Iterator[dict[str, Any]]:
    """Every pair of a release whose two answers are present, with its texts."""
    questions = {row["question_id"]: row["question"] for row in _lines(release / "questions.jsonl")}
    answers = {(row["question_id"], row["handbook_id"]): row for row in _lines(release / "answers.jsonl")}
    for path in sorted((release / "comparisons").glob("*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        for pair in record["pairs"]:
            a, b = (answers[record["question_id"], pair[f"handbook_{side}"]] for side in "ab")
            if not any(answer["absent"] or answer["answer"] is None for answer in (a, b)):
                texts = {"question": questions[record["question_id"]], "answer_a": a["answer"], "answer_b": b["answer"]}
                yield {"question_id": record["question_id"], **pair, **texts}


def as_toml(source: str, pairs: int, abstained: int, shown: Counter[str], right: Counter[str]) -> str:
    """One table of the data file."""

    def counts(counter: Counter[str]) -> str:
        return "{" + ", ".join(f"{label} = {counter[str(label)]}" for label in DISAGREEING) + "}"

    date = datetime.now(UTC).date().isoformat()
    return (
        f'[[measured]]\nsource = "{source}"\ndate = "{date}"\npairs = {pairs}\nabstained = {abstained}\n'
        f"shown = {counts(shown)}\nright = {counts(right)}\n"
    )


def counted(source: str, judged: Iterable[JudgedPair]) -> str:
    """The counts of pairs with a reference label."""
    rows = list(judged)
    shown = Counter(label for label, _ in rows if label in DISAGREEING)
    right = Counter(label for label, reference in rows if label in DISAGREEING and reference in DISAGREEING)
    return as_toml(source, len(rows), sum(label is None for label, _ in rows), _named(shown), _named(right))


def _named(counter: Counter[Any]) -> Counter[str]:
    return Counter({str(label): count for label, count in counter.items()})


def measure_nih(folder: Path) -> str:
    """The release's judge on all pairs, and the raters where they agree."""
    ours: dict[tuple[str, str, str], JudgedPair] = {}
    for pair in pairs_of(folder):
        verdict = judge(pair["question"], pair["answer_a"], pair["answer_b"])
        ours[pair["question_id"], pair["handbook_a"], pair["handbook_b"]] = (verdict.label, pair["classification"])
    with (folder / "annotations" / "validation_labels.csv").open(encoding="utf-8") as file:
        rated = [
            (ours[row["question_id"], row["handbook_a"], row["handbook_b"]][0], row["annotator_a"])
            for row in csv.DictReader(file)
            if row["annotator_a"] == row["annotator_b"]
        ]
    return "\n".join(
        [
            counted("Texts of nine NIH institutes, against the release's judge (a language model)", ours.values()),
            counted("Texts of nine NIH institutes, where two raters (language models) agree", rated),
        ]
    )


def list_shown(release: Path) -> None:
    """Write the rows to read, and on stderr how many pairs were judged."""
    writer = csv.DictWriter(sys.stdout, COLUMNS, extrasaction="ignore")
    writer.writeheader()
    pairs = abstained = 0
    for pair in pairs_of(release):
        verdict = judge(pair["question"], pair["answer_a"], pair["answer_b"])
        pairs, abstained = pairs + 1, abstained + (verdict.label is None)
        if verdict.label in DISAGREEING:
            found = {"label": verdict.label, "significance": verdict.significance, "reasoning": verdict.reasoning}
            writer.writerow({**pair, **found, "right": ""})
    print(f"--pairs {pairs} --abstained {abstained}", file=sys.stderr)


def measure_read(path: Path, pairs: int, abstained: int, source: str) -> str:
    """The counts of rows that a person has read."""
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if open_rows := [row["question_id"] for row in rows if row["right"] not in ("yes", "no")]:
        raise SystemExit(f"{path}: write yes or no in the column 'right' of {len(open_rows)} rows, first {open_rows[0]}.")
    right = Counter(row["label"] for row in rows if row["right"] == "yes")
    return as_toml(source, pairs, abstained, Counter(row["label"] for row in rows), right)


def main() -> None:
    """Run one of the three."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    modes = parser.add_subparsers(dest="mode", required=True)
    modes.add_parser("nih").add_argument("--data", type=Path, default=NIH)
    modes.add_parser("list").add_argument("release", type=Path)
    read = modes.add_parser("read")
    read.add_argument("file", type=Path)
    read.add_argument("--pairs", type=int, required=True)
    read.add_argument("--abstained", type=int, required=True)
    read.add_argument("--source", default="Real patient documents, every disagreement read against the pages")
    arguments = parser.parse_args()
    if arguments.mode == "nih":
        print(measure_nih(arguments.data))
    elif arguments.mode == "list":
        list_shown(arguments.release)
    else:
        print(measure_read(arguments.file, arguments.pairs, arguments.abstained, arguments.source))


if __name__ == "__main__":
    main()
