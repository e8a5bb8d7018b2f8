"""Divergence topics at the published size: exactly as many as the paper counts, and each true of its pair."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import adjusted_mutual_info_score

from audit.pipeline.embedding.encoders import words_encoder
from audit.pipeline.themes.build import build_taxonomy
from audit.pipeline.themes.clusters import ThemeBuildOptions
from audit.release.taxonomy import by_plain_phrase
from audit.vocabulary import Label
from tests.simulator.build import DEFAULT_SEED
from tests.simulator.config import paper_config, small_config
from tests.simulator.judge import Labels, simulate_labels
from tests.simulator.policies import policies
from tests.simulator.topics import DivergenceTopics, Matter, broadened, divergence_topics
from tests.simulator.world import World, draw_world


@pytest.fixture(scope="module")
def world() -> World:
    return draw_world(paper_config(DEFAULT_SEED))


@pytest.fixture(scope="module")
def labels(world) -> Labels:
    return simulate_labels(world)


@pytest.fixture(scope="module")
def topics(world, labels) -> DivergenceTopics:
    return divergence_topics(world, labels)


def test_every_pair_that_disagrees_has_one_of_16113_topics_of_991_matters(labels, topics):
    assert len(topics.of_pair) == (labels.judge >= Label.DIVERGENT.code).sum()
    assert len(set(topics.of_pair.values())) == 16_113
    assert len(topics.matters) == 991


def test_a_topic_belongs_to_one_matter_and_each_matter_has_its_plain_name(topics):
    matter_of = {topic: matter for matter, named in topics.matters.items() for topic in named}
    assert len(matter_of) == sum(map(len, topics.matters.values())) == 16_113
    assert set(matter_of) == set(topics.of_pair.values())
    assert all(matter.subject in named[0] and matter.detail in named[0] for matter, named in topics.matters.items())


@pytest.mark.slow
def test_words_alone_make_991_themes_of_them_that_follow_the_matters(topics):
    counts = Counter(topics.of_pair.values())
    options = ThemeBuildOptions(target=len(topics.matters), layout="principal")
    taxonomy, points = build_taxonomy(counts, words_encoder(list(by_plain_phrase(counts))), options)
    assert taxonomy.counts["themes"] == 991
    assert len(points) == 16_113
    matter_of = {topic: number for number, named in enumerate(topics.matters.values()) for topic in named}
    of, order = taxonomy.theme_of(), list(matter_of)
    ami = adjusted_mutual_info_score([matter_of[topic] for topic in order], [of[topic] or topic for topic in order])
    print(f"adjusted mutual information with the matters: {ami:.3f}; no theme: {taxonomy.counts['no_theme_topics']:,}")
    assert ami > 0.8


def test_matters_are_of_very_unequal_size(topics):
    wordings = sorted(map(len, topics.matters.values()))
    pairs = sorted(Counter(topics.of_pair.values()).values())
    assert wordings[0] <= 2
    assert wordings[-1] > 5 * np.median(wordings)
    assert pairs[-1] > 100 * np.median(pairs)


def test_a_topic_names_positions_only_where_the_two_handbooks_hold_them(world, topics):
    first, second = world.pairs
    for (number, pair), topic in list(topics.of_pair.items())[::97]:
        policy, held = policies()[world.questions[number].policy], world.value[world.row[number]]
        own = {policy.values[held[side[pair]]] for side in (first, second)}
        named = topic.replace(policy.theme, "")
        stated = {
            value for value in policy.values if value in named and not any(value in detail.tag for detail in policy.details)
        }
        assert not stated or own <= stated, topic


def test_a_question_on_which_answers_agree_gets_a_topic_that_others_have_too(world, topics):
    named = {topics.in_general(world, number) for number in range(len(world.questions))}
    assert None in named, "nobody differs about what such a question asks"
    assert named - {None} <= set(topics.of_pair.values())
    assert len(named) > 60


def test_the_matter_of_fewest_pairs_becomes_broader_first():
    pairs = {
        Matter("diet"): 9,
        Matter("diet", "kidney"): 3,
        Matter("diet", "kidney", "salt"): 1,
        Matter("diet", "liver", "salt"): 2,
    }
    kidney, liver = Matter("diet", "kidney"), Matter("diet", "liver")
    assert broadened(pairs, 4) == {matter: matter for matter in pairs}
    # 1 joins the 3 of the kidney, which are 4
    assert broadened(pairs, 3)[Matter("diet", "kidney", "salt")] == kidney
    # then the 2 of the liver become the liver as a whole, and then, at 2 of 4 and 9, part of the diet
    assert broadened(pairs, 2)[Matter("diet", "liver", "salt")] == Matter("diet")
    assert set(broadened(pairs, 1).values()) == {Matter("diet")}
    assert liver.broader == Matter("diet")


def test_a_world_with_too_few_disagreements_is_refused():
    world = draw_world(replace(small_config(1), matters=991, topics=16_113))
    with pytest.raises(ValueError, match="too few for this config"):
        divergence_topics(world, simulate_labels(world))
