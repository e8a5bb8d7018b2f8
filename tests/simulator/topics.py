"""Divergence topics at the published size: what each disagreeing pair differs about, in as many wordings as the paper counts.

A topic names the subject of the question, its organ, and often a detail that only one of the two answers has. These make more
matters than the paper has themes, so the rarest are named more broadly; and of the wordings of a matter the rarest give way to
its plain name. So a release has exactly the published numbers of both, and sizes as unequal as its questions and pairs are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

from audit.vocabulary import GENERAL, Label
from tests.simulator.judge import Labels
from tests.simulator.policies import ASK, DETAIL_SETS, phrases, policies, subject
from tests.simulator.world import World

# Share of topics that name a detail beside the subject; and how much more often the first ways to word one come up. Our choice.
DETAILED, SKEW = 0.6, 2.0
Draws = tuple[float, ...]
PLAIN: Draws = (0.0,) * 3
"""The draws that word a matter in the plain way."""


class Matter(NamedTuple):
    """What answers differ about: a subject, of an organ (empty: of all), beside a detail (empty: none is named)."""

    subject: str
    organ: str = ""
    detail: str = ""

    @property
    def broader(self) -> Matter | None:
        """The matter that this one is part of."""
        if self.detail:
            return self._replace(detail="")
        return self._replace(organ="") if self.organ else None


@dataclass(frozen=True)
class DivergenceTopics:
    """The topics of a release.

    of_pair  (number of the question, number of the pair) -> topic, for each pair that disagrees
    matters  matter -> its topics, the plain name first
    """

    of_pair: Mapping[tuple[int, int], str]
    matters: Mapping[Matter, tuple[str, ...]]

    def in_general(self, world: World, number: int) -> str | None:
        """What a question is about, as a judge names it where the answers do not differ; None if no pair that differs has it."""
        question = world.questions[number]
        matter: Matter | None = Matter(subject(policies()[question.policy], question.aspect), organ_of(question.organ))
        while matter and matter not in self.matters:
            matter = matter.broader
        return self.matters[matter][0] if matter else None


def divergence_topics(world: World, labels: Labels) -> DivergenceTopics:
    """The topics of the pairs that disagree; the config says how many matters and different topics there are.

    Raises ValueError where the pairs do not have as many.
    """
    drawn = list(_drawn(world, labels))
    named = broadened(Counter(matter for _, matter, _ in drawn), world.config.matters)
    # The first pair of a matter has the plain name, so each is used
    firsts = {named[matter]: key for key, matter, _ in reversed(drawn)}
    plain = {matter: _wording(world, key, matter, PLAIN) for matter, key in firsts.items()}
    written = {
        key: _wording(world, key, named[matter], PLAIN if firsts[named[matter]] == key else draws) for key, matter, draws in drawn
    }
    kept = _kept(Counter(written.values()), set(plain.values()), world.config.topics)
    of_pair = {key: written[key] if written[key] in kept else plain[named[matter]] for key, matter, _ in drawn}
    if (len(plain), len(kept)) != (world.config.matters, world.config.topics):
        raise ValueError(f"The pairs differ about {len(plain):,} matters in {len(kept):,} topics, too few for this config.")
    topics: dict[Matter, dict[str, None]] = {matter: {name: None} for matter, name in plain.items()}
    for key, matter, _ in drawn:
        topics[named[matter]][of_pair[key]] = None
    return DivergenceTopics(of_pair, {matter: tuple(wordings) for matter, wordings in topics.items()})


def _drawn(world: World, labels: Labels) -> Iterator[tuple[tuple[int, int], Matter, Draws]]:
    """Each pair that disagrees, its matter, and the draws for its wording."""
    first, second = world.pairs
    for number, question in enumerate(world.questions):
        policy, details = policies()[question.policy], world.details[world.row[number]]
        about = Matter(subject(policy, question.aspect), organ_of(question.organ))
        pairs = np.flatnonzero(labels.judge[number] >= Label.DIVERGENT.code).tolist()
        # A stream per question: its topics do not depend on the number of pairs of the questions before it.
        chance = np.random.default_rng([world.config.seed, 23, number]).random((len(pairs), 5)).tolist()
        for pair, (named, which, *wordings) in zip(pairs, chance, strict=True):
            sides = [set(DETAIL_SETS[details[side[pair]]]) for side in (first, second)]
            own = sorted(sides[0] ^ sides[1] or sides[0])
            tag = policy.details[own[int(which * len(own))]].tag if named < DETAILED else ""
            yield (number, pair), about._replace(detail=tag), tuple(wordings)


def organ_of(organ: str) -> str:
    """The organ that a topic names: none on a general question."""
    return "" if organ == GENERAL else organ


def broadened(pairs: Mapping[Matter, int], wanted: int) -> dict[Matter, Matter]:
    """Each matter -> the one that it is named as, so that `wanted` remain: in turn, the one of fewest pairs becomes broader."""
    size, into = Counter(pairs), dict[Matter, Matter]()
    waiting = [(count, matter) for matter, count in pairs.items() if matter.broader]
    heapify(waiting)
    while len(size) > wanted and waiting:
        count, matter = heappop(waiting)
        if size[matter] != count or (broader := matter.broader) is None:
            continue  # it has grown since, and waits with its new size
        del size[matter]
        into[matter] = broader
        size[broader] += count
        if broader.broader:
            heappush(waiting, (size[broader], broader))
    return {matter: _last(matter, into) for matter in pairs}


def _last(matter: Matter, into: Mapping[Matter, Matter]) -> Matter:
    while matter in into:
        matter = into[matter]
    return matter


def _kept(topics: Mapping[str, int], plain: set[str], wanted: int) -> set[str]:
    others = sorted((topic for topic in topics if topic not in plain), key=lambda topic: (-topics[topic], topic))
    return plain | set(others[: wanted - len(plain)])


def _wording(world: World, key: tuple[int, int], matter: Matter, draws: Draws) -> str:
    """One way to word a matter on a pair: all draws 0 for the plain one."""
    number, pair = key
    question = world.questions[number]
    policy, ways = policies()[question.policy], phrases()["divergence_topics"]
    of_organ, with_detail, shape = draws
    name = matter.subject
    if matter.organ:
        name = _pick(ways["organs"], of_organ).format(subject=name, organ=matter.organ)
    if matter.detail:
        name = _pick(ways["details"], with_detail).format(subject=name, detail=matter.detail)
    x, y = (int(world.value[world.row[number], side[pair]]) for side in world.pairs)
    apart = question.aspect == ASK and policy.kind == "value" and x != y
    shapes = [*ways["shapes"], *(ways["values"] if apart else ())]
    return _pick(shapes, shape).format(matter=name, section=policy.section.lower(), x=policy.values[x], y=policy.values[y])


def _pick(ways: list[str], draw: float) -> str:
    """One of some ways to say a thing, the first ones more often."""
    return ways[int(draw**SKEW * len(ways))]
