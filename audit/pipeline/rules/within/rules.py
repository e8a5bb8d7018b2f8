"""Rules for pairs of claims of one handbook: they report a disagreement only if they are certain."""

from __future__ import annotations

from audit.pipeline.rules.labels.baseline import DEFAULT_RULE, PARSE, SIGNIFICANCE_RULES
from audit.pipeline.rules.within.candidates import CandidatePair, Candidates
from audit.pipeline.rules.within.claims import Claim
from audit.pipeline.rules.within.similarity import aspect_of
from audit.pipeline.verdict import Verdict
from audit.text.tokens import content_words, plain_text
from audit.vocabulary import ABSTAINED, Label, Significance

CANNOT_TELL = f"{ABSTAINED}: the words do not show whether both are about the same thing in the same case"
MAX_SUBJECT_WORDS, MAX_QUOTE = 4, 160


def judge_pair(candidates: Candidates, pair: CandidatePair) -> Verdict:
    """DIVERGENT for two amounts, CONTRADICTORY for leave against a ban; unscored if the rules cannot decide.

    On passages of one handbook the rules never say CONSISTENT or COMPLEMENTARY: what is alike in words may be about another case.
    """
    first, second = candidates.claims[pair.first], candidates.claims[pair.second]
    if not pair.certain:
        return Verdict(None, parse=PARSE, reason=CANNOT_TELL)
    label, name = (Label.DIVERGENT, "Amounts apart") if first.amount else (Label.CONTRADICTORY, "Opposite directions")
    significance, rule = _significance(first, second)
    reasoning = (
        f"{name}: {_location(first)} says {_quotation(first)}, {_location(second)} says {_quotation(second)} "
        f"(significance: {rule})."
    )
    return Verdict(label, significance, subject_of(first, second), reasoning, PARSE)


def subject_of(first: Claim, second: Claim) -> str:
    """The subject of two claims: the name of their aspect, or up to four words that both statements have."""
    aspect = aspect_of(first)
    if aspect and aspect == aspect_of(second):
        return aspect.name
    shared, text = first.passage.stems & second.passage.stems, first.passage.quoted
    plain = plain_text(text)
    # Reversed, so of two forms of a word the first in the text is kept.
    words = {word.stem: plain[word.start : word.end] for word in reversed(content_words(text)) if word.stem in shared}
    return " ".join([*reversed(words.values())][:MAX_SUBJECT_WORDS]) or first.passage.section.heading


def _significance(first: Claim, second: Claim) -> tuple[Significance, str]:
    stems = first.passage.stems & second.passage.stems
    aspect = aspect_of(first)
    stems |= aspect.words if aspect else frozenset()
    matching = ((level, name) for name, (level, words) in SIGNIFICANCE_RULES.items() if stems & words)
    return next(matching, (Significance.MEDIUM, DEFAULT_RULE))


def _location(claim: Claim) -> str:
    passage = claim.passage
    return f"page {passage.page}" if passage.page else f"section '{passage.section.heading or passage.section.section_id}'"


def _quotation(claim: Claim) -> str:
    text = " ".join(claim.passage.quoted.split())
    return f'"{text if len(text) <= MAX_QUOTE else text[: MAX_QUOTE - 1].rstrip() + "…"}"'
