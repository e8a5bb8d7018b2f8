"""The fields of positions: what one or more handbooks state on one aspect of a question, each in its own words."""

from __future__ import annotations

from audit.release.fields import QUESTION_ID, Field
from audit.vocabulary import POSITION_METHODS

HOLDER = (
    Field("handbook_id", "text", "the handbook that takes the position", required=True, aliases=("handbook",)),
    Field("quote", "text", "its own words, verbatim from its answer", required=True, aliases=("sentence", "evidence")),
    Field("start", "integer", "where they begin in the answer, in characters from 0; left out: where they first occur"),
    Field("end", "integer", "where they end"),
    Field("lead", "text", "the line that introduces them in the answer, where they are an item of a list"),
)
POSITION = (
    QUESTION_ID,
    Field("aspect", "text", "the aspect of the question that it is about", aliases=("topic",)),
    Field("statement", "text", "what its holders state, as a short statement", required=True, aliases=("position", "claim")),
    Field("value", "text", "the amount, or yes or no, that distinguishes it from the others"),
    Field("holders", "holders", "who takes it, each with a quote", required=True, aliases=("handbooks",)),
    Field(
        "method", "text", "how it was found: by rules, by a judge, or by the people who made the release; left out: release",
        aliases=("found_by",), allowed=tuple(POSITION_METHODS),
    ),
)  # fmt: skip
