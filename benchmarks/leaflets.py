"""Answers without a model to questions that were written by somebody who did not know the generator, on real leaflets.

    python -m benchmarks.leaflets DIR [--encoder MODEL] [--list] [--short]

DIR holds the twelve documents of `leaflet_questions.csv` (leaflets.md says where they are from); what is missing is skipped and
named. The questions, what the document answers, and that it does not answer, were noted before the generator was run; three of
four are answered. An answer is right where it quotes words that state what is expected (column `words`); --list prints each
beside what is expected, because only reading shows whether the words around them change their meaning.

--short   How short a leaflet may be: each document is cut to m passages at random places, with and without the passage that
          answers, and the best is scored against only those. Printed are the shares that count as stated: rightly, and although
          the answer was cut away or never there.
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
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from audit.pipeline.embedding.encoders import sentence_encoder
from audit.pipeline.retrieval.closest import USUAL, USUAL_COSINE, USUAL_OF_WORDS, USUAL_SHARE, ClosestPassages, Scores
from audit.pipeline.retrieval.found import WAYS, thresholds
from audit.release.taxonomy import LEXICAL
from audit.text.documents import read_documents
from audit.vocabulary import Found

QUESTIONS = Path(__file__).with_name("leaflet_questions.csv")
CONFIG = '[corpus]\npdfs = "handbooks"\n[questions]\nfile = "questions.csv"\n[retrieval]\nencoder = "{encoder}"\n'
LENGTHS, DRAWS, SEED = (1, 2, 3, 5, 8, 12, 18, 30, 1_000), 12, 1
Row = dict[str, str]
Answers = dict[tuple[str, str], dict[str, Any]]


def main() -> None:
    """Read the command line, run, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", type=Path, metavar="DIR")
    parser.add_argument("--encoder", default=LEXICAL, metavar="MODEL", help="a sentence model (default: words alone)")
    parser.add_argument("--list", action="store_true", help="print each given answer beside what is expected")
    parser.add_argument("--short", action="store_true", help="measure documents of few passages")
    arguments = parser.parse_args()
    with QUESTIONS.open(encoding="utf-8", newline="") as file:
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
    for half in ("A", "B", "AB"):
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
    """The table of leaflets cut to a number of passages, with missing ranks counted as usual, and left out."""
    model = None if encoder == LEXICAL else sentence_encoder(encoder)
    passages = {document.handbook_id: ClosestPassages(document, model) for document in read_documents(documents)}
    stated = thresholds(WAYS[encoder]).stated
    typical = USUAL_COSINE if model else USUAL_OF_WORDS
    scored = [_scored(row, passages[Path(row["document"]).stem]) for row in rows]
    print(f"{'passages':<10}{'missing ranks as usual':>26}{'missing ranks left out':>26}")
    for length in LENGTHS:
        cells = []
        for fill in (typical, None):
            right, wrong = _shares(scored, length, lambda best, fill=fill: _best_score(best, fill), stated)
            cells.append(f"right {right:.2f}, false {wrong:.2f}")
        print(f"{'all' if length > 100 else length:<10}{cells[0]:>26}{cells[1]:>26}")


def _scored(row: Row, passages: ClosestPassages) -> tuple[Scores, Scores]:
    """The similarity of each passage in reading order, and 1 where it answers."""
    near = sorted(passages.closest(row["question"], 10_000), key=lambda one: (one.place.section, one.place.start))
    texts = (" ".join((*one.place.leads, one.text)) for one in near)
    return np.array([one.similarity for one in near]), np.array([_states(row, text) for text in texts], float)


def _best_score(best: Scores, fill: float | None) -> float:
    ranked = np.sort(best)[::-1][USUAL]
    width = USUAL.stop - USUAL.start
    if fill is not None:
        ranked = np.append(ranked, [fill] * (width - ranked.size))
    return float(best.max() - USUAL_SHARE * (ranked.mean() if ranked.size else 0.0))


def _shares(
    scored: Sequence[tuple[Scores, Scores]], length: int, score: Callable[[Scores], float], stated: float
) -> tuple[float, float]:
    """Of cuts with an answering passage, the share that is stated with it among the best two; of the others, that is stated."""
    luck, right, wrong = np.random.default_rng(SEED), [], []
    for best, answering in scored:
        for cut in _cuts(len(best), length, luck):
            state = score(best[cut]) >= stated
            if answering[cut].any():
                right.append(state and bool(answering[cut][np.argsort(-best[cut])[:2]].any()))
            else:
                wrong.append(state)
    return float(np.mean(right)), float(np.mean(wrong))


def _cuts(passages: int, length: int, luck: np.random.Generator) -> Iterator[slice]:
    length = min(length, passages)
    for start in luck.integers(0, passages - length + 1, DRAWS if length < passages else 1):
        yield slice(int(start), int(start) + length)


if __name__ == "__main__":
    main()
