"""What `audit run` asks of models: the same code as `audit generate` and `audit judge`, on the files of its work folder."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from audit.cli.asking import ask_all, estimate, model_of
from audit.cli.judge_bench import judged_by_model, judged_by_rules
from audit.cli.judge_status import Status
from audit.errors import AuditError
from audit.generation import EXTRACTIVE as BY_EXTRACTS
from audit.generation import Asked, Writing, by_model, load_prompt
from audit.generation.writing import WRITTEN as ANSWER_TOKENS
from audit.judging.corpus import Corpus
from audit.judging.costs import WRITTEN as VERDICT_TOKENS
from audit.judging.costs import costs
from audit.judging.prompts import load_prompts
from audit.judging.protocols import CHECK, STAGES, Protocol
from audit.judging.records import Summary
from audit.judging.sitting import Sitting
from audit.llm.calls import Reply
from audit.llm.journal import Journal
from audit.llm.tasks import StageCost, stage_cost
from audit.pipeline.build_cache import digest_of
from audit.pipeline.config import BASELINE, EXTRACTIVE, GenerateOptions, JudgeOptions
from audit.pipeline.context import RunContext
from audit.pipeline.judging_input import judging_input
from audit.pipeline.plan import RunPlan
from audit.pipeline.stages.generate import grounded_questions
from audit.settings import Settings

ANSWER_PROMPT, VERDICT_PROMPT = 12_000, 5_000
"""Characters of a prompt, roughly, before the texts are there."""


def settings_for(context: RunContext, said: GenerateOptions | JudgeOptions) -> Settings:
    """The settings with the endpoint and the model that the config names; the key is the environment's."""
    urls = tuple(url.rstrip("/") for url in said.url)
    settings = context.settings
    return replace(settings, judge_urls=urls or settings.judge_urls, judge_model=said.model or settings.judge_model)


def generator_name(context: RunContext) -> str:
    """What the manifest says wrote the answers."""
    said = context.config.generate
    return BY_EXTRACTS if said.generator == EXTRACTIVE else said.model or context.settings.judge_model or "a model"


def written(context: RunContext, asked: Sequence[Asked]) -> list[dict[str, Any]]:
    """The answers that the model gives to everything that is asked; what has its reply in the journal is not asked again."""
    said = context.config.generate
    settings = settings_for(context, said)
    work = Writing(load_prompt(), model_of(settings, None), lambda: asked, said.context)
    path = context.workspace.journal("generate", digest_of(work.plan()))
    with Journal(path, work.plan()) as journal:
        ask_all(settings, work, journal)
        return list(by_model(work, journal.latest))


def judged(context: RunContext, corpus: Corpus) -> Summary:
    """The release of the corpus as the judge of the config judges it."""
    said = context.config.judge
    if said.judge == BASELINE:
        return judged_by_rules(context.workspace.release, corpus, Status())
    settings = settings_for(context, said)
    sitting = Sitting(_protocol(said, model_of(settings, None)), corpus)
    path = context.workspace.journal("judge", digest_of(sitting.plan()))
    with Journal(path, sitting.plan()) as journal:
        servers = ask_all(settings, sitting, journal)
        return judged_by_model(context.workspace.release, sitting, journal, servers, Status())


def _protocol(said: JudgeOptions, model: str) -> Protocol:
    return Protocol(
        said.protocol, model, load_prompts(said.templates), said.absence,
        swap=said.swap, blind=said.blind_centers, repeats=said.repeat,
    )  # fmt: skip


def check_judge(said: JudgeOptions) -> None:
    """Raise AuditError where plain rules are told to do what only a model can, or the prompts cannot be read."""
    load_prompts(said.templates)
    if said.judge == BASELINE and (said.swap or said.blind_centers or said.repeat or said.absence == CHECK):
        raise AuditError(
            "The baseline judge asks nothing, so it has nothing to check. Nothing was done. Leave those options out."
        )


def estimated(context: RunContext, plan: RunPlan, reached: Collection[str]) -> str:
    """Calls, tokens and time that the models of the config would take; empty where there are none.

    Exact, with a few calls tried for the time where the endpoint of the stage was `reached`, once everything that goes before is
    done; else by rules of thumb.
    """
    config, planned, told = context.config, {row.stage for row in plan.stages}, []
    if config.generate.generator != EXTRACTIVE and "generate" in planned:
        told.append(_told(context, config.generate, _writing_costs(context, plan), reached="generate" in reached))
    if config.judge.judge != BASELINE and "judge" in planned:
        told.append(_told(context, config.judge, _judging_costs(context, plan), reached="judge" in reached))
    return "\n".join(told)


def _told(context: RunContext, said: GenerateOptions | JudgeOptions, costs: Sequence[StageCost], *, reached: bool) -> str:
    settings = settings_for(context, said)
    trial = reached and any(cost.sample for cost in costs)
    return estimate(settings, model_of(settings, None) if trial and settings.judge_urls else said.model, costs, trial=trial).text


def _writing_costs(context: RunContext, plan: RunPlan) -> list[StageCost]:
    calls = plan.open_answers
    if plan.to_do("retrieve") or not plan.to_do("generate"):
        return [StageCost("generate", calls, calls * ANSWER_PROMPT, written=ANSWER_TOKENS)]
    to_do = set(plan.to_do("generate"))
    asked = [one for source in context.present if source.handbook_id in to_do for one in grounded_questions(context, source)]
    work = Writing(load_prompt(), "unknown", lambda: asked, context.config.generate.context)
    return [stage_cost("generate", work.open_calls(work.stages[0], nothing), ANSWER_TOKENS)]


def _judging_costs(context: RunContext, plan: RunPlan) -> list[StageCost]:
    said = context.config.judge
    if plan.prescreened is None or not plan.to_do("judge"):
        calls = plan.to_judge * (1 + said.swap + said.blind_centers + said.repeat) if plan.to_do("judge") else 0
        return [StageCost("judge", calls, calls * VERDICT_PROMPT, written=VERDICT_TOKENS[STAGES[said.protocol][0]])]
    return costs(_protocol(said, "unknown"), judging_input(context), nothing)


def nothing(_: Iterable[str]) -> dict[str, Reply]:
    """The replies of a journal that holds none: what is in a journal already makes an estimate smaller, never larger."""
    return {}
