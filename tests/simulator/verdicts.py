"""Output of the simulated judge: reasoning, divergence topic, significance and usage of every pair."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np

from audit.vocabulary import DISAGREEING, LABELS, SIGNIFICANCES, Label, Parse
from tests.simulator.judge import UNSCORED, Labels, Verdicts, simulate_checks
from tests.simulator.policies import ASK, DETAIL_SETS, Policy, phrases, policies, subject
from tests.simulator.topics import DivergenceTopics, divergence_topics
from tests.simulator.world import World

Record = dict[str, Any]

# (True label, verdict) of an error -> the kind of reasoning that leads to it; otherwise the verdict names the kind.
MISREAD = {
    (Label.DIVERGENT, Label.COMPLEMENTARY): "MILD",
    (Label.CONTRADICTORY, Label.COMPLEMENTARY): "MILD",
    (Label.COMPLEMENTARY, Label.DIVERGENT): "STRICT",
    (Label.COMPLEMENTARY, Label.CONSISTENT): "LENIENT",
    (Label.CONSISTENT, Label.COMPLEMENTARY): "FINE",
}

# Share of replies reported as JSON with faults that were repaired; our choice.
LENIENT = 0.045
# Share of complementary pairs to which the judge names a divergence topic all the same, as real judges do; our choice.
TOPIC_WITHOUT_DISAGREEMENT = 0.02
# Severity of a policy -> where, on [0, 1], medium and high significance begin.
SEVERITY_STEPS = {"low": (0.62, 0.94), "medium": (0.22, 0.82), "high": (0.06, 0.40)}


def comparisons(world: World, labels: Labels) -> Iterator[Record]:
    """One record per question, in release order: question_id, handbooks, pairs; see `audit.release.write`."""
    ids = [book.id for book in world.handbooks]
    checks = simulate_checks(world, labels)
    topics = divergence_topics(world, labels) if world.config.matters else None
    # Four of five pairs are absent: one record for all questions, replaced where the judge was asked.
    prescreened = [prescreened_record(ids[a], ids[b]) for a, b in zip(*(side.tolist() for side in world.pairs), strict=True)]
    for number, question in enumerate(world.questions):
        pairs = list(prescreened)
        for pair, record in _judged(world, labels, number, ids, checks, topics):
            pairs[pair] = record
        yield {"question_id": question.id, "handbooks": ids, "pairs": pairs}


def prescreened_record(a: str, b: str) -> Record:
    """A pair that the judge was not asked about, because one of its answers is absent."""
    return _record(a, b, Label.ABSENT.value)


def _record(a: str, b: str, label: str | None) -> Record:
    return {
        "handbook_a": a, "handbook_b": b, "classification": label, "reasoning": None, "divergence_topic": None,
        "clinical_significance": None, "judge_metadata": None,
    }  # fmt: skip


def _judged(
    world: World,
    labels: Labels,
    number: int,
    ids: list[str],
    checks: Mapping[tuple[int, int], Verdicts],
    topics: DivergenceTopics | None,
) -> Iterator[tuple[int, Record]]:
    """Index among the question's pairs, and record, of each pair that the judge was asked about."""
    asked = np.flatnonzero(~labels.prescreened[number])
    # A stream per question: its texts do not depend on the number of pairs of the questions before it.
    chance = np.random.default_rng([world.config.seed, 3, number]).random((len(asked), 3)).tolist()
    verdicts, truths = labels.judge[number, asked].tolist(), labels.truth[number, asked].tolist()
    first, second = (side[asked].tolist() for side in world.pairs)
    page = _JudgedQuestion(world, number)
    for pair, a, b, true, verdict, draw in zip(asked.tolist(), first, second, truths, verdicts, chance, strict=True):
        record = _record(ids[a], ids[b], None if verdict == UNSCORED else LABELS[verdict].value)
        record["reasoning"] = page.unreadable(draw[0]) if verdict == UNSCORED else page.reasoning(a, b, true, verdict, draw[0])
        if verdict >= Label.DIVERGENT.code:
            record["divergence_topic"] = topics.of_pair[number, pair] if topics else page.divergence_topic(a, b, draw[1])
            record["clinical_significance"] = page.significance(verdict, draw[2])
        elif verdict == Label.COMPLEMENTARY.code and draw[2] < TOPIC_WITHOUT_DISAGREEMENT:
            record["divergence_topic"] = topics.in_general(world, number) if topics else page.divergence_topic(a, b, draw[1])
        record["judge_metadata"] = _usage(record["reasoning"], draw)
        if world.config.parse_status:
            record["judge_metadata"] |= _parse_status(record, draw)
        if (number, pair) in checks:
            record["checks"] = [page.check(kind, label, draw[2]) for kind, label in checks[number, pair].items()]
        yield pair, record


def _usage(reasoning: str | None, draw: list[float]) -> Record:
    output = 24 + len(reasoning or "") // 4
    return {
        "input_tokens": 640 + int(220 * draw[1]),
        "output_tokens": output,
        "latency_s": round(0.35 + output * (0.008 + 0.006 * draw[2]), 2),
    }


def _parse_status(record: Record, draw: list[float]) -> Record:
    """The reported parse status of the reply; an unscored pair also has a reason."""
    if record["classification"] is None:
        return {"parse": Parse.NONE, "unscored_reason": "cut" if record["reasoning"] else "empty"}
    return {"parse": Parse.LENIENT if draw[1] < LENIENT else Parse.STRICT}


class _JudgedQuestion:
    """One question as the judge sees it: the position of every handbook, in words."""

    def __init__(self, world: World, number: int) -> None:
        question, row = world.questions[number], world.row[number]
        self.policy = policies()[question.policy]
        self.subject = subject(self.policy, question.aspect)
        self.held = [position_words(self.policy, question.aspect, value) for value in world.value[row].tolist()]
        self.details = world.details[row].tolist()
        self.centers = [book.center_name for book in world.handbooks]
        self.programs = [f"{book.center_name} ({book.organ}, {book.phase})" for book in world.handbooks]

    def reasoning(self, a: int, b: int, true: int, verdict: int, draw: float) -> str:
        """The reasoning for a verdict: it names both sources, their positions and their details."""
        # Two handbooks of one center are told apart by organ and phase.
        names = self.centers if self.centers[a] != self.centers[b] else self.programs
        own, other = tags_apart(self.policy, self.details[a], self.details[b])
        ways = _ways(true, verdict)
        return ways[int(draw * len(ways))].format(
            a=names[a], b=names[b], x=self.held[a], y=self.held[b], p=own, q=other, theme=self.subject
        )

    def unreadable(self, draw: float) -> str | None:
        """The judge's reply where no verdict could be parsed: nothing, or a truncated text."""
        texts: list[str | None] = [None, *phrases()["reasoning"]["unreadable"]]
        return texts[int(draw * len(texts))]

    def divergence_topic(self, a: int, b: int, draw: float) -> str:
        """The topic of a disagreement, in one of several wordings."""
        theme, x, y = self.subject, self.held[a], self.held[b]
        # Several wordings, because themes must be found although no judge words a topic twice alike.
        ways = [theme, f"different advice on {theme}", f"{theme} ({self.policy.section.lower()})"]
        if x != y and self.policy.kind == "value":
            ways += [f"{theme}: {x} or {y}", f"{theme}, {x} against {y}"]
        return ways[int(draw * len(ways))]

    def check(self, kind: str, label: Label | None, draw: float) -> Record:
        """The record of one further verdict."""
        significance = self.significance(label.code, draw) if label in DISAGREEING else None
        return {"kind": kind, "number": 1, "classification": label, "clinical_significance": significance}

    def significance(self, verdict: int, draw: float) -> str:
        """Low, medium or high, after the severity of the policy; opposite advice counts as one step worse."""
        step = sum(draw >= edge for edge in SEVERITY_STEPS[self.policy.severity])
        step += LABELS[verdict] is Label.CONTRADICTORY
        return SIGNIFICANCES[min(step, 2)].value


@cache
def _ways(true: int, verdict: int) -> list[str]:
    kind = MISREAD.get((LABELS[true], LABELS[verdict]), LABELS[verdict].value)
    return list(phrases()["reasoning"][kind])


def position_words(policy: Policy, aspect: str, value: int) -> str:
    """A handbook's position on a question, in a few words; the same for all handbooks unless the question turns on a value."""
    return policy.values[value] if aspect == ASK else f"general advice on {subject(policy, aspect)}"


@cache
def tags_apart(policy: Policy, a: int, b: int) -> tuple[str, str]:
    """The topics of two sets of details, without those they share (all topics where the sets are equal)."""
    own, other = set(DETAIL_SETS[a]), set(DETAIL_SETS[b])
    both = own & other if own != other else set()
    return tuple(" and ".join(policy.details[i].tag for i in sorted(side - both)) for side in (own, other))  # type: ignore[return-value]
