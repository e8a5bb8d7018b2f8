"""Quoted passages on questions with known answers, and how much a prefix cache saves of a model's prompts.

    python -m benchmarks.generate [answers] [--encoder MODEL] [--every N]
    python -m benchmarks.generate prefix

answers   The nine NIH handbooks (../shared/data/retrieval): for each question the sections that answer it, by institute. Printed
          is how many are stated, perhaps and not found. there: a section answers it. aspect missing: the institute covers the
          disease but not what is asked about it. disease missing: it covers neither (a random third). An answer is right if a
          quoted passage is of a section that answers; 95 % intervals by resampling questions. --every asks each Nth question.
prefix    Share of prompt tokens that a cache of 16-token blocks saves (benchmarks/prefix_cache.py), by the evidence and by
          what comes first in the prompt: 40 questions on each of 8 handbooks, in the order that suits each best.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from audit.pipeline.answers.evidence import GroundedQuestion
from audit.pipeline.embedding.encoders import sentence_encoder
from audit.pipeline.generation.model_generator import answer_task, load_answer_prompt
from audit.pipeline.generation.passage_generator import QUOTED
from audit.pipeline.llm.calls import Call
from audit.pipeline.retrieval.closest import ClosestPassages
from audit.pipeline.retrieval.found import WAYS, WORDS, thresholds
from audit.pipeline.retrieval.model import Query
from audit.text.documents import Document, Section, read_documents
from audit.vocabulary import Found
from benchmarks.prefix_cache import SEED, _text, simulated

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "retrieval"
DRAWS, LOT = 1_000, 3
THERE, ASPECT, DISEASE = "there", "aspect missing", "disease missing"


class Case(NamedTuple):
    """A question put to a handbook: its kind, its state, and whether a quoted passage is of a section that answers."""

    kind: str
    question_id: str
    found: Found
    cites: bool


def cases(model: str, every: int) -> Iterator[Case]:
    """Handbook by handbook."""
    encoder, way = (sentence_encoder(model), WAYS[model]) if model else (None, WORDS)
    with gzip.open(DATA / "nih_handbooks_gold.jsonl.gz", "rt", encoding="utf-8") as file:
        gold = [json.loads(line) for number, line in enumerate(file) if number % every == 0]
    for document in read_documents(DATA / "nih_handbooks"):
        passages = ClosestPassages(document, encoder)
        for line in gold:
            kind, answering = _kind(line, document.handbook_id.removeprefix("nih-"))
            if kind != DISEASE or _hash_byte(f"{line['question_id']} lot") % LOT == 0:
                near = passages.closest(line["question"], QUOTED)
                cites = any(one.section.section_id in answering for one in near)
                yield Case(kind, line["question_id"], thresholds(way).of(document).found(near[0].score if near else None), cites)


def _hash_byte(text: str) -> int:
    return hashlib.md5(text.encode()).digest()[0]


def _kind(line: dict[str, Any], institute: str) -> tuple[str, frozenset[str]]:
    answering = {name.lower(): ids for name, ids in line["gold_sections"].items()}
    if institute in answering:
        return THERE, frozenset(answering[institute])
    return ASPECT if institute in {name.lower() for name in line["institutions_without"]} else DISEASE, frozenset()


def interval(values: Sequence[Any], questions: Sequence[str]) -> str:
    """A mean with its 95 % interval; the cases of one question are drawn together."""
    known = {question: index for index, question in enumerate(dict.fromkeys(questions))}
    which = np.array([known[question] for question in questions])
    sums, counts = np.bincount(which, np.asarray(values, float)), np.bincount(which)
    drawn = np.random.default_rng(SEED).integers(0, len(known), (DRAWS, len(known)))
    low, high = np.quantile(sums[drawn].sum(1) / counts[drawn].sum(1), [0.025, 0.975])
    return f"{np.mean(np.asarray(values, float)):.3f} ({low:.3f} to {high:.3f})"


def answers(model: str, every: int) -> None:
    """The table of states by kind of case, and what the quoted passages of those that are there are of."""
    every_case = list(cases(model, every))
    print(f"{'':<17}{'cases':>7}" + "".join(f"{state:>26}" for state in Found))
    for kind in (THERE, ASPECT, DISEASE):
        of_kind = [case for case in every_case if case.kind == kind]
        ids = [case.question_id for case in of_kind]
        shares = "".join(f"{interval([case.found == state for case in of_kind], ids):>26}" for state in Found)
        print(f"{kind:<17}{len(of_kind):>7,}{shares}")
    given = [case for case in every_case if case.kind == THERE and case.found != Found.NOT_FOUND]
    ids = [case.question_id for case in given]
    print(f"Of those there and given, quotes a section that answers: {interval([case.cites for case in given], ids)}")


# -- the prompt's order ------------------------------------------------------------------------------------------------


def prefix(handbooks: int = 8, questions: int = 40) -> None:
    """The table of saved tokens."""
    print(f"{'':<44}{'passages first':>18}{'question first':>18}")
    for words, name in ((900, "five passages a question (900 words)"), (8_000, "the whole handbook (8,000 words)")):
        calls = _calls(handbooks, questions, words, whole=words > 1_000)
        by_question = sorted(calls, key=lambda call: _part(call, "question"))
        print(f"{name:<44}{simulated(calls):>18.1%}{simulated(list(map(_turned, by_question))):>18.1%}")


def _calls(handbooks: int, questions: int, words: int, whole: bool) -> list[Call]:
    luck = random.Random(SEED)
    queries = [Query(f"q{number}", _text(luck, 45)) for number in range(questions)]
    asked = []
    for number in range(handbooks):
        sections = tuple(Section(f"s{index}", "Heading", _text(luck, 180)) for index in range(words // 180))
        document = Document(f"h{number}", "general", "c", "post", sections)
        for query in queries:
            passages = [{"section_id": "s0", "text": _text(luck, 180)} for _ in range(0 if whole else words // 180)]
            asked.append(
                GroundedQuestion(query, document, {"mode": "full_document" if whole else "passages", "passages": passages})
            )
    return [call for _, call in answer_task(load_answer_prompt(), "m", lambda: asked).calls()]


def _part(call: Call, tag: str) -> str:
    text = call.body["messages"][1]["content"]
    return str(text[text.index(f"<{tag}>") : text.index(f"</{tag}>")])


def _turned(call: Call) -> Call:
    system, user = call.body["messages"]
    turned = {**user, "content": f"{_part(call, 'question')}\n{_part(call, 'passages')}"}
    return Call({**call.body, "messages": [system, turned]}, call.group, call.purpose)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("answers", "prefix"), nargs="?", default="answers")
    parser.add_argument("--encoder", default="", metavar="MODEL", help="a sentence model; left out: words alone")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="ask each Nth question only")
    arguments = parser.parse_args()
    if arguments.part == "prefix":
        prefix()
    else:
        answers(arguments.encoder, arguments.every)


if __name__ == "__main__":
    main()
