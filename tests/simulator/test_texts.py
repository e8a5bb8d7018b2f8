"""What the demo's handbooks and judge say reads like what people write."""

import re
from collections import defaultdict

import pytest

from tests.simulator.answers import answers
from tests.simulator.config import small_config
from tests.simulator.judge import simulate_labels
from tests.simulator.policies import policies
from tests.simulator.verdicts import comparisons
from tests.simulator.world import World, draw_world


@pytest.fixture(scope="module")
def world() -> World:
    return draw_world(small_config(3))


@pytest.fixture(scope="module")
def records(world) -> list[dict]:
    return list(answers(world))


@pytest.fixture(scope="module")
def verdicts(world) -> list[dict]:
    pairs = (pair for record in comparisons(world, simulate_labels(world)) for pair in record["pairs"])
    return [pair for pair in pairs if pair["judge_metadata"] and pair["classification"]]


def test_an_answer_is_three_to_six_whole_sentences_without_placeholders(records):
    for record in records:
        text = record["answer"]
        assert not re.search(r"[{}]|  |\.\.|None", text), text
        assert re.fullmatch(r"[A-Z0-9].*[.]", text), text
        if not record["absent"]:
            assert 90 <= len(text) <= 700, text
            assert 3 <= len(re.findall(r"[.](?:\s|$)", text)) <= 7, text


def test_no_two_centers_answer_a_question_word_for_word_alike(world, records):
    center = {book.id: book.center for book in world.handbooks}
    users = defaultdict(set)
    for record in records:
        if not record["absent"]:
            users[record["question_id"], record["answer"]].add(center[record["handbook_id"]])
    assert [text for (_, text), centers in users.items() if len(centers) > 1] == []


def test_a_question_that_turns_on_a_value_is_answered_with_the_value_that_the_handbook_holds(world, records):
    given = {(record["question_id"], record["handbook_id"]): record for record in records}
    for number, question in enumerate(world.questions):
        if not question.contested:
            continue
        for place, book in enumerate(world.handbooks):
            record = given[question.id, book.id]
            value = policies()[question.policy].values[world.value[world.row[number], place]]
            assert record["absent"] or value in record["answer"]


def test_present_answers_cite_the_section_of_their_policy(world, records):
    heading = {q.id: policies()[q.policy].section for q in world.questions}
    for record in records:
        if not record["absent"]:
            assert record["retrieval"]["sections"][0].endswith(f"/ {heading[record['question_id']]}")


def test_a_verdict_gives_its_reason_in_a_sentence_that_names_both_centers(world, verdicts):
    name = {book.id: book.center_name for book in world.handbooks}
    for pair in verdicts:
        text = pair["reasoning"]
        assert re.fullmatch(r"[A-Z].*[.]", text), text
        assert not re.search(r"[{}]|  | and  |None", text), text
        if pair["classification"] == "DIVERGENT":
            assert name[pair["handbook_a"]] in text
            assert name[pair["handbook_b"]] in text


def test_divergence_topics_come_in_many_wordings(verdicts):
    topics = {pair["divergence_topic"] for pair in verdicts if pair["divergence_topic"]}
    assert len(topics) > 60
    assert all(5 < len(topic) < 150 for topic in topics)
