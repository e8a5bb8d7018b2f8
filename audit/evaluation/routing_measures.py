"""How well questions are routed to sources, and how well the evidence covers them: PrimaryAcc, Top2Hit, EDR, AuthCov, CrossEv@5.

Source: S1, "Traceable Cross-Source RAG for Chinese Tibetan Medicine Question Answering" (Chen et al., 2026), section on metrics.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import nan

from audit.evaluation.retrieval_measures import retrieval_measures

CUT = 5
MEASURES = ("PrimaryAcc", "Top2Hit", "EDR", "AuthCov", "EvRecall@5", "EvNDCG@5", "CrossEv@5")


@dataclass(frozen=True)
class RoutedQuestion:
    """A method's routing of one question, and the known truth.

    ranking   the sources, best first
    evidence  (source, passage) of the evidence, best first; the first five count
    primary   the source to ask first; None: unknown
    required  the sources that an answer needs; more than one makes it a cross-source question
    gold      the passages that answer it, by the ids of `evidence`
    """

    ranking: Sequence[str]
    evidence: Sequence[tuple[str | None, str]]
    primary: str | None
    required: Collection[str]
    gold: Collection[str]


def routing_measures(
    questions: Mapping[str, RoutedQuestion], densest: str | None, authoritative: Collection[str]
) -> dict[str, dict[str, float]]:
    """Question -> measure -> value in [0, 1]; NaN if the measure does not apply to that question.

    PrimaryAcc, Top2Hit     1 if the primary source is the first, or among the first two; NaN if the primary one is unknown
    EDR                     share of the evidence that is from the densest source (lower is less dominated); NaN without evidence,
                            and where `densest` is None
    AuthCov                 1 if the evidence has a passage of an authoritative source, of questions that need one
    EvRecall@5, EvNDCG@5    of the gold passages, by ir_measures; NaN without gold
    CrossEv@5               1 if the evidence has a passage of every required source, of cross-source questions

    Raises MissingLibraryError without ir_measures.
    """
    ranked = {name: [passage for _, passage in one.evidence[:CUT]] for name, one in questions.items()}
    gold = {name: one.gold for name, one in questions.items()}
    retrieved = retrieval_measures(ranked, gold, {"EvRecall@5": f"R@{CUT}", "EvNDCG@5": f"nDCG@{CUT}"})
    unknown = {"EvRecall@5": nan, "EvNDCG@5": nan}
    return {name: source_measures(one, densest, authoritative) | retrieved.get(name, unknown) for name, one in questions.items()}


def source_measures(question: RoutedQuestion, densest: str | None, authoritative: Collection[str]) -> dict[str, float]:
    """The measures of `routing_measures` that need no gold passages, of one question."""
    sources = [source for source, _ in question.evidence[:CUT]]
    asked_for_authority = bool(set(question.required) & set(authoritative))
    covered = set(question.required) <= set(sources)
    known = question.primary is not None
    return {
        "PrimaryAcc": float(question.primary in question.ranking[:1]) if known else nan,
        "Top2Hit": float(question.primary in question.ranking[:2]) if known else nan,
        "EDR": sources.count(densest) / len(sources) if sources and densest is not None else nan,
        "AuthCov": float(any(source in authoritative for source in sources)) if asked_for_authority else nan,
        "CrossEv@5": float(covered) if len(question.required) > 1 else nan,
    }
