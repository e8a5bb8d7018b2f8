"""Durations that are only a stage of a course: "the first 2 weeks of treatment", "for 2 weeks, then for a year"."""

from __future__ import annotations

import re
from collections.abc import Sequence

ORDINAL_BEFORE = re.compile(r"\b(?:first|initial|final|last)\s$")
# Only courses that last: "the first 6 weeks of recovery" is how long after an operation, "of life" is an age
COURSE_AFTER = re.compile(
    r"\sof\s(?:[a-z-]+\s){0,3}?(?:treatments?|therapy|\w+therapy|courses?|medications?|medicines?|antibiotics?|drugs?|dialysis)\b"
)
# "Then ask your surgeon" ends no stage: what follows needs a duration of its own
NEXT_STAGE = re.compile(r"\b(?:then|followed\sby|thereafter)\b")
SENTENCE_END = re.compile(r"[.!?](?:\s|$)|\n")


def stages(plain: str, durations: Sequence[tuple[int, int]]) -> set[int]:
    """The starts of those durations of a plain text that are a stage of something longer, of which others may give all.

    durations  start and end of each, in order
    """
    following = [*durations[1:], None]
    return {
        start
        for (start, end), after in zip(durations, following, strict=True)
        if _is_part_of_a_course(plain, start, end) or (after is not None and _is_next_stage(plain[end : after[0]]))
    }


def _is_part_of_a_course(plain: str, start: int, end: int) -> bool:
    return ORDINAL_BEFORE.search(plain, max(0, start - 12), start) is not None and COURSE_AFTER.match(plain, end) is not None


def _is_next_stage(between: str) -> bool:
    return NEXT_STAGE.search(between) is not None and SENTENCE_END.search(between) is None
