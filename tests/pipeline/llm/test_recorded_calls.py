"""Every task asks the calls that it asked when its journals were written: plan, keys, costs and records as recorded then.

A journal is resumed only by the same plan, and a reply in it is found only by the same key. `recorded_calls.json` was
written by the code that still had a class of its own for each task. Where a prompt or a schema is meant to change, journals
of the old one cannot be resumed: say so in the CHANGELOG, and record again by running this file as a module.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from audit.pipeline.answers.evidence import GroundedQuestion, NumberedPassage
from audit.pipeline.generation.model_generator import answer_task, load_answer_prompt, model_answers
from audit.pipeline.generation.several_sources_model import sourced_task
from audit.pipeline.generation.system_answers import (
    AnsweringSystem,
    SystemPassage,
    SystemQuestion,
    SystemSummary,
    system_answers,
    system_task,
)
from audit.pipeline.judging.corpus import with_centers
from audit.pipeline.judging.criteria.task import WORDS as CRITERIA_WORDS
from audit.pipeline.judging.criteria.task import (
    AnswerToScore,
    criteria_records,
    criteria_task,
    load_criteria_prompt,
)
from audit.pipeline.judging.evidence.task import WORDS as EVIDENCE_WORDS
from audit.pipeline.judging.evidence.task import (
    AnswerWithEvidence,
    CitedStatement,
    evidence_task,
    evidence_values,
    load_evidence_prompts,
)
from audit.pipeline.judging.parse import load_prompts
from audit.pipeline.judging.positions.task import PositionsTask, load_positions_prompts
from audit.pipeline.judging.positions.verdicts import PositionVerdicts
from audit.pipeline.judging.protocols import CHECK
from audit.pipeline.judging.verdict_sources import ModelVerdicts
from audit.pipeline.judging.within.model import within_task, within_verdicts
from audit.pipeline.llm.calls import ANSWERED, Call
from audit.pipeline.llm.summary import Summary
from audit.pipeline.llm.tasks import Replies, StageCost, no_replies
from audit.pipeline.retrieval.model import Query
from audit.pipeline.stress.building.model_facts import COUNTERFACTUAL, SUB_QUESTION, FactTask, load_fact_prompts, model_facts
from audit.pipeline.stress.building.questions import BuildReport
from audit.pipeline.stress.planted.judging import model_records as planted_records
from audit.pipeline.stress.planted.judging import planted_task
from audit.pipeline.stress.planted.planting import plant
from audit.pipeline.stress.running.grading import SubAnswer, grade_task, grades_of, load_grade_prompt
from audit.pipeline.stress.running.prompts import load_stress_prompts
from audit.pipeline.stress.running.run_stress import read_instances
from audit.pipeline.stress.running.task import WORDS as STRESS_WORDS
from audit.pipeline.stress.running.task import model_records as stress_records
from audit.pipeline.stress.running.task import stress_task
from audit.release.journal_files import Reply
from audit.vocabulary import SystemMode
from tests.pipeline.generation.leaflets import BIRCH, QUESTIONS, asked, found
from tests.pipeline.judging.corpora import Shelf, corpus, protocol, texts
from tests.pipeline.judging.test_positions import DRIVING
from tests.pipeline.judging.test_within_handbook import DIET, FEVER, QUESTION, candidates, handbook
from tests.pipeline.stress.planted.pairs import start_pairs
from tests.pipeline.stress.test_building import question
from tests.support.llm.fitting import answer
from tests.support.stress import built_release

RECORDED = Path(__file__).with_name("recorded_calls.json")
MODEL = "judge-1"
Say = Callable[[Call], str]


class Case(NamedTuple):
    """A task; its result, given the replies; and what the model says."""

    task: Any
    result: Callable[[Replies], Any]
    say: Say = lambda call: answer(dict(call.body))


def criteria(_: Path) -> Case:
    answers = [
        AnswerToScore(f"q{n}", f"May I travel after {n} weeks?", system, f"Yes, after {n}.", "Wait." if n % 2 else None)
        for n in range(20) for system in ("alone", "with")
    ]  # fmt: skip
    task, summary = criteria_task(load_criteria_prompt(), MODEL, answers), Summary(CRITERIA_WORDS)
    return Case(task, lambda replies: [list(criteria_records(task, replies, summary)), summary.sentence])


def evidence(_: Path) -> Case:
    cited = (CitedStatement("Rest.", "Rest well. 2. Swim."), CitedStatement("Wait.", "Wait."))
    answers = [
        AnswerWithEvidence(f"q{n}", "When?", "s", f"After {n}.", ("One. 3. Two.", "Three.")[: n % 3], "Soon." if n % 2 else None,
                           cited[: n % 3])
        for n in range(12)
    ]  # fmt: skip
    measures = ("faithfulness", "context_precision", "answer_relevance", "citation_correctness")
    task = evidence_task(load_evidence_prompts(), MODEL, answers, measures)
    summaries = {measure: Summary(EVIDENCE_WORDS) for measure in measures}

    def result(replies: Replies) -> Any:
        values = evidence_values(task, replies, summaries)
        return [sorted(map(str, values.items())), [f"{measure}: {one.sentence}" for measure, one in summaries.items()]]

    return Case(task, result)


def grades(_: Path) -> Case:
    answers = [SubAnswer(f"q{n}", "How long?", "3 days", "The 3 days." if n % 4 == 0 else f"{n} days") for n in range(20)]
    task, counts = grade_task(load_grade_prompt(), MODEL, answers), Summary()
    return Case(
        task,
        lambda replies: [
            sorted(map(str, grades_of(task, answers, replies, counts).items())),
            {name.replace("_", " "): number for name, number in counts.counts.items()},
        ],
    )


def stress(folder: Path) -> Case:
    instances = read_instances(built_release(folder / "release", 4), 1_000_000).instances
    task, summary = stress_task(load_stress_prompts(), MODEL, instances), Summary(STRESS_WORDS)
    return Case(task, lambda replies: [list(stress_records(task, "s", replies, summary)), summary.sentence])


def planted(_: Path) -> Case:
    task = planted_task(load_prompts()["structured"], MODEL, changes := plant(start_pairs(), 4).items)
    summary = Summary()
    return Case(
        task,
        lambda replies: [
            list(planted_records(task, changes, replies, summary)),
            {"judged": summary.counts["judged"], "not_asked": summary.not_asked, "unscored": summary.reasons},
        ],
    )


def planted_labels(_: Path) -> Case:
    task = planted_task(load_prompts()["label_only"], MODEL, changes := plant(start_pairs(), 2).items)
    return Case(task, lambda replies: list(planted_records(task, changes, replies, Summary())))


def facts(_: Path) -> Case:
    def say(call: Call) -> str:
        document = texts(call)["document"]
        weeks = document.split()[-2]
        first = {"reasoning": "r", "sub_question": "How long?", "answer": f"{weeks} weeks"}
        second = {"reasoning": "r", "false_answer": "2 years", "before": f"{weeks} weeks", "after": "2 years"}
        return json.dumps({SUB_QUESTION: first, COUNTERFACTUAL: second}[call.purpose])

    task, report = FactTask(load_fact_prompts(), MODEL, [question(n, 5) for n in range(5)]), BuildReport()
    return Case(task, lambda replies: [str(model_facts(task, replies, report)), report.record()], say)


def within(_: Path) -> Case:
    handbooks = [(f"heart_{n}", candidates(handbook(*FEVER, *DIET), QUESTION)) for n in range(2)]
    other = handbook((1, "Fever", "Call at 39 °C of fever."), (9, "When to call", "Call if the fever is 38.2 °C."), *DIET)
    handbooks.append(("heart_other", candidates(other)))
    task = within_task(load_prompts()["within"], MODEL, handbooks, 2)
    return Case(task, lambda replies: list(map(str, within_verdicts(task, handbooks, replies))))


def answers(_: Path) -> Case:
    questions = [asked(one.text, "s1", "s3") for one in QUESTIONS]
    questions += [GroundedQuestion(one, BIRCH, found(BIRCH, "s2", "s4")) for one in QUESTIONS]
    questions += [asked("Whole?", "s1", mode="full_document"), *(asked(f"And {n}?", "s2") for n in range(9))]
    task = answer_task(load_answer_prompt(), MODEL, lambda: questions, 8_000)
    return Case(task, lambda replies: list(model_answers(task, replies)))


def system_questions() -> list[SystemQuestion]:
    words = {n: f"Lift nothing for {n} weeks. " * 200 for n in range(1, 9)}
    passages = [SystemPassage("alder", NumberedPassage(n, f"s{n}", "Lifting", text), 0.5) for n, text in words.items()]
    return [SystemQuestion(Query(f"q{n}", f"When may I lift {n} kg [1]?"), tuple(passages[: n % 9])) for n in range(14)]


def system(mode: SystemMode, make: Callable[..., Any]) -> Callable[[Path], Case]:
    def case(_: Path) -> Case:
        asks = AnsweringSystem(MODEL, mode, max_tokens=700)
        task, summary = make(asks, asks.prompt(), system_questions, 4_000), SystemSummary()

        def result(replies: Replies) -> Any:
            return [list(system_answers(task, replies, summary)), summary.text] if make is system_task else []

        return Case(task, result)

    return case


def judging(name: str, *, centers: bool = False, **options: Any) -> Callable[[Path], Case]:
    def case(_: Path) -> Case:
        weeks = {letter: f"{letter} waits {number} weeks, asks Birch Clinic." for number, letter in enumerate("abcd")}
        several = {f"q{n}": {letter: f"{text} So {n}." for letter, text in weeks.items()} for n in range(4)}
        several["q4"] = {"a": "NOT ADDRESSED", "b": "Yes.", "c": "Yes.", "d": ""}
        chosen, of = protocol(name, **options), with_centers(corpus(several)) if centers else corpus(several)

        def result(replies: Replies) -> Any:
            source = ModelVerdicts(chosen, of, replies)
            return [[pair for item in of.items() for pair in source.pairs(item)], source.summary.sentence]

        return Case(chosen.task(of), result)

    return case


def positions(_: Path) -> Case:
    of = corpus({f"q{n}": {letter: f"{text} {n}." for letter, text in DRIVING["q1"].items()} for n in range(5)})
    task = PositionsTask(load_positions_prompts(), MODEL, of)

    def result(replies: Replies) -> Any:
        source = PositionVerdicts(task, replies)
        return [[record for item in of.items() for record in (*source.pairs(item), *source.positions(item))], source.invented]

    return Case(task, result)


CASES: dict[str, Callable[[Path], Case]] = {
    "criteria": criteria, "evidence": evidence, "grades": grades, "stress": stress, "planted": planted,
    "planted labels": planted_labels, "facts": facts, "within": within, "answers": answers,
    "closed book": system(SystemMode.CLOSED_BOOK, system_task), "with evidence": system(SystemMode.RETRIEVAL, system_task),
    "several sources": system(SystemMode.MULTI_SOURCE, sourced_task), "structured": judging("structured"),
    "structured, every check": judging("structured", centers=True, absence=CHECK, swap=True, blind=True, repeats=1),
    "label only": judging("label_only", absence=CHECK), "positions": positions,
}  # fmt: skip


def reply_of(call: Call, say: Say) -> Reply | None:
    """Of a dozen calls one has no reply, and one a reply that cannot be read."""
    chance = int(call.key[:4], 16) % 12
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    text = "I would rather not say." if chance == 1 else say(call)
    return Reply(call.key, ANSWERED, text=text, usage=usage, latency_s=0.5) if chance else None


def digest(values: Iterable[Any]) -> str:
    lines = "\n".join(json.dumps(value, sort_keys=True, default=str) for value in values)
    return hashlib.sha256(lines.encode()).hexdigest()[:16]


def numbers(costs: Iterable[StageCost]) -> list[list[Any]]:
    return [[cost.stage, cost.calls, cost.done, cost.characters, cost.written, len(cost.sample)] for cost in costs]


def recorded(case: Case) -> dict[str, Any]:
    """Everything of a task that a journal or a result depends on, asked stage by stage."""
    task, shelf, stages = case.task, Shelf(), {}
    before = numbers(task.costs(no_replies))
    for stage in task.stages:
        calls = list(task.open_calls(stage, shelf.latest))
        for reply in filter(None, (reply_of(call, case.say) for call in calls)):
            shelf.put(reply)
        readable = sum(task.readable(call, shelf[call.key]) for call in calls if call.key in shelf)
        keys = digest((call.key, call.group, call.purpose, call.repeat) for call in calls)
        stages[stage] = {"calls": len(calls), "readable": readable, "keys": keys}
    left = {stage: len(list(task.open_calls(stage, shelf.latest))) for stage in task.stages}
    return {
        "plan": task.plan(), "unit": task.unit, "model": task.model, "stages": stages, "left": left,
        "costs": before, "costs_after": numbers(task.costs(shelf.latest)), "result": digest([case.result(shelf.latest)]),
    }  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_journal_written_before_is_resumed(name: str, tmp_path: Path) -> None:
    known = json.loads(RECORDED.read_text(encoding="utf-8"))[name]
    now = json.loads(json.dumps(recorded(CASES[name](tmp_path))))
    assert now == known
    # Releases have the plan in their manifest, in this order
    assert list(now["plan"]) == list(known["plan"])


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as scratch:
        everything = {name: recorded(case(Path(scratch))) for name, case in CASES.items()}
    RECORDED.write_text(json.dumps(everything, indent=1) + "\n", encoding="utf-8")
