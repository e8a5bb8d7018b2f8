"""The policies that fictional handbooks can state, from tests/simulator/handbook, and patients' questions about them."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from audit.vocabulary import GENERAL
from tests.simulator.config import WorldConfig


@cache
def phrases() -> dict[str, Any]:
    """Circumstances, openings, closings, absence wordings and reasonings, as they are in the file."""
    return tomllib.loads((Path(__file__).parent / "phrases.toml").read_text(encoding="utf-8"))


HANDBOOK_DIR = Path(__file__).parent / "handbook"
DETAILS = 5
# Every answer gives one of these ten sets of two details; the same set and the same value make a CONSISTENT pair.
DETAIL_SETS = tuple(combinations(range(DETAILS), 2))


@dataclass(frozen=True)
class PolicyDetail:
    """A further fact that an answer may carry: what it is about in a few words, and the sentence."""

    tag: str
    sentence: str


@dataclass(frozen=True)
class Policy:
    """One rule on which handbooks may agree or differ, or which they may not address.

    kind        value: centers hold one of several values; stance: the first value is the usual advice, the second its opposite
    organs      empty: concerns every organ; otherwise only questions about these organs ask for it
    phase       pre or post: the part of the journey in which patients ask
    severity    low, medium or high: how much a disagreement tends to matter
    theme       what a disagreement is about, in a judge's words
    values      2 or 3 positions; for a value policy the words that replace {value}
    says        per value, the ways to state it
    guidance    the advice that every center shares, worded in several ways
    asks, hows  questions that turn on the value, and on the shared advice; {o} becomes "kidney " or nothing
    details     five facts; an answer gives two of them
    """

    id: str
    kind: str
    topics: tuple[str, ...]
    subtopics: tuple[str, ...]
    chapter: str
    section: str
    organs: tuple[str, ...]
    phase: str
    severity: str
    theme: str
    values: tuple[str, ...]
    says: tuple[tuple[str, ...], ...]
    guidance: tuple[str, ...]
    asks: tuple[str, ...]
    hows: tuple[str, ...]
    details: tuple[PolicyDetail, ...]

    def concerns(self, organ: str) -> bool:
        """Whether a question about `organ` (or `general`) may ask for this policy."""
        return not self.organs or organ in self.organs


@cache
def policies() -> tuple[Policy, ...]:
    """Every policy, in the order of the files' names and of the entries in a file."""
    chapters = [tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(HANDBOOK_DIR.glob("*.toml"))]
    return tuple(_policy(entry, chapter) for chapter in chapters for entry in chapter["policy"])


def _policy(entry: dict[str, Any], chapter: dict[str, Any]) -> Policy:
    return Policy(
        id=entry["id"],
        kind=entry.get("kind", "value"),
        topics=(chapter["topic"], *entry.get("also", ())),
        subtopics=tuple(entry["subtopics"]),
        chapter=chapter["chapter"],
        section=entry["section"],
        organs=tuple(entry.get("organs", ())),
        phase=entry.get("phase", "post"),
        severity=entry["severity"],
        theme=entry["theme"],
        values=tuple(entry["values"]),
        says=_says(entry),
        guidance=tuple(entry["guidance"]),
        asks=tuple(entry["asks"]),
        hows=tuple(entry["hows"]),
        details=tuple(PolicyDetail(*text.split(": ", 1)) for text in entry["details"]),
    )


def _says(entry: dict[str, Any]) -> tuple[tuple[str, ...], ...]:
    if entry.get("kind") == "stance":
        return tuple(tuple(ways) for ways in entry["says"])
    return tuple(tuple(way.format(value=value) for way in entry["says"]) for value in entry["values"])


# -- the questions that ask for them ------------------------------------------------------------------------------------

# A question that turns on the value a handbook states: when, how much, may I.
ASK = "ask"
# A question that turns on advice which all handbooks share.
HOW = "how"


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
    policy used least so far comes next, so all topics occur in a small release too.
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
        # The least used policy next, in this group and then in all, so a small release has every topic too.
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
    question, so no two questions of a group read the same.
    """
    ways = policy.asks if aspect == ASK else policy.hows
    # A second lap adds a patient's circumstances, or two questions of a group would read the same.
    lap, way = divmod(times, len(ways))
    text = ways[way].replace("{o}", "" if organ == GENERAL else f"{organ} ")
    if organ == GENERAL and lap == 0:
        return text
    situations = phrases()["situations"][organ][policy.phase]
    return f"{situations[(lap + way + len(policy.id)) % len(situations)]} {text}"


def subject(policy: Policy, aspect: str) -> str:
    """The subject of a question in a few words: the policy's theme where it turns on the value, else the subtopic."""
    return policy.theme if aspect == ASK else policy.subtopics[0]
