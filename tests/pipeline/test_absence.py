"""What says that a handbook does not address a question: one rule, asked by all who need to know.

Every caller asks `says_absence`. What a caller adds is written here text by text:

    the loader      of an answer that says NOT ADDRESSED and more, nothing is assumed: it is neither present nor absent
    the generator   the same; an absence is written in its canonical form
    the judge       an answer without a text has no finding, with a reason; a model is asked about every answer that is no absence
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.studies.masking_preview import blind_answer
from audit.pipeline.judging.corpus import AnswerToJudge
from audit.pipeline.judging.protocols import NO_ANSWER, AbsenceFinding, _checked_finding
from audit.release.handbook_kinds import ANSWER
from audit.text.blinding import masker_of
from audit.vocabulary import AND_MORE, NOTHING_SAID, canonical_absence, says_absence, says_absence_and_more
from tests.support.loading import load

QUESTION, ANSWERED = "How long after the transplant may I drive?", "Do not drive for 6 weeks."
TO_ASK, NO_TEXT = AbsenceFinding(None), AbsenceFinding(None, reason=NO_ANSWER)

ABSENCES = {
    "NOT ADDRESSED": "NOT ADDRESSED",
    "  not addressed.": "NOT ADDRESSED",
    "\u00a0NOT\u00a0ADDRESSED": "NOT ADDRESSED",
    "Not  addressed": "NOT ADDRESSED",
    "NOT_ADDRESSED": "NOT ADDRESSED",
    "not-addressed": "NOT ADDRESSED",
    "__NOT ADDRESSED__": "NOT ADDRESSED",
    "## Not Addressed\n": "NOT ADDRESSED",
    "> Not addressed": "NOT ADDRESSED",
    "- NOT ADDRESSED": "NOT ADDRESSED",
    "“Not addressed”": "NOT ADDRESSED",
    "«NOT ADDRESSED»": "NOT ADDRESSED",
    "{NOT ADDRESSED}": "NOT ADDRESSED",
    "⟨not addressed⟩": "NOT ADDRESSED",
    "```\nNOT ADDRESSED\n```": "NOT ADDRESSED",
    "<b>NOT&nbsp;ADDRESSED</b>": "NOT ADDRESSED",
    "NOT\u200b ADDRESSED\ufeff": "NOT ADDRESSED",
    "ＮＯＴ　ＡＤＤＲＥＳＳＥＤ": "NOT ADDRESSED",
    "**Answer:** Not addressed!": "NOT ADDRESSED",
    "NOT ADDRESSED: parrots.": "NOT ADDRESSED: parrots.",
    "**NOT ADDRESSED** — no passage names parrots [2].": "NOT ADDRESSED: no passage names parrots [2].",
}
AND_MORE_SAID = (
    "NOT ADDRESSED. However, do not keep parrots.",
    "NOT ADDRESSED: parrots. Do not keep cats.",
    "Not addressed to children; adults may.",
    "Not addressed in this chapter.",
    "Does not apply. NOT ADDRESSED",
    "Parrots are NOT ADDRESSED, cats are fine [1].",
    "1. NOT ADDRESSED\n2. Yes.",
)
NO_GUIDANCE = "Your team will go over this with you."
ANSWERS = ("The handbook does not mention driving.", "Raise concerns not addressed here with us.", NO_GUIDANCE)


def loaded(text: str | None, **fields: object) -> tuple[bool | None, str | None]:
    """Whether an answer without an `absent` flag is absent in the store, and why it is neither."""
    record = ANSWER.read({"question_id": "q1", "handbook_id": "a", "answer": text, **fields}, [])
    return record["absent"], record["unread_reason"]


@pytest.mark.parametrize(("text", "canonical"), ABSENCES.items())
def test_the_words_of_an_absence_are_one_to_all_in_any_markup(text: str, canonical: str) -> None:
    assert canonical_absence(text) == canonical
    assert says_absence(text)
    assert not says_absence_and_more(text)
    assert loaded(text) == (True, None)
    assert _checked_finding(AnswerToJudge(text), None) == AbsenceFinding(True, "prefix")
    assert blind_answer(text, masker_of([])) == NOTHING_SAID


@pytest.mark.parametrize("text", AND_MORE_SAID)
def test_of_an_answer_that_says_not_addressed_and_more_nothing_is_assumed(text: str) -> None:
    assert not says_absence(text)
    assert says_absence_and_more(text)
    assert loaded(text) == (None, AND_MORE)
    assert _checked_finding(AnswerToJudge(text), None) == TO_ASK
    assert text.split()[-1].rstrip(".") in blind_answer(text, masker_of([])), "nothing that was said is lost"


@pytest.mark.parametrize("text", ANSWERS)
def test_other_words_are_no_absence(text: str) -> None:
    assert not says_absence(text)
    assert not says_absence_and_more(text)
    assert loaded(text) == (False, None)
    assert _checked_finding(AnswerToJudge(text), None) == TO_ASK


@pytest.mark.parametrize("text", ["", "   ", "\u00a0\n"])
def test_a_blank_answer_is_an_absence_to_all(text: str) -> None:
    assert says_absence(text)
    assert loaded(text) == (True, None)
    assert _checked_finding(AnswerToJudge(text), None) == AbsenceFinding(True, "empty")
    assert blind_answer(text, masker_of([])) == NOTHING_SAID


def test_a_blank_answer_with_a_reason_why_it_could_not_be_read_is_unread() -> None:
    assert loaded("", unread_reason="cut") == (None, "cut")


def test_nothing_is_known_of_an_answer_without_a_text() -> None:
    assert not says_absence(None)
    assert _checked_finding(AnswerToJudge(None), None) == NO_TEXT


@given(st.text(alphabet="*_#>`~[](){}<>\"'«»“” \u00a0\t\n|=+-.", max_size=12), st.text(alphabet="*_`\"')]}»” \n.!", max_size=12))
def test_no_marks_around_the_words_change_what_they_say(before: str, behind: str) -> None:
    assert says_absence(f"{before} not addressed{behind}")
    assert not says_absence(f"{before} not addressed{behind} Drive after 6 weeks")


def test_answers_that_say_not_addressed_and_more_are_counted_with_examples(release: Path, tmp_path: Path) -> None:
    path = release / "answers.jsonl"
    records = [json.loads(line) for line in path.read_text().splitlines()]
    for record, text in zip(records, AND_MORE_SAID[:2], strict=False):
        record |= {"answer": text, "absent": None, "absence_method": None}
    path.write_text("\n".join(map(json.dumps, records)))
    report = load(release, tmp_path).report
    assert report
    (finding,) = (one for one in report.findings if one.code == "absence_and_more")
    assert "answers that say NOT ADDRESSED and more: 2." in finding.message
    assert "However, do not keep parrots" in finding.message


@pytest.mark.parametrize("flag", [True, False])
def test_a_flag_of_the_release_outweighs_the_words(flag: bool) -> None:
    for text in ("NOT ADDRESSED", ANSWERED):
        assert ANSWER.read({"question_id": "q1", "handbook_id": "a", "answer": text, "absent": flag}, [])["absent"] is flag
