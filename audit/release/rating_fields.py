"""The fields of labels that raters gave to pairs of a run and that are part of its release."""

from __future__ import annotations

from audit.release.fields import QUESTION_ID, Field
from audit.vocabulary import LABELS, SIGNIFICANCES


def _rater_fields(rater: str, words: str) -> tuple[Field, ...]:
    return (
        Field(f"annotator_{rater}", "text", f"the label that {words} gave; empty: none", allowed=tuple(LABELS)),
        Field(f"significance_{rater}", "text", f"the clinical significance that {words} gave", allowed=tuple(SIGNIFICANCES)),
        Field(f"comment_{rater}", "text", f"what {words} wrote"),
    )


HUMAN_RATING = (
    Field("item_id", "text", "unique id of the rated pair", required=True, aliases=("id",)),
    QUESTION_ID,
    Field("handbook_a", "text", "whose answer is shown first", required=True, aliases=("a",)),
    Field("handbook_b", "text", "whose answer is shown second", required=True, aliases=("b",)),
    Field("stratum", "text", "the stratum that the pair was drawn from; left out: the judge's label"),
    Field("design_weight", "number", "pairs of the run in the stratum over pairs drawn from it; at least 1", aliases=("weight",)),
    Field("judge", "text", "the judge's label when the sample was drawn", aliases=("judge_label",), allowed=tuple(LABELS)),
    Field(
        "judge_significance", "text", "the clinical significance that the judge gave", aliases=("significance_judge",),
        allowed=tuple(SIGNIFICANCES),
    ),
    *_rater_fields("a", "the first rater"),
    *_rater_fields("b", "the second rater; further raters are c, d, ..."),
    Field("gold", "text", "the label after adjudication; empty: not adjudicated", allowed=tuple(LABELS)),
    Field("significance_gold", "text", "the clinical significance after adjudication", allowed=tuple(SIGNIFICANCES)),
)  # fmt: skip
