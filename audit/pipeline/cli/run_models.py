"""The models of `audit run`: its calls, by the code of `audit generate` and `audit judge`; its endpoints; what it would take."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from ipaddress import ip_address
from typing import Any, TypeVar
from urllib.parse import urlsplit

from audit.errors import AuditError
from audit.jobs.processes import Progress
from audit.pipeline.answers.evidence import GroundedQuestion
from audit.pipeline.cli.estimates import estimate, handbooks_text
from audit.pipeline.cli.model_calls import ask_all, endpoints_of, limits_of, model_of
from audit.pipeline.generation.model_generator import AnswerTask, answer_task, model_answers
from audit.pipeline.generation.several_sources_model import sourced_task
from audit.pipeline.generation.system_answers import SystemQuestion, SystemSummary, SystemTask, system_answers, system_task
from audit.pipeline.judging.corpus import Corpus
from audit.pipeline.judging.parse import load_prompts
from audit.pipeline.judging.stand_in import check_handbooks, read_truth
from audit.pipeline.judging.verdict_sources import JudgingSummary
from audit.pipeline.judging.within.findings import Verdicts
from audit.pipeline.judging.within.model import PROMPT, StatementPair, within_task, within_verdicts
from audit.pipeline.llm.item_task import ItemTask
from audit.pipeline.llm.journal import Journal, stored_replies
from audit.pipeline.llm.probe import CheckedEndpoint, probe_endpoint
from audit.pipeline.llm.tasks import LlmTask, StageCost
from audit.pipeline.stages.build_cache import digest_of
from audit.pipeline.stages.config import MODEL, NONE, PASSAGES, STAND_IN, Config, GenerateOptions, JudgeOptions
from audit.pipeline.stages.context import RunContext, Stage
from audit.pipeline.stages.corpus_search import retriever_of
from audit.pipeline.stages.generate import grounded_questions
from audit.pipeline.stages.judging_input import answer_prompt, judging_input
from audit.pipeline.stages.judging_runs import judge_by_truth
from audit.pipeline.stages.judging_tasks import judge_by_task, judging_task
from audit.pipeline.stages.plan import RunPlan, StagePlan, plan_stage
from audit.pipeline.stages.system_options import SystemOptions
from audit.pipeline.stages.systems import SystemRun, sourced_run, system_questions
from audit.pipeline.stages.within import HandbookCandidates, candidates_of
from audit.settings import Settings
from audit.vocabulary import PASSAGES_GENERATOR

GENERATE, JUDGE, WITHIN, SYSTEMS = "generate", "judge", "within", "systems"
STAGE_BEFORE = {GENERATE: "retrieve", JUDGE: "generate", SYSTEMS: "retrieve"}
"""Stage that may call a model -> the last stage before it; `within` has the model of the judge before it."""
WITHOUT_MODEL = {
    GENERATE: f'generator = "{PASSAGES}"',
    JUDGE: f'judge = "{NONE}"',
    WITHIN: f'judge = "{NONE}"',
    SYSTEMS: "leave out [[systems]]",
}
SENDS = {GENERATE: "questions and passages", JUDGE: "questions and answers", WITHIN: "pairs of passages"}
# The rule before there are texts: characters of a prompt, and tokens of a reply
USUAL = {GENERATE: (14_000, 150), JUDGE: (5_000, 150), SYSTEMS: (14_000, 250)}
ROUGH = "Calls and tokens are rough, by usual lengths: the texts of these prompts do not exist yet."
Options = GenerateOptions | JudgeOptions | SystemOptions
Task = TypeVar("Task", bound=LlmTask)


def settings_for(context: RunContext, options: Options) -> Settings:
    """The settings with the endpoint and the model that the config names; the key comes from the environment."""
    urls = tuple(url.rstrip("/") for url in options.url)
    settings = context.settings
    return replace(settings, judge_urls=urls or settings.judge_urls, judge_model=options.model or settings.judge_model)


def generator_name(context: RunContext) -> str:
    """The writer of the answers as named in the manifest."""
    options = context.config.generate
    return PASSAGES_GENERATOR if options.generator == PASSAGES else options.model or context.settings.judge_model or "a model"


@contextmanager
def _asked(
    context: RunContext, stage: str, options: Options, task_for: Callable[[str], Task]
) -> Iterator[tuple[Task, Journal, list[str]]]:
    """A task for the model of the options, the journal with every reply to it, and the servers.

    A call with a reply in the journal is not made again.
    """
    settings = settings_for(context, options)
    task = task_for(model_of(settings, None))
    # The digest of the plan is in the name: after a change of prompt or model, old replies are not mixed in.
    with Journal(context.workspace.journal(stage, digest_of(task.plan())), task.plan()) as journal:
        yield task, journal, ask_all(settings, task, journal)


def write_answers(context: RunContext, asked: Sequence[GroundedQuestion]) -> list[dict[str, Any]]:
    """The model's answers to everything that is asked."""
    task_for = partial(run_answer_task, context, asked=asked)
    with _asked(context, GENERATE, context.config.generate, task_for) as (task, journal, _):
        return list(model_answers(task, journal.latest))


def run_answer_task(context: RunContext, model: str, asked: Sequence[GroundedQuestion]) -> AnswerTask:
    """The calls of the generator to everything that is asked."""
    options = context.config.generate
    return answer_task(answer_prompt(options), model, lambda: asked, options.context)


def judge_corpus(context: RunContext, corpus: Corpus) -> JudgingSummary:
    """Write the release of the corpus as the judge of the config judges it."""
    options = context.config.judge
    if options.judge == STAND_IN:
        return _read_labels(context, corpus)
    with _asked(context, JUDGE, options, partial(judging_task, options, corpus=corpus)) as (task, journal, servers):
        return judge_by_task(context.workspace.release, task, journal, servers, Progress())


def _read_labels(context: RunContext, corpus: Corpus) -> JudgingSummary:
    table, questions = context.config.judge.truth, context.config.questions.file
    # The config reader refuses a config without them
    assert table is not None
    assert questions is not None
    truth = read_truth(table, questions)
    check_handbooks(truth, [str(handbook["handbook_id"]) for handbook in corpus.handbooks], table)
    return judge_by_truth(context.workspace.release, corpus, truth, Progress())


def compare_within(context: RunContext, handbooks: HandbookCandidates) -> tuple[str, Sequence[Verdicts]]:
    """The verdicts of the config's model on pairs of passages of one handbook."""
    task_for = partial(run_within_task, context, handbooks=handbooks)
    with _asked(context, WITHIN, context.config.judge, task_for) as (task, journal, _):
        return task.model, within_verdicts(task, handbooks, journal.latest)


def run_within_task(context: RunContext, model: str, handbooks: HandbookCandidates) -> ItemTask[StatementPair]:
    """The pairs of passages that a model is asked about."""
    prompt = load_prompts(context.config.judge.templates)[PROMPT]
    return within_task(prompt, model, handbooks, context.config.within.pairs)


def run_system_task(
    context: RunContext, options: SystemOptions, model: str, questions: Callable[[], Iterable[SystemQuestion]]
) -> SystemTask:
    """The calls of an answering system whose endpoint has `model`."""
    system = options.system(model, retriever_of(context, options))
    task = sourced_task if options.asks_sources else system_task
    return task(system, system.prompt(options.templates), questions, options.context)


def ask_system(context: RunContext, options: SystemOptions, questions: Sequence[SystemQuestion]) -> SystemRun:
    """The answers of a system to all questions."""
    task_for = partial(run_system_task, context, options, questions=lambda: questions)
    with _asked(context, SYSTEMS, options, task_for) as (task, journal, _):
        summary = SystemSummary()
        if options.asks_sources:
            return sourced_run(context, options, task, journal.latest, summary)
        return SystemRun(task.record, list(system_answers(task, journal.latest, summary)), summary)


# -- a model on this machine, where the config names no writer of the answers ------------------------------------------


def with_reader(config: Config, settings: Settings) -> tuple[Config, str]:
    """The config with a model as the writer of answers, where it names none and an endpoint on this machine answers.

    Also a sentence on who writes them; empty where the config says it, or no endpoint is set. By default no text is sent to
    another machine.
    """
    options = config.generate
    urls = options.url or settings.judge_urls
    if "generator" in options.model_fields_set or not urls or config.judge.judge == STAND_IN:
        return config, ""
    if not all(map(_on_this_machine, urls)):
        return config, f"Passages are quoted: {QUOTED_ELSEWHERE}"
    fault, endpoints = _try_endpoints(
        replace(settings, judge_urls=tuple(urls), judge_model=options.model or settings.judge_model)
    )
    if fault:
        return config, f"Passages are quoted, because no model answers: {fault}"
    room = {} if "context" in options.model_fields_set else {"context": _least_context(endpoints) or options.context}
    chosen = options.model_copy(update={"generator": MODEL, **room})
    model = endpoints[0].endpoint.model
    sentence = f'{model} on this machine writes the answers; generator = "{PASSAGES}" in [generate] quotes instead.'
    return config.model_copy(update={"generate": chosen}), sentence


QUOTED_ELSEWHERE = (
    'the endpoint is another machine, to which texts of handbooks are sent only where [generate] has generator = "model".'
)


def _on_this_machine(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _least_context(endpoints: Sequence[CheckedEndpoint]) -> int | None:
    return min((checked.context for checked in endpoints if checked.context), default=None)


# -- endpoints, checked before the first stage begins ------------------------------------------------------------------


@dataclass(frozen=True)
class EndpointCheck:
    """A stage that calls the model of its options, and whether it can: `fault` is the sentence on what is wrong, or empty."""

    stage: str
    options: Options
    fault: str
    endpoints: Sequence[CheckedEndpoint]

    @property
    def name(self) -> str:
        """The stage; in the stage of systems, with the id of the answering system that calls the model."""
        return f"{self.stage}, {self.options.id}" if isinstance(self.options, SystemOptions) else self.stage

    @property
    def context(self) -> int | None:
        """The tokens that all its endpoints have room for, where they tell."""
        return _least_context(self.endpoints)

    @property
    def line(self) -> str:
        """The line of the plan."""
        name = f"{self.name}," if isinstance(self.options, SystemOptions) else self.name
        if self.fault:
            return f"{name} cannot call a model: {self.fault}"
        named = ", ".join(f"{checked.endpoint.model} at {checked.endpoint.base_url}" for checked in self.endpoints)
        context = f", with a context of {self.context:,} tokens" if self.context else ""
        return f"{name} calls {named}{context}."


def check_endpoints(context: RunContext, stages: Sequence[Stage]) -> None:
    """Raise AuditError if a stage cannot call its model and earlier stages would do work in vain.

    context  is changed: handbooks that failed last time are left out of it
    """
    rows = _rows(context, stages)
    # Only stages with work before them: one that comes next finds out by itself, and a finished one needs no endpoint.
    for check in endpoint_checks(context, rows, [stage for stage in STAGE_BEFORE if _has_work(rows, stage, itself=False)]):
        if check.fault:
            raise AuditError(
                f"{context.config.path}, [{check.stage}]: {check.fault} No stage was started. "
                f"To do only what needs no such model: --until {STAGE_BEFORE[check.stage]}."
            )


def endpoint_checks(
    context: RunContext, rows: Sequence[StagePlan], stages: Iterable[str] = (*STAGE_BEFORE, WITHIN)
) -> list[EndpointCheck]:
    """The checks of those `stages` that call a model and have work, or have work before them; each endpoint is tried once."""
    tried: dict[Any, tuple[str, Sequence[CheckedEndpoint]]] = {}
    return [
        _check(context, stage, options, tried)
        for stage, options in stages_by_model(context)
        if stage in stages and _has_work(rows, stage)
    ]


def _rows(context: RunContext, stages: Sequence[Stage]) -> list[StagePlan]:
    # Handbooks that the last release left out are assumed to fail again: else their stages would always count as unfinished.
    context.left_out.update({name: reason for name, reason in _left_out_before(context).items() if name not in context.left_out})
    rows = []
    for stage in stages:
        try:
            rows.append(plan_stage(context, stage))
        except AuditError:  # an input that an earlier stage will write again; if not, that stage reports it
            rows.append(StagePlan(stage.name, 1, (stage.name,)))
    return rows


def _left_out_before(context: RunContext) -> dict[str, str]:
    try:
        left_out = json.loads((context.workspace.release / "manifest.json").read_text(encoding="utf-8"))["left_out"]
        return {name: str(reason) for name, reason in left_out.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def stages_by_model(context: RunContext) -> Iterator[tuple[str, Options]]:
    """The stages that call a model, once for each answering system, with the options that name it."""
    if context.config.generate.generator == MODEL:
        yield GENERATE, context.config.generate
    if context.config.judge.judge == MODEL:
        yield from ((stage, context.config.judge) for stage in (JUDGE, WITHIN))
    yield from ((SYSTEMS, options) for options in context.config.systems if options.calls_model)


def _has_work(rows: Sequence[StagePlan], stage: str, *, itself: bool = True) -> bool:
    """Whether the stage is planned, and something is to be done before it or, with `itself`, in it."""
    names = [row.stage for row in rows]
    return stage in names and any(row.to_do for row in rows[: names.index(stage) + itself])


def _check(
    context: RunContext, stage: str, options: Options, tried: dict[Any, tuple[str, Sequence[CheckedEndpoint]]]
) -> EndpointCheck:
    settings = settings_for(context, options)
    if not settings.judge_urls:
        remedy = (
            f'Write url = ["http://127.0.0.1:8000/v1"] there, set AUDIT_JUDGE_URL, or do without a model: {WITHOUT_MODEL[stage]}.'
        )
        return EndpointCheck(stage, options, f"no endpoint is set for its model. {remedy}", ())
    # Several of them may use one endpoint, which then is tried once
    key = (settings.judge_urls, settings.judge_model)
    if key not in tried:
        tried[key] = _try_endpoints(settings)
    return EndpointCheck(stage, options, *tried[key])


def _try_endpoints(settings: Settings) -> tuple[str, Sequence[CheckedEndpoint]]:
    """What is wrong, or the endpoints."""
    endpoints, limits = endpoints_of(settings, settings.judge_model), limits_of(settings)
    try:
        return "", [asyncio.run(probe_endpoint(endpoint, limits)) for endpoint in endpoints]
    except AuditError as error:
        return str(error), ()


# -- what the calls of a run would take: counted once the texts exist, by usual lengths before that ---------------------


def estimate_run(context: RunContext, plan: RunPlan, checks: Sequence[EndpointCheck], *, probe: bool) -> dict[str, Any]:
    """Stage -> what the calls of its model would take, as `estimate` says; only stages whose models have something to do.

    probe  send a few of the prompts to those endpoints that answered the check
    """
    estimates = {}
    for check in checks:
        task = check.options.id if isinstance(check.options, SystemOptions) else ""
        if (to_do := plan.to_do(check.stage)) and (not task or task in to_do):
            estimates[check.name] = _estimate(context, plan, check, probe=probe)
    return estimates


def _estimate(context: RunContext, plan: RunPlan, check: EndpointCheck, *, probe: bool) -> dict[str, Any]:
    stage, options, settings = check.stage, check.options, settings_for(context, check.options)
    model = settings.judge_model or next((checked.endpoint.model for checked in check.endpoints), "")
    price = partial(estimate, settings, model, sends=_sends(context, plan, stage, options))
    task = _task(context, plan, stage, options, model)
    if task is None:
        return price([_usual_cost(plan, stage)], probe=False, remarks=[ROUGH])
    with stored_replies(context.workspace.journal(stage, digest_of(task.plan()))) as replies:
        costs = task.costs(replies)
    to_extract = plan.to_do("extract") if stage == WITHIN else ()
    remarks = [
        task.cost_note,
        f"Not counted: {len(to_extract):,} handbooks that are not extracted yet." if to_extract else "",
        "" if model else "The model is unknown, so its stored replies are not counted as done.",
    ]
    # The trial makes the longest call, so there is nothing to guess
    context_tokens = None if probe else check.context
    try:
        return price(costs, probe=probe and not check.fault, context=context_tokens, remarks=remarks)
    except AuditError as error:
        # The plan of the other stages is still useful
        return price(costs, probe=False, remarks=[*remarks, f"{stage} would stop: {error}"])


def _usual_cost(plan: RunPlan, stage: str) -> StageCost:
    answers = round(plan.answers * len(plan.to_do(GENERATE)) / max(1, plan.handbooks))
    calls = {GENERATE: answers, JUDGE: plan.pairs_to_judge, SYSTEMS: plan.questions}[stage]
    characters, written = USUAL[stage]
    return StageCost(stage, calls, calls * characters, written=written)


def _task(context: RunContext, plan: RunPlan, stage: str, options: Options, model: str) -> LlmTask | None:
    """The task of a stage; None where the texts of its prompts do not exist yet."""
    if isinstance(options, SystemOptions):
        if plan.to_do("route" if options.asks_sources else "retrieve" if options.retrieves else ""):
            return None
        questions = system_questions(context, options)
        return run_system_task(context, options, model, lambda: questions)
    if stage == GENERATE:
        if plan.to_do("retrieve"):
            return None
        sources = [source for source in context.present if source.handbook_id in plan.to_do(GENERATE)]
        return run_answer_task(context, model, [asked for source in sources for asked in grounded_questions(context, source)])
    if stage == WITHIN:
        return run_within_task(context, model, candidates_of(context))
    if not plan.pairs_counted:
        return None
    return judging_task(context.config.judge, model, judging_input(context, generator_name(context)))


def _sends(context: RunContext, plan: RunPlan, stage: str, options: Options) -> str:
    """What the prompts contain, and whose it is."""
    if isinstance(options, SystemOptions):
        with_passages = options.retrieves or options.asks_sources
        content = "questions and passages of the handbooks" if with_passages else "questions without any handbook"
        return f"{content}, for {options.id}"
    names = plan.to_do(stage) if stage == GENERATE else [source.handbook_id for source in context.present]
    return f"{SENDS[stage]} of {handbooks_text(names)}"
