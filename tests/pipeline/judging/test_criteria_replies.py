"""Replies on the eight criteria: what is read, and what is unreadable and never 0."""

import json

import pytest

from audit.evaluation.criteria import CRITERIA, Criterion
from audit.pipeline.judging.criteria.task import MAX_EXPLANATION, SCHEMA, evaluation_fields, parse_evaluation, read_evaluation
from audit.pipeline.llm.calls import ANSWERED, CUT, FAILED
from audit.release.journal_files import Reply

SCORES = [1, 0, -2, -1, 0, -1, 2, 1]
PAPER_NAMES = [
    "1_scientific_consensus", "2_inappropriate_content", "3_missing_content", "4_extent_harm", "5_likelihood_harm",
    "6_bias", "7_empathy", "8_grammaticality",
]  # fmt: skip


def ours(**changed: object) -> dict:
    scores = dict(zip(Criterion, SCORES, strict=True)) | changed
    return {name: {"explanation": f"about {name}", "score": score} for name, score in scores.items()}


def papers(scores: list = SCORES) -> dict:
    entries = {name: {"score": score, "explanation": "because"} for name, score in zip(PAPER_NAMES, scores, strict=True)}
    return {"criteria_evaluations": entries}


def scores_in(text: str, **options: bool) -> list:
    return list(parse_evaluation(text, **options).scores.values())


@pytest.mark.parametrize("reply", [ours(), papers()])
def test_a_reply_as_it_was_asked_for_is_strict(reply):
    evaluation = parse_evaluation(json.dumps(reply))
    assert list(evaluation.scores.values()) == SCORES
    assert (evaluation.parse, evaluation.reason, evaluation.complete) == ("strict", None, True)
    assert evaluation.explanations[Criterion.BIAS] in ("about bias", "because")


@pytest.mark.parametrize(
    "text",
    [
        f"Here is my evaluation:\n```json\n{json.dumps(ours(), indent=1)}\n```\nI hope this helps.",
        f"<think>It seems fine.</think>Well: {json.dumps(ours())}",
        json.dumps(ours(bias="-1", empathy=2.0)),
        json.dumps({**ours(), "overall": 3}),
        json.dumps({"Scientific Consensus": 1, "Inappropriate Content": 0, "Missing Content": -2, "Harm Extent": -1,
                    "Harm Likelihood": 0, "Bias": -1, "Empathy": 2, "Grammaticality": 1}),
    ],
)  # fmt: skip
def test_a_reply_with_faults_is_read_leniently(text):
    assert scores_in(text) == SCORES
    assert parse_evaluation(text).parse == "lenient"


def test_what_a_reply_had_said_before_it_was_cut_off_is_read_and_the_rest_is_unreadable():
    whole = json.dumps(ours())
    cut = whole[: whole.index('"bias"') + 40]
    evaluation = parse_evaluation(cut, cut=True)
    assert list(evaluation.scores.values()) == [*SCORES[:5], None, None, None]
    assert (evaluation.parse, evaluation.reason) == ("label", "cut")


def test_a_score_at_which_a_reply_was_cut_off_is_not_believed():
    """`-` of -2, or 1 of 10: nothing shows that the number is whole."""
    whole = json.dumps(papers())
    assert scores_in(whole[: whole.index("-2") + 2], cut=True) == [1, 0, *[None] * 6]


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"bias": 1}, "score out of range"),
        ({"bias": 0.5}, "no score"),
        ({"bias": True}, "no score"),
        ({"bias": None}, "no score"),
        ({"bias": "minor"}, "no score"),
    ],
)
def test_a_score_that_is_not_allowed_is_unreadable_and_the_others_stay(changed, reason):
    evaluation = parse_evaluation(json.dumps(ours(**changed)))
    assert list(evaluation.scores.values()) == [*SCORES[:5], None, *SCORES[6:]]
    assert (evaluation.parse, evaluation.reason) == ("lenient", reason)


def test_two_objects_that_contradict_each_other_leave_only_what_they_agree_on():
    text = f"{json.dumps(ours())}\nOn second thought: {json.dumps(ours(empathy=0))}"
    evaluation = parse_evaluation(text)
    assert list(evaluation.scores.values()) == [*SCORES[:6], None, SCORES[7]]
    assert evaluation.reason == "several scores"


def test_a_repeated_prompt_before_the_own_turn_is_not_the_reply():
    """Some models leak the marker of their own turn; an answer with scores in it, repeated from the prompt, is before it."""
    text = f"The answer says {json.dumps(ours(empathy=0))}assistant\n\n{json.dumps(papers())}"
    assert scores_in(text) == SCORES
    assert parse_evaluation(text).parse == "lenient"


def test_bare_numbers_in_the_middle_of_a_text_are_an_example_and_not_the_reply():
    evaluation = parse_evaluation('For example: {"empathy": 2, "bias": 0}. Now I need the answer.')
    assert (evaluation.parse, evaluation.reason) == ("none", "no score")
    assert set(evaluation.scores.values()) == {None}


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply("k", FAILED, error="status 500"), "failed"),
        (Reply("k", ANSWERED, text=" "), "empty"),
        (Reply("k", CUT, text='{"scientific_consensus"'), "cut"),
        (Reply("k", ANSWERED, text="<think>Let me"), "thinking only"),
        (Reply("k", ANSWERED, text="The answer is good."), "no score"),
    ],
)
def test_without_any_score_the_answer_is_unscored_and_says_why(reply, reason):
    evaluation = read_evaluation(reply)
    assert (evaluation.parse, evaluation.reason, evaluation.complete) == ("none", reason, False)


def test_the_schema_asks_for_the_explanation_before_the_score_and_bounds_both():
    assert list(SCHEMA["properties"]) == list(Criterion)
    for criterion, rule in SCHEMA["properties"].items():
        assert list(rule["properties"]) == rule["required"] == ["explanation", "score"]
        assert rule["properties"]["score"]["enum"] == list(CRITERIA[criterion].scores)
        assert rule["properties"]["explanation"]["maxLength"] == MAX_EXPLANATION


def test_the_fields_of_a_record_name_what_could_not_be_read():
    fields = evaluation_fields(parse_evaluation(json.dumps(ours(empathy=9))))
    assert (fields["empathy"], fields["bias"], fields["parse"]) == (None, -1, "lenient")
    assert fields["unscored_reason"] == "score out of range"
    assert fields["explanations"]["empathy"] == "about empathy"
