"""The generator without a model: the best sentences of the evidence, or NOT ADDRESSED if they cover too little of the question.

It reads sentences and words, and nothing else. In particular it does not share a parser with the baseline judge: an audit
in which the same code writes the answers and judges them would overrate both (`.ci/contracts.py` forbids that import).
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from audit.generation.citations import Quote
from audit.generation.evidence import (
    Evidence,
    GroundedQuestion,
    NumberedPassage,
    Relevance,
    evidence_of,
    question_stems,
    stem_set,
    without_numbers,
)
from audit.generation.files import THRESHOLD, Record, answer_record
from audit.text.units import ONES, TENS
from audit.vocabulary import NOT_ADDRESSED

EXTRACTIVE = "extractive: sentences of the source, no model"
"""The name of this generator wherever its answers are shown or written."""
NO_RELEVANT_SENTENCE = f"{NOT_ADDRESSED}: no passage speaks of enough of what is asked."
# If there are more passages, only this many are read sentence by sentence: those that cover most of the question
MAX_PASSAGES = 8
# What is longer is a table or a list without full stops
MIN_SENTENCE_WORDS, MAX_SENTENCE_WORDS = 3, 80
SENTENCE = re.compile(r"\S(?:[^.!?;\n]|[.!?](?![\"')\]]*\s+[\"'(\[]?[A-Z0-9•*-]))*[.!?]*[\"')\]]*")
ASKS_FOR_NUMBER = re.compile(r"\bhow (?:long|soon|often|frequent\w*|many|much|old|far|heavy|high)\b|\bwhen\b|\bwhat age\b", re.I)
NUMBER = re.compile(rf"\d|\b(?:{'|'.join([*ONES, *TENS])})\b", re.I)


@dataclass(frozen=True)
class ExtractiveSettings:
    """The settings, chosen on one half of the gold of the NIH handbooks (benchmarks/generate.py measures the other half).

    The threshold is lower than that half would suggest: its questions repeat the headings, which people's questions do not.

    threshold  share in [0, 1] of the question's weight (its words, rarer ones in the handbook weigh more) that one sentence with
               its headings must cover; if none does, the answer is NOT ADDRESSED
    sentences, words   the maximum length of an answer
    own_words  bonus for the share of the question that the sentence covers without its headings (weight 1 with them)
    heading    bonus for the similarity of headings and question
    early      bonus for the first sentence of a passage; half of it for the second, and so on
    passage    bonus for sentences of the first passage; half of it for the second, and so on
    amount     bonus for a sentence with a number if the question asks for one (how long, how many, ...)
    near       sentences below this share of the best score are left out
    """

    threshold: float = 0.5
    sentences: int = 4
    words: int = 120
    own_words: float = 0.1
    heading: float = 3.0
    early: float = 0.2
    passage: float = 0.05
    amount: float = 0.3
    near: float = 0.9


DEFAULTS = ExtractiveSettings()


class ScoredSentence(NamedTuple):
    """A sentence of the evidence: its score, how much of the question it covers, and its position (section, character)."""

    score: float
    coverage: float
    position: tuple[int, int]
    passage: NumberedPassage
    text: str


def extractive_answers(questions: Iterable[GroundedQuestion], settings: ExtractiveSettings = DEFAULTS) -> Iterator[Record]:
    """The records of answers.jsonl for `questions`, in their order; fastest if a handbook's questions follow one another.

    `usage` of an answer has `score` (how much of the question its best sentence covers), `threshold` and `seconds`.
    """
    for document, of_document in groupby(questions, key=lambda question: question.document):
        relevance = Relevance(document)
        for question in of_document:
            yield extractive_answer(question, relevance, settings)


def extractive_answer(question: GroundedQuestion, relevance: Relevance, settings: ExtractiveSettings = DEFAULTS) -> Record:
    """The record of one answer."""
    started = time.perf_counter()
    evidence = evidence_of(question, relevance)
    sentences = list(_scored_sentences(question.query.text, evidence, relevance, settings))
    coverage = max((sentence.coverage for sentence in sentences), default=0.0)
    # Better no answer than one about something else: the judge would compare it all the same
    chosen = _best_sentences(sentences, settings) if coverage >= settings.threshold else []
    text = " ".join(f"{_as_sentence(sentence.text)} [{sentence.passage.number}]" for sentence in chosen)
    usage: dict[str, Any] = {
        "generator": EXTRACTIVE,
        "score": round(coverage, 4),
        "threshold": settings.threshold,
        "seconds": round(time.perf_counter() - started, 6),
    }
    if not text:
        return answer_record(question, evidence, NO_RELEVANT_SENTENCE, method=THRESHOLD, usage=usage)
    quotes = [Quote(sentence.passage.number, start := sentence.position[1], start + len(sentence.text)) for sentence in chosen]
    return answer_record(question, evidence, text, usage=usage, quotes=quotes)


def _passages_to_read(stems: frozenset[str], evidence: Evidence, relevance: Relevance) -> Sequence[NumberedPassage]:
    """The passages to read, those that cover most of the question first if there are too many."""
    if len(evidence.passages) <= MAX_PASSAGES:
        return evidence.passages
    return sorted(evidence.passages, key=lambda passage: -relevance.coverage(stems, _passage_stems(passage, relevance)))[
        :MAX_PASSAGES
    ]


def _passage_stems(passage: NumberedPassage, relevance: Relevance) -> frozenset[str]:
    section = relevance.document.by_id.get(passage.section_id)
    if section is not None and len(section.text) == len(passage.text):  # a section in full: its stems are known
        return relevance.stems(section)
    return stem_set(f"{passage.title}\n{passage.text}")


def _scored_sentences(
    question: str, evidence: Evidence, relevance: Relevance, settings: ExtractiveSettings
) -> Iterator[ScoredSentence]:
    stems, asks_for_number = question_stems(question), ASKS_FOR_NUMBER.search(question) is not None
    for rank, passage in enumerate(_passages_to_read(stems, evidence, relevance), 1):
        headings = stem_set(passage.title)
        passage_score = settings.heading * relevance.similarity(stems, headings) + settings.passage / rank
        for number, (start, text) in enumerate(_sentences(passage.text), 1):
            sentence_stems = stem_set(text)
            # With the headings: a section on travel need not repeat the word in every sentence.
            coverage = relevance.coverage(stems, sentence_stems | headings)
            score = coverage + passage_score + settings.early / number
            score += settings.own_words * relevance.coverage(stems, sentence_stems)
            score += settings.amount * (asks_for_number and NUMBER.search(text) is not None)
            position = relevance.order.get(passage.section_id, 0), passage.start + start
            yield ScoredSentence(score, coverage, position, passage, text)


def _sentences(text: str) -> Iterator[tuple[int, str]]:
    """(first character, text) of each sentence that can answer something: of usual length, and not a question itself."""
    for match in SENTENCE.finditer(text):
        sentence = match.group().strip()
        if MIN_SENTENCE_WORDS <= len(sentence.split()) <= MAX_SENTENCE_WORDS and not sentence.endswith("?"):
            yield match.start(), sentence


def _best_sentences(sentences: Iterable[ScoredSentence], settings: ExtractiveSettings) -> list[ScoredSentence]:
    """The best sentences that there is room for, in reading order, without repeats."""
    ranked = sorted(sentences, key=lambda sentence: (-sentence.score, sentence.position))
    selected: list[ScoredSentence] = []
    room, texts = settings.words, set[str]()
    for sentence in ranked:
        length = len(sentence.text.split())
        if sentence.score < settings.near * ranked[0].score or len(selected) == settings.sentences:
            break
        # The best sentence is taken however long it is: an answer needs one
        if (length <= room or not selected) and sentence.text not in texts:
            selected.append(sentence)
            room -= length
            texts.add(sentence.text)
    return sorted(selected, key=lambda sentence: sentence.position)


def _as_sentence(text: str) -> str:
    """A sentence on one line, without a bullet in front, ending in a full stop."""
    words = " ".join(without_numbers(text).split()).lstrip("-•*– ")
    return words if words.endswith((".", "!", "?")) else f"{words.rstrip(',;:')}."
