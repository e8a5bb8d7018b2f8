"""Scores how well a statement answers a question: the share that it covers, and whether it has the requested kind of fact."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from audit.pipeline.embedding.encoders import Encoder
from audit.pipeline.embedding.vectors import no_progress
from audit.pipeline.rules.answers.candidates import Candidate, has_polarity
from audit.pipeline.rules.answers.questions import (
    GENERIC_SHARE,
    OBJECT_VERBS,
    RELATIVE,
    AskedQuestion,
    Concept,
    content_stems,
    presence,
    stated_stems,
)
from audit.pipeline.rules.answers.relevance import Relevance
from audit.text.tokens import plain_text

# Weights of where a word occurs: in the statement, in its list's lead, in its heading, in the headings above
OWN, LEAD, HEADING, ABOVE = 1.0, 0.95, 0.85, 0.5
MIN_SUBJECT = 0.3
"""Minimum share of the question's subject, by weight, that a statement with its leads and headings must mention."""
# The words after these name a case: "if you have a fever", "any of these signs: fever"
CASE = re.compile(r"\b(?:if|when|whenever|in case|any of|these|following|signs?|symptoms?|problems?)\b[^.;]{0,120}")
POINTS_ELSEWHERE = re.compile(
    r"https?:|www\.|\bvisit:? (?:the |our )?(?:website|\S+\.(?:gov|com|org|net|"
    r"edu|uk))|\b(?:learn|read|find out) more|for more (?:information|details)|"
    r"^\W*(?:see|refer to) |\bthese resources (?:address|from|offer)\b|section of this (?:manual|book|guide)"
)
FIRST_CASE = re.compile(r"(?:if|when|whenever) [^.;,:]*")
# A statement about people other than the patient only answers questions about them
OTHERS = re.compile(
    r"\b(?:donors?|donat\w+|(?:friends|family|relatives)(?: members)?,? (?:and|or|family|"
    r"who|should|must|can|are)|visitors (?:and|who|are|must|should)|anyone|people who|"
    r"those who|others|someone who|caregivers? (?:and|who|should|must|can|need)|your pet|volunteers?)\b"
)
# "Meals with 20 grams of protein" is no answer to "How much protein may I eat a day?"
OF_A_DAY = re.compile(r"\b(?:daily|days?|24[ -]hours?|nights?|(?:each|every|per) meal)\b")
AMOUNT_ASPECTS = ("how much", "how much to drink")
IN_THE_FAMILY = re.compile(rf"{RELATIVE}|\b(?:inherit\w*|hereditary|genetic\w*|genes?)\b")
# A personal story or a report of research is not advice
NO_ADVICE = re.compile(
    r"\bi (?:\w+ed|was|were|had|have|am|did|went|felt|got|took|knew|thought)\b|\bi'(?:m|ve|d)\b|\bmy (?:internship|career)\b|"
    r"\b(?:control|placebo|treatment) (?:group|arm)s?\b|\brandomi[sz]ed\b|\bparticipants (?:were|had|in|who)\b|\bet al\b|"
    r"\bin (?:this|our|one|a) (?:study|trial|article)\b|\b(?:recommendation|policy) statement\b|\bthe authors?\b|"
    r"\(\d{1,2}(?:\s?[-–,]\s?\d{1,2})*\)\W*$"
)


@dataclass(frozen=True)
class ScoringSettings:
    """The factors and bonuses of a score (chosen on real handbooks and on one half of the gold of the NIH handbooks).

    no_aspect  factor for a statement without the requested kind of fact
    no_case    factor for an instruction that does not name the question's case as a case ("people who have a fever")
    others     factor for a statement about people other than the patient, or not about the relatives that are asked about
    no_advice  factor for a personal story or a report of research
    elsewhere  factor for a mere reference to further reading
    other_case factor for a statement that begins with a case not named in the question ("If your mouth is sore, ...")
    item       bonus for items of a list where the question asks for several things
    dense      bonus for the share of a statement's words that are in the question
    heading    bonus for the similarity of the section's heading and the question, where only words are compared
    headed     the same with a sentence model
    early      bonus for the first statement of a section; half of it for the second, and so on
    passage    bonus for statements of the first passage; half of it for the second, and so on
    meaning    weight of the similarity in meaning, where there is a sentence model
    alike      cosine from which a statement with the question's words has full confidence; below, it falls in proportion
    same       cosine from which any statement has full confidence, whatever its words ("fridge" for "refrigerator")
    shared     how far below `same` a statement with all of the question's words may be
    unnamed    cosine from which a statement is considered even if it does not name the question's subject
    """

    no_aspect: float = 0.5
    no_case: float = 0.6
    others: float = 0.6
    no_advice: float = 0.6
    elsewhere: float = 0.6
    other_case: float = 0.9
    item: float = 0.1
    dense: float = 0.1
    heading: float = 1.5
    headed: float = 0.3
    early: float = 0.03
    passage: float = 0.05
    meaning: float = 2.0
    alike: float = 0.4
    same: float = 0.8
    shared: float = 0.25
    unnamed: float = 0.45


class Scored(NamedTuple):
    """A candidate with its scores.

    score       ranks the candidates
    confidence  in [0, 1]; compared with the threshold
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
    encoder: Encoder | None = None,
) -> Iterator[Scored]:
    """The candidates on the question's subject, each with its score.

    encoder  a sentence model, which also finds statements in other words; None: only words are compared

    Raises EmbeddingError and MissingLibraryError from the encoder.
    """
    weights = {concept.stem: concept.share * math.sqrt(0.25 + relevance.weight(concept.stem)) for concept in question.concepts}
    by_words = any(weights.values())
    stated = [(number, [candidate for candidate in candidates if not candidate.is_question]) for number, candidates in passages]
    cosines = iter(_cosines(question, [candidate for _, candidates in stated for candidate in candidates], relevance, encoder))
    for rank, (number, candidates) in enumerate(stated, 1):
        for candidate in candidates:
            places, cosine = _places(question, candidate, relevance), next(cosines)
            is_named = by_words and _subject_share(question.subject, places, weights) >= MIN_SUBJECT
            if not is_named and (cosine is None or cosine < settings.unnamed):
                continue
            coverage = _coverage(question, candidate, places, weights)
            confidence = (
                max(_by_words(coverage, cosine, settings) if is_named else 0.0, _by_meaning(coverage, cosine, settings))
                * _aspect_factor(question, candidate, places, relevance, settings)
                * _relevance_factor(question, candidate, settings)
            )
            bonus = _bonus(question, candidate, settings)
            bonus += (settings.heading if cosine is None else settings.headed) * _headed(question, candidate, relevance)
            bonus += settings.passage / rank + settings.meaning * (cosine or 0.0)
            by_heading = any(places[concept.stem][1] for concept in question.concepts if concept.share != GENERIC_SHARE)
            yield Scored(confidence + bonus, confidence, by_heading, candidate, number)


def _cosines(
    question: AskedQuestion, candidates: Sequence[Candidate], relevance: Relevance, encoder: Encoder | None
) -> Sequence[float | None]:
    """The similarity in meaning of each candidate and the question; None without a sentence model."""
    if encoder is None or not candidates:
        return [None] * len(candidates)
    (asked,) = encoder.encode([question.text], no_progress)
    return [float(cosine) for cosine in relevance.vectors(candidates, encoder) @ asked]


def _headed(question: AskedQuestion, candidate: Candidate, relevance: Relevance) -> float:
    return relevance.similarity(question.stems, relevance.headings(candidate.section)[0]) ** 2


def _bonus(question: AskedQuestion, candidate: Candidate, settings: ScoringSettings) -> float:
    """A bonus that ranks statements of the same confidence: for early ones, list items and dense ones."""
    item = settings.item * (question.for_list and candidate.statement.kind == "item")
    dense = settings.dense * len(candidate.own_stems & question.stems) / max(len(candidate.own_stems), 1)
    return settings.early / (candidate.number + 1) + item + dense


def _by_words(coverage: float, cosine: float | None, settings: ScoringSettings) -> float:
    """The share in [0, 1] of the question that a statement covers by its words; less where its meaning differs."""
    return coverage if cosine is None else coverage * min(1.0, max(0.0, cosine) / settings.alike)


def _by_meaning(coverage: float, cosine: float | None, settings: ScoringSettings) -> float:
    """The share in [0, 1] of the question that a statement covers by its meaning."""
    return 0.0 if cosine is None else min(1.0, max(0.0, cosine + settings.shared * coverage) / settings.same)


def _places(question: AskedQuestion, candidate: Candidate, relevance: Relevance) -> dict[str, tuple[float, bool]]:
    """Stem of the question -> how well the statement matches it, and whether only a heading does."""
    heading, headings_above = relevance.headings(candidate.section)
    presences: dict[str, tuple[float, bool]] = {}
    for concept in question.concepts:
        stem = concept.stem
        quoted = max(OWN * presence(stem, candidate.own_stems), LEAD * presence(stem, candidate.lead_stems))
        above = max(HEADING * presence(stem, heading), ABOVE * presence(stem, headings_above))
        presences[stem] = max(quoted, above), above > 0 and not quoted
    for pair in question.either:
        best = max((presences[stem] for stem in pair if stem in presences), default=(0.0, False))
        presences |= {stem: best for stem in pair if stem in presences}
    return presences


def _coverage(
    question: AskedQuestion, candidate: Candidate, places: Mapping[str, tuple[float, bool]], weights: Mapping[str, float]
) -> float:
    """The share in [0, 1] of the question's weight that a statement covers together with its headings."""
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
    question: AskedQuestion,
    candidate: Candidate,
    places: Mapping[str, tuple[float, bool]],
    relevance: Relevance,
    settings: ScoringSettings,
) -> float:
    aspect = question.aspect
    if aspect is None:
        return 1.0
    headings = [candidate.section.heading, *candidate.section.above[-1:]] if aspect.by_heading else []
    texts = [candidate.quoted, *(plain_text(heading) for heading in headings if has_polarity(heading))]
    if aspect.named_first:
        is_definition = _defines(question, candidate, relevance.headings(candidate.section)[0], aspect.has)
        return 1.0 if is_definition else settings.no_aspect
    if not any(map(aspect.has.search, texts)) or not _is_of_a_day(question, texts):
        return settings.no_aspect
    only_heading = all(places[concept.stem][1] for concept in question.subject)
    if aspect.below_heading and only_heading and not any(map(aspect.below_heading.search, texts)):
        return settings.no_aspect
    if aspect.conditional and not _names_case(question, candidate) and not any(by for _, by in places.values()):
        return settings.no_case
    return 1.0


# A definition is at the beginning of a section whose heading is the defined term
DEFINED_WITHIN = 3


def _defines(question: AskedQuestion, candidate: Candidate, headings: frozenset[str], has: re.Pattern[str]) -> bool:
    """Whether a statement may define the question's subject: it begins with its name, or begins the section on it.

    "A rise in serum creatinine is ..." speaks of creatinine and does not say what it is.
    """
    stems = [concept.stem for concept in question.subject]
    if 0 < candidate.number <= DEFINED_WITHIN and _names_half(stems, headings):
        return True
    shown = has.search(candidate.quoted)
    return shown is not None and _names_half(stems, frozenset(content_stems(candidate.quoted[: shown.start()])[: len(stems) + 1]))


def _names_half(stems: Sequence[str], text: frozenset[str]) -> bool:
    # "Schistosomiasis is ..." answers "What is Parasites - Schistosomiasis?"
    return 2 * sum(presence(stem, text) > 0 for stem in stems) >= len(stems)


def _is_of_a_day(question: AskedQuestion, texts: Iterable[str]) -> bool:
    asks_for_amount = question.aspect is not None and question.aspect.name in AMOUNT_ASPECTS
    return not (asks_for_amount and question.per_day) or any(map(OF_A_DAY.search, texts))


def _names_case(question: AskedQuestion, candidate: Candidate) -> bool:
    # "Have diarrhea? DO:" is a case too
    cases = stated_stems(" ".join(CASE.findall(candidate.quoted))) | candidate.lead_stems
    return any(presence(concept.stem, cases) for concept in question.subject)


def _relevance_factor(question: AskedQuestion, candidate: Candidate, settings: ScoringSettings) -> float:
    others = stated_stems(" ".join(match.group() for match in OTHERS.finditer(candidate.quoted)))
    if others and others.isdisjoint(question.stems):
        return settings.others
    if question.relative and not IN_THE_FAMILY.search(candidate.quoted):
        return settings.others
    if NO_ADVICE.search(candidate.quoted):
        return settings.no_advice
    if POINTS_ELSEWHERE.search(candidate.quoted):
        return settings.elsewhere
    case = FIRST_CASE.match(candidate.quoted)
    if case and not any(presence(concept.stem, stated_stems(case.group())) for concept in question.concepts):
        return settings.other_case
    return 1.0
