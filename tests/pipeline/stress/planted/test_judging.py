"""A judge asked about planted changes: which calls that takes, and the records of its labels before and after."""

from __future__ import annotations

import json

from jsonschema import Draft202012Validator

from audit.pipeline.judging.parse import VERDICT_SCHEMA, load_prompts
from audit.pipeline.llm.calls import ANSWERED
from audit.pipeline.llm.summary import Summary
from audit.pipeline.llm.tasks import no_replies
from audit.pipeline.stress.planted.judging import model_records, planted_record, planted_task
from audit.pipeline.stress.planted.planting import plant
from audit.pipeline.verdict import Verdict
from audit.release.journal_files import Reply
from audit.release.rating_kinds import PLANTED
from audit.release.schema import json_schema
from audit.vocabulary import PlantedKind
from tests.pipeline.stress.planted.pairs import start_pairs

CHANGES = plant(start_pairs(), 4).items
PROMPT = load_prompts()["structured"]
TASK = planted_task(PROMPT, "judge-1", CHANGES)


def reply_to(call, label: str) -> Reply:
    text = dict.fromkeys(VERDICT_SCHEMA["properties"]) | {"reasoning": "So it is.", "classification": label}
    return Reply(call.key, ANSWERED, 1, text=json.dumps(text), usage={"prompt_tokens": 90, "completion_tokens": 9})


def test_each_pair_is_asked_about_before_and_after_and_equal_calls_once():
    calls = list(TASK.open_calls("structured", no_replies))
    assert len({call.key for call in calls}) == len(calls)
    both = [key for change in CHANGES for key in (call.key for call in TASK.calls_of(change))]
    assert {call.key for call in calls} == set(both)
    assert len(calls) < len(both)
    assert sum(cost.calls for cost in TASK.costs(no_replies)) == len(calls)


def test_a_reply_that_is_there_is_not_asked_for_again():
    first, *others = TASK.open_calls("structured", no_replies)
    replies = {first.key: reply_to(first, "CONSISTENT")}
    assert [call.key for call in TASK.open_calls("structured", lambda keys: replies)] == [call.key for call in others]


def test_records_have_both_labels_and_are_valid():
    before = {TASK.calls_of(change)[0].key for change in CHANGES}
    calls = {call.key: call for call in TASK.open_calls("structured", no_replies)}
    # A perfect judge of amounts: what was not changed is CONSISTENT
    replies = {key: reply_to(call, "CONSISTENT" if key in before else "DIVERGENT") for key, call in calls.items()}
    summary = Summary()
    records = list(model_records(TASK, CHANGES, lambda keys: {key: replies[key] for key in keys}, summary))
    assert (summary.counts["judged"], summary.not_asked, summary.reasons.total()) == (len(CHANGES), 0, 0)
    validator = Draft202012Validator({"$defs": json_schema()["$defs"], "$ref": "#/$defs/planted"})
    for record, change in zip(records, CHANGES, strict=True):
        validator.validate(record)
        repairs: list[str] = []
        assert PLANTED.read(record, repairs)["kind"] == change.kind
        assert repairs == []
        assert (record["label_before"], record["label"]) == ("CONSISTENT", "DIVERGENT")
        assert record["usage"]["input_tokens"] == 90
    amounts = [record for record in records if record["kind"] == "amount"]
    assert all(record["label"] in record["expected"] for record in amounts)


def test_a_change_without_both_replies_is_not_asked_and_has_no_record():
    _, after = TASK.calls_of(CHANGES[0])
    summary = Summary()
    records = list(model_records(TASK, CHANGES[:1], lambda _: {after.key: reply_to(after, "X")}, summary))
    assert (records, summary.not_asked) == ([], 1)


def test_a_label_that_is_missing_has_a_reason_and_expects_nothing():
    silent = Verdict(None, reason="no label")
    swap = next(change for change in CHANGES if change.kind is PlantedKind.SWAP)
    record = planted_record(swap, silent, silent, "judge-1")
    assert (record["label"], list(record["expected"]), record["unscored_reason"]) == (None, [], "no label")
