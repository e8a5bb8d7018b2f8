"""Which policy each simulated question asks for, and how a patient words it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from audit.demo.config import WorldConfig
from audit.demo.policies import Policy, phrases, policies
from audit.vocabulary import GENERAL

ASK = "ask"
"""A question that turns on the value a handbook states: when, how much, may I."""
HOW = "how"
"""A question that turns on advice which all handbooks share."""


@dataclass(frozen=True)
class SimulatedQuestion:
    """One simulated question: the policy it asks for (an index into `policies()`), and whether it turns on the value."""

    id: str
    organ: str
    policy: int
    aspect: str
    text: str

    @property
    def contested(self) -> bool:
        """Whether handbooks may state different values: the question turns on the value of a value policy."""
        return self.aspect == ASK and policies()[self.policy].kind == "value"


def draw_questions(config: WorldConfig, rng: np.random.Generator) -> tuple[SimulatedQuestion, ...]:
    """The questions of a config, general ones first.

    In every group of questions the quota of contested ones is exact (drawn by chance in an independent world), and the
    policy used least so far comes next, so that all topics occur in a small release too.
    """
    used: Counter[int] = Counter()
    return tuple(q for organ, count in config.questions.items() for q in _draw_group(config, organ, count, used, rng))


def _draw_group(
    config: WorldConfig, organ: str, count: int, used: Counter[int], rng: np.random.Generator
) -> Iterator[SimulatedQuestion]:
    order = rng.permutation(len(policies())).tolist()
    here: Counter[int] = Counter()
    times: Counter[tuple[int, str]] = Counter()
    for number, contested in enumerate(_contested(config, organ, count, rng), start=1):
        policy = min(_eligible(organ, contested, order), key=lambda i: (here[i], used[i], order[i]))
        aspect = ASK if contested or _asks_stance(policies()[policy], here[policy]) else HOW
        text = wording(policies()[policy], organ, aspect, times[policy, aspect])
        here[policy] += 1
        used[policy] += 1
        times[policy, aspect] += 1
        yield SimulatedQuestion(f"{organ}-{number:04d}", organ, policy, aspect, text)


def _contested(config: WorldConfig, organ: str, count: int, rng: np.random.Generator) -> list[bool]:
    variety = config.variety
    share = variety.general_contested if organ == GENERAL else variety.organ_contested
    if config.independent:
        return [bool(u < share) for u in rng.random(count)]
    return [bool(i < round(share * count)) for i in rng.permutation(count)]


def _eligible(organ: str, contested: bool, order: list[int]) -> list[int]:
    return [i for i in order if policies()[i].concerns(organ) and (policies()[i].kind == "value" or not contested)]


def _asks_stance(policy: Policy, times: int) -> bool:
    return policy.kind == "stance" and times % 2 == 0


def wording(policy: Policy, organ: str, aspect: str, times: int) -> str:
    """The text of the question that asks for `policy` for the `times`-th time (from 0) in its group.

    Phrasings are used up first; then, and always where an organ is meant, a patient's circumstances come before the
    question, so that no two questions of a group read the same.
    """
    ways = policy.asks if aspect == ASK else policy.hows
    lap, way = divmod(times, len(ways))
    text = ways[way].replace("{o}", "" if organ == GENERAL else f"{organ} ")
    if organ == GENERAL and lap == 0:
        return text
    situations = phrases()["situations"][organ][policy.phase]
    return f"{situations[(lap + way + len(policy.id)) % len(situations)]} {text}"


def subject(policy: Policy, aspect: str) -> str:
    """What a question is about, in a few words: the policy's theme where it turns on the value, else the subtopic."""
    return policy.theme if aspect == ASK else policy.subtopics[0]
