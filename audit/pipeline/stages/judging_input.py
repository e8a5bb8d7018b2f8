"""The judge's input: the answers of all handbooks, question by question, and the pairs of handbooks that answered."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from functools import partial
from itertools import combinations
from typing import Any

from audit.errors import ConfigError
from audit.pipeline.answers.evidence import meets
from audit.pipeline.corpus.doubts import doubts_of
from audit.pipeline.generation.model_generator import load_answer_prompt
from audit.pipeline.judging.corpus import AnswerToJudge, Corpus, QuestionToJudge
from audit.pipeline.judging.parse import load_prompts
from audit.pipeline.judging.within.model import PROMPT as WITHIN
from audit.pipeline.llm.prompts import Prompt
from audit.pipeline.retrieval.found import WAYS, generator_errors, in_measured_language
from audit.pipeline.retrieval.model import Query
from audit.pipeline.stages.build_cache import read_lines
from audit.pipeline.stages.config import MODEL, PASSAGES, Config, GenerateOptions
from audit.pipeline.stages.context import Record, RunContext, SourceDocument
from audit.text.documents import Document, read_document
from audit.vocabulary import PASSAGES_GENERATOR

HANDBOOK_FIELDS = (
    "handbook_id", "organ", "center", "phase", "title", "url", "aliases", "pages", "unreadable", "language", "digest", "licence",
    "may_be_downloaded",
)  # fmt: skip
SECTION_FIELDS = ("section_id", "heading", "text", "url", "above", "pages", "page_starts", "part")


def judging_input(context: RunContext, generator: str = PASSAGES_GENERATOR) -> Corpus:
    """The answers as the judge takes them, read from files as they are needed; `generator` names what wrote them."""
    sources = context.present
    documents = [read_document(source.document) for source in sources]
    handbooks = tuple(map(handbook_record, documents))
    trials = partial(_trials, context, sources) if context.config.retrieval.compare else None
    run = run_record(context, generator)
    if not all(map(in_measured_language, documents)):
        run.pop("generator_errors", None)
    return Corpus(
        run, handbooks, partial(questions_to_judge, context), sections=partial(section_records, documents), trials=trials
    )


def handbook_record(document: Document) -> dict[str, object]:
    """The record of handbooks.jsonl."""
    record = {name: getattr(document, name) for name in HANDBOOK_FIELDS}
    # A document that was never checked has no share, which is not a share of zero
    record |= {"silent_pages": None if document.unreadable is None else len(document.silent_pages)}
    return record | {"extraction": _extraction(document)}


def _extraction(document: Document) -> dict[str, object]:
    corrections = {"corrections": asdict(document.corrections)} if document.corrections else {}
    return {"doubts": [asdict(doubt) for doubt in doubts_of(document)], **corrections}


def run_record(context: RunContext, generator: str) -> dict[str, object]:
    """The manifest fields of the run, apart from its judge."""
    config = context.config
    retriever = [config.strategy, f"encoder {config.retrieval.encoder}"]
    retriever += [f"reranker {config.retrieval.reranker}"] if config.retrieval.reranker else ["no reranker"]
    record = {
        "run_id": config.release.run_id, "title": config.release.title or config.release.run_id,
        "licence": config.release.licence, "synthetic": config.release.synthetic, "terms": config.corpus.terms,
        "datasheet": config.release.datasheet,
        "generator": generator, "retriever": ", ".join(retriever), "left_out": context.left_out,
        "generator_errors": _errors(config), "asked": "organ", "prompts": list(_prompts(config)),
    }  # fmt: skip
    return {name: value for name, value in record.items() if value}


def answer_prompt(options: GenerateOptions) -> Prompt:
    """The prompt of an answer, with the config's limit on its length."""
    prompt = load_answer_prompt(options.templates, fixed_absence=options.fixed_absence)
    return replace(prompt, max_tokens=options.max_tokens) if options.max_tokens else prompt


def _prompts(config: Config) -> Iterator[Record]:
    """The prompts of all models but the judge of pairs, in full."""
    if config.generate.generator == MODEL:
        yield answer_prompt(config.generate).record("answers")
    if config.judge.judge == MODEL:
        yield load_prompts(config.judge.templates)[WITHIN].record("within")
    for options in config.systems:
        if options.calls_model:
            yield options.system("", "").prompt(options.templates).record(options.id)


def _errors(config: Config) -> dict[str, Any] | None:
    """How often quoting the closest passages errs, where that was measured."""
    way = WAYS.get(config.retrieval.encoder)
    return generator_errors(way) if way and config.generate.generator == PASSAGES else None


def section_records(documents: Sequence[Document]) -> Iterator[Record]:
    """The records of sections.jsonl."""
    for document in documents:
        for section in document.sections:
            record = {name: getattr(section, name) for name in SECTION_FIELDS}
            yield {"handbook_id": document.handbook_id, **record}


def _trials(context: RunContext, sources: Sequence[SourceDocument]) -> Iterator[Record]:
    for source in sources:
        yield from read_lines(context.workspace.trials(source.handbook_id))


def questions_to_judge(context: RunContext) -> Iterator[QuestionToJudge]:
    """Every question with its answers, which must all be there."""
    # One question at a time, because all answers of a run may not fit into memory. Each file of answers is in the order of the
    # questions, so all files can be read in step.
    with ExitStack() as stack:
        readers = {}
        for source in context.present:
            file = stack.enter_context(context.workspace.answers(source.handbook_id).open(encoding="utf-8"))
            readers[source.handbook_id] = AnswersInOrder(file)
        for question in context.questions():
            records = {handbook: reader.take(question["question_id"]) for handbook, reader in readers.items()}
            answers = {handbook: _answer(record) for handbook, record in records.items() if record is not None}
            yield QuestionToJudge(question, answers, tuple(combinations(answers, 2)))


class AnswersInOrder:
    """A file of answers, read one answer ahead."""

    def __init__(self, file: Iterator[str]) -> None:
        self.file = file
        self._advance()

    def _advance(self) -> None:
        line = next(self.file, None)
        self.record: dict[str, object] | None = json.loads(line) if line else None

    def take(self, question_id: str) -> Mapping[str, Any] | None:
        """The answer to a question, if it is the next one in the file."""
        record = self.record
        if record is None or record["question_id"] != question_id:
            return None
        self._advance()
        return record


def _answer(record: Mapping[str, Any]) -> AnswerToJudge:
    return AnswerToJudge(
        record["answer"], record["absent"], record["absence_method"], record.get("retrieval"), record.get("unread_reason"),
        record.get("usage"), found=record.get("found"),
    )  # fmt: skip


# -- whether there are pairs --------------------------------------------------------------------------------------------


def asked_counts(context: RunContext) -> list[int]:
    """How many handbooks each question is asked of: those of its organ, a general one of all."""
    return [sum(meets(Query.of(question), source) for source in context.present) for question in context.questions()]


def has_couples(context: RunContext) -> bool:
    """Whether any question is asked of two handbooks, so that there is something to compare."""
    return any(count > 1 for count in asked_counts(context))


def check_a_handbook(context: RunContext) -> None:
    """Raise ConfigError where no handbook is left to answer from."""
    if not context.present:
        reason = next(iter(context.left_out.values()), "the corpus is empty.")
        raise ConfigError(f"{context.config.path}, [corpus]: no handbook can be read. Nothing was done. First reason: {reason}")


def check_questions_meet(context: RunContext) -> None:
    """Raise ConfigError where there are questions, but none concerns a handbook."""
    questions = context.questions()
    if not questions or any(asked_counts(context)):
        return
    asked, present = (", ".join(sorted(set(organs))) for organs in (_organs(questions), (s.organ for s in context.present)))
    raise ConfigError(
        f"No question concerns any handbook: the questions have the organ {asked}, the handbooks {present or 'none'}. "
        "A question is asked of the handbooks of its organ, a general one of all. Correct the organs of one or the other."
    )


def questions_without_pair(items: Iterable[QuestionToJudge]) -> tuple[int, str]:
    """How many questions concern no handbook, and a sentence on these and on those that concern only one ("": neither)."""
    single, unasked = 0, []
    for item in items:
        single += len(item.answers) == 1
        unasked += [] if item.answers else [item.question]
    parts = [f"asked of one handbook only: {single:,}"] if single else []
    if unasked:
        organs = ", ".join(sorted(set(_organs(unasked))))
        parts.append(f"asked of none, because no handbook has the organ ({organs}): {len(unasked):,}")
    return len(unasked), f"Questions without a pair, {'; '.join(parts)}." if parts else ""


def _organs(questions: Iterable[Any]) -> Iterator[str]:
    return (str(question["organ"]) for question in questions)
