"""The four rates of the audit, in the order and under the names that every page and every export uses."""

from __future__ import annotations

from audit.charts.rates import Rate
from audit.charts.style import LABEL_COLOURS
from audit.vocabulary import Label

SILENT = Rate("r_abs", "Silent pairs", "scored", "pairs with a verdict", "#6b7280")
DISAGREE = Rate("r_div", "Disagreement", "present", "pairs in which both answer", "#c77700")
CONSISTENT = Rate("r_con", "Full agreement", "present", "pairs in which both answer", LABEL_COLOURS[Label.CONSISTENT])
ANY = Rate("pct_any_div", "Any disagreement", "questions_scored", "questions", LABEL_COLOURS[Label.CONTRADICTORY])
RATES = (SILENT, DISAGREE, CONSISTENT, ANY)

MEANINGS = {
    SILENT: "Of the pairs with a verdict, the share in which at least one of the two {handbooks} does not address the "
    "question (r_abs).",
    DISAGREE: "Of the pairs in which both {handbooks} answer, the share judged divergent or contradictory (R_div).",
    CONSISTENT: "Of the pairs in which both {handbooks} answer, the share judged consistent: the same advice (R_con). "
    "The rest add to each other without conflict (complementary), or disagree.",
    ANY: "Of the questions with a verdict on any pair, the share on which at least one pair disagrees (pct_any_div).",
}

HEADINGS = {rate.column: rate.title for rate in RATES}
"""Table headings of the four rates."""

COUNT_HEADINGS = {
    "questions": "Questions",
    "pairs": "Pairs",
    "present": "Both answer",
    "disagreeing": "Disagreeing",
    "unscored": "Unscored",
}
