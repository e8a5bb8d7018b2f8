"""The generator without a model: the best sentences of the evidence, or NOT ADDRESSED where it speaks of too little of it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from audit.generation.asked import Asked
from audit.generation.evidence import Evidence, Passage, evidence_of, unnumbered
from audit.generation.records import THRESHOLD, Record, answer_record
from audit.generation.relevance import Relevance, stems_of
from audit.judging.baseline.statements import ASIDE, Statement, read_answer
from audit.vocabulary import NOT_ADDRESSED

EXTRACTIVE = "extractive: sentences of the source, no model"
"""What this generator is called wherever its answers are shown or written."""
SILENT = f"{NOT_ADDRESSED}: no passage speaks of enough of what is asked."
MOST_READ = 8
"""Of many passages, as many are read sentence by sentence: those that say most of the question."""
LONGEST_SENTENCE = 80
"""Words; what is longer is a table or a list without stops."""


@dataclass(frozen=True)
class Extract:
    """The settings of the generator, chosen on one half of the NIH handbooks' gold (benchmarks/generate.py tells of the other).

    The threshold is lower than that half would have it: there the questions repeat the headings, and those of people do not.

    threshold  share in [0, 1] of the question's weight (its words, the rarer in the handbook the heavier) that one sentence
               together with the headings over it must hold; where none does, the answer is NOT ADDRESSED
    sentences, words   an answer has at most so many
    said       what a sentence gets for the share of the question that it holds itself, beside 1 for that with its headings
    heading    what it gets for the likeness of the headings to the question
    early      what the first sentence of a passage gets on top, the second half of it, and so on
    passage    what the first passage's sentences get on top, the second's half of it, and so on
    amount     what a sentence gets on top that holds an amount of the kind that is asked for (how long, how many, ...)
    near       sentences below this share of the best one's score are left out
    """

    threshold: float = 0.5
    sentences: int = 4
    words: int = 120
    said: float = 0.1
    heading: float = 3.0
    early: float = 0.2
    passage: float = 0.05
    amount: float = 0.3
    near: float = 0.9


DEFAULTS = Extract()


class Sentence(NamedTuple):
    """A sentence of the evidence: its score, how much of the question it holds, and where it stands (section, character)."""

    score: float
    held: float
    place: tuple[int, int]
    passage: Passage
    statement: Statement


def extractive(asked: Iterable[Asked], settings: Extract = DEFAULTS) -> Iterator[Record]:
    """The records of answers.jsonl to `asked`, in its order; fastest where a handbook's questions follow one another.

    An answer's `usage` holds `score` (what its best sentence holds of the question), `threshold` and `seconds`.
    """
    for document, questions in groupby(asked, key=lambda one: one.document):
        relevance = Relevance(document)
        for one in questions:
            yield answer(one, relevance, settings)


def answer(asked: Asked, relevance: Relevance, settings: Extract = DEFAULTS) -> Record:
    """The record of one answer."""
    started = time.perf_counter()
    evidence = evidence_of(asked, relevance)
    sentences = list(_sentences(asked, _passages(asked, evidence, relevance), relevance, settings))
    held = max((each.held for each in sentences), default=0.0)
    usage: dict[str, Any] = {"generator": EXTRACTIVE, "score": round(held, 4), "threshold": settings.threshold}
    chosen = _chosen(sentences, settings) if held >= settings.threshold else []
    text = " ".join(f"{_whole(each.statement.text)} [{each.passage.number}]" for each in chosen)
    usage["seconds"] = round(time.perf_counter() - started, 6)
    if not text:
        return answer_record(asked, evidence, SILENT, method=THRESHOLD, usage=usage)
    return answer_record(asked, evidence, text, usage=usage)


def _passages(asked: Asked, evidence: Evidence, relevance: Relevance) -> list[Passage]:
    """The passages to read, those that hold most of the question first, in the order given among equals."""
    if len(evidence.passages) <= MOST_READ:
        return list(evidence.passages)
    wanted = relevance.words(asked.query.text)
    return sorted(evidence.passages, key=lambda passage: -relevance.cover(wanted, _stems(passage, relevance)))[:MOST_READ]


def _stems(passage: Passage, relevance: Relevance) -> frozenset[str]:
    section = relevance.document.by_id.get(passage.section_id)
    if section is not None and len(section.text) == len(passage.text):  # of a whole handbook they are known already
        return relevance.stems(section)
    return stems_of(f"{passage.title}\n{passage.text}")


def _sentences(asked: Asked, passages: Sequence[Passage], relevance: Relevance, settings: Extract) -> Iterator[Sentence]:
    question, wanted = relevance.read(asked.query.text), relevance.words(asked.query.text)
    for rank, passage in enumerate(passages, 1):
        above = stems_of(passage.title)
        alike = settings.heading * relevance.likeness(wanted, above) + settings.passage / rank
        for number, statement in enumerate(filter(_usable, read_answer(passage.text).statements), 1):
            held = relevance.cover(wanted, statement.stems | above)
            score = held + alike + settings.said * relevance.cover(wanted, statement.stems) + settings.early / number
            score += settings.amount * any(map(question.measured_by, statement.amounts))
            place = relevance.order.get(passage.section_id, 0), passage.start + statement.start
            yield Sentence(score, held, place, passage, statement)


def _chosen(sentences: Iterable[Sentence], settings: Extract) -> list[Sentence]:
    """The best sentences that there is room for, in reading order, none twice."""
    ranked = sorted(sentences, key=lambda one: (-one.score, one.place))
    kept: list[Sentence] = []
    room, said = settings.words, set[str]()
    for one in ranked:
        length = len(one.statement.text.split())
        if one.score < settings.near * ranked[0].score or len(kept) == settings.sentences:
            break
        if (length <= room or not kept) and one.statement.text not in said:
            kept.append(one)
            room -= length
            said.add(one.statement.text)
    return sorted(kept, key=lambda one: one.place)


def _usable(statement: Statement) -> bool:
    """Whether it is a sentence that tells something: not too long, no question, no telephone number, not "ask your team"."""
    return 3 <= len(statement.text.split()) <= LONGEST_SENTENCE and ASIDE.search(statement.text) is None


def _whole(text: str) -> str:
    """A sentence on one line, without the bullet that it may begin with, ending in a stop."""
    words = " ".join(unnumbered(text).split()).lstrip("-•*– ")
    return words if words.endswith((".", "!", "?")) else f"{words.rstrip(',;:')}."
