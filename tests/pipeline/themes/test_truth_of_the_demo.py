"""The demo says which policy every divergence topic is about, so a taxonomy can be right or wrong."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_mutual_info_score, completeness_score, homogeneity_score

from audit.pipeline.embedding.encoders import MINILM, default_model, sentence_encoder, words_encoder
from audit.pipeline.themes.build import build_taxonomy
from audit.pipeline.themes.clusters import ThemeBuildOptions
from audit.release.taxonomy import Taxonomy, by_plain_phrase
from tests.simulator.config import small_config
from tests.simulator.judge import simulate_labels
from tests.simulator.policies import policies, subject
from tests.simulator.verdicts import comparisons
from tests.simulator.world import draw_world


@pytest.fixture(scope="module")
def truth() -> dict[str, str]:
    """Divergence topic, in the judge's words -> what the question it was written for is about."""
    told: dict[str, str] = {}
    for seed in range(4):
        world = draw_world(small_config(seed))
        for question, record in zip(world.questions, comparisons(world, simulate_labels(world)), strict=True):
            about = subject(policies()[question.policy], question.aspect)
            told.update({pair["divergence_topic"]: about for pair in record["pairs"] if pair["divergence_topic"]})
    return told


def figures(taxonomy: Taxonomy, truth: dict[str, str]) -> dict[str, float]:
    """Homogeneity, completeness and AMI over distinct topics, each one without a theme as a theme of its own."""
    of = taxonomy.theme_of()
    found = [of[topic] or topic for topic in truth]
    true = list(truth.values())
    return {
        "homogeneity": homogeneity_score(true, found),
        "completeness": completeness_score(true, found),
        "ami": adjusted_mutual_info_score(true, found),
        "no theme": float(np.mean([of[topic] is None for topic in truth])),
    }


def test_words_alone_find_the_themes_of_the_demo(truth: dict[str, str]) -> None:
    encoder = words_encoder(list(by_plain_phrase(truth)))
    taxonomy, _ = build_taxonomy(dict.fromkeys(truth, 1), encoder, ThemeBuildOptions(layout="principal"))
    found = figures(taxonomy, truth)
    print(len(truth), len(set(truth.values())), taxonomy.counts["themes"], found)
    assert found["homogeneity"] > 0.93
    assert found["completeness"] > 0.93
    assert found["ami"] > 0.90
    assert found["no theme"] < 0.10


def test_a_model_finds_them_too(truth: dict[str, str]) -> None:
    if default_model() is None:
        pytest.skip("the extra models is not installed")
    encoder = sentence_encoder(MINILM)
    taxonomy, _ = build_taxonomy(dict.fromkeys(truth, 1), encoder, ThemeBuildOptions(layout="principal"))
    found = figures(taxonomy, truth)
    print(len(truth), len(set(truth.values())), taxonomy.counts["themes"], found)
    assert found["homogeneity"] > 0.88
    assert found["completeness"] > 0.93
    assert found["ami"] > 0.82
    assert found["no theme"] < 0.10
