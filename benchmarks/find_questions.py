"""Does a search for a question of the run list it? Patients' words, and the run's own questions typed back.

    python -m benchmarks.find_questions --data-dir DIR [--encoder MODEL] [--only RUN ...] [--part PART ...] [--list]

The 360 paraphrases of tests/queries/paraphrases.csv, 20 of each part to each of demo, NIH institutes and tenancy, which DIR has
as loaded runs. Settings were chosen on parts `tuned`, `fresh`, `newest` and `later`; nothing was ever changed for `last`, and
`unseen` was written before the last change and run once after it. A paraphrase is found where one of its questions is among the
first three of the list that Ask shows; typed back, a question is found where it comes first. `words`: the words of questions
alone, as the box has them at once; static vectors and a sentence model compare meaning as well, and the words of the run's
answers.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from audit.pipeline.asking.questions import RunQuestions
from audit.pipeline.embedding.encoders import Encoder, sentence_encoder
from audit.queries.nearest_questions import nearest_questions
from audit.queries.questions_like import questions_like
from audit.store.connection import Connection, open_store
from audit.store.runs import find_run
from benchmarks.ask_questions import RUNS

PARAPHRASES = Path(__file__).parent.parent / "tests" / "queries" / "paraphrases.csv"
FIRST = 3
Listed = Callable[[str], list[str]]
"""What is typed -> the ids of the questions that are listed."""
OWN = "select question_id, text from questions order by question"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--encoder", metavar="MODEL", help="a sentence model, beside words and static vectors")
    parser.add_argument("--only", choices=RUNS, nargs="+", default=list(RUNS))
    parser.add_argument("--part", nargs="+", default=["last"])
    parser.add_argument("--list", action="store_true", help="print what is not found, with what is listed instead")
    arguments = parser.parse_args()
    with PARAPHRASES.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["part"] in arguments.part]
    for name in arguments.only:
        run = find_run(arguments.data_dir / "store", RUNS[name])
        of_run = [row for row in rows if row["run"] == name]
        with open_store(run.path) as con, tempfile.TemporaryDirectory() as folder:
            own = con.execute(OWN).fetchall()
            for way, listed in _ways(con, run.path, Path(folder), arguments.encoder):
                found = [bool(set(listed(row["typed"])[:FIRST]) & set(row["questions"].split())) for row in of_run]
                first = sum(listed(text)[:1] == [number] for number, text in own)
                print(f"{name}, {way}: {sum(found)} of {len(found)} found, own questions first {first} of {len(own)}", flush=True)
                missed = [row for row, is_found in zip(of_run, found, strict=True) if not is_found]
                for row in missed if arguments.list else ():
                    print(f"    {row['typed']} => {row['questions']}; listed {' '.join(listed(row['typed'])[:FIRST])}")


def _ways(con: Connection, store: Path, folder: Path, model: str | None) -> Iterator[tuple[str, Listed]]:
    yield "words", lambda typed: [one.question_id for one in nearest_questions(con, typed, FIRST)]
    encoders: dict[str, Encoder | None] = {"static vectors": None}
    if model:
        encoders[model] = sentence_encoder(model)
    for way, encoder in encoders.items():
        questions = RunQuestions(store, encoder, folder)
        questions.prepare()
        yield way, partial(_by_meaning, con, questions)


def _by_meaning(con: Connection, questions: RunQuestions, typed: str) -> list[str]:
    return [one.question_id for one in questions_like(con, typed, tuple(questions.near(typed)))]


if __name__ == "__main__":
    main()
