"""Estimated model costs of an `audit run`: exact once the texts exist, from usual lengths before that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
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
    run_system_task,
    run_within_task,
    settings_for,
)
from audit.pipeline.generation.costs import FullDocumentCost, full_document_cost, hybrid_passages, typical_passages
from audit.pipeline.generation.model_generator import REPLY_TOKENS as ANSWER_TOKENS
from audit.pipeline.generation.model_generator import AnswerTask, answer_task, evidence_room, model_answers
from audit.pipeline.generation.system_answers import REPLY_TOKENS as SYSTEM_TOKENS
from audit.pipeline.judging.costs import cost_notes, share_left
from audit.pipeline.judging.positions.task import NAME as POSITIONS
from audit.pipeline.judging.positions.task import costs_before_answers
from audit.pipeline.judging.protocols import ABSENCE, EXTRACT
from audit.pipeline.judging.protocols import REPLY_TOKENS as VERDICT_TOKENS
from audit.pipeline.llm.journal import stored_replies
from audit.pipeline.llm.tasks import LlmTask, Replies, StageCost
from audit.pipeline.retrieval.model import Query
from audit.pipeline.retrieval.passages import fits_full_document
from audit.pipeline.retrieval.strategies import HERO, HYBRID
from audit.pipeline.stages.build_cache import digest_of
from audit.pipeline.stages.config import EXTRACTIVE, MODEL
from audit.pipeline.stages.context import RunContext, SourceDocument
from audit.pipeline.stages.generate import grounded_questions
from audit.pipeline.stages.judging_input import judging_input
from audit.pipeline.stages.judging_runs import protocol_of
from audit.pipeline.stages.judging_tasks import judging_task
from audit.pipeline.stages.plan import RunPlan
from audit.pipeline.stages.system_options import SystemOptions
from audit.pipeline.stages.systems import system_questions
from audit.pipeline.stages.within import candidates_of
from audit.release.journal_files import journal_plan
from audit.text.documents import read_document

# Rough length of a handbook's evidence and of an answer in characters, for an estimate before there are any.
EVIDENCE_CHARACTERS, ANSWER_CHARACTERS, PASSAGE_CHARACTERS = 12_000, 400, 1_500
NO_MODEL = "unknown"

Task = TypeVar("Task", bound=LlmTask)


def estimate_run(context: RunContext, plan: RunPlan, checks: Sequence[EndpointCheck], *, probe: bool) -> CostEstimate:
    """Calls, tokens and time that the models of the config would take, by stage; empty where none of them has anything to do.

    probe  send a few of the prompts to those endpoints that answered the check
    """
    config, stages = context.config, dict[str, CostEstimate]()
    answered = {(check.stage, check.system): check for check in checks if not check.fault}
    judge = answered.get((JUDGE, "")) if config.judge.judge == MODEL else None
    if config.generate.generator != EXTRACTIVE and plan.to_do(GENERATE):
        asking = _Asking(context, GENERATE, config.generate, answered.get((GENERATE, "")), probe)
        stages[GENERATE] = _generate_estimate(asking, plan)
    if config.judge.judge == MODEL and plan.to_do(JUDGE):
        stages[JUDGE] = _judge_estimate(_Asking(context, JUDGE, config.judge, judge, probe), plan)
    if config.judge.judge == MODEL and plan.to_do(WITHIN):
        stages[WITHIN] = _within_estimate(_Asking(context, WITHIN, config.judge, judge, probe))
    for options in config.systems if plan.to_do(SYSTEMS) else ():
        if options.calls_model and options.id in plan.to_do(SYSTEMS):
            asking = _Asking(context, SYSTEMS, options, answered.get((SYSTEMS, options.id)), probe)
            stages[f"{SYSTEMS}, {options.id}"] = _system_estimate(asking, options, plan)
    text = "\n".join(cost.text for cost in stages.values())
    return CostEstimate(text, {stage: cost.record for stage, cost in stages.items()})


@dataclass(frozen=True)
class _Asking:
    """A stage that calls a model, the options that name it, and the check of its endpoint if that answers."""

    context: RunContext
    stage: str
    options: Options
    check: EndpointCheck | None
    probe: bool = False

    @contextmanager
    def started(self, task: Callable[[str], Task]) -> Iterator[tuple[Task, Replies]]:
        """The task for the model that the run would call, and the replies that are stored.

        The model's name is the config's or the endpoint's; where neither is known, that of the newest journal.
        """
        workspace = self.context.workspace
        journals = sorted((workspace.root / "journals").glob(f"{self.stage}-*.journal"), key=lambda path: path.stat().st_mtime)
        recorded = [str((journal_plan(path) or {}).get("model") or "") for path in reversed(journals)]
        known = settings_for(self.context, self.options).judge_model or (self.check.models[0] if self.check else "")
        chosen = task(known or next(filter(None, recorded), NO_MODEL))
        with stored_replies(workspace.journal(self.stage, digest_of(chosen.plan()))) as replies:
            yield chosen, replies

    def open_costs(self, task: Callable[[str], LlmTask]) -> list[StageCost]:
        """The cost of the calls that a journal does not have."""
        with self.started(task) as (chosen, replies):
            return chosen.costs(replies)

    def estimate(self, costs: Sequence[StageCost], sends: str) -> CostEstimate:
        """What the open calls take. Where the endpoint cannot be used after all, the plan of the other stages is still useful."""
        settings = settings_for(self.context, self.options)
        shared: dict[str, Any] = {"sends": sends, "remarks": cost_notes(cost.stage for cost in costs)}
        shared |= {"context": self.check and self.check.context, **({"share_left": share_left} if self.stage == JUDGE else {})}
        fault = ""
        if self.probe and self.check and any(cost.sample for cost in costs):
            try:
                return estimate(settings, self.check.models[0], costs, probe=True, **shared)
            except AuditError as error:
                fault = f"{self.stage} would stop: {error}"
        return estimate(settings, NO_MODEL, costs, probe=False, **shared).remarked(fault)


def _generate_estimate(asking: _Asking, plan: RunPlan) -> CostEstimate:
    context, to_do = asking.context, set(plan.to_do(GENERATE))
    sources = [source for source in context.present if source.handbook_id in to_do]
    if plan.to_do("retrieve"):
        costs, in_full = _costs_before_retrieval(context, sources)
    else:
        with asking.started(_answering(context, sources)) as (task, replies):
            (costs,) = task.costs(replies)
            in_full = full_document_cost(task.items(), context.config.retrieval.options)
    cost = asking.estimate([costs], f"questions and passages of {_named(sources)}")
    return cost.remarked(_context_remark(context, asking.check), in_full.text(cost.record["characters_per_token"]))


def _judge_estimate(asking: _Asking, plan: RunPlan) -> CostEstimate:
    context = asking.context
    if plan.pairs.exact:
        corpus = judging_input(context, generator_name(context))
        costs = asking.open_costs(lambda model: judging_task(context.config.judge, model, corpus))
    else:
        costs = _costs_before_answers(context, plan)
    return asking.estimate(costs, f"questions and answers of {_named(context.present)}")


def _within_estimate(asking: _Asking) -> CostEstimate:
    context, handbooks = asking.context, candidates_of(asking.context)
    costs = asking.open_costs(lambda model: run_within_task(context, model, handbooks))
    missing = len(context.present) - len(handbooks)
    remark = f"Not counted: {missing:,} handbooks that are not extracted yet." if missing else ""
    return asking.estimate(costs, f"pairs of statements of {_named(context.present)}").remarked(remark)


def _system_estimate(asking: _Asking, options: SystemOptions, plan: RunPlan) -> CostEstimate:
    context, with_passages = asking.context, options.retrieves or options.asks_sources
    sends = "questions and passages of the handbooks" if with_passages else "questions without any handbook"
    if with_passages and plan.to_do("route" if options.asks_sources else "retrieve"):
        costs = [_cost_before_passages(context, options, plan)]
    else:
        questions = system_questions(context, options)
        costs = asking.open_costs(lambda model: run_system_task(context, options, model, lambda: questions))
    return asking.estimate(costs, f"{sends}, for {options.id}")


def _named(sources: Sequence[SourceDocument]) -> str:
    return handbooks_text([source.handbook_id for source in sources])


def _answering(context: RunContext, sources: Sequence[SourceDocument]) -> Callable[[str], AnswerTask]:
    """The calls of the generator to all that is asked of some handbooks, once its model is known."""
    options = context.config.generate
    asked = [question for source in sources for question in grounded_questions(context, source)]
    return lambda model: answer_task(answer_prompt(options), model, lambda: asked, options.context)


def journaled_answers(context: RunContext, sources: Sequence[SourceDocument]) -> Iterator[dict[str, Any]]:
    """The answers of some handbooks that a stopped run has in its journal already."""
    options = context.config.generate
    if options.generator != EXTRACTIVE and sources:
        with _Asking(context, GENERATE, options, None).started(_answering(context, sources)) as (task, replies):
            yield from model_answers(task, replies)


# -- before that: by the usual lengths -----------------------------------------------------------------------------------


def _costs_before_retrieval(context: RunContext, sources: Sequence[SourceDocument]) -> tuple[StageCost, FullDocumentCost]:
    """The calls to handbooks that are not searched yet, by the lengths of their texts where these are extracted."""
    prompt = answer_prompt(context.config.generate)
    instructions, room = len(prompt.system) + len(prompt.user), evidence_room(prompt, context.config.generate.context)
    queries = [Query.of(question) for question in context.questions()]
    calls, characters, total = 0, 0.0, FullDocumentCost()
    for source in sources:
        asked = [query for query in queries if meets(query, source)]
        evidence = _expected_evidence(context, source, room)
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


def _cost_before_passages(context: RunContext, options: SystemOptions, plan: RunPlan) -> StageCost:
    """The calls of a system whose passages are not known yet: about as long as their chunks."""
    count = options.across.packing.passages or options.passages if options.asks_sources else options.passages
    prompt = options.system(NO_MODEL, context.config.retrieval.strategy).prompt(options.templates)
    length = len(prompt.system) + count * PASSAGE_CHARACTERS + _mean_question(context)
    return StageCost(SYSTEMS, plan.questions, round(plan.questions * length), written=SYSTEM_TOKENS)


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
