"""The generator without a model: quotes the statements that answer the question; NOT ADDRESSED if none does.

It shares no parser with the baseline judge: an audit in which the same code writes the answers and judges them would overrate
both (`.ci/contracts.py` forbids that import).
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from audit.pipeline.answers.citations import Quote
from audit.pipeline.answers.evidence import Evidence, GroundedQuestion, NumberedPassage, evidence_of, without_numbers
from audit.pipeline.answers.files import THRESHOLD, Record, answer_record, unread_record
from audit.pipeline.answers.unreadable import asked_in, other_language
from audit.pipeline.embedding.encoders import Encoder
from audit.pipeline.rules.answers.candidates import has_polarity
from audit.pipeline.rules.answers.questions import AskedQuestion, read_question
from audit.pipeline.rules.answers.relevance import Relevance, stem_set
from audit.pipeline.rules.answers.scoring import Scored, ScoringSettings, scored_candidates
from audit.release.taxonomy import LEXICAL
from audit.text.statements import CELL_SEPARATOR
from audit.vocabulary import NOT_ADDRESSED, PASSAGES_GENERATOR

"""The name of this generator wherever its answers are shown or written."""
NO_RELEVANT_SENTENCE = f"{NOT_ADDRESSED}: no passage covers enough of the question."
# Without a sentence model, at most this many passages are read statement by statement: those that cover most of the question.
# A sentence model also finds statements that share no word with the question, which may be in any passage.
MAX_PASSAGES = 12
MAX_ITEMS = 12


@dataclass(frozen=True)
class ExtractiveSettings:
    """The settings of an answer.

    threshold  share in [0, 1] of the question's weight (its words, rarer ones in the handbook weigh more) that one statement with
               its leads and headings must cover; if none does, the answer is NOT ADDRESSED. Chosen with benchmarks/generate.py
    sentences, words   the maximum length of an answer, in statements and in words
    near       statements with less than this share of the best score are left out
    scoring    how a statement is scored
    """

    threshold: float = 0.85
    sentences: int = 6
    words: int = 120
    near: float = 0.94
    scoring: ScoringSettings = field(default_factory=ScoringSettings)


DEFAULTS = ExtractiveSettings()


def extractive_answers(
    questions: Iterable[GroundedQuestion], settings: ExtractiveSettings = DEFAULTS, encoder: Encoder | None = None
) -> Iterator[Record]:
    """The records of answers.jsonl for `questions`, in their order; fastest if the questions are grouped by handbook.

    encoder  a sentence model, which compares statements and question in meaning; None: only words are compared

    `usage` of an answer has `generator`, `score` (how much of the question its best statement covers), `threshold` and `seconds`.
    """
    for document, of_document in groupby(questions, key=lambda question: question.document):
        relevance, asked = Relevance(document), list(of_document)
        reason = other_language(document, asked_in(question.query.text for question in asked))
        for question in asked:
            yield unread_record(question, reason) if reason else extractive_answer(question, relevance, settings, encoder)


def extractive_answer(
    question: GroundedQuestion,
    relevance: Relevance,
    settings: ExtractiveSettings = DEFAULTS,
    encoder: Encoder | None = None,
) -> Record:
    """The record of one answer."""
    started = time.perf_counter()
    evidence = evidence_of(question)
    asked = read_question(question.query.text)
    passages = evidence.passages if encoder else _passages_to_read(asked, evidence, relevance)
    confidence, chosen = chosen_statements(asked, passages, relevance, settings, encoder)
    text = printed(chosen)
    usage: dict[str, object] = {
        "generator": PASSAGES_GENERATOR,
        "score": round(confidence, 4),
        "threshold": settings.threshold,
        "encoder": encoder.name if encoder else LEXICAL,
        "seconds": round(time.perf_counter() - started, 6),
    }
    if not text:
        return answer_record(question, evidence, NO_RELEVANT_SENTENCE, method=THRESHOLD, usage=usage)
    quotes = [Quote(part.passage, part.candidate.statement.start, part.candidate.statement.end) for part in chosen]
    return answer_record(question, evidence, text, usage=usage, quotes=quotes)


def chosen_statements(
    asked: AskedQuestion,
    passages: Iterable[NumberedPassage],
    relevance: Relevance,
    settings: ExtractiveSettings = DEFAULTS,
    encoder: Encoder | None = None,
) -> tuple[float, list[Scored]]:
    """The share of the question that the best statement covers, and the statements of the answer (none below the threshold)."""
    candidates = [(passage.number, relevance.candidates(passage)) for passage in passages]
    scored = sorted(scored_candidates(asked, candidates, relevance, settings.scoring, encoder), key=_by_score)
    confidence = scored[0].confidence if scored else 0.0
    # No answer is better than one on another subject, which the judge would compare nonetheless
    return confidence, _best_statements(scored, relevance, settings) if confidence >= settings.threshold else []


def _by_score(scored: Scored) -> tuple[float, int, int]:
    return -scored.score, scored.candidate.section_number, scored.candidate.number


def _passages_to_read(asked: AskedQuestion, evidence: Evidence, relevance: Relevance) -> Sequence[NumberedPassage]:
    """The passages to read; if there are too many, those that cover most of the question."""
    if len(evidence.passages) <= MAX_PASSAGES:
        return evidence.passages
    return sorted(evidence.passages, key=lambda passage: -relevance.coverage(asked.stems, _passage_stems(passage, relevance)))[
        :MAX_PASSAGES
    ]


def _passage_stems(passage: NumberedPassage, relevance: Relevance) -> frozenset[str]:
    section = relevance.document.by_id.get(passage.section_id)
    if section is not None and len(section.text) == len(passage.text):  # a section in full: its stems are known
        return relevance.stems(section)
    return stem_set(f"{passage.title}\n{passage.text}")


def _best_statements(ranked: Sequence[Scored], relevance: Relevance, settings: ExtractiveSettings) -> list[Scored]:
    """The best statements up to the maximum length, in reading order, each with the statements that it needs."""
    selected: dict[tuple[int, int], Scored] = {}
    texts, room = set[str](), settings.words
    for scored in ranked:
        if scored.score < settings.near * ranked[0].score or len(selected) >= settings.sentences:
            break
        group = [part for part in _with_neighbours(scored, relevance) if _key(part) not in selected]
        length = sum(len(part.candidate.text.split()) for part in group)
        # The best statement is used whatever its length, because an answer needs one
        if (length <= room or not selected) and scored.candidate.text not in texts:
            selected |= {_key(part): part for part in group}
            texts |= {part.candidate.text for part in group}
            room -= length
    return [part for _, part in sorted(_with_full_lists(selected, relevance).items(), key=lambda entry: entry[0])]


def _with_full_lists(selected: dict[tuple[int, int], Scored], relevance: Relevance) -> dict[tuple[int, int], Scored]:
    """The statements; where several items of a list were selected, all of its items, because part of a list looks complete."""
    items = [part for part in selected.values() if part.candidate.statement.kind == "item" and part.candidate.leads]
    full = dict(selected)
    for first, *others in _by_list(items):
        listed = relevance.section_candidates(first.candidate.section)
        siblings = [one for one in listed if one.leads == first.candidate.leads and not one.is_question]
        if others and len(siblings) <= MAX_ITEMS:
            full = {_key(part): part for part in (first._replace(candidate=one) for one in siblings)} | full
    return full


def _by_list(items: Sequence[Scored]) -> Iterable[list[Scored]]:
    lists: dict[tuple[int, tuple[str, ...]], list[Scored]] = {}
    for part in items:
        lists.setdefault((part.candidate.section_number, part.candidate.leads), []).append(part)
    return lists.values()


def _key(scored: Scored) -> tuple[int, int]:
    return scored.candidate.section_number, scored.candidate.number


def _with_neighbours(scored: Scored, relevance: Relevance) -> list[Scored]:
    """A statement with the one that it refers to ("They may ...") and those after it that limit it ("But ...")."""
    candidate = scored.candidate
    siblings = relevance.section_candidates(candidate.section)
    at = siblings.index(candidate)
    first, last = at, at + 1
    while first > 0 and siblings[first].leans and not siblings[first - 1].is_heading and at - first < 2:
        first -= 1
    while last < len(siblings) and siblings[last].qualifies and siblings[last].leads == candidate.leads and last - at < 3:
        last += 1
    while (
        candidate.announces_what_follows
        and last < len(siblings)
        and siblings[last].statement.kind != "sentence"
        and last - at < MAX_ITEMS
    ):
        last += 1
    return [scored._replace(candidate=sibling) for sibling in siblings[first:last]]


# -- how statements are printed ----------------------------------------------------------------------------------------


def printed(chosen: Sequence[Scored]) -> str:
    """The text of the answer: statements grouped by heading and leads, which precede them, with their passage's number."""
    return " ".join(f"{printed_group(group)} [{group[0].passage}]" for group in grouped(chosen))


def grouped(chosen: Sequence[Scored]) -> list[list[Scored]]:
    """The statements, grouped by heading and leads."""
    return [list(group) for _, group in groupby(chosen, key=_group_key)]


def _group_key(scored: Scored) -> tuple[int, tuple[str, ...], bool]:
    return scored.candidate.section_number, scored.candidate.leads, scored.candidate.is_heading


def printed_group(group: Sequence[Scored]) -> str:
    """Statements under one heading as text, after the heading and leads without which they would be misleading."""
    first = group[0].candidate
    front = [] if first.is_heading else [*_headings_in_front(group), *first.leads]
    parts = [_one_line(scored.candidate.text) for scored in group]
    # Items of one list share its lead; sentences are printed one by one
    body = "; ".join(part.rstrip(".;,") for part in parts) if first.leads else " ".join(map(_as_sentence, parts))
    text = " ".join([*(_as_lead(_one_line(lead)) for lead in front), body])
    return _as_sentence(text)


def _headings_in_front(group: Sequence[Scored]) -> list[str]:
    """The headings that the statements need to be understood correctly."""
    section = group[0].candidate.section
    is_bare_item = group[0].candidate.statement.kind == "item" and not group[0].candidate.leads
    needed = is_bare_item or any(scored.by_heading for scored in group)
    above = [heading for heading in section.above if len(heading.split()) <= MAX_HEAD_WORDS and has_polarity(heading)]
    own = [section.heading] if section.heading and (needed or has_polarity(section.heading)) else []
    return [*above[-1:], *own]


MAX_HEAD_WORDS = 8
CONTINUED = re.compile(r"\s*\((?:continued|cont\.?)\)", re.I)


def _as_lead(text: str) -> str:
    text = text.replace(CELL_SEPARATOR, " ")
    text = CONTINUED.sub("", text)
    return text if text.endswith((":", "?")) else f"{text.rstrip('.;,')}:"


def _as_sentence(text: str) -> str:
    words = text.strip()
    return words if words.endswith((".", "!", "?")) else f"{words.rstrip(',;:')}."


def _one_line(text: str) -> str:
    """A text on one line, its own bracketed numbers in parentheses, without a bullet in front."""
    return " ".join(without_numbers(text).split()).lstrip("-•*– ")
