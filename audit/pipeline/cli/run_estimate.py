"""Estimated model costs of an `audit run`: exact once the texts exist, from usual lengths before that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from audit.errors import AuditError
from audit.pipeline.answers.evidence import meets
from audit.pipeline.cli.estimates import CostEstimate, estimate, handbooks_text
from audit.pipeline.cli.run_models import (
    GENERATE,
    JUDGE,
    SYSTEMS,
    WITHIN,
    EndpointCheck,
    Options,
    answer_prompt,
    generator_name,
    settings_for,
    system_task,
    within_task,
)
from audit.pipeline.generation.costs import REPLY_TOKENS as ANSWER_TOKENS
from audit.pipeline.generation.costs import FullDocumentCost, answer_cost, full_document_cost, hybrid_passages, typical_passages
from audit.pipeline.generation.model_generator import AnswerTask, model_answers
from audit.pipeline.generation.system_answers import REPLY_TOKENS as SYSTEM_TOKENS
from audit.pipeline.generation.system_answers import SystemTask
from audit.pipeline.judging.costs import REPLY_TOKENS as VERDICT_TOKENS
from audit.pipeline.judging.costs import cost_notes, share_left
from audit.pipeline.judging.positions.task import NAME as POSITIONS
from audit.pipeline.judging.positions.task import costs_before_answers
from audit.pipeline.judging.protocols import ABSENCE, EXTRACT
from audit.pipeline.judging.within.model import WithinTask
from audit.pipeline.llm.journal import stored_replies
from audit.pipeline.llm.tasks import Replies, StageCost
from audit.pipeline.retrieval.model import Query
from audit.pipeline.retrieval.passages import fits_full_document
from audit.pipeline.retrieval.strategies import HERO, HYBRID
from audit.pipeline.stages.build_cache import digest_of
from audit.pipeline.stages.config import EXTRACTIVE, MODEL
from audit.pipeline.stages.context import RunContext, SourceDocument
from audit.pipeline.stages.generate import grounded_questions
from audit.pipeline.stages.judging_input import judging_input
from audit.pipeline.stages.judging_runs import protocol_of
from audit.pipeline.stages.judging_tasks import AnyJudgingTask, judging_task, task_costs
from audit.pipeline.stages.plan import RunPlan
from audit.pipeline.stages.system_options import SystemOptions
from audit.pipeline.stages.systems import system_questions
from audit.pipeline.stages.within import candidates_of
from audit.release.journal_files import journal_plan
from audit.text.documents import read_document

# Rough length of a handbook's evidence and of an answer in characters, for an estimate before there are any.
EVIDENCE_CHARACTERS, ANSWER_CHARACTERS, PASSAGE_CHARACTERS = 12_000, 400, 1_500
NO_MODEL = "unknown"

Task = TypeVar("Task", AnswerTask, AnyJudgingTask, WithinTask, SystemTask)


@dataclass(frozen=True)
class RunEstimate:
    """The estimates of the stages that call a model."""

    stages: dict[str, CostEstimate]

    @property
    def text(self) -> str:
        """All of them, one after the other."""
        return "\n".join(cost.text for cost in self.stages.values())

    @property
    def record(self) -> dict[str, Any]:
        """Their figures by stage."""
        return {stage: cost.record for stage, cost in self.stages.items()}


def estimate_run(context: RunContext, plan: RunPlan, checks: Sequence[EndpointCheck], *, probe: bool) -> RunEstimate:
    """Calls, tokens and time that the models of the config would take; empty where none of them has anything to do.

    probe  send a few of the prompts to those endpoints that answered the check
    """
    config, stages = context.config, dict[str, CostEstimate]()
    answered = {check.stage: check for check in checks if not check.fault}
    if config.generate.generator != EXTRACTIVE and plan.to_do(GENERATE):
        stages[GENERATE] = _generate_estimate(context, plan, answered.get(GENERATE), probe=probe)
    if config.judge.judge == MODEL and plan.to_do(JUDGE):
        stages[JUDGE] = _judge_estimate(context, plan, answered.get(JUDGE), probe=probe)
    if config.judge.judge == MODEL and plan.to_do(WITHIN):
        stages[WITHIN] = _within_estimate(context, answered.get(JUDGE), probe=probe)
    of_systems = {check.system: check for check in checks if not check.fault}
    for options in config.systems if plan.to_do(SYSTEMS) else ():
        if options.calls_model and options.id in plan.to_do(SYSTEMS):
            stages[f"{SYSTEMS}, {options.id}"] = _system_estimate(context, plan, options, of_systems.get(options.id), probe=probe)
    return RunEstimate(stages)


def _generate_estimate(context: RunContext, plan: RunPlan, check: EndpointCheck | None, *, probe: bool) -> CostEstimate:
    to_do = set(plan.to_do(GENERATE))
    sources = [source for source in context.present if source.handbook_id in to_do]
    if plan.to_do("retrieve"):
        costs, in_full = _costs_before_retrieval(context, sources)
    else:
        with _answering(context, sources, check) as (task, replies):
            costs = answer_cost(task, replies)
            evidence = ((question, evidence) for question, evidence, _ in task.calls())
            in_full = full_document_cost(evidence, context.config.retrieval.options)
    sends = f"questions and passages of {handbooks_text([source.handbook_id for source in sources])}"
    cost = _estimate(context, GENERATE, [costs], sends, check, probe=probe)
    remarks = [_context_remark(context, check), in_full.text(cost.record["characters_per_token"])]
    return CostEstimate("\n".join(filter(None, [cost.text, *remarks])), cost.record)


def _judge_estimate(context: RunContext, plan: RunPlan, check: EndpointCheck | None, *, probe: bool) -> CostEstimate:
    sends = f"questions and answers of {handbooks_text([source.handbook_id for source in context.present])}"
    if plan.pairs.exact:
        with _judging(context, check) as (task, replies):
            costs = task_costs(task, replies)
    else:
        costs = _costs_before_answers(context, plan)
    return _estimate(context, JUDGE, costs, sends, check, probe=probe)


def _within_estimate(context: RunContext, check: EndpointCheck | None, *, probe: bool) -> CostEstimate:
    sends = f"pairs of statements of {handbooks_text([source.handbook_id for source in context.present])}"
    handbooks = candidates_of(context)
    task, journal = _with_journal(context, WITHIN, lambda model: within_task(context, model, handbooks), check)
    with stored_replies(journal) as replies:
        costs = task.costs(replies)
    cost = _estimate(context, WITHIN, costs, sends, check, probe=probe)
    missing = len(context.present) - len(handbooks)
    remark = f"Not counted: {missing:,} handbooks that are not extracted yet." if missing else ""
    return CostEstimate("\n".join(filter(None, [cost.text, remark])), cost.record)


def _system_estimate(
    context: RunContext, plan: RunPlan, options: SystemOptions, check: EndpointCheck | None, *, probe: bool
) -> CostEstimate:
    with_passages = options.retrieves or options.asks_sources
    sends = "questions and passages of the handbooks" if with_passages else "questions without any handbook"
    if with_passages and plan.to_do("route" if options.asks_sources else "retrieve"):
        # Its passages are not known yet: about as long as their chunks
        count = options.across.packing.passages or options.passages if options.asks_sources else options.passages
        length = len(system_task(context, options, NO_MODEL, lambda: ()).prompt.system) + count * PASSAGE_CHARACTERS
        costs = StageCost(
            SYSTEMS, plan.questions, round(plan.questions * (length + _mean_question(context))), written=SYSTEM_TOKENS
        )
    else:
        questions = system_questions(context, options)
        task, journal = _with_journal(
            context, SYSTEMS, lambda model: system_task(context, options, model, lambda: questions), check, options
        )
        with stored_replies(journal) as replies:
            costs = task.cost(replies)
    return _estimate(context, SYSTEMS, [costs], f"{sends}, for {options.id}", check, probe=probe, options=options)


def _estimate(
    context: RunContext, stage: str, costs: Sequence[StageCost], sends: str, check: EndpointCheck | None, *, probe: bool,
    options: Options | None = None,
) -> CostEstimate:  # fmt: skip
    settings = settings_for(context, options or (context.config.generate if stage == GENERATE else context.config.judge))
    left = {"share_left": share_left} if stage == JUDGE else {}
    shared: dict[str, Any] = {"sends": sends, "remarks": cost_notes(costs), "context": check and check.context, **left}
    if not (probe and check and any(cost.sample for cost in costs)):
        return estimate(settings, NO_MODEL, costs, probe=False, **shared)
    try:
        return estimate(settings, check.models[0], costs, probe=True, **shared)
    except AuditError as error:
        # The plan of the other stages is still useful
        cost = estimate(settings, NO_MODEL, costs, probe=False, **shared)
        return CostEstimate(f"{cost.text}\n{stage} would stop: {error}", cost.record)


# -- once the texts exist: the calls themselves, without those that a journal has ----------------------------------------


@contextmanager
def _answering(
    context: RunContext, sources: Sequence[SourceDocument], check: EndpointCheck | None
) -> Iterator[tuple[AnswerTask, Replies]]:
    """The calls of the generator to all that is asked of some handbooks, and the replies that are stored."""
    options = context.config.generate
    asked = [question for source in sources for question in grounded_questions(context, source)]

    def task(model: str) -> AnswerTask:
        return AnswerTask(answer_prompt(options), model, lambda: asked, options.context)

    writing, journal = _with_journal(context, GENERATE, task, check)
    with stored_replies(journal) as replies:
        yield writing, replies


@contextmanager
def _judging(context: RunContext, check: EndpointCheck | None) -> Iterator[tuple[AnyJudgingTask, Replies]]:
    """The calls of the judge to all answers, and the replies that are stored."""
    corpus = judging_input(context, generator_name(context))

    def task(model: str) -> AnyJudgingTask:
        return judging_task(context.config.judge, model, corpus)

    judging, journal = _with_journal(context, JUDGE, task, check)
    with stored_replies(journal) as replies:
        yield judging, replies


def _with_journal(
    context: RunContext, stage: str, task: Callable[[str], Task], check: EndpointCheck | None, options: Options | None = None
) -> tuple[Task, Path]:
    """The task for the model that the run would call, and where its journal is or would be.

    The model's name is the config's or the endpoint's; where neither is known, that of the newest journal.
    """
    options = options or (context.config.generate if stage == GENERATE else context.config.judge)
    journals = sorted((context.workspace.root / "journals").glob(f"{stage}-*.journal"), key=lambda path: path.stat().st_mtime)
    recorded = [str((journal_plan(path) or {}).get("model") or "") for path in reversed(journals)]
    known = settings_for(context, options).judge_model or (check.models[0] if check else "")
    chosen = task(known or next(filter(None, recorded), NO_MODEL))
    return chosen, context.workspace.journal(stage, digest_of(chosen.plan()))


def journaled_answers(context: RunContext, sources: Sequence[SourceDocument]) -> Iterator[dict[str, Any]]:
    """The answers of some handbooks that a stopped run has in its journal already."""
    if context.config.generate.generator == EXTRACTIVE or not sources:
        return
    with _answering(context, sources, None) as (task, replies):
        yield from model_answers(task, replies)


# -- before that: by the usual lengths -----------------------------------------------------------------------------------


def _costs_before_retrieval(context: RunContext, sources: Sequence[SourceDocument]) -> tuple[StageCost, FullDocumentCost]:
    """The calls to handbooks that are not searched yet, by the lengths of their texts where these are extracted."""
    task = AnswerTask(answer_prompt(context.config.generate), NO_MODEL, lambda: (), context.config.generate.context)
    instructions = len(task.prompt.system) + len(task.prompt.user)
    queries = [Query.of(question) for question in context.questions()]
    calls, characters, total = 0, 0.0, FullDocumentCost()
    for source in sources:
        asked = [query for query in queries if meets(query, source)]
        evidence = _expected_evidence(context, source, task.max_evidence_characters)
        calls += len(asked)
        characters += len(asked) * (instructions + evidence.characters) + sum(len(query.text) for query in asked)
        total += FullDocumentCost(
            len(asked), len(asked) * evidence.full, len(asked) * evidence.characters, len(asked) * evidence.alone
        )
    return StageCost("answer", calls, round(characters), written=ANSWER_TOKENS), total


def _expected_evidence(context: RunContext, source: SourceDocument, most: int) -> FullDocumentCost:
    """The evidence for one question from a handbook, at most so many characters."""
    options, strategy = context.config.retrieval.options, context.config.retrieval.strategy
    if not source.document.is_file():
        return FullDocumentCost(1, 0, EVIDENCE_CHARACTERS, EVIDENCE_CHARACTERS)
    document = read_document(source.document)
    length, typical = len(document.full_text), hybrid_passages if strategy == HYBRID else typical_passages
    passages = min(most, typical(document, options))
    if strategy == HERO and fits_full_document(document, options):
        return FullDocumentCost(1, int(length <= most), min(most, length), passages)
    return FullDocumentCost(1, 0, passages, passages)


def _costs_before_answers(context: RunContext, plan: RunPlan) -> list[StageCost]:
    """The judge's calls, by the share and the lengths of the answers so far."""
    options, so_far = context.config.judge, plan.pairs.so_far
    answer = so_far.characters / so_far.present if so_far.present else ANSWER_CHARACTERS
    if options.protocol == POSITIONS:
        present = round(plan.answers * so_far.present_share)
        return costs_before_answers(plan.questions, present, _mean_question(context), answer)
    protocol = protocol_of(options, NO_MODEL)
    per_pair = 1 + options.swap + options.blind_centers + options.repeat
    expected = dict.fromkeys(protocol.stages, plan.pairs.to_judge * per_pair)
    expected |= {ABSENCE: round(plan.answers * so_far.present_share), EXTRACT: 0}
    costs = []
    for stage, prompt in protocol.stage_prompts.items():
        texts = len(prompt.system) + len(prompt.user) + _mean_question(context) + answer * (1 if stage == ABSENCE else 2)
        costs.append(StageCost(stage, expected[stage], round(expected[stage] * texts), written=VERDICT_TOKENS[stage]))
    return costs


def _mean_question(context: RunContext) -> float:
    questions = context.questions()
    return sum(len(str(question["question"])) for question in questions) / max(1, len(questions))


def _context_remark(context: RunContext, check: EndpointCheck | None) -> str:
    """A sentence where the config gives prompts more room than the endpoint has."""
    wanted, room = context.config.generate.context, check.context if check else None
    if room is None or wanted <= room:
        return ""
    return (
        f"[generate] allows prompts of {wanted:,} tokens, and the endpoint has room for {room:,}: write context = {room} there. "
        "Longer evidence is then cut, and the answer says so."
    )
