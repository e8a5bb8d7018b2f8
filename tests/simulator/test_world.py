"""The truth: shapes, who answers, and the relation that follows from what two handbooks hold."""

from collections import Counter

import numpy as np
import pytest

from audit.vocabulary import LABELS
from tests.simulator.config import paper_config, scaled, small_config
from tests.simulator.policies import policies
from tests.simulator.world import World, draw_world
from tests.simulator.worlds import config_of_size


@pytest.fixture(scope="module")
def paper() -> World:
    return draw_world(paper_config(1))


@pytest.fixture(scope="module")
def small() -> World:
    return draw_world(small_config(1))


def test_the_paper_scale_has_the_published_shape_exactly(paper):
    books = paper.handbooks
    assert Counter(book.organ for book in books) == {"heart": 26, "lung": 26, "kidney": 22, "liver": 17, "pancreas": 11}
    assert Counter(book.phase for book in books) == {"pre": 37, "post": 39, "combined": 26}
    assert (len({book.id for book in books}), len({book.center for book in books})) == (102, 23)
    assert (len(paper.questions), sum(q.organ == "general" for q in paper.questions)) == (1115, 311)
    assert len(paper.questions) * len(paper.pairs[0]) == 5_743_365


def test_every_center_has_one_handbook_for_an_organ_and_a_phase(small):
    assert len({(book.center, book.organ, book.phase) for book in small.handbooks}) == 24


def test_no_two_questions_read_the_same(paper, small):
    assert len({q.text for q in paper.questions}) == 1115
    assert len({q.text for q in small.questions}) == len(small.questions)


def test_the_default_scale_asks_about_every_topic(small):
    assert len({topic for q in small.questions for topic in policies()[q.policy].topics}) == 13


def test_a_question_about_an_organ_asks_for_a_policy_that_concerns_it(paper):
    assert all(policies()[q.policy].concerns(q.organ) for q in paper.questions)


def test_a_handbook_is_silent_on_policies_of_another_organ(paper):
    for question, present in zip(paper.questions, paper.present, strict=True):
        organs = policies()[question.policy].organs
        assert not organs or {paper.handbooks[i].organ for i in np.flatnonzero(present)} <= set(organs)


@pytest.mark.parametrize("aspect_kind", [("ask", "value"), ("ask", "stance"), ("how", "value")])
def test_the_relation_follows_from_presence_value_and_details(small, aspect_kind):
    aspect, kind = aspect_kind
    apart = {"value": "DIVERGENT", "stance": "CONTRADICTORY"}[kind] if aspect == "ask" else None
    for number, question in enumerate(small.questions):
        if (question.aspect, policies()[question.policy].kind) != aspect_kind:
            continue
        row = small.row[number]
        for a, b, code in zip(*small.pairs, small.relation(number), strict=True):
            if not (small.present[number, a] and small.present[number, b]):
                expected = "ABSENT"
            elif apart and small.value[row, a] != small.value[row, b]:
                expected = apart
            else:
                expected = "CONSISTENT" if small.details[row, a] == small.details[row, b] else "COMPLEMENTARY"
            assert LABELS[code] == expected


def test_programs_of_a_center_mostly_hold_the_value_of_the_center(paper):
    center = np.array([book.center for book in paper.handbooks])
    first, second = paper.pairs
    same_center = center[first] == center[second]
    asked = [i for i, policy in enumerate(policies()) if policy.kind == "value"]
    agree = paper.value[asked][:, first] == paper.value[asked][:, second]
    assert agree[:, same_center].mean() > 0.9 > agree[:, ~same_center].mean()


def test_an_independent_world_gives_each_question_a_policy_and_each_handbook_a_center_of_its_own():
    world = draw_world(config_of_size(60, 30, seed=5, independent=True))
    assert sorted(world.row) == list(range(60)) == list(range(len(world.value)))
    assert len({book.center for book in world.handbooks}) == 30


@pytest.mark.parametrize(("questions", "handbooks"), [(20, 6), (60, 30), (400, 60), (1115, 102)])
def test_a_world_of_any_size_has_the_size_asked_for(questions, handbooks):
    world = draw_world(config_of_size(questions, handbooks, seed=3))
    assert (len(world.questions), len({book.id for book in world.handbooks})) == (questions, handbooks)


def test_counts_are_shared_out_in_whole_numbers_that_add_up():
    assert scaled((37, 39, 26), 10) == (4, 3, 3)
    assert scaled((1, 1, 1), 2) == (1, 0, 1)
