"""What the model calls of an `audit run` would take: counted once the texts exist, by usual lengths before that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from audit.errors import AuditError
from audit.pipeline.cli.estimates import CostEstimate, estimate, handbooks_text
from audit.pipeline.cli.run_models import (
    GENERATE,
    JUDGE,
    SYSTEMS,
    WITHIN,
    EndpointCheck,
    Options,
    generator_name,
    run_answer_task,
    run_system_task,
    run_within_task,
    settings_for,
    stages_by_model,
)
from audit.pipeline.llm.journal import stored_replies
from audit.pipeline.llm.tasks import LlmTask, StageCost
from audit.pipeline.stages.build_cache import digest_of
from audit.pipeline.stages.context import RunContext
from audit.pipeline.stages.generate import grounded_questions
from audit.pipeline.stages.judging_input import judging_input
from audit.pipeline.stages.judging_tasks import judging_task
from audit.pipeline.stages.plan import RunPlan
from audit.pipeline.stages.system_options import SystemOptions
from audit.pipeline.stages.systems import system_questions
from audit.pipeline.stages.within import candidates_of
from audit.release.journal_files import journal_plan

# The rule before there are texts: characters of a prompt, and tokens of a reply
USUAL = {GENERATE: (14_000, 150), JUDGE: (5_000, 150), SYSTEMS: (14_000, 250)}
SENDS = {
    GENERATE: "questions and passages",
    JUDGE: "questions and answers",
    WITHIN: "pairs of statements",
    SYSTEMS: "questions and passages",
}
NO_MODEL = "unknown"


def estimate_run(context: RunContext, plan: RunPlan, checks: Sequence[EndpointCheck], *, probe: bool) -> dict[str, CostEstimate]:
    """Stage -> what the calls of its model would take; only stages whose models have something to do.

    probe  send a few of the prompts to those endpoints that answered the check
    """
    answered = {(check.stage, check.system): check for check in checks if not check.fault}
    estimates = {}
    for stage, options in stages_by_model(context):
        system = options.id if isinstance(options, SystemOptions) else ""
        to_do = plan.to_do(stage)
        if to_do and (not system or system in to_do):
            check = answered.get((JUDGE if stage == WITHIN else stage, system))
            name = f"{stage}, {system}" if system else stage
            estimates[name] = _estimate(context, plan, stage, options, check, probe=probe)
    return estimates


def _estimate(
    context: RunContext, plan: RunPlan, stage: str, options: Options, check: EndpointCheck | None, *, probe: bool
) -> CostEstimate:
    task_for, settings = _task_for(context, plan, stage, options), settings_for(context, options)
    if task_for is None:
        answers = round(plan.answers * len(plan.to_do(GENERATE)) / max(1, plan.handbooks))
        calls = {GENERATE: answers, JUDGE: plan.pairs.to_judge, SYSTEMS: plan.questions}[stage]
        characters, written = USUAL[stage]
        remark = "Calls and tokens are rough, by usual lengths: the texts of these prompts do not exist yet."
        expected = [StageCost(stage, calls, calls * characters, written=written)]
        return estimate(settings, NO_MODEL, expected, probe=False, sends=_sends(context, plan, stage, options), remarks=[remark])
    task = task_for(_model(context, stage, options, check))
    with stored_replies(context.workspace.journal(stage, digest_of(task.plan()))) as replies:
        costs = task.costs(replies)
    remarks = [task.cost_note, _not_extracted(context, stage)]
    priced = partial(estimate, settings, task.model, costs, sends=_sends(context, plan, stage, options))
    try:
        return priced(probe=probe and check is not None and any(cost.sample for cost in costs), remarks=remarks)
    except AuditError as error:
        # The plan of the other stages is still useful
        return priced(probe=False, remarks=[*remarks, f"{stage} would stop: {error}"])


def _task_for(context: RunContext, plan: RunPlan, stage: str, options: Options) -> Callable[[str], LlmTask] | None:
    """The task of a stage for a model of some name; None where the texts of its prompts do not exist yet."""
    if isinstance(options, SystemOptions):
        before = "route" if options.asks_sources else "retrieve" if options.retrieves else ""
        if plan.to_do(before):
            return None
        questions = system_questions(context, options)
        return partial(run_system_task, context, options, questions=lambda: questions)
    if stage == GENERATE:
        if plan.to_do("retrieve"):
            return None
        sources = [source for source in context.present if source.handbook_id in plan.to_do(GENERATE)]
        asked = [question for source in sources for question in grounded_questions(context, source)]
        return lambda model: run_answer_task(context, model, asked)
    if stage == WITHIN:
        return partial(run_within_task, context, handbooks=candidates_of(context))
    if not plan.pairs.exact:
        return None
    return partial(judging_task, context.config.judge, corpus=judging_input(context, generator_name(context)))


def _model(context: RunContext, stage: str, options: Options, check: EndpointCheck | None) -> str:
    """The config's or the endpoint's; where neither is known, that of the newest journal."""
    journals = (context.workspace.root / "journals").glob(f"{stage}-*.journal")
    newest = sorted(journals, key=lambda path: path.stat().st_mtime, reverse=True)
    recorded = (str((journal_plan(path) or {}).get("model") or "") for path in newest)
    known = settings_for(context, options).judge_model or (check.models[0] if check else "")
    return known or next(filter(None, recorded), NO_MODEL)


def _sends(context: RunContext, plan: RunPlan, stage: str, options: Options) -> str:
    """What the prompts contain, and whose it is."""
    if isinstance(options, SystemOptions):
        with_passages = options.retrieves or options.asks_sources
        return f"{f'{SENDS[stage]} of the handbooks' if with_passages else 'questions without any handbook'}, for {options.id}"
    names = plan.to_do(stage) if stage == GENERATE else [source.handbook_id for source in context.present]
    return f"{SENDS[stage]} of {handbooks_text(names)}"


def _not_extracted(context: RunContext, stage: str) -> str:
    missing = len(context.present) - len(candidates_of(context)) if stage == WITHIN else 0
    return f"Not counted: {missing:,} handbooks that are not extracted yet." if missing else ""
