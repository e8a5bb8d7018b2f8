"""The policies: enough of them, well formed, and fit to print."""

import re
from collections import Counter
from itertools import combinations

import pytest

from audit.vocabulary import SIGNIFICANCES
from tests.simulator.policies import DETAILS, Policy, phrases, policies
from tests.simulator.worlds import ORGANS

each_policy = pytest.mark.parametrize("policy", policies(), ids=lambda policy: policy.id)


def sentences(policy: Policy) -> list[str]:
    said = [way for ways in policy.says for way in ways]
    return [*said, *policy.guidance, *(detail.sentence for detail in policy.details)]


def test_there_are_at_least_60_distinct_policies():
    assert len({policy.id for policy in policies()}) == len(policies()) >= 60


def test_they_cover_13_topics_and_43_subtopics():
    assert len({policy.topics[0] for policy in policies()}) == 13
    assert len({subtopic for policy in policies() for subtopic in policy.subtopics}) == 43


def test_a_subtopic_belongs_to_one_topic():
    homes = {(subtopic, policy.topics[0]) for policy in policies() for subtopic in policy.subtopics}
    assert [name for name, n in Counter(subtopic for subtopic, _ in homes).items() if n > 1] == []


def test_every_organ_has_a_policy_of_its_own():
    assert {organ for policy in policies() for organ in policy.organs} == set(ORGANS)


@each_policy
def test_a_policy_is_complete(policy):
    assert (policy.kind, len(policy.values)) in {("value", 3), ("stance", 2)}
    assert len(set(policy.values)) == len(policy.values) == len(policy.says)
    assert len({detail.tag for detail in policy.details}) == DETAILS
    assert policy.severity in {str(word) for word in SIGNIFICANCES}
    assert policy.phase in {"pre", "post"}
    assert set(policy.organs) <= set(ORGANS)
    assert min(len(policy.asks), len(policy.hows), len(policy.guidance)) == 2


@each_policy
def test_every_sentence_begins_and_ends_like_one(policy):
    for text in sentences(policy):
        assert re.fullmatch(r"[A-Z0-9\"].*[.]", text), text
        assert 20 <= len(text) <= 200, text
        assert not re.search(r"[{}]|  |lorem", text), text
    assert all(question.endswith("?") for question in (*policy.asks, *policy.hows))


@each_policy
def test_a_value_is_stated_in_the_words_of_every_way_to_say_it(policy):
    if policy.kind == "value":
        assert all(value in way for value, ways in zip(policy.values, policy.says, strict=True) for way in ways)


@each_policy
def test_the_shared_advice_and_the_details_do_not_state_a_value_of_the_policy(policy):
    shared = " ".join([*policy.guidance, *(detail.sentence for detail in policy.details)])
    assert [value for value in policy.values if value in shared] == []


def test_no_sentence_is_used_twice():
    used = Counter(sentence for policy in policies() for sentence in sentences(policy))
    assert [text for text, times in used.items() if times > 1] == []


def test_patients_circumstances_are_there_for_every_organ_and_phase_and_name_their_organ():
    situations = phrases()["situations"]
    assert set(situations) == {"general", *ORGANS}
    for phase in ("pre", "post"):
        assert all(len(set(situations[organ][phase])) >= 6 for organ in situations)
    for one, other in combinations(situations, 2):
        assert not set(situations[one]["post"]) & set(situations[other]["post"])
