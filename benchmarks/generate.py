"""The extractive generator on questions with known answers, and how much a prefix cache saves of a model's prompts.

    python -m benchmarks.generate [answers] [--encoder MODEL] [--every N]
    python -m benchmarks.generate prefix

answers   The nine NIH handbooks (../shared/data/retrieval): for each question the sections that answer it, by institute. BM25
          finds the passages (the strategy `bm25`), the generator answers from them. The operating curve has both kinds of error:
          silent though a section answers, and an answer though none does. The threshold is chosen on the questions whose md5
          is even, as the one with the least silent + 2 x wrong; reported is the other half. there: a section answers it.
          aspect missing: the institute covers the disease but not what is asked about it. disease missing: it covers neither
          (a random third). No judge takes part: an answer is right if it cites a section of the gold.
          95 % intervals by resampling questions. --encoder compares statements by a sentence model too; --every asks each Nth
          question only, since the model encodes some hundred thousand statements otherwise.
prefix    Share of prompt tokens that a cache of 16-token blocks saves (benchmarks/prefix_cache.py), by the evidence and by
          what comes first in the prompt: 40 questions on each of 8 handbooks, in the order that suits each best.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from audit.pipeline.answers.evidence import GroundedQuestion
from audit.pipeline.embedding.encoders import Encoder, sentence_encoder
from audit.pipeline.generation.model_generator import answer_task, load_answer_prompt
from audit.pipeline.llm.calls import Call
from audit.pipeline.retrieval.index import build_index
from audit.pipeline.retrieval.model import Query
from audit.pipeline.retrieval.settings import RetrievalSettings
from audit.pipeline.retrieval.strategies import make_strategy
from audit.pipeline.rules.answers.extractive_generator import ExtractiveSettings, extractive_answers
from audit.text.documents import Document, Section, read_documents
from benchmarks.prefix_cache import SEED, _text, simulated

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "retrieval"
DRAWS, LOT = 1_000, 3
THERE, ASPECT, DISEASE = "there", "aspect missing", "disease missing"
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
WRONG_COUNTS = 2
"""A wrong answer misleads, silence sends the reader to the handbook: one counts as much as two of the other."""


class Case(NamedTuple):
    """A question put to a handbook: what kind of case it is, the sections that answer it, and the generator's record."""

    kind: str
    question_id: str
    gold: frozenset[str]
    record: dict[str, Any]


def cases(encoder: Encoder | None = None, every: int = 1) -> Iterator[Case]:
    """Handbook by handbook."""
    with gzip.open(DATA / "nih_handbooks_gold.jsonl.gz", "rt", encoding="utf-8") as file:
        gold = [json.loads(line) for number, line in enumerate(file) if number % every == 0]
    for document in read_documents(DATA / "nih_handbooks"):
        institute = document.handbook_id.removeprefix("nih-")
        chosen = [(line, kind, answering) for line in gold for kind, answering in [_kind(line, institute)] if _kept(line, kind)]
        strategy = make_strategy("bm25", build_index(document, RetrievalSettings(whole_characters=0)))
        queries = [Query(line["question_id"], line["question"]) for line, _, _ in chosen]
        asked = [GroundedQuestion(query, document, strategy.retrieve(query).record()) for query in queries]
        records = extractive_answers(asked, ExtractiveSettings(threshold=0.0), encoder)
        for (line, kind, answering), record in zip(chosen, records, strict=True):
            yield Case(kind, line["question_id"], answering, record)


def _hash_byte(text: str) -> int:
    return hashlib.md5(text.encode()).digest()[0]


def _kept(line: dict[str, Any], kind: str) -> bool:
    return kind != DISEASE or _hash_byte(f"{line['question_id']} lot") % LOT == 0


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
    """The operating curve of the generator, the threshold chosen on one half, and the other half at that threshold."""
    started = time.perf_counter()
    halves: tuple[list[Case], list[Case]] = ([], [])
    for case in cases(sentence_encoder(model) if model else None, every):
        halves[_hash_byte(case.question_id) % 2].append(case)
    for name, half in zip(("chosen on", "reported on"), halves, strict=True):
        counts = ", ".join(f"{kind}: {sum(case.kind == kind for case in half):,}" for kind in (THERE, ASPECT, DISEASE))
        print(f"{name}: {counts}")
    print(f"{time.perf_counter() - started:.0f} s")
    chosen = min(THRESHOLDS, key=lambda threshold: _cost(halves[0], threshold))
    print(f"Least silent + {WRONG_COUNTS} x wrong on the first half: {chosen}; the default is {ExtractiveSettings().threshold}")
    for name, half in zip(("chosen on", "reported on"), halves, strict=True):
        _curve(name, half)
    given = [case for case in halves[1] if case.kind == THERE and _score(case) >= ExtractiveSettings().threshold]
    _sources(given)
    seconds = [case.record["usage"]["seconds"] for half in halves for case in half]
    print(f"ms per answer: mean {1_000 * np.mean(seconds):.2f}, median {1_000 * np.median(seconds):.2f}")


def _errors(half: Sequence[Case], threshold: float) -> tuple[int, int]:
    """How often it is silent though a section answers, and answers though none does."""
    silent = sum(_score(case) < threshold for case in half if case.kind == THERE)
    wrong = sum(_score(case) >= threshold for case in half if case.kind != THERE)
    return silent, wrong


def _cost(half: Sequence[Case], threshold: float) -> int:
    silent, wrong = _errors(half, threshold)
    return silent + WRONG_COUNTS * wrong


def _curve(name: str, half: Sequence[Case]) -> None:
    by_kind = {kind: [case for case in half if case.kind == kind] for kind in (THERE, ASPECT, DISEASE)}
    heads = ("silent, though there", "given, aspect missing", "given, disease missing")
    print(f"\n{name:<13}" + "".join(f"{head:<27}" for head in heads) + f"silent  wrong  silent + {WRONG_COUNTS} x wrong")
    for threshold in THRESHOLDS:
        shares = [
            interval([(_score(case) >= threshold) == (kind != THERE) for case in cases], _ids(cases))
            for kind, cases in by_kind.items()
        ]
        silent, wrong = _errors(half, threshold)
        mark = "*" if threshold == ExtractiveSettings().threshold else ""
        columns = "".join(f"{share:<27}" for share in shares)
        print(f"{f'{threshold}{mark}':<13}{columns}{silent:<8,}{wrong:<7,}{_cost(half, threshold):,}")
    print("* the default")


def _sources(cases: Sequence[Case]) -> None:
    ids = _ids(cases)
    cited = [[record["section_id"] for record in case.record["retrieval"]["citations"]] for case in cases]
    retrieved = [case.gold & {record["section_id"] for record in case.record["retrieval"]["passages"]} for case in cases]
    print("\nOf the answers that are there and given:")
    print("a passage of a gold section was retrieved  ", interval(list(map(bool, retrieved)), ids))
    some = [not case.gold.isdisjoint(ids_cited) for ids_cited, case in zip(cited, cases, strict=True)]
    print("cites a gold section                       ", interval(some, ids))
    only = [bool(ids_cited) and set(ids_cited) <= case.gold for ids_cited, case in zip(cited, cases, strict=True)]
    print("cites gold sections only                   ", interval(only, ids))


def _score(case: Case) -> float:
    return float(case.record["usage"]["score"])


def _ids(cases: Sequence[Case]) -> list[str]:
    return [case.question_id for case in cases]


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
