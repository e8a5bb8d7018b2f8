"""Estimated model costs of an `audit run`: of its tasks' calls once the texts exist, from usual lengths before that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

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
    Task,
    generator_name,
    run_answer_task,
    run_system_task,
    run_within_task,
    settings_for,
    stages_by_model,
)
from audit.pipeline.generation.costs import FullDocumentCost, full_document_cost, hybrid_passages, typical_passages
from audit.pipeline.generation.model_generator import AnswerTask, evidence_room, model_answers
from audit.pipeline.judging.corpus import Corpus
from audit.pipeline.judging.positions.task import MERGE, SHOWN, STATEMENTS, STATEMENTS_AHEAD
from audit.pipeline.judging.protocols import ABSENCE, EXTRACT
from audit.pipeline.llm.journal import stored_replies
from audit.pipeline.llm.tasks import LlmTask, Replies, StageCost
from audit.pipeline.retrieval.model import Query
from audit.pipeline.retrieval.passages import fits_full_document
from audit.pipeline.retrieval.strategies import HERO, HYBRID
from audit.pipeline.stages.build_cache import digest_of
from audit.pipeline.stages.config import EXTRACTIVE
from audit.pipeline.stages.context import RunContext, SourceDocument
from audit.pipeline.stages.generate import grounded_questions
from audit.pipeline.stages.judging_input import judging_input
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
NO_CORPUS = Corpus({}, (), lambda: iter(()))


def estimate_run(context: RunContext, plan: RunPlan, checks: Sequence[EndpointCheck], *, probe: bool) -> dict[str, CostEstimate]:
    """Stage -> what the calls of its model would take; only stages whose models have something to do.

    probe  send a few of the prompts to those endpoints that answered the check
    """
    answered = {(check.stage, check.system): check for check in checks if not check.fault}
    run, stages = _RunEstimate(context, plan, answered, probe), dict[str, CostEstimate]()
    makers = {GENERATE: run.of_answers, JUDGE: run.of_verdicts, WITHIN: run.of_handbooks}
    for stage, options in stages_by_model(context):
        to_do = plan.to_do(stage)
        if isinstance(options, SystemOptions):
            if options.id in to_do:
                stages[f"{SYSTEMS}, {options.id}"] = run.of_system(options)
        elif to_do:
            stages[stage] = makers[stage]()
    return stages


def journaled_answers(context: RunContext, sources: Sequence[SourceDocument]) -> Iterator[dict[str, Any]]:
    """The answers of some handbooks that a stopped run has in its journal already."""
    options = context.config.generate
    if options.generator != EXTRACTIVE and sources:
        with _started(context, GENERATE, options, None, _answering(context, sources)) as (task, replies):
            yield from model_answers(task, replies)


def _answering(context: RunContext, sources: Sequence[SourceDocument]) -> Callable[[str], AnswerTask]:
    """The calls of the generator to all that is asked of some handbooks, once its model is known."""
    asked = [question for source in sources for question in grounded_questions(context, source)]
    return lambda model: run_answer_task(context, model, asked)


@contextmanager
def _started(
    context: RunContext, stage: str, options: Options, check: EndpointCheck | None, task: Callable[[str], Task]
) -> Iterator[tuple[Task, Replies]]:
    """The task for the model that the run would call, and the replies that are stored.

    The model's name is the config's or the endpoint's; where neither is known, that of the newest journal.
    """
    journals = (context.workspace.root / "journals").glob(f"{stage}-*.journal")
    newest = sorted(journals, key=lambda path: path.stat().st_mtime, reverse=True)
    recorded = (str((journal_plan(path) or {}).get("model") or "") for path in newest)
    known = settings_for(context, options).judge_model or (check.models[0] if check else "")
    chosen = task(known or next(filter(None, recorded), NO_MODEL))
    with stored_replies(context.workspace.journal(stage, digest_of(chosen.plan()))) as replies:
        yield chosen, replies


@dataclass(frozen=True)
class _RunEstimate:
    """A run and its plan; `checks`: (stage, system) -> an endpoint that answers."""

    context: RunContext
    plan: RunPlan
    checks: Mapping[tuple[str, str], EndpointCheck]
    probe: bool

    def of_answers(self) -> CostEstimate:
        """The generator's answers, and what full handbooks in its prompts cost."""
        context, to_do = self.context, self.plan.to_do(GENERATE)
        sources = [source for source in context.present if source.handbook_id in to_do]
        if self.plan.to_do("retrieve"):
            task = _answering(context, [])
            cost, in_full = self._cost_before_retrieval(task(NO_MODEL), sources)
            costs = [cost]
        else:
            task, costs = _answering(context, sources), None
            in_full = full_document_cost(task(NO_MODEL).items(), context.config.retrieval.options)
        sends = f"questions and passages of {_named(sources)}"
        estimated = self._estimate(GENERATE, context.config.generate, task, sends, costs)
        return estimated.remarked(self._context_remark(), in_full.text(estimated.rates.characters_per_token))

    def of_verdicts(self) -> CostEstimate:
        """The judge's verdicts on pairs of answers, or the positions in them."""
        context, exact = self.context, self.plan.pairs.exact
        options = context.config.judge
        corpus = judging_input(context, generator_name(context)) if exact else NO_CORPUS
        task = partial(judging_task, options, corpus=corpus)
        costs = None if exact else self._costs_before_answers(task(NO_MODEL))
        return self._estimate(JUDGE, options, task, f"questions and answers of {_named(context.present)}", costs)

    def of_handbooks(self) -> CostEstimate:
        """The judge's verdicts on pairs of statements of one handbook."""
        context, handbooks = self.context, candidates_of(self.context)
        task = partial(run_within_task, context, handbooks=handbooks)
        missing = len(context.present) - len(handbooks)
        remark = f"Not counted: {missing:,} handbooks that are not extracted yet." if missing else ""
        sends = f"pairs of statements of {_named(context.present)}"
        return self._estimate(WITHIN, context.config.judge, task, sends).remarked(remark)

    def of_system(self, options: SystemOptions) -> CostEstimate:
        """The answers of an answering system."""
        with_passages = options.retrieves or options.asks_sources
        unknown = with_passages and self.plan.to_do("route" if options.asks_sources else "retrieve")
        questions = [] if unknown else system_questions(self.context, options)
        task = partial(run_system_task, self.context, options, questions=lambda: questions)
        costs = [self._cost_before_passages(options, task(NO_MODEL))] if unknown else None
        sends = "questions and passages of the handbooks" if with_passages else "questions without any handbook"
        return self._estimate(SYSTEMS, options, task, f"{sends}, for {options.id}", costs)

    def _estimate(
        self,
        stage: str,
        options: Options,
        task: Callable[[str], LlmTask],
        sends: str,
        costs: Sequence[StageCost] | None = None,
    ) -> CostEstimate:
        """What the open calls of a task take; `costs` are those that are expected of a task without items yet."""
        system = options.id if isinstance(options, SystemOptions) else ""
        check = self.checks.get((JUDGE if stage == WITHIN else stage, system))
        with _started(self.context, stage, options, check, task) as (chosen, replies):
            costs = chosen.costs(replies) if costs is None else costs
        context = check.context if check else None
        settings = settings_for(self.context, options)
        priced = partial(estimate, settings, chosen, costs, sends=sends, context=context)
        if not (self.probe and check and any(cost.sample for cost in costs)):
            return priced(probe=False)
        try:
            return priced(probe=True)
        except AuditError as error:
            # The plan of the other stages is still useful
            return priced(probe=False).remarked(f"{stage} would stop: {error}")

    def _context_remark(self) -> str:
        """A sentence where the config gives prompts more room than the endpoint has."""
        check, wanted = self.checks.get((GENERATE, "")), self.context.config.generate.context
        room = check.context if check else None
        if room is None or wanted <= room:
            return ""
        return (
            f"[generate] allows prompts of {wanted:,} tokens, and the endpoint has room for {room:,}: write context = "
            f"{room} there. Longer evidence is then cut, and the answer says so."
        )

    # -- before that: by the usual lengths -----------------------------------------------------------------------------

    def _cost_before_retrieval(self, task: LlmTask, sources: Sequence[SourceDocument]) -> tuple[StageCost, FullDocumentCost]:
        """The calls to handbooks that are not searched yet, by the lengths of their texts where these are extracted."""
        ((stage, prompt),) = task.prompts.items()
        room = evidence_room(prompt, self.context.config.generate.context)
        queries = [Query.of(question) for question in self.context.questions()]
        questions, total = 0, FullDocumentCost()
        for source in sources:
            asked = [query for query in queries if meets(query, source)]
            questions += sum(len(query.text) for query in asked)
            total = total.plus(_expected_evidence(self.context, source, room), len(asked))
        characters = total.prompts * (len(prompt.system) + len(prompt.user)) + total.characters + questions
        return StageCost(stage, total.prompts, round(characters), written=task.tokens[stage]), total

    def _cost_before_passages(self, options: SystemOptions, task: LlmTask) -> StageCost:
        """The calls of a system whose passages are not known yet: about as long as their chunks."""
        count = options.across.packing.passages or options.passages if options.asks_sources else options.passages
        ((purpose, prompt),) = task.prompts.items()
        length = len(prompt.system) + count * PASSAGE_CHARACTERS + self._question
        calls = self.plan.questions
        return StageCost(SYSTEMS, calls, round(calls * length), written=task.tokens[purpose])

    def _costs_before_answers(self, task: LlmTask) -> list[StageCost]:
        """The judge's calls, by the share and the lengths of the answers so far."""
        plan, options, so_far = self.plan, self.context.config.judge, self.plan.pairs.so_far
        answer = so_far.characters / so_far.present if so_far.present else ANSWER_CHARACTERS
        present = round(plan.answers * so_far.present_share)
        per_pair = 1 + options.swap + options.blind_centers + options.repeat
        of_pairs = plan.pairs.to_judge * per_pair, 2 * answer
        listed = STATEMENTS_AHEAD * SHOWN * present / max(1, plan.questions)
        expected = dict.fromkeys((ABSENCE, STATEMENTS), (present, answer))
        expected |= {EXTRACT: (0, 0), MERGE: (plan.questions, listed)}
        costs = []
        for stage, tokens in task.tokens.items():
            calls, characters = expected.get(stage, of_pairs)
            prompt = task.prompts[stage]
            length = len(prompt.system) + len(prompt.user) + self._question + characters
            costs.append(StageCost(stage, calls, round(calls * length), written=tokens))
        return costs

    @property
    def _question(self) -> float:
        """The mean length of a question."""
        questions = self.context.questions()
        return sum(len(str(question["question"])) for question in questions) / max(1, len(questions))


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


def _named(sources: Sequence[SourceDocument]) -> str:
    return handbooks_text([source.handbook_id for source in sources])
