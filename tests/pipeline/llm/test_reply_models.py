"""Replies as models: what a server is asked for, what is read and repaired, and what no repair may turn into a value."""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from audit.pipeline.generation import model_generator, system_answers
from audit.pipeline.judging import parse
from audit.pipeline.judging.criteria.task import SCHEMA as CRITERIA_SCHEMA
from audit.pipeline.judging.evidence.task import SCHEMAS as EVIDENCE_SCHEMAS
from audit.pipeline.judging.positions.replies import MERGE_SCHEMA, STATEMENTS_SCHEMA
from audit.pipeline.llm.calls import ANSWERED, CUT, Response, read_response
from audit.pipeline.llm.prompts import PromptForm
from audit.pipeline.llm.reply_models import ReplyModel, ReplyReading, cleaned, read_reply, spelled
from audit.pipeline.stress.building import model_facts
from audit.pipeline.stress.building.topics import FORM as TOPICS_FORM
from audit.pipeline.stress.running.forms import StressReplyForm
from audit.pipeline.stress.running.grading import FORM as GRADE_FORM
from audit.pipeline.themes.naming import FORM as NAME_FORM
from audit.release.journal_files import Reply
from audit.vocabulary import STRESS_CALLS, Parse, StressTest


class GradeReply(ReplyModel):
    """A reply of the kind that tasks ask for."""

    keys = ("grade",)
    reasoning: Annotated[str, Field(max_length=80), cleaned(80)]
    grade: Annotated[Literal["full", "part", "none"], spelled(lambda value: str(value).lower())]


def read(text: str, outcome: str = ANSWERED) -> ReplyReading[GradeReply]:
    return read_reply(GradeReply, Reply("k", outcome, text=text))


def grades(text: str, outcome: str = ANSWERED) -> list[str]:
    return [value.grade for value in read(text, outcome).values]


SOUND = '{"reasoning": "as the source", "grade": "part"}'


@pytest.mark.parametrize(
    ("text", "how"),
    [
        (SOUND, Parse.STRICT),
        (f"<think>full?</think>\n{SOUND}", Parse.STRICT),
        (f"```json\n{SOUND}\n```", Parse.LENIENT),
        (SOUND.replace("part", "Part"), Parse.LENIENT),
        ('{"grade": "part"}', Parse.LENIENT),
        (SOUND.replace("}", ', "sure": true}'), Parse.LENIENT),
        # Broken, and repaired
        (SOUND.replace('"', "'"), Parse.LENIENT),
        (SOUND.replace("}", ",}"), Parse.LENIENT),
        ('{"reasoning": "the "source" says so", "grade": "part"}', Parse.LENIENT),
        ('{"reasoning": "as the source" "grade": "part"}', Parse.LENIENT),
        ('{reasoning: "as the source", grade: "part"}', Parse.LENIENT),
        ('```\n{"reasoning": "as the source", "grade": part}\n```', Parse.LENIENT),
    ],
)
def test_an_object_is_read_and_how_is_said(text, how):
    reading = read(text)
    assert ([value.grade for value in reading.values], reading.parse, reading.reason) == (["part"], how, None)


@pytest.mark.parametrize(
    "text",
    [
        "I would say part.",
        'grade: "part"',
        # Two values, of which a repair keeps one
        '{"reasoning": "a", "grade": "part" or "none"}',
        '{"reasoning": "a", "grade": "part", "none"}',
        '{"reasoning": "a", "grade": "part" "none"}',
        '{"reasoning": "a", "grade": "part"; "grade": "none"}',
        '{"reasoning": "a", "grade": "part", "grade": "none"}',
        '{"reasoning": "a", "grade": "part", /* or "none" */}',
        # Cut off, also where the server does not say so
        '{"reasoning": "a", "grade": "part"',
        '{"reasoning": "a", "grade": "par',
        '{"reasoning": "a", "grade": "none of it, of cou',
        # A text that swallowed what follows it
        '{"reasoning": "it said "grade": "full", and so on", "grade": "part"}',
        # What was not asked for, or not all of it
        '{"reasoning": "a", "grade": "most",}',
        '{"reasoning": "a", "grade": }',
        "{" * 60 + "}",
        '{"grade":' * 5_000 + "}",
    ],
)
def test_no_repair_makes_a_value_of_what_is_unclear(text):
    assert grades(text) == []
    assert read(text).parse is Parse.NONE or read(text).unread


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ('{"grade": "part",}', '{"grade": "part"}'),
        ('{"reasoning": "a", "grade": "Part" , }', '{"reasoning": "a", "grade": "Part"}'),
        ('{"reasoning": "a, }", "grade": "part", "more": [1, 2,],}', '{"reasoning": "a, }", "grade": "part", "more": [1, 2]}'),
        ('{"reasoning": "see http://a.b", // it is short\n "grade": "part"}', '{"reasoning": "see http://a.b", "grade": "part"}'),
        ('{"reasoning": "a /* b */ # c", /* d\n */ "grade": "part" # e\n}', '{"reasoning": "a /* b */ # c", "grade": "part"}'),
        ('So:\n{"reasoning": "a", "grade": "part",} {"grade": "none",}', '{"reasoning": "a", "grade": "part"} {"grade": "none"}'),
    ],
)
def test_commas_too_many_and_comments_change_nothing_and_no_field_is_lost(text, same):
    assert (read(text).found, read(text).values) == (read(same).found, read(same).values)


@pytest.mark.parametrize("comment", ['// "none"?', "/* full or none */", "# not full"])
def test_a_comment_that_names_another_value_leaves_both_in_doubt(comment):
    assert grades(f'{{"reasoning": "a", "grade": "part", {comment}\n}}') == []
    assert read(f'{{"reasoning": "a", "grade": "part", {comment}\n}}').only("no grade") == (None, "no grade")


def test_a_reply_at_its_token_limit_is_never_repaired():
    assert grades(SOUND.replace("}", ",}")) == ["part"]
    assert grades(SOUND.replace("}", ",}"), CUT) == []
    assert read(SOUND[:-9], CUT).only("no grade") == (None, CUT)


def test_of_two_objects_neither_is_meant_and_one_that_cannot_be_read_counts():
    assert read(f"{SOUND} or {SOUND}").only("no grade") == (None, "no grade")
    assert read('{"grade": "most"}').only("no grade") == (None, "no grade")
    assert read("").only("no grade") == (None, "empty")


def test_a_fault_anywhere_leaves_the_grade_as_it_was_or_unread():
    faults = ("", '"', "'", ",", ":", "{", "}", "[", "]", " ", "\\", "\n")
    broken = [
        SOUND[:place] + fault + SOUND[place + left_out :]
        for place in range(len(SOUND))
        for fault in faults
        for left_out in (0, 1)
    ]
    read_from = [grades(text) for text in broken]
    # A letter that is left out can only make another word of it, which is no grade
    assert {tuple(found) for found in read_from} == {(), ("part",)}
    assert sum(bool(found) for found in read_from) > len(broken) / 2


# Journals know a call by its body, of which the schema is a part: another word in one of these, and nothing is resumed.
SENT = {
    "absence": "1490fb078ab7",
    "structured": "29f34112d245",
    "label_first": "1c38891c0a84",
    "label_only": "e87fe5b80f54",
    "extract": "0ad9a7461e57",
    "within": "cad4c7ac5b9d",
    "closed_book": "f9e72211ef23",
    "with_evidence": "f9e72211ef23",
    "several_sources": "26b3cbe69e68",
    "answer": "867e1a11e71a",
    "sub_question": "2a8ea318d835",
    "counterfactual": "0861bda1b0e3",
    "topics": "8a140486aad4",
    "counterfactual_rewritten": "63d73070e77c",
    "stress_grade": "1c0f40e30793",
    "theme_name": "f1c6f235bd98",
    "faithfulness": "f930366dc9c3",
    "context_precision": "351c0e9e66d6",
    "context_recall": "4900cbcf7faa",
    "citation_correctness": "0c406db74185",
    "answer_relevance": "41f9517c2390",
    "statements": "dc807793e080",
    "merge": "0b493790b7be",
    "criteria": "cd9b31130e74",
    "stress": "190697b9961f",
}


def fact_forms() -> list[PromptForm]:
    ways = [model_facts.load_fact_prompts(None, way) for way in (model_facts.MINIMAL, model_facts.REWRITTEN)]
    return [prompt.form for prompts in ways for prompt in prompts.values()]


def sent_schemas() -> dict[str, Any]:
    forms = [
        *parse.FORMS,
        *system_answers.FORMS.values(),
        model_generator.FORM,
        *fact_forms(),
        TOPICS_FORM,
        GRADE_FORM,
        NAME_FORM,
    ]
    stress = StressReplyForm(("A", "B"), True, 2, STRESS_CALLS[StressTest.SUFFICIENCY], 1, 2).schema(StressTest.SUFFICIENCY)
    others = {"statements": STATEMENTS_SCHEMA, "merge": MERGE_SCHEMA, "criteria": CRITERIA_SCHEMA}
    return {form.name: form.schema for form in forms} | EVIDENCE_SCHEMAS | others | {"stress": stress}


def test_the_schemas_that_are_sent_are_those_that_journals_know():
    assert {name: digest(schema) for name, schema in sent_schemas().items()} == SENT
    one_option = StressReplyForm(("A",), False, 0, (), 0).schema(StressTest.ROBUSTNESS)
    assert one_option["properties"]["choice"] == {"type": "string", "enum": ["A"]}


def digest(schema: Any) -> str:
    return hashlib.sha256(json.dumps(schema, sort_keys=True).encode()).hexdigest()[:12]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([{"type": "text", "text": SOUND[:20]}, {"type": "text", "text": SOUND[20:]}], SOUND),
        ([{"type": "thinking", "thinking": [{"type": "text", "text": "full?"}]}, {"type": "text", "text": SOUND}], SOUND),
        ([{"type": "refusal", "refusal": "no"}], None),
        ([], None),
        (None, None),
        (SOUND, SOUND),
    ],
)
def test_content_in_parts_is_the_text_of_its_text_parts(content, text):
    body = {"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}
    reply = read_response("k", 1, Response(200, json.dumps(body).encode()))
    assert isinstance(reply, Reply)
    assert reply.text == text
