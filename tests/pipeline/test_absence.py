"""What says that a handbook does not address a question: one function, and what each of its callers adds to it.

Every caller asks `says_absence`, which is the loader's rule. What a caller adds is written here text by text, so that nobody
has to guess where the four may disagree on one answer:

    the generator   reads a model's reply, so markup before the words is taken off first
    the judge       an answer without a text has no finding, with a reason; a model is asked about every other answer
    the rules       are given bare texts and no flags: a text that gives no guidance is as silent as an empty one
"""

from __future__ import annotations

import pytest

from audit.pipeline.answers.files import with_absence_prefix
from audit.pipeline.judging.corpus import AnswerToJudge
from audit.pipeline.judging.protocols import NO_ANSWER, AbsenceFinding, _checked_finding
from audit.pipeline.rules.labels.baseline import judge
from audit.release.handbook_kinds import ANSWER
from audit.vocabulary import Label, says_absence

QUESTION, ANSWERED = "How long after the transplant may I drive?", "Do not drive for 6 weeks."
ABSENT, PRESENT = True, False
TO_ASK, NO_TEXT = AbsenceFinding(None), AbsenceFinding(None, reason=NO_ANSWER)
BY_PREFIX = AbsenceFinding(True, "prefix")


def loaded(text: str) -> bool | None:
    """Whether an answer without an `absent` flag is absent in the store."""
    absent: bool | None = ANSWER.read({"question_id": "q1", "handbook_id": "a", "answer": text}, [])["absent"]
    return absent


@pytest.mark.parametrize(
    ("text", "by_loader", "by_generator", "by_judge", "by_rules"),
    [
        ("NOT ADDRESSED: parrots.", ABSENT, "NOT ADDRESSED: parrots.", BY_PREFIX, ABSENT),
        ("  not addressed.", ABSENT, "NOT ADDRESSED.", BY_PREFIX, ABSENT),
        ("\u00a0NOT ADDRESSED", ABSENT, "NOT ADDRESSED", BY_PREFIX, ABSENT),
        # No end of a word is asked for
        ("Not addressed to children; adults may.", ABSENT, "NOT ADDRESSED to children; adults may.", BY_PREFIX, ABSENT),
        # Markup: only the generator takes it off, and so writes an answer that the others call absent
        ("**NOT ADDRESSED**: parrots.", PRESENT, "NOT ADDRESSED**: parrots.", TO_ASK, PRESENT),
        ("> Not addressed", PRESENT, "NOT ADDRESSED", TO_ASK, PRESENT),
        ('"NOT ADDRESSED"', PRESENT, 'NOT ADDRESSED"', TO_ASK, PRESENT),
        # Marks that nobody takes off, and words that are not quite these
        ("- NOT ADDRESSED", PRESENT, None, TO_ASK, PRESENT),
        ("1. NOT ADDRESSED", PRESENT, None, TO_ASK, PRESENT),
        ("NOT-ADDRESSED", PRESENT, None, TO_ASK, PRESENT),
        ("Not  addressed", PRESENT, None, TO_ASK, PRESENT),
        ("This is NOT ADDRESSED.", PRESENT, None, TO_ASK, PRESENT),
        ("The handbook does not mention driving.", PRESENT, None, TO_ASK, PRESENT),
        # Without guidance
        ("", PRESENT, None, NO_TEXT, ABSENT),
        ("   ", PRESENT, None, NO_TEXT, ABSENT),
        ("Your team will go over this with you.", PRESENT, None, TO_ASK, ABSENT),
        ("This text does not say anything about this question.", PRESENT, None, TO_ASK, ABSENT),
    ],
)
def test_what_each_of_the_four_calls_an_absence(
    text: str, by_loader: bool, by_generator: str | None, by_judge: AbsenceFinding, by_rules: bool
) -> None:
    assert loaded(text) is says_absence(text) is by_loader
    assert with_absence_prefix(text) == by_generator
    assert _checked_finding(AnswerToJudge(text), None) == by_judge
    assert (judge(QUESTION, ANSWERED, text).label == Label.ABSENT) is by_rules


@pytest.mark.parametrize("flag", [True, False])
def test_a_flag_of_the_release_outweighs_the_words(flag: bool) -> None:
    for text in ("NOT ADDRESSED", ANSWERED):
        assert ANSWER.read({"question_id": "q1", "handbook_id": "a", "answer": text, "absent": flag}, [])["absent"] is flag
