"""The fields of planted changes: a small change to one of two answers, and a judge's label before and after it."""

from __future__ import annotations

from audit.release.fields import QUESTION_ID, Field
from audit.vocabulary import CHANGED_SIDES, LABELS, PLANTED_KINDS

PLANTED_CHANGE = (
    Field("before", "text", "the original words; empty: something was added", aliases=("old",)),
    Field("after", "text", "the replacement; empty: something was removed", aliases=("new",)),
    Field("start", "integer", "where these begin in the changed answer, in characters from 0", aliases=("position",)),
    Field(
        "side", "text", "the answer that was changed; both: the answers were swapped", aliases=("answer",),
        allowed=tuple(CHANGED_SIDES),
    ),
)  # fmt: skip
PLANTED = (
    Field("item_id", "text", "unique id of the planted change", required=True, aliases=("id",)),
    QUESTION_ID,
    Field("handbook_a", "text", "whose answer is shown first", required=True, aliases=("a",)),
    Field("handbook_b", "text", "whose answer is shown second; the same handbook: an answer next to "
    "itself", required=True, aliases=("b",)),
    Field("kind", "text", "what was changed", required=True, aliases=("change_kind",), allowed=tuple(PLANTED_KINDS)),
    Field("variant", "text", "the variant of the change, such as the wording of an instruction", aliases=("wording",)),
    Field(
        "ordered", "text", "instruction: the label that the planted text asks for", aliases=("ordered_label",),
        allowed=tuple(LABELS),
    ),
    Field("expected", "texts", "the labels that are right after the change; if the label must stay, the one before"),
    Field("change", "planted change", "what was changed, and where", aliases=("edit",)),
    Field("answer_a", "text", "the first answer after the change"),
    Field("answer_b", "text", "the second answer after the change"),
    Field(
        "label_before", "text", "the judge's label on the unchanged pair; null: unscored", aliases=("before_label",),
        allowed=tuple(LABELS),
    ),
    Field(
        "label", "text", "the judge's label on the changed pair; null: unscored", aliases=("classification", "label_after"),
        allowed=tuple(LABELS),
    ),
    Field("reasoning", "text", "the judge's reason for it", aliases=("rationale", "reason")),
    Field("unscored_reason", "text", "why a label is missing, as a short code that recurs"),
    Field("judge", "text", "who judged", aliases=("model",)),
    Field("usage", "usage", "tokens and time of the judge on the changed pair", aliases=("judge_metadata",)),
)  # fmt: skip
