"""Replies in shapes that models write to prompts of other people: 40 of them, written before the readers were looked at."""

from __future__ import annotations

import json
from typing import Any

import pytest

from audit.evaluation.criteria import CRITERIA
from audit.pipeline.judging.criteria.task import read_evaluation
from audit.pipeline.judging.parse import read_presence, read_verdict
from audit.pipeline.llm.calls import ANSWERED, CUT
from audit.pipeline.stress.running.grading import read_grade
from audit.release.journal_files import Reply

SCORES = [1, 0, -1, 0, 0, 0, 1, 1]
RATED = enumerate(zip(CRITERIA, SCORES, strict=True), 1)
NUMBERED = {f"{n}_{name}": {"score": score, "explanation": f"E{n}."} for n, (name, score) in RATED}
JSON = json.dumps({"criteria_evaluations": NUMBERED}, indent=2)
NONE: list[int | None] = [None] * 8


def each(change: Any) -> str:
    """The reply with `change` made to the entry of every criterion."""
    return json.dumps({"criteria_evaluations": {name: change(name, entry["score"]) for name, entry in NUMBERED.items()}})


def without_third(change: str) -> tuple[str, list[int | None]]:
    """The reply with another third score, which cannot be read."""
    return JSON.replace('"score": -1', change), [*SCORES[:2], None, *SCORES[3:]]


ON_CRITERIA: dict[str, tuple[str, list[int | None]]] = {
    "as asked for": (JSON, SCORES),
    "in a fence": (f"```json\n{JSON}\n```", SCORES),
    "in a fence in capitals": (f"```JSON\n{JSON}\n```", SCORES),
    "between sentences": (f"Here is my evaluation:\n\n{JSON}\n\nLet me know if you need anything else.", SCORES),
    "after thinking": (f'<think>Is bias -1? {{"score": -1}} No.</think>\n{JSON}', SCORES),
    "after thinking that the template opened": (f"I think about {{braces}}.</think>{JSON}", SCORES),
    "without the outer object": (json.dumps(NUMBERED), SCORES),
    "keys in another case": (
        json.dumps({"Criteria_Evaluations": {
            name.title().replace("_", " "): {"Score": entry["score"], "Explanation": "x"} for name, entry in NUMBERED.items()
        }}), SCORES,
    ),
    "bare numbers": (json.dumps(dict(zip(CRITERIA, SCORES, strict=True))), SCORES),
    "numbers as texts": (each(lambda _, score: {"score": str(score), "explanation": "x"}), SCORES),
    "numbers with decimals": (each(lambda _, score: {"score": float(score), "explanation": "x"}), SCORES),
    "a comma too many": (JSON.replace("\n  }\n}", ",\n  }\n}"), SCORES),
    "cut in the last explanation": (JSON[: JSON.index("E8")], [*SCORES[:7], 1]),
    "cut in the fourth entry": (JSON[: JSON.index('"4_extent') + 20], [*SCORES[:3], *NONE[3:]]),
    "out of range": without_third('"score": -5'),
    "null": without_third('"score": null'),
    "a plus sign": (JSON.replace('"score": 1', '"score": +1'), SCORES),
    "a list": (json.dumps([{"criterion": name, "score": score} for name, score in zip(CRITERIA, SCORES, strict=True)]), SCORES),
    "two scores for one": (
        JSON.replace('"2_inapp', '"1_scientific_consensus": {"score": 0}, "2_inapp'), [None, *SCORES[1:]],
    ),
    "a refusal": ("I'm sorry, but I cannot evaluate medical content.", NONE),
}  # fmt: skip

ON_PAIRS: dict[str, tuple[str, str | None]] = {
    "another name of the label": ('{"reasoning": "Both say two weeks.", "label": "CONSISTENT"}', "CONSISTENT"),
    "in a fence": ('```json\n{"reasoning": "x", "label": "DIVERGENT"}\n```', "DIVERGENT"),
    "in small letters, label first": ('{"label": "divergent", "reasoning": "x"}', "DIVERGENT"),
    "keys in another case": ('{"Label": "Complementary", "Reasoning": "x"}', "COMPLEMENTARY"),
    "after thinking": ('<think>{"label": "CONSISTENT"}?</think>{"label": "CONTRADICTORY", "reasoning": "x"}', "CONTRADICTORY"),
    "after a sentence": ('Sure! Based on both answers:\n{"label": "ABSENT", "reasoning": "B is silent."}', "ABSENT"),
    "lines": ("Label: DIVERGENT\nReasoning: they differ in weeks.", "DIVERGENT"),
    "bold lines": ("**Label:** DIVERGENT\n\n**Explanation:** They differ.", "DIVERGENT"),
    "the word": ("CONSISTENT", "CONSISTENT"),
    "the word as a sentence": ("Complementary.", "COMPLEMENTARY"),
    "a line of another name": ("Classification: CONTRADICTORY", "CONTRADICTORY"),
    "the label last": ("Answer A says 2 weeks and answer B says 6 weeks.\n\nFinal label: DIVERGENT", "DIVERGENT"),
    "cut after the label": ('{"label": "DIVERGENT", "reasoning": "They say', "DIVERGENT"),
    "cut before the label": ('{"reasoning": "They say that', None),
    "two labels": ('{"label": "DIVERGENT or CONTRADICTORY", "reasoning": "x"}', None),
    "all labels": ("Label: [CONSISTENT | COMPLEMENTARY | DIVERGENT | CONTRADICTORY | ABSENT]", None),
    "a denial": ("The answers are not DIVERGENT.", None),
    "another word": ('{"label": "SIMILAR", "reasoning": "x"}', None),
    "two objects that differ": ('{"label": "CONSISTENT"}\n{"label": "DIVERGENT"}', None),
    "a refusal": ("I cannot decide between these.", None),
}


def reply(name: str, text: str) -> Reply:
    return Reply("k", CUT if name.startswith("cut") else ANSWERED, text=text)


@pytest.mark.parametrize("name", ON_CRITERIA)
def test_scores_are_read_or_left_open(name):
    text, scores = ON_CRITERIA[name]
    evaluation = read_evaluation(reply(name, text))
    assert list(evaluation.scores.values()) == scores
    assert (evaluation.reason is None) == (None not in scores)


@pytest.mark.parametrize("name", ON_PAIRS)
def test_a_label_is_read_or_the_pair_is_unscored_with_a_reason(name):
    text, label = ON_PAIRS[name]
    verdict = read_verdict(reply(name, text), "structured")
    assert (verdict.label, verdict.reason is None) == (label, label is not None)


def test_two_names_of_one_field_must_agree():
    def label(**fields: str) -> str | None:
        return read_verdict(reply("", json.dumps(fields)), "structured").label

    assert label(classification="DIVERGENT", label="DIVERGENT") == "DIVERGENT"
    assert label(classification="DIVERGENT", label="CONSISTENT") is None
    said = read_verdict(reply("", '{"classification": "DIVERGENT", "Verdict": "CONSISTENT"}'), "structured")
    assert said.reason == "several labels"
    assert read_presence(reply("", '{"Answer": "YES"}')).addressed is True


def test_a_grade_as_medrgbs_own_prompt_asks_for_it():
    replies = [reply("", json.dumps({"score": score, "reasoning": "x"})) for score in (1, 0.5, "0", 0.3)]
    assert [read_grade(one) for one in replies] == [1, 0.5, 0, None]
