"""Answers without a model to questions that were written by somebody who did not know the generator, on real leaflets.

    python -m benchmarks.leaflets DIR [--encoder MODEL] [--list] [--short] [--unread]

DIR holds the documents of `leaflet_questions.csv`, or with --unread of `unread_questions.csv`, by those names (leaflets.md says
where they are from); what is missing is skipped and named. The questions, what the document answers, and that it does not answer,
were noted before the generator was run; three of four are answered. An answer is right where it quotes words that state what is
expected (column `words`); --list prints each beside what is expected, because only reading shows whether the words around them
change their meaning.

--short   How short a leaflet may be: each document is cut to a number of passages at random places. Printed are the shares that
          count as stated: rightly, of the cuts that hold the answer, and wrongly, of those that do not.
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
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from audit.pipeline.embedding.encoders import cached_encoder, sentence_encoder
from audit.pipeline.retrieval.closest import ClosestPassages, passage_places
from audit.pipeline.retrieval.found import WAYS, thresholds
from audit.release.taxonomy import LEXICAL
from audit.text.documents import Document, Section, read_documents
from audit.vocabulary import Found

QUESTIONS, UNREAD = (Path(__file__).with_name(f"{name}_questions.csv") for name in ("leaflet", "unread"))
CONFIG = '[corpus]\npdfs = "handbooks"\n[questions]\nfile = "questions.csv"\n[retrieval]\nencoder = "{encoder}"\n'
LENGTHS, DRAWS, SEED = (1, 2, 3, 5, 8, 12, 18, 30, 1_000), 4, 1
Row = dict[str, str]
Answers = dict[tuple[str, str], dict[str, Any]]


def main() -> None:
    """Read the command line, run, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", type=Path, metavar="DIR")
    parser.add_argument("--encoder", default=LEXICAL, metavar="MODEL", help="a sentence model (default: words alone)")
    parser.add_argument("--list", action="store_true", help="print each given answer beside what is expected")
    parser.add_argument("--short", action="store_true", help="measure documents of few passages")
    parser.add_argument("--unread", action="store_true", help=f"{UNREAD.name}: documents that nothing here was tuned to")
    arguments = parser.parse_args()
    with (UNREAD if arguments.unread else QUESTIONS).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    missing = sorted({row["document"] for row in rows if not (arguments.documents / row["document"]).is_file()})
    if missing:
        print(f"Skipped, not in {arguments.documents}: {', '.join(missing)}")
    rows = [row for row in rows if row["document"] not in missing]
    with tempfile.TemporaryDirectory() as scratch:
        data = _run(arguments.documents, rows, arguments.encoder, Path(scratch))
        if arguments.short:
            short(rows, data / "documents", arguments.encoder)
        else:
            _print_answers(rows, answers(data / "answers", data / "questions.jsonl"), arguments.list)


def _run(documents: Path, rows: Sequence[Row], encoder: str, folder: Path) -> Path:
    """The folder of intermediate files of `audit run`, which has the documents and the answers."""
    (folder / "handbooks").mkdir()
    for name in {row["document"] for row in rows}:
        shutil.copy(documents / name, folder / "handbooks" / name)
    with (folder / "questions.csv").open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["question", "organ", "topics"])
        lines.writerows([question, "general", "Leaflets"] for question in dict.fromkeys(row["question"] for row in rows))
    (folder / "config.toml").write_text(CONFIG.format(encoder=encoder), encoding="utf-8")
    environment = {**os.environ, "AUDIT_DATA_DIR": str(folder / "data")}
    command = [sys.executable, "-m", "audit", "run", str(folder / "config.toml"), "--until", "generate"]
    if subprocess.run(command, env=environment, check=False, stdout=sys.stderr).returncode > 1:  # 1: pages without text
        raise SystemExit(2)
    return folder / "data" / "pipeline" / "config"


def answers(folder: Path, questions: Path) -> Answers:
    """Question and handbook -> the record of its answer."""
    asked = {record["question_id"]: record["question"] for record in _records(questions)}
    found = (record for path in sorted(folder.glob("*.jsonl")) for record in _records(path))
    return {(asked[record["question_id"]], record["handbook_id"]): record for record in found}


def _records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _print_answers(rows: Sequence[Row], given: Answers, listed: bool) -> None:
    for half in ("A", "B", "ABC"):
        counts = Counter(_outcome(row, given[_key(row)]) for row in rows if row["half"] in half)
        print(f"{half}: {', '.join(f'{outcome}: {count}' for outcome, count in sorted(counts.items()))}")
    for row in rows if listed else ():
        record = given[_key(row)]
        score = record["usage"].get("score")
        print(f"\n{row['document']}: {row['question']}\n  expected: {row['expected'] or '(none)'}")
        print(f"  {_outcome(row, record)}, score {score}\n{record['answer']}")


def _key(row: Row) -> tuple[str, str]:
    return row["question"], Path(row["document"]).stem


def _states(row: Row, text: str) -> bool:
    plain = " ".join(text.split())
    return bool(row["words"]) and any(words in plain for words in row["words"].split("|"))


def _outcome(row: Row, record: dict[str, Any]) -> str:
    state, text = record["found"], record["answer"]
    if state == Found.NOT_FOUND:
        return f"{state}, {'wrongly' if row['expected'] else 'rightly'}"
    what = "right" if _states(row, text) else "beside the point" if row["expected"] else "though there is none"
    return f"{state}, {what}"


# -- documents of few passages -----------------------------------------------------------------------------------------


def short(rows: Sequence[Row], documents: Path, encoder: str) -> None:
    """The table of documents cut to a number of passages."""
    model = None if encoder == LEXICAL else cached_encoder(sentence_encoder(encoder), documents)
    stated, luck = thresholds(WAYS[encoder]).stated, np.random.default_rng(SEED)
    passages = {document.handbook_id: list(_passages(document)) for document in read_documents(documents)}
    print(f"{'passages':<10}{'stated, right':>16}{'stated, wrongly':>18}")
    for length in LENGTHS:
        right, wrong = [], []
        for row in rows:
            of_document = passages[Path(row["document"]).stem]
            for cut in _cuts(len(of_document), length, luck):
                near = ClosestPassages(_leaflet(of_document[cut]), model).closest(row["question"], 2)
                state = bool(near) and near[0].score >= stated
                if any(_states(row, section.text) for section in of_document[cut]):
                    right.append(state and any(_states(row, one.section.text) for one in near))
                else:
                    wrong.append(state)
        print(f"{'all' if length == LENGTHS[-1] else length:<10}{np.mean(right):>16.2f}{np.mean(wrong):>18.2f}", flush=True)


def _passages(document: Document) -> Iterator[Section]:
    """Each passage as a section of its own, its leads above it."""
    for place in passage_places(document):
        section = document.sections[place.section]
        text = section.text[place.start : place.end]
        yield Section("", section.heading, "\n• ".join(("\n".join(place.leads), text)) if place.leads else text)


def _leaflet(sections: Sequence[Section]) -> Document:
    numbered = (replace(section, section_id=f"s{number}") for number, section in enumerate(sections))
    return Document("leaflet", "general", "leaflet", "combined", tuple(numbered))


def _cuts(passages: int, length: int, luck: np.random.Generator) -> Iterator[slice]:
    length = min(length, passages)
    for start in luck.integers(0, passages - length + 1, DRAWS if length < passages else 1):
        yield slice(int(start), int(start) + length)


if __name__ == "__main__":
    main()
