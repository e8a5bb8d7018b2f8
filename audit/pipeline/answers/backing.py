"""Whether a model's answer is backed by the passages that it cites, as far as that can be seen without a model."""

from __future__ import annotations

from audit.pipeline.answers.evidence import Evidence
from audit.text.comparison import find_negations
from audit.text.quantity import find_quantities
from audit.text.tokens import cited_numbers, cited_spans, without_citations

NO_CITATION = "it cites no passage"
UNKNOWN_PASSAGE = "it cites a passage that it was not given"
AMOUNT, DENIAL = "an amount is not in the passages that it cites", "a negation is not in the passages that it cites"


def unbacked(answer: str, evidence: Evidence) -> str | None:
    """Why an answer does not count: no citation, one of an unknown passage, or words that its passages do not back; else None."""
    numbers = cited_numbers(answer)
    if not numbers:
        return NO_CITATION
    if any(evidence.passage(number) is None for number in numbers):
        return UNKNOWN_PASSAGE
    for span in cited_spans(answer):
        cited = "\n".join(passage.in_prompt for number in span.numbers if (passage := evidence.passage(number)))
        if reason := states_more(without_citations(answer[span.start : span.end]), cited):
            return reason
    return None


def states_more(statement: str, passages: str) -> str | None:
    """What a statement has and its passages lack, an amount or any negation; None where they have both."""
    amounts = find_quantities(passages)
    if not all(any(amount.agrees(other) for other in amounts) for amount in find_quantities(statement)):
        return AMOUNT
    return DENIAL if find_negations(statement) and not find_negations(passages) else None
