"""Questions to three runs as somebody would type them: what is found, to be read beside what was read before.

    python -m benchmarks.ask_questions --data-dir DIR [--encoder MODEL] [--only RUN ...] [--part PART]

540 questions of `ask_questions.csv`, 180 each to the demo, the NIH institutes (with their texts as sections.jsonl) and the
tenancy example, written from the texts before they were asked. The search was changed after part `first` was read, and from which
score of many handbooks one is called *stated* after `second`; nothing was changed after `third`; with a sentence model, words had
to agree after `fourth`. `fifth` was asked once. `expected` is what the texts say ("": nothing). Columns `words` and `minilm` are
a language model's reading of what the page shows: the questions of the run, and the passage that stands first; `minilm` of the
NIH is that of seven handbooks, without GARD and GHR, whose vectors take an hour.

    r  it answers, or the first questions of the run are those that do      p  about the subject only, and called *perhaps*
    w  called *stated*, and does not answer                                 s  called *not found* though a handbook answers
    n  there is no answer, and none is called stated    c  called unsearchable, by words that no handbook has, though one answers
"""

from __future__ import annotations

import argparse
import csv
import time
from collections import Counter
from pathlib import Path

from audit.jobs.asking import index_folder
from audit.pipeline.asking.engine import RunHandbooks
from audit.pipeline.asking.questions import RunQuestions
from audit.pipeline.embedding.encoders import sentence_encoder
from audit.queries.questions_like import questions_like
from audit.store.connection import open_store
from audit.store.runs import find_run

QUESTIONS = Path(__file__).with_name("ask_questions.csv")
RUNS = {"demo": "demo", "nih": "nih-2026-11", "tenancy": "tenancy"}
SHOWN, LETTERS = 3, 300


def main() -> None:
    """Ask, print what is found, and count the readings."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--encoder", metavar="MODEL", help="a sentence model (default: words and static vectors)")
    parser.add_argument("--only", choices=RUNS, nargs="+", default=list(RUNS))
    parser.add_argument("--part", choices=("first", "second", "third", "fourth", "fifth"), help="only the questions of this part")
    arguments = parser.parse_args()
    with QUESTIONS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    way = "minilm" if arguments.encoder else "words"
    for name in arguments.only:
        of_run = [row for row in rows if row["run"] == name and arguments.part in (None, row["part"])]
        _ask(arguments.data_dir, RUNS[name], arguments.encoder, of_run)
        print(f"## {name}, read before: {dict(Counter(row[way] or 'not read' for row in of_run))}\n", flush=True)


def _ask(data_dir: Path, run_id: str, encoder: str | None, rows: list[dict[str, str]]) -> None:
    run, folder = find_run(data_dir / "store", run_id), index_folder(data_dir)
    model = sentence_encoder(encoder) if encoder else None
    began = time.process_time()
    books, questions = RunHandbooks.of_store(run.path, model, folder), RunQuestions(run.path, model, folder)
    books.encode()
    questions.prepare()
    print(f"## {run_id}: ready after {time.process_time() - began:.1f} s of a processor")
    began = time.process_time()
    with open_store(run.path) as con:
        for row in rows:
            asked = books.ask(row["question"])
            near = questions_like(con, row["question"], tuple(questions.near(row["question"])))
            states = dict(Counter(book.found or "not searched" for book in asked.handbooks))
            print(f"\n{row['question']} => {row['expected']} {states}", *(f"   ? {one.text}" for one in near), sep="\n")
            for book in asked.handbooks[:SHOWN]:
                first = book.passages[0]
                print(f"   {book.found} {first.score:.2f} {book.handbook_id} {' '.join((*first.leads, first.text))[:LETTERS]!r}")
    print(f"\n## {(time.process_time() - began) / len(rows):.3f} s of a processor for each question")


if __name__ == "__main__":
    main()
