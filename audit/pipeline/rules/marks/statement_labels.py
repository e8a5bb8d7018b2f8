"""How two statements of different handbooks relate, by the rules of the baseline judge, for statements found in passages.

The judge compares answers to one question. Two sentences found for it may be about different things all the same: 24 hours'
notice before a visit and 30 days' before the rent goes up. So they agree or disagree only where they are about the same thing
beyond the question; or, of a question that yes or no answers, where both answer it.
"""

from __future__ import annotations

from audit.pipeline.rules.labels.baseline import label_of
from audit.pipeline.rules.labels.reading import GENERIC_STEMS, MEASURE_STEMS, parse_answer, parse_question
from audit.text.tokens import content_words, stem
from audit.vocabulary import DISAGREEING, Label

MIN_SHARED = {Label.CONSISTENT: 0.4, Label.DIVERGENT: 0.5, Label.CONTRADICTORY: 0.5}
"""Of the words that a statement has beyond the question, the share that the other must have too, by the shorter one."""
MIN_ASKED = 2
# Words that describe the kind of thing any illness is
KIND_STEMS = frozenset(map(stem, ["cause", "disease", "disorder", "condition", "type", "form", "common"]))


def statement_label(question: str, one: str, other: str) -> Label | None:
    """The label of the baseline judge; COMPLEMENTARY where the statements only share the question's words.

    None where the judge abstains, and where statements that differ may be about different things.
    """
    label = label_of(question, one, other)
    if label in DISAGREEING:
        return label if shared_beyond(question, one, other) >= MIN_SHARED[label] else None
    if label is Label.COMPLEMENTARY and both_answer(question, one, other):
        return Label.CONSISTENT
    if label is Label.CONSISTENT and shared_beyond(question, one, other) < MIN_SHARED[label]:
        return Label.COMPLEMENTARY
    return label


def shared_beyond(question: str, one: str, other: str) -> float:
    """The share in [0, 1] of the shorter statement's words beyond the question that the other has; 1 if it has none."""
    asked = _stems(question)
    first, second = _stems(one) - asked, _stems(other) - asked
    fewer = min(len(first), len(second))
    return len(first & second) / fewer if fewer else 1.0


def both_answer(question: str, one: str, other: str) -> bool:
    """Whether a question that yes or no answers is affirmed by both statements, each with all of its words.

    One word is only a topic: "If you think you are pregnant, call us" does not answer "Can I get pregnant?".
    """
    asked = parse_question(question)
    readings = [parse_answer(text) for text in (one, other)]
    affirms = (
        not any(statement.negations for statement in reading.statements) and asked.stems - KIND_STEMS <= _stems(reading.text)
        for reading in readings
    )
    return asked.is_closed and len(asked.stems) >= MIN_ASKED and all(affirms)


def _stems(text: str) -> frozenset[str]:
    return frozenset(word.stem for word in content_words(text)) - MEASURE_STEMS - GENERIC_STEMS - KIND_STEMS
