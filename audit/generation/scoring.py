"""How well a statement answers a question: how much of it it speaks of, and whether it has the kind of fact asked for."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from audit.embedding.encoders import Encoder
from audit.embedding.vectors import no_progress
from audit.generation.candidates import Candidate, has_polarity
from audit.generation.evidence import Relevance
from audit.generation.questions import GENERIC_SHARE, OBJECT_VERBS, AskedQuestion, Concept, presence, stated_stems
from audit.text.tokens import plain_text

# Where a statement has a word of the question: in its own words, in its list's lead, in its heading, in the headings above
OWN, LEAD, HEADING, ABOVE = 1.0, 0.95, 0.85, 0.5
MIN_SUBJECT = 0.3
"""Smallest share of the question's subject, by weight, that a statement with its leads and headings must have."""
# What follows names a case: "if you have a fever", "any of these signs: fever"
CASE = re.compile(r"\b(?:if|when|whenever|in case|any of|these|following|signs?|symptoms?|problems?)\b[^.;]{0,120}")
POINTS_ELSEWHERE = re.compile(
    r"https?:|www\.|\bvisit:? (?:the |our )?(?:website|\S+\.(?:gov|com|org|net|"
    r"edu|uk))|\b(?:learn|read|find out) more|for more (?:information|details)|"
    r"^\W*(?:see|refer to) |\bthese resources (?:address|from|offer)\b|section of this (?:manual|book|guide)"
)
FIRST_CASE = re.compile(r"(?:if|when|whenever) [^.;,:]*")
# A statement about others than the patient answers only questions about them
OTHERS = re.compile(
    r"\b(?:donors?|donat\w+|(?:friends|family|relatives)(?: members)?,? (?:and|or|family|"
    r"who|should|must|can|are)|visitors (?:and|who|are|must|should)|anyone|people who|"
    r"those who|others|someone who|caregivers? (?:and|who|should|must|can|need)|your pet|volunteers?)\b"
)


@dataclass(frozen=True)
class ScoringSettings:
    """How a score is made up (chosen on real handbooks and on one half of the gold of the NIH handbooks).

    no_aspect  factor for a statement without the kind of fact that is asked for
    no_case    factor for an instruction that does not name the question's case as a case ("people who have a fever")
    others     factor for a statement about other people than the patient
    elsewhere  factor for a statement that only says where to read more
    other_case factor for a statement that begins with a case which the question does not name ("If your mouth is sore, ...")
    item       bonus for items of a list where the question asks for several things
    dense      bonus for the share of a statement's words that are the question's
    heading    bonus for the similarity of the section's heading and the question
    early      bonus for the first statement of a section; half of it for the second, and so on
    passage    bonus for statements of the first passage; half of it for the second, and so on
    meaning    weight of the similarity in meaning, where there is a sentence model
    alike      cosine from which on a statement counts in full; below it its confidence falls in proportion
    depth      statements that the sentence model compares: the best by their words
    """

    no_aspect: float = 0.5
    no_case: float = 0.6
    others: float = 0.6
    elsewhere: float = 0.6
    other_case: float = 0.9
    item: float = 0.1
    dense: float = 0.1
    heading: float = 1.5
    early: float = 0.03
    passage: float = 0.05
    meaning: float = 1.0
    alike: float = 0.25
    depth: int = 30


class Scored(NamedTuple):
    """A candidate with its scores.

    score       what candidates are ranked by
    confidence  in [0, 1]: what the threshold is compared with
    by_heading  whether it is about the question's subject only by its heading, which must then be quoted with it
    """

    score: float
    confidence: float
    by_heading: bool
    candidate: Candidate
    passage: int


def scored_candidates(
    question: AskedQuestion,
    passages: Iterable[tuple[int, Sequence[Candidate]]],
    relevance: Relevance,
    settings: ScoringSettings,
) -> Iterator[Scored]:
    """The candidates that speak of the question's subject, each with its score."""
    weights = {concept.stem: concept.share * math.sqrt(0.25 + relevance.weight(concept.stem)) for concept in question.concepts}
    if not any(weights.values()):
        return
    for rank, (number, candidates) in enumerate(passages, 1):
        for candidate in candidates:
            places = _places(question, candidate, relevance)
            if candidate.is_question or _subject_share(question.subject, places, weights) < MIN_SUBJECT:
                continue
            coverage = _coverage(question, candidate, places, weights)
            confidence = (
                coverage
                * _aspect_factor(question, candidate, places, settings)
                * _relevance_factor(question, candidate, settings)
            )
            by_heading = any(places[concept.stem][1] for concept in question.concepts if concept.share != GENERIC_SHARE)
            bonus = settings.heading * relevance.similarity(question.stems, relevance.headings(candidate.section)[0]) ** 2
            bonus += settings.early / (candidate.number + 1) + settings.passage / rank
            bonus += settings.item * (question.for_list and candidate.statement.kind == "item")
            bonus += settings.dense * len(candidate.own & question.stems) / max(len(candidate.own), 1)
            yield Scored(confidence + bonus, confidence, by_heading, candidate, number)


def compared_by_meaning(
    question: AskedQuestion, scored: Sequence[Scored], encoder: Encoder, settings: ScoringSettings
) -> list[Scored]:
    """The best of the candidates, best first, with their similarity in meaning to the question in both scores.

    Raises EmbeddingError and MissingLibraryError from the encoder.
    """
    best = scored[: settings.depth]
    if not best:
        return []
    texts = [f"{part.candidate.section.heading}: {part.candidate.statement.quoted}" for part in best]
    asked, *vectors = encoder.encode([question.text, *texts], no_progress)
    cosines = [float(vector @ asked) for vector in vectors]
    return [
        part._replace(
            score=part.score + settings.meaning * cosine,
            confidence=part.confidence * min(1.0, max(0.0, cosine) / settings.alike),
        )
        for part, cosine in zip(best, cosines, strict=True)
    ]


def _places(question: AskedQuestion, candidate: Candidate, relevance: Relevance) -> dict[str, tuple[float, bool]]:
    """Stem of the question -> how well the statement speaks of it, and whether only a heading does."""
    heading, headings_above = relevance.headings(candidate.section)
    found: dict[str, tuple[float, bool]] = {}
    for concept in question.concepts:
        stem = concept.stem
        quoted = max(OWN * presence(stem, candidate.own), LEAD * presence(stem, candidate.lead_stems))
        above = max(HEADING * presence(stem, heading), ABOVE * presence(stem, headings_above))
        found[stem] = max(quoted, above), above > 0 and not quoted
    for pair in question.either:
        best = max((found[stem] for stem in pair if stem in found), default=(0.0, False))
        found |= {stem: best for stem in pair if stem in found}
    return found


def _coverage(
    question: AskedQuestion, candidate: Candidate, places: Mapping[str, tuple[float, bool]], weights: Mapping[str, float]
) -> float:
    """The share in [0, 1] of the question's weight that a statement has, its headings included."""
    # An item or a row has no verb: "Ibuprofen | Allowed: no" answers "Can I take ibuprofen?" But of "Can I eat before the test?"
    # nothing would be left to speak of
    only_generic = all(concept.share == GENERIC_SHARE for concept in question.concepts)
    is_sentence = candidate.statement.kind == "sentence" or only_generic
    needed = [
        concept.stem
        for concept in question.concepts
        if is_sentence or places[concept.stem][0] or concept.share != GENERIC_SHARE or concept.stem not in OBJECT_VERBS
    ]
    total = sum(weights[stem] for stem in needed)
    return sum(weights[stem] * places[stem][0] for stem in needed) / total if total else 0.0


def _subject_share(subject: Sequence[Concept], places: Mapping[str, tuple[float, bool]], weights: Mapping[str, float]) -> float:
    total = sum(weights[concept.stem] for concept in subject)
    return sum(weights[concept.stem] * places[concept.stem][0] for concept in subject) / total if total else 0.0


def _aspect_factor(
    question: AskedQuestion, candidate: Candidate, places: Mapping[str, tuple[float, bool]], settings: ScoringSettings
) -> float:
    aspect = question.aspect
    if aspect is None:
        return 1.0
    headings = [candidate.section.heading, *candidate.section.above[-1:]] if aspect.by_heading else []
    texts = [candidate.quoted, *(plain_text(heading) for heading in headings if has_polarity(heading))]
    if not any(map(aspect.has.search, texts)):
        return settings.no_aspect
    only_heading = all(places[concept.stem][1] for concept in question.subject)
    if aspect.below_heading and only_heading and not any(map(aspect.below_heading.search, texts)):
        return settings.no_aspect
    if aspect.conditional and not _names_case(question, candidate) and not any(by for _, by in places.values()):
        return settings.no_case
    return 1.0


def _names_case(question: AskedQuestion, candidate: Candidate) -> bool:
    # "Have diarrhea? DO:" is a case too
    cases = stated_stems(" ".join(CASE.findall(candidate.quoted))) | candidate.lead_stems
    return any(presence(concept.stem, cases) for concept in question.subject)


def _relevance_factor(question: AskedQuestion, candidate: Candidate, settings: ScoringSettings) -> float:
    others = stated_stems(" ".join(match.group() for match in OTHERS.finditer(candidate.quoted)))
    if others and others.isdisjoint(question.stems):
        return settings.others
    if POINTS_ELSEWHERE.search(candidate.quoted):
        return settings.elsewhere
    case = FIRST_CASE.match(candidate.quoted)
    if case and not any(presence(concept.stem, stated_stems(case.group())) for concept in question.concepts):
        return settings.other_case
    return 1.0
