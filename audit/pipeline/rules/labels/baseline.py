"""The baseline judge: simple rules on quantities, negations and words, without a model. A model must do better than this."""

from __future__ import annotations

from audit.pipeline.rules.labels.amounts import quantities_that_differ
from audit.pipeline.rules.labels.conflicts import Sameness, StatementConflict
from audit.pipeline.rules.labels.directions import opposite_directions
from audit.pipeline.rules.labels.reading import (
    GENERIC_STEMS,
    ParsedAnswer,
    ParsedQuestion,
    StatementReading,
    parse_answer,
    parse_question,
)
from audit.pipeline.verdict import Verdict
from audit.text.tokens import content_words, plain_text, stem, without_citations
from audit.vocabulary import ABSTAINED, Label, Significance, says_absence

PARSE = "rules"
OPPOSITE, APART = "Opposite directions", "Amounts apart"
# The more severe label comes first: such a pair may also differ in amounts.
RULES = (
    (Label.CONTRADICTORY, OPPOSITE, opposite_directions),
    (Label.DIVERGENT, APART, quantities_that_differ),
)
ABSTENTIONS = {
    OPPOSITE: "opposite advice, perhaps on different things",
    APART: "different amounts, perhaps of different things",
}
# Maximum number of statements, in both answers together, that the other answer lacks, for CONSISTENT.
MAX_NEW_STATEMENTS = 1
# Maximum share of the words of its answer that the additional statement may have.
MAX_NEW_SHARE = 0.35
# Share of a statement's words that another one must have to make the same statement.
MIN_COVERAGE = 0.5
MAX_QUOTE = 160
MAX_TOPIC_WORDS = 4

# Rule -> its significance, and the words, any of which triggers it; tried in this order.
SIGNIFICANCE_WORDS: dict[str, tuple[Significance, str]] = {
    "an emergency": (
        Significance.HIGH,
        "emergency urgent urgently 911 ambulance bleeding bleed breath chest seizure stroke fever",
    ),
    "medicines": (
        Significance.HIGH,
        "medicine medication drug dose dosage pill tablet antibiotic vaccine vaccination insulin immunosuppressant chemotherapy "
        "ibuprofen aspirin acetaminophen tacrolimus cyclosporine prednisone steroid",
    ),
    "the graft": (Significance.HIGH, "rejection reject graft infection infect virus"),
    "frequency": (Significance.LOW, "type types form kind people affect common occur estimated incidence prevalence"),
    "comfort": (
        Significance.LOW,
        "parking visitor pet tattoo piercing hair phone hotel class photo swim sauna garden gift letter",
    ),
}
SIGNIFICANCE_RULES = {
    name: (significance, frozenset(map(stem, words.split()))) for name, (significance, words) in SIGNIFICANCE_WORDS.items()
}
DEFAULT_RULE = "by default"


def judge(question: str, a: str, b: str) -> Verdict:
    """The verdict on two answers to a question, by rules. The order of the answers only changes which one is called A.

    The first rule that applies gives the label, and `reasoning` names it:

    Silence             ABSENT: an answer is an absence by its words, or gives no guidance, which these rules alone judge
    Opposite directions CONTRADICTORY: yes against no, or "do not" against "you may", on one act and object of the question
    Amounts apart       DIVERGENT: quantities of one kind on one subject that do not agree
    Cannot tell         unscored: one of the two above, if both answers are about the same thing, which the words leave open
    Nothing new         CONSISTENT: at most one short statement that the other answer does not make
    More or other       COMPLEMENTARY: everything else

    The rules do not understand meaning: they call a disagreement without an amount, a yes or a no COMPLEMENTARY. The numbers of
    cited passages, as in [2], are not quantities.
    """
    # The 2 of a citation [2] would be read as a quantity.
    a, b = without_citations(a), without_citations(b)
    if absent := [side for side, text in (("A", a), ("B", b)) if says_absence(text) or parse_answer(text).is_empty]:
        reasoning = f"Silence: answer {' and '.join(absent)} does not address the question."
        return Verdict(Label.ABSENT, reasoning=reasoning, parse=PARSE)
    # The rules get the answers in a fixed order, so swapping them cannot change the verdict.
    if b < a:
        return _judge_present(question, parse_answer(b), parse_answer(a), "BA")
    return _judge_present(question, parse_answer(a), parse_answer(b), "AB")


def label_of(question: str, a: str, b: str) -> Label | None:
    """The label of `judge`; None where the rules abstain."""
    label = judge(question, a, b).label
    return Label(label) if label else None


def _judge_present(question_text: str, first: ParsedAnswer, second: ParsedAnswer, sides: str) -> Verdict:
    question = parse_question(question_text)
    doubts: list[tuple[str, StatementConflict]] = []
    for label, rule, find_conflict in RULES:
        conflict = find_conflict(question, first, second)
        if conflict and conflict.sameness is Sameness.SAME:
            significance, why = _significance(question, conflict)
            reasoning = f"{rule}: {_quotations(conflict, sides)} (significance: {why})."
            return Verdict(label, significance, _topic(question, conflict, question_text), reasoning, PARSE)
        if conflict:
            doubts.append((rule, conflict))
    if doubts:
        rule, conflict = doubts[0]
        reasoning = f"Cannot tell: {_quotations(conflict, sides)}, perhaps not about the same thing."
        return Verdict(None, reasoning=reasoning, parse=PARSE, reason=f"{ABSTAINED}: {ABSTENTIONS[rule]}")
    new = _new_statements(question, first, second), _new_statements(question, second, first)
    new_share = max(_share_of_words(first, new[0]), _share_of_words(second, new[1]))
    if len(new[0]) + len(new[1]) <= MAX_NEW_STATEMENTS and new_share <= MAX_NEW_SHARE:
        return Verdict(Label.CONSISTENT, reasoning="Nothing new: both answers make the same statements.", parse=PARSE)
    counts = dict(zip(sides, map(len, new), strict=True))
    reasoning = f"More or other: statements that only answer A makes: {counts['A']}; only answer B: {counts['B']}."
    return Verdict(Label.COMPLEMENTARY, reasoning=reasoning, parse=PARSE)


def _quotations(conflict: StatementConflict, sides: str) -> str:
    quotes = dict(zip(sides, (conflict.first_quote, conflict.second_quote), strict=True))
    return ", ".join(f'{side} says "{_shortened(quotes[side])}"' for side in "AB")


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_QUOTE else text[: MAX_QUOTE - 1].rstrip() + "…"


# -- similarity --------------------------------------------------------------------------------------------------------


def _new_statements(question: ParsedQuestion, answer: ParsedAnswer, other: ParsedAnswer) -> list[StatementReading]:
    """The guidance of `answer` that the other lacks, both in words and by the requested quantity."""
    return [
        statement
        for statement in answer.guidance
        if not any(_makes(question, candidate, statement) for candidate in other.guidance)
    ]


def _makes(question: ParsedQuestion, candidate: StatementReading, statement: StatementReading) -> bool:
    same_words = len(statement.stems & candidate.stems) >= MIN_COVERAGE * len(statement.stems)
    if same_words and bool(candidate.negations) == bool(statement.negations):  # negated, it is a different statement
        return True
    return any(
        question.asks_for(quantity) and quantity.agrees(other)
        for quantity in statement.quantities
        for other in candidate.quantities
    )


def _share_of_words(answer: ParsedAnswer, statements: list[StatementReading]) -> float:
    return sum(len(s.stems) for s in statements) / max(1, sum(len(s.stems) for s in answer.guidance))


# -- subject and significance of a disagreement -----------------------------------------------------------------


def _significance(question: ParsedQuestion, conflict: StatementConflict) -> tuple[Significance, str]:
    """The significance of a conflict and its rule, from the words of the question and of both statements."""
    stems = question.stems | conflict.shared_stems
    matching = ((level, name) for name, (level, words) in SIGNIFICANCE_RULES.items() if stems & words)
    return next(matching, (Significance.MEDIUM, DEFAULT_RULE))


def _topic(question: ParsedQuestion, conflict: StatementConflict, question_text: str) -> str:
    """Up to four words that both statements share, else that the question contains."""
    for text, stems in (
        (conflict.first.text, conflict.shared_stems - GENERIC_STEMS),
        (question_text, question.stems),
    ):
        plain = plain_text(text)
        # Reversed, so that the first form of a word in the text is kept.
        words = {w.stem: plain[w.start : w.end] for w in reversed(content_words(text)) if w.stem in stems}
        if words:
            return " ".join([*reversed(words.values())][:MAX_TOPIC_WORDS])
    return conflict.first_quote
