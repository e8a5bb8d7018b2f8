"""Replies of a judge on evidence: what is read, what is unreadable, and that nothing unreadable is a 0."""

from __future__ import annotations

import json
from typing import Any

import pytest

from audit.evaluation.retrieval_measures import JUDGED_MEASURES
from audit.pipeline.judging.evidence.task import NO_STATEMENTS, NO_VERDICT, SCHEMAS, WRONG_NUMBERS, read_evidence_reply
from audit.pipeline.llm.calls import ANSWERED, CUT, FAILED, REFUSED
from audit.release.journal_files import Reply
from audit.vocabulary import Parse


def statements(key: str, *verdicts: str) -> dict[str, Any]:
    return {"statements": [{"statement": f"Statement {verdict}.", key: verdict} for verdict in verdicts]}


def numbered(name: str, key: str, **verdicts: str) -> dict[str, Any]:
    return {name: [{"number": int(number[1:]), key: verdict} for number, verdict in verdicts.items()]}


def read(measure: str, content: Any, expected: int = 0, outcome: str = ANSWERED) -> tuple[float | None, str | None]:
    text = content if isinstance(content, str) else json.dumps(content)
    verdict = read_evidence_reply(measure, Reply("key", outcome, text=text), expected)
    return verdict.value, verdict.reason


@pytest.mark.parametrize(
    ("measure", "content", "expected", "value"),
    [
        ("faithfulness", statements("supported", "yes", "no", "yes", "yes"), 0, 0.75),
        ("faithfulness", statements("supported", "no"), 0, 0),
        ("context_recall", statements("attributable", "yes", "no"), 0, 0.5),
        ("context_precision", numbered("passages", "useful", n1="no", n2="yes"), 2, 0.5),
        # The order of the entries does not matter, their numbers do
        ("context_precision", numbered("passages", "useful", n2="yes", n1="no"), 2, 0.5),
        # A passage that supports a part of the statement does not support it
        ("citation_correctness", numbered("citations", "supports", n1="yes", n2="partly", n3="no", n4="yes"), 4, 0.5),
        ("answer_relevance", {"reason": "A part.", "grade": 1}, 0, 0.5),
        ("answer_relevance", {"reason": "Nothing.", "grade": 0}, 0, 0),
    ],
)
def test_a_reply_has_the_value_of_its_verdicts(measure: str, content: Any, expected: int, value: float) -> None:
    assert read(measure, content, expected) == (value, None)


@pytest.mark.parametrize(
    ("measure", "content", "expected", "reason"),
    [
        ("faithfulness", statements("supported", "yes", "maybe"), 0, NO_VERDICT),
        ("faithfulness", {"statements": ["yes"]}, 0, NO_VERDICT),
        ("faithfulness", {"statements": "yes"}, 0, NO_VERDICT),
        ("faithfulness", "All of it is supported.", 0, NO_VERDICT),
        ("faithfulness", json.dumps(statements("supported", "yes")) * 2, 0, NO_VERDICT),
        ("context_precision", numbered("passages", "useful", n1="yes"), 2, WRONG_NUMBERS),
        ("context_precision", numbered("passages", "useful", n1="yes", n3="no"), 2, WRONG_NUMBERS),
        ("context_precision", {"passages": [{"number": 1, "useful": "yes"}] * 2}, 2, WRONG_NUMBERS),
        ("answer_relevance", {"reason": "x", "grade": 3}, 0, NO_VERDICT),
        ("answer_relevance", {"reason": "x", "grade": True}, 0, NO_VERDICT),
        ("answer_relevance", {"reason": "x", "grade": [1]}, 0, NO_VERDICT),
    ],
)
def test_what_cannot_be_read_has_no_value_and_a_reason(measure: str, content: Any, expected: int, reason: str) -> None:
    text = content if isinstance(content, str) else json.dumps(content)
    verdict = read_evidence_reply(measure, Reply("key", ANSWERED, text=text), expected)
    assert (verdict.value, verdict.reason, verdict.parse, verdict.readable) == (None, reason, Parse.NONE, False)


@pytest.mark.parametrize("outcome", [FAILED, REFUSED])
def test_a_call_that_failed_has_no_value(outcome: str) -> None:
    assert read("faithfulness", statements("supported", "yes"), outcome=outcome) == (None, outcome)


def test_a_reply_that_was_cut_off_is_unreadable() -> None:
    cut = json.dumps(statements("supported", "yes", "no"))[:-20]
    assert read("faithfulness", cut, outcome=CUT) == (None, CUT)


def test_an_answer_without_a_statement_was_read_and_has_no_value() -> None:
    verdict = read_evidence_reply("faithfulness", Reply("key", ANSWERED, text='{"statements": []}'), 0)
    assert (verdict.value, verdict.reason, verdict.readable) == (None, NO_STATEMENTS, True)


def test_json_with_words_around_it_is_read_leniently() -> None:
    text = f"Here it is:\n```json\n{json.dumps(statements('supported', 'Yes', 'no'))}\n```"
    verdict = read_evidence_reply("faithfulness", Reply("key", ANSWERED, text=text), 0)
    assert (verdict.value, verdict.parse) == (0.5, Parse.LENIENT)


def test_schemas_ask_for_the_verdict_after_what_it_is_about() -> None:
    for measure in JUDGED_MEASURES:
        (content, *_) = SCHEMAS[measure]["properties"].values()
        entry = content.get("items", SCHEMAS[measure])
        assert entry["additionalProperties"] is False
        verdict = list(entry["properties"])[-1]
        assert "enum" in entry["properties"][verdict]
        assert entry["required"] == list(entry["properties"])
