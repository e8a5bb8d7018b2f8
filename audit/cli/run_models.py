"""What `audit run` asks of models: the same code as `audit generate` and `audit judge`, on the files of its work folder."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from audit.cli.asking import ask_all, estimate, model_of
from audit.cli.judge_bench import judged_by_model, judged_by_rules
from audit.cli.judge_status import Status
from audit.errors import AuditError
from audit.generation.evidence import GroundedQuestion
from audit.generation.extractive_generator import EXTRACTIVE as BY_EXTRACTS
from audit.generation.model_generator import REPLY_TOKENS as ANSWER_TOKENS
from audit.generation.model_generator import AnswerTask, load_answer_prompt, model_answers
from audit.judging.corpus import Corpus
from audit.judging.prompts import load_prompts
from audit.judging.protocols import CHECK, STAGES, Protocol
from audit.judging.task import REPLY_TOKENS as VERDICT_TOKENS
from audit.judging.task import JudgingTask, stage_costs
from audit.judging.verdict_sources import JudgingSummary
from audit.llm.calls import Reply
from audit.llm.journal import Journal
from audit.llm.tasks import StageCost, stage_cost
from audit.pipeline.config import BASELINE, EXTRACTIVE, GenerateOptions, JudgeOptions
from audit.pipeline.corpus import corpus_of
from audit.pipeline.ledger import digest_of
from audit.pipeline.plan import Plan
from audit.pipeline.shop import Shop
from audit.pipeline.stages.generate import asked_of
from audit.settings import Settings

ANSWER_PROMPT, VERDICT_PROMPT = 12_000, 5_000
"""Characters of a prompt, roughly, before the texts are there."""


def settings_for(shop: Shop, said: GenerateOptions | JudgeOptions) -> Settings:
    """The settings with the endpoint and the model that the config names; the key is the environment's."""
    urls = tuple(url.rstrip("/") for url in said.url)
    settings = shop.settings
    return replace(settings, judge_urls=urls or settings.judge_urls, judge_model=said.model or settings.judge_model)


def generator_name(shop: Shop) -> str:
    """What the manifest says wrote the answers."""
    said = shop.config.generate
    return BY_EXTRACTS if said.generator == EXTRACTIVE else said.model or shop.settings.judge_model or "a model"


def written(shop: Shop, asked: Sequence[GroundedQuestion]) -> list[dict[str, Any]]:
    """The answers that the model gives to everything that is asked; what has its reply in the journal is not asked again."""
    said = shop.config.generate
    settings = settings_for(shop, said)
    work = AnswerTask(load_answer_prompt(), model_of(settings, None), lambda: asked, said.context)
    path = shop.work.journal("generate", digest_of(work.plan()))
    with Journal(path, work.plan()) as journal:
        ask_all(settings, work, journal)
        return list(model_answers(work, journal.latest))


def judged(shop: Shop, corpus: Corpus) -> JudgingSummary:
    """The release of the corpus as the judge of the config judges it."""
    said = shop.config.judge
    if said.judge == BASELINE:
        return judged_by_rules(shop.work.release, corpus, Status())
    settings = settings_for(shop, said)
    sitting = JudgingTask(_protocol(said, model_of(settings, None)), corpus)
    path = shop.work.journal("judge", digest_of(sitting.plan()))
    with Journal(path, sitting.plan()) as journal:
        servers = ask_all(settings, sitting, journal)
        return judged_by_model(shop.work.release, sitting, journal, servers, Status())


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


def estimated(shop: Shop, plan: Plan, reached: Collection[str]) -> str:
    """Calls, tokens and time that the models of the config would take; empty where there are none.

    Exact, with a few calls tried for the time where the endpoint of the stage was `reached`, once everything that goes before is
    done; else by rules of thumb.
    """
    config, planned, told = shop.config, {row.stage for row in plan.rows}, []
    if config.generate.generator != EXTRACTIVE and "generate" in planned:
        told.append(_told(shop, config.generate, _writing_costs(shop, plan), reached="generate" in reached))
    if config.judge.judge != BASELINE and "judge" in planned:
        told.append(_told(shop, config.judge, _judging_costs(shop, plan), reached="judge" in reached))
    return "\n".join(told)


def _told(shop: Shop, said: GenerateOptions | JudgeOptions, stage_costs: Sequence[StageCost], *, reached: bool) -> str:
    settings = settings_for(shop, said)
    trial = reached and any(cost.sample for cost in stage_costs)
    return estimate(
        settings, model_of(settings, None) if trial and settings.judge_urls else said.model, stage_costs, trial=trial
    ).text


def _writing_costs(shop: Shop, plan: Plan) -> list[StageCost]:
    calls = plan.open_answers
    if plan.to_do("retrieve") or not plan.to_do("generate"):
        return [StageCost("generate", calls, calls * ANSWER_PROMPT, written=ANSWER_TOKENS)]
    to_do = set(plan.to_do("generate"))
    asked = [one for book in shop.present if book.handbook_id in to_do for one in asked_of(shop, book)]
    work = AnswerTask(load_answer_prompt(), "unknown", lambda: asked, shop.config.generate.context)
    return [stage_cost("generate", work.open_calls(work.stages[0], nothing), ANSWER_TOKENS)]


def _judging_costs(shop: Shop, plan: Plan) -> list[StageCost]:
    said = shop.config.judge
    if plan.silent is None or not plan.to_do("judge"):
        calls = plan.to_judge * (1 + said.swap + said.blind_centers + said.repeat) if plan.to_do("judge") else 0
        return [StageCost("judge", calls, calls * VERDICT_PROMPT, written=VERDICT_TOKENS[STAGES[said.protocol][0]])]
    return stage_costs(_protocol(said, "unknown"), corpus_of(shop), nothing)


def nothing(_: Iterable[str]) -> dict[str, Reply]:
    """The replies of a journal that holds none: what is in a journal already makes an estimate smaller, never larger."""
    return {}
