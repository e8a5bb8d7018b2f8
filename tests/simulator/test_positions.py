"""Positions by a model that reads perfectly, on the demo's world: the labels that follow are the true ones."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace

import pytest

from audit.pipeline.judging.corpus import AnswerToJudge, Corpus, QuestionToJudge
from audit.pipeline.judging.positions.task import MERGE, STATEMENTS, PositionsTask, load_positions_prompts
from audit.pipeline.judging.positions.verdicts import PositionVerdicts
from audit.pipeline.llm.calls import Call
from audit.pipeline.llm.tasks import ask_stages, no_replies
from audit.vocabulary import LABELS
from tests.pipeline.judging.corpora import Judge, Shelf, texts
from tests.simulator.answers import answer_text
from tests.simulator.config import paper_config
from tests.simulator.judge import simulate_labels
from tests.simulator.policies import ASK, policies
from tests.simulator.world import World, draw_world
from tests.simulator.worlds import config_of_size


@pytest.fixture(scope="module")
def world() -> World:
    """A small world in which handbooks also contradict each other on one question, which is rare."""
    drawn = draw_world(config_of_size(30, 16, 7))
    stance = next(number for number, policy in enumerate(policies()) if policy.kind == "stance")
    first, *others = drawn.questions
    value, row = drawn.value.copy(), drawn.row.copy()
    row[0], value[stance] = stance, [place % 2 for place in range(len(drawn.handbooks))]
    questions = (replace(first, policy=stance, aspect=ASK), *others)
    return replace(drawn, questions=questions, row=row, value=value)


def style(question: int, handbook: int) -> int:
    return 5 * question + 7 * handbook


def item(world: World, number: int) -> QuestionToJudge:
    answers = {
        book.id: AnswerToJudge(answer_text(world, number, place, style(number, place)), False)
        if world.present[number, place] else AnswerToJudge("NOT ADDRESSED", True, "prefix")
        for place, book in enumerate(world.handbooks)
    }  # fmt: skip
    ids = list(answers)
    pairs = tuple((ids[a], ids[b]) for a, b in zip(*(side.tolist() for side in world.pairs), strict=True))
    return QuestionToJudge({"question_id": f"q{number}", "question": world.questions[number].text}, answers, pairs)


class PerfectReader:
    """Lists the policy's sentences that an answer contains, and sorts statements by the policy and value that they name."""

    def __init__(self, world: World) -> None:
        self.world = world

    def __call__(self, call: Call) -> str:
        number = int(call.group.removeprefix("q"))
        return self.listed(number, texts(call)["answer"]) if call.purpose == STATEMENTS else self.sorted(number, texts(call))

    def listed(self, number: int, answer: str) -> str:
        asked = self.world.questions[number]
        policy = policies()[asked.policy]
        core = list(policy.says) if asked.aspect == ASK else [policy.guidance]
        known = [("advice", f"way {way}", says) for way, spelled in enumerate(core) for says in spelled]
        known += [(f"detail {place}", "given", detail.sentence) for place, detail in enumerate(policy.details)]
        found = {(aspect, what): words for aspect, what, words in known if words in answer}
        return json.dumps({"statements": [
            {"aspect": aspect, "quote": words, "statement": what, "value": None} for (aspect, what), words in found.items()
        ]})  # fmt: skip

    def sorted(self, number: int, shown: dict[str, str]) -> str:
        aspects: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        for line in shown["statements"].splitlines():
            place, _, rest = line.partition(". ")
            aspect, _, what = rest.partition(": ")
            aspects[aspect][what].append(int(place))
        contested = self.world.questions[number].contested
        return json.dumps({"aspects": [
            {
                "aspect": aspect, "significance": "medium",
                "positions": [
                    {"members": members, "stance": "other" if contested else "for" if what == "way 0" else "against"}
                    for what, members in ways.items()
                ],
            }
            for aspect, ways in aspects.items()
        ]})  # fmt: skip


def test_the_labels_of_a_perfect_reader_are_the_true_ones_with_a_call_an_answer_and_one_a_question(world):
    items = [item(world, number) for number in range(len(world.questions))]
    shelf = Shelf()
    task = PositionsTask(load_positions_prompts(), "reader", Corpus({"run_id": "demo"}, (), lambda: iter(items)))
    planned = {cost.stage: cost.calls for cost in task.costs(no_replies)}
    judge = Judge(shelf.put, PerfectReader(world))
    ask_stages(task, shelf.latest, judge)
    answers = int(world.present.sum())
    several = sum(int(row.sum()) > 1 for row in world.present)
    assert planned == {STATEMENTS: answers, MERGE: several}
    verdicts, truth = PositionVerdicts(task, shelf.latest), simulate_labels(world).truth
    wrong = [
        (one.question_id, pair["handbook_a"], pair["handbook_b"], pair["classification"], LABELS[code])
        for one, codes in zip(items, truth.tolist(), strict=True)
        for pair, code in zip(verdicts.pairs(one), codes, strict=True)
        if pair["classification"] != LABELS[code]
    ]
    assert wrong == []
    assert {LABELS[code] for code in set(truth.ravel().tolist())} == set(LABELS)
    assert (verdicts.invented, verdicts.unsorted) == (0, 0)


def test_at_the_papers_scale_it_is_a_fortieth_of_the_calls():
    # As tested above: one call a present answer, one a question with several; an absent answer needs none
    present = draw_world(paper_config(7)).present.sum(axis=1)
    pairwise = int((present * (present - 1) // 2).sum())
    assert pairwise == pytest.approx(1.2e6, rel=0.03)
    assert int(present.sum()) + int((present > 1).sum()) == pytest.approx(pairwise / 39, rel=0.03)
    # Had every handbook to be asked about every question, it would still be a tenth
    assert len(present) * (102 + 1) == pytest.approx(1.1e5, rel=0.05)
